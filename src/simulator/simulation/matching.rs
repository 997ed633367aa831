//! Messages between their sending and their receiving, and the operations that wait for them.
//!
//! A message is given to the first posted receive that it fits. If a message that its sender sent before, and that has
//! not come, fits that receive, too, it waits for it: messages of one sender never overtake. A receive that is posted
//! takes, of the messages that nobody waits for, the earliest arrival among the oldest fitting ones of each sender, ties
//! by rank. Where [overtaking](Overtaking) is allowed, messages only have the order of their arrivals.

mod send_order;
mod slots;
#[cfg(test)]
mod tests;

use crate::engine::Lists;
use crate::machine::{Lanes, MessageId, Overtaking};
use crate::program::{Message, MessagePattern, Operation, Received, tag_words};
use crate::trace::{Activity, Delivery};
use crate::units::SimTime;
use send_order::{Pair, PairOrder};
use slots::Slots;
use std::collections::{BTreeSet, VecDeque};

/// A send, receive or other task that a process waits for, or could.
#[derive(Debug)]
pub struct PendingRequest {
    pub rank: u32,
    pub kind: TaskKind,
    pub state: TaskState,
    /// The processor and the interface that it takes, if it has been issued.
    pub lanes: Option<Lanes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    Send {
        to: u32,
    },
    Receive(MessagePattern),
    /// Bytes on their way through what the cores of a node share: a memory, or the way out of the node.
    Move {
        is_memory: bool,
    },
    /// An issued computation.
    Computation,
}

#[derive(Clone, Copy, Debug)]
pub enum TaskState {
    /// A receive that has been issued and is not posted yet.
    Prepared,
    UnderWay,
    Done,
    /// The envelope with this handle has come, and its data have not.
    Announced(u32),
    /// The envelope with this handle has come.
    Received(u32),
}

impl TaskKind {
    /// Returns the activity of a process while it waits for the task.
    pub const fn activity(self) -> Activity {
        match self {
            Self::Send { .. } => Activity::Sending,
            Self::Move { is_memory: true } => Activity::Loading,
            Self::Receive(_) | Self::Move { is_memory: false } => Activity::Blocked,
            Self::Computation => Activity::Computing,
        }
    }
}

impl TaskState {
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Done | Self::Received(_))
    }
}

/// A message that is under way or waits to be received. It is kept until the receive has been ended
/// and the send is complete, whichever comes last.
struct Envelope {
    from: u32,
    to: u32,
    sent: SimTime,
    message: Message,
    is_received: bool,
    /// True once a receive has met it,
    has_met: bool,
    /// and once nothing else keeps its send, if that is synchronous.
    has_left: bool,
    /// The processor that its ends take.
    cpu: u8,
    sending: Option<Operation>,
    /// Once it has arrived.
    arrival: SimTime,
    id: MessageId,
    /// Its place in the inbox, if it lies there.
    place: u32,
}

/// A message has found its receive.
#[derive(Debug)]
pub struct Match {
    pub operation: Operation,
    pub handle: u32,
    pub message: MessageId,
    /// The message by whose arrival they met: itself, or one that it had to wait for.
    pub by: u32,
}

/// The messages and operations of all ranks.
pub struct Matching {
    envelopes: Slots<Envelope>,
    tasks: Slots<PendingRequest>,
    order: PairOrder,
    /// Arrived messages that nobody has received, by receiving rank, in the order of arrival, ties by sending rank.
    inboxes: Lists<u32>,
    /// Those of them that are early: receiving rank, arrival, sending rank, handle.
    early: BTreeSet<(u32, SimTime, u32, u32)>,
    /// Receives that no message has come for, by rank, in the order in which they were asked.
    receives: Lists<Operation>,
    /// Matches made by an arrival, in that order, until they are taken.
    pub met: VecDeque<Match>,
}

impl Matching {
    pub fn new(ranks: u32, overtaking: Overtaking) -> Self {
        Self {
            envelopes: Slots::new(),
            tasks: Slots::new(),
            order: PairOrder::new(overtaking),
            inboxes: Lists::new(ranks),
            early: BTreeSet::new(),
            receives: Lists::new(ranks),
            met: VecDeque::new(),
        }
    }

    /// A send begins: its operation, and the handle of the message.
    pub fn post(&mut self, now: SimTime, from: u32, to: u32, message: Message) -> (Operation, u32) {
        let (operation, handle) = self.prepare_send(now, (from, to), message, None);
        self.order.send((from, to), handle);
        (operation, handle)
    }

