//! How a message crosses the machine: prepared packet by packet on the source's processor,
//! carried over links and passed on by the nodes between, taken in on the destination's processor.

use super::hierarchy::Hierarchy;
use super::pace::Pace;
use super::{Machine, Seat, Sends};
use crate::engine::{Calendar, Entity, Streams};
use crate::network::{Fabric, Onward, Packet, PacketKind, Passage, Standstill, Topology};
use crate::node::processor::{KernelError, Stopwatch};
use crate::node::{Dispatcher, Node, Turns, Urgency, Work};
use crate::trace::{Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

mod cores;

use cores::processors;

/// A message on its way; the number is used again when the message is gone.
pub type MessageId = u32;

/// Something that a process may be waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The computation of an owner has ended.
    Computed {
        /// Whose computation it was.
        owner: u32,
    },
    /// The time that an owner has set has come.
    TimeUp {
        /// Whose timer it was.
        owner: u32,
    },
    /// The bytes that were to be loaded, or to leave a node, have done so.
    Moved {
        /// What was asked to be told.
        ticket: u32,
    },
    /// The send of a message is complete, in the sense of [`Sends`].
    Sent {
        /// What the sender called it.
        ticket: u32,
    },
    /// All packets of a message have been taken in.
    Delivered {
        /// The message, to be accepted when a process receives it.
        message: MessageId,
        /// What the sender called it.
        ticket: u32,
    },
}

/// All nodes and links of a machine at work.
///
/// What happens is told by [`step`](Self::step) and by the calls that make it happen at once.
pub struct Transport {
    node: Node,
    stopwatch: Stopwatch,
    /// Only where not all processors take the time that is described.
    pace: Option<Box<Pace>>,
    sends: Sends,
    /// Whether every packet comes to its link out of the processor, in the order of service.
    foresees: bool,
    packet_bytes: u64,
    calendar: Calendar,
    fabric: Fabric,
    /// What packets have just come through; empty between events.
    passages: Vec<Passage>,
    processors: Dispatcher<Job>,
    /// Only where cores share something.
    hierarchy: Option<Box<Hierarchy>>,
    cores: u32,
    vertices: u32,
    messages: Vec<Message>,
    vacant: Vec<MessageId>,
    /// What has happened and has not been told yet.
    pub happenings: VecDeque<Happening>,
    counts: Counts,
    first: FirstEntities,
    /// The last event.
    last: (SimTime, Entity),
}

/// Where the entities of each kind begin; the links begin at zero.
#[derive(Clone, Copy)]
struct FirstEntities {
    processor: Entity,
    alarm: Entity,
    timer: Entity,
    hierarchy: Entity,
}

impl FirstEntities {
    /// `None` if the events of so many links, processors and processes cannot be numbered in 32 bits.
    fn after(links: Entity, processors: u32, owners: u32) -> Option<Self> {
        let alarm = links.checked_add(processors)?;
        let timer = alarm.checked_add(processors)?;
        timer.checked_add(owners).map(|hierarchy| Self { processor: links, alarm, timer, hierarchy })
    }
}

/// The state of a message between the beginning of its send and its completion.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    cores: (u32, u32),
    hops: u32,
    ticket: u32,
    /// Bytes whose preparation has not begun.
    unprepared: u64,
    /// Packets that the destination has not taken in.
    missing: u32,
    /// Packets that have not left over their first link.
    uninjected: u32,
}

/// The bytes of a word of memory.
const WORD_BYTES: u64 = 4;

/// What the processors do for the communication.
#[derive(Clone, Copy)]
enum Job {
    Prepare { message: MessageId, bytes: u32 },
    PassOn(Packet),
    TakeIn(Packet),
}

