//! Trains: evenly spaced packets of one message that pass stations in one step.
//!
//! A train is admitted to a place when its first packet arrives there, or earlier, as a *speculative admission*: on the
//! assumption that no other event concerns the place before the last packet of the train arrives. The stations of the
//! place then serve the whole train with a closed form ([`Runs`]), and the train advances to the next place. Any other
//! event at a place *settles* the place first: packets that have not arrived yet are withdrawn there and on all of
//! their further path, and are admitted again when they arrive. At any time, every place is therefore in the state in
//! which single packets would have left it, and times, orders and counts are the same.
//!
//! A place is a resource for which packets queue together ([`places`]): usually a vertex, whose processor is the only
//! one that hands packets to its links. The effect of a link on a train is given by the [times](PacketTimes) of its
//! packets: they leave the link at intervals of its occupancy, and arrive a constant time after they have started on
//! it, whatever its latency and switching.
//!
//! Trains are used only if links delay a packet because of earlier packets alone, every job takes time, and the memory
//! is not charged for transfers. Otherwise every packet has its own events. Simultaneous arrivals are ordered by the
//! keys that their events would have.

use super::software::{forwarding_time, receiving_time};
use super::{Job, MessageId, PacketTransport, PacketizedMessage};
use crate::engine::{Calendar, Entity, EvenInstants, Lists, Runs, Slab, StationState, Timers};
use crate::machine::speed_profile::SpeedProfile;
use crate::machine::{Completion, Machine};
use crate::network::{LinkModels, Packet, PacketCourse, PacketTimes, Routes, Topology, TransferChannel, Transfers};
use crate::node::{Dispatcher, Node, Router};
use crate::trace::{Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
use admissions::AdmissionStacks;
use buffers::FiniteBuffers;
use places::{NO_LINK, Places};
use std::collections::VecDeque;

mod admissions;
mod advance;
mod buffers;
mod convoys;
mod injection;
mod passing;
mod passing_places;
mod places;
mod routers;
mod withdraw;

/// The state of all links during a run, and the trains on them.
pub(super) struct Trains {
    topology: Topology,
    routes: Routes,
    models: LinkModels,
    places: Places,
    tracks: Vec<Track>,
    /// The number of events of a packet on a link: one for its end, or two if its departure and its arrival are
    /// separate.
    link_events: u32,
    /// For each way, the arrivals by their own events, which have not been admitted to the place at its end.
    pending_arrivals: Lists<PendingArrival>,
    /// For each link, the departures of packets that their source waits for.
    pending_departures: Lists<PendingDeparture>,
    /// For each place, the admissions that may have to be withdrawn, with the last to arrive on top.
    admissions: AdmissionStacks,
    /// For each vertex, the number of upcoming messages whose last packet is not speculated, because an earlier
    /// speculation failed.
    not_speculated: Vec<u8>,
    /// The occupancy of finite buffers; `None` if no link has one.
    buffers: Option<Box<FiniteBuffers>>,
    /// The trains that have been handed to a link and may be admitted ahead; those of one link are in order.
    ahead: VecDeque<MovingTrain>,
    /// The transfers over the links, if they are recorded.
    transfers: Option<Box<Transfers>>,
    /// The number of events of packets that have been run.
    pub(super) steps: u64,
}

/// One direction of a link.
#[derive(Clone, Copy)]
struct Track {
    line: StationState,
    carried: u64,
    /// The vertex at the end of the link.
    end: u32,
}

/// Packets of one message and of equal length, with their arrivals at a vertex.
#[derive(Clone, Copy)]
struct Train {
    run: EvenInstants,
    packet: Packet,
    course: PacketCourse,
    limit: SpeculationLimit,
}

/// The extent to which a train may be admitted ahead of its events.
// As wide as its neighbours in a train, because copies often follow directly after writes.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum SpeculationLimit {
    /// At every further place.
    Ahead,
    /// Not before it has left its link, on which it waits behind others that may be withdrawn.
    AfterLink,
    /// Never: it has been withdrawn before, and is admitted when it arrives.
    Never,
}

impl SpeculationLimit {
    /// Returns the same extent, but not before the train has left its link.
    const fn after_link(self) -> Self {
        match self {
            Self::Ahead | Self::AfterLink => Self::AfterLink,
            Self::Never => Self::Never,
        }
    }
}