    /// A send is asked for, whose turn among those of its pair is that of its [beginning](Self::begin_send).
    pub fn prepare_send(
        &mut self,
        now: SimTime,
        (from, to): Pair,
        message: Message,
        lanes: Option<Lanes>,
    ) -> (Operation, u32) {
        let task = PendingRequest { rank: from, kind: TaskKind::Send { to }, state: TaskState::UnderWay, lanes };
        let operation = Operation(self.tasks.put(task));
        let (sending, cpu) = (Some(operation), lanes.map_or(0, |lanes| lanes.cpu));
        let (is_received, arrival, id, place) = (false, now, 0, 0);
        let (has_met, has_left) = (false, false);
        let envelope =
            Envelope { from, to, sent: now, message, is_received, has_met, has_left, cpu, sending, arrival, id, place };
        (operation, self.envelopes.put(envelope))
    }

    /// A prepared send begins; its operation.
    pub fn begin_send(&mut self, handle: u32) -> Operation {
        let Envelope { from, to, sending, .. } = *self.envelope(handle);
        self.order.send((from, to), handle);
        sending.expect("a send begins before it is complete")
    }

    /// A computation begins.
    pub fn begin_computation(&mut self, rank: u32, lanes: Lanes) -> Operation {
        let (kind, state) = (TaskKind::Computation, TaskState::UnderWay);
        Operation(self.tasks.put(PendingRequest { rank, kind, state, lanes: Some(lanes) }))
    }

    /// A send is complete; nothing if it is synchronous and waits for a receive to [meet](Self::meet) it.
    pub fn sent(&mut self, handle: u32) -> Option<Operation> {
        let envelope = self.envelopes.get(handle).expect("an envelope is kept until its send is complete");
        if envelope.message.synchronous && !envelope.has_met {
            envelope.has_left = true;
            return None;
        }
        let operation = envelope.sending.take().expect("a send is complete once");
        if envelope.is_received {
            self.envelopes.take(handle);
        }
        self.task(operation).state = TaskState::Done;
        Some(operation)
    }

    /// A receive has met a message. Returns whether nothing but that has kept its send.
    pub fn meet(&mut self, handle: u32) -> bool {
        let envelope = self.envelopes.get(handle).expect("an envelope is kept until it is received");
        envelope.has_met = true;
        envelope.has_left
    }

    /// Bytes begin to move.
    pub fn begin_move(&mut self, rank: u32, is_memory: bool) -> Operation {
        let (kind, state) = (TaskKind::Move { is_memory }, TaskState::UnderWay);
        Operation(self.tasks.put(PendingRequest { rank, kind, state, lanes: None }))
    }

    /// They have moved.
    pub fn moved(&mut self, operation: Operation) {
        self.task(operation).state = TaskState::Done;
    }

    /// The record of a message that is delivered now and has not been received yet.
    pub fn delivery(&mut self, handle: u32, now: SimTime) -> Delivery {
        let envelope = self.envelopes.get(handle).expect("an envelope is kept until it is received");
        let Envelope { from, to, sent, message: Message { bytes, again, .. }, .. } = *envelope;
        Delivery { from, to, bytes, again, sent, delivered: now }
    }

    /// The rank that a message is for, and which of its processors deals with it.
    pub fn receiver(&self, handle: u32) -> (u32, u8) {
        let envelope = self.envelope(handle);
        (envelope.to, envelope.cpu)
    }

    /// A message has been delivered. [`met`](Self::met) holds the matches that follow.
    pub fn delivered(&mut self, now: SimTime, handle: u32, message: MessageId) {
        let envelope = self.envelopes.get(handle).expect("an envelope is kept until it is received");
        (envelope.arrival, envelope.id) = (now, message);
        let to = envelope.to;
        let has_come = self.order.arrive(handle);
        // Early messages of the same sender that waited for this one have come with it.
        let followers = if has_come { self.order.catch_up(handle) } else { 0 };
        if let Some(operation) = self.receive_for(handle) {
            self.match_on_arrival(operation, handle);
        } else {
            self.store(handle);
            if !has_come {
                self.early.insert(self.key(handle));
            }
        }
        if !self.early.is_empty() && (followers > 0 || !self.met.is_empty()) {
            self.reconsider(to, handle);
        }
        if followers > 0 {
            let order = &self.order;
            self.early.retain(|key| order.is_early(key.3));
        }
    }