impl Transport {
    /// The idle machine, of which `topology` is in use, for `owners` processes.
    ///
    /// # Panics
    /// If the topology is too large to be [simulated](Self::holds), which a scenario's check refuses.
    #[must_use]
    pub fn new(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        let (vertices, topology_nodes) = (topology.vertices(), topology.nodes());
        let mut fabric = Fabric::new(&machine.network, topology, Onward::BySoftware, streams);
        let (nodes, cores) = (topology_nodes, machine.nodes.cores());
        let processors = processors(vertices, nodes, cores).expect("check limits the size of machines");
        let first =
            FirstEntities::after(fabric.entities(), processors, owners).expect("check limits the size of machines");
        let hierarchy = Hierarchy::of(machine, nodes, first.hierarchy);
        Self {
            node: machine.nodes.clone(),
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            pace: Pace::of(machine, vertices, owners, streams),
            sends: machine.sends,
            // A rendezvous is acknowledged when a process receives, past the queue of the processor.
            // Neither do packets that come through what cores share, nor those of other cores.
            foresees: fabric.plain().is_some()
                && machine.sends != Sends::Rendezvous
                && cores == 1
                && hierarchy.is_none(),
            packet_bytes: machine.network.switching.packet_bytes(),
            calendar: Calendar::new(),
            fabric,
            passages: Vec::new(),
            hierarchy,
            cores,
            vertices,
            processors: Dispatcher::new(
                processors,
                Turns { router: machine.nodes.router_turn, time_slice: machine.nodes.time_slice },
                first.processor,
                first.alarm,
            ),
            messages: Vec::new(),
            vacant: Vec::new(),
            happenings: VecDeque::new(),
            counts: Counts::default(),
            first,
            last: (SimTime::START, 0),
        }
    }

    /// Whether `owners` processes on the topology are few enough, whatever the switching: events are
    /// numbered in 32 bits.
    #[must_use]
    pub fn holds(machine: &Machine, topology: &Topology, owners: u32) -> bool {
        let processors = processors(topology.vertices(), topology.nodes(), machine.nodes.cores());
        let links = Fabric::most_entities(topology);
        let first = links.zip(processors).and_then(|(links, count)| FirstEntities::after(links, count, owners));
        // What passes through shared servers has events of its own, several for each process.
        let shared = Hierarchy::count(machine, topology.nodes()) + 4 * u64::from(owners);
        first.is_some_and(|first| Entity::try_from(u64::from(first.hierarchy) + shared).is_ok())
    }

    /// Starts a computation on a node; `Computed` tells its end. An owner has one at a time.
    ///
    /// # Errors
    /// If the processor cannot compute such a row.
    pub fn compute(&mut self, now: SimTime, seat: Seat, owner: u32, work: Work) -> Result<(), KernelError> {
        let row = self.stopwatch.row_time(work)?;
        self.occupy(now, seat, owner, (row, work.passes()));
        Ok(())
    }

    /// Starts a computation of a share of some floating-point operations; else as [`compute`](Self::compute).
    ///
    /// # Errors
    /// If the processor cannot compute them.
    pub fn operate(&mut self, now: SimTime, seat: Seat, owner: u32, operations: f64) -> Result<(), KernelError> {
        let time = self.stopwatch.operations_time(operations)?;
        self.occupy(now, seat, owner, (time, 1));
        Ok(())
    }

    fn occupy(&mut self, now: SimTime, seat: Seat, owner: u32, (mut row, passes): (SimDuration, u64)) {
        if let Some(pace) = &mut self.pace {
            row = pace.row(seat.node, owner, row);
        }
        let processor = self.processor(seat);
        self.processors.compute(&mut self.calendar, now, processor, owner, (row, passes));
    }

    /// Sets the timer of an owner; `TimeUp` tells when `span` is over. An owner has one at a time.
    pub fn wait(&mut self, now: SimTime, owner: u32, span: SimDuration) {
        self.calendar.schedule(now + span, self.first.timer + owner);
    }

    /// Begins to send `bytes` bytes; `Delivered` and `Sent` tell the rest, by `ticket`.
    ///
    /// # Panics
    /// If the message has more than 2^32 packets, which a scenario's check refuses.
    pub fn send(&mut self, now: SimTime, source: Seat, destination: Seat, bytes: u64, ticket: u32) {
        let packets =
            u32::try_from(bytes.div_ceil(self.packet_bytes).max(1)).expect("check limits the size of messages");
        let (from, to, cores) = (source.node, destination.node, (source.core, destination.core));
        let hops = self.fabric.hops(from, to);
        let message =
            Message { from, to, cores, hops, ticket, unprepared: bytes, missing: packets, uninjected: packets };
        let id = self.keep(message);
        self.counts.messages += 1;
        self.prepare(now, id);
        if self.sends == Sends::Buffered {
            self.happenings.push_back(Happening::Sent { ticket });
        }
    }

    /// A process has received a delivered message.
    pub fn accept(&mut self, now: SimTime, message: MessageId) {
        match self.sends {
            Sends::Rendezvous => self.acknowledge(now, message),
            Sends::UntilInjected | Sends::Buffered => self.vacant.push(message),
            Sends::UntilDelivered => {}
        }
    }

