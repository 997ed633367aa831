//! An observer that records the intervals of all ranks and their causes.

use super::matching::Match;
use super::observer::{Observer, Occurrence};
use super::{Detail, SimulationError};
use crate::machine::{Layout, Machine};
use crate::program::Operation;
use crate::trace::events::EventId;
use crate::trace::{
    Activity, BusyInterval, Cause, CauseKind, Header, Interval, LogEntry, RecordingWriter, Trace, Transfer,
};
use crate::units::{SimDuration, SimTime};
use crate::version;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::io::{self, Write};

/// An event of a rank and its time.
type RankEvent = (u32, SimTime);

/// A message that is in flight or has not been received.
#[derive(Clone, Copy)]
struct RecordedMessage {
    sender: u32,
    sent: RankEvent,
    bytes: u64,
    delivered: SimTime,
    /// The event that the message had to wait for: a receive posted after its delivery, or the send of an earlier
    /// message.
    received: Option<RankEvent>,
}

/// A pending operation, or a complete one that has not been waited for.
#[derive(Clone, Copy)]
enum RecordedOperation {
    UnderWay(RankEvent),
    /// The cause and the time at which it took effect. With network interfaces, this is the time until which the
    /// processor handles the operation.
    Complete(Cause, SimTime),
}

/// Records a run in progress.
pub struct Recorder<'w> {
    writer: RecordingWriter<Box<dyn Write + 'w>>,
    /// `true` if senders may wait for receives.
    rendezvous: bool,
    /// `true` if a lower rank uses the same core, by rank. Empty if no ranks share cores.
    sharing: Vec<bool>,
    /// The ranks on each processor.
    ranks: FxHashMap<u32, Vec<u32>>,
    /// By rank, the communication work of its processor that is not part of a recorded interval yet, in order.
    busy: Vec<VecDeque<BusyInterval>>,
    /// The last event of each rank.
    last: Vec<u32>,
    /// The cause of the end of each rank's wait, until its interval is recorded.
    causes: Vec<Option<Cause>>,
    /// The messages by handle.
    messages: Vec<Option<RecordedMessage>>,
    /// The operations by number.
    operations: Vec<Option<RecordedOperation>>,
    /// `true` if the times of the work of the processors for the communication are recorded; without them, or if detours
    /// lengthen this work, only its amounts are.
    has_work_times: bool,
    /// The first error of the sink.
    error: Option<io::Error>,
}

impl<'w> Recorder<'w> {
    /// Creates a recorder of a run of `program` that writes to `sink`.
    pub fn new(
        sink: Box<dyn Write + 'w>,
        program: &str,
        (machine, layout): (&Machine, &Layout),
        detail: Detail,
    ) -> Result<Self, SimulationError> {
        let nodes = layout.nodes().to_vec();
        let (origin, program) = (version().to_owned(), program.to_owned());
        let header = Header { origin, program, machine: machine.name.clone(), nodes };
        let ranks = header.nodes.len();
        Ok(Self {
            writer: RecordingWriter::new(sink, &header).map_err(not_recorded)?,
            rendezvous: machine.may_wait_for_receives(),
            sharing: sharing(machine, layout),
            ranks: FxHashMap::default(),
            busy: vec![VecDeque::new(); ranks],
            has_work_times: detail.work && machine.nodes.detours.is_empty(),
            last: vec![0; ranks],
            causes: vec![None; ranks],
            messages: Vec::new(),
            operations: Vec::new(),
            error: None,
        })
    }

    /// Records the interval that a rank has just completed.
    fn record_interval(&mut self, entry: &LogEntry) {
        let LogEntry { rank, phase, activity, end, system, ready, .. } = *entry;
        let cause = self.causes[rank as usize].take();
        let begin = self.writer.end(rank);
        let busy = self.take_busy(rank, end);
        let known: SimDuration = busy.iter().map(|busy| busy.end.since(busy.begin)).sum();
        debug_assert!(known == system || !self.has_work_times);
        if begin == end && cause.is_none() {
            return;
        }
        // A send caused by the previous event of the same rank is an activity of the rank itself.
        let is_own = |cause: &Cause| cause.means == CauseKind::Sending && cause.event == self.last[rank as usize];
        let cause = cause.filter(|cause| !(activity == Activity::Sending && is_own(cause)));
        let is_shared = self.is_shared(rank);
        self.write(&Interval { rank, phase, activity, end, system, ready, is_shared, cause }, &busy);
    }

