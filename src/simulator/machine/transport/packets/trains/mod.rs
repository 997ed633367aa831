//! Trains: packets of one message that follow each other at equal distances cross stations in one step.
//!
//! A train is admitted to a vertex as soon as its first packet comes there, or ahead of that, as a *admission*: a bet
//! that nothing else happens at the vertex before its last packet has come. The processor and the link behind it then
//! serve the whole train by a closed form ([`Runs`]), and it goes on to the next vertex. Whatever does happen at a
//! vertex before that *settles* it first: packets that have not come yet are withdrawn from there on, on all of
//! their way, and come when they come. So every vertex is at any time in the state in which single packets would have
//! brought it, and times, orders and counts are the same.
//!
//! The conditions: routers are software, links are plain stations, nothing but the processor of a vertex gives packets to its links (no
//! rendezvous), no job is free of charge, and the memory does not pay for transfers. Where they do not hold every packet
//! has its own events. Arrivals at the same instant come in the order of the keys that their events would have.

use super::software::{passing_on, taking_in};
use super::{Job, MessageId, MessageState, PacketTransport};
use crate::engine::{Calendar, Entity, EvenInstants, Lists, Runs, StationState, Timers};
use crate::machine::speed_profile::SpeedProfile;
use crate::machine::{Completion, Machine, Sends};
use crate::network::{Link, Network, Packet, PacketCourse, PacketKind, Routes, Topology, TransferChannel, Transfers};
use crate::node::{Dispatcher, Node, Router};
use crate::trace::{Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
use admissions::Passages;
use std::collections::VecDeque;

mod admissions;
mod advance;
mod withdraw;

/// Link number of admissions that begin or end at their vertex.
const NO_LINK: u32 = u32::MAX;

/// All links at work, and the trains on them.
pub(super) struct Trains {
    topology: Topology,
    routes: Routes,
    ports: u32,
    link: Link,
    tracks: Vec<Track>,
    /// By link: what comes out of it and has not been admitted where it leads.
    coming: Lists<Coming>,
    /// By vertex: what has been admitted and may have to be withdrawn, the last to arrive on top.
    admissions: Passages,
    /// Trains that have been given to a link and perhaps are admitted ahead: those of one link in their order.
    ahead: VecDeque<MovingTrain>,
    /// The last transmission time: packets are mostly of the same length.
    last_time: (u32, SimDuration),
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

/// Whether a train may be admitted ahead of its events.
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

/// A train that comes out of a link, or begins its way at a vertex.
#[derive(Clone, Copy)]
struct MovingTrain {
    link: u32,
    /// Entity of the arrival of the first packet: that of the link, or, if the transmission takes no time, that of the
    /// processor that has sent it.
    entity: Entity,
    train: Train,
}

/// Something that happens at the end of a transmission.
#[derive(Clone, Copy)]
struct Coming {
    train: Train,
    /// As that of a [`MovingTrain`].
    entity: Entity,
    /// Whether the train arrives at the other end.
    arrives: bool,
    /// Whether the departure of the first packet matters to its source.
    leaves: bool,
}

impl Coming {
    const fn key(&self) -> (SimTime, Entity) {
        (self.train.run.first, self.entity)
    }
}

impl Trains {
    /// The idle links of `topology`, if trains cross the machine as single packets do.
    pub(super) fn of(machine: &Machine, topology: &Topology, pace: Option<&SpeedProfile>) -> Option<Self> {
        let Machine { nodes, network, sends, .. } = machine;
        let takes_time = |service| match pace {
            None => service > SimDuration::ZERO,
            Some(pace) => (0..topology.vertices()).all(|node| pace.service(node, service) > SimDuration::ZERO),
        };
        let jobs = [nodes.sending.time(0, 0), nodes.routing.per_packet];
        let acknowledges = *sends == Sends::UntilDelivered;
        let possible = nodes.router == Router::Software
            && network.is_plain()
            && !sends.may_wait_for_receives()
            && nodes.dma_per_word == SimDuration::ZERO
            && jobs.into_iter().all(takes_time)
            && (!acknowledges || takes_time(nodes.acknowledging.per_hop))
            && network.links.time(1) > SimDuration::ZERO;
        possible.then(|| Self::new(network, topology.clone()))
    }

    fn new(network: &Network, topology: Topology) -> Self {
        let ports = topology.ports();
        let count = topology.vertices() * ports;
        let end = |link| topology.neighbour(link / ports, link % ports).map_or(NO_LINK, |(end, _)| end);
        let link = network.links.at_work();
        Self {
            ports,
            last_time: (0, link.time(0)),
            link,
            tracks: (0..count)
                .map(|link| Track { line: StationState::default(), carried: 0, end: end(link) })
                .collect(),
            coming: Lists::new(count),
            admissions: Passages::new(topology.vertices()),
            ahead: VecDeque::new(),
            transfers: None,
            routes: Routes::of(&topology),
            topology,
        }
    }

    /// Returns the number of entities that the links use.
    pub(super) fn entities(&self) -> Entity {
        self.topology.vertices() * self.ports
    }

    pub(super) fn hops(&self, from: u32, to: u32) -> u32 {
        self.topology.distance(from, to)
    }

    /// Returns the load of every direction of a link up to `now`, after which there are no links any more: the loads
    /// take their place in the memory.
    pub(super) fn take_loads(&mut self, now: SimTime) -> Vec<LinkLoad> {
        let load = |(link, track): (usize, Track)| {
            let from = u32::try_from(link).expect("links are numbered in 32 bits") / self.ports;
            let Track { line, carried, end: to } = track;
            (to != NO_LINK).then(|| LinkLoad { from, to, packets: carried, busy: line.served(now) })
        };
        std::mem::take(&mut self.tracks).into_iter().enumerate().filter_map(load).collect()
    }

    pub(super) fn record_transfers(&mut self) {
        let channel =
            |(link, track): (u32, &Track)| TransferChannel { from: link / self.ports, to: track.end, number: 0 };
        let channels = (0..).zip(&self.tracks).map(channel);
        self.transfers = Some(Box::new(Transfers::new(channels)));
    }

    pub(super) fn transfers(&mut self) -> Option<&mut Transfers> {
        self.transfers.as_deref_mut()
    }

    /// Returns whether anything is still on a link at `now`.
    pub(super) fn are_under_way(&self, now: SimTime) -> bool {
        !self.coming.are_empty() || self.tracks.iter().any(|track| track.line.free() > now)
    }

    /// The time for which a packet holds a link.
    fn transmission(&mut self, bytes: u32) -> SimDuration {
        if self.last_time.0 != bytes {
            self.last_time = (bytes, self.link.time(u64::from(bytes)));
        }
        self.last_time.1
    }
}

/// The parts of a [`Transport`] that trains move through.
pub(super) struct Play<'t> {
    pub(super) trains: &'t mut Trains,
    pub(super) node: &'t Node,
    pub(super) pace: Option<&'t SpeedProfile>,
    pub(super) sends: Sends,
    pub(super) packet_bytes: u64,
    pub(super) calendar: &'t mut Calendar,
    pub(super) processors: &'t mut Dispatcher<Job>,
    pub(super) job_timers: &'t mut Timers<Job>,
    pub(super) messages: &'t mut [MessageState],
    pub(super) vacant: &'t mut Vec<MessageId>,
    pub(super) completions: &'t mut VecDeque<Completion>,
    pub(super) counts: &'t mut Counts,
    pub(super) first_processor: Entity,
    /// The key of the event that is run.
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
            sends: self.sends,
            packet_bytes: self.packet_bytes,
            calendar: &mut self.calendar,
            processors: &mut self.processors,
            job_timers: &mut self.job_timers,
            messages: &mut self.messages,
            vacant: &mut self.vacant,
            completions: &mut self.completions,
            counts: &mut self.counts,
            first_processor: self.first.processor,
            key: self.key,
        })
    }
}

