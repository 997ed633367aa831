//! Properties of every scenario that passes the check.

use super::actions::named_messages;
use super::sample::Sample;
use parsim::analysis::{Breakdown, CriticalPath};
use parsim::machine::Allocation;
use parsim::scenario::source::{Document, Faults};
use parsim::scenario::{CheckedScenario, Plan};
use parsim::simulation::{Detail, SimulationError, play};
use parsim::trace::{Recording, Trace};
use parsim::{Program, Simulation};
use std::collections::BTreeMap;

/// The outcome of a sample that kept to all properties.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The check rejects it, with a place and help.
    Rejected(String),
    /// It ended with an error that it may end with.
    Stopped,
    Ended,
}

/// Holds all properties against a sample.
pub fn hold(sample: &Sample) -> Result<Outcome, String> {
    let scenario = match read(&sample.ron()) {
        Ok(scenario) => scenario,
        Err(faults) => return rejected(&faults),
    };
    let trace = match play(&scenario) {
        Ok(trace) => trace,
        Err(error) if may_end_so(sample, &error) => return Ok(Outcome::Stopped),
        Err(error) => return Err(format!("the run ends with {}: {error}", variant(&error))),
    };
    same("a second run", &trace, &play(&scenario))?;
    accounts_sum_up(&trace)?;
    numerics_are_right(&trace)?;
    if !scenario.program.is_traffic() {
        hold_of_processes(sample, &scenario, &trace)?;
    }
    Ok(Outcome::Ended)
}

/// The scenario that a text says, read and checked as the commands do it.
fn read(text: &str) -> Result<CheckedScenario, Faults> {
    let document = Document::from_text("sample.ron", text)?;
    Ok(Plan::new(document, &[])?.base()?.scenario)
}

fn rejected(faults: &Faults) -> Result<Outcome, String> {
    for fault in faults.entries() {
        if fault.line.is_none() || fault.help.is_none() {
            return Err(format!("rejected without place or help: {fault:?}"));
        }
    }
    Ok(Outcome::Rejected(faults.entries()[0].message.clone()))
}

/// Limits may end any run, and some scenarios are there to deadlock.
fn may_end_so(sample: &Sample, error: &SimulationError) -> bool {
    let program = sample.field("program");
    let is_ring = |order: &str| sample.actions.is_empty() && program.contains(&format!("order: {order}"));
    match error {
        SimulationError::TimeLimit { .. } | SimulationError::EventLimit { .. } => true,
        SimulationError::Deadlock(_) => {
            is_ring("ReceiveFirst") || is_ring("SendFirst") && sample.field("sends") == "Rendezvous"
        }
        SimulationError::NetworkDeadlock { .. } => sample.field("virtual_channels") == "Single",
        _ => false,
    }
}

fn variant(error: &SimulationError) -> String {
    format!("{error:?}").split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Holds that another way to play the same gives the same.
fn same(way: &str, trace: &Trace, other: &Result<Trace, SimulationError>) -> Result<(), String> {
    let other = other.as_ref().map_err(|error| format!("{way} fails: {error}"))?;
    let (one, other) = (format!("{trace:?}"), format!("{other:?}"));
    if one == other {
        return Ok(());
    }
    let at = one.bytes().zip(other.bytes()).position(|(one, other)| one != other).unwrap_or(0);
    let around = |text: &str| text.get(at.saturating_sub(60)..(at + 60).min(text.len())).unwrap_or("").to_owned();
    Err(format!("{way} differs: …{}… is …{}…", around(&one), around(&other)))
}

fn accounts_sum_up(trace: &Trace) -> Result<(), String> {
    for rank in 0..trace.accounts.ranks() {
        let total = trace.accounts.rank(rank).total();
        if total != trace.makespan {
            return Err(format!("accounts do not sum: rank {rank} has {total} of {}", trace.makespan));
        }
    }
    let breakdown = Breakdown::of(trace);
    let activities: f64 = breakdown.activities.iter().map(|share| share.seconds).sum();
    let phases: f64 = breakdown.phases.iter().map(|share| share.seconds).sum();
    let makespan = trace.makespan.seconds();
    let is_all = |sum: f64| (sum - makespan).abs() <= 1e-9 * makespan;
    let all = is_all(activities) && is_all(phases);
    all.then_some(()).ok_or_else(|| format!("means do not sum: {activities} s and {phases} s of {makespan} s"))
}

fn numerics_are_right(trace: &Trace) -> Result<(), String> {
    for name in ["relative_residual", "relative_error", "spins_unlike_sequential", "processes_unlike_sequential"] {
        if let Some(error) = trace.outcome(name).filter(|error| error.is_nan() || *error > 1e-6) {
            return Err(format!("numerics are wrong: {name} is {error}"));
        }
    }
    Ok(())
}

/// Properties of runs with processes, and not packets alone.
fn hold_of_processes(sample: &Sample, scenario: &CheckedScenario, trace: &Trace) -> Result<(), String> {
    let simulation = simulation(scenario)?;
    let mut kept = simulation.clone().keep_deliveries().run(&scenario.program);
    let deliveries = kept.as_mut().map(|trace| std::mem::take(&mut trace.deliveries)).unwrap_or_default();
    same("the Rust API", trace, &kept)?;
    if deliveries.len() as u64 != trace.counts.messages {
        return Err(format!("messages are lost: {} of {} come", deliveries.len(), trace.counts.messages));
    }
    let mut come = BTreeMap::new();
    for one in &deliveries {
        *come.entry((one.from, one.to, one.bytes)).or_insert(0) += 1;
    }
    for message in named_messages(&sample.actions) {
        let left = come.get_mut(&message).filter(|count| **count > 0);
        *left.ok_or_else(|| format!("messages are lost: {message:?}"))? -= 1;
    }
    same("packet by packet", trace, &simulation.clone().packet_by_packet().run(&scenario.program))?;
    recorded(scenario, &simulation, trace)
}

/// Holds that recording changes nothing, and that causes explain the makespan.
fn recorded(scenario: &CheckedScenario, simulation: &Simulation, trace: &Trace) -> Result<(), String> {
    let mut bytes = Vec::new();
    let program: &dyn Program = &scenario.program;
    same("recording", trace, &simulation.run_recorded(program, "sample", Detail::Links, Box::new(&mut bytes)))?;
    let recording = Recording::read(&bytes[..]).map_err(|error| format!("the recording cannot be read: {error}"))?;
    if recording.makespan != trace.makespan {
        return Err(format!("the recording says {} of {}", recording.makespan, trace.makespan));
    }
    let path = CriticalPath::of(&recording.events).map_err(|error| format!("causes come late: {error}"))?;
    if path.length() != trace.makespan {
        return Err(format!("the critical path is not the makespan: {} of {}", path.length(), trace.makespan));
    }
    Ok(())
}

/// The scenario as a Rust program would play it.
fn simulation(scenario: &CheckedScenario) -> Result<Simulation<'_>, String> {
    let allocation = Allocation::new(&scenario.machine, scenario.ranks)
        .partition(scenario.partition)
        .placement(scenario.placement.clone())
        .streams(scenario.streams());
    let simulation = Simulation::on(&allocation).map_err(|error| format!("the Rust API rejects it: {error}"))?;
    Ok(simulation.limits(scenario.limits.clone()))
}
