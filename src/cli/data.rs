//! Input tables: files, or the rows of the sweep of a scenario.

use super::CaseArguments;
use super::numbers::from;
use super::progress::Bar;
use super::store::StoreArguments;
use clap::Args;
use parsim_study::experiment::{Recall, ScenarioFile, Setting, StudyError, files, read_setting, swept_table};
use parsim_study::scenario::table::Table;
use std::path::{Path, PathBuf};

/// Options for a scenario that is swept to produce an input table.
#[derive(Clone, Debug, Args)]
pub struct SweptArguments {
    /// Changes a base value of a scenario given as data; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set: Vec<Setting>,
    /// Replaces the seed of a scenario given as data, or the values of an axis over the seed.
    #[arg(long, value_parser = from(0u64))]
    seed: Option<u64>,
    #[command(flatten)]
    cases: CaseArguments,
    #[command(flatten)]
    pub store: StoreArguments,
}

impl SweptArguments {
    /// Returns the table in the file `data`. If that is a scenario, its sweep is run, and results are looked up in
    /// `recall`.
    pub fn table(&self, data: &Path, recall: Recall<'_>) -> Result<Table, StudyError> {
        if !is_scenario(data) {
            self.refuse(data)?;
            return Ok(Table::load(data)?);
        }
        let (path, set, over) = (data.to_owned(), self.set.clone(), self.cases.over.clone());
        let (file, bar) =
            (ScenarioFile { path, set, seed: self.seed, over, ..ScenarioFile::default() }, Bar::default());
        swept_table(&file, self.cases.workers(&bar, recall))
    }

    /// Returns the files from which the table in the file `data`, or the scenario, is read.
    pub fn files(&self, data: &Path) -> Vec<PathBuf> {
        if is_scenario(data) { files(data, &self.set) } else { vec![data.to_owned()] }
    }

    /// Rejects the options of a sweep for a table, for which nothing is run.
    fn refuse(&self, data: &Path) -> Result<(), StudyError> {
        let CaseArguments { over, jobs } = &self.cases;
        let given = [
            ("--set", !self.set.is_empty()),
            ("--seed", self.seed.is_some()),
            ("--over", !over.is_empty()),
            ("--jobs", jobs.is_some()),
            ("--store", self.store.is_given()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| {
            let message =
                format!("{option}: {} is a table, for which nothing is run: give a scenario (.ron)", data.display());
            Err(StudyError::Request(message))
        })
    }
}

/// Returns `true` if the table is that of a sweep.
fn is_scenario(data: &Path) -> bool {
    data.extension().is_some_and(|suffix| suffix == "ron")
}
