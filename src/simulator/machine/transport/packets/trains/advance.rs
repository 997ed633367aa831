//! Advance of trains: arrival at a vertex, service there and departure, as far ahead of their events as they may.

use super::admissions::SpeculativeAdmission;
use super::{Advance, Coming, MovingTrain, NO_LINK, Play, Train};
use crate::engine::{Entity, EvenInstants, Runs};
use crate::machine::transport::packets::{Job, MessageId, MessageState};
use crate::machine::{Completion, Sends};
use crate::network::{Packet, PacketKind};
use crate::units::{SimDuration, SimTime};

impl Play<'_> {
    /// Has the source's processor prepare the next packets of a message: as many as nothing is known to come between.
    pub(in crate::machine::transport) fn prepare(&mut self, id: MessageId) {
        let now = self.key.0;
        let message = self.messages[id as usize];
        let MessageState { from, to, unprepared, .. } = message;
        self.settle(from);
        let bytes = unprepared.min(self.packet_bytes);
        let service = self.service(from, message.preparation(bytes, self.node));
        let length = u32::try_from(bytes).expect("check limits the size of packets");
        let packet = Packet::new(id, to, length, PacketKind::Data);
        if from != to && self.processors.free(from) <= now && !self.processors.defers(from) {
            self.prepare_train(from, packet, service);
            return;
        }
        self.messages[id as usize].unprepared -= bytes;
        let job = Job::Prepare { message: id, bytes: length };
        if let Some(departure) = self.processors.serve(self.calendar, now, from, (job, service)) {
            self.prepared(from, packet, departure);
        }
    }

    /// Packets of a message that nothing waits before are prepared.
    fn prepare_train(&mut self, from: u32, packet: Packet, service: SimDuration) {
        let (now, id, overlap) = (self.key.0, packet.message, self.node.sending.overlap);
        let mut train = Train::new(EvenInstants::one(now), packet);
        let (out, transmission) = self.way(from, &packet, &mut train.course);
        let (before, link_free) = (self.processors.standing(from), self.trains.tracks[out as usize].line.free());
        let is_alone = overlap || link_free <= now + service;
        let unprepared = self.messages[id as usize].unprepared;
        let equal = u32::try_from(unprepared / self.packet_bytes).expect("check limits the size of messages");
        let gap = if overlap { service } else { service + transmission };
        let run = EvenInstants { first: now, gap, count: if is_alone { equal.max(1) } else { 1 } };
        let job = (Job::PassOn(packet), service);
        let admission = self.processors.serve_run(self.calendar, from, run, job);
        let count = admission.count;
        let departures = admission.departures.as_ref().expect("nothing that computes is waited for");
        train.run = run.head(count);
        self.messages[id as usize].unprepared -= u64::from(packet.bytes) * u64::from(count);
        let (notice, leaves) = self.tells_departure(id);
        let coming = self.exit(from, out, departures.first(), transmission);
        let comings = self.transmit(out, &packet, departures, transmission);
        self.counts.events += u64::from(count);
        if count > 1 {
            let entity = if overlap { self.first_processor + from } else { out };
            let deferred = false;
            let admission = SpeculativeAdmission {
                train,
                link: NO_LINK,
                entity,
                out,
                service,
                before,
                link_free,
                deferred,
                notice,
            };
            self.keep(from, admission);
        }
        self.go_on_preparing(from, id, self.processors.free(from));
        if count == 1 && (leaves || !is_alone) {
            // Behind a backlog there is no telling what comes before it.
            let train = Train { run: EvenInstants::one(comings.first()), ..train };
            self.come(out, Coming { train, entity: coming, arrives: true, leaves });
            return;
        }
        self.go_ahead(out, coming, train, &comings);
        self.admit_ahead();
        if leaves {
            self.notify_departure(out, train);
        }
    }

    /// A packet of a message is going to be prepared at `departure`, and goes to its link then, or to its own node.
    fn prepared(&mut self, from: u32, packet: Packet, departure: SimTime) {
        let (id, bytes) = (packet.message, packet.bytes);
        self.counts.events += 1;
        if packet.to == from {
            self.job_timers.add(self.calendar, from, departure, Job::Prepare { message: id, bytes });
            return;
        }
        let mut train = Train::new(EvenInstants::one(self.key.0), packet);
        let (out, transmission) = self.way(from, &packet, &mut train.course);
        let (_, leaves) = self.tells_departure(id);
        let entity = self.exit(from, out, departure, transmission);
        let comings = self.transmit(out, &packet, &Runs::One(EvenInstants::one(departure)), transmission);
        self.go_on_preparing(from, id, departure);
        let train = Train { run: EvenInstants::one(comings.first()), ..train };
        self.come(out, Coming { train, entity, arrives: true, leaves });
    }

    /// Returns whether a process waits for the departure of the packets of a message prepared last, and whether it is
    /// for that from the link.
    fn tells_departure(&self, id: MessageId) -> (bool, bool) {
        let more = self.messages[id as usize].unprepared > 0;
        let notice = more || self.sends == Sends::UntilInjected;
        (notice, notice && !(more && self.node.sending.overlap))
    }

    /// With overlap the next packet of a message is prepared when the last one is, at `departure`.
    fn go_on_preparing(&mut self, from: u32, id: MessageId, departure: SimTime) {
        if self.node.sending.overlap && self.messages[id as usize].unprepared > 0 {
            self.job_timers.add(self.calendar, from, departure, Job::Continue(id));
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
            self.arrive(MovingTrain { link, entity, train });
        }
        self.schedule_next(link);
    }

    /// The event of a processor: it has done something that a process waits for or that has to be gone on with, or it
    /// has sent something that takes no time to transmit. Nothing has happened if that has been withdrawn.
    pub(in crate::machine::transport) fn finish_job(&mut self, node: u32) {
        match self.job_timers.take(self.calendar, node, self.key.0) {
            Some(Job::Continue(message)) => self.prepare(message),
            Some(Job::Prepare { message, bytes }) => {
                self.leave(message);
                self.settle(node);
                let packet = Packet::new(message, node, bytes, PacketKind::Data);
                let train = Train::new(EvenInstants::one(self.key.0), packet);
                self.arrive(MovingTrain { link: NO_LINK, entity: self.key.1, train });
            }
            Some(Job::TakeIn(packet)) => self.finish_taking_in(packet),
            Some(Job::PassOn(_)) => unreachable!("packets that are passed on notify nobody"),
            None => {
                let links = node * self.trains.ports..(node + 1) * self.trains.ports;
                let due = |link: &u32| self.trains.coming.front(*link).is_some_and(|coming| coming.key() == self.key);
                if let Some(link) = links.into_iter().find(due) {
                    self.come_out(link);
                }
            }
        }
    }

    /// Jobs that waited for a computation on `node` have been let in, and depart so.
    pub(in crate::machine::transport) fn let_in(&mut self, node: u32, jobs: impl Iterator<Item = (Job, Runs)>) {
        for (job, departures) in jobs {
            match job {
                Job::Prepare { message, bytes } => {
                    self.keep_order();
                    let packet = Packet::new(message, self.messages[message as usize].to, bytes, PacketKind::Data);
                    self.prepared(node, packet, departures.first());
                }
                Job::PassOn(packet) => {
                    self.counts.events += u64::from(departures.count());
                    self.send_on(node, packet, &departures);
                }
                Job::TakeIn(packet) => self.take_in_late(node, packet, &departures),
                Job::Continue(_) => unreachable!("what is prepared is handed over as it is"),
            }
        }
        // Not before all are on their links: what is admitted ahead may come back.
        self.admit_ahead();
    }

    /// Lets the trains that wait to be admitted ahead arrive by their own events: later packets of these links do not
    /// go ahead, and must not overtake them.
    fn keep_order(&mut self) {
        while let Some(MovingTrain { link, entity, train }) = self.trains.ahead.pop_front() {
            self.come(link, Coming { train, entity, arrives: true, leaves: false });
        }
    }

    fn take_in_late(&mut self, node: u32, packet: Packet, departures: &Runs) {
        let (count, end) = (departures.count(), departures.last());
        self.counts.events += u64::from(count);
        if self.take_in(node, packet, count, end) {
            self.send_on(node, self.acknowledge(packet.message), &Runs::One(EvenInstants::one(end)));
        }
    }

    /// Packets go to their link as they depart from the processor of `node`.
    fn send_on(&mut self, node: u32, packet: Packet, departures: &Runs) {
        let mut train = Train::new(EvenInstants::one(self.key.0), packet);
        let (out, transmission) = self.way(node, &packet, &mut train.course);
        let entity = self.exit(node, out, departures.first(), transmission);
        let comings = self.transmit(out, &packet, departures, transmission);
        self.go_ahead(out, entity, train, &comings);
    }

    /// A packet has left its source: without overlap this is when the next one is prepared.
    fn leave(&mut self, id: MessageId) {
        let MessageState { unprepared, handle, .. } = self.messages[id as usize];
        if unprepared > 0 {
            self.prepare(id);
        } else if self.sends == Sends::UntilInjected {
            self.completions.push_back(Completion::Sent { handle });
        }
    }

    fn finish_taking_in(&mut self, packet: Packet) {
        let MessageState { from, to, handle, .. } = self.messages[packet.message as usize];
        let mut is_complete = true;
        if packet.kind == PacketKind::Data {
            self.completions.push_back(Completion::Delivered { message: packet.message, handle });
            is_complete = self.sends == Sends::UntilDelivered && from == to;
        }
        if is_complete {
            self.completions.push_back(Completion::Sent { handle });
            self.vacant.push(packet.message);
        }
    }

    /// A train comes to a vertex, which has been settled, and goes on as far as it may.
    fn arrive(&mut self, flight: MovingTrain) {
        self.go_on(flight, true);
        self.admit_ahead();
    }

    /// Admits a single packet to a vertex on its way, and to the next ones as far as it may go ahead. Returns
    /// whether it may be admitted to its destination; `flight` then describes its arrival there.
    fn pass_on(&mut self, mut vertex: u32, flight: &mut MovingTrain) -> bool {
        // What changes from vertex to vertex are variables of their own: a structure that is copied as soon as one of its
        // parts has been written would have to wait for it.
        let MovingTrain { mut link, mut entity, train } = *flight;
        let Train { run: EvenInstants { first: mut arrival, .. }, packet, mut course, mut advance } = train;
        loop {
            let service = self.passing_on(vertex, packet.kind);
            let before = self.processors.standing(vertex);
            let job = (Job::PassOn(packet), service);
            let train = Train { run: EvenInstants::one(arrival), packet, course, advance };
            let Some(departure) = self.processors.serve(self.calendar, arrival, vertex, job) else {
                let admission = SpeculativeAdmission::of(&MovingTrain { link, entity, train }, service, before);
                self.keep(vertex, SpeculativeAdmission { deferred: true, ..admission });
                return false;
            };
            let (out, transmission) = self.way(vertex, &packet, &mut course);
            let track = &mut self.trains.tracks[out as usize];
            let end = track.end;
            let link_free = track.line.free();
            // Same result as `exit`, from values at hand: with a call of it such runs take 6 % longer.
            let is_at_once = transmission == SimDuration::ZERO && link_free <= departure;
            let comes = track.line.serve(departure, transmission);
            track.carried += 1;
            let waits = before.free() > arrival || link_free.since(departure) > transmission;
            if waits && !self.follows_itself(vertex, packet) {
                advance = advance.after_link();
            }
            self.counts.packet_hops += 1;
            self.counts.events += 2;
            if self.trains.transfers.is_some() {
                self.record_transfer(out, &packet, &[EvenInstants::one(comes)], transmission);
            }
            if arrival > self.key.0 {
                let (deferred, notice) = (false, false);
                let admission =
                    SpeculativeAdmission { train, link, entity, out, service, before, link_free, deferred, notice };
                self.trains.admissions.push(vertex, admission);
            }
            (link, entity) = (out, if is_at_once { self.first_processor + vertex } else { out });
            (vertex, arrival) = (end, comes);
            let train = Train { run: EvenInstants::one(arrival), packet, course, advance };
            if !self.trains.ahead.is_empty() {
                self.trains.ahead.push_back(MovingTrain { link, entity, train });
                return false;
            }
            if advance != Advance::Ahead || !self.is_next(vertex, link, (arrival, entity)) {
                self.come(link, Coming { train, entity, arrives: true, leaves: false });
                return false;
            }
            if packet.to == vertex {
                *flight = MovingTrain { link, entity, train };
                return true;
            }
        }
    }

    /// Admits as much as is sure of a train to the vertex that it comes to. The vertex is settled, or the train is
    /// known to be the next that comes to it. Returns whether it goes on as a single run, which `flight` then describes;
    /// otherwise the runs that go on are among those that may go ahead.
    #[inline(never)]
    fn admit_train(&mut self, vertex: u32, flight: &mut MovingTrain) -> bool {
        let MovingTrain { link, entity, train: Train { run, packet, .. } } = *flight;
        let (job, service) = self.job(vertex, packet);
        let before = self.processors.standing(vertex);
        let admission = self.processors.serve_run(self.calendar, vertex, run, (job, service));
        let count = admission.count;
        if let Some(rest) = run.tail(count) {
            let train = Train { run: rest, ..flight.train };
            self.trains.coming.push_front(link, Coming { train, entity, arrives: true, leaves: false });
            self.schedule_next(link);
            flight.train.run.count = count;
        }
        let speculative = SpeculativeAdmission::of(flight, service, before);
        let Some(mut departures) = admission.departures.as_ref() else {
            self.keep(vertex, SpeculativeAdmission { deferred: true, ..speculative });
            return false;
        };
        self.counts.events += u64::from(count);
        let mut waits = before.free() > run.first;
        let end = self.processors.free(vertex);
        let acknowledged = Runs::One(EvenInstants::one(end));
        if packet.to == vertex {
            if !self.take_in(vertex, packet, count, end) {
                self.keep(vertex, speculative);
                return false;
            }
            departures = &acknowledged;
            flight.train = Train { advance: flight.train.advance, ..Train::new(run, self.acknowledge(packet.message)) };
            waits = false;
        }
        let (out, transmission) = self.way(vertex, &flight.train.packet, &mut flight.train.course);
        let link_free = self.trains.tracks[out as usize].line.free();
        waits |= link_free.since(departures.first()) > transmission;
        waits &= !self.follows_itself(vertex, packet);
        self.keep(vertex, SpeculativeAdmission { out, link_free, ..speculative });
        if waits {
            flight.train.advance = flight.train.advance.after_link();
        }
        (flight.link, flight.entity) = (out, self.exit(vertex, out, departures.first(), transmission));
        let packet = flight.train.packet;
        match self.transmit(out, &packet, departures, transmission) {
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

    /// Returns whether the last to come to a vertex before a packet is of the same message: then the packet waits for
    /// nothing that is withdrawn without it.
    fn follows_itself(&self, vertex: u32, packet: Packet) -> bool {
        self.trains.admissions.top(vertex).is_some_and(|top| top.train.packet.message == packet.message)
    }

    /// The admission may have to be withdrawn, unless all of it has come.
    #[expect(clippy::inline_always, reason = "an admission is put together where it is kept")]
    #[inline(always)]
    fn keep(&mut self, vertex: u32, admission: SpeculativeAdmission) {
        if admission.train.run.last() > self.key.0 {
            self.trains.admissions.push(vertex, admission);
        }
    }

    /// Packets are taken in at their destination, the last of them at `end`; whether an acknowledge follows.
    fn take_in(&mut self, vertex: u32, packet: Packet, count: u32, end: SimTime) -> bool {
        let message = &mut self.messages[packet.message as usize];
        if packet.kind == PacketKind::Data {
            message.missing -= count;
            if message.missing > 0 {
                return false;
            }
        }
        self.job_timers.add(self.calendar, vertex, end, Job::TakeIn(packet));
        packet.kind == PacketKind::Data && self.sends == Sends::UntilDelivered && message.from != message.to
    }

    /// The train has been given to `link` and comes out of it so; it is admitted ahead as far as it may.
    fn go_ahead(&mut self, link: u32, entity: Entity, train: Train, comings: &Runs) {
        let flights =
            comings.as_slice().iter().map(|run| MovingTrain { link, entity, train: Train { run: *run, ..train } });
        self.trains.ahead.extend(flights);
    }

    /// Admits all trains that wait for it to the vertices that they come to, as far as they may be admitted ahead.
    fn admit_ahead(&mut self) {
        while let Some(flight) = self.trains.ahead.pop_front() {
            self.go_on(flight, false);
        }
    }

    /// Admits a train that has been given to a link to one vertex after the other, as far as it may be admitted ahead;
    /// to the first one in any case if it has `come` there or is known to be the next that does.
    fn go_on(&mut self, mut flight: MovingTrain, mut come: bool) {
        loop {
            let MovingTrain { link, entity, train } = flight;
            let vertex = if link == NO_LINK { train.packet.to } else { self.trains.tracks[link as usize].end };
            let key = (train.run.first, entity);
            let is_admitted = come || train.advance == Advance::Ahead && self.is_next(vertex, link, key);
            if !is_admitted {
                self.come(link, Coming { train, entity, arrives: true, leaves: false });
                return;
            }
            if train.run.count == 1 && train.packet.to != vertex {
                if !self.pass_on(vertex, &mut flight) {
                    return;
                }
                come = true;
                continue;
            }
            if !self.admit_train(vertex, &mut flight) {
                return;
            }
            if !self.trains.ahead.is_empty() {
                // It must not overtake on another link what has been given to that before.
                self.trains.ahead.push_back(flight);
                return;
            }
            come = false;
        }
    }

    /// Returns whether nothing that is known already comes to `vertex`, the end of `link`, before the event with this
    /// key or changes the service there.
    #[expect(clippy::inline_always, reason = "it is asked for every hop")]
    #[inline(always)]
    fn is_next(&mut self, vertex: u32, link: u32, key: (SimTime, Entity)) -> bool {
        if !self.trains.admissions.precede(vertex, key) {
            return false;
        }
        self.trains.admissions.clear_before(vertex, self.key.0);
        self.trains.coming.is_empty(link) && self.processors.is_calm(vertex)
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
        let run = EvenInstants::one(self.trains.tracks[out as usize].line.free());
        self.come(out, Coming { train: Train { run, ..train }, entity: out, arrives: false, leaves: true });
    }

    pub(super) fn schedule_next(&mut self, link: u32) {
        if let Some((time, entity)) = self.trains.coming.front(link).map(Coming::key) {
            self.calendar.schedule(time, entity);
        }
    }
}