    /// Receives of `rank` have met messages by the arrival of `by`, or messages have come with it: those that waited may be
    /// received now, the one that arrived first before the others.
    fn reconsider(&mut self, rank: u32, by: u32) {
        while !self.receives.is_empty(rank) {
            let of_rank = (rank, SimTime::START, 0, 0)..=(rank, SimTime::END, u32::MAX, u32::MAX);
            let mut early = self.early.range(of_rank).map(|key| key.3);
            let found = early.find_map(|handle| self.receive_for(handle).map(|operation| (operation, handle)));
            let Some((operation, handle)) = found else { return };
            self.match_stored(operation, handle, by);
        }
    }

    /// The posted receive that a message which has arrived is to be given to, unless an earlier one of its sender is.
    fn receive_for(&self, handle: u32) -> Option<Operation> {
        let envelope = self.envelope(handle);
        let operation = *self.receives.iter(envelope.to).find(|operation| self.fits(**operation, envelope))?;
        let takes = |earlier: u32| self.fits(operation, self.envelope(earlier));
        let waits = self.order.has_overtaken(handle) && self.order.before(handle).any(takes);
        (!waits).then_some(operation)
    }

    fn match_on_arrival(&mut self, operation: Operation, handle: u32) {
        let Envelope { from, to, id: message, .. } = *self.envelope(handle);
        self.order.leave((from, to), handle);
        self.receives.take_first(to, |receive| *receive == operation);
        self.task(operation).state = TaskState::Received(handle);
        self.met.push_back(Match { operation, handle, message, by: handle });
    }

    fn match_stored(&mut self, operation: Operation, handle: u32, by: u32) {
        let found = self.take_from_inbox(operation, handle);
        self.receives.take_first(self.envelope(handle).to, |receive| *receive == operation);
        self.met.push_back(Match { by, ..found });
    }

    fn take_from_inbox(&mut self, operation: Operation, handle: u32) -> Match {
        let Envelope { from, to, id: message, place, .. } = *self.envelope(handle);
        self.inboxes.remove(to, place);
        if self.order.has_overtaken(handle) {
            self.early.remove(&self.key(handle));
        }
        self.order.leave((from, to), handle);
        self.task(operation).state = TaskState::Received(handle);
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
        self.envelopes.get(handle).expect("it has just been there").place = place;
    }

    fn key(&self, handle: u32) -> (u32, SimTime, u32, u32) {
        let Envelope { from, to, arrival, .. } = *self.envelope(handle);
        (to, arrival, from, handle)
    }

    /// A receive begins; it takes a message, if one is there for it.
    pub fn receive(&mut self, rank: u32, pattern: MessagePattern) -> (Operation, Option<Match>) {
        let operation = self.prepare_receive(rank, pattern, None);
        (operation, self.post_receive(operation))
    }

    /// A receive is asked for, which takes no message before it is [posted](Self::post_receive).
    pub fn prepare_receive(&mut self, rank: u32, pattern: MessagePattern, lanes: Option<Lanes>) -> Operation {
        let (kind, state) = (TaskKind::Receive(pattern), TaskState::Prepared);
        Operation(self.tasks.put(PendingRequest { rank, kind, state, lanes }))
    }

    /// A prepared receive is posted; it takes a message, if one is there for it.
    pub fn post_receive(&mut self, operation: Operation) -> Option<Match> {
        let task = self.task(operation);
        task.state = TaskState::UnderWay;
        let (rank, TaskKind::Receive(pattern)) = (task.rank, task.kind) else { unreachable!("a receive is posted") };
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
        let oldest = self.order.of(pair).find(|handle| pattern.takes(self.envelope(*handle)))?;
        (self.order.has_arrived(oldest) && self.is_free(oldest)).then_some(oldest)
    }

    fn find_arrived(&self, rank: u32, pattern: MessagePattern) -> Option<u32> {
        let is_oldest = |handle: u32| {
            !self.order.has_overtaken(handle)
                || !self.order.before(handle).any(|earlier| pattern.takes(self.envelope(earlier)))
        };
        let mut arrived = self.inboxes.iter(rank).copied();
        arrived.find(|handle| pattern.takes(self.envelope(*handle)) && is_oldest(*handle) && self.is_free(*handle))
    }

    /// True if no receive that was posted before waits for this arrived message, or one before it.
    fn is_free(&self, handle: u32) -> bool {
        let fits = |operation: &Operation| self.fits(*operation, self.envelope(handle));
        !self.order.is_early(handle) || !self.receives.iter(self.envelope(handle).to).any(fits)
    }