    /// Adds the work of a processor, which is in order, to all of its ranks.
    fn worked(&mut self, work: &BusyInterval) {
        for rank in self.ranks.get(&work.processor).into_iter().flatten().filter(|_| self.has_work_times) {
            let busy = &mut self.busy[*rank as usize];
            match busy.back_mut() {
                Some(last) if last.end == work.begin && last.handling == work.handling => last.end = work.end,
                _ if work.begin < work.end => busy.push_back(*work),
                _ => {}
            }
        }
    }

    /// Takes the work for the communication up to `end` on the processor of a rank.
    fn take_busy(&mut self, rank: u32, end: SimTime) -> Vec<BusyInterval> {
        let busy = &mut self.busy[rank as usize];
        let mut taken = Vec::new();
        while let Some(work) = busy.front_mut().filter(|work| work.begin < end) {
            taken.push(BusyInterval { end: work.end.min(end), ..*work });
            work.begin = end;
            if work.end <= end {
                busy.pop_front();
            }
        }
        taken
    }

    /// Returns whether the communication work of the processor of `rank` is attributed to another rank.
    fn is_shared(&self, rank: u32) -> bool {
        self.sharing.get(rank as usize).copied().unwrap_or(false)
    }

    fn write(&mut self, interval: &Interval<'static>, busy: &[BusyInterval]) {
        if self.error.is_some() {
            return;
        }
        match self.writer.interval(interval, busy) {
            Ok(Some(event)) => self.last[interval.rank as usize] = event,
            Ok(None) => {}
            Err(error) => self.error = Some(error),
        }
    }

    /// Returns the last event of a rank and the end of its last interval. An issued receive may be posted later than
    /// this, before the next interval ends.
    fn origin(&self, rank: u32) -> RankEvent {
        (self.last[rank as usize], self.writer.end(rank))
    }

    /// Registers a send.
    fn posted(&mut self, sender: u32, operation: Operation, handle: u32, bytes: u64) {
        let sent = self.origin(sender);
        put(&mut self.messages, handle, RecordedMessage { sender, sent, bytes, delivered: sent.1, received: None });
        put(&mut self.operations, operation.place, RecordedOperation::UnderWay(sent));
    }

    /// Records transfers over links.
    fn carried(&mut self, transfers: &[Transfer]) {
        if self.error.is_none() {
            self.error = transfers.iter().try_for_each(|transfer| self.writer.transfer(transfer)).err();
        }
    }

    /// Handles the match of a receive with a message whose data have arrived. The match happens when the message
    /// arrives, when the receive is posted, or when an earlier message arrives that this one had to wait for; the
    /// earlier message is then the cause. If an issued receive had to wait for its processor until now although its
    /// message was already there, the receive itself is the cause.
    fn received(&mut self, now: SimTime, rank: u32, found: &Match) {
        self.note_match(now, rank, found);
        let message = *self.message(found.by);
        let (delivered, delay) = (message.delivered, message.delivered.since(message.sent.1));
        let cause =
            Cause { event: message.sent.0, delay, means: CauseKind::Message { bytes: message.bytes, sender: None } };
        let complete = match self.operations.get(found.operation.place as usize) {
            Some(Some(RecordedOperation::UnderWay((event, at)))) if delivered < now && *at < now => {
                let cause = Cause { event: *event, delay: now.since(*at), means: CauseKind::Sending };
                RecordedOperation::Complete(cause, now)
            }
            _ => RecordedOperation::Complete(cause, delivered),
        };
        put(&mut self.operations, found.operation.place, complete);
    }

