//! `parsim sensitivity`: by how many percent the makespan changes for one percent of each parameter.

use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_study::experiment::sensitivity::VariedRun;
use parsim_study::scenario::Case;

#[derive(Debug, Args)]
pub struct SensitivityArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// By how many percent every parameter is changed, down and up; whole numbers by at least one.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    step: f64,
}

pub fn execute(arguments: &SensitivityArguments) -> Result<(), Failure> {
    let step = arguments.step;
    if !(step > 0.0 && step <= 50.0) {
        return Err(Failure::Usage(format!("--step {step}: give percents above 0, up to 50")));
    }
    let answer = |case: &Case| Ok(VariedRun::of(&case.scenario)?.answer(step / 100.0));
    arguments.common.answer(|claims| claims, |_, case| answer(case))
}
