//! Message matching: messages from their send to their receive, and the operations that processes wait for.
//!
//! An arriving message is matched with the first posted receive whose pattern it fits. If an earlier message of the
//! same sender that is still in flight fits the same receive, the message waits for the earlier one, because messages
//! between two ranks do not overtake. A receive that is posted considers the oldest fitting unexpected message of each
//! sender and takes the one that arrived first; ties go to the lower rank. If [overtaking](Overtaking) is allowed,
//! messages are ordered only by their arrival.

mod send_order;
mod slots;
#[cfg(test)]
mod tests;

use crate::engine::Lists;
use crate::machine::{IssueResources, MessageId, Overtaking};
use crate::program::{Message, MessagePattern, Operation, Program, Received, tag_words};
use crate::trace::{Activity, Delivery};
use crate::units::SimTime;
use send_order::{Pair, PairOrder};
use slots::Slots;
use std::collections::{BTreeSet, VecDeque};

/// The record of an operation that has not ended: a send, a receive or another operation that a process can wait for.
#[derive(Debug)]
pub struct OperationRecord {
    /// The serial number that its [handle](Operation) has, too.
    serial: u32,
    pub rank: u32,
    pub kind: OperationKind,
    pub state: OperationState,
    /// The processor and the interface used by an issued operation; `None` if it was not issued.
    pub resources: Option<IssueResources>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Send {
        to: u32,
    },
    Receive(MessagePattern),
    /// A transfer of bytes through a shared resource of a node: its memory, or its way out.
    Move {
        is_memory: bool,
    },
    /// An issued computation.
    Computation,
}

#[derive(Clone, Copy, Debug)]
pub enum OperationState {
    /// A receive that has been issued and is not posted yet.
    Prepared,
    UnderWay,
    Done,
    /// A receive matched with the message of this handle, whose data have not arrived yet.
    Announced(u32),
    /// A receive matched with the message of this handle, whose data have arrived.
    Received(u32),
}

impl OperationKind {
    /// Returns the activity of a process while it waits for an operation of this kind.
    pub const fn activity(self) -> Activity {
        match self {
            Self::Send { .. } => Activity::Sending,
            Self::Move { is_memory: true } => Activity::Loading,
            Self::Receive(_) | Self::Move { is_memory: false } => Activity::Blocked,
            Self::Computation => Activity::Computing,
        }
    }
}

impl OperationState {
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Done | Self::Received(_))
    }
}

/// A message that is in flight or waits to be received. It is kept until its receive has ended and its send is
/// complete.
struct Envelope {
    from: u32,
    to: u32,
    sent: SimTime,
    message: Message,
    /// `true` once the receive of the message has ended.
    is_received: bool,
    /// `true` once the message has been matched with a receive.
    is_matched: bool,
    /// `true` once a synchronous send waits only for its message to be matched.
    has_left: bool,
    /// The processor that handles the message at both ends.
    cpu: u8,
    /// The send of the message, until it is complete.
    sending: Option<Operation>,
    /// The time of arrival, once the message has arrived.
    arrival: SimTime,
    id: MessageId,
    /// The place in the inbox of the receiving rank, while the message is stored there.
    place: u32,
}

/// A message matched with a receive.
#[derive(Debug)]
pub struct Match {
    pub operation: Operation,
    pub handle: u32,
    pub message: MessageId,
    /// The message whose arrival allowed the match: `handle` itself or, for an early message, another one that arrived
    /// later. It is `handle` as well if the match was caused by a receive that was posted.
    pub by: u32,
}

/// The messages and pending operations of all ranks.
pub struct Matching {
    envelopes: Slots<Envelope>,
    operations: Slots<OperationRecord>,
    /// The number of operations so far, modulo 2^32.
    begun: u32,
    order: PairOrder,
    /// Unexpected messages by receiving rank, in the order of arrival; ties are ordered by sending rank.
    inboxes: Lists<u32>,
    /// The early messages in the inboxes, as (receiving rank, arrival, sending rank, handle).
    early: BTreeSet<(u32, SimTime, u32, u32)>,
    /// Posted receives without a matching message, by rank, in the order in which they were posted.
    receives: Lists<Operation>,
    /// Matches caused by an arrival, in order, until the caller removes them.
    pub matches: VecDeque<Match>,
}

