//! `parsim compare`: the comparison of two runs, or of the cases of two stores.

use super::numbers::from;
use super::store::read;
use super::{Failure, OutputArguments};
use clap::Args;
use parsim_study::answer::Answer;
use parsim_study::experiment::{Pairs, ScenarioFile, Setting, StoredPlan, compared_run, files, read_setting};
use parsim_study::report::comparison::RunComparison;
use parsim_study::scenario::Override;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// A trace written by `run --trace`, a table of events (`.csv`), or a scenario, whose base values are run; with
    /// `--scenario`, a store of its results.
    #[arg(value_name = "TRACE|SCENARIO|STORE")]
    first: PathBuf,
    /// The second trace, scenario or store.
    #[arg(value_name = "TRACE|SCENARIO|STORE")]
    second: PathBuf,
    /// Changes a base value of both scenarios; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set: Vec<Setting>,
    /// Changes a base value of the first scenario only; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set_first: Vec<Setting>,
    /// Changes a base value of the second scenario only; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set_second: Vec<Setting>,
    /// Replaces the seed of both scenarios.
    #[arg(long, value_parser = from(0u64))]
    seed: Option<u64>,
    /// Compares the results of all cases of this scenario; the two inputs are stores instead of runs.
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<PathBuf>,
    /// Replaces the values of an axis of that scenario, or adds an axis; may be repeated.
    #[arg(long, value_name = "NAME=V1,V2,…", requires = "scenario")]
    over: Vec<Override>,
    #[command(flatten)]
    output: OutputArguments,
}

pub fn execute(arguments: &CompareArguments) -> Result<(), Failure> {
    match &arguments.scenario {
        Some(scenario) => arguments.stores(scenario),
        None => compare_runs(arguments),
    }
}

impl CompareArguments {
    /// Compares two stores case by case.
    fn stores(&self, scenario: &Path) -> Result<(), Failure> {
        let plan = |own: &[Setting]| {
            let set = [&self.set[..], own].concat();
            let (path, over) = (scenario.to_owned(), self.over.clone());
            ScenarioFile { path, set, seed: self.seed, over, ..ScenarioFile::default() }.plan()
        };
        let plans = (plan(&self.set_first)?, plan(&self.set_second)?);
        let _folders = self.output.claims().inputs(plans.0.files()).inputs(plans.1.files()).check()?;
        let stores = (read(&self.first)?, read(&self.second)?);
        let before = StoredPlan { plan: &plans.0, store: &stores.0 };
        let pairs = Pairs::of(before, StoredPlan { plan: &plans.1, store: &stores.1 })?;
        self.output.print(pairs.answer())?;
        Ok(pairs.check()?)
    }
}

/// Compares two runs, each either recorded before or run now.
fn compare_runs(arguments: &CompareArguments) -> Result<(), Failure> {
    if let Some(store) = [&arguments.first, &arguments.second].into_iter().find(|input| input.is_dir()) {
        let message =
            format!("{}: a folder is a store: name the scenario of its results with --scenario", store.display());
        return Err(Failure::Usage(message));
    }
    let first = (&arguments.first, [&arguments.set[..], &arguments.set_first].concat());
    let second = (&arguments.second, [&arguments.set[..], &arguments.set_second].concat());
    let inputs = [&first, &second].into_iter().flat_map(|(input, set)| files(input, set));
    let _folders = arguments.output.claims().inputs(inputs).check()?;
    let side = |(input, set): (&PathBuf, Vec<Setting>)| compared_run(input, &set, arguments.seed);
    let comparison = RunComparison { first: side(first)?, second: side(second)? };
    arguments.output.print(Answer::one(comparison.record(), &comparison))
}
