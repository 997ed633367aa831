//! Properties of every scenario that passes the check.

use super::actions::named_messages;
use super::sample::Sample;
use parsim::analysis::critical_path::PieceKind;
use parsim::analysis::{Breakdown, CriticalPath};
use parsim::experiment;
use parsim::fault::Rejection;
use parsim::machine::Allocation;
use parsim::scenario::source::{Document, Faults};
use parsim::scenario::{CheckedScenario, Plan, Scenario};
use parsim::simulation::{Detail, SimulationError};
use parsim::trace::events::SHARED_SYSTEM;
use parsim::trace::{Activity, ActivityLog, Recording, Trace};
use parsim::units::{SimDuration, SimTime};
use parsim::{Program, Simulation};
use std::collections::BTreeMap;

/// The outcome of a sample that kept to all properties.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The check rejects it, with a place and help.
    Rejected {
        message: String,
        is_mistake: bool,
    },
    /// It ended with an error that it may end with.
    Stopped,
    Ended,
}

/// The beginning of what is said of a run that surely exceeds its limits; limits belong to the scenario.
const BEYOND_LIMITS: &str = "the run would take more than";

/// Holds all properties against a sample.
pub fn hold(sample: &Sample) -> Result<Outcome, String> {
    let scenario = match read(&sample.ron()) {
        Ok(scenario) => scenario,
        Err(faults) => return rejected(sample, &faults),
    };
    let trace = match experiment::run(&scenario) {
        Ok(trace) => trace,
        Err(error) if may_end_so(sample, &error) => return Ok(Outcome::Stopped),
        Err(error) => return Err(format!("the run ends with {}: {error}", variant(&error))),
    };
    same("a second run", &trace, &experiment::run(&scenario))?;
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
    Ok(Plan::new(document, &[])?.base()?.into_scenario())
}

fn rejected(sample: &Sample, faults: &Faults) -> Result<Outcome, String> {
    let is_read = typed(sample).is_some();
    for fault in faults.entries() {
        // A text of which no value can be made says in its message what it can be.
        if fault.line.is_none() || fault.help.is_none() && is_read {
            return Err(format!("rejected without place or help: {fault:?}"));
        }
    }
    let message = &faults.entries()[0].message;
    if message.starts_with(BEYOND_LIMITS) {
        return Ok(Outcome::Stopped);
    }
    rejected_in_rust(sample, faults)?;
    Ok(Outcome::Rejected { message: message.clone(), is_mistake: sample.is_mistaken })
}

/// The scenario unchecked, if values can be made of all its texts.
fn typed(sample: &Sample) -> Option<Scenario> {
    Document::from_text("sample.ron", &sample.ron()).ok()?.read().ok()
}

/// Holds that a program in Rust is rejected with the same words, if not only the text is at fault.
fn rejected_in_rust(sample: &Sample, faults: &Faults) -> Result<(), String> {
    let Some(scenario) = typed(sample) else { return Ok(()) };
    let said: Vec<_> = faults.entries().iter().map(|entry| entry.message.clone()).collect();
    let in_rust = simulation(&scenario).and_then(|simulation| simulation.run(&scenario.program));
    match in_rust {
        Err(SimulationError::Rejected(Rejection(faults))) => {
            let in_rust: Vec<_> = faults.into_iter().map(|fault| fault.message).collect();
            // A machine and its layout are rejected before there is a program.
            let is_same = in_rust.iter().all(|message| said.contains(message));
            if is_same { Ok(()) } else { Err(format!("other words in Rust: {in_rust:?} and not {said:?}")) }
        }
        other => Err(format!("not rejected in Rust: {:?} and not {said:?}", other.map(|trace| trace.makespan))),
    }
}

/// Limits may end any run, and some scenarios are there to deadlock.
fn may_end_so(sample: &Sample, error: &SimulationError) -> bool {
    let program = sample.field("program");
    let is_ring = |order: &str| sample.actions.is_empty() && program.contains(&format!("order: {order}"));
    match error {
        SimulationError::TimeLimit { .. } | SimulationError::EventLimit { .. } => true,
        SimulationError::Deadlock(_) => {
            // A rank alone sends to itself before it receives.
            is_ring("ReceiveFirst")
                || sample.sends_wait() && (is_ring("SendFirst") || sample.ranks == 1 && is_ring("EvenSendFirst"))
        }
        SimulationError::NetworkDeadlock { .. } => sample.field("virtual_channels") == "Single",
        _ => false,
    }
}

