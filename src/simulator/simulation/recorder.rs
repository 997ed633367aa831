//! Makes intervals with their causes of what is observed.

use super::SimulationError;
use super::matching::Match;
use super::observer::{Observer, Occurrence};
use crate::machine::{Layout, Machine};
use crate::program::Operation;
use crate::trace::events::EventId;
use crate::trace::{
    Activity, Cause, CommunicationLog, Header, Interval, LogEntry, Means, RecordingWriter, Trace, Transfer,
};
use crate::units::{SimDuration, SimTime};
use crate::version;
use rustc_hash::FxHashSet;
use std::io::{self, Write};

/// An event of a rank and when it was.
type RankEvent = (u32, SimTime);

/// A message on its way.
#[derive(Clone, Copy)]
struct RecordedMessage {
    sent: RankEvent,
    bytes: u64,
    delivered: SimTime,
    /// The receive, if it came after the delivery, or the sending of the message that this one had to wait for.
    received: Option<RankEvent>,
}

/// An operation under way, or complete and not yet waited for.
#[derive(Clone, Copy)]
enum RecordedOperation {
    UnderWay(RankEvent),
    /// The cause, and when it took effect: with network interfaces the time until which the processor deals with it.
    Complete(Cause, SimTime),
}

/// Records a run while it is run.
pub struct Recorder<'w> {
    writer: RecordingWriter<Box<dyn Write + 'w>>,
    /// True if senders may wait for the receive.
    rendezvous: bool,
    /// By rank, whether another one before it has the same core; empty where none has.
    sharing: Vec<bool>,
    /// The last event of each rank.
    last: Vec<u32>,
    /// Cause of the end of the wait of each rank, until its interval is booked.
    causes: Vec<Option<Cause>>,
    /// By handle.
    messages: Vec<Option<RecordedMessage>>,
    /// By operation.
    tasks: Vec<Option<RecordedOperation>>,
    /// The first thing that went wrong.
    error: Option<io::Error>,
}

impl<'w> Recorder<'w> {
    /// Records a run of the program called `program` into `sink`.
    pub fn new(
        sink: Box<dyn Write + 'w>,
        program: &str,
        machine: &Machine,
        layout: &Layout,
    ) -> Result<Self, SimulationError> {
        let nodes = layout.nodes().to_vec();
        let (origin, program) = (version().to_owned(), program.to_owned());
        let header = Header { origin, program, machine: machine.name.clone(), nodes };
        let ranks = header.nodes.len();
        Ok(Self {
            writer: RecordingWriter::new(sink, &header).map_err(not_recorded)?,
            rendezvous: machine.may_wait_for_receives(),
            sharing: sharing(machine, layout),
            last: vec![0; ranks],
            causes: vec![None; ranks],
            messages: Vec::new(),
            tasks: Vec::new(),
            error: None,
        })
    }

    /// A rank has done this since it was last booked.
    fn booked(&mut self, entry: &LogEntry) {
        let LogEntry { rank, phase, activity, end, system, ready, .. } = *entry;
        let cause = self.causes[rank as usize].take();
        let begin = self.writer.end(rank);
        if begin == end && cause.is_none() {
            return;
        }
        // A send that nothing came before is an activity of the rank itself.
        let is_own = |cause: &Cause| cause.means == Means::Sending && cause.event == self.last[rank as usize];
        let cause = cause.filter(|cause| !(activity == Activity::Sending && is_own(cause)));
        let is_shared = self.is_shared(rank);
        self.write(&Interval { rank, phase, activity, end, system, ready, is_shared, cause });
    }

    /// Returns whether the work of the processor of `rank` for the communication is counted with another rank.
    fn is_shared(&self, rank: u32) -> bool {
        self.sharing.get(rank as usize).copied().unwrap_or(false)
    }

    fn write(&mut self, interval: &Interval<'static>) {
        if self.error.is_some() {
            return;
        }
        match self.writer.interval(interval) {
            Ok(Some(event)) => self.last[interval.rank as usize] = event,
            Ok(None) => {}
            Err(error) => self.error = Some(error),
        }
    }

    /// The last event of a rank. A receive that was issued may be posted later, before anything else has ended.
    fn origin(&self, rank: u32) -> RankEvent {
        (self.last[rank as usize], self.writer.end(rank))
    }

    /// A rank begins to send.
    fn posted(&mut self, sent: RankEvent, operation: Operation, handle: u32, bytes: u64) {
        put(&mut self.messages, handle, RecordedMessage { sent, bytes, delivered: sent.1, received: None });
        put(&mut self.tasks, operation.0, RecordedOperation::UnderWay(sent));
    }