impl Matching {
    pub fn new(ranks: u32, overtaking: Overtaking) -> Self {
        Self {
            envelopes: Slots::new(),
            operations: Slots::new(),
            begun: 0,
            order: PairOrder::new(overtaking),
            inboxes: Lists::new(ranks),
            early: BTreeSet::new(),
            receives: Lists::new(ranks),
            matches: VecDeque::new(),
        }
    }

    /// Starts a send. Returns its operation and the handle of its message.
    pub fn post(&mut self, now: SimTime, from: u32, to: u32, message: Message) -> (Operation, u32) {
        let (operation, handle) = self.prepare_send(now, (from, to), message, None);
        self.order.send((from, to), handle);
        (operation, handle)
    }

    /// Registers a send whose position among the messages of its pair is fixed when it [begins](Self::begin_send).
    pub fn prepare_send(
        &mut self,
        now: SimTime,
        (from, to): Pair,
        message: Message,
        resources: Option<IssueResources>,
    ) -> (Operation, u32) {
        let operation = self.begin(from, OperationKind::Send { to }, OperationState::UnderWay, resources);
        let (sending, cpu) = (Some(operation), resources.map_or(0, |resources| resources.cpu));
        let (is_received, arrival, id, place) = (false, now, 0, 0);
        let (is_matched, has_left) = (false, false);
        let envelope = Envelope {
            from,
            to,
            sent: now,
            message,
            is_received,
            is_matched,
            has_left,
            cpu,
            sending,
            arrival,
            id,
            place,
        };
        (operation, self.envelopes.put(envelope))
    }

    /// Begins a prepared send and returns its operation.
    pub fn begin_send(&mut self, handle: u32) -> Operation {
        let Envelope { from, to, sending, .. } = *self.envelope(handle);
        self.order.send((from, to), handle);
        sending.expect("a send begins before it is complete")
    }

    pub fn begin_computation(&mut self, rank: u32, resources: IssueResources) -> Operation {
        self.begin(rank, OperationKind::Computation, OperationState::UnderWay, Some(resources))
    }

    /// Completes a send. Returns `None` if the send is synchronous and its message has not been
    /// [matched](Self::mark_matched).
    pub fn sent(&mut self, handle: u32) -> Option<Operation> {
        let envelope = self.envelopes.get_mut(handle).expect("an envelope is kept until its send is complete");
        if envelope.message.synchronous && !envelope.is_matched {
            envelope.has_left = true;
            return None;
        }
        let operation = envelope.sending.take().expect("a send is complete once");
        if envelope.is_received {
            self.envelopes.take(handle);
        }
        self.record_mut(operation).state = OperationState::Done;
        Some(operation)
    }

    /// Marks a message as matched. Returns whether its send waited only for this.
    pub fn mark_matched(&mut self, handle: u32) -> bool {
        let envelope = self.envelopes.get_mut(handle).expect("an envelope is kept until it is received");
        envelope.is_matched = true;
        envelope.has_left
    }

    pub fn begin_move(&mut self, rank: u32, is_memory: bool) -> Operation {
        self.begin(rank, OperationKind::Move { is_memory }, OperationState::UnderWay, None)
    }

    /// Completes a move of bytes.
    pub fn moved(&mut self, operation: Operation) {
        self.record_mut(operation).state = OperationState::Done;
    }

    /// Returns the record of a message that is delivered now and has not been received yet.
    pub fn delivery(&mut self, handle: u32, now: SimTime) -> Delivery {
        let envelope = self.envelopes.get_mut(handle).expect("an envelope is kept until it is received");
        let Envelope { from, to, sent, message: Message { bytes, again, .. }, .. } = *envelope;
        Delivery { from, to, bytes, again, sent, delivered: now }
    }