    /// Handles the match of a receive with a message or its announcement. An unexpected message has waited for the
    /// receiving rank. So has a message if the rank's last interval ends now, because the processor may not have
    /// handled the message before.
    fn note_match(&mut self, now: SimTime, rank: u32, found: &Match) {
        let origin = self.origin(rank);
        let by = self.message(found.by).sent;
        let message = self.message(found.handle);
        if found.by != found.handle {
            message.received = Some(by);
        } else if now > message.delivered || now == origin.1 {
            message.received = Some(origin);
        }
    }

    /// Handles the arrival of the data of an announced message. The receive is the cause if the data have waited for
    /// it.
    fn arrived(&mut self, now: SimTime, operation: Operation, handle: u32) {
        let message = self.message(handle);
        message.delivered = now;
        let RecordedMessage { sender, sent, bytes, received, .. } = *message;
        let means = CauseKind::Message { bytes, sender: received.map(|_| sender) };
        self.complete(now, operation, received.unwrap_or(sent), means);
    }

    /// Handles the completion of a send.
    fn sent(&mut self, now: SimTime, operation: Operation, handle: u32, is_matched: bool) {
        let message = *self.message(handle);
        let origin = message.received.filter(|_| self.rendezvous || is_matched).unwrap_or(message.sent);
        self.complete(now, operation, origin, CauseKind::Sending);
    }

    /// Handles the completion of a move of bytes.
    fn moved(&mut self, now: SimTime, operation: Operation) {
        if let Some(Some(RecordedOperation::UnderWay(origin))) = self.operations.get(operation.place as usize) {
            self.complete(now, operation, *origin, CauseKind::Memory);
        }
    }

    fn complete(&mut self, now: SimTime, operation: Operation, origin: RankEvent, means: CauseKind) {
        let cause = Cause { event: origin.0, delay: now.since(origin.1), means };
        put(&mut self.operations, operation.place, RecordedOperation::Complete(cause, now));
    }

    /// Sets the cause of the wait that the completion of an operation ends. With `at`, the wait ends at that time if it
    /// is later, when the processor has handled what has arrived meanwhile. An operation is the cause of at most one
    /// wait.
    fn joined(&mut self, rank: u32, operation: Operation, at: Option<SimTime>) {
        if let Some((cause, complete)) = self.take_cause(operation) {
            let end = at.map_or(complete, |at| at.max(complete));
            self.causes[rank as usize] = Some(Cause { delay: cause.delay + end.since(complete), ..cause });
        }
    }

    /// Handles a request for an operation that is already complete.
    fn joined_at_once(&mut self, now: SimTime, rank: u32, operation: Operation) {
        if let Some((cause, at)) = self.take_cause(operation) {
            debug_assert!(at <= now, "its processor has dealt with it");
            self.causes[rank as usize] = Some(cause);
        }
    }

    /// Handles the end of an issued operation that resumes its rank. The processor may have handled something else
    /// since the operation completed.
    fn has_ended(&mut self, now: SimTime, rank: u32, operation: Operation) {
        if let Some((cause, at)) = self.take_cause(operation) {
            let delay = cause.delay + now.since(at) - at.since(now.min(at));
            self.causes[rank as usize] = Some(Cause { delay, ..cause });
        }
    }

    /// Handles the beginning of an issued operation that resumes its rank.
    fn has_begun(&mut self, now: SimTime, rank: u32, operation: Operation) {
        if let Some(Some(RecordedOperation::UnderWay((event, at)))) = self.operations.get(operation.place as usize) {
            self.causes[rank as usize] =
                Some(Cause { event: *event, delay: now.since(*at), means: CauseKind::Sending });
        }
    }

    fn take_cause(&mut self, operation: Operation) -> Option<(Cause, SimTime)> {
        let record = self.operations.get_mut(operation.place as usize)?;
        let Some(RecordedOperation::Complete(cause, at)) = *record else { return None };
        *record = None;
        Some((cause, at))
    }

