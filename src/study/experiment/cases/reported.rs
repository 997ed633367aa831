//! Runs with their progress in the log.

use crate::experiment::run;
use crate::experiment::telemetry;
use crate::scenario::CheckedScenario;
use parsim_sim::simulation::{Estimate, SimulationError};
use parsim_sim::trace::Trace;

/// Runs `scenario` with its own seed.
pub fn simulate(scenario: &CheckedScenario) -> Result<Trace, SimulationError> {
    run_reported(scenario, || run(scenario))
}

/// Calls `play`, a run of `scenario`, and logs its estimate and its result.
pub fn run_reported(
    scenario: &CheckedScenario,
    play: impl FnOnce() -> Result<Trace, SimulationError>,
) -> Result<Trace, SimulationError> {
    // An estimate and a look at the system's counters take longer than a small run.
    if !tracing::enabled!(tracing::Level::INFO) {
        return play();
    }
    let _span = tracing::info_span!("case", program = scenario.program.name(), ranks = scenario.ranks).entered();
    let before = telemetry::thread_cpu_s();
    let Estimate { memory_bytes, least_events, .. } = scenario.estimate();
    tracing::info!(memory_bytes, least_events, "estimated");
    let result = play();
    let cpu_s = telemetry::thread_cpu_s().zip(before).map(|(after, before)| after - before);
    match &result {
        Ok(trace) => tracing::info!(
            events = trace.counts.events,
            simulated_s = trace.makespan.seconds(),
            cpu_s,
            peak_memory_kib = telemetry::peak_memory_kib(),
            "run"
        ),
        Err(error) => tracing::info!(%error, "failed"),
    }
    result
}
