//! Trains: packets of one message that follow each other at equal distances cross stations in one step.
//!
//! A train is admitted to a place as soon as its first packet comes there, or ahead of that, as a *admission*: a bet
//! that nothing else happens at the place before its last packet has come. The stations of the place then
//! serve the whole train by a closed form ([`Runs`]), and it goes on to the next place. Whatever does happen at a
//! place before that *settles* it first: packets that have not come yet are withdrawn there and on all of
//! their way, and come when they come. So every place is at any time in the state in which single packets would have
//! brought it, and times, orders and counts are the same.
//!
//! A place is what packets queue for together ([`places`]): mostly a vertex, whose processor is the only one that gives
//! packets to its links. What a link makes of a train stands in the [times](PacketTimes) of its packets: they leave it at
//! distances of its occupancy, and arrive a constant after they have begun, whatever its latency and switching.
//!
//! The conditions: links delay a packet by nothing but the packets before it, no job is free of charge, and the memory
//! does not pay for transfers. Where they do not hold every packet has its own events. Arrivals at the same instant come
//! in the order of the keys that their events would have.

use super::software::{passing_on, taking_in};
use super::{Job, MessageId, PacketTransport, PacketizedMessage};
use crate::engine::{Calendar, Entity, EvenInstants, Lists, Runs, Slab, StationState, Timers};
use crate::machine::speed_profile::SpeedProfile;
use crate::machine::{Completion, Machine};
use crate::network::{LinkModels, Packet, PacketCourse, PacketTimes, Routes, Topology, TransferChannel, Transfers};
use crate::node::{Dispatcher, Node, Router};
use crate::trace::{Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
use admissions::Passages;
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

/// All links at work, and the trains on them.
pub(super) struct Trains {
    topology: Topology,
    routes: Routes,
    models: LinkModels,
    places: Places,
    tracks: Vec<Track>,
    /// Number of events of a packet on a link: its end alone, or its end at the beginning of the link and its arrival.
    link_events: u32,
    /// By way: what comes out of it and has not been admitted where it leads.
    coming: Lists<Coming>,
    /// By link: the departures of packets that their source waits for.
    leaving: Lists<Leaving>,
    /// By place: what has been admitted and may have to be withdrawn, the last to arrive on top.
    admissions: Passages,
    /// By vertex: the number of messages to come whose last packets are not foreseen, because one was in vain.
    unforeseen: Vec<u8>,
    /// Only where a link has a finite one.
    buffers: Option<Box<FiniteBuffers>>,
    /// Trains that have been given to a link and perhaps are admitted ahead: those of one link in their order.
    ahead: VecDeque<MovingTrain>,
    /// Transfers over the links, if they are recorded.
    transfers: Option<Box<Transfers>>,
}

/// One direction of a link.
#[derive(Clone, Copy)]
struct Track {
    line: StationState,
    carried: u32,
    /// The vertex that it leads to.
    end: u32,
}

/// Equal packets of one message, by their arrivals at a vertex.
#[derive(Clone, Copy)]
struct Train {
    run: EvenInstants,
    packet: Packet,
    course: PacketCourse,
    advance: Advance,
}

/// The extent to which a train may be admitted ahead of its events.
// As wide as its neighbours in a train, for the sake of copies that follow at once.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Advance {
    /// As far as it goes.
    Ahead,
    /// Not before it has come out of its link: it waits there for others, which may be withdrawn.
    AfterLink,
    /// It has been withdrawn before: from now on it is admitted when it comes.
    Never,
}

impl Advance {
    /// The same, but not before the train has come out of its link.
    const fn after_link(self) -> Self {
        match self {
            Self::Ahead | Self::AfterLink => Self::AfterLink,
            Self::Never => Self::Never,
        }
    }
}

impl Train {
    /// A train at the beginning of its way.
    const fn new(run: EvenInstants, packet: Packet) -> Self {
        Self { run, packet, course: PacketCourse::UNKNOWN, advance: Advance::Ahead }
    }
}

/// A train that comes by a way, or begins its way at a vertex.
#[derive(Clone, Copy)]
struct MovingTrain {
    link: u32,
    /// Entity of the arrival of the first packet: that of the link, or, if the transmission takes no time, that of the
    /// processor that has sent it.
    entity: Entity,
    train: Train,
}

/// A train that arrives by events of its own.
#[derive(Clone, Copy)]
struct Coming {
    train: Train,
    /// As that of a [`MovingTrain`].
    entity: Entity,
}