    /// Returns the destination rank of a message and the processor that handles it there.
    pub fn receiver(&self, handle: u32) -> (u32, u8) {
        let envelope = self.envelope(handle);
        (envelope.to, envelope.cpu)
    }

    /// Handles the arrival of a message. The resulting matches are appended to
    /// [`matches`](Self::matches).
    pub fn delivered(&mut self, now: SimTime, handle: u32, message: MessageId) {
        let envelope = self.envelopes.get_mut(handle).expect("an envelope is kept until it is received");
        (envelope.arrival, envelope.id) = (now, message);
        let to = envelope.to;
        let is_in_order = self.order.arrive(handle);
        // Early messages of the same sender that waited for this one are now in order.
        let followers = if is_in_order { self.order.catch_up(handle) } else { 0 };
        if let Some(operation) = self.receive_for(handle) {
            self.match_on_arrival(operation, handle);
        } else {
            self.store(handle);
            if !is_in_order {
                self.early.insert(self.key(handle));
            }
        }
        if !self.early.is_empty() && (followers > 0 || !self.matches.is_empty()) {
            self.retry_early(to, handle);
        }
        if followers > 0 {
            let order = &self.order;
            self.early.retain(|key| order.is_early(key.3));
        }
    }

    /// Retries the early messages of `rank` after the arrival of `by`. A match that has removed a receive, or an
    /// arrival that has closed a gap in the order, may allow them to be received. They are tried in the order of their
    /// arrival.
    fn retry_early(&mut self, rank: u32, by: u32) {
        while !self.receives.is_empty(rank) {
            let of_rank = (rank, SimTime::START, 0, 0)..=(rank, SimTime::END, u32::MAX, u32::MAX);
            let mut early = self.early.range(of_rank).map(|key| key.3);
            let found = early.find_map(|handle| self.receive_for(handle).map(|operation| (operation, handle)));
            let Some((operation, handle)) = found else { return };
            self.match_stored(operation, handle, by);
        }
    }

    /// Returns the posted receive that an arrived message is matched with, unless an earlier message of its sender fits
    /// that receive.
    fn receive_for(&self, handle: u32) -> Option<Operation> {
        let envelope = self.envelope(handle);
        let operation = *self.receives.iter(envelope.to).find(|operation| self.fits(**operation, envelope))?;
        let takes = |earlier: u32| self.fits(operation, self.envelope(earlier));
        let waits = self.order.has_overtaken(handle) && self.order.before(handle).any(takes);
        (!waits).then_some(operation)
    }

    fn match_on_arrival(&mut self, operation: Operation, handle: u32) {
        let Envelope { from, to, id: message, .. } = *self.envelope(handle);
        self.order.remove((from, to), handle);
        self.receives.take_first(to, |receive| *receive == operation);
        self.record_mut(operation).state = OperationState::Received(handle);
        self.matches.push_back(Match { operation, handle, message, by: handle });
    }

    fn match_stored(&mut self, operation: Operation, handle: u32, by: u32) {
        let found = self.take_from_inbox(operation, handle);
        self.receives.take_first(self.envelope(handle).to, |receive| *receive == operation);
        self.matches.push_back(Match { by, ..found });
    }

    fn take_from_inbox(&mut self, operation: Operation, handle: u32) -> Match {
        let Envelope { from, to, id: message, place, .. } = *self.envelope(handle);
        self.inboxes.remove(to, place);
        if self.order.has_overtaken(handle) {
            self.early.remove(&self.key(handle));
        }
        self.order.remove((from, to), handle);
        self.record_mut(operation).state = OperationState::Received(handle);
        Match { operation, handle, message, by: handle }
    }

    fn store(&mut self, handle: u32) {
        let Envelope { from, to, arrival, .. } = *self.envelope(handle);
        let envelopes = &self.envelopes;
        let is_later = |other: &u32| {
            let other = envelope(envelopes, *other);
            (other.arrival, other.from) > (arrival, from)
        };
        let place = self.inboxes.insert_before_last(to, handle, is_later);
        self.envelopes.get_mut(handle).expect("an envelope is kept until it is received").place = place;
    }

