//! Events of processors and interfaces, in the order in which they were first requested.

use super::resources::Resource;
use super::wire::Piece;
use super::{MessageState, MessageTransport, TransferRole};
use crate::engine::{Precedence, ServerPair};
use crate::machine::transport::{BACKGROUND_HANDLES, Completion, MessageId};
use crate::machine::{IssueOrder, RankLocation};
use crate::node::{DataTransfer, Injection, Progress};
use crate::units::{SimDuration, SimTime};
use std::cmp::Reverse;

/// An event, ordered by its time and then by the order in which it was first requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scheduled {
    pub time: SimTime,
    precedence: Precedence,
    event: TransportEvent,
    /// The resource whose retrial queue the event was called from.
    line: Resource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransportEvent {
    /// The timer of an owner expires.
    TimerExpired(u32),
    /// A computation of an owner requests its core.
    Compute {
        core: u32,
        owner: u32,
        time: SimDuration,
    },
    Computed(u32),
    /// An issued computation requests its core.
    Begin {
        core: u32,
        operation: u32,
        time: SimDuration,
    },
    /// The timer of an issued operation expires.
    Due(u32),
    /// A message requests core and interface of its source.
    Send(MessageId),
    /// A message within a node enters the memory that its cores share.
    EnterMemory(MessageId),
    /// A part of a message requests core and interface of its destination.
    Arrive(Piece),
    /// A message that the interface has received requests the core of its destination.
    Receive(MessageId),
    /// The next packet of a message enters the network.
    Inject(MessageId),
    /// An issued message begins whose data wait for a receive.
    Announce(MessageId),
    /// The ranks of a core resume after a message has been announced. If the message has matched its receive, its data
    /// leave first.
    Resume(u32),
}

/// The queue keeps capacity for this many events even if it is not used.
const SPARE: usize = 1 << 12;

impl MessageTransport {
    /// Runs the next event of a processor or an interface.
    pub(super) fn run_scheduled(&mut self) {
        let Some(Reverse(Scheduled { time, precedence, event, line })) = self.queue.pop() else { return };
        let order = precedence.order;
        if self.queue.capacity() > SPARE + 4 * self.queue.len() {
            // Many operations that are issued at once need this memory only for a moment.
            self.queue.shrink_to(2 * self.queue.len());
        }
        self.now = time;
        self.current = Some(order);
        if line == Resource::NONE {
            self.attempt(time, precedence, event);
        } else {
            self.attempt_again(time, precedence, event, line);
        }
        // Requests that a process makes after it has waited for an operation have the order of that operation. So does
        // the request for data that is sent when a receive is posted.
        let goes_on =
            matches!(event, TransportEvent::TimerExpired(_) | TransportEvent::Computed(_) | TransportEvent::Due(_));
        self.current = goes_on.then_some(order);
    }

    /// Runs an event that has waited in a retrial queue, or lets it wait again; then calls the next event of the queue.
    fn attempt_again(&mut self, now: SimTime, precedence: Precedence, event: TransportEvent, line: Resource) {
        let (sender, pair) = (self.sending_core(event), self.needed_pair(event));
        self.retrial_queues.retry(line.number(), pair);
        if let Some(core) = sender {
            self.waiting_sends.remove(core);
        }
        if let TransportEvent::Compute { core, .. } = event {
            self.waiting_computations.remove(core);
        }
        self.attempt(now, precedence, event);
        if let Some((precedence, next)) = pair.and_then(|pair| self.retrial_queues.next_of(pair)) {
            let resource = self.latest_needed(next).filter(|resource| self.resources.free(*resource) > now);
            self.join(now, (precedence, next), resource.unwrap_or(line));
        }
        if self.retrial_queues.is_next_due(line.number()) {
            self.call(now, line);
        }
        if let Some(core) = sender {
            self.release(now, core);
        }
    }

    /// Returns whether an owner that wants to compute has to wait for sends of its core that are in a queue; `TimerExpired`
    /// reports that they have begun.
    pub fn waits_behind_sends(&mut self, location: RankLocation, owner: u32) -> bool {
        let core = self.resources.core(location);
        let waits = self.waiting_sends.are_of(core);
        if waits {
            let order = self.order();
            self.waiting_sends.wait_behind(core, order, owner);
        }
        waits
    }

    /// Executes an event that a process requests now, or lets it wait for the resources that it needs.
    pub(super) fn request(&mut self, now: SimTime, event: TransportEvent) {
        let precedence = self.precedence();
        self.attempt(now, precedence, event);
    }

