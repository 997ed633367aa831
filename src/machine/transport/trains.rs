//! Trains: packets of one message that follow each other at equal distances cross stations in one step.
//!
//! A train is admitted to a vertex as soon as its first packet comes there, or ahead of that, as a *passage*: a bet
//! that nothing else happens at the vertex before its last packet has come. The processor and the link behind it then
//! serve the whole train by a closed form ([`Runs`]), and it goes on to the next vertex. Whatever does happen at a
//! vertex before that *settles* it first: packets that have not come yet are withdrawn from there on, on all of
//! their way, and come when they come. So every vertex is at any time in the state in which single packets would have
//! brought it, and times, orders and counts are the same.
//!
//! The conditions: links are plain stations, nothing but the processor of a vertex gives packets to its links (no
//! rendezvous), no job is free of charge, and the memory does not pay for transfers. Where they do not hold every packet
//! has its own events. Arrivals at the same instant come in the order of the keys that their events would have.

use super::{Job, Message, MessageId, Transport};
use crate::engine::{Appointments, Calendar, Entity, Line, Lists, Run, Runs};
use crate::machine::pace::Pace;
use crate::machine::{Happening, Machine, Sends};
use crate::network::{Link, Network, Packet, PacketKind, Topology};
use crate::node::{Dispatcher, Node, Standing, Urgency};
use crate::trace::{Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// So many vertices ahead of its events a train is admitted at most.
const REACH: u16 = 256;

/// Where passages come from that begin at their vertex, and where those go that end there.
const NO_LINK: u32 = u32::MAX;

/// All links at work, and the trains on them.
pub(super) struct Trains {
    topology: Topology,
    ports: u32,
    link: Link,
    tracks: Vec<Track>,
    /// By link: the vertex that it leads to.
    ends: Vec<u32>,
    /// By link: what comes out of it and has not been admitted where it leads.
    coming: Lists<Coming>,
    /// By vertex: what has been admitted and may have to be withdrawn, in the order of arrival.
    passages: Lists<Passage>,
    /// Trains that have been given to a link and perhaps are admitted ahead: those of one link in their order.
    ahead: VecDeque<(u32, Entity, Train)>,
    /// The last transmission time: packets are mostly of the same length.
    last_time: (u32, SimDuration),
}

/// One direction of a link.
#[derive(Clone, Copy, Default)]
struct Track {
    line: Line,
    carried: u32,
}

/// Equal packets of one message, by their arrivals at a vertex.
#[derive(Clone, Copy)]
struct Train {
    run: Run,
    packet: Packet,
    /// It has been withdrawn before: from now on it is admitted when it comes.
    cautious: bool,
    /// How many vertices more it may be admitted to ahead.
    reach: u16,
}

/// Something that happens at the end of a transmission.
#[derive(Clone, Copy)]
struct Coming {
    train: Train,
    /// Whose event the arrival of the first packet is: that of the link, or, if the transmission takes no time, that
    /// of the processor that has sent it.
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

/// A train at a vertex that has admitted it.
#[derive(Clone, Copy)]
struct Passage {
    train: Train,
    /// The link that it comes by.
    link: u32,
    /// Whose events its arrivals are.
    entity: Entity,
    /// The link that it leaves by, or its acknowledge.
    out: u32,
    service: SimDuration,
    /// The vertex and that link before the train.
    before: Standing,
    link_free: SimTime,
    /// It waits for the router's turn.
    deferred: bool,
    /// The source is told of the departure of the last packet.
    notice: bool,
}

impl Passage {
    /// How many of the packets have arrived when the event with this key is played.
    fn arrived(&self, (now, entity): (SimTime, Entity)) -> u32 {
        let until = if self.entity <= entity { now } else { now.before(SimDuration::from_ps(1)) };
        let arrived = self.train.run.within(until, SimDuration::ZERO);
        if self.link == NO_LINK { arrived.max(1) } else { arrived }
    }
}

/// When packets depart from a processor.
enum Departures {
    One(SimTime),
    Many(Runs),
}

impl Departures {
    const fn first(&self) -> SimTime {
        match self {
            Self::One(departure) => *departure,
            Self::Many(runs) => runs.first(),
        }
    }
}

impl Trains {
    /// The idle links of `topology`, if trains cross the machine as single packets do.
    pub(super) fn of(machine: &Machine, topology: &Topology, pace: Option<&Pace>) -> Option<Self> {
        let Machine { nodes, network, sends, .. } = machine;
        let takes_time = |service| match pace {
            None => service > SimDuration::ZERO,
            Some(pace) => (0..topology.vertices()).all(|node| pace.service(node, service) > SimDuration::ZERO),
        };
        let jobs = [nodes.sending.time(0, 0), nodes.routing.per_packet];
        let acknowledges = *sends == Sends::UntilDelivered;
        let possible = network.is_plain()
            && *sends != Sends::Rendezvous
            && nodes.dma_per_word == SimDuration::ZERO
            && jobs.into_iter().all(takes_time)
            && (!acknowledges || takes_time(nodes.acknowledging.per_hop))
            && network.links.time(1) > SimDuration::ZERO;
        possible.then(|| Self::new(network, topology.clone()))
    }

    fn new(network: &Network, topology: Topology) -> Self {
        let ports = topology.ports();
        let count = topology.vertices() * ports;
        Self {
            ports,
            link: network.links.clone(),
            tracks: vec![Track::default(); count as usize],
            ends: (0..count)
                .map(|link| topology.neighbour(link / ports, link % ports).map_or(NO_LINK, |(end, _)| end))
                .collect(),
            coming: Lists::new(count),
            passages: Lists::new(topology.vertices()),
            ahead: VecDeque::new(),
            last_time: (0, network.links.time(0)),
            topology,
        }
    }

    /// How many entities the links use.
    pub(super) fn entities(&self) -> Entity {
        self.topology.vertices() * self.ports
    }

    pub(super) fn hops(&self, from: u32, to: u32) -> u32 {
        self.topology.distance(from, to)
    }

    /// What every direction of a link has carried up to `now`.
    pub(super) fn loads(&self, now: SimTime) -> impl Iterator<Item = LinkLoad> + '_ {
        (0..self.entities()).filter_map(move |link| {
            let from = link / self.ports;
            let to = Some(self.ends[link as usize]).filter(|end| *end != NO_LINK)?;
            let Track { line, carried } = &self.tracks[link as usize];
            Some(LinkLoad { from, to, packets: *carried, busy: line.served(now) })
        })
    }

    /// Whether anything is still on a link at `now`.
    pub(super) fn are_under_way(&self, now: SimTime) -> bool {
        !self.coming.are_empty() || self.tracks.iter().any(|track| track.line.free() > now)
    }

    /// The link that leads from `at` towards `to`.
    fn route(&self, at: u32, to: u32) -> u32 {
        at * self.ports + self.topology.route(at, to)
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
    pub(super) pace: Option<&'t Pace>,
    pub(super) sends: Sends,
    pub(super) packet_bytes: u64,
    pub(super) calendar: &'t mut Calendar,
    pub(super) processors: &'t mut Dispatcher<Job>,
    pub(super) told: &'t mut Appointments<Job>,
    pub(super) messages: &'t mut [Message],
    pub(super) vacant: &'t mut Vec<MessageId>,
    pub(super) happenings: &'t mut VecDeque<Happening>,
    pub(super) counts: &'t mut Counts,
    pub(super) first_processor: Entity,
    /// The key of the event that is played.
    pub(super) key: (SimTime, Entity),
}

impl Transport {
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
            told: &mut self.told,
            messages: &mut self.messages,
            vacant: &mut self.vacant,
            happenings: &mut self.happenings,
            counts: &mut self.counts,
            first_processor: self.first.processor,
            key: self.key,
        })
    }
}