    /// Handles the release of a rank by another one that has reached a barrier or left the host.
    fn released(&mut self, rank: u32, by: u32) {
        let event = self.last[by as usize];
        self.causes[rank as usize] = Some(Cause { event, delay: SimDuration::ZERO, means: CauseKind::Release });
    }

    fn message(&mut self, handle: u32) -> &mut RecordedMessage {
        self.messages[handle as usize].as_mut().expect("a message is posted before anything else happens to it")
    }
}

impl Observer for Recorder<'_> {
    fn on(&mut self, occurrence: &Occurrence<'_>) {
        match *occurrence {
            Occurrence::Created { rank, processor, phase, at: end } => {
                self.ranks.entry(processor).or_default().push(rank);
                let (activity, system, ready) = (Activity::System, SimDuration::ZERO, SimDuration::ZERO);
                let is_shared = self.is_shared(rank);
                self.write(&Interval { rank, phase, activity, end, system, ready, is_shared, cause: None }, &[]);
            }
            Occurrence::ActivityEnded(ref entry) => self.record_interval(entry),
            Occurrence::Posted { rank, operation, handle, bytes } => {
                self.posted(rank, operation, handle, bytes);
            }
            Occurrence::Begun { rank, operation } => {
                let origin = self.origin(rank);
                put(&mut self.operations, operation.place, RecordedOperation::UnderWay(origin));
            }
            Occurrence::Delivered { at: now, handle, .. } | Occurrence::Announced { now, handle } => {
                self.message(handle).delivered = now;
            }
            Occurrence::Arrived { at, operation, handle, .. } => self.arrived(at, operation, handle),
            Occurrence::Matched { now, rank, found, is_there: true } => self.received(now, rank, found),
            Occurrence::Matched { now, rank, found, is_there: false } => self.note_match(now, rank, found),
            Occurrence::Sent { at, operation, handle, is_matched } => self.sent(at, operation, handle, is_matched),
            Occurrence::Moved { now, operation } => self.moved(now, operation),
            Occurrence::Resumed { rank, operation, at } => self.joined(rank, operation, at),
            Occurrence::JoinedAtOnce { now, rank, operation } => self.joined_at_once(now, rank, operation),
            Occurrence::Notified { now, rank, operation, is_end: true } => self.has_ended(now, rank, operation),
            Occurrence::Notified { now, rank, operation, is_end: false } => self.has_begun(now, rank, operation),
            Occurrence::Released { rank, by } => self.released(rank, by),
            Occurrence::Communicated(work) => work.busy.iter().for_each(|busy| self.worked(busy)),
            Occurrence::Transferred(transfers) => self.carried(transfers),
            Occurrence::Requested { .. }
            | Occurrence::Replied { .. }
            | Occurrence::RepliedImmediately { .. }
            | Occurrence::Moving { .. }
            | Occurrence::Computes { .. } => {}
        }
    }

    fn last_event(&self, rank: u32) -> EventId {
        self.last[rank as usize]
    }

    fn end(self, trace: &mut Trace) -> Result<(), SimulationError> {
        let written = match self.error {
            Some(error) => Err(error),
            None => self.writer.finish(trace.makespan, &trace.links, trace.counts),
        };
        written.map_err(not_recorded)
    }
}

/// Returns, by rank, whether a lower rank uses the same core; empty if no ranks share cores.
fn sharing(machine: &Machine, layout: &Layout) -> Vec<bool> {
    let cores = machine.nodes.cores();
    if !layout.shares_cores(cores) {
        return Vec::new();
    }
    let mut taken = FxHashSet::default();
    let locations = (0..layout.ranks()).map(|rank| layout.location(rank));
    locations.map(|location| !taken.insert((location.node, location.core_of(cores)))).collect()
}

fn not_recorded(error: io::Error) -> SimulationError {
    SimulationError::NotRecorded(error.into())
}

/// Stores a value in a table that grows as needed.
fn put<T: Clone>(table: &mut Vec<Option<T>>, place: u32, value: T) {
    let place = place as usize;
    if table.len() <= place {
        table.resize(place + 1, None);
    }
    table[place] = Some(value);
}
