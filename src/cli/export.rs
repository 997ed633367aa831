//! `parsim export`: the messages of a run for other simulators.

use super::files::{fill, make_folder};
use super::notice::note;
use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_sim::Machine;
use parsim_sim::network::{Contention, Network};
use parsim_sim::node::Processor;
use parsim_sim::program::Program;
use parsim_sim::program::schedule::Operations;
use parsim_sim::trace::{Accounts, Activity, Request, RequestLog, Trace, Unsaid};
use parsim_sim::units::{PerByte, SimDuration};
use parsim_study::answer::{Answer, Record};
use parsim_study::experiment::{metadata, simulation};
use parsim_study::programs::GoalText;
use parsim_study::report::{ExportError, TimeIndependentTrace, counted, write_goal};
use parsim_study::scenario::{Case, CheckedScenario};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ExportArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    target: Target,
    /// The unit of the computations of a schedule, to which they are rounded.
    #[arg(long, value_name = "TIME", default_value = "1 ns", conflicts_with = "time_independent")]
    unit: SimDuration,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// Writes the run as a GOAL schedule, to be replayed by LogGOPSim, into this file.
    #[arg(long, value_name = "FILE")]
    goal: Option<PathBuf>,
    /// Writes the run as a time-independent trace, to be replayed by SimGrid, into this folder: `trace.txt` names the
    /// files of the ranks.
    #[arg(long, value_name = "DIR")]
    time_independent: Option<PathBuf>,
}

pub fn execute(arguments: &ExportArguments) -> Result<(), Failure> {
    let (common, target) = (&arguments.common, &arguments.target);
    let plan = common.plan(&[])?;
    let case = plan.base()?;
    let scenario = &case.scenario;
    if common.dump_config {
        return common.output.write(format_args!("{}\n", scenario.to_ron()));
    }
    if arguments.unit == SimDuration::ZERO {
        return Err(Failure::Usage("--unit 0: give a time such as \"1 ns\"".to_owned()));
    }
    if scenario.program.is_traffic() {
        return Err(Failure::Usage("the packets of Traffic are no messages of ranks: give another program".to_owned()));
    }
    let claims = common.claims(&plan).output("--goal", target.goal.as_deref());
    claims.folder(target.time_independent.as_deref()).check()?;
    if let Some((schedule, unit)) = scenario.program.schedule() {
        return export_schedule(arguments, &case, &mut *schedule.open(), unit);
    }
    let Trace { requests, makespan, accounts, .. } =
        simulation(scenario).log_requests().run_checked(&scenario.program)?;
    let log = requests.expect("the run was asked for its requests");
    let written = write(arguments, scenario, &log)?;
    note(note_on_empty_messages(arguments, scenario, &log));
    note(note_on_host(&accounts));
    note(note_on_unsaid(log.unsaid));
    note(note_on_speeds(&scenario.machine));
    common.output.print(answer(&case, log.ranks.len(), written, makespan))
}

/// The answer on so many ranks and statements that have been written to a place.
fn answer(case: &Case, ranks: usize, (statements, place): (u64, &Path), makespan: SimDuration) -> Answer {
    let mut record = Record::default();
    record.put("ranks", ranks);
    record.put("statements", statements);
    record.put("makespan_s", makespan.seconds());
    record.put_metadata(metadata(&case.scenario, &case.settings));
    Answer::one(record, &format!("{}: {ranks} ranks, {statements} statements\n", place.display()))
}

/// Writes a program that is a schedule as it is, with what a run does not tell: its relations.
fn export_schedule(
    arguments: &ExportArguments,
    case: &Case,
    operations: &mut dyn Operations,
    unit: SimDuration,
) -> Result<(), Failure> {
    let Some(file) = arguments.target.goal.as_deref() else {
        let message = "the program is a schedule, whose operations have no order: a time-independent trace is of calls one after \
                       the other; `--goal` writes the schedule itself";
        return Err(Failure::Usage(message.to_owned()));
    };
    let scenario = &case.scenario;
    let makespan = simulation(scenario).run_checked(&scenario.program)?.makespan;
    let least_bytes = u64::from(takes_no_longer_by_a_byte(&scenario.machine));
    let written = arguments.unit;
    let statements = fill(file, |sink| {
        let mut text = GoalText { unit, written, least_bytes, sink };
        if let Some(lost) = text.lost(operations) {
            let [asked, written] = lost.map(|total| format!("{:.4e} s", total.seconds()));
            return Err(ExportError::TooCoarse { asked, written, unit: arguments.unit }.into());
        }
        Ok(text.write(operations)?)
    })?;
    let ranks = scenario.ranks as usize;
    arguments.common.output.print(answer(case, ranks, (statements, file), makespan))
}

