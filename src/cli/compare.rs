//! `parsim compare`: two runs side by side.

use super::traced::{Traced, files};
use super::{Failure, OutputArguments, ScenarioArguments};
use clap::Args;
use parsim_sim::simulation::Detail;
use parsim_study::analysis::Gain;
use parsim_study::experiment;
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
    #[arg(short, long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Changes a base value of the first scenario only; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    set_first: Vec<String>,
    /// Changes a base value of the second scenario only; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    set_second: Vec<String>,
    /// Replaces the seed of both scenarios.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    output: OutputArguments,
}

pub fn execute(arguments: &CompareArguments) -> Result<(), Failure> {
    arguments.output.claims().inputs(files(&arguments.first)).inputs(files(&arguments.second)).check()?;
    let side = |input: &Path, own: &[String]| side(input, &[&arguments.set[..], own].concat(), arguments.seed);
    let comparison = RunComparison {
        first: side(&arguments.first, &arguments.set_first)?,
        second: side(&arguments.second, &arguments.set_second)?,
    };
    let mut output = arguments.output.single()?;
    output.words(&comparison)?;
    output.write(&comparison.record())?;
    output.finish()
}

fn side(input: &Path, set: &[String], seed: Option<u64>) -> Result<ComparedRun, Failure> {
    let traced = Traced::load(input, set, seed, Detail::Ranks)?;
    let path = traced.path()?;
    let gain = if traced.metadata.is_some() { gain(input, set, seed, &traced)? } else { None };
    let values = [&[String::new()], set].concat().join(", ");
    let title = if traced.title == input.display().to_string() {
        traced.title.clone()
    } else {
        format!("{}: {}{values}", input.display(), traced.title)
    };
    Ok(ComparedRun::new(title, &path, traced.recording(), gain))
}

/// The gain over the same program on one rank; `None` if it cannot run there.
pub fn gain(input: &Path, set: &[String], seed: Option<u64>, traced: &Traced) -> Result<Option<Gain>, Failure> {
    let scenario = ScenarioArguments::of(input, set, seed).plan(&[])?.base()?.scenario;
    let (Some(alone), Some(run)) = (scenario.on_one_rank().ok(), traced.recording()) else { return Ok(None) };
    let Ok(sequential) = experiment::run(&alone) else { return Ok(None) };
    Ok(Gain::of(run.header.nodes.len(), run.makespan, sequential.makespan))
}
