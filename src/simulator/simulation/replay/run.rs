//! The events of a schedule.
//!
//! They are those of a run by processes and occur in the same order. An operation whose dependencies are satisfied is
//! issued; its rank is notified of its beginning and of its end, which satisfies further dependencies. See
//! [`MessageTransport`](crate::machine::MessageTransport) for the resources that a message uses, and [`IssueOrder`] for the
//! order of simultaneous events.

use super::costs::LogGopsCosts;
use super::matching::{Arrival, MessageOrReceive, ReplayMatching};
use super::queue_heads::Route;
use super::radix_heap::{EventKind, NO_QUEUE, PackedEvent, RadixHeap, ScheduledEvent};
use super::rank::RankState;
use super::resources::RankResources;
use crate::engine::{Precedence, RetrialQueues, ServerPair, Slab};
use crate::machine::{IssueOrder, IssueResources};
use crate::program::MessagePattern;
use crate::program::schedule::{ANY, NOT_ISSUED, NodeKind, Operations, ScheduleNode};
use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry as Slot;

/// A replay of a schedule in progress.
pub struct Replay {
    operations: Box<dyn Operations>,
    unit: SimDuration,
    costs: LogGopsCosts,
    events_queue: RadixHeap,
    queues: RetrialQueues<PackedEvent>,
    resources: RankResources,
    matching: ReplayMatching,
    pub ranks: Vec<RankState>,
    /// Issued operations that have not ended.
    under_way: Slab<ReplayedOperation>,
    /// Messages between the beginning of their send and the match with their receive.
    messages: Slab<InFlightMessage>,
    /// Operations with some dependencies satisfied and others not, by rank and number.
    partly: FxHashMap<(u32, u32), PartiallyReady>,
    /// Notices caused by the current event, for now or for later.
    notices: Vec<OperationNotice>,
    /// Operations of the current rank whose dependencies are all satisfied.
    free: Vec<(u32, ScheduleNode, IssueOrder)>,
    /// The number of requests so far, which orders those made at the same time.
    requests: u64,
    /// The number of requests made while ranks are opened.
    opening_requests: u64,
    /// The number of ranks opened so far.
    opened: u32,
    /// `true` while ranks are being opened, when only the events of the opening are executed.
    is_opening: bool,
    pub events: u64,
    pub sent: u64,
    pub finished: u32,
    pub last_finish: SimTime,
}

/// An issued operation that has not ended, with the part of its node that is still needed.
#[derive(Clone, Copy)]
struct ReplayedOperation {
    size: u64,
    rank: u32,
    peer: u32,
    tag: u32,
    /// The place of the first operation that depends on the end of this one.
    first: u32,
    /// The place of the first operation that depends on the beginning of this one.
    first_at_begin: u32,
    /// The number of operations that depend on the end.
    at_end: u32,
    /// The number of operations that depend on the beginning.
    at_begin: u32,
    kind: NodeKind,
    /// The processor that handles the operation. A receive takes the processor of its message once it is matched.
    cpu: u8,
    nic: u8,
    /// `true` for a receive that has been posted, and for any other operation that has begun.
    has_begun: bool,
}

impl ReplayedOperation {
    #[inline]
    const fn of(rank: u32, node: &ScheduleNode) -> Self {
        let ScheduleNode { size, peer, tag, first, first_at_begin, at_end, at_begin, kind, cpu, nic, .. } = *node;
        Self { size, rank, peer, tag, first, first_at_begin, at_end, at_begin, kind, cpu, nic, has_begun: false }
    }
}

/// A message between the beginning of its send and the match with its receive.
#[derive(Clone, Copy)]
struct InFlightMessage {
    bytes: u64,
    from: u32,
    to: u32,
    tag: u32,
    /// The send of the message if it waits for the receive, or [`NONE`].
    send: u32,
    cpu: u8,
    nic: u8,
}

/// Upper bound of the request numbers of the opening: an operation without dependencies makes at most two requests, and
/// fewer than 2^29 operations are pending at once.
const OPENING: u64 = 1 << 32;
/// No operation.
const NONE: u32 = u32::MAX;

/// An operation with some of its dependencies satisfied.
#[derive(Clone, Copy)]
struct PartiallyReady {
    /// The number of dependencies that are not satisfied.
    awaited: u32,
    /// The latest turn among those that are.
    turn: IssueOrder,
}

/// The beginning or end of an operation, of which its rank is notified at `at`.
#[derive(Clone, Copy)]
struct OperationNotice {
    rank: u32,
    operation: u32,
    at: SimTime,
    turn: IssueOrder,
    is_end: bool,
}