    /// Links have carried packets.
    fn carried(&mut self, transfers: &[Transfer]) {
        if self.error.is_none() {
            self.error = transfers.iter().try_for_each(|transfer| self.writer.transfer(transfer)).err();
        }
    }

    /// A message meets a receive of a rank: when it arrives, when the receive is posted, or when a message arrives that
    /// it had to wait for, which then is the cause. A receive that was issued and had to wait for its processor until now is one
    /// itself, if its message was there before.
    fn received(&mut self, now: SimTime, rank: u32, found: &Match) {
        self.met(now, rank, found);
        let message = *self.message(found.by);
        let (delivered, delay) = (message.delivered, message.delivered.since(message.sent.1));
        let cause = Cause { event: message.sent.0, delay, means: Means::Message { bytes: message.bytes } };
        let complete = match self.tasks.get(found.operation.0 as usize) {
            Some(Some(RecordedOperation::UnderWay((event, at)))) if delivered < now && *at < now => {
                let cause = Cause { event: *event, delay: now.since(*at), means: Means::Sending };
                RecordedOperation::Complete(cause, now)
            }
            _ => RecordedOperation::Complete(cause, delivered),
        };
        put(&mut self.tasks, found.operation.0, complete);
    }

    /// A receive has met a message, or the announcement of one. If its rank has done something until now, a message that waits has waited
    /// for that, though its processor may not have dealt with it before.
    fn met(&mut self, now: SimTime, rank: u32, found: &Match) {
        let origin = self.origin(rank);
        let by = self.message(found.by).sent;
        let message = self.message(found.handle);
        if found.by != found.handle {
            message.received = Some(by);
        } else if now > message.delivered || now == origin.1 {
            message.received = Some(origin);
        }
    }

    /// The data of an announced message have come: on account of the receive, if they have waited for it.
    fn arrived(&mut self, now: SimTime, operation: Operation, handle: u32) {
        let message = self.message(handle);
        message.delivered = now;
        let (origin, bytes) = (message.received.unwrap_or(message.sent), message.bytes);
        self.complete(now, operation, origin, Means::Message { bytes });
    }

    /// A send is complete.
    fn sent(&mut self, now: SimTime, operation: Operation, handle: u32, has_met: bool) {
        let message = *self.message(handle);
        let origin = message.received.filter(|_| self.rendezvous || has_met).unwrap_or(message.sent);
        self.complete(now, operation, origin, Means::Sending);
    }

    /// Bytes have moved.
    fn moved(&mut self, now: SimTime, operation: Operation) {
        if let Some(Some(RecordedOperation::UnderWay(origin))) = self.tasks.get(operation.0 as usize) {
            self.complete(now, operation, *origin, Means::Memory);
        }
    }

    fn complete(&mut self, now: SimTime, operation: Operation, origin: RankEvent, means: Means) {
        let cause = Cause { event: origin.0, delay: now.since(origin.1), means };
        put(&mut self.tasks, operation.0, RecordedOperation::Complete(cause, now));
    }

    /// A rank goes on because an operation is complete, at `at` if that is later: when its processor has dealt with what came
    /// meanwhile. An operation is the cause of one wait at most.
    fn joined(&mut self, rank: u32, operation: Operation, at: Option<SimTime>) {
        if let Some((cause, complete)) = self.take_cause(operation) {
            let end = at.map_or(complete, |at| at.max(complete));
            self.causes[rank as usize] = Some(Cause { delay: cause.delay + end.since(complete), ..cause });
        }
    }

    /// A rank need not wait for an operation.
    fn joined_at_once(&mut self, now: SimTime, rank: u32, operation: Operation) {
        if let Some((cause, at)) = self.take_cause(operation) {
            debug_assert!(at <= now, "its processor has dealt with it");
            self.causes[rank as usize] = Some(cause);
        }
    }

    /// A rank goes on because an operation that it has issued ends now: its processor may have dealt with something else since that
    /// was complete.
    fn has_ended(&mut self, now: SimTime, rank: u32, operation: Operation) {
        if let Some((cause, at)) = self.take_cause(operation) {
            let delay = cause.delay + now.since(at) - at.since(now.min(at));
            self.causes[rank as usize] = Some(Cause { delay, ..cause });
        }
    }