    fn key(&self, handle: u32) -> (u32, SimTime, u32, u32) {
        let Envelope { from, to, arrival, .. } = *self.envelope(handle);
        (to, arrival, from, handle)
    }

    /// Posts a receive, and matches it if a fitting message is available.
    pub fn receive(&mut self, rank: u32, pattern: MessagePattern) -> (Operation, Option<Match>) {
        let operation = self.prepare_receive(rank, pattern, None);
        (operation, self.post_receive(operation))
    }

    /// Registers a receive that takes no message before it is [posted](Self::post_receive).
    pub fn prepare_receive(
        &mut self,
        rank: u32,
        pattern: MessagePattern,
        resources: Option<IssueResources>,
    ) -> Operation {
        self.begin(rank, OperationKind::Receive(pattern), OperationState::Prepared, resources)
    }

    /// Posts a prepared receive, and matches it if a fitting message is available.
    pub fn post_receive(&mut self, operation: Operation) -> Option<Match> {
        let record = self.record_mut(operation);
        record.state = OperationState::UnderWay;
        let (rank, OperationKind::Receive(pattern)) = (record.rank, record.kind) else {
            unreachable!("a receive is posted")
        };
        let found = match pattern.from {
            Some(from) if !self.order.allows_overtaking() => self.find_from((from, rank), pattern),
            _ => self.find_arrived(rank, pattern),
        };
        let Some(handle) = found else {
            self.receives.push_back(rank, operation);
            return None;
        };
        Some(self.take_from_inbox(operation, handle))
    }

    fn find_from(&self, pair: Pair, pattern: MessagePattern) -> Option<u32> {
        let oldest = self.order.of(pair).find(|handle| pattern.fits_envelope(self.envelope(*handle)))?;
        (self.order.has_arrived(oldest) && self.may_be_taken(oldest)).then_some(oldest)
    }

    fn find_arrived(&self, rank: u32, pattern: MessagePattern) -> Option<u32> {
        let is_oldest = |handle: u32| {
            !self.order.has_overtaken(handle)
                || !self.order.before(handle).any(|earlier| pattern.fits_envelope(self.envelope(earlier)))
        };
        let mut arrived = self.inboxes.iter(rank).copied();
        arrived.find(|handle| {
            pattern.fits_envelope(self.envelope(*handle)) && is_oldest(*handle) && self.may_be_taken(*handle)
        })
    }

    /// Returns whether an arrived message may be taken by a new receive: an early message may not if a posted receive
    /// fits it and so has priority.
    fn may_be_taken(&self, handle: u32) -> bool {
        let fits = |operation: &Operation| self.fits(*operation, self.envelope(handle));
        !self.order.is_early(handle) || !self.receives.iter(self.envelope(handle).to).any(fits)
    }

    /// Marks a receive as matched with a message whose data have not arrived yet.
    pub fn await_data(&mut self, operation: Operation, handle: u32) {
        self.record_mut(operation).state = OperationState::Announced(handle);
    }

    /// Marks the data of a matched receive as arrived and returns the handle of the message.
    pub fn data_arrived(&mut self, operation: Operation) -> u32 {
        let record = self.record_mut(operation);
        let OperationState::Announced(handle) = record.state else {
            unreachable!("data arrive only for a matched receive")
        };
        record.state = OperationState::Received(handle);
        handle
    }

    /// Ends a complete operation. Returns the received message if the operation was a receive.
    pub fn end(&mut self, operation: Operation) -> Option<Received> {
        let record = self.operations.take(operation.place).expect("an operation is ended once");
        let OperationState::Received(handle) = record.state else { return None };
        let envelope = self.envelopes.get_mut(handle).expect("an envelope is kept until its receive is ended");
        if envelope.sending.is_some() {
            envelope.is_received = true;
            return Some(Received { from: envelope.from, message: envelope.message.clone() });
        }
        self.envelopes.take(handle).map(|Envelope { from, message, .. }| Received { from, message })
    }

