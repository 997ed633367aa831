//! How a message crosses the machine: prepared packet by packet on the source's processor,
//! carried over links and passed on by the nodes between, taken in on the destination's processor.

use super::hierarchy::Hierarchy;
use super::pace::Pace;
use super::{Machine, Seat, Sends};
use crate::engine::{Appointments, Calendar, Entity, Runs, Streams};
use crate::network::{Fabric, Onward, Packet, PacketKind, Passage, Standstill, Topology};
use crate::node::processor::{KernelError, Stopwatch};
use crate::node::{Dispatcher, Node, Turns, Urgency, Work};
use crate::trace::events::EventId;
use crate::trace::{Counts, Service};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

mod carried;
mod cores;
mod software;
mod trains;

use cores::processors;
use trains::Trains;

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
    packet_bytes: u64,
    calendar: Calendar,
    carrier: Carrier,
    /// What packets have just come through; empty between events.
    passages: Vec<Passage>,
    processors: Dispatcher<Job>,
    /// Jobs whose end matters.
    told: Appointments<Job>,
    /// Jobs of the router that have just been let in; empty between events.
    let_in: Vec<(Job, Runs)>,
    /// Only where cores share something.
    hierarchy: Option<Box<Hierarchy>>,
    cores: u32,
    vertices: u32,
    messages: Vec<Message>,
    vacant: Vec<MessageId>,
    /// What has happened and has not been told yet.
    pub happenings: VecDeque<Happening>,
    counts: Counts,
    /// What a recording calls the cause of the next message.
    pub cause: EventId,
    /// What processors do for the communication; `None` unless it is asked for.
    services: Option<Vec<Service>>,
    first: FirstEntities,
    /// The latest key of an event that has been played.
    key: (SimTime, Entity),
}

/// What carries packets from node to node.
enum Carrier {
    /// One packet at a time.
    Packets(Fabric),
    /// As many at a time as nothing comes between.
    Trains(Box<Trains>),
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
    Prepare {
        message: MessageId,
        bytes: u32,
    },
    PassOn(Packet),
    TakeIn(Packet),
    /// The preparation of packets of a message that are on their way already: more are to be prepared.
    Continue(MessageId),
}

impl Transport {
    /// The idle machine, of which `topology` is in use, for `owners` processes.
    ///
    /// # Panics
    /// If the topology is too large to be [simulated](Self::holds), which a scenario's check refuses.
    #[must_use]
    pub fn new(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        let pace = Pace::of(machine, topology.vertices(), owners, streams);
        let trains = Trains::of(machine, &topology, pace.as_deref());
        match trains.filter(|_| machine.nodes.cores() == 1 && Hierarchy::of(machine, topology.nodes(), 0).is_none()) {
            Some(trains) => Self::with_carrier(machine, &topology, owners, pace, Carrier::Trains(Box::new(trains))),
            None => Self::packet_by_packet(machine, topology, owners, streams),
        }
    }

    /// The same machine, on which every packet has its own events at every station even where several could travel
    /// together: it takes longer to simulate, and gives the same times.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "as `new`, which keeps the topology")]
    pub fn packet_by_packet(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        let pace = Pace::of(machine, topology.vertices(), owners, streams);
        let fabric = Fabric::new(&machine.network, topology.clone(), Onward::BySoftware, streams);
        Self::with_carrier(machine, &topology, owners, pace, Carrier::Packets(fabric))
    }