    /// Requests a core for a computation of an owner. Another owner that already waits to compute there comes first,
    /// whatever the owner has waited for before.
    pub(super) fn request_core(&mut self, now: SimTime, core: u32, owner: u32, time: SimDuration) {
        let event = TransportEvent::Compute { core, owner, time };
        if self.waiting_computations.are_of(core) {
            let precedence = Precedence { order: self.next_request(), number: self.next_request() };
            self.wait_in_line(now, (precedence, event), Resource::core(core));
        } else {
            self.request(now, event);
        }
    }

    /// Begins a message, behind the sends of its core that still wait: data that leave when they are matched may do so
    /// at this moment.
    pub(super) fn attempt_behind_sends(&mut self, now: SimTime, precedence: Precedence, id: MessageId) {
        let event = TransportEvent::Send(id);
        let waits = self.sending_core(event).is_some_and(|core| self.waiting_sends.are_of(core));
        match self.latest_needed(event).filter(|_| waits) {
            Some(resource) => self.wait_in_line(now, (precedence, event), resource),
            None => self.attempt(now, precedence, event),
        }
    }

    /// Returns the precedence of a request that is made now.
    pub(super) fn precedence(&mut self) -> Precedence {
        Precedence { order: self.order(), number: self.next_request() }
    }

    /// Returns the order of a request that is made now.
    pub(super) fn order(&mut self) -> u64 {
        self.current.unwrap_or_else(|| self.next_request())
    }

    pub(super) fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Adds a new event to the queue.
    pub(super) fn schedule(&mut self, time: SimTime, order: u64, event: TransportEvent) {
        let precedence = Precedence { order, number: self.next_request() };
        self.push(time, precedence, event);
    }

    pub(super) fn push(&mut self, time: SimTime, precedence: Precedence, event: TransportEvent) {
        self.queue.push(Reverse(Scheduled { time, precedence, event, line: Resource::NONE }));
    }

    pub(super) fn schedule_new(&mut self, time: SimTime, event: TransportEvent) {
        let order = self.next_request();
        self.schedule(time, order, event);
    }

    /// Executes an event if all its resources are free; otherwise the event waits and keeps its order.
    pub(super) fn attempt(&mut self, now: SimTime, precedence: Precedence, event: TransportEvent) {
        let order = precedence.order;
        if self.reports_flights {
            self.report_landing(now, event);
        }
        if let Some(needed) = self.latest_needed(event)
            && self.resources.free(needed) > now
        {
            return self.wait_in_line(now, (precedence, event), needed);
        }
        match event {
            TransportEvent::TimerExpired(owner) => self.completions.push_back(Completion::TimerExpired { owner }),
            TransportEvent::Computed(owner) => self.completions.push_back(Completion::Computed { owner }),
            TransportEvent::Begin { core, operation, time } => self.begin_computation(now, core, operation, time),
            TransportEvent::Due(operation) => {
                self.completions
                    .push_back(Completion::Due { operation, turn: IssueOrder { order, ..IssueOrder::default() } });
            }
            TransportEvent::Compute { core, owner, time } => {
                let end = self.resources.compute(core, now, time);
                self.schedule_new(end, TransportEvent::Computed(owner));
            }
            TransportEvent::Send(id) => self.begin_send(now, id),
            TransportEvent::Inject(id) => self.inject(now, id),
            TransportEvent::EnterMemory(id) => self.enter_memory(now, id),
            TransportEvent::Arrive(piece) => self.arrive(now, order, piece),
            TransportEvent::Receive(id) => self.receive(now, id),
            TransportEvent::Announce(id) => self.begin_awaited(now, precedence, id),
            TransportEvent::Resume(core) => {
                self.waiting_sends.remove(core);
                self.release(now, core);
            }
        }
    }

    /// Resumes the computations that have waited for the sends of a core, if all of these have begun.
    fn release(&mut self, now: SimTime, core: u32) {
        for (order, owner) in self.waiting_sends.released(core) {
            self.schedule(now, order, TransportEvent::TimerExpired(owner));
        }
    }

    /// Announces a message whose receive may already be posted. A computation after the send waits until this is known.
    pub(super) fn announce(&mut self, now: SimTime, message: MessageState, id: MessageId) {
        self.complete_if_buffered(message);
        self.completions.push_back(Completion::Announced { message: id, handle: message.handle });
        if !message.is_issued && message.handle < BACKGROUND_HANDLES {
            let core = self.resources.core(message.from);
            self.waiting_sends.add(core);
            let order = self.order();
            self.schedule(now, order, TransportEvent::Resume(core));
        }
    }