impl Replay {
    /// Creates the replay of a schedule. `highest` are the highest numbers of resources that an operation uses.
    pub fn new(
        operations: Box<dyn Operations>,
        unit: SimDuration,
        costs: LogGopsCosts,
        highest: IssueResources,
    ) -> Self {
        let ranks = operations.ranks();
        let resources = RankResources::new(ranks, highest);
        let take_any: Vec<_> = (0..ranks).filter(|rank| operations.matches_any(*rank)).collect();
        Self {
            operations,
            unit,
            costs,
            events_queue: RadixHeap::new(),
            queues: RetrialQueues::new(),
            resources,
            matching: ReplayMatching::new(take_any.into_iter()),
            ranks: vec![RankState::new(); ranks as usize],
            under_way: Slab::new(),
            messages: Slab::new(),
            partly: FxHashMap::default(),
            notices: Vec::new(),
            free: Vec::new(),
            requests: OPENING,
            opening_requests: 0,
            opened: 0,
            is_opening: true,
            events: 0,
            sent: 0,
            finished: 0,
            last_finish: SimTime::START,
        }
    }

    /// Opens the next rank by issuing its operations without dependencies. One further call, after the last rank,
    /// admits all other events. The requests of the opening precede all others, so that its events can be executed rank
    /// by rank and need not be in memory together. Returns `false` when no call is left to make.
    pub fn open_next(&mut self) -> bool {
        let rank = self.opened;
        self.opened += 1;
        self.is_opening = rank < self.operations.ranks();
        if self.is_opening {
            std::mem::swap(&mut self.requests, &mut self.opening_requests);
            self.open(rank);
            std::mem::swap(&mut self.requests, &mut self.opening_requests);
        }
        rank <= self.operations.ranks()
    }

    fn open(&mut self, rank: u32) {
        for number in self.operations.roots(rank) {
            let node = self.operations.node(rank, number);
            self.free.push((number, node, IssueOrder::default()));
        }
        self.issue_free(SimTime::START, rank);
    }

    /// Executes the next event. Returns its time, or `None` at the end and when another rank must be opened first.
    #[inline]
    pub fn step(&mut self) -> Option<SimTime> {
        if self.finished as usize == self.ranks.len() {
            return None;
        }
        if self.is_opening && self.events_queue.first_order().is_none_or(|order| order > OPENING) {
            return None;
        }
        let ScheduledEvent { time, precedence, event, queue } = self.events_queue.pop()?;
        self.events += 1;
        if queue == NO_QUEUE {
            self.attempt(time, precedence, event);
        } else {
            let pair = self.needed_pair(event);
            self.queues.retry(queue, pair);
            self.attempt(time, precedence, event);
            if let Some(pair) = pair
                && let Some(next) = self.queues.next_of(pair)
            {
                self.line_up(time, next, pair, queue);
            }
            if self.queues.is_next_due(queue) {
                self.schedule_retrial(time, queue);
            }
        }
        self.deliver_notices(time);
        Some(time)
    }

    /// Completes the accounts of a rank up to now, with the communication work of its processor, and its current
    /// activity for the rest.
    pub fn account(&mut self, now: SimTime, rank: u32) {
        self.ranks[rank as usize].account(now, self.resources.worked(rank, now));
    }

    /// Returns the fault that has prevented operations from being read.
    pub fn fault(&self) -> Option<String> {
        self.operations.fault()
    }

    fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    fn order_of(&mut self, turn: IssueOrder) -> u64 {
        if turn.order == 0 { self.next_request() } else { turn.order }
    }

    fn schedule(&mut self, time: SimTime, order: u64, event: PackedEvent) {
        let precedence = Precedence { order, number: self.next_request() };
        self.events_queue.push(ScheduledEvent { time, precedence, event, queue: NO_QUEUE });
    }

    /// Executes an event if all resources that it needs are free. Otherwise, the event is queued and keeps its
    /// precedence.
    #[inline]
    fn attempt(&mut self, now: SimTime, precedence: Precedence, event: PackedEvent) {
        let place = event.place();
        match event.kind() {
            EventKind::Begin => self.begin(now, precedence, event, place),
            EventKind::Send => self.send(now, precedence, event, place),
            EventKind::Arrive => self.arrive(now, precedence, event, place),
            EventKind::Due => self.due(now, precedence.order, place),
            EventKind::Finish => {
                self.account(now, place);
                self.finish(now, place);
            }
        }
    }

