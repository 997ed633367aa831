//! The runs of a case: one with its seed, and the repetitions with further seeds.

use super::recall::{CaseRuns, Recall};
use super::run_series::RunSeries;
use crate::scenario::CheckedScenario;
use parsim_sim::simulation::{SimulationError, WallClock};
use parsim_sim::trace::Trace;

/// Runs repetition `run` of `scenario`, in a case that began at `begin`. A check has ensured that the seed does not
/// overflow.
pub fn repetition(
    scenario: &CheckedScenario,
    run: u32,
    begin: WallClock,
    runs: &CaseRuns<'_>,
) -> Result<Trace, SimulationError> {
    let seed = scenario.seed + u64::from(run);
    let trace = runs.run(&scenario.with_seed(seed, begin.elapsed())?);
    trace.map_err(|error| error.with_limit_of_case(&scenario.limits))
}

/// Returns the makespan of `scenario` in seconds, averaged over its seeds, whose results are looked up in `recall`.
///
/// # Errors
/// Returns the errors of the runs.
pub fn mean_makespan_s(scenario: &CheckedScenario, recall: Recall<'_>) -> Result<f64, SimulationError> {
    first_and_mean_s(scenario, &recall.runs()).map(|(_, mean_s)| mean_s)
}

/// Returns the first of these `runs` of `scenario`, and the mean makespan of all seeds, in seconds.
///
/// # Errors
/// Returns the errors of the runs.
pub fn first_and_mean_s(scenario: &CheckedScenario, runs: &CaseRuns<'_>) -> Result<(Trace, f64), SimulationError> {
    let series = run_series(scenario, runs)?;
    let mean_s = series.mean_s();
    Ok((series.first, mean_s))
}

/// Returns these `runs` of `scenario`, with all its seeds.
pub fn run_series(scenario: &CheckedScenario, runs: &CaseRuns<'_>) -> Result<RunSeries, SimulationError> {
    let begin = WallClock::begin();
    RunSeries::of(scenario.repeat, runs.run(scenario)?, |run| repetition(scenario, run, begin, runs))
}
