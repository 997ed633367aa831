//! Runs of scenarios, and experiments that combine many runs.
//!
//! Every experiment returns typed results that can be turned into an [`Answer`](crate::answer::Answer): records,
//! sentences and figures.

mod animation;
pub mod bottleneck;
pub mod calibration;
mod cases;
pub mod chapter;
mod cluster;
mod curves;
mod degrees;
mod error;
pub mod explain;
pub mod export;
pub mod fit;
mod formula_model;
pub mod gradient;
mod identity;
mod inspection;
mod interval;
pub mod laws;
mod memory_budget;
pub mod optimum;
mod outcome;
mod paired;
mod planning;
mod real_programs;
mod recall;
mod references;
mod remarks;
mod repetition;
mod reported;
mod resized;
mod run_series;
mod saturation;
mod scenario_file;
pub mod script;
pub mod sensitivity;
mod shard;
mod shares;
mod shell_words;
mod stopping;
mod stored_case_index;
mod sweep;
mod swept_rows;
mod swept_table;
mod telemetry;
pub mod topology;
mod traced;
pub mod tuning;
mod unfinished;
pub mod validation;
mod window;

pub use animation::{MAX_BYTES_ALONE, animated_figure};
pub use cases::{
    CaseProgress, CaseResult, CaseRunner, Failures, Keys, Workers, case_name, catching_panics, failed_row, run_all,
    run_each,
};
pub use cluster::{ClosedForms, ClusterCase};
pub use curves::{CurveAxis, CurveTime, OFFERED, TimeLines};
pub use degrees::{check_critical_times, degrees_of_parallelism};
pub use error::{CaseError, StudyError};
pub use identity::{Identity, metadata};
pub use inspection::{InspectedFile, inspect};
pub use interval::{IntervalLevel, PredictionInterval};
pub use outcome::{Outcome, keyed};
pub use paired::{CasePair, Pairs, StoredPlan};
pub use planning::{PlannedCases, SweepPart, Workload};
pub use recall::{CaseRuns, Recall, RunCounts, RunMemory};
pub use references::{FormulaValues, MatchedPoints, OneRankTime, References, note_on_withheld, prepared};
pub use remarks::Remarks;
pub use repetition::{first_and_mean_s, mean_makespan_s};
pub use run_series::{Repetition, RunSeries};
pub use saturation::{OperatingPoint, Saturation, SaturationSeries, SaturationSign, SaturationSweep, saturation};
pub use scenario_file::{CalibratedValues, ScenarioFile, Setting, read_setting, set_all};
pub use shard::Shard;
pub use shell_words::{path_word, shell_word};
pub use sweep::{SweepRemarks, calibrated_sweep, sweep};
pub use swept_rows::{ResultTally, SweepEnd, SweptRows, widest_keys, write_sweep};
pub use swept_table::swept_table;
pub use telemetry::PROGRESS;
pub use traced::{TraceSource, Traced, compared_run, files, recording_title};
pub use unfinished::{Unfinished, UnfinishedCase, unfinished};

pub use window::drawn_window;

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