    /// Returns whether an event has to wait. If so, it joins the queue of the resource that becomes free last.
    #[inline]
    fn waits(
        &mut self,
        now: SimTime,
        (precedence, event): (Precedence, PackedEvent),
        (core, interface): (u32, Option<u32>),
    ) -> bool {
        let (needed, free) = self.free_last(core, interface);
        if free <= now {
            return false;
        }
        let pair = interface.map(|interface| (core, interface));
        if self.queues.join(needed, pair, (precedence, event)) {
            self.schedule_retrial(now, needed);
        }
        true
    }

    /// Returns the resource that is free last, and when it is free.
    #[inline]
    fn free_last(&self, core: u32, interface: Option<u32>) -> (u32, SimTime) {
        let core_free = self.resources.free(core);
        let interface = interface.map(|interface| (interface, self.resources.free(interface)));
        interface.filter(|(_, free)| *free > core_free).unwrap_or((core, core_free))
    }

    /// Returns the processor and the interface that an event needs, if it needs both.
    fn needed_pair(&self, event: PackedEvent) -> Option<ServerPair> {
        match event.kind() {
            EventKind::Send => {
                let ReplayedOperation { rank, peer, cpu, nic, .. } = self.under_way[event.place()];
                (peer != rank).then(|| (self.resources.core(rank, cpu), self.resources.sender(rank, nic)))
            }
            EventKind::Arrive => {
                let InFlightMessage { from, to, cpu, nic, .. } = self.messages[event.place()];
                (from != to).then(|| (self.resources.core(to, cpu), self.resources.receiver(to, nic)))
            }
            EventKind::Begin | EventKind::Due | EventKind::Finish => None,
        }
    }

    /// Lets an event that followed others wait for the one of its two resources that is free last, or in `queue` if both
    /// are free.
    fn line_up(&mut self, now: SimTime, event: (Precedence, PackedEvent), pair: ServerPair, queue: u32) {
        let (needed, free) = self.free_last(pair.0, Some(pair.1));
        let needed = if free > now { needed } else { queue };
        if self.queues.join(needed, Some(pair), event) {
            self.schedule_retrial(now, needed);
        }
    }

    /// Schedules the first event in the queue of a resource at the time the resource becomes free.
    fn schedule_retrial(&mut self, now: SimTime, resource: u32) {
        if let Some((precedence, event)) = self.queues.call(resource) {
            let time = self.resources.free(resource).max(now);
            self.events_queue.push(ScheduledEvent { time, precedence, event, queue: resource });
        }
    }

    fn queue_notice(&mut self, rank: u32, at: SimTime, operation: u32, is_end: bool) {
        self.notices.push(OperationNotice { rank, operation, at, turn: IssueOrder::default(), is_end });
    }

    /// Begins a computation.
    fn begin(&mut self, now: SimTime, precedence: Precedence, event: PackedEvent, place: u32) {
        let ReplayedOperation { size, rank, cpu, .. } = self.under_way[place];
        let core = self.resources.core(rank, cpu);
        if self.waits(now, (precedence, event), (core, None)) {
            return;
        }
        let end = now + self.unit * size;
        self.resources.occupy_until(core, end);
        self.queue_notice(rank, now, place, false);
        self.queue_notice(rank, end, place, true);
    }

    /// Begins the transmission of a message.
    fn send(&mut self, now: SimTime, precedence: Precedence, event: PackedEvent, place: u32) {
        let ReplayedOperation { rank, peer, cpu, nic, size: bytes, tag, .. } = self.under_way[place];
        let (core, is_own) = (self.resources.core(rank, cpu), peer == rank);
        let interface = (!is_own).then(|| self.resources.sender(rank, nic));
        if self.waits(now, (precedence, event), (core, interface)) {
            return;
        }
        let costs = self.costs.message(bytes);
        self.queue_notice(rank, now, place, false);
        self.resources.communicate(rank, cpu, now, costs.sending);
        if let Some(interface) = interface {
            self.resources.occupy_until(interface, now + costs.occupancy);
        }
        let send = if costs.is_eager { NONE } else { place };
        let message = self.messages.put(InFlightMessage { bytes, from: rank, to: peer, tag, send, cpu, nic });
        let order = self.next_request();
        let arrival = now + self.costs.delay(is_own);
        self.schedule(arrival, order, PackedEvent::new(EventKind::Arrive, message));
        if costs.is_eager {
            self.has_ended(now, rank, place, cpu);
        }
    }