    /// A rank goes on because an operation of its own, which it has issued, begins.
    fn has_begun(&mut self, now: SimTime, rank: u32, operation: Operation) {
        if let Some(Some(RecordedOperation::UnderWay((event, at)))) = self.tasks.get(operation.0 as usize) {
            self.causes[rank as usize] = Some(Cause { event: *event, delay: now.since(*at), means: Means::Sending });
        }
    }

    fn take_cause(&mut self, operation: Operation) -> Option<(Cause, SimTime)> {
        let task = self.tasks.get_mut(operation.0 as usize)?;
        let Some(RecordedOperation::Complete(cause, at)) = *task else { return None };
        *task = None;
        Some((cause, at))
    }

    /// A rank goes on because another one has come to a barrier.
    fn released(&mut self, rank: u32, by: u32) {
        let event = self.last[by as usize];
        self.causes[rank as usize] = Some(Cause { event, delay: SimDuration::ZERO, means: Means::Release });
    }

    fn message(&mut self, handle: u32) -> &mut RecordedMessage {
        self.messages[handle as usize].as_mut().expect("a message is posted before anything else happens to it")
    }
}

impl Observer for Recorder<'_> {
    fn on(&mut self, occurrence: &Occurrence<'_>) {
        match *occurrence {
            Occurrence::Created { rank, phase, at: end } => {
                let (activity, system, ready) = (Activity::System, SimDuration::ZERO, SimDuration::ZERO);
                let is_shared = self.is_shared(rank);
                self.write(&Interval { rank, phase, activity, end, system, ready, is_shared, cause: None });
            }
            Occurrence::Booked(ref entry) => self.booked(entry),
            Occurrence::Posted { rank, operation, handle, bytes } => {
                self.posted(self.origin(rank), operation, handle, bytes);
            }
            Occurrence::Begun { rank, operation } => {
                let origin = self.origin(rank);
                put(&mut self.tasks, operation.0, RecordedOperation::UnderWay(origin));
            }
            Occurrence::Delivered { at: now, handle, .. } | Occurrence::Announced { now, handle } => {
                self.message(handle).delivered = now;
            }
            Occurrence::Arrived { at, operation, handle, .. } => self.arrived(at, operation, handle),
            Occurrence::Met { now, rank, found, is_there: true } => self.received(now, rank, found),
            Occurrence::Met { now, rank, found, is_there: false } => self.met(now, rank, found),
            Occurrence::Sent { at, operation, handle, has_met } => self.sent(at, operation, handle, has_met),
            Occurrence::Moved { now, operation } => self.moved(now, operation),
            Occurrence::Joined { rank, operation, at } => self.joined(rank, operation, at),
            Occurrence::JoinedAtOnce { now, rank, operation } => self.joined_at_once(now, rank, operation),
            Occurrence::Noticed { now, rank, operation, is_end: true } => self.has_ended(now, rank, operation),
            Occurrence::Noticed { now, rank, operation, is_end: false } => self.has_begun(now, rank, operation),
            Occurrence::Released { rank, by } => self.released(rank, by),
            Occurrence::Carried(transfers) => self.carried(transfers),
            Occurrence::Asked { .. }
            | Occurrence::Answered { .. }
            | Occurrence::AnsweredAtOnce { .. }
            | Occurrence::Moving { .. }
            | Occurrence::Computes { .. } => {}
        }
    }

    fn last_event(&self, rank: u32) -> EventId {
        self.last[rank as usize]
    }

    fn end(self, trace: &mut Trace, _: CommunicationLog) -> Result<(), SimulationError> {
        let written = match self.error {
            Some(error) => Err(error),
            None => self.writer.finish(trace.makespan, &trace.links, trace.counts),
        };
        written.map_err(not_recorded)
    }
}

/// By rank, whether another one before it has the same core; empty where none has.
fn sharing(machine: &Machine, layout: &Layout) -> Vec<bool> {
    let cores = machine.nodes.cores();
    if !layout.shares_cores(cores) {
        return Vec::new();
    }
    let mut taken = FxHashSet::default();
    let seats = (0..layout.ranks()).map(|rank| layout.seat(rank));
    seats.map(|seat| !taken.insert((seat.node, seat.core_of(cores)))).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it is the reason of another error")]
fn not_recorded(error: io::Error) -> SimulationError {
    SimulationError::NotRecorded(error.to_string())
}

/// Puts something at a place of a table that grows.
fn put<T: Clone>(table: &mut Vec<Option<T>>, place: u32, value: T) {
    let place = place as usize;
    if table.len() <= place {
        table.resize(place + 1, None);
    }
    table[place] = Some(value);
}