    /// Plays the next event; its time, or `None` if nothing is going to happen any more.
    pub fn step(&mut self) -> Option<SimTime> {
        let (now, entity) = self.calendar.pop()?;
        self.counts.events += 1;
        self.last = (now, entity);
        if entity < self.first.processor {
            self.move_packets(now, entity);
        } else if entity < self.first.alarm {
            self.finish_job(now, entity - self.first.processor);
        } else if entity < self.first.timer {
            let ended = self.processors.alarm(&mut self.calendar, now, entity - self.first.alarm);
            self.happenings.extend(ended.map(|owner| Happening::Computed { owner }));
        } else if entity < self.first.hierarchy {
            self.happenings.push_back(Happening::TimeUp { owner: entity - self.first.timer });
        } else {
            self.step_hierarchy(now, entity);
        }
        Some(now)
    }

    /// The time of the last event.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        self.last.0
    }

    /// The time that the processor of `seat` has worked for the communication up to `now`.
    #[must_use]
    pub fn system_time(&self, seat: Seat, now: SimTime) -> SimDuration {
        self.processors.served(self.processor(seat), now)
    }

    /// Ends the play: what was foreseen and has not happened is not counted.
    pub fn stop(&mut self) {
        let (last, first) = (self.last, self.first.processor);
        let Some(links) = self.fabric.plain().filter(|_| self.foresees) else { return };
        let withdrawn = u64::from(links.withdraw(last.0, |arrival, vertex| (arrival, first + vertex) <= last));
        self.counts.events -= withdrawn;
        self.counts.packet_hops -= withdrawn;
    }

    /// How much has been simulated. An event is the end of a transmission, a job, a computation or a
    /// timer, or an alarm of a processor, whether it was played by itself or foreseen.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// What every direction of a link has carried up to `now`.
    #[must_use]
    pub fn link_loads(&self, now: SimTime) -> Vec<LinkLoad> {
        let load = |(from, to, packets, busy)| LinkLoad { from, to, packets, busy };
        self.fabric.loads(now).into_iter().map(load).collect()
    }

    /// Which packets wait for which buffers, when nothing is going to happen any more.
    #[must_use]
    pub fn standstill(&self) -> Standstill {
        self.fabric.standstill()
    }

    fn keep(&mut self, message: Message) -> MessageId {
        if let Some(id) = self.vacant.pop() {
            self.messages[id as usize] = message;
            return id;
        }
        self.messages.push(message);
        u32::try_from(self.messages.len() - 1).expect("fewer than four thousand million messages at once")
    }

    /// Has the source's processor prepare the next packet of `id`.
    fn prepare(&mut self, now: SimTime, id: MessageId) {
        let message = &mut self.messages[id as usize];
        let bytes = message.unprepared.min(self.packet_bytes);
        message.unprepared -= bytes;
        let service = self.node.sending.time(bytes, message.hops);
        let bytes = u32::try_from(bytes).expect("check limits the size of packets");
        let (seat, job) = (message.source(), Job::Prepare { message: id, bytes });
        self.serve(now, seat, job, service, Urgency::AtOnce);
    }

    fn prepare_if_any_left(&mut self, now: SimTime, id: MessageId) {
        if self.messages[id as usize].unprepared > 0 {
            self.prepare(now, id);
        }
    }

    fn finish_job(&mut self, now: SimTime, node: u32) {
        match self.processors.depart(&mut self.calendar, node) {
            Job::Prepare { message, bytes } => self.inject(now, message, bytes),
            Job::PassOn(packet) => self.forward(now, node, packet),
            Job::TakeIn(packet) => {
                self.fabric.release(&mut self.calendar, now, packet);
                match packet.kind {
                    PacketKind::Data => self.take_in(now, packet.message),
                    PacketKind::Acknowledge => self.complete(packet.message),
                }
            }
        }
    }

    /// A packet is prepared: its first link gets it, or the same node takes it in.
    fn inject(&mut self, now: SimTime, id: MessageId, bytes: u32) {
        let Message { from, to, .. } = self.messages[id as usize];
        let packet = Packet::new(id, to, bytes, PacketKind::Data);
        if from != to && self.node.sending.overlap {
            self.prepare_if_any_left(now, id);
        }
        if self.hierarchy.is_some() {
            self.enter_hierarchy(now, packet);
        } else {
            self.admit(now, packet);
        }
    }

    /// A packet has come through all that the cores of its source share.
    fn admit(&mut self, now: SimTime, packet: Packet) {
        let Message { from, to, .. } = self.messages[packet.message as usize];
        if from == to {
            self.injected(now, packet.message);
            self.arrive(now, to, packet);
        } else {
            self.forward(now, from, packet);
        }
    }

    fn forward(&mut self, time: SimTime, at: u32, packet: Packet) {
        self.counts.packet_hops += 1;
        self.fabric.send(&mut self.calendar, time, at, packet);
    }

    fn move_packets(&mut self, now: SimTime, entity: Entity) {
        if let Some(links) = self.fabric.plain() {
            let (packet, from, at) = links.depart(&mut self.calendar, entity);
            self.leave(now, packet, from);
            self.access_memory(at, &packet);
            self.arrive(now, at, packet);
            return;
        }
        let mut passages = std::mem::take(&mut self.passages);
        self.fabric.step(&mut self.calendar, now, entity, &mut passages);
        for passage in passages.drain(..) {
            match passage {
                Passage::Left { packet, from } => self.leave(now, packet, from),
                Passage::Arrived { packet, at } => {
                    self.access_memory(at, &packet);
                    self.arrive(now, at, packet);
                }
            }
        }
        self.passages = passages;
    }

    /// A link has moved a packet between its buffer and the memory of `node`.
    ///
    /// The cycles are taken when the transfer ends: a computation that ends before is not delayed by it,
    /// one that has begun during it is by all of it.
    fn access_memory(&mut self, node: u32, packet: &Packet) {
        if self.node.dma_per_word > SimDuration::ZERO {
            let words = u64::from(packet.bytes).div_ceil(WORD_BYTES);
            self.processors.steal(&mut self.calendar, node, self.node.dma_per_word * words);
        }
    }

    fn leave(&mut self, now: SimTime, packet: Packet, from: u32) {
        self.access_memory(from, &packet);
        if packet.kind == PacketKind::Data && from == self.messages[packet.message as usize].from {
            self.injected(now, packet.message);
        }
    }

    /// A packet has left its source: without overlap this is when the next one is prepared.
    fn injected(&mut self, now: SimTime, id: MessageId) {
        let message = &mut self.messages[id as usize];
        message.uninjected -= 1;
        let ticket = message.ticket;
        if message.uninjected == 0 && self.sends == Sends::UntilInjected {
            self.happenings.push_back(Happening::Sent { ticket });
        }
        if message_on_one_node(message) || !self.node.sending.overlap {
            self.prepare_if_any_left(now, id);
        }
    }

    /// A packet has come to `node`, whose processor now deals with it.
    fn arrive(&mut self, now: SimTime, node: u32, packet: Packet) {
        let here = packet.to == node;
        let service = match packet.kind {
            PacketKind::Acknowledge => self.node.acknowledging.per_hop,
            PacketKind::Data if here => {
                self.node.routing.per_packet + self.node.receiving.time(u64::from(packet.bytes))
            }
            PacketKind::Data => self.node.routing.per_packet,
        };
        if here {
            let core = match packet.kind {
                PacketKind::Data => self.messages[packet.message as usize].cores.1,
                PacketKind::Acknowledge => self.messages[packet.message as usize].cores.0,
            };
            self.serve(now, Seat { node, core }, Job::TakeIn(packet), service, Urgency::AtOnce);
        } else if let Some(departure) = self.foresee(now, node, packet, service) {
            self.counts.events += 1;
            self.forward(departure, node, packet);
        } else {
            self.serve(now, Seat { node, core: 0 }, Job::PassOn(packet), service, Urgency::RouterTurn);
        }
    }

    /// When the processor will have passed a packet on, if that is certain already: then nothing has to
    /// happen between the packet's coming to the node and its leaving over the next link.
    ///
    /// What takes no time is not foreseen: it would happen before other things of the same instant.
    fn foresee(&mut self, now: SimTime, node: u32, packet: Packet, service: SimDuration) -> Option<SimTime> {
        if !self.foresees || service == SimDuration::ZERO {
            return None;
        }
        let transmission = self.fabric.plain()?.transmission(packet.bytes);
        if transmission == SimDuration::ZERO {
            return None;
        }
        let service = self.pace.as_ref().map_or(service, |pace| pace.service(node, service));
        self.processors.pass(&mut self.calendar, now, node, service)
    }

    fn take_in(&mut self, now: SimTime, id: MessageId) {
        let message = &mut self.messages[id as usize];
        message.missing -= 1;
        if message.missing > 0 {
            return;
        }
        self.happenings.push_back(Happening::Delivered { message: id, ticket: message.ticket });
        if self.sends == Sends::UntilDelivered {
            self.acknowledge(now, id);
        }
    }

    fn acknowledge(&mut self, now: SimTime, id: MessageId) {
        let Message { from, to, .. } = self.messages[id as usize];
        if from == to {
            self.complete(id);
            return;
        }
        let bytes = u32::try_from(self.node.acknowledging.bytes.count()).expect("check limits the size of packets");
        self.forward(now, to, Packet::new(id, from, bytes, PacketKind::Acknowledge));
    }

    fn complete(&mut self, id: MessageId) {
        self.happenings.push_back(Happening::Sent { ticket: self.messages[id as usize].ticket });
        self.vacant.push(id);
    }

    fn serve(&mut self, now: SimTime, seat: Seat, job: Job, service: SimDuration, urgency: Urgency) {
        let service = self.pace.as_ref().map_or(service, |pace| pace.service(seat.node, service));
        let processor = self.processor(seat);
        self.processors.serve(&mut self.calendar, now, processor, (job, service), urgency);
    }
}