    /// Handles the arrival of a message, which occupies the receiving interface and processor.
    fn arrive(&mut self, now: SimTime, precedence: Precedence, event: PackedEvent, place: u32) {
        let InFlightMessage { bytes, from, to, tag, cpu, nic, .. } = self.messages[place];
        let core = self.resources.core(to, cpu);
        let interface = (from != to).then(|| self.resources.receiver(to, nic));
        if self.waits(now, (precedence, event), (core, interface)) {
            return;
        }
        let costs = self.costs.message(bytes);
        if let Some(interface) = interface {
            self.resources.occupy_until(interface, now + costs.occupancy);
        }
        self.resources.communicate(to, cpu, now, costs.receiving);
        let (under_way, messages) = (&self.under_way, &self.messages);
        let route_of = |entry: MessageOrReceive| route(under_way, messages, entry);
        if let Some(receive) = self.matching.arrive(now, Arrival { to, from, tag, message: place }, route_of) {
            self.meet(now, receive, place);
        }
    }

    /// Posts a receive, or ends an operation.
    fn due(&mut self, now: SimTime, order: u64, place: u32) {
        let operation = &mut self.under_way[place];
        let ReplayedOperation { rank, peer, tag, cpu, .. } = *operation;
        if operation.has_begun {
            let turn = IssueOrder { order, leaves: Some(cpu), ..IssueOrder::default() };
            self.notices.push(OperationNotice { rank, operation: place, at: now, turn, is_end: true });
            return;
        }
        operation.has_begun = true;
        self.queue_notice(rank, now, place, false);
        let known = |number: u32| (number != ANY).then_some(number);
        let pattern = MessagePattern { from: known(peer), tag: known(tag) };
        let (under_way, messages) = (&self.under_way, &self.messages);
        let route_of = |entry: MessageOrReceive| route(under_way, messages, entry);
        if let Some(message) = self.matching.receive(rank, pattern, place, route_of) {
            self.meet(now, place, message);
        }
    }

    /// Ends a receive that has been matched, and the send that waits for it, if any.
    fn meet(&mut self, now: SimTime, receive: u32, message: u32) {
        let InFlightMessage { to, send, cpu, .. } = self.messages.take(message);
        self.under_way[receive].cpu = cpu;
        self.has_ended(now, to, receive, cpu);
        if send != NONE {
            let ReplayedOperation { rank, cpu, .. } = self.under_way[send];
            self.has_ended(now, rank, send, cpu);
        }
    }

    /// Ends a send or a receive once its processor has handled it.
    fn has_ended(&mut self, now: SimTime, rank: u32, operation: u32, cpu: u8) {
        let at = self.resources.works_until(rank, cpu, now);
        self.queue_notice(rank, at, operation, true);
    }

    /// Notifies ranks about their operations, in rank order.
    #[inline]
    fn deliver_notices(&mut self, now: SimTime) {
        if self.notices.is_empty() {
            return;
        }
        let mut notices = std::mem::take(&mut self.notices);
        if notices.iter().any(|notice| notice.rank != notices[0].rank) {
            notices.sort_by_key(|notice| notice.rank);
        }
        for of_rank in notices.chunk_by(|previous, next| previous.rank == next.rank) {
            self.deliver_notices_to(now, of_rank);
        }
        notices.clear();
        self.notices = notices;
    }

    /// Delivers the current notices to a rank, and schedules the later ones.
    fn deliver_notices_to(&mut self, now: SimTime, notices: &[OperationNotice]) {
        let Some(OperationNotice { rank, .. }) = notices.first().copied() else { return };
        let new = IssueOrder { order: self.requests + 1, ..IssueOrder::default() };
        self.requests += IssueOrder::OF_AN_EVENT;
        let turn_of = |notice: &OperationNotice| match notice.turn {
            IssueOrder { order: 0, .. } if notice.is_end => new.of_end(),
            IssueOrder { order: 0, .. } => new,
            known => known,
        };
        let mut is_told = false;
        for notice in notices.iter().filter(|notice| notice.at <= now) {
            is_told = true;
            self.handle_notice(rank, notice.operation, notice.is_end, turn_of(notice));
        }
        if is_told {
            self.account(now, rank);
            self.issue_free(now, rank);
        }
        for notice in notices.iter().filter(|notice| notice.at > now) {
            let order = self.order_of(turn_of(notice));
            self.schedule(notice.at, order, PackedEvent::new(EventKind::Due, notice.operation));
        }
    }

