//! How trains come to a vertex, are served there and go on, as far ahead of their events as they may.

use super::{Advance, Coming, Flight, NO_LINK, Passage, Play, Train};
use crate::engine::{Entity, Run, Runs};
use crate::machine::transport::{Job, Message, MessageId};
use crate::machine::{Happening, Sends};
use crate::network::{Packet, PacketKind};
use crate::node::{Admission, Urgency};

impl Play<'_> {
    /// Has the source's processor prepare the next packets of a message: as many as nothing is known to come between.
    pub(in crate::machine::transport) fn prepare(&mut self, id: MessageId) {
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
        let mut train = Train::new(Run::one(now), packet);
        let (out, transmission) = self.way(from, &mut train);
        let (before, link_free) = (self.processors.standing(from), self.trains.tracks[out as usize].line.free());
        let overlap = self.node.sending.overlap;
        let is_alone = self.processors.free(from) <= now && (overlap || link_free <= now + service);
        let equal = u32::try_from(unprepared / self.packet_bytes).expect("check limits the size of messages");
        let gap = if overlap { service } else { service + transmission };
        let run = Run { first: now, gap, count: if is_alone { equal.max(1) } else { 1 } };
        let job = (Job::PassOn(packet), service);
        let admission = self.processors.serve_run(self.calendar, from, run, job, Urgency::AtOnce);
        train.run = run.head(admission.count);
        let count = train.run.count;
        let departures = admission.departures.expect("a preparation preempts computations");
        let message = &mut self.messages[id as usize];
        message.unprepared -= bytes * u64::from(count);
        let more = message.unprepared > 0;
        let notice = more || self.sends == Sends::UntilInjected;
        let coming = self.exit(from, out, departures.first(), transmission);
        let comings = self.transmit(out, &packet, &departures, transmission);
        self.counts.events += u64::from(count);
        if count > 1 {
            let entity = if overlap { self.first_processor + from } else { out };
            let deferred = false;
            let passage = Passage { train, link: NO_LINK, entity, out, service, before, link_free, deferred, notice };
            self.keep(from, passage);
        }
        if more && overlap {
            self.told.add(self.calendar, from, self.processors.free(from), Job::Continue(id));
        }
        let leaves = notice && !(more && overlap);
        if count == 1 && (leaves || !is_alone) {
            // Behind a backlog there is no telling what comes before it.
            let train = Train { run: Run::one(comings.first()), ..train };
            self.come(out, Coming { train, entity: coming, arrives: true, leaves });
            return;
        }
        self.go_ahead(out, coming, train, &comings);
        self.admit_ahead();
        if leaves {
            self.notify_departure(out, train);
        }
    }

    /// The event of a link: something comes out of it. Nothing does if that has been withdrawn.
    pub(in crate::machine::transport) fn come_out(&mut self, link: u32) {
        let Some(coming) = self.trains.coming.front(link).filter(|coming| coming.key() == self.key).copied() else {
            return;
        };
        self.trains.coming.pop_front(link);
        if coming.leaves {
            self.leave(coming.train.packet.message);
        }
        if coming.arrives {
            let vertex = self.trains.tracks[link as usize].end;
            self.settle_for_train(vertex);
            let Coming { mut train, entity, .. } = coming;
            if train.advance == Advance::AfterLink {
                train.advance = Advance::Ahead;
            }
            self.arrive(Flight { link, entity, train });
        }
        self.schedule_next(link);
    }

    /// The event of a processor: it has done something that a process waits for or that has to be gone on with, or it
    /// has sent something that takes no time to transmit. Nothing has happened if that has been withdrawn.
    pub(in crate::machine::transport) fn finish_job(&mut self, node: u32) {
        match self.told.take(self.calendar, node, self.key.0) {
            Some(Job::Continue(message)) => self.prepare(message),
            Some(Job::Prepare { message, bytes }) => {
                self.leave(message);
                self.settle(node);
                let packet = Packet::new(message, node, bytes, PacketKind::Data);
                let train = Train::new(Run::one(self.key.0), packet);
                self.arrive(Flight { link: NO_LINK, entity: self.key.1, train });
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
    pub(in crate::machine::transport) fn let_in(&mut self, node: u32, jobs: impl Iterator<Item = (Job, Runs)>) {
        for (job, departures) in jobs {
            let Job::PassOn(packet) = job else { unreachable!("only packets that are passed on wait for the router") };
            let count = departures.count();
            self.counts.events += u64::from(count);
            let mut train = Train::new(Run::one(self.key.0), packet);
            let (out, transmission) = self.way(node, &mut train);
            let entity = self.exit(node, out, departures.first(), transmission);
            let comings = self.transmit(out, &packet, &departures, transmission);
            self.go_ahead(out, entity, train, &comings);
        }
        // Not before all are on their links: what is admitted ahead may come back.
        self.admit_ahead();
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

    /// A train comes to a vertex, which has been settled, and goes on as far as it may.
    fn arrive(&mut self, mut flight: Flight) {
        if self.admit(&mut flight) {
            self.go_on(flight);
        }
        self.admit_ahead();
    }

    /// Admits as much as is sure of a train to the vertex that it comes to. The vertex is settled, or the train is
    /// known to be the next that comes to it. Whether it goes on as a single run, as `flight` then tells; otherwise
    /// what goes on is among those that may go ahead.
    fn admit(&mut self, flight: &mut Flight) -> bool {
        let Flight { link, train: Train { run, packet, .. }, .. } = *flight;
        let vertex = if link == NO_LINK { packet.to } else { self.trains.tracks[link as usize].end };
        if run.count == 1 && packet.to != vertex {
            self.pass_on(vertex, flight)
        } else {
            self.admit_train(vertex, flight)
        }
    }

    /// A single packet comes to a vertex on its way. The rest is as in [`admit`](Self::admit).
    fn pass_on(&mut self, vertex: u32, flight: &mut Flight) -> bool {
        let Flight { link, entity, train } = *flight;
        let Train { run: Run { first: arrival, .. }, packet, .. } = train;
        let service = self.passing_on(vertex, packet.kind);
        let before = self.processors.standing(vertex);
        let job = (Job::PassOn(packet), service);
        let urgency = Urgency::RouterTurn;
        let Some(departure) = self.processors.serve(self.calendar, arrival, vertex, job, urgency) else {
            self.keep(vertex, Passage { deferred: true, ..Passage::of(flight, service, before) });
            return false;
        };
        let (out, transmission) = self.way(vertex, &mut flight.train);
        (flight.link, flight.entity) = (out, self.exit(vertex, out, departure, transmission));
        let track = &mut self.trains.tracks[out as usize];
        let link_free = track.line.free();
        flight.train.run.first = track.line.serve(departure, transmission);
        track.carried += 1;
        let waits = before.free() > arrival || link_free.since(departure) > transmission;
        if waits && !self.follows_itself(vertex, packet) {
            flight.train.advance = flight.train.advance.after_link();
        }
        self.counts.packet_hops += 1;
        self.counts.events += 2;
        if self.trains.transfers.is_some() {
            self.tell(out, &packet, &[flight.train.run], transmission);
        }
        if arrival > self.key.0 {
            let (deferred, notice) = (false, false);
            let passage = Passage { train, link, entity, out, service, before, link_free, deferred, notice };
            self.trains.passages.push(vertex, passage);
        }
        true
    }

    /// A train comes to a vertex, or a packet to its destination. The rest is as in [`admit`](Self::admit).
    fn admit_train(&mut self, vertex: u32, flight: &mut Flight) -> bool {
        let Flight { link, entity, train: Train { run, packet, .. } } = *flight;
        let (service, urgency) = self.cost(vertex, packet);
        let before = self.processors.standing(vertex);
        let job = (Job::PassOn(packet), service);
        let Admission { count, departures } = self.processors.serve_run(self.calendar, vertex, run, job, urgency);
        if let Some(rest) = run.tail(count) {
            let train = Train { run: rest, ..flight.train };
            self.trains.coming.push_front(link, Coming { train, entity, arrives: true, leaves: false });
            self.schedule_next(link);
            flight.train.run.count = count;
        }
        let passage = Passage::of(flight, service, before);
        let Some(mut departures) = departures else {
            self.keep(vertex, Passage { deferred: true, ..passage });
            return false;
        };
        self.counts.events += u64::from(count);
        let mut waits = before.free() > run.first;
        if packet.to == vertex {
            if !self.take_in(vertex, packet, count) {
                self.keep(vertex, passage);
                return false;
            }
            departures = Runs::One(Run::one(self.processors.free(vertex)));
            flight.train = Train { advance: flight.train.advance, ..Train::new(run, self.acknowledge(packet.message)) };
            waits = false;
        }
        let (out, transmission) = self.way(vertex, &mut flight.train);
        let link_free = self.trains.tracks[out as usize].line.free();
        waits |= link_free.since(departures.first()) > transmission;
        waits &= !self.follows_itself(vertex, packet);
        self.keep(vertex, Passage { out, link_free, ..passage });
        if waits {
            flight.train.advance = flight.train.advance.after_link();
        }
        (flight.link, flight.entity) = (out, self.exit(vertex, out, departures.first(), transmission));
        let packet = flight.train.packet;
        match self.transmit(out, &packet, &departures, transmission) {
            Runs::One(run) => {
                flight.train.run = run;
                true
            }
            comings @ Runs::Few(_) => {
                self.go_ahead(out, flight.entity, flight.train, &comings);
                false
            }
        }
    }

    /// Whether the last to come to a vertex before a packet is of the same message: then the packet waits for nothing
    /// that is withdrawn without it.
    fn follows_itself(&self, vertex: u32, packet: Packet) -> bool {
        self.trains.passages.top(vertex).is_some_and(|top| top.train.packet.message == packet.message)
    }

    /// The passage may have to be withdrawn, unless all of it has come.
    fn keep(&mut self, vertex: u32, passage: Passage) {
        if passage.train.run.last() > self.key.0 {
            self.trains.passages.push(vertex, passage);
        }
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

    /// The train has been given to `link` and comes out of it so; it is admitted ahead as far as it may.
    fn go_ahead(&mut self, link: u32, entity: Entity, train: Train, comings: &Runs) {
        let flights = comings.as_slice().iter().map(|run| Flight { link, entity, train: Train { run: *run, ..train } });
        self.trains.ahead.extend(flights);
    }

    /// Admits all trains that wait for it to the vertices that they come to, as far as they may be admitted ahead.
    fn admit_ahead(&mut self) {
        while let Some(flight) = self.trains.ahead.pop_front() {
            self.go_on(flight);
        }
    }

    /// Admits a train that has been given to a link to one vertex after the other, as far as it may be admitted ahead.
    fn go_on(&mut self, mut flight: Flight) {
        while flight.train.advance == Advance::Ahead && self.is_next(&flight) {
            if !self.admit(&mut flight) {
                return;
            }
            if !self.trains.ahead.is_empty() {
                // It must not overtake on another link what has been given to that before.
                self.trains.ahead.push_back(flight);
                return;
            }
        }
        let Flight { link, entity, train } = flight;
        self.come(link, Coming { train, entity, arrives: true, leaves: false });
    }

    /// Whether nothing that is known already comes to the end of its link before the train or changes what is done
    /// there.
    fn is_next(&mut self, Flight { link, entity, train }: &Flight) -> bool {
        let vertex = self.trains.tracks[*link as usize].end;
        if let Some(top) = self.trains.passages.top(vertex) {
            let last = (top.train.run.last(), top.entity);
            if last > (train.run.first, *entity) {
                return false;
            }
            if last.0 < self.key.0 {
                // All have come and need not be known any more.
                self.trains.passages.clear(vertex);
            }
        }
        self.trains.coming.is_empty(*link) && self.processors.is_calm(vertex)
    }

    /// Something comes out of `link` later.
    fn come(&mut self, link: u32, coming: Coming) {
        let is_first = self.trains.coming.is_empty(link);
        self.trains.coming.push_back(link, coming);
        if is_first {
            self.schedule_next(link);
        }
    }

    pub(super) fn notify_departure(&mut self, out: u32, train: Train) {
        let run = Run::one(self.trains.tracks[out as usize].line.free());
        self.come(out, Coming { train: Train { run, ..train }, entity: out, arrives: false, leaves: true });
    }

    pub(super) fn schedule_next(&mut self, link: u32) {
        if let Some((time, entity)) = self.trains.coming.front(link).map(Coming::key) {
            self.calendar.schedule(time, entity);
        }
    }
}
