//! Messages between network interfaces. A message occupies the processor and the interface of its source, crosses the
//! network, and then occupies those of its destination.
//!
//! Costs are those of LogGOPS (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010, section 2). So is the order of
//! simultaneous events: the order in which they were first requested, as in LogGOPSim's queue. Without contention a
//! message crosses the network as a whole; otherwise [`wire`] carries it in packets or as a flow.

mod arrival;
mod handshake;
mod issued;
mod log;
mod memories;
mod queue;
mod resources;
mod waiting_sends;
mod wire;

use super::{Completion, MessageId, OutgoingMessage};
use crate::engine::{Precedence, RetrialQueues, Slab, Streams};
use crate::machine::speed_profile::{SpeedProfile, paced_rows};
use crate::machine::{IssueResources, Machine, RankLocation, Sends};
use crate::network::{BufferDeadlock, Topology, Transfers};
use crate::node::processor::{Computation, KernelError, Stopwatch};
use crate::node::{DataTransfer, Interface, WithinNode};
use crate::trace::events::EventId;
use crate::trace::{CommunicationLog, Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
use handshake::TransferRole;
use memories::Memories;
use queue::{Scheduled, TransportEvent};
use resources::{Port, Resources};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use waiting_sends::{CoreCounts, WaitingSends};
use wire::{Piece, Wire, WireEnds};

/// The interfaces and processors of all nodes, and the network between them.
pub struct MessageTransport {
    /// The interface of the nodes. Its gap per byte is the time that [`Wire::interface_time`] returns, and its copy per
    /// byte is always given.
    interface: Interface,
    sends: Sends,
    stopwatch: Stopwatch,
    /// The speeds and the noise of processors; `None` if all take the time that is described.
    pace: Option<Box<SpeedProfile>>,
    resources: Resources,
    /// The memories that cores share; `None` if there are none.
    memories: Option<Box<Memories>>,
    wire: Wire,
    queue: BinaryHeap<Reverse<Scheduled>>,
    /// The events that wait for a processor or an interface, by the number of that resource.
    retrial_queues: RetrialQueues<TransportEvent>,
    waiting_sends: WaitingSends,
    /// The computations that wait for each core.
    waiting_computations: CoreCounts,
    /// The number of requests so far, which orders simultaneous events.
    requests: u64,
    /// The order of the current event, or of the one that has just resumed a process.
    current: Option<u64>,
    now: SimTime,
    messages: Slab<MessageState>,
    pub completions: VecDeque<Completion>,
    counts: Counts,
    /// The number of messages so far, including those that transfers of data add.
    serial: u32,
    /// `true` if messages are reported when their data leave and when they are at the interface of their destination.
    pub reports_flights: bool,
    /// The record of communication work; `None` unless requested.
    pub log: Option<CommunicationLog>,
}

/// A message between the start of its send and its receive.
#[derive(Clone, Copy)]
struct MessageState {
    from: RankLocation,
    to: RankLocation,
    bytes: u64,
    handle: u32,
    /// The number of the interface at either end.
    interface: u32,
    /// The number of bytes that have entered the network.
    injected: u64,
    /// The number of bytes that a network with contention has brought to the destination; only counted if requested.
    landed: u64,
    /// The number of bytes that have passed the interface of the destination.
    arrived: u64,
    role: TransferRole,
    /// The serial number of the message.
    serial: u32,
    /// The number of packets that have entered the network.
    packets: u64,
    resources: IssueResources,
    /// `true` if the sender is notified when the send begins.
    is_issued: bool,
    /// `true` if the message bypasses the interfaces, because source and destination are on the same node.
    stays_on_its_node: bool,
    /// The time at which the message was announced, and the precedence of its send; if its data leave when they are
    /// matched.
    announced: (SimTime, Precedence),
}

impl MessageState {
    const fn source(&self) -> Port {
        Port { node: self.from.node, interface: self.interface, nic: self.resources.nic }
    }

    const fn destination(&self) -> Port {
        Port { node: self.to.node, interface: self.interface, nic: self.resources.nic }
    }
}

impl MessageTransport {
    /// Creates the idle nodes and links of the part of `machine` that is in use, which `topology` describes, for `owners`
    /// processes; `interface` is the interface of the nodes.
    #[must_use]
    pub fn new(machine: &Machine, interface: &Interface, topology: Topology, owners: u32, streams: Streams) -> Self {
        let (nodes, cores) = (topology.nodes(), machine.nodes.cores());
        let pace = SpeedProfile::of(machine, topology.vertices(), owners, streams);
        let wire = Wire::new(&machine.network, interface, topology, streams);
        Self {
            interface: Interface {
                gap_per_byte: wire.interface_time(interface.gap_per_byte),
                copy_per_byte: interface.copy_per_byte.or(Some(interface.gap_per_byte)),
                ..interface.clone()
            },
            sends: machine.sends,
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            pace,
            resources: Resources::new(nodes, cores, interface).interrupted(&machine.nodes.detours, streams),
            memories: Memories::of(machine, nodes),
            wire,
            queue: BinaryHeap::new(),
            retrial_queues: RetrialQueues::new(),
            waiting_sends: WaitingSends::default(),
            waiting_computations: CoreCounts::default(),
            requests: 0,
            current: None,
            now: SimTime::START,
            messages: Slab::new(),
            completions: VecDeque::new(),
            counts: Counts::default(),
            serial: 0,
            reports_flights: false,
            log: None,
        }
    }

    /// Estimates the bytes of memory that the simulation of `machine` takes, of which `ranks` ranks use the part that
    /// `topology` describes.
    #[must_use]
    pub fn memory(machine: &Machine, interface: &Interface, topology: &Topology, ranks: u32) -> f64 {
        // One event and one message in transit for each rank.
        const RANK_BYTES: f64 = 130.0;
        let cores = f64::from(topology.nodes()) * f64::from(machine.nodes.cores());
        Resources::memory(topology.nodes(), cores, interface, &machine.nodes.detours)
            + f64::from(ranks) * RANK_BYTES
            + Wire::memory(&machine.network, interface, topology, ranks)
    }

    pub fn compute(
        &mut self,
        now: SimTime,
        location: RankLocation,
        owner: u32,
        computation: Computation,
    ) -> Result<SimDuration, KernelError> {
        let (row, passes) =
            paced_rows(&mut self.stopwatch, self.pace.as_deref_mut(), (location.node, owner), computation)?;
        let time = row * passes;
        self.request_core(now, self.resources.core(location), owner, time);
        Ok(time)
    }

    pub fn wait(&mut self, now: SimTime, owner: u32, span: SimDuration) {
        let order = self.next_request();
        self.schedule(now + span, order, TransportEvent::TimerExpired(owner));
    }

    pub fn send(&mut self, now: SimTime, locations: (RankLocation, RankLocation), sent: OutgoingMessage) {
        let message = self.message(locations, sent);
        let precedence = self.precedence();
        self.dispatch(now, message, precedence, sent.cause);
    }

    fn message(
        &mut self,
        (from, to): (RankLocation, RankLocation),
        OutgoingMessage { bytes, handle, .. }: OutgoingMessage,
    ) -> MessageState {
        let stays_on_its_node = from.node == to.node && self.interface.within_node == WithinNode::Copied;
        let interface = if stays_on_its_node { 0 } else { self.resources.choose(&self.interface, from, to) };
        let waits = self.interface.data.waits(bytes);
        let role = if waits { TransferRole::AwaitedData { receive: 0 } } else { TransferRole::Data };
        let (resources, is_issued, serial, packets) = (IssueResources::default(), false, 0, 0);
        MessageState {
            from,
            to,
            bytes,
            handle,
            interface,
            injected: 0,
            landed: 0,
            arrived: 0,
            role,
            serial,
            packets,
            resources,
            is_issued,
            stays_on_its_node,
            announced: (SimTime::START, Precedence::default()),
        }
    }

    /// Returns the bytes that a message has on its path.
    fn carried(&self, message: &MessageState) -> u64 {
        if message.stays_on_its_node { message.bytes } else { self.interface.bytes_on_network(message.bytes) }
    }

    /// Starts a message, with its precedence among simultaneous events.
    fn dispatch(&mut self, now: SimTime, message: MessageState, precedence: Precedence, cause: EventId) {
        let waits = self.interface.data.waits(message.bytes);
        let id = self.keep(message);
        self.counts.messages += 1;
        self.wire.caused(id, cause);
        // As in LogGOPSim, an issued operation waits for its turn even if all resources are free.
        match (waits, message.is_issued) {
            (true, true) => self.push(now, precedence, TransportEvent::Announce(id)),
            (true, false) => self.begin_awaited(now, precedence, id),
            (false, true) => self.push(now, precedence, TransportEvent::Send(id)),
            (false, false) => self.attempt_behind_sends(now, precedence, id),
        }
    }

    /// Starts a message whose data wait for a receive.
    fn begin_awaited(&mut self, now: SimTime, precedence: Precedence, id: MessageId) {
        let message = &mut self.messages[id];
        message.announced = (now, precedence);
        let is_issued = std::mem::take(&mut message.is_issued);
        let message = *message;
        if is_issued {
            self.completions.push_back(Completion::SendBegun { handle: message.handle });
        }
        if matches!(self.interface.data, DataTransfer::OnRequest { .. }) {
            self.send_control(now, id, MessageState { role: TransferRole::Announcement { of: id }, ..message });
        } else {
            self.announce(now, message, id);
        }
    }

    /// Returns the time from which processor `cpu` at `location` is free of communication work.
    #[must_use]
    pub fn communicates_until(&self, location: RankLocation, cpu: u8) -> SimTime {
        self.resources.communicates_until(self.resources.cpu(location, cpu))
    }

    #[must_use]
    pub fn system_time(&self, location: RankLocation, now: SimTime) -> SimDuration {
        self.resources.worked(self.resources.core(location), now)
    }

    pub const fn processor(&self, location: RankLocation) -> u32 {
        self.resources.core(location)
    }

    /// Runs the next event. Returns its time, or `None` if no event is left.
    pub fn step(&mut self) -> Option<SimTime> {
        self.current = None;
        let scheduled = self.queue.peek().map(|Reverse(first)| first.time);
        let in_memory = self.memories.as_mut().and_then(|memories| memories.next_event());
        match (scheduled, self.wire.next_event()) {
            (scheduled, on_wire) if in_memory.is_some_and(|time| is_first(time, scheduled, on_wire)) => {
                self.run_memories();
            }
            (None, None) => return None,
            (Some(time), on_wire) if on_wire.is_none_or(|(wire, waits)| (time, false) < (wire, waits)) => {
                self.run_scheduled();
            }
            _ => self.run_wire(),
        }
        self.counts.events += 1;
        Some(self.now)
    }

    /// Runs an event of the network: packets that have arrived at their destination request its interface.
    fn run_wire(&mut self) {
        let Some((now, pieces)) = self.wire.step() else { return };
        self.now = now;
        for piece in pieces {
            if self.reports_flights {
                self.note_landing(now, piece);
            }
            self.request(now, TransportEvent::Arrive(piece));
        }
    }

    /// Returns the time of communication on a node at the speed of its processors.
    fn at_node_speed(&self, location: RankLocation, time: SimDuration) -> SimDuration {
        self.pace.as_ref().map_or(time, |pace| pace.service(location.node, time))
    }

    fn begin_send(&mut self, now: SimTime, id: MessageId) {
        let message = self.messages[id];
        let MessageState { from, bytes, resources, .. } = message;
        if message.is_issued {
            self.completions.push_back(Completion::SendBegun { handle: message.handle });
        }
        let begin = self.begin_at_interface(now, &message);
        if self.reports_flights && message.role.carries_data() {
            self.completions.push_back(Completion::Launched { handle: message.handle, at: begin });
        }
        let mut leaves = begin;
        let core = self.resources.cpu(from, resources.cpu);
        let mut busy = SimDuration::ZERO;
        if !self.is_sent_by_interface(&message) {
            let (time, end) = self.begin_sending(now, (from, core), bytes);
            leaves += time;
            busy = end.since(now);
        }
        self.note_send((now, begin), &message, (core, busy));
        self.leave(begin, leaves, id);
        match message.role {
            TransferRole::Data => self.complete_if_buffered(message),
            TransferRole::Announcement { of } => self.complete_if_buffered(self.messages[of]),
            TransferRole::AwaitedData { .. }
            | TransferRole::ComingData { .. }
            | TransferRole::Request { .. }
            | TransferRole::Confirmation => {}
        }
    }

    /// Occupies a core at `from` with the send of a message. Returns the time that the core takes until the message leaves,
    /// and the end of its work.
    fn begin_sending(&mut self, now: SimTime, (from, core): (RankLocation, u32), bytes: u64) -> (SimDuration, SimTime) {
        let overhead = self.at_node_speed(from, self.interface.overhead);
        let busy = self.at_node_speed(from, self.interface.sending_time(bytes));
        let first = overhead.min(busy);
        let leaves = self.resources.communicate(core, now, first);
        let end = self.resources.communicate(core, leaves, busy - first);
        // The processor may be free earlier than an empty message leaves.
        (leaves.since(now) + (overhead - first), end)
    }

    /// Returns the time from which a message whose send begins now occupies its interface: now, unless it waits in the
    /// queue of the interface.
    fn begin_at_interface(&self, now: SimTime, message: &MessageState) -> SimTime {
        if message.stays_on_its_node {
            return now;
        }
        now.max(self.resources.free(self.resources.sender(message.source())))
    }

    /// Lets a message leave its processor at `leaves`; it occupies its interface from `begin` on.
    fn leave(&mut self, begin: SimTime, leaves: SimTime, id: MessageId) {
        let message = self.messages[id];
        let MessageState { from, to, bytes, .. } = message;
        if message.stays_on_its_node {
            let has_memory = self.has_memory_between(from, to);
            let next = if has_memory {
                TransportEvent::EnterMemory(id)
            } else {
                TransportEvent::Arrive(Piece::whole(id, bytes))
            };
            return self.schedule_new(leaves, next);
        }
        let carried = self.carried(&message);
        self.resources.send(message.source(), begin + self.interface.occupancy(carried));
        let leaves = leaves + self.interface.stage_delay(bytes);
        match self.wire.delay(from.node, to.node, carried) {
            Some(delay) => {
                let arrival = leaves + self.interface.latency + delay;
                self.schedule_new(arrival, TransportEvent::Arrive(Piece::whole(id, carried)));
            }
            None => self.schedule_new(leaves + self.interface.latency, TransportEvent::Inject(id)),
        }
    }

    /// Injects the next packet of a message into the network, at the rate of the interface.
    fn inject(&mut self, now: SimTime, id: MessageId) {
        let carried = self.carried(&self.messages[id]);
        let message = &mut self.messages[id];
        let bytes = (carried - message.injected).min(self.wire.packet_bytes());
        message.injected += bytes;
        message.packets += 1;
        let entered = *message;
        let ends = WireEnds { from: message.from.node, to: message.to.node, interface: message.interface };
        let is_last = message.injected == carried;
        self.note_injection(now, &entered, entered.packets - 1);
        self.wire.inject(now, ends, id, bytes);
        if !is_last {
            // The first byte of a message takes no gap per byte (the G of LogGOPS).
            let paid = bytes - u64::from(entered.packets == 1);
            self.schedule_new(now + self.interface.gap_per_byte.time(paid), TransportEvent::Inject(id));
        }
    }

    fn keep(&mut self, message: MessageState) -> MessageId {
        self.serial = self.serial.wrapping_add(1);
        self.messages.put(MessageState { serial: self.serial, packets: 0, ..message })
    }

    pub const fn now(&self) -> SimTime {
        self.now
    }

    pub const fn counts(&self) -> Counts {
        Counts { packet_hops: self.wire.crossed(), ..self.counts }
    }

    pub fn standstill(&self) -> BufferDeadlock {
        self.wire.standstill()
    }

    pub fn take_link_loads(&self, now: SimTime) -> Vec<LinkLoad> {
        self.wire.loads(now)
    }

    pub fn record_transfers(&mut self) {
        self.wire.record_transfers();
    }

    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.wire.transfers()
    }

    pub fn finish_transfers(&mut self, end: SimTime) {
        self.wire.finish_transfers(end);
    }
}

/// Returns whether an event of the memories at `time` is the next one; at equal times, memories have precedence.
fn is_first(time: SimTime, scheduled: Option<SimTime>, on_wire: Option<(SimTime, bool)>) -> bool {
    scheduled.is_none_or(|scheduled| time <= scheduled) && on_wire.is_none_or(|(on_wire, _)| time <= on_wire)
}

#[cfg(test)]
mod tests;
