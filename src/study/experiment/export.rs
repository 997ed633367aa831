//! Exports of the messages of a run, or of a schedule, for other simulators.

use super::{StudyError, metadata, simulation};
use crate::answer::{Answer, Record};
use crate::programs::GoalText;
use crate::report::{ExportError, TimeIndependentTrace, counted, write_goal};
use crate::scenario::Case;
use parsim_sim::Machine;
use parsim_sim::network::{Contention, Network};
use parsim_sim::node::{EmptyMessage, Processor};
use parsim_sim::program::Program;
use parsim_sim::program::schedule::StoredSchedule;
use parsim_sim::trace::{Accounts, Activity, Request, RequestLog, UnexportedDetails};
use parsim_sim::units::{PerByte, SimDuration};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// A file format of another simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// A GOAL schedule for `LogGOPSim`, with computations rounded to this unit.
    Goal(SimDuration),
    /// A time-independent trace for `SimGrid`.
    TimeIndependent,
}

/// An export of a scenario's base values.
pub struct Export<'c> {
    case: &'c Case,
    form: ExportForm,
    /// The program and its time unit if it is a schedule, which is exported unchanged.
    schedule: Option<(Arc<dyn StoredSchedule>, SimDuration)>,
}

impl<'c> Export<'c> {
    /// Prepares the export of a case in the given format.
    ///
    /// # Errors
    /// Returns an error for a unit of zero time, for a program whose messages are not between ranks, and for a schedule
    /// in a format that cannot express its dependences.
    pub fn of(case: &'c Case, form: ExportForm) -> Result<Self, StudyError> {
        let program = &case.scenario.program;
        if form == ExportForm::Goal(SimDuration::ZERO) {
            return Err(StudyError::Argument("unit", "0: give a time such as \"1 ns\"".to_owned()));
        }
        if program.is_traffic() {
            let message = "the packets of Traffic are not messages between ranks: choose another program";
            return Err(StudyError::Request(message.to_owned()));
        }
        let schedule = program.schedule();
        if schedule.is_some() && form == ExportForm::TimeIndependent {
            let message = "the program is a schedule, whose operations have no order: a time-independent trace is of calls one after \
                           the other; `--goal` writes the schedule itself";
            return Err(StudyError::Request(message.to_owned()));
        }
        Ok(Self { case, form, schedule })
    }

    /// Runs the case.
    ///
    /// # Errors
    /// Returns the error of the run.
    pub fn run(self) -> Result<ExportedRun<'c>, StudyError> {
        let scenario = &self.case.scenario;
        let simulation = simulation(scenario);
        let simulation = if self.schedule.is_some() { simulation } else { simulation.log_requests() };
        let trace = simulation.run_checked(&scenario.program)?;
        let log = trace.requests.unwrap_or_default();
        Ok(ExportedRun { export: self, log, makespan: trace.makespan, accounts: trace.accounts })
    }
}

/// A completed run, ready to be written for another simulator.
pub struct ExportedRun<'c> {
    export: Export<'c>,
    log: RequestLog,
    makespan: SimDuration,
    accounts: Accounts,
}