impl Play<'_> {
    /// Has the source's processor prepare the next packets of a message: as many as nothing is known to come between.
    pub(super) fn prepare(&mut self, id: MessageId) {
        let now = self.key.0;
        let Message { from, to, hops, unprepared, .. } = self.messages[id as usize];
        self.settle(from);
        let bytes = unprepared.min(self.packet_bytes);
        let service = self.service(from, self.node.sending.time(bytes, hops));
        let length = u32::try_from(bytes).expect("check limits the size of packets");
        if from == to {
            self.messages[id as usize].unprepared -= bytes;
            self.serve_own(from, Job::Prepare { message: id, bytes: length }, service);
            return;
        }
        let packet = Packet::new(id, to, length, PacketKind::Data);
        let out = self.trains.route(from, to);
        let transmission = self.trains.transmission(length);
        let (before, link_free) = (self.processors.standing(from), self.trains.tracks[out as usize].line.free());
        let overlap = self.node.sending.overlap;
        let is_alone = self.processors.free(from) <= now && (overlap || link_free <= now + service);
        let equal = u32::try_from(unprepared / self.packet_bytes).expect("check limits the size of messages");
        let run = Run {
            first: now,
            gap: if overlap { service } else { service + transmission },
            count: if is_alone { equal.max(1) } else { 1 },
        };
        let job = (Job::PassOn(packet), service);
        let (run, departures) = if run.count == 1 {
            let departure = self.processors.serve(self.calendar, now, from, job, Urgency::AtOnce);
            (run, departure.map(Departures::One))
        } else {
            let admission = self.processors.serve_run(self.calendar, from, run, job, Urgency::AtOnce);
            (run.head(admission.count), admission.departures.map(Departures::Many))
        };
        let departures = departures.expect("a preparation preempts computations");
        let message = &mut self.messages[id as usize];
        message.unprepared -= bytes * u64::from(run.count);
        let more = message.unprepared > 0;
        let notice = more || self.sends == Sends::UntilInjected;
        let coming = self.exit(from, out, departures.first(), transmission);
        let departures = match departures {
            Departures::One(departure) => Run::one(self.transmit_one(out, departure, transmission)).into(),
            Departures::Many(runs) => self.transmit(out, runs, run.count, transmission),
        };
        self.counts.events += u64::from(run.count);
        let train = Train { run, packet, cautious: false, reach: REACH };
        if run.count > 1 {
            let entity = if overlap { self.first_processor + from } else { out };
            let deferred = false;
            let passage = Passage { train, link: NO_LINK, entity, out, service, before, link_free, deferred, notice };
            self.trains.passages.push_back(from, passage);
        }
        if more && overlap {
            self.told.add(self.calendar, from, self.processors.free(from), Job::Continue(id));
        }
        let leaves = notice && !(more && overlap);
        if run.count == 1 && (leaves || !is_alone) {
            // Behind a backlog there is no telling what comes before it.
            let train = Train { run: Run::one(departures.first()), cautious: !is_alone, ..train };
            self.come(out, Coming { train, entity: coming, arrives: true, leaves });
            return;
        }
        self.go_ahead(out, coming, train, &departures);
        self.admit_ahead(None);
        if leaves {
            self.notify_departure(out, train);
        }
    }

    /// The event of a link: something comes out of it. Nothing does if that has been withdrawn.
    pub(super) fn come_out(&mut self, link: u32) {
        let Some(coming) = self.trains.coming.front(link).filter(|coming| coming.key() == self.key).copied() else {
            return;
        };
        self.trains.coming.pop_front(link);
        if coming.leaves {
            self.leave(coming.train.packet.message);
        }
        if coming.arrives {
            let vertex = self.trains.ends[link as usize];
            self.settle(vertex);
            let reach = if coming.train.cautious { 0 } else { REACH };
            let next = self.admit(link, coming.entity, Train { reach, ..coming.train });
            self.admit_ahead(next);
        }
        self.schedule_next(link);
    }

    /// The event of a processor: it has done something that a process waits for or that has to be gone on with, or it
    /// has sent something that takes no time to transmit. Nothing has happened if that has been withdrawn.
    pub(super) fn finish_job(&mut self, node: u32) {
        match self.told.take(self.calendar, node, self.key.0) {
            Some(Job::Continue(message)) => self.prepare(message),
            Some(Job::Prepare { message, bytes }) => {
                self.leave(message);
                self.settle(node);
                let packet = Packet::new(message, node, bytes, PacketKind::Data);
                let train = Train { run: Run::one(self.key.0), packet, cautious: false, reach: REACH };
                let next = self.admit(NO_LINK, self.key.1, train);
                self.admit_ahead(next);
            }
            Some(Job::TakeIn(packet)) => self.finish_taking_in(packet),
            Some(Job::PassOn(_)) => unreachable!("nobody is told of packets that are passed on"),
            None => {
                let links = node * self.trains.ports..(node + 1) * self.trains.ports;
                let due = |link: &u32| self.trains.coming.front(*link).is_some_and(|coming| coming.key() == self.key);
                if let Some(link) = links.into_iter().find(due) {
                    self.come_out(link);
                }
            }
        }
    }

    /// Jobs of the router of `node` have been let in, and depart so.
    pub(super) fn let_in(&mut self, node: u32, jobs: impl Iterator<Item = (Job, Runs)>) {
        for (job, departures) in jobs {
            let Job::PassOn(packet) = job else { unreachable!("only packets that are passed on wait for the router") };
            let count = departures.count();
            self.counts.events += u64::from(count);
            let (out, transmission) = self.way(node, packet);
            let entity = self.exit(node, out, departures.first(), transmission);
            let comings = self.transmit(out, departures, count, transmission);
            let train = Train { run: Run::one(self.key.0), packet, cautious: false, reach: REACH };
            self.go_ahead(out, entity, train, &comings);
        }
        // Not before all are on their links: what is admitted ahead may come back.
        self.admit_ahead(None);
    }

    /// Something else than the arrival of a passage happens at `vertex`: what has not come to it yet is withdrawn.
    pub(super) fn settle(&mut self, vertex: u32) {
        while let Some(passage) = self.trains.passages.pop_back(vertex) {
            let arrived = passage.arrived(self.key);
            if arrived < passage.train.run.count {
                self.withdraw(vertex, &passage, arrived);
                self.come_later(vertex, &passage, arrived);
            }
            if arrived > 0 {
                while self.trains.passages.pop_back(vertex).is_some() {}
            }
        }
    }

    /// A packet has left its source: without overlap this is when the next one is prepared.
    fn leave(&mut self, id: MessageId) {
        let Message { unprepared, ticket, .. } = self.messages[id as usize];
        if unprepared > 0 {
            self.prepare(id);
        } else if self.sends == Sends::UntilInjected {
            self.happenings.push_back(Happening::Sent { ticket });
        }
    }

    fn finish_taking_in(&mut self, packet: Packet) {
        let Message { from, to, ticket, .. } = self.messages[packet.message as usize];
        let mut is_complete = true;
        if packet.kind == PacketKind::Data {
            self.happenings.push_back(Happening::Delivered { message: packet.message, ticket });
            is_complete = self.sends == Sends::UntilDelivered && from == to;
        }
        if is_complete {
            self.happenings.push_back(Happening::Sent { ticket });
            self.vacant.push(packet.message);
        }
    }

    /// Admits as much as is sure of a train that comes by `link` to the vertex at its end. The vertex is settled, or
    /// the train is known to be the next that comes to it. What goes on by another link, if it is a single run;
    /// otherwise it is among those that may go ahead.
    fn admit(&mut self, link: u32, entity: Entity, train: Train) -> Option<(u32, Entity, Train)> {
        let Train { run, packet, .. } = train;
        let vertex = if link == NO_LINK { packet.to } else { self.trains.ends[link as usize] };
        let (service, urgency) = self.cost(vertex, packet);
        let before = self.processors.standing(vertex);
        let job = (Job::PassOn(packet), service);
        let (admitted, departures) = if run.count == 1 {
            (run, self.processors.serve(self.calendar, run.first, vertex, job, urgency).map(Departures::One))
        } else {
            let admission = self.processors.serve_run(self.calendar, vertex, run, job, urgency);
            if let Some(rest) = run.tail(admission.count) {
                let rest = Coming { train: Train { run: rest, ..train }, entity, arrives: true, leaves: false };
                self.trains.coming.push_front(link, rest);
                self.schedule_next(link);
            }
            (run.head(admission.count), admission.departures.map(Departures::Many))
        };
        let mut passage = Passage {
            train: Train { run: admitted, ..train },
            link,
            entity,
            out: NO_LINK,
            service,
            before,
            link_free: SimTime::START,
            deferred: departures.is_none(),
            notice: false,
        };
        let mut next = None;
        if let Some(departures) = departures {
            self.counts.events += u64::from(admitted.count);
            if packet.to != vertex {
                next = Some((packet, departures, before.free() > run.first));
            } else if self.take_in(vertex, packet, admitted.count) {
                let departure = self.processors.free(vertex);
                next = Some((self.acknowledge(packet.message), Departures::One(departure), false));
            }
        }
        let on = next.and_then(|(packet, departures, waits)| {
            let (out, transmission) = self.way(vertex, packet);
            (passage.out, passage.link_free) = (out, self.trains.tracks[out as usize].line.free());
            let waits = waits || passage.link_free.since(departures.first()) > transmission;
            let entity = self.exit(vertex, out, departures.first(), transmission);
            let train = Train { packet, reach: if waits { 0 } else { train.reach }, ..train };
            let run = match departures {
                Departures::One(departure) => Run::one(self.transmit_one(out, departure, transmission)),
                Departures::Many(runs) => {
                    let comings = self.transmit(out, runs, admitted.count, transmission);
                    let Some(run) = comings.single() else {
                        self.go_ahead(out, entity, train, &comings);
                        return None;
                    };
                    run
                }
            };
            if self.trains.ahead.is_empty() {
                return Some((out, entity, Train { run, ..train }));
            }
            self.trains.ahead.push_back((out, entity, Train { run, ..train }));
            None
        });
        if admitted.last() > self.key.0 {
            self.trains.passages.push_back(vertex, passage);
        }
        on
    }

    /// Packets are taken in at their destination; whether an acknowledge follows.
    fn take_in(&mut self, vertex: u32, packet: Packet, count: u32) -> bool {
        let message = &mut self.messages[packet.message as usize];
        if packet.kind == PacketKind::Data {
            message.missing -= count;
            if message.missing > 0 {
                return false;
            }
        }
        self.told.add(self.calendar, vertex, self.processors.free(vertex), Job::TakeIn(packet));
        packet.kind == PacketKind::Data && self.sends == Sends::UntilDelivered && message.from != message.to
    }

    fn acknowledge(&self, id: MessageId) -> Packet {
        let bytes = u32::try_from(self.node.acknowledging.bytes.count()).expect("check limits the size of packets");
        Packet::new(id, self.messages[id as usize].from, bytes, PacketKind::Acknowledge)
    }

    /// What a packet that has come to `vertex` costs its processor.
    fn cost(&self, vertex: u32, packet: Packet) -> (SimDuration, Urgency) {
        let here = packet.to == vertex;
        let service = match packet.kind {
            PacketKind::Acknowledge => self.node.acknowledging.per_hop,
            PacketKind::Data if here => {
                self.node.routing.per_packet + self.node.receiving.time(u64::from(packet.bytes))
            }
            PacketKind::Data => self.node.routing.per_packet,
        };
        (self.service(vertex, service), if here { Urgency::AtOnce } else { Urgency::RouterTurn })
    }

    fn service(&self, node: u32, service: SimDuration) -> SimDuration {
        self.pace.map_or(service, |pace| pace.service(node, service))
    }

    fn serve_own(&mut self, node: u32, job: Job, service: SimDuration) {
        let departure = self.processors.serve(self.calendar, self.key.0, node, (job, service), Urgency::AtOnce);
        self.counts.events += 1;
        self.told.add(self.calendar, node, departure.expect("a preparation preempts computations"), job);
    }

    /// The link by which a packet leaves `vertex`, and for how long it holds it.
    fn way(&mut self, vertex: u32, packet: Packet) -> (u32, SimDuration) {
        let out = self.trains.route(vertex, packet.to);
        (out, self.trains.transmission(packet.bytes))
    }

    /// Gives packets to a link as they depart from its processor; when they come out of it.
    fn transmit(&mut self, out: u32, departures: Runs, count: u32, transmission: SimDuration) -> Runs {
        self.counts.packet_hops += u64::from(count);
        self.counts.events += u64::from(count);
        let track = &mut self.trains.tracks[out as usize];
        track.carried += count;
        departures.through(&mut track.line, transmission)
    }

    /// Gives a packet to a link at its departure from the processor; when it comes out of it.
    fn transmit_one(&mut self, out: u32, departure: SimTime, transmission: SimDuration) -> SimTime {
        self.counts.packet_hops += 1;
        self.counts.events += 1;
        let track = &mut self.trains.tracks[out as usize];
        track.carried += 1;
        track.line.serve(departure, transmission)
    }

    /// Whose event it is when a packet that leaves the processor of `vertex` at `departure` comes out of `link`: what
    /// does not wait and takes no time comes out when the processor has sent it.
    fn exit(&self, vertex: u32, link: u32, departure: SimTime, transmission: SimDuration) -> Entity {
        let is_free = self.trains.tracks[link as usize].line.free() <= departure;
        if transmission == SimDuration::ZERO && is_free { self.first_processor + vertex } else { link }
    }

    /// The train has been given to `link` and comes out of it so; it is admitted ahead as far as it may.
    fn go_ahead(&mut self, link: u32, entity: Entity, train: Train, comings: &Runs) {
        self.trains.ahead.extend(comings.iter().map(|run| (link, entity, Train { run, ..train })));
    }

    /// Admits trains that have been given to links to the vertices at their ends, this one and all that wait for it,
    /// as far as they may be admitted ahead.
    fn admit_ahead(&mut self, first: Option<(u32, Entity, Train)>) {
        let mut next = first;
        while let Some((link, entity, train)) = next.take().or_else(|| self.trains.ahead.pop_front()) {
            if train.reach > 0 && self.is_next(link, entity, &train) {
                next = self.admit(link, entity, Train { reach: train.reach - 1, ..train });
            } else {
                self.come(link, Coming { train, entity, arrives: true, leaves: false });
            }
        }
    }

    /// Whether nothing that is known already comes to the end of `link` before the train or changes what is done there.
    fn is_next(&self, link: u32, entity: Entity, train: &Train) -> bool {
        let vertex = self.trains.ends[link as usize];
        let last = self.trains.passages.back(vertex);
        let follows = last.is_none_or(|last| (last.train.run.last(), last.entity) <= (train.run.first, entity));
        follows && self.trains.coming.is_empty(link) && self.processors.is_calm(vertex)
    }

    /// Something comes out of `link` later.
    fn come(&mut self, link: u32, coming: Coming) {
        let is_first = self.trains.coming.is_empty(link);
        self.trains.coming.push_back(link, coming);
        if is_first {
            self.schedule_next(link);
        }
    }

    fn notify_departure(&mut self, out: u32, train: Train) {
        let run = Run::one(self.trains.tracks[out as usize].line.free());
        self.come(out, Coming { train: Train { run, ..train }, entity: out, arrives: false, leaves: true });
    }

    fn schedule_next(&mut self, link: u32) {
        if let Some((time, entity)) = self.trains.coming.front(link).map(Coming::key) {
            self.calendar.schedule(time, entity);
        }
    }

    /// All but the first `kept` packets of the last passage of `vertex`, which has been taken out, are withdrawn from
    /// there on.
    fn withdraw(&mut self, vertex: u32, passage: &Passage, kept: u32) {
        let Passage { train: Train { run, packet, .. }, out, service, before, link_free, .. } = *passage;
        if passage.deferred {
            self.processors.take_back_deferred(vertex, kept);
            return;
        }
        let withdrawn = run.count - kept;
        self.counts.events -= u64::from(withdrawn);
        let departures = self.processors.take_back(self.calendar, vertex, before, (run, kept), service);
        if packet.to == vertex {
            self.take_out(vertex, packet, withdrawn);
            if out != NO_LINK {
                let acknowledge = self.acknowledge(packet.message);
                let transmission = self.trains.transmission(acknowledge.bytes);
                self.take_back(out, link_free, 1, transmission);
                self.cancel(out, 1);
            }
            return;
        }
        if passage.notice {
            self.withdraw_notice(vertex, passage);
        }
        let transmission = self.trains.transmission(packet.bytes);
        self.take_back(out, link_free, run.count, transmission);
        if let Some(departures) = departures {
            self.transmit(out, departures, kept, transmission);
        }
        self.cancel(out, withdrawn);
    }

    fn withdraw_notice(&mut self, vertex: u32, passage: &Passage) {
        let more = passage.notice && self.messages[passage.train.packet.message as usize].unprepared > 0;
        if more && self.node.sending.overlap {
            self.told.withdraw(vertex);
        } else {
            self.trains.coming.pop_back(passage.out);
        }
    }

    fn take_out(&mut self, vertex: u32, packet: Packet, count: u32) {
        let message = &mut self.messages[packet.message as usize];
        if packet.kind == PacketKind::Acknowledge || message.missing == 0 {
            self.told.withdraw(vertex);
        }
        if packet.kind == PacketKind::Data {
            message.missing += count;
        }
    }

    fn take_back(&mut self, out: u32, free: SimTime, count: u32, transmission: SimDuration) {
        let track = &mut self.trains.tracks[out as usize];
        track.line.take_back(free, transmission * u64::from(count));
        track.carried -= count;
        self.counts.packet_hops -= u64::from(count);
        self.counts.events -= u64::from(count);
    }

    /// The last packets given to `link` do not come out of it after all.
    fn cancel(&mut self, link: u32, count: u32) {
        let mut left = count;
        while let Some(coming) = self.trains.coming.back_mut(link).filter(|_| left > 0) {
            let Run { count, .. } = &mut coming.train.run;
            if let Some(rest) = count.checked_sub(left).filter(|rest| *rest > 0) {
                *count = rest;
                return;
            }
            left -= *count;
            self.trains.coming.pop_back(link);
        }
        if left > 0 {
            self.cancel_admitted(link, left);
        }
    }

    /// The last `left` packets that have been admitted where `link` ends do not come. What comes after them from
    /// elsewhere comes when it comes.
    fn cancel_admitted(&mut self, link: u32, mut left: u32) {
        let vertex = self.trains.ends[link as usize];
        while left > 0 {
            let mut passage = self.trains.passages.pop_back(vertex).expect("what has been admitted is known");
            if passage.link != link {
                self.withdraw(vertex, &passage, 0);
                self.come_later(vertex, &passage, 0);
                continue;
            }
            let kept = passage.train.run.count.saturating_sub(left);
            self.withdraw(vertex, &passage, kept);
            left -= passage.train.run.count - kept;
            if kept > 0 {
                passage.train.run.count = kept;
                if passage.train.packet.to == vertex {
                    passage.out = NO_LINK;
                }
                self.trains.passages.push_back(vertex, passage);
            }
        }
    }

    /// All but the first `kept` packets of a withdrawn passage come when they come.
    fn come_later(&mut self, vertex: u32, passage: &Passage, kept: u32) {
        let Passage { train, link, entity, out, .. } = *passage;
        if link == NO_LINK {
            let withdrawn = u64::from(train.run.count - kept);
            let id = train.packet.message;
            self.messages[id as usize].unprepared += u64::from(train.packet.bytes) * withdrawn;
            if self.node.sending.overlap {
                self.told.add(self.calendar, vertex, self.processors.free(vertex), Job::Continue(id));
            } else {
                self.notify_departure(out, train);
            }
        } else if let Some(run) = train.run.tail(kept) {
            let train = Train { run, cautious: true, ..train };
            self.trains.coming.push_front(link, Coming { train, entity, arrives: true, leaves: false });
            self.schedule_next(link);
        }
    }
}
