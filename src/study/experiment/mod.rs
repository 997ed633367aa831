//! Runs of scenarios, and experiments that combine many runs.
//!
//! Every experiment returns typed results that can be turned into an [`Answer`](crate::answer::Answer): records,
//! sentences and figures.

pub mod bottleneck;
pub mod calibration;
mod cases;
pub mod chapter;
mod cluster;
mod comparison;
mod error;
pub mod explain;
pub mod export;
pub mod fit;
pub mod gradient;
mod inspection;
mod interval;
pub mod laws;
pub mod optimum;
mod pictures;
mod real_programs;
mod remarks;
mod resized;
mod saturation;
mod scenario_file;
pub mod sensitivity;
mod sweep;
mod telemetry;
pub mod topology;
pub mod tuning;
pub mod validation;

pub use cases::{
    CaseProgress, CaseResult, CaseRunner, CaseRuns, Failures, FormulaValues, Identity, Keys, MatchedPoints,
    OneRankTime, Outcome, Recall, References, Repetition, RunCounts, RunMemory, RunSeries, Workers, case_name,
    catching_panics, failed_row, first_and_mean_s, keyed, mean_makespan_s, metadata, note_on_withheld, prepared,
    run_all, run_each,
};
pub use cluster::{ClosedForms, ClusterCase};
pub use comparison::{CasePair, Pairs, StoredPlan, TraceSource, Traced, compared_run, files, recording_title};
pub use error::{CaseError, StudyError};
pub use inspection::{InspectedFile, inspect};
pub use interval::{IntervalLevel, PredictionInterval};
pub use pictures::{
    CurveAxis, CurveTime, MAX_BYTES_ALONE, OFFERED, TimeLines, animated_figure, check_critical_times,
    degrees_of_parallelism, drawn_window,
};
pub use remarks::Remarks;
pub use saturation::{OperatingPoint, Saturation, SaturationSeries, SaturationSign, SaturationSweep, saturation};
pub use scenario_file::{CalibratedValues, ScenarioFile, Setting, read_setting, set_all};
pub use sweep::{
    PlannedCases, ResultTally, Shard, SweepEnd, SweepPart, SweepRemarks, SweptRows, Unfinished, UnfinishedCase,
    Workload, calibrated_sweep, path_word, script, shell_word, sweep, swept_table, unfinished, widest_keys,
    write_sweep,
};
pub use telemetry::PROGRESS;

use crate::scenario::CheckedScenario;
use parsim_sim::simulation::{Detail, SimulationError};
use parsim_sim::{Simulation, Trace};
use std::io::Write;
/// Runs a scenario with its base values.
///
/// # Errors
/// As [`Simulation::run`].
pub fn run(scenario: &CheckedScenario) -> Result<Trace, SimulationError> {
    simulation(scenario).run_checked(&scenario.program)
}

/// Runs a scenario with its base values and records the run into `sink`, for
/// [`Recording::read`](parsim_sim::trace::Recording::read).
///
/// # Errors
/// The errors of [`run`]; a program without processes; a sink that cannot be written.
pub fn run_recorded(
    scenario: &CheckedScenario,
    detail: Detail,
    sink: Box<dyn Write + '_>,
) -> Result<Trace, SimulationError> {
    simulation(scenario).record_checked(&scenario.program, scenario.program.name(), detail, sink)
}

/// Returns the simulation of a scenario: its machine, ranks, background traffic, seed and limits.
#[must_use]
pub fn simulation(scenario: &CheckedScenario) -> Simulation<'_> {
    let simulation = Simulation::on_granted(&scenario.machine, scenario.layout(), scenario.streams());
    let simulation = simulation.limits(scenario.limits.clone()).pulse(telemetry::pulse);
    match &scenario.background {
        Some(background) => simulation.background(background.clone()),
        None => simulation,
    }
}