impl Train {
    /// Creates a train at the start of its path.
    const fn new(run: EvenInstants, packet: Packet) -> Self {
        Self { run, packet, course: PacketCourse::UNKNOWN, limit: SpeculationLimit::Ahead }
    }
}

/// A train that arrives by a way, or starts at a vertex.
#[derive(Clone, Copy)]
struct MovingTrain {
    link: u32,
    /// The entity of the arrival of the first packet: the entity of the link or, if the transmission takes no time,
    /// that of the processor that has sent the packet.
    entity: Entity,
    train: Train,
}

/// A train that arrives by its own events.
#[derive(Clone, Copy)]
struct PendingArrival {
    train: Train,
    /// The entity of the arrival, as in [`MovingTrain`].
    entity: Entity,
}

impl PendingArrival {
    const fn key(&self) -> (SimTime, Entity) {
        (self.train.run.first, self.entity)
    }
}

/// The end of a transmission that the source of the packet waits for.
#[derive(Clone, Copy)]
struct PendingDeparture {
    time: SimTime,
    entity: Entity,
    message: MessageId,
}

impl PendingDeparture {
    const fn key(&self) -> (SimTime, Entity) {
        (self.time, self.entity)
    }
}

impl Trains {
    /// Creates the idle links of `topology`, if trains have the same results as single packets on this machine.
    pub(super) fn of(machine: &Machine, topology: &Topology, pace: Option<&SpeedProfile>) -> Option<Self> {
        let Machine { nodes, network, sends, .. } = machine;
        Self::are_possible(machine, topology, pace).then(|| {
            let models = LinkModels::of(network, topology);
            let shares_links = nodes.router == Router::Hardware || sends.may_wait_for_receives();
            let places = Places::of(topology, nodes.router, shares_links, network.arrives_on_departure());
            Self::new(topology.clone(), models, places)
        })
    }

    /// Returns whether trains have the same results as single packets.
    pub(super) fn are_possible(machine: &Machine, topology: &Topology, pace: Option<&SpeedProfile>) -> bool {
        let Machine { nodes, network, sends, .. } = machine;
        // A packet that has passed the processor of a vertex and waits for its router occupies a buffer of a link that
        // is no longer recorded.
        let knows_links = nodes.router == Router::Hardware || !sends.may_wait_for_receives();
        let takes_time = |service| match pace {
            None => service > SimDuration::ZERO,
            Some(pace) => (0..topology.vertices()).all(|node| pace.service(node, service) > SimDuration::ZERO),
        };
        let models = LinkModels::of(network, topology);
        network.has_independent_links(topology)
            && (knows_links || !network.has_finite_buffers())
            && nodes.dma_per_word == SimDuration::ZERO
            && nodes.detours.is_empty()
            && shortest_jobs(nodes, sends.may_acknowledge()).all(takes_time)
            // On a link that is crossed in no time, packets that have waited for it and packets that have not arrive by
            // the events of different entities, which a train cannot tell apart.
            && models.take_time()
    }

    fn new(topology: Topology, models: LinkModels, places: Places) -> Self {
        let end = |link| places.neighbour(&topology, link).unwrap_or(NO_LINK);
        let track = |link| Track { line: StationState::default(), carried: 0, end: end(link) };
        let buffers = FiniteBuffers::of(&topology, &places, &models);
        Self {
            models,
            buffers,
            tracks: (0..places.links()).map(track).collect(),
            link_events: places.link_events(),
            pending_arrivals: Lists::new(places.ways()),
            pending_departures: Lists::new(places.links()),
            not_speculated: vec![0; topology.vertices() as usize],
            admissions: AdmissionStacks::new(places.count()),
            places,
            ahead: VecDeque::new(),
            transfers: None,
            steps: 0,
            routes: Routes::of(&topology),
            topology,
        }
    }

    /// Returns the number of entities that the links use.
    pub(super) fn entities(&self) -> Entity {
        self.places.links() * self.link_events
    }

    pub(super) fn hops(&self, from: u32, to: u32) -> u32 {
        self.topology.distance(from, to)
    }