impl Message {
    const fn source(&self) -> Seat {
        Seat { node: self.from, core: self.cores.0 }
    }

    const fn destination(&self) -> Seat {
        Seat { node: self.to, core: self.cores.1 }
    }
}

const fn message_on_one_node(message: &Message) -> bool {
    message.from == message.to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Module, Processor};
    use crate::units::PerByte;

    const BYTES: u64 = 120;
    const CENTRE: u32 = 4;

    /// A 3 × 3 mesh whose software costs nothing, whose links need 1 us for a byte and 200 ns of memory
    /// for a word, and whose nodes compute rows of 1 us.
    fn machine() -> Machine {
        let us = SimDuration::from_us;
        let mut machine = Machine::load("scenarios/machines/parsytec-supercluster-t800.ron").expect("a sound machine");
        let nodes = &mut machine.nodes;
        nodes.sending = crate::node::Sending {
            per_packet: SimDuration::ZERO,
            per_byte: PerByte::FREE,
            per_hop: SimDuration::ZERO,
            overlap: false,
        };
        nodes.receiving = crate::node::Receiving { per_packet: SimDuration::ZERO, per_byte: PerByte::FREE };
        nodes.routing.per_packet = SimDuration::ZERO;
        nodes.dma_per_word = us(1).ratio(1, 5);
        machine.network.links.per_byte = Some(PerByte::new(us(1)));
        machine.sends = Sends::UntilInjected;
        let Processor::Calibrated(times) = &mut machine.nodes.processor else { unreachable!("it is calibrated") };
        times.rsub = us(1);
        machine
    }

    /// When a computation of 10 ms on the central node ends while so many directions of its links are busy.
    fn end_with(directions: u32) -> SimTime {
        let machine = machine();
        let mesh = Topology::Mesh2d { rows: 3, columns: 3 };
        let mut transport = Transport::new(&machine, mesh, 9, Streams::new(1));
        let neighbours = [1, 3, 5, 7];
        let now = SimTime::START;
        let seat = |node| Seat { node, core: 0 };
        transport.compute(now, seat(CENTRE), CENTRE, Work::new(Module::Rsub, 10_000)).expect("a sound processor");
        for direction in 0..directions {
            let neighbour = neighbours[direction as usize / 2];
            let (from, to) = if direction % 2 == 0 { (neighbour, CENTRE) } else { (CENTRE, neighbour) };
            transport.send(now, seat(from), seat(to), 1000 * BYTES, direction);
        }
        while let Some(now) = transport.step() {
            if transport.happenings.contains(&Happening::Computed { owner: CENTRE }) {
                return now;
            }
        }
        unreachable!("the computation ends")
    }

    #[test]
    fn every_busy_direction_of_a_link_takes_its_share_of_the_memory() {
        // A packet of 30 words takes 6 us of memory in its 120 us on the wire: a twentieth.
        let alone = end_with(0).since(SimTime::START).seconds();
        assert!((alone - 0.01).abs() < 1e-12);
        for directions in 1..=8 {
            let end = end_with(directions).since(SimTime::START).seconds();
            let expected = alone / (1.0 - 0.05 * f64::from(directions));
            // Up to a packet of each direction is on its way when the computation ends.
            let last_packets = 6e-6 * f64::from(directions) * expected / alone;
            assert!((end - expected).abs() <= last_packets, "{directions}: {end} instead of {expected}");
        }
    }
}
