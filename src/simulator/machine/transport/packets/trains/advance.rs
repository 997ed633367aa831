//! Advance of trains: arrival at a place, service there and departure, as far ahead of their events as is allowed.

use super::admissions::SpeculativeAdmission;
use super::buffers::BufferArrival;
use super::places::NO_LINK;
use super::{MovingTrain, PendingArrival, SpeculationLimit, Train, TrainContext, longest_stay};
use crate::engine::{Entity, EvenInstants, Runs};
use crate::machine::transport::packets::{Job, PacketizedMessage};
use crate::machine::{Completion, Sends};
use crate::network::{Packet, PacketKind, PacketTimes};
use crate::node::Admission;
use crate::units::{SimDuration, SimTime};

impl TrainContext<'_> {
    /// Runs the event of a link: a packet leaves it or arrives at its end. The event is void if the packet has been
    /// withdrawn.
    pub(in crate::machine::transport) fn run_link_event(&mut self, entity: Entity) {
        if entity < self.trains.places.links() {
            self.leave_link(entity, entity);
        }
        if let Some(link) = self.trains.places.arrives_by(entity) {
            self.arrive_by(link, entity);
        }
    }

    /// Handles the first pending arrival by `way`, if its event is the current event of `entity`.
    fn arrive_by(&mut self, way: u32, entity: Entity) {
        let key = (self.key.0, entity);
        let Some(PendingArrival { mut train, .. }) =
            self.trains.pending_arrivals.front(way).filter(|arrival| arrival.key() == key).copied()
        else {
            return;
        };
        self.trains.pending_arrivals.pop_front(way);
        self.settle_for_train(way, &train);
        if train.limit == SpeculationLimit::AfterLink {
            train.limit = SpeculationLimit::Ahead;
        }
        self.arrive(MovingTrain { link: way, entity, train });
        self.schedule_next(way);
    }

    /// Runs the event of a processor: the end of a job that a process waits for or that must be continued, or the
    /// arrival of a packet whose transmission takes no time. The event is void if the job has been withdrawn.
    pub(in crate::machine::transport) fn finish_job(&mut self, node: u32) {
        let entity = self.first_processor + node;
        if self.trains.places.separates_links() {
            self.arrive_by(self.trains.places.to_router(node), entity);
        }
        match self.job_timers.take(self.calendar, node, self.key.0) {
            Some(Job::Continue(message)) => self.prepare(message),
            Some(Job::Prepare { message, bytes }) => {
                self.leave(message);
                self.settle(node);
                let packet = Packet::new(message, node, bytes, PacketKind::Data);
                let train = Train::new(EvenInstants::single(self.key.0), packet);
                self.arrive(MovingTrain { link: NO_LINK, entity, train });
            }
            Some(Job::Receive(packet)) => self.finish_reception(packet),
            Some(Job::Forward(_)) => unreachable!("packets that are passed on notify no process"),
            None => self.deliver_at_once(node, entity),
        }
    }

    /// Delivers the packets that the processor of `node` has sent over a link that takes no time.
    fn deliver_at_once(&mut self, node: u32, entity: Entity) {
        let key = (self.key.0, entity);
        let is_due =
            |link: &u32| self.trains.is_next_departure_by(*link, key) || self.trains.is_next_arrival_by(*link, key);
        if let Some(link) = self.trains.places.links_of(node).find(is_due) {
            self.leave_link(link, entity);
            self.arrive_by(link, entity);
        }
    }

    /// Advances jobs on `node` that waited for a computation and have been admitted, with the given departures.
    pub(in crate::machine::transport) fn admit_deferred(&mut self, node: u32, jobs: impl Iterator<Item = (Job, Runs)>) {
        for (job, departures) in jobs {
            match job {
                Job::Prepare { message, bytes } => {
                    self.defer_queued();
                    let packet = Packet::new(message, self.messages[message].to, bytes, PacketKind::Data);
                    self.prepared(node, packet, departures.first());
                }
                Job::Forward(packet) => {
                    self.counts.events += u64::from(departures.count());
                    let left = self.send_on(node, packet, &departures);
                    if let Some(buffers) = &mut self.trains.buffers {
                        buffers.release_deferred(node, left);
                    }
                }
                Job::Receive(packet) => self.receive_deferred(node, packet, &departures),
                Job::Continue(_) => unreachable!("a preparation is continued by a timer"),
            }
        }
        // Trains are admitted ahead only when all are on their links, because an acknowledgement may return to this
        // node.
        self.advance_queued();
    }

    /// Lets the trains that could be admitted ahead arrive by their own events. Later packets on these links are not
    /// admitted ahead, and must not be overtaken.
    fn defer_queued(&mut self) {
        while let Some(MovingTrain { link, entity, train }) = self.trains.ahead.pop_front() {
            self.add_pending_arrival(link, PendingArrival { train, entity });
        }
    }

    fn receive_deferred(&mut self, node: u32, packet: Packet, departures: &Runs) {
        let (count, end) = (departures.count(), departures.last());
        self.counts.events += u64::from(count);
        let is_from_here = packet.kind == PacketKind::Data && self.messages[packet.message].from == node;
        // A packet that stays on its node occupies no buffer behind a link.
        if let Some(buffers) = self.trains.buffers.as_mut().filter(|_| !is_from_here) {
            buffers.release_deferred(node, (departures.first(), end));
        }
        if self.receive(node, packet, count, end) {
            self.send_on(node, self.acknowledge_packet(packet.message), &Runs::One(EvenInstants::single(end)));
        }
    }

    /// Hands packets to their link at their departures from the processor of `node`. Returns the times at which the
    /// first and the last of them have left it, or have gone to its router.
    fn send_on(&mut self, node: u32, packet: Packet, departures: &Runs) -> (SimTime, SimTime) {
        let mut train = Train::new(EvenInstants::single(self.key.0), packet);
        if self.trains.places.separates_links() {
            self.hand_to_router(node, train, departures);
            return (departures.first(), departures.last());
        }
        let (out, times) = self.trains.next_link(node, &packet, &mut train.course);
        let entity = self.arrival_entity(node, (out, times), &packet, departures.first());
        let arrivals = self.transmit(out, &packet, departures, times);
        let left = self.left((out, times), packet.to, &arrivals);
        self.queue_ahead(out, entity, train, &arrivals);
        left
    }

    /// Returns the entity of the event at which a packet that leaves the processor of `vertex` at `departure` arrives
    /// at the end of `link`. A packet that neither waits nor takes time arrives in the event of the processor.
    #[inline]
    pub(super) fn arrival_entity(
        &self,
        vertex: u32,
        (link, times): (u32, PacketTimes),
        packet: &Packet,
        departure: SimTime,
    ) -> Entity {
        let track = &self.trains.tracks[link as usize];
        let is_at_once = times.arrival(track.end == packet.to) == SimDuration::ZERO && track.line.free() <= departure;
        if is_at_once { self.first_processor + vertex } else { self.trains.places.arrival(link) }
    }

    fn finish_reception(&mut self, packet: Packet) {
        let PacketizedMessage { from, to, handle, rule, .. } = self.messages[packet.message];
        let mut is_complete = true;
        if packet.kind == PacketKind::Data {
            self.completions.push_back(Completion::Delivered { message: packet.message, handle });
            is_complete = rule == Sends::UntilDelivered && from == to;
        }
        if is_complete {
            self.completions.push_back(Completion::Sent { handle });
            self.messages.take(packet.message);
        }
    }

    /// Admits a train that arrives at a vertex, which has been settled, and advances it while it may be admitted ahead.
    pub(super) fn arrive(&mut self, flight: MovingTrain) {
        self.advance(flight, true);
        self.advance_queued();
    }

    /// Admits to a vertex as many packets of an arriving train as are certain. The vertex is settled, or the train is
    /// known to be the next to arrive there. Returns whether the train continues as a single run, which `flight` then
    /// describes; otherwise the runs that continue are queued to be admitted ahead.
    #[inline(never)]
    pub(super) fn admit_train(&mut self, vertex: u32, flight: &mut MovingTrain) -> bool {
        let Train { run, packet, .. } = flight.train;
        let before = self.processors.checkpoint(vertex);
        let (admission, service) = self.serve_train(vertex, flight);
        let count = admission.count;
        let mut speculative = SpeculativeAdmission::of(flight, service, before);
        let Some(mut departures) = admission.departures.as_ref() else {
            self.keep(vertex, SpeculativeAdmission { deferred: true, ..speculative });
            return false;
        };
        self.counts.events += u64::from(count);
        let mut waits = before.free() > run.first;
        let end = self.processors.free(vertex);
        let acknowledged = Runs::One(EvenInstants::single(end));
        if packet.to == vertex {
            if self.trains.buffers.is_some() {
                speculative.stay = longest_stay(speculative.train.run, (departures.first(), end));
            }
            if !self.receive(vertex, packet, count, end) {
                self.keep(vertex, speculative);
                return false;
            }
            departures = &acknowledged;
            let acknowledge = self.acknowledge_packet(packet.message);
            flight.train = Train { limit: flight.train.limit, ..Train::new(run, acknowledge) };
            waits = false;
        }
        if self.trains.places.separates_links() {
            waits &= !self.waits_only_for_own_message(vertex, packet);
            let way = self.trains.places.to_router(vertex);
            self.keep(vertex, SpeculativeAdmission { out: way, ..speculative });
            return self.continues_as_one_run(flight, (way, self.first_processor + vertex), departures, waits);
        }
        self.hand_to_link(vertex, flight, departures, speculative, packet, waits)
    }

    /// Hands the packets that leave `vertex` after an admission to their link, at their departures from the processor.
    /// On entry, `waits` tells whether the arrived `packet` waits for the processor. Returns the same as
    /// [`admit_train`](Self::admit_train).
    #[expect(clippy::inline_always, reason = "part of the admission of every train")]
    #[inline(always)]
    fn hand_to_link(
        &mut self,
        vertex: u32,
        flight: &mut MovingTrain,
        departures: &Runs,
        mut speculative: SpeculativeAdmission,
        packet: Packet,
        mut waits: bool,
    ) -> bool {
        let (out, times) = self.trains.next_link(vertex, &flight.train.packet, &mut flight.train.course);
        let link_free = self.trains.tracks[out as usize].line.free();
        waits |= link_free.since(departures.first()) > times.occupancy;
        waits &= !self.waits_only_for_own_message(vertex, packet);
        let onward = flight.train.packet;
        let entity = self.arrival_entity(vertex, (out, times), &onward, departures.first());
        let arrivals = self.transmit(out, &onward, departures, times);
        if packet.to != vertex {
            speculative.stay = self.stay(speculative.train.run, (out, times), packet.to, &arrivals);
        }
        self.keep(vertex, SpeculativeAdmission { out, link_free, ..speculative });
        self.continues_as_one_run(flight, (out, entity), &arrivals, waits)
    }

    /// Hands a train to the processor of `vertex`, which admits as many of its packets as are certain. `flight` keeps
    /// those packets, and the others arrive later. Returns the admission, and the service time of each packet.
    #[expect(clippy::inline_always, reason = "part of the admission of every train")]
    #[inline(always)]
    fn serve_train(&mut self, vertex: u32, flight: &mut MovingTrain) -> (Admission, SimDuration) {
        let MovingTrain { link, entity, train: Train { run, packet, .. } } = *flight;
        let (job, service) = self.job(vertex, packet);
        let admission = self.processors.serve_run(self.calendar, vertex, run, (job, service));
        if let Some(rest) = run.tail(admission.count) {
            let train = Train { run: rest, ..flight.train };
            self.trains.pending_arrivals.push_front(link, PendingArrival { train, entity });
            self.schedule_next(link);
            flight.train.run.count = admission.count;
        }
        (admission, service)
    }

    /// Sends a train on by a way, with these arrivals at its end. Returns whether it continues as a single run, which
    /// `flight` then describes; otherwise its runs are queued to be admitted ahead.
    #[inline]
    pub(super) fn continues_as_one_run(
        &mut self,
        flight: &mut MovingTrain,
        (way, entity): (u32, Entity),
        arrivals: &Runs,
        waits: bool,
    ) -> bool {
        if waits {
            flight.train.limit = flight.train.limit.after_link();
        }
        (flight.link, flight.entity) = (way, entity);
        match arrivals {
            Runs::One(run) => {
                flight.train.run = *run;
                true
            }
            Runs::Few(_) => {
                self.queue_ahead(way, entity, flight.train, arrivals);
                false
            }
        }
    }

    /// Returns whether a packet that waits at a place waits for nothing that may be withdrawn without it: all earlier
    /// packets have arrived, or the last of them belongs to the same message.
    #[inline]
    pub(super) fn waits_only_for_own_message(&self, place: u32, packet: Packet) -> bool {
        let admissions = &self.trains.admissions;
        admissions.have_arrived(place, self.key.0)
            || admissions.top(place).is_some_and(|top| top.train.packet.message == packet.message)
    }

    /// Records an admission that may have to be withdrawn; one that has completely arrived needs no record.
    #[expect(clippy::inline_always, reason = "an admission is constructed in place")]
    #[inline(always)]
    pub(super) fn keep(&mut self, vertex: u32, admission: SpeculativeAdmission) {
        if admission.train.run.last() > self.key.0 {
            self.trains.admissions.push(vertex, admission.train.run.last(), admission);
        } else if self.trains.buffers.is_some() {
            self.trains.count_arrival(vertex, &BufferArrival::of(&admission));
        }
    }

    /// Receives packets at their destination, the last of them at `end`. Returns whether an acknowledgement follows.
    fn receive(&mut self, vertex: u32, packet: Packet, count: u32, end: SimTime) -> bool {
        let message = &mut self.messages[packet.message];
        if packet.kind == PacketKind::Data {
            message.missing -= count;
            if message.missing > 0 {
                return false;
            }
        }
        self.job_timers.add(self.calendar, vertex, end, Job::Receive(packet));
        packet.kind == PacketKind::Data && message.rule == Sends::UntilDelivered && message.from != message.to
    }

    /// Queues the runs of a train that has been handed to `link`, with these arrivals at its end, to be admitted ahead.
    pub(super) fn queue_ahead(&mut self, link: u32, entity: Entity, train: Train, arrivals: &Runs) {
        let flights =
            arrivals.as_slice().iter().map(|run| MovingTrain { link, entity, train: Train { run: *run, ..train } });
        self.trains.ahead.extend(flights);
    }

    /// Advances all queued trains through the places to which they may be admitted ahead.
    pub(super) fn advance_queued(&mut self) {
        while let Some(flight) = self.trains.ahead.pop_front() {
            self.advance(flight, false);
        }
    }

    /// Admits a train that has been handed to a link to one vertex after the other, until it may not be admitted ahead.
    /// It is admitted to the first vertex in any case if it has arrived there (`has_arrived`) or is known to be the next to
    /// arrive.
    pub(super) fn advance(&mut self, mut flight: MovingTrain, mut has_arrived: bool) {
        if self.trains.places.separates_links() {
            return self.advance_by_routers(flight, has_arrived);
        }
        loop {
            let MovingTrain { link, entity, train } = flight;
            let vertex = self.end(link, train.packet.to);
            let key = (train.run.first, entity);
            let is_admitted = has_arrived || train.limit == SpeculationLimit::Ahead && self.is_next(vertex, link, key);
            if !is_admitted {
                self.add_pending_arrival(link, PendingArrival { train, entity });
                return;
            }
            let passes = train.packet.to != vertex && self.pass_freely(vertex, &mut flight);
            if !passes && !self.admit_train(vertex, &mut flight) {
                return;
            }
            if !self.trains.ahead.is_empty() {
                // The train must not overtake trains that were handed to other links before.
                self.trains.ahead.push_back(flight);
                return;
            }
            has_arrived = false;
        }
    }

    /// Returns the vertex at the end of a way, or `to` for a train that starts there.
    #[inline]
    pub(super) fn end(&self, way: u32, to: u32) -> u32 {
        match self.trains.tracks.get(way as usize) {
            Some(track) => track.end,
            None => self.trains.places.processor_before(way).unwrap_or(to),
        }
    }

    /// Returns whether nothing that is known so far arrives at `vertex`, the end of `link`, before the event with this
    /// key, or changes the service there.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    pub(super) fn is_next(&mut self, vertex: u32, link: u32, key: (SimTime, Entity)) -> bool {
        self.is_next_arrival(vertex, link, key) && self.processors.is_calm(vertex)
    }

    /// Returns whether nothing that is known so far arrives at `place`, the end of `way`, before the event with this
    /// key. Clears the admissions of the place if all of them have arrived.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    pub(super) fn is_next_arrival(&mut self, place: u32, way: u32, key: (SimTime, Entity)) -> bool {
        if !self.trains.admissions.precede(place, key) {
            return false;
        }
        self.trains.clear_before(place, self.key.0);
        self.trains.pending_arrivals.is_empty(way)
    }

    /// Adds a train that arrives at the end of `link` by its own events.
    #[inline(never)]
    pub(super) fn add_pending_arrival(&mut self, link: u32, arrival: PendingArrival) {
        let is_first = self.trains.pending_arrivals.is_empty(link);
        self.trains.pending_arrivals.push_back(link, arrival);
        if is_first {
            self.schedule_next(link);
        }
    }

    /// Schedules the first arrival by `way`, unless the event of the first departure from that link handles it, too.
    pub(super) fn schedule_next(&mut self, way: u32) {
        let Some(key) = self.trains.pending_arrivals.front(way).map(PendingArrival::key) else { return };
        let is_scheduled =
            key > self.key && way < self.trains.places.links() && self.trains.is_next_departure_by(way, key);
        if !is_scheduled {
            self.calendar.schedule(key.0, key.1);
        }
    }
}