impl Play<'_> {
    fn acknowledge(&self, id: MessageId) -> Packet {
        self.messages[id as usize].acknowledge(id, self.node)
    }

    /// Returns the job of the processor of `vertex` for a packet that has come to it, and its time.
    fn job(&self, vertex: u32, packet: Packet) -> (Job, SimDuration) {
        if packet.to != vertex {
            return (Job::PassOn(packet), self.passing_on(vertex, packet.kind));
        }
        (Job::TakeIn(packet), self.service(vertex, taking_in(self.node, &packet)))
    }

    /// Returns the cost for the processor of `vertex` of a packet that is passed on.
    #[inline]
    fn passing_on(&self, vertex: u32, kind: PacketKind) -> SimDuration {
        self.service(vertex, passing_on(self.node, kind))
    }

    #[inline]
    fn service(&self, node: u32, service: SimDuration) -> SimDuration {
        self.pace.map_or(service, |pace| pace.service(node, service))
    }

    /// The link by which a packet leaves `vertex`, and for how long it holds it.
    #[inline]
    fn way(&mut self, vertex: u32, packet: &Packet, course: &mut PacketCourse) -> (u32, SimDuration) {
        let port = course.leave(vertex, packet.to, &self.trains.routes);
        (vertex * self.trains.ports + port, self.trains.transmission(packet.bytes))
    }

    /// Gives packets to a link as they depart from its processor; when they come out of it.
    #[inline]
    fn transmit(&mut self, out: u32, packet: &Packet, departures: &Runs, transmission: SimDuration) -> Runs {
        let count = departures.count();
        self.counts.packet_hops += u64::from(count);
        self.counts.events += u64::from(count);
        let track = &mut self.trains.tracks[out as usize];
        track.carried += count;
        if self.trains.transfers.is_some() {
            let mut line = track.line;
            let ends = departures.through(&mut line, transmission);
            self.record_transfer(out, packet, ends.as_slice(), transmission);
        }
        departures.through(&mut self.trains.tracks[out as usize].line, transmission)
    }

    /// Tells what a link carries, if it is recorded.
    fn record_transfer(&mut self, link: u32, packet: &Packet, ends: &[EvenInstants], transmission: SimDuration) {
        if let Some(transfers) = &mut self.trains.transfers {
            transfers.give(self.key.0, link, packet, ends.iter().copied(), transmission);
        }
    }

    /// Returns the entity of the event at which a packet that leaves the processor of `vertex` at `departure` comes
    /// out of `link`: a packet that neither waits nor takes time comes out when the processor has sent it.
    #[inline]
    fn exit(&self, vertex: u32, link: u32, departure: SimTime, transmission: SimDuration) -> Entity {
        let is_free = self.trains.tracks[link as usize].line.free() <= departure;
        if transmission == SimDuration::ZERO && is_free { self.first_processor + vertex } else { link }
    }
}