    /// Returns the load of every direction of a link up to `now`, and discards the links, so that the loads can take
    /// their place in memory.
    pub(super) fn take_loads(&mut self, now: SimTime) -> Vec<LinkLoad> {
        let load = |(link, track): (usize, Track)| {
            let from = self.places.start(u32::try_from(link).expect("links are numbered in 32 bits"));
            let Track { line, carried, end: to } = track;
            (to != NO_LINK).then(|| LinkLoad { from, to, packets: carried, busy: line.served(now) })
        };
        std::mem::take(&mut self.tracks).into_iter().enumerate().filter_map(load).collect()
    }

    /// Returns the link by which a packet leaves `vertex`, and the times of the packet on it.
    #[inline]
    fn next_link(&mut self, vertex: u32, packet: &Packet, course: &mut PacketCourse) -> (u32, PacketTimes) {
        let port = course.leave(vertex, packet.to, &self.routes);
        let link = self.places.link(vertex, port);
        (link, self.models.times(link, packet.bytes))
    }

    /// Returns whether the event with this key is the next departure from `link` that a source waits for.
    #[inline]
    fn is_next_departure_by(&self, link: u32, key: (SimTime, Entity)) -> bool {
        self.pending_departures.front(link).is_some_and(|departure| departure.key() == key)
    }

    /// Returns whether the event with this key is the next arrival by `way`.
    #[inline]
    fn is_next_arrival_by(&self, way: u32, key: (SimTime, Entity)) -> bool {
        self.pending_arrivals.front(way).is_some_and(|arrival| arrival.key() == key)
    }

    pub(super) fn record_transfers(&mut self) {
        let channel =
            |(link, track): (u32, &Track)| TransferChannel { from: self.places.start(link), to: track.end, number: 0 };
        let channels = (0..).zip(&self.tracks).map(channel);
        self.transfers = Some(Box::new(Transfers::new(channels)));
    }

    pub(super) fn transfers(&mut self) -> Option<&mut Transfers> {
        self.transfers.as_deref_mut()
    }

    /// Returns whether a packet may have found no room in a buffer.
    #[inline]
    pub(super) fn are_short_of_room(&self) -> bool {
        self.buffers.as_ref().is_some_and(|buffers| buffers.are_short())
    }

    /// Forgets the admissions of `place`, all of which have arrived.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn clear(&mut self, place: u32) {
        if self.buffers.is_some() {
            self.count_arrivals(place);
        }
        self.admissions.clear(place);
    }

    /// Clears the admissions of `place` if all have arrived before `now`, and returns whether they have.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn clear_before(&mut self, place: u32, now: SimTime) -> bool {
        let have_arrived = self.admissions.have_arrived_before(place, now);
        if have_arrived {
            self.clear(place);
        }
        have_arrived
    }

    /// Returns whether anything is still on a link at `now`.
    pub(super) fn are_under_way(&self, now: SimTime) -> bool {
        !self.pending_arrivals.are_empty() || self.tracks.iter().any(|track| track.line.free() > now)
    }
}

/// Returns the longest stay of jobs that arrive in a run and leave from `first` to `last`. Stations serve the jobs in
/// order, so that their stays increase or decrease monotonically.
#[inline]
fn longest_stay(run: EvenInstants, (first, last): (SimTime, SimTime)) -> SimDuration {
    first.since(run.first).max(last.since(run.last()))
}

/// Returns the shortest jobs of each kind that processors do for packets. An acknowledgement that hardware has routed may
/// take no time: it ends a send, and no packet follows it.
fn shortest_jobs(node: &Node, acknowledges: bool) -> impl Iterator<Item = SimDuration> {
    let taking_in = node.routing.per_packet + node.receiving.time(0);
    let software_routes = node.router == Router::Software;
    let passing_on = software_routes.then_some(node.routing.per_packet);
    let acknowledging = (software_routes && acknowledges).then_some(node.acknowledging.per_hop);
    [node.sending.time(0, 0), taking_in].into_iter().chain(passing_on).chain(acknowledging)
}