impl ExportedRun<'_> {
    /// Writes the run, or the schedule that was run, as a GOAL schedule with computations in `unit`. Returns the number
    /// of its statements.
    ///
    /// # Errors
    /// See [`ExportError`].
    pub fn write_goal(&self, unit: SimDuration, mut sink: &mut dyn Write) -> Result<u64, ExportError> {
        let least_bytes = u64::from(takes_no_longer_by_a_byte(&self.export.case.scenario.machine));
        let Some((schedule, own)) = &self.export.schedule else {
            return write_goal(&self.log, unit, least_bytes, &mut sink);
        };
        let mut operations = Arc::clone(schedule).open();
        let mut text = GoalText { unit: *own, written: unit, least_bytes, sink };
        if let Some(lost) = text.lost(&mut *operations) {
            let [asked, written] = lost.map(|total| format!("{:.4e} s", total.seconds()));
            return Err(ExportError::TooCoarse { asked, written, unit });
        }
        Ok(text.write(&mut *operations)?)
    }

    /// Returns the run as a time-independent trace.
    ///
    /// # Errors
    /// See [`ExportError`].
    pub fn time_independent(&self) -> Result<TimeIndependentTrace<'_>, ExportError> {
        let processor = &self.export.case.scenario.machine.nodes.processor;
        let rate = if let Processor::FlopRate(rate) = processor { Some(*rate) } else { None };
        TimeIndependentTrace::new(&self.log, rate)
    }

    /// Returns the answer after `statements` statements were written to `place`.
    #[must_use]
    pub fn answer(&self, statements: u64, place: &Path) -> Answer {
        let case = self.export.case;
        let ranks = case.scenario.ranks as usize;
        let mut record = Record::default();
        record.put("ranks", ranks);
        record.put("statements", statements);
        record.put("makespan_s", self.makespan.seconds());
        record.put_metadata(metadata(&case.scenario, &case.settings));
        let words = format!("{}: {ranks} ranks, {statements} statements\n", place.display());
        Answer { notes: self.notes(), ..Answer::one(record, &words) }
    }

    /// Returns remarks on features that the format cannot express; a schedule needs none, as it is written unchanged.
    fn notes(&self) -> Vec<String> {
        if self.export.schedule.is_some() {
            return Vec::new();
        }
        let notes = [
            self.note_on_empty_messages(),
            note_on_host(&self.accounts),
            note_on_unsaid(self.log.unsaid),
            note_on_speeds(&self.export.case.scenario.machine),
        ];
        notes.into_iter().flatten().collect()
    }

    /// Remarks that LogGOPSim treats messages of zero bytes differently, if any were written.
    fn note_on_empty_messages(&self) -> Option<String> {
        let is_empty = |request: &Request| matches!(request, Request::Send { bytes: 0, .. });
        let count = self.log.ranks.iter().flatten().filter(|request| is_empty(request)).count();
        let is_goal = matches!(self.export.form, ExportForm::Goal(_));
        let machine = &self.export.case.scenario.machine;
        let is_said = is_goal && count > 0 && !takes_no_longer_by_a_byte(machine) && !subtracts_a_byte(machine);
        is_said.then(|| {
            format!(
                "note: {} of 0 B: written as they are, for the same times here; LogGOPSim subtracts a byte's time from each",
                counted(count, "message")
            )
        })
    }
}

/// Returns `true` if a message of one byte takes as long as one of zero bytes: LogGOPS charges from the second byte on,
/// links charge every byte.
fn takes_no_longer_by_a_byte(machine: &Machine) -> bool {
    let Network { contention, links, .. } = &machine.network;
    let is_lossless = !subtracts_a_byte(machine) && links.byte_time() == PerByte::FREE;
    machine.nodes.interface.is_some() && *contention == Contention::Off && is_lossless
}

/// Returns `true` if a message of zero bytes takes as long as in LogGOPSim.
fn subtracts_a_byte(machine: &Machine) -> bool {
    machine.nodes.interface.as_ref().is_some_and(|interface| interface.empty == EmptyMessage::LessThanOneByte)
}

/// Remarks that the formats have no host, if ranks have read from one or written to it.
fn note_on_host(accounts: &Accounts) -> Option<String> {
    let is_used = accounts.in_activity(Activity::InputOutput).seconds() > 0.0;
    is_used.then(|| {
        "note: input and output are written as computations: no rank waits there until the host is free".to_owned()
    })
}

/// Remarks on the times of computations, if processors are noisy or differ in speed.
fn note_on_speeds(machine: &Machine) -> Option<String> {
    let noise = (!machine.nodes.noise.is_quiet()).then_some("computations are written with the noise of this run");
    let detours = (!machine.nodes.detours.is_empty())
        .then_some("computations are written without the detours of their processors");
    let speeds = (!machine.overrides.is_empty()).then_some(
        "computations are written with the times of their nodes; the overheads of messages of nodes with a speed of their \
         own are not",
    );
    let parts: Vec<_> = noise.into_iter().chain(detours).chain(speeds).collect();
    (!parts.is_empty()).then(|| format!("note: {}", parts.join("; ")))
}

/// Lists features that affect times on this machine but have no equivalent in either format.
fn note_on_unsaid(unsaid: UnexportedDetails) -> Option<String> {
    let UnexportedDetails { repeated_sends, divided_computations, forwardings, synchronous_sends } = unsaid;
    let parts = [
        (repeated_sends, "send", "of data that had been sent before and were not copied again (`copies: Once`)"),
        (divided_computations, "computation", "whose rows let communication software in (`router_turn: EndOfRow`)"),
        (forwardings, "forwarding", "of data by the software of a rank"),
        (synchronous_sends, "send", "that wait for their receives (`MPI_Ssend`)"),
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