    /// A receive has met a message whose data are still to come.
    pub fn await_data(&mut self, operation: Operation, handle: u32) {
        self.task(operation).state = TaskState::Announced(handle);
    }

    /// The data for a receive have come; the handle of their message.
    pub fn data_arrived(&mut self, operation: Operation) -> u32 {
        let task = self.task(operation);
        let TaskState::Announced(handle) = task.state else {
            unreachable!("data come to a receive that waits for them")
        };
        task.state = TaskState::Received(handle);
        handle
    }

    /// Ends a complete operation; what it has received, if it was a receive.
    pub fn end(&mut self, operation: Operation) -> Option<Received> {
        let task = self.tasks.take(operation.0).expect("an operation is ended once");
        let TaskState::Received(handle) = task.state else { return None };
        let envelope = self.envelopes.get(handle).expect("an envelope is kept until its receive is ended");
        if envelope.sending.is_some() {
            envelope.is_received = true;
            return Some(Received { from: envelope.from, message: envelope.message.clone() });
        }
        self.envelopes.take(handle).map(|Envelope { from, message, .. }| Received { from, message })
    }

    /// An operation that has not been ended, if `rank` has begun it.
    pub fn find(&mut self, rank: u32, operation: Operation) -> Option<&PendingRequest> {
        self.tasks.get(operation.0).filter(|task| task.rank == rank).map(|task| &*task)
    }

    /// The request that an operation is.
    pub fn request(&self, operation: Operation) -> &PendingRequest {
        self.tasks.peek(operation.0).expect("an operation is kept until it is ended")
    }

    /// The processor that deals with a complete operation: that of the message, of a receive.
    pub fn cpu(&self, operation: Operation) -> u8 {
        let request = self.request(operation);
        match request.state {
            TaskState::Received(handle) => self.envelope(handle).cpu,
            _ => request.lanes.map_or(0, |lanes| lanes.cpu),
        }
    }

    /// The rank whose operation this is.
    pub fn rank(&mut self, operation: Operation) -> u32 {
        self.task(operation).rank
    }

    /// Returns a description of the awaited task, and the rank that it waits for.
    pub fn describe(&mut self, operation: Operation) -> (String, Option<u32>) {
        match self.task(operation).kind {
            TaskKind::Send { to } => (format!("waits to send to rank {to}"), Some(to)),
            TaskKind::Move { is_memory: true } => ("waits for its memory".to_owned(), None),
            TaskKind::Move { is_memory: false } => ("waits for its interface".to_owned(), None),
            TaskKind::Computation => ("waits for its processor".to_owned(), None),
            TaskKind::Receive(MessagePattern { from, tag }) => {
                let from_words = from.map_or("any rank".to_owned(), |rank| format!("rank {rank}"));
                let message = tag.map_or(String::new(), |tag| format!(" a message{}", tag_words(tag)));
                (format!("waits to receive{message} from {from_words}"), from)
            }
        }
    }

    /// The description of a task of a rank that waits for nothing else, a receive before others.
    pub fn describe_first_of(&mut self, rank: u32) -> (String, Option<u32>) {
        let is_receive = |kind: TaskKind| matches!(kind, TaskKind::Receive(_));
        let of_rank = self.tasks.iter().filter(|(_, task)| task.rank == rank);
        match of_rank.max_by_key(|(place, task)| (is_receive(task.kind), std::cmp::Reverse(*place))) {
            Some((place, _)) => self.describe(Operation(place)),
            None => ("waits for operations that have not been issued".to_owned(), None),
        }
    }

    fn task(&mut self, operation: Operation) -> &mut PendingRequest {
        self.tasks.get(operation.0).expect("an operation is kept until it is ended")
    }

    fn envelope(&self, handle: u32) -> &Envelope {
        envelope(&self.envelopes, handle)
    }

    fn fits(&self, operation: Operation, envelope: &Envelope) -> bool {
        match self.tasks.peek(operation.0).expect("an operation is kept until it is ended").kind {
            TaskKind::Receive(pattern) => pattern.takes(envelope),
            TaskKind::Send { .. } | TaskKind::Move { .. } | TaskKind::Computation => {
                unreachable!("only receives wait for messages")
            }
        }
    }
}

impl MessagePattern {
    fn takes(self, envelope: &Envelope) -> bool {
        self.fits(envelope.from, envelope.message.tag)
    }
}

fn envelope(envelopes: &Slots<Envelope>, handle: u32) -> &Envelope {
    envelopes.peek(handle).expect("an envelope is kept until it is received")
}
