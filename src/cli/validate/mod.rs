//! `parsim validate`: the comparison of simulations and models with published measurements.

mod own;

use super::notice::note;
use super::overrides::jobs;
use super::progress::Bar;
use super::row_command_line::RowCommands;
use super::store::{StoreArguments, finish};
use super::{Failure, OutputArguments};
use clap::Args;
use own::OwnCase;
use parsim_study::answer::AnswerShape;
use parsim_study::experiment::validation::{
    CASE, Validation, ValidationRun, folders, note_on_alternatives, note_on_long,
};
use parsim_study::experiment::{Recall, RunMemory, Setting, Workers, read_setting};
use parsim_study::files::AnswerOutput;
use parsim_study::files::OutputClaims;
use parsim_study::scenario::source::Document;
use std::num::NonZero;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Folders of validation cases, or their names below `validation`; all of these by default.
    cases: Vec<PathBuf>,
    #[command(flatten)]
    own: OwnCase,
    /// Also runs the tables that take long.
    #[arg(long)]
    all: bool,
    /// Changes a base value of every scenario, to explore an alternative; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set: Vec<Setting>,
    #[command(flatten)]
    output: OutputArguments,
    /// Number of simulations that run in parallel; all cores by default.
    #[arg(short, long, value_parser = jobs)]
    jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &ValidateArguments) -> Result<(), Failure> {
    note(note_on_alternatives(&arguments.set));
    let own = arguments.own.validation()?;
    let folders = if own.is_some() { Vec::new() } else { folders(&arguments.cases)? };
    let _folders = arguments.claims(&folders).check()?;
    let store = arguments.store.open()?;
    // Baselines and totals need the runs of other tables again.
    let memory = RunMemory::default();
    let recall = if store.is_some() { arguments.store.recall(store.as_ref()) } else { Recall::within(&memory) };
    let mut output = arguments.output.open(AnswerShape::Mixed)?;
    // The exit code is the verdict on all cases, even if nobody reads the rows.
    output.outlive_reader();
    let mut within = true;
    if let Some(validation) = own {
        within = arguments.judge(&validation, Path::new(""), recall, &mut output)?;
    }
    for folder in folders {
        let _span = tracing::info_span!("validate", case = %folder.display()).entered();
        within &= arguments.validate(&folder, recall, &mut output)?;
    }
    finish(store.as_ref())?;
    output.finish()?;
    if within { Ok(()) } else { Err(Failure::OutOfTolerance) }
}

impl ValidateArguments {
    fn validate(&self, folder: &Path, recall: Recall<'_>, output: &mut AnswerOutput) -> Result<bool, Failure> {
        let mut validation = Validation::of(&Document::load(folder.join(CASE))?)?;
        if !self.all {
            note(note_on_long(folder, &validation.take_long()));
        }
        self.judge(&validation, folder, recall, output)
    }

    /// Runs and judges a case in `folder`; returns whether the case is within its tolerances.
    fn judge(
        &self,
        validation: &Validation,
        folder: &Path,
        recall: Recall<'_>,
        output: &mut AnswerOutput,
    ) -> Result<bool, Failure> {
        let bar = Bar::default();
        let workers = Workers { jobs: self.jobs, progress: &bar, recall };
        let judged = validation.judge(folder, ValidationRun { set: &self.set, workers, commands: &RowCommands })?;
        let answer = judged.answer();
        output.add(&answer)?;
        answer.notes.into_iter().for_each(|text| note(Some(text)));
        Ok(judged.is_within())
    }

    fn claims(&self, folders: &[PathBuf]) -> OutputClaims {
        let claims = self.output.claims().inputs(self.own.files(&self.set));
        // Files that a case reads are in its folder, or are scenarios.
        folders
            .iter()
            .flat_map(std::fs::read_dir)
            .fold(claims, |claims, entries| claims.inputs(entries.flatten().map(|entry| entry.path())))
    }
}
