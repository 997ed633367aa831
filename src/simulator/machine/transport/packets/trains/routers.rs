//! Trains where links are separate places, because hardware routers or acknowledgements hand packets to links in
//! addition to the processors.

use super::super::software::{forwarding_time, receiving_time};
use super::admissions::SpeculativeAdmission;
use super::places::NO_LINK;
use super::{MovingTrain, PendingArrival, SpeculationLimit, Train, TrainContext};
use crate::engine::{Entity, EvenInstants, Runs};
use crate::machine::Completion;
use crate::machine::transport::packets::{Job, MessageId, PacketizedMessage};
use crate::network::{Packet, PacketKind, PacketTimes};
use crate::units::SimDuration;

impl TrainContext<'_> {
    /// Advances a train as [`advance`](Self::advance) does, where links are separate places.
    #[inline(never)]
    pub(super) fn advance_by_routers(&mut self, mut flight: MovingTrain, mut has_arrived: bool) {
        while self.pass_places(&mut flight, has_arrived) || self.admit_to_place(&mut flight, has_arrived) {
            if !self.trains.ahead.is_empty() {
                // The train must not overtake trains that were handed to other links before.
                self.trains.ahead.push_back(flight);
                return;
            }
            has_arrived = false;
        }
    }

    /// Admits a train to the place that it reaches, if allowed. Returns whether it continues as a single run, as
    /// [`admit_train`](Self::admit_train).
    fn admit_to_place(&mut self, flight: &mut MovingTrain, has_arrived: bool) -> bool {
        let MovingTrain { link, entity, train } = *flight;
        let vertex = self.end(link, train.packet.to);
        if self.trains.places.is_routed(link, vertex, train.packet.to) {
            return self.admit_by_router(vertex, flight, has_arrived);
        }
        let key = (train.run.first, entity);
        let is_admitted = has_arrived
            || train.limit == SpeculationLimit::Ahead
                && !self.ends_before_arrival(vertex, entity, &train.packet)
                && self.is_next(vertex, link, key);
        if !is_admitted {
            self.add_pending_arrival(link, PendingArrival { train, entity });
            return false;
        }
        if train.run.count == 1 && train.packet.to != vertex {
            return self.pass_to_router(vertex, flight);
        }
        self.admit_train(vertex, flight)
    }

    /// Returns whether an acknowledgement that takes no time at `vertex` would end its send before the event of this
    /// entity, by which it arrives at the same moment.
    fn ends_before_arrival(&self, vertex: u32, entity: Entity, packet: &Packet) -> bool {
        packet.kind == PacketKind::Acknowledge
            && entity > self.first_processor + vertex
            && self.service(vertex, receiving_time(self.node, packet)) == SimDuration::ZERO
    }

    /// Sends packets to the router of `node` at their departures from its processor.
    pub(super) fn hand_to_router(&mut self, node: u32, train: Train, departures: &Runs) {
        self.queue_ahead(self.trains.places.to_router(node), self.first_processor + node, train, departures);
    }

    /// Acknowledges a message whose sender waits until a process has received it.
    pub(in crate::machine::transport) fn acknowledge(&mut self, id: MessageId) {
        let PacketizedMessage { from, to, handle, .. } = self.messages[id];
        if from == to {
            self.completions.push_back(Completion::Sent { handle });
            self.messages.take(id);
            return;
        }
        let train = Train::new(EvenInstants::single(self.key.0), self.acknowledge_packet(id));
        let way = self.trains.places.to_router(to);
        self.settle(to);
        self.settle_for_train(way, &train);
        self.arrive(MovingTrain { link: way, entity: self.key.1, train });
    }

    /// Lets the processor of `vertex` pass a single packet on to its router. Returns whether the packet is served, as
    /// [`admit_train`](Self::admit_train).
    fn pass_to_router(&mut self, vertex: u32, flight: &mut MovingTrain) -> bool {
        let Train { run: EvenInstants { first: arrival, .. }, packet, .. } = flight.train;
        let service = self.service(vertex, forwarding_time(self.node, packet.kind));
        let before = self.processors.checkpoint(vertex);
        let admission = SpeculativeAdmission::of(flight, service, before);
        let Some(departure) = self.processors.serve(self.calendar, arrival, vertex, (Job::Forward(packet), service))
        else {
            self.keep(vertex, SpeculativeAdmission { deferred: true, ..admission });
            return false;
        };
        self.counts.events += 1;
        if before.free() > arrival && !self.waits_only_for_own_message(vertex, packet) {
            flight.train.limit = flight.train.limit.after_link();
        }
        let out = self.trains.places.to_router(vertex);
        self.keep(vertex, SpeculativeAdmission { out, ..admission });
        (flight.link, flight.entity) = (out, self.first_processor + vertex);
        flight.train.run = EvenInstants::single(departure);
        true
    }

    /// Admits a train to a link that is a separate place. The link is settled, or the train is known to be the next to
    /// arrive there. Returns the same as [`admit_train`](Self::admit_train).
    fn admit_to_link(&mut self, vertex: u32, (out, times): (u32, PacketTimes), flight: &mut MovingTrain) -> bool {
        let MovingTrain { link, train: Train { run, packet, .. }, .. } = *flight;
        let place = self.trains.places.of_link(out);
        let link_free = self.trains.tracks[out as usize].line.free();
        let waits = link_free > run.first && !self.waits_only_for_own_message(place, packet);
        let admission = SpeculativeAdmission {
            out,
            link_free,
            ..SpeculativeAdmission::of(flight, SimDuration::ZERO, self.processors.checkpoint(vertex))
        };
        let departures = Runs::One(run);
        let (entity, arrivals, notice) = if self.is_injected(vertex, link, &packet) {
            self.inject(vertex, (out, times), &packet, &departures)
        } else {
            let entity = self.arrival_entity(vertex, (out, times), &packet, run.first);
            (entity, self.transmit(out, &packet, &departures, times), false)
        };
        let stay = self.stay(run, (out, times), packet.to, &arrivals);
        self.keep(place, SpeculativeAdmission { stay, notice, ..admission });
        if arrivals.first() <= self.key.0 {
            // The packet leaves the link in the event that hands it over, so the event of the link belongs to its
            // arrival.
            let entity = self.trains.places.arrival(out);
            for run in arrivals.as_slice() {
                self.add_pending_arrival(out, PendingArrival { train: Train { run: *run, ..flight.train }, entity });
            }
            return false;
        }
        self.continues_as_one_run(flight, (out, entity), &arrivals, waits)
    }

    /// Returns whether a packet that arrives at `vertex` by `way` is handed to its first link, as data of a message
    /// from there.
    pub(super) fn is_injected(&self, vertex: u32, way: u32, packet: &Packet) -> bool {
        let is_from_here = way == NO_LINK || self.trains.places.processor_before(way).is_some();
        is_from_here && packet.kind == PacketKind::Data && self.messages[packet.message].from == vertex
    }

    /// Sends a train through the router of `vertex`, if it has arrived there (`has_arrived`) or may be admitted ahead. Returns
    /// whether it continues as a single run, as [`admit_train`](Self::admit_train).
    fn admit_by_router(&mut self, vertex: u32, flight: &mut MovingTrain, has_arrived: bool) -> bool {
        let MovingTrain { link, entity, train } = *flight;
        let (out, times) = self.trains.next_link(vertex, &train.packet, &mut flight.train.course);
        let place = self.trains.places.of_link(out);
        let takes_time = times.arrival(self.trains.tracks[out as usize].end == train.packet.to) > SimDuration::ZERO;
        // A packet that takes no time leaves a link in the event that has handed it over.
        let by_event = !takes_time && self.trains.places.processor_before(link).is_none();
        let is_next = has_arrived
            || !by_event
                && train.limit == SpeculationLimit::Ahead
                && self.is_next_arrival(place, link, (train.run.first, entity));
        if !is_next {
            self.add_pending_arrival(link, PendingArrival { train, entity });
            return false;
        }
        if let Some(run) = train.run.tail(1).filter(|_| by_event) {
            flight.train.run.count = 1;
            self.trains.pending_arrivals.push_front(link, PendingArrival { train: Train { run, ..train }, entity });
            self.schedule_next(link);
        }
        self.admit_to_link(vertex, (out, times), flight)
    }
}
