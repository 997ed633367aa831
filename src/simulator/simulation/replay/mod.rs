//! Replay of schedules without processes.
//!
//! On a machine that the LogGOPS model describes completely, an unobserved run of a schedule needs neither processes
//! nor the general transport of a machine. The same events, in the same order, are driven directly by the dependency
//! graph of the schedule. The trace is that of a run by processes, obtained several times as fast and in a fraction of
//! the memory.

mod costs;
mod matching;
mod queue_heads;
mod radix_heap;
mod rank;
mod resources;
mod run;
#[cfg(test)]
mod tests;

use super::execution::INITIALISATION;
use super::guard::{Deadline, Guard};
use super::{Simulation, SimulationError};
use crate::machine::Overtaking;
use crate::program::schedule::Bounds;
use crate::program::{Program, send_fault};
use crate::trace::{Accounts, Counts, Trace};
use crate::units::{SimDuration, SimTime};
use costs::LogGopsCosts;
use run::Replay;

/// The phase of processes that have not named one.
const PROGRAM: &str = "program";

/// Replays a program that is a schedule. Returns `None` if the program must be run by processes: on any other machine,
/// if messages of a pair could have to wait for each other, or if there is a fault, which the run by processes
/// explains.
///
/// # Errors
/// An exceeded limit of the run.
pub fn replay(
    simulation: &Simulation<'_>,
    program: &dyn Program,
    deadline: Deadline,
) -> Result<Option<Trace>, SimulationError> {
    let Simulation { machine, layout, background: None, packet_by_packet: false, .. } = simulation else {
        return Ok(None);
    };
    let Some(costs) = LogGopsCosts::of(machine).filter(|_| !layout.shares_cores(machine.nodes.cores())) else {
        return Ok(None);
    };
    let Some((schedule, unit)) = program.schedule() else { return Ok(None) };
    let bounds = schedule.bounds();
    if schedule.ranks() != layout.ranks() || !messages_are_valid(simulation, &bounds) {
        return Ok(None);
    }
    let guard = Guard::new(&simulation.limits, simulation.pulse.as_ref(), deadline);
    run(simulation, program, Replay::new(schedule.open(), unit, costs, bounds.highest), guard)
}

/// Returns whether all messages can be sent and, if overtaking is forbidden, cannot overtake each other.
fn messages_are_valid(simulation: &Simulation<'_>, bounds: &Bounds) -> bool {
    let (ranks, packet_bytes) = (simulation.layout.ranks(), simulation.machine.network.switching.packet_bytes());
    (bounds.messages_share_resources() || simulation.machine.overtaking == Overtaking::Allowed)
        && send_fault(bounds.highest_peer, ranks, bounds.longest_message, packet_bytes).is_none()
}

fn run(
    simulation: &Simulation<'_>,
    program: &dyn Program,
    mut replay: Replay,
    mut guard: Guard<'_>,
) -> Result<Option<Trace>, SimulationError> {
    guard.check(SimTime::START, replay.events)?;
    while replay.open_next() {
        while let Some(now) = replay.step() {
            guard.check(now, replay.events)?;
        }
    }
    let is_complete = replay.finished == simulation.layout.ranks() && replay.fault().is_none();
    Ok(is_complete.then(|| trace(simulation, program, replay)))
}

fn trace(simulation: &Simulation<'_>, program: &dyn Program, mut replay: Replay) -> Trace {
    let (layout, end) = (&simulation.layout, replay.last_finish);
    let mut accounts = Accounts::new(layout.ranks(), &[&[INITIALISATION], program.phases()].concat());
    for rank in 0..layout.ranks() {
        replay.account(end, rank);
        for (activity, time) in replay.ranks[rank as usize].times() {
            accounts.add(rank, PROGRAM, activity, time);
        }
    }
    Trace {
        makespan: end.since(SimTime::START),
        host: layout.first_rank(simulation.machine.host.node).unwrap_or(0),
        accounts,
        written: SimDuration::ZERO,
        links: Vec::new(),
        counts: Counts { messages: replay.sent, events: replay.events, ..Counts::default() },
        background: None,
        outcomes: Vec::new(),
        critical_intervals: Vec::new(),
        sources: Vec::new(),
        deliveries: Vec::new(),
        activity_log: None,
        requests: None,
    }
}