impl Coming {
    const fn key(&self) -> (SimTime, Entity) {
        (self.train.run.first, self.entity)
    }
}

/// The end of a transmission for which the source of the packet waits.
#[derive(Clone, Copy)]
struct Leaving {
    time: SimTime,
    entity: Entity,
    message: MessageId,
}

impl Leaving {
    const fn key(&self) -> (SimTime, Entity) {
        (self.time, self.entity)
    }
}

impl Trains {
    /// The idle links of `topology`, if trains cross the machine as single packets do.
    pub(super) fn of(machine: &Machine, topology: &Topology, pace: Option<&SpeedProfile>) -> Option<Self> {
        let Machine { nodes, network, sends, .. } = machine;
        Self::are_possible(machine, topology, pace).then(|| {
            let models = LinkModels::of(network, topology);
            let shares_links = nodes.router == Router::Hardware || sends.may_wait_for_receives();
            let places = Places::of(topology, nodes.router, shares_links, network.comes_as_it_leaves());
            Self::new(topology.clone(), models, places)
        })
    }

    /// Returns whether trains cross the machine as single packets do.
    pub(super) fn are_possible(machine: &Machine, topology: &Topology, pace: Option<&SpeedProfile>) -> bool {
        let Machine { nodes, network, sends, .. } = machine;
        // A packet that has passed the processor of a vertex and waits for its router has room behind a link that is not known any more.
        let knows_links = nodes.router == Router::Hardware || !sends.may_wait_for_receives();
        let takes_time = |service| match pace {
            None => service > SimDuration::ZERO,
            Some(pace) => (0..topology.vertices()).all(|node| pace.service(node, service) > SimDuration::ZERO),
        };
        network.has_independent_links(topology)
            && (knows_links || !network.has_finite_buffers())
            && nodes.dma_per_word == SimDuration::ZERO
            && shortest_jobs(nodes, sends.may_acknowledge()).all(takes_time)
            && LinkModels::of(network, topology).take_time()
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
            coming: Lists::new(places.ways()),
            leaving: Lists::new(places.links()),
            unforeseen: vec![0; topology.vertices() as usize],
            admissions: Passages::new(places.count()),
            places,
            ahead: VecDeque::new(),
            transfers: None,
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

    /// Returns the load of every direction of a link up to `now`, after which there are no links any more: the loads
    /// take their place in the memory.
    pub(super) fn take_loads(&mut self, now: SimTime) -> Vec<LinkLoad> {
        let load = |(link, track): (usize, Track)| {
            let from = self.places.start(u32::try_from(link).expect("links are numbered in 32 bits"));
            let Track { line, carried, end: to } = track;
            (to != NO_LINK).then(|| LinkLoad { from, to, packets: carried, busy: line.served(now) })
        };
        std::mem::take(&mut self.tracks).into_iter().enumerate().filter_map(load).collect()
    }

    /// The link by which a packet leaves `vertex`, and its times there.
    #[inline]
    fn way(&mut self, vertex: u32, packet: &Packet, course: &mut PacketCourse) -> (u32, PacketTimes) {
        let port = course.leave(vertex, packet.to, &self.routes);
        let link = self.places.link(vertex, port);
        (link, self.models.times(link, packet.bytes))
    }

    /// Returns whether the next departure from `link` that a source waits for is the event with this key.
    #[inline]
    fn leaves_by(&self, link: u32, key: (SimTime, Entity)) -> bool {
        self.leaving.front(link).is_some_and(|leaving| leaving.key() == key)
    }

    /// Returns whether the next arrival by `way` is the event with this key.
    #[inline]
    fn comes_by(&self, way: u32, key: (SimTime, Entity)) -> bool {
        self.coming.front(way).is_some_and(|coming| coming.key() == key)
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

    /// All admissions of `place` have come and need not be known any more.
    #[expect(clippy::inline_always, reason = "it is done for every hop")]
    #[inline(always)]
    fn clear(&mut self, place: u32) {
        if self.buffers.is_some() {
            self.fill_buffers(place);
        }
        self.admissions.clear(place);
    }

    /// Clears the admissions of `place` if all have come before `now`, and returns whether they have.
    #[expect(clippy::inline_always, reason = "it is asked for every hop")]
    #[inline(always)]
    fn clear_before(&mut self, place: u32, now: SimTime) -> bool {
        let have_come = self.admissions.have_come_before(place, now);
        if have_come {
            self.clear(place);
        }
        have_come
    }

    /// Returns whether anything is still on a link at `now`.
    pub(super) fn are_under_way(&self, now: SimTime) -> bool {
        !self.coming.are_empty() || self.tracks.iter().any(|track| track.line.free() > now)
    }
}

/// The longest time that jobs stay that come in a run and leave from `first` to `last`: stations serve them in order, so
/// that their stays become longer and longer, or shorter and shorter.
#[inline]
fn longest(run: EvenInstants, (first, last): (SimTime, SimTime)) -> SimDuration {
    first.since(run.first).max(last.since(run.last()))
}

/// The shortest jobs of each kind that processors do for packets.
fn shortest_jobs(node: &Node, acknowledges: bool) -> impl Iterator<Item = SimDuration> {
    let taking_in = node.routing.per_packet + node.receiving.time(0);
    let passing_on = (node.router == Router::Software).then_some(node.routing.per_packet);
    let acknowledging = acknowledges.then_some(node.acknowledging.per_hop);
    [node.sending.time(0, 0), taking_in].into_iter().chain(passing_on).chain(acknowledging)
}

/// The parts of a [`Transport`] that trains move through.
pub(super) struct Play<'t> {
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
    /// The trains, if the machine lets packets travel so.
    pub(super) fn play(&mut self) -> Option<Play<'_>> {
        let super::Carrier::Trains(trains) = &mut self.carrier else { return None };
        Some(Play {
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

impl Play<'_> {
    /// The packet that acknowledges a message.
    fn acknowledge_packet(&self, id: MessageId) -> Packet {
        self.messages[id].acknowledge(id, self.node)
    }

    /// Returns the job of the processor of `vertex` for a packet that has come to it, and its time.
    fn job(&self, vertex: u32, packet: Packet) -> (Job, SimDuration) {
        if packet.to != vertex {
            return (Job::PassOn(packet), self.service(vertex, passing_on(self.node, packet.kind)));
        }
        (Job::TakeIn(packet), self.service(vertex, taking_in(self.node, &packet)))
    }

    #[inline]
    fn service(&self, node: u32, service: SimDuration) -> SimDuration {
        self.pace.map_or(service, |pace| pace.service(node, service))
    }

    /// Gives packets to a link as they depart from where they were; when they come out of it.
    #[inline]
    fn transmit(&mut self, out: u32, packet: &Packet, departures: &Runs, times: PacketTimes) -> Runs {
        let count = departures.count();
        self.counts.packet_hops += u64::from(count);
        self.counts.events += u64::from(count * self.trains.link_events);
        let track = &mut self.trains.tracks[out as usize];
        track.carried += count;
        let arrival = times.arrival(track.end == packet.to);
        if self.trains.transfers.is_some() {
            let mut line = track.line;
            let ends = departures.through(&mut line, times.occupancy);
            self.record_transfer(out, packet, ends.as_slice(), times.occupancy);
        }
        let ends = departures.through(&mut self.trains.tracks[out as usize].line, times.occupancy);
        if arrival == times.occupancy { ends } else { ends.moved(times.occupancy, arrival) }
    }

    /// The longest time that a packet of a run stays at a vertex that it leaves by `out` so, if buffers are finite.
    #[inline]
    fn stay(&self, run: EvenInstants, (out, times): (u32, PacketTimes), to: u32, comings: &Runs) -> SimDuration {
        if self.trains.buffers.is_none() {
            return SimDuration::ZERO;
        }
        longest(run, self.left((out, times), to, comings))
    }

    /// Returns when the first and the last of packets that come out of a link so have left the vertex at which it begins.
    fn left(&self, (out, times): (u32, PacketTimes), to: u32, comings: &Runs) -> (SimTime, SimTime) {
        let crossing = times.arrival(self.trains.tracks[out as usize].end == to);
        let left = |coming: SimTime| coming.before(crossing) + times.occupancy;
        (left(comings.first()), left(comings.last()))
    }

    /// Tells what a link carries, if it is recorded.
    fn record_transfer(&mut self, link: u32, packet: &Packet, ends: &[EvenInstants], transmission: SimDuration) {
        if let Some(transfers) = &mut self.trains.transfers {
            transfers.give(self.key.0, link, packet, ends, transmission);
        }
    }
}