    fn wait_in_line(&mut self, now: SimTime, (precedence, event): (Precedence, TransportEvent), resource: Resource) {
        if let Some(core) = self.sending_core(event) {
            self.waiting_sends.add(core);
        }
        if let TransportEvent::Compute { core, .. } = event {
            self.waiting_computations.add(core);
        }
        self.join(now, (precedence, event), resource);
    }

    fn join(&mut self, now: SimTime, (precedence, event): (Precedence, TransportEvent), resource: Resource) {
        let pair = self.needed_pair(event);
        if self.retrial_queues.join(resource.number(), pair, (precedence, event)) {
            self.call(now, resource);
        }
    }

    /// Calls the first event of a retrial queue: it is retried when the resource is free.
    fn call(&mut self, now: SimTime, resource: Resource) {
        if let Some((precedence, event)) = self.retrial_queues.call(resource.number()) {
            let time = self.resources.free(resource).max(now);
            self.queue.push(Reverse(Scheduled { time, precedence, event, line: resource }));
        }
    }

    /// Returns the core of the process that requested a send and may continue before the send begins.
    fn sending_core(&self, event: TransportEvent) -> Option<u32> {
        let TransportEvent::Send(id) = event else { return None };
        let message = &self.messages[id];
        let is_own = !matches!(message.role, TransferRole::Request { .. } | TransferRole::Confirmation)
            && !self.is_sent_by_interface(message)
            && !message.is_issued
            && message.handle < BACKGROUND_HANDLES;
        is_own.then(|| self.resources.core(message.from))
    }

    /// Returns the resource that is free last among those an event needs.
    fn latest_needed(&self, event: TransportEvent) -> Option<Resource> {
        let [core, interface] = self.needed(event);
        let (Some(core), Some(interface)) = (core, interface) else { return core.or(interface) };
        Some(if self.resources.free(interface) > self.resources.free(core) { interface } else { core })
    }

    /// Returns the processor and the interface that an event needs, if it needs both.
    fn needed_pair(&self, event: TransportEvent) -> Option<ServerPair> {
        let [core, interface] = self.needed(event);
        Some((core?.number(), interface?.number()))
    }

    /// Returns the processor and the interface that an event needs.
    fn needed(&self, event: TransportEvent) -> [Option<Resource>; 2] {
        match event {
            TransportEvent::TimerExpired(_)
            | TransportEvent::Computed(_)
            | TransportEvent::Inject(_)
            | TransportEvent::EnterMemory(_)
            | TransportEvent::Due(_)
            | TransportEvent::Announce(_)
            | TransportEvent::Resume(_) => [None, None],
            TransportEvent::Compute { core, .. } | TransportEvent::Begin { core, .. } => {
                [Some(Resource::core(core)), None]
            }
            TransportEvent::Send(id) => {
                let message = &self.messages[id];
                let core = Resource::core(self.resources.cpu(message.from, message.resources.cpu));
                let interface = || self.resources.sender(message.source());
                let is_queued = self.interface.injection == Injection::Queued;
                [
                    (!self.is_sent_by_interface(message)).then_some(core),
                    (!message.stays_on_its_node && !is_queued).then(interface),
                ]
            }
            TransportEvent::Arrive(piece) => {
                let message = &self.messages[piece.message];
                let stays = message.stays_on_its_node;
                let is_taken_at_once = stays || self.interface.progress == Progress::WhileArriving;
                [
                    is_taken_at_once.then(|| self.taking_core(message)),
                    (!stays).then(|| self.resources.receiver(message.destination())),
                ]
            }
            TransportEvent::Receive(id) => {
                let message = &self.messages[id];
                [(self.interface.progress != Progress::Offloaded).then(|| self.taking_core(message)), None]
            }
        }
    }

    fn taking_core(&self, message: &MessageState) -> Resource {
        Resource::core(self.resources.cpu(message.to, message.resources.cpu))
    }

    /// Returns whether an offloading interface sends a message without the processor. That applies to the messages that
    /// follow an announcement, and to data that leave when they are matched, unless they have an overhead.
    pub(super) fn is_sent_by_interface(&self, message: &MessageState) -> bool {
        let follows = match message.role {
            TransferRole::Data | TransferRole::ComingData { .. } | TransferRole::Announcement { .. } => false,
            TransferRole::Request { .. } | TransferRole::Confirmation => true,
            TransferRole::AwaitedData { .. } => match self.interface.data {
                DataTransfer::AtOnce => false,
                DataTransfer::WhenMatched { .. } => self.interface.sending_time(message.bytes) == SimDuration::ZERO,
                DataTransfer::OnRequest { .. } => true,
            },
        };
        follows && self.interface.progress == Progress::Offloaded && !message.stays_on_its_node
    }
}