/// Returns whether a message of one byte takes as long as one of none: LogGOPS counts bytes from the second on, links count all.
fn takes_no_longer_by_a_byte(machine: &Machine) -> bool {
    let Network { contention, links, .. } = &machine.network;
    machine.nodes.interface.is_some() && *contention == Contention::Off && links.byte_time() == PerByte::FREE
}

/// Says that LogGOPSim does not take messages without bytes, where such have been written.
fn note_on_empty_messages(arguments: &ExportArguments, scenario: &CheckedScenario, log: &RequestLog) -> Option<String> {
    let is_empty = |request: &Request| matches!(request, Request::Send { bytes: 0, .. });
    let count = log.ranks.iter().flatten().filter(|request| is_empty(request)).count();
    let is_said = arguments.target.goal.is_some() && count > 0 && !takes_no_longer_by_a_byte(&scenario.machine);
    is_said.then(|| {
        format!(
            "note: {} of 0 B: written as they are, for the same times here; LogGOPSim subtracts a byte's time from each",
            counted(count, "message")
        )
    })
}

/// Says that the formats know no host, where ranks have read from one or written to it.
fn note_on_host(accounts: &Accounts) -> Option<String> {
    let time = accounts.in_activity(Activity::InputOutput).seconds();
    (time > 0.0).then(|| {
        format!(
            "note: {time} s of input and output are written as computations: no rank waits there until the host is free"
        )
    })
}

/// Says what the times of computations are where not all processors take the time that is described.
fn note_on_speeds(machine: &Machine) -> Option<String> {
    let noise = (!machine.nodes.noise.is_quiet()).then_some("computations are written with the noise of this run");
    let speeds = (!machine.overrides.is_empty()).then_some(
        "computations are written with the times of their nodes; the overheads of messages of nodes with a speed of their \
         own are not",
    );
    let parts: Vec<_> = noise.into_iter().chain(speeds).collect();
    (!parts.is_empty()).then(|| format!("note: {}", parts.join("; ")))
}

/// Names what moves times on this machine and has no place in either format.
fn note_on_unsaid(unsaid: Unsaid) -> Option<String> {
    let Unsaid { repeated_sends, divided_computations, forwardings } = unsaid;
    let parts = [
        (repeated_sends, "send", "of data that had been sent before and were not copied again (`copies: Once`)"),
        (divided_computations, "computation", "whose rows let communication software in (`router_turn: EndOfRow`)"),
        (forwardings, "forwarding", "of data by the software of a rank"),
    ];
    let words = parts.iter().filter(|(count, ..)| *count > 0);
    let words: Vec<_> = words.map(|(count, what, of)| format!("{} {of}", counted(*count, what))).collect();
    (!words.is_empty()).then(|| {
        format!(
            "note: written as if they were any others, so that times differ when they are read: {}",
            words.join("; ")
        )
    })
}

/// Writes the run where it is asked for: the statements, and the place.
fn write<'a>(
    arguments: &'a ExportArguments,
    scenario: &CheckedScenario,
    log: &RequestLog,
) -> Result<(u64, &'a Path), Failure> {
    if let Some(file) = &arguments.target.goal {
        let least_bytes = u64::from(takes_no_longer_by_a_byte(&scenario.machine));
        return Ok((fill(file, |sink| Ok(write_goal(log, arguments.unit, least_bytes, sink)?))?, file));
    }
    let folder = arguments.target.time_independent.as_deref().expect("one of them is required");
    let rate = if let Processor::FlopRate(rate) = scenario.machine.nodes.processor { Some(rate) } else { None };
    let trace = TimeIndependentTrace::new(log, rate)?;
    make_folder(folder)?;
    let name = |rank: usize| format!("rank-{rank}.txt");
    let mut statements = 0;
    for rank in 0..trace.ranks() {
        statements += fill(&folder.join(name(rank)), |sink| Ok(trace.write(rank, sink)?))?;
    }
    fill(&folder.join("trace.txt"), |sink| {
        (0..trace.ranks()).try_for_each(|rank| writeln!(sink, "{}", name(rank)))?;
        Ok(())
    })?;
    Ok((statements, folder))
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Io(error) => error.into(),
            ExportError::TooCoarse { .. } => Self::Usage(error.to_string()),
            ExportError::Unsayable { .. } | ExportError::AnyTag { .. } | ExportError::OutOfOrder { .. } => {
                Self::Simulation(error.to_string())
            }
        }
    }
}