fn variant(error: &SimulationError) -> String {
    format!("{error:?}").split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Holds that another way to run the same gives the same.
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
    let simulation = simulation(scenario).map_err(|error| format!("the Rust API rejects it: {error}"))?;
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
    same("recording", trace, &simulation.run_recorded(program, "sample", Detail::FULL, Box::new(&mut bytes)))?;
    let recording = Recording::read(&bytes[..]).map_err(|error| format!("the recording cannot be read: {error}"))?;
    if recording.makespan != trace.makespan {
        return Err(format!("the recording says {} of {}", recording.makespan, trace.makespan));
    }
    let path = CriticalPath::of(&recording.events).map_err(|error| format!("causes come late: {error}"))?;
    if path.length() != trace.makespan {
        return Err(format!("the critical path is not the makespan: {} of {}", path.length(), trace.makespan));
    }
    pieces_are_the_accounts(&recording, &path)?;
    let logged = simulation.clone().log_activities().run(program).map_err(|error| error.to_string())?;
    let log = logged.activity_log.ok_or("there is no activity log")?;
    let nodes = &scenario.machine.nodes;
    // Detours lengthen services.
    if nodes.interface.is_some() || !nodes.detours.is_empty() { Ok(()) } else { work_is_service(&path, &log) }
}

/// Holds that the pieces of the time of every rank follow one another, and that they sum to its times by activity.
fn pieces_are_the_accounts(recording: &Recording, path: &CriticalPath<'_>) -> Result<(), String> {
    let events = &recording.events;
    let mut ends = vec![SimDuration::ZERO; recording.times.ranks.len()];
    let mut sums: BTreeMap<(usize, &str), SimDuration> = BTreeMap::new();
    for piece in (0..events.count()).flat_map(|event| path.pieces(event)) {
        let rank = events.get(piece.event).process as usize;
        if std::mem::replace(&mut ends[rank], piece.to) != piece.from {
            return Err(format!("the time of rank {rank} has gaps, or pieces that overlap, at {}", piece.from));
        }
        let kind = match events.label_of(piece.event).kind.as_str() {
            SHARED_SYSTEM => Activity::System.name(),
            kind => kind,
        };
        let known = if piece.kind == PieceKind::Gap { Activity::Idle.name() } else { kind };
        *sums.entry((rank, known)).or_default() += piece.to - piece.from;
    }
    for (rank, phases) in recording.times.ranks.iter().enumerate() {
        for activity in Activity::ALL.into_iter().filter(|one| *one != Activity::Idle) {
            let time: SimDuration = phases.iter().map(|times| times[activity as usize]).sum();
            let sum = sums.get(&(rank, activity.name())).copied().unwrap_or_default();
            if sum != time {
                return Err(format!("rank {rank}: the pieces of {} take {sum} of {time}", activity.name()));
            }
        }
    }
    Ok(())
}

/// Holds that a processor works for the communication when it serves a job of the communication software.
fn work_is_service(path: &CriticalPath<'_>, log: &ActivityLog) -> Result<(), String> {
    let events = path.events();
    let processors: BTreeMap<u32, u32> = log.entries.iter().map(|entry| (entry.rank, entry.processor)).collect();
    let mut services: BTreeMap<u32, Vec<(SimDuration, SimDuration)>> = BTreeMap::new();
    let since_start = |time: SimTime| time.since(SimTime::START);
    for service in &log.services {
        let of_processor = services.entry(service.processor).or_default();
        let (begin, end) = (since_start(service.begin()), since_start(service.end));
        match of_processor.last_mut().filter(|last| last.1 == begin) {
            Some(last) => last.1 = end,
            None => of_processor.push((begin, end)),
        }
    }
    for piece in (0..events.count()).flat_map(|event| path.pieces(event)).filter(|piece| piece.handling.is_some()) {
        let rank = events.get(piece.event).process;
        // A rank whose program has ended at once has no activities in the log.
        let Some(processor) = processors.get(&rank) else { continue };
        let served = services.get(processor);
        let is_served = |(begin, end): &(SimDuration, SimDuration)| *begin <= piece.from && piece.to <= *end;
        if !served.is_some_and(|served| served.iter().any(is_served)) {
            return Err(format!("rank {rank} has no service from {} to {}", piece.from, piece.to));
        }
    }
    Ok(())
}

/// The scenario as a Rust program would run it.
fn simulation(scenario: &Scenario) -> Result<Simulation<'_>, SimulationError> {
    let allocation = Allocation::new(&scenario.machine, scenario.ranks)
        .partition(scenario.partition)
        .placement(scenario.placement.clone())
        .streams(scenario.streams());
    Ok(Simulation::on(&allocation)?.limits(scenario.limits.clone()))
}