    /// Handles the beginning or end of an operation, which may satisfy the dependencies of others.
    fn handle_notice(&mut self, rank: u32, place: u32, is_end: bool, turn: IssueOrder) {
        let state = &mut self.ranks[rank as usize];
        let (first, count) = if is_end {
            let ReplayedOperation { kind, first, at_end, .. } = self.under_way.take(place);
            state.under_way -= 1;
            match kind {
                NodeKind::Send => state.sending -= 1,
                NodeKind::Receive => state.receiving -= 1,
                NodeKind::Compute => state.computing -= 1,
                NodeKind::Join => unreachable!("{NOT_ISSUED}"),
            }
            (first, at_end)
        } else {
            let operation = &mut self.under_way[place];
            operation.has_begun = true;
            state.computing += u32::from(operation.kind == NodeKind::Compute);
            (operation.first_at_begin, operation.at_begin)
        };
        for place in first..first + count {
            let follower = self.operations.follower(rank, place);
            self.release(rank, follower, turn.at(place));
        }
    }

    /// Satisfies one dependency of an operation.
    #[inline]
    fn release(&mut self, rank: u32, number: u32, turn: IssueOrder) {
        let free = match self.partly.entry((rank, number)) {
            Slot::Vacant(vacant) => {
                let node = self.operations.node(rank, number);
                if node.awaited > 1 {
                    vacant.insert(PartiallyReady { awaited: node.awaited - 1, turn });
                    return;
                }
                (number, node, turn)
            }
            Slot::Occupied(mut occupied) => {
                let partly = occupied.get_mut();
                (partly.awaited, partly.turn) = (partly.awaited - 1, partly.turn.max(turn));
                if partly.awaited > 0 {
                    return;
                }
                let turn = occupied.remove().turn;
                (number, self.operations.node(rank, number), turn)
            }
        };
        match free {
            (_, join, turn) if join.kind == NodeKind::Join => self.pass_on(rank, &join, turn),
            free => self.free.push(free),
        }
    }

    /// Satisfies the dependencies on a join.
    fn pass_on(&mut self, rank: u32, join: &ScheduleNode, turn: IssueOrder) {
        for (position, place) in (0..).zip(join.places_at_end()) {
            let follower = self.operations.follower(rank, place);
            self.release(rank, follower, turn.behind_join(position));
        }
    }

    /// Issues the operations that are free: sends, then receives, then computations, as in LogGOPSim. A rank without
    /// pending operations has finished.
    fn issue_free(&mut self, now: SimTime, rank: u32) {
        let mut free = std::mem::take(&mut self.free);
        if free.len() > 1 {
            free.sort_by_key(|(_, node, _)| node.kind);
        }
        for (_, node, turn) in &free {
            self.issue(now, rank, *node, *turn);
        }
        free.clear();
        self.free = free;
        let state = &mut self.ranks[rank as usize];
        if state.under_way == 0 {
            self.finish(now, rank);
        } else {
            state.wait();
        }
    }

    fn issue(&mut self, now: SimTime, rank: u32, node: ScheduleNode, turn: IssueOrder) {
        let turn = turn.of(node.kind as u64 - 1);
        let order = self.order_of(turn);
        let place = self.under_way.put(ReplayedOperation::of(rank, &node));
        let state = &mut self.ranks[rank as usize];
        state.under_way += 1;
        let (time, kind) = match node.kind {
            NodeKind::Compute => (now, EventKind::Begin),
            NodeKind::Join => unreachable!("{NOT_ISSUED}"),
            NodeKind::Send => {
                state.sending += 1;
                self.sent += 1;
                (now, EventKind::Send)
            }
            NodeKind::Receive => {
                state.receiving += 1;
                let is_left = turn.leaves == Some(node.cpu);
                let free = if is_left { now } else { self.resources.free(self.resources.core(rank, node.cpu)) };
                (now.max(free), EventKind::Due)
            }
        };
        let (precedence, event) = (Precedence::foreseen(order, turn.place), PackedEvent::new(kind, place));
        self.events_queue.push(ScheduledEvent { time, precedence, event, queue: NO_QUEUE });
    }

    /// Finishes a rank once its processor has completed its work for communication.
    fn finish(&mut self, now: SimTime, rank: u32) {
        let end = self.resources.works_until(rank, 0, now);
        self.ranks[rank as usize].finish(end == now);
        if end > now {
            let order = self.next_request();
            return self.schedule(end, order, PackedEvent::new(EventKind::Finish, rank));
        }
        self.finished += 1;
        self.last_finish = now;
    }
}

/// Returns the route of a message or a receive.
fn route(under_way: &Slab<ReplayedOperation>, messages: &Slab<InFlightMessage>, entry: MessageOrReceive) -> Route {
    match entry {
        MessageOrReceive::Message(place) => {
            let InFlightMessage { to, from, tag, .. } = messages[place];
            (to, from, tag)
        }
        MessageOrReceive::Receive(place) => {
            let ReplayedOperation { rank, peer, tag, .. } = under_way[place];
            (rank, peer, tag)
        }
    }
}
