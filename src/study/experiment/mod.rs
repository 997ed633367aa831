//! Runs of scenarios, and what is asked of many of them.

mod saturation;

pub use saturation::{OperatingPoint, Saturation, SaturationSign, saturation};

use crate::scenario::CheckedScenario;
use parsim_sim::simulation::{Detail, SimulationError};
use parsim_sim::{Simulation, Trace};
use std::io::Write;

/// Runs the base values of a scenario.
///
/// # Errors
/// As [`Simulation::run`].
pub fn run(scenario: &CheckedScenario) -> Result<Trace, SimulationError> {
    simulation(scenario).run_checked(&scenario.program)
}

/// Runs the base values of a scenario and records the run into `sink`, to be read by
/// [`Recording::read`](parsim_sim::trace::Recording::read).
///
/// # Errors
/// As [`run`]; and a program without processes, or a sink that takes nothing.
pub fn run_recorded(
    scenario: &CheckedScenario,
    detail: Detail,
    sink: Box<dyn Write + '_>,
) -> Result<Trace, SimulationError> {
    simulation(scenario).record_checked(&scenario.program, scenario.program.name(), detail, sink)
}

/// The machine, ranks, seed and limits of a scenario.
#[must_use]
pub fn simulation(scenario: &CheckedScenario) -> Simulation<'_> {
    Simulation::laid_out(&scenario.machine, scenario.layout(), scenario.streams()).limits(scenario.limits.clone())
}