/// The parts of a [`PacketTransport`] on which trains act, borrowed for one event.
pub(super) struct TrainContext<'t> {
    pub(super) trains: &'t mut Trains,
    pub(super) node: &'t Node,
    pub(super) pace: Option<&'t SpeedProfile>,
    pub(super) packet_bytes: u64,
    pub(super) calendar: &'t mut Calendar,
    pub(super) processors: &'t mut Dispatcher<Job>,
    pub(super) job_timers: &'t mut Timers<Job>,
    pub(super) messages: &'t mut Slab<PacketizedMessage>,
    pub(super) completions: &'t mut VecDeque<Completion>,
    pub(super) counts: &'t mut Counts,
    pub(super) first_processor: Entity,
    /// The latest key of an event that has been run.
    pub(super) key: (SimTime, Entity),
}

impl PacketTransport {
    /// Returns the parts on which trains act, if this machine moves packets in trains.
    pub(super) fn train_context(&mut self) -> Option<TrainContext<'_>> {
        let super::Carrier::Trains(trains) = &mut self.carrier else { return None };
        Some(TrainContext {
            trains,
            node: &self.node,
            pace: self.pace.as_deref(),
            packet_bytes: self.packet_bytes,
            calendar: &mut self.calendar,
            processors: &mut self.processors,
            job_timers: &mut self.job_timers,
            messages: &mut self.messages,
            completions: &mut self.completions,
            counts: &mut self.counts,
            first_processor: self.first.processor,
            key: self.key,
        })
    }
}

impl TrainContext<'_> {
    /// Returns the packet that acknowledges a message.
    fn acknowledge_packet(&self, id: MessageId) -> Packet {
        self.messages[id].acknowledge(id, self.node)
    }

    /// Returns the job of the processor of `vertex` for a packet that has arrived there, and its time.
    fn job(&self, vertex: u32, packet: Packet) -> (Job, SimDuration) {
        if packet.to != vertex {
            return (Job::Forward(packet), self.service(vertex, forwarding_time(self.node, packet.kind)));
        }
        (Job::Receive(packet), self.service(vertex, receiving_time(self.node, &packet)))
    }

    #[inline]
    fn service(&self, node: u32, service: SimDuration) -> SimDuration {
        self.pace.map_or(service, |pace| pace.service(node, service))
    }

    /// Hands packets to a link at their departures from the previous station. Returns their arrivals at its end.
    #[inline]
    fn transmit(&mut self, out: u32, packet: &Packet, departures: &Runs, times: PacketTimes) -> Runs {
        let count = departures.count();
        self.counts.packet_hops += u64::from(count);
        self.counts.events += u64::from(count) * u64::from(self.trains.link_events);
        let track = &mut self.trains.tracks[out as usize];
        track.carried += u64::from(count);
        let arrival = times.arrival(track.end == packet.to);
        if self.trains.transfers.is_some() {
            let mut line = track.line;
            let ends = departures.through(&mut line, times.occupancy);
            self.record_transfer(out, packet, ends.as_slice(), times.occupancy);
        }
        let ends = departures.through(&mut self.trains.tracks[out as usize].line, times.occupancy);
        if arrival == times.occupancy { ends } else { ends.moved(times.occupancy, arrival) }
    }

    /// Returns the longest time that a packet of a run stays at a vertex before it has left by `out`, if buffers are
    /// finite.
    #[inline]
    fn stay(&self, run: EvenInstants, (out, times): (u32, PacketTimes), to: u32, arrivals: &Runs) -> SimDuration {
        if self.trains.buffers.is_none() {
            return SimDuration::ZERO;
        }
        longest_stay(run, self.left((out, times), to, arrivals))
    }

    /// Returns the times at which the first and the last of the packets that arrive at the end of a link have left the
    /// vertex at its start.
    fn left(&self, (out, times): (u32, PacketTimes), to: u32, arrivals: &Runs) -> (SimTime, SimTime) {
        let crossing = times.arrival(self.trains.tracks[out as usize].end == to);
        let left = |arrival: SimTime| arrival.before(crossing) + times.occupancy;
        (left(arrivals.first()), left(arrivals.last()))
    }

    /// Records the transfers over a link, if recording is on.
    fn record_transfer(&mut self, link: u32, packet: &Packet, ends: &[EvenInstants], transmission: SimDuration) {
        if let Some(transfers) = &mut self.trains.transfers {
            transfers.record(self.key.0, link, packet, ends, transmission);
        }
    }
}
