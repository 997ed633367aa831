//! `parsim compare`: two runs side by side.

use super::overrides::setting;
use super::{Failure, OutputArguments};
use clap::Args;
use parsim_sim::simulation::Detail;
use parsim_study::answer::Answer;
use parsim_study::experiment::{Setting, Traced, files};
use parsim_study::report::comparison::{ComparedRun, RunComparison};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// A trace written by `run --trace`, a table of events (`.csv`), or a scenario, whose base values are run.
    #[arg(value_name = "TRACE|SCENARIO")]
    first: PathBuf,
    /// The second trace or scenario.
    #[arg(value_name = "TRACE|SCENARIO")]
    second: PathBuf,
    /// Changes a base value of both scenarios; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Changes a base value of the first scenario only; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting)]
    set_first: Vec<Setting>,
    /// Changes a base value of the second scenario only; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting)]
    set_second: Vec<Setting>,
    /// Replaces the seed of both scenarios.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    output: OutputArguments,
}

pub fn execute(arguments: &CompareArguments) -> Result<(), Failure> {
    arguments.output.claims().inputs(files(&arguments.first)).inputs(files(&arguments.second)).check()?;
    let side = |input: &Path, own: &[Setting]| side(input, &[&arguments.set[..], own].concat(), arguments.seed);
    let comparison = RunComparison {
        first: side(&arguments.first, &arguments.set_first)?,
        second: side(&arguments.second, &arguments.set_second)?,
    };
    arguments.output.print(Answer::one(comparison.record(), &comparison))
}

fn side(input: &Path, set: &[Setting], seed: Option<u64>) -> Result<ComparedRun, Failure> {
    let traced = Traced::load(input, set, seed, Detail::Ranks)?;
    let values: String = set.iter().flat_map(|(path, value)| [", ", path, "=", value]).collect();
    let title = if traced.title == input.display().to_string() {
        traced.title.clone()
    } else {
        format!("{}: {}{values}", input.display(), traced.title)
    };
    Ok(ComparedRun::new(title, &traced.path()?, traced.recording(), traced.gain()))
}
