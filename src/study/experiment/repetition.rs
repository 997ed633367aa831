//! The runs of a case: with its seed, and with those of its repetitions.

use super::run;
use super::telemetry;
use crate::analysis::Sample;
use crate::scenario::CheckedScenario;
use parsim_sim::simulation::Estimate;
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::Trace;
use std::time::Instant;

/// Repetition `run` of `scenario`, whose seed a check has found small enough, in a case that began at `begin`.
pub fn repetition(scenario: &CheckedScenario, run: u32, begin: Instant) -> Result<Trace, SimulationError> {
    let seed = scenario.seed + u64::from(run);
    let trace = run_case(&scenario.with_seed(seed, begin.elapsed())?);
    trace.map_err(|error| error.of_case(&scenario.limits))
}

/// The makespan of `scenario` in seconds: the mean over its seeds.
///
/// # Errors
/// Those of the runs.
pub fn mean_makespan_s(scenario: &CheckedScenario) -> Result<f64, SimulationError> {
    first_and_mean_s(scenario).map(|(_, mean_s)| mean_s)
}

/// The run with the first seed of `scenario`, and the mean makespan of all seeds, in seconds.
///
/// # Errors
/// Those of the runs.
pub fn first_and_mean_s(scenario: &CheckedScenario) -> Result<(Trace, f64), SimulationError> {
    let begin = Instant::now();
    let first = run_case(scenario)?;
    let mut makespans = vec![first.makespan.seconds()];
    for run in 1..scenario.repeat {
        makespans.push(repetition(scenario, run, begin)?.makespan.seconds());
    }
    let mean_s = Sample::of(&makespans).map_or(makespans[0], |sample| sample.mean);
    Ok((first, mean_s))
}

/// Runs `scenario` with its own seed.
pub fn run_case(scenario: &CheckedScenario) -> Result<Trace, SimulationError> {
    run_reported(scenario, || run(scenario))
}

/// The result of `play`, a run of `scenario`, with the course of it in the log.
pub fn run_reported(
    scenario: &CheckedScenario,
    play: impl FnOnce() -> Result<Trace, SimulationError>,
) -> Result<Trace, SimulationError> {
    let _span = tracing::info_span!("case", program = scenario.program.name(), ranks = scenario.ranks).entered();
    let before = telemetry::thread_cpu_s();
    if tracing::enabled!(tracing::Level::INFO) {
        let Estimate { memory_bytes, least_events, .. } = scenario.estimate();
        tracing::info!(memory_bytes, least_events, "estimated");
    }
    let result = play();
    let cpu_s = telemetry::thread_cpu_s().zip(before).map(|(after, before)| after - before);
    match &result {
        Ok(trace) => tracing::info!(
            events = trace.counts.events,
            simulated_s = trace.makespan.seconds(),
            cpu_s,
            peak_memory_kib = telemetry::peak_memory_kib(),
            "played"
        ),
        Err(error) => tracing::info!(%error, "failed"),
    }
    result
}