    fn with_carrier(
        machine: &Machine,
        topology: &Topology,
        owners: u32,
        pace: Option<Box<Pace>>,
        carrier: Carrier,
    ) -> Self {
        let links = match &carrier {
            Carrier::Packets(fabric) => fabric.entities(),
            Carrier::Trains(trains) => trains.entities(),
        };
        let (vertices, nodes, cores) = (topology.vertices(), topology.nodes(), machine.nodes.cores());
        let processors = processors(vertices, nodes, cores).expect("check limits the size of machines");
        let first = FirstEntities::after(links, processors, owners).expect("check limits the size of machines");
        let turns = Turns { router: machine.nodes.router_turn, time_slice: machine.nodes.time_slice };
        Self {
            node: machine.nodes.clone(),
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            pace,
            sends: machine.sends,
            packet_bytes: machine.network.switching.packet_bytes(),
            calendar: Calendar::new(),
            carrier,
            passages: Vec::new(),
            hierarchy: Hierarchy::of(machine, nodes, first.hierarchy),
            cores,
            vertices,
            processors: Dispatcher::new(processors, turns, first.alarm),
            told: Appointments::new(processors, first.processor),
            let_in: Vec::new(),
            messages: Vec::new(),
            vacant: Vec::new(),
            happenings: VecDeque::new(),
            counts: Counts::default(),
            cause: 0,
            services: None,
            first,
            key: (SimTime::START, 0),
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
        self.settle(now, processor);
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
        let hops = match &self.carrier {
            Carrier::Packets(fabric) => fabric.hops(from, to),
            Carrier::Trains(trains) => trains.hops(from, to),
        };
        let message =
            Message { from, to, cores, hops, ticket, unprepared: bytes, missing: packets, uninjected: packets };
        let id = self.keep(message);
        self.counts.messages += 1;
        self.tell_cause(id);
        self.pass_by(now, 0);
        match self.play() {
            Some(mut play) => play.prepare(id),
            None => self.prepare(now, id),
        }
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
        self.pass_by(now, entity);
        if entity >= self.first.alarm {
            self.counts.events += 1;
            if entity < self.first.timer {
                self.hear_alarm(now, entity - self.first.alarm);
            } else if entity < self.first.hierarchy {
                self.happenings.push_back(Happening::TimeUp { owner: entity - self.first.timer });
            } else {
                self.step_hierarchy(now, entity);
            }
        } else if let Some(mut play) = self.play() {
            match entity.checked_sub(play.first_processor) {
                Some(node) => play.finish_job(node),
                None => play.come_out(entity),
            }
        } else {
            self.counts.events += 1;
            match entity.checked_sub(self.first.processor) {
                Some(processor) => self.finish_job(now, processor),
                None => self.move_packets(now, entity),
            }
        }
        Some(now)
    }

    /// The latest key of an event is that of one that is played now.
    fn pass_by(&mut self, now: SimTime, entity: Entity) {
        self.key = self.key.max((now, entity));
    }

    /// Something is going to happen on a processor: its state becomes that at `now`.
    fn settle(&mut self, now: SimTime, processor: u32) {
        self.pass_by(now, 0);
        if let Some(mut play) = self.play() {
            play.settle(processor);
        }
    }

    /// The alarm of a processor.
    fn hear_alarm(&mut self, now: SimTime, processor: u32) {
        self.settle(now, processor);
        let mut let_in = std::mem::take(&mut self.let_in);
        let ended = self.processors.alarm(&mut self.calendar, now, processor, &mut let_in);
        match self.play() {
            Some(mut play) => play.let_in(processor, let_in.drain(..)),
            None => {
                for (job, departures) in let_in.drain(..) {
                    self.add_departure(processor, departures.first(), job);
                }
            }
        }
        self.let_in = let_in;
        self.happenings.extend(ended.map(|owner| Happening::Computed { owner }));
    }

    /// The time of the last event.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        self.key.0
    }

    /// The time that the processor of `seat` has worked for the communication up to `now`.
    pub fn system_time(&mut self, seat: Seat, now: SimTime) -> SimDuration {
        let processor = self.processor(seat);
        self.settle(now, processor);
        self.processors.served(processor, now)
    }

    /// Ends the play after the last event. Whether anything was under way: then a play
    /// [packet by packet](Self::packet_by_packet) counts fewer events, packets and transmissions, because here those
    /// count that have been foreseen.
    pub fn stop(&mut self) -> bool {
        let (now, vertices) = (self.key.0, self.vertices);
        let Some(mut play) = self.play() else { return false };
        for vertex in 0..vertices {
            play.settle(vertex);
        }
        let is_busy = |processors: &Dispatcher<Job>| (0..vertices).any(|node| processors.is_busy(node, now));
        play.trains.are_under_way(now) || !play.told.is_empty() || is_busy(play.processors)
    }

    /// How much has been simulated. An event is the end of a transmission, a job, a computation or a
    /// timer, or an alarm of a processor, whether it was played by itself or foreseen.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Which packets wait for which buffers, when nothing is going to happen any more.
    #[must_use]
    pub fn standstill(&self) -> Standstill {
        match &self.carrier {
            Carrier::Packets(fabric) => fabric.standstill(),
            Carrier::Trains(_) => Standstill::default(),
        }
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

    fn finish_job(&mut self, now: SimTime, processor: u32) {
        match self.told.take(&mut self.calendar, processor, now).expect("a job has ended") {
            Job::Prepare { message, bytes } => self.inject(now, message, bytes),
            Job::PassOn(packet) => self.forward(now, processor, packet),
            Job::Continue(_) => unreachable!("packets are prepared one by one"),
            Job::TakeIn(packet) => {
                let (fabric, calendar) = self.fabric();
                fabric.release(calendar, now, packet);
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

    fn forward(&mut self, now: SimTime, at: u32, packet: Packet) {
        self.counts.packet_hops += 1;
        let (fabric, calendar) = self.fabric();
        fabric.send(calendar, now, at, packet);
    }

    /// What carries packets one at a time.
    fn fabric(&mut self) -> (&mut Fabric, &mut Calendar) {
        match &mut self.carrier {
            Carrier::Packets(fabric) => (fabric, &mut self.calendar),
            Carrier::Trains(_) => unreachable!("trains have events of their own"),
        }
    }

    fn move_packets(&mut self, now: SimTime, entity: Entity) {
        let mut passages = std::mem::take(&mut self.passages);
        let (fabric, calendar) = self.fabric();
        fabric.step(calendar, now, entity, &mut passages);
        for passage in &passages {
            let (packet, left, come) = passage.ends();
            if let Some(from) = left {
                self.leave(now, packet, from);
            }
            if let Some(at) = come {
                self.access_memory(at, &packet);
                self.arrive(now, at, packet);
            }
        }
        passages.clear();
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
        } else {
            self.serve(now, Seat { node, core: 0 }, Job::PassOn(packet), service, Urgency::RouterTurn);
        }
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
        let departure = self.processors.serve(&mut self.calendar, now, processor, (job, service), urgency);
        if let Some(departure) = departure {
            self.add_departure(processor, departure, job);
        }
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