    /// Returns an operation that has not ended, if it was started by `rank`.
    pub fn find(&self, rank: u32, operation: Operation) -> Option<&OperationRecord> {
        let record = self.operations.get(operation.place)?;
        (record.rank == rank && record.serial == operation.serial).then_some(record)
    }

    /// Returns the operation at a place, which has not ended.
    pub fn operation(&self, place: u32) -> Operation {
        let record = self.operations.get(place).expect("an operation is kept until it is ended");
        Operation { place, serial: record.serial }
    }

    /// Registers an operation.
    #[inline]
    fn begin(
        &mut self,
        rank: u32,
        kind: OperationKind,
        state: OperationState,
        resources: Option<IssueResources>,
    ) -> Operation {
        self.begun = self.begun.wrapping_add(1);
        let record = OperationRecord { serial: self.begun, rank, kind, state, resources };
        Operation { place: self.operations.put(record), serial: self.begun }
    }

    /// Returns the record of an operation.
    pub fn record(&self, operation: Operation) -> &OperationRecord {
        self.operations.get(operation.place).expect("an operation is kept until it is ended")
    }

    /// Returns the processor that handles a complete operation. For a receive, it is that of the message.
    pub fn cpu(&self, operation: Operation) -> u8 {
        let record = self.record(operation);
        match record.state {
            OperationState::Received(handle) => self.envelope(handle).cpu,
            _ => record.resources.map_or(0, |resources| resources.cpu),
        }
    }

    /// Returns the rank that started an operation.
    pub fn rank(&self, operation: Operation) -> u32 {
        self.record(operation).rank
    }

    /// Returns a description of an awaited operation, and the rank it waits for.
    pub fn describe(&self, operation: Operation, program: &dyn Program) -> (String, Option<u32>) {
        match self.record(operation).kind {
            OperationKind::Send { to } => (format!("waits to send to rank {to}"), Some(to)),
            OperationKind::Move { is_memory: true } => ("waits for its memory".to_owned(), None),
            OperationKind::Move { is_memory: false } => ("waits for its interface".to_owned(), None),
            OperationKind::Computation => ("waits for its processor".to_owned(), None),
            OperationKind::Receive(MessagePattern { from, tag }) => {
                let from_words = from.map_or("any rank".to_owned(), |rank| format!("rank {rank}"));
                let message = tag.map_or(String::new(), |tag| format!(" a message{}", tag_words(tag, program)));
                (format!("waits to receive{message} from {from_words}"), from)
            }
        }
    }

    /// Returns a description of one pending operation of a rank that waits for notices. Receives are preferred, then
    /// the operation with the lowest number.
    pub fn describe_first_of(&self, rank: u32, program: &dyn Program) -> (String, Option<u32>) {
        let is_receive = |kind: OperationKind| matches!(kind, OperationKind::Receive(_));
        let of_rank = self.operations.iter().filter(|(_, record)| record.rank == rank);
        match of_rank.max_by_key(|(place, record)| (is_receive(record.kind), std::cmp::Reverse(*place))) {
            Some((place, _)) => self.describe(self.operation(place), program),
            None => ("waits for operations that have not been issued".to_owned(), None),
        }
    }

    fn record_mut(&mut self, operation: Operation) -> &mut OperationRecord {
        self.operations.get_mut(operation.place).expect("an operation is kept until it is ended")
    }

    fn envelope(&self, handle: u32) -> &Envelope {
        envelope(&self.envelopes, handle)
    }

    fn fits(&self, operation: Operation, envelope: &Envelope) -> bool {
        match self.record(operation).kind {
            OperationKind::Receive(pattern) => pattern.fits_envelope(envelope),
            OperationKind::Send { .. } | OperationKind::Move { .. } | OperationKind::Computation => {
                unreachable!("only receives wait for messages")
            }
        }
    }
}

impl MessagePattern {
    fn fits_envelope(self, envelope: &Envelope) -> bool {
        self.matches(envelope.from, envelope.message.tag)
    }
}

fn envelope(envelopes: &Slots<Envelope>, handle: u32) -> &Envelope {
    envelopes.get(handle).expect("an envelope is kept until it is received")
}
