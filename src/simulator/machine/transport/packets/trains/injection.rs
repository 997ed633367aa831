//! Injection: the processor of the source prepares messages and hands their packets to the first link.

use super::admissions::{Preparation, SpeculativeAdmission};
use super::places::NO_LINK;
use super::{MovingTrain, PendingArrival, PendingDeparture, Train, TrainContext};
use crate::engine::{Entity, EvenInstants, Runs};
use crate::machine::transport::packets::{Job, MessageId, PacketizedMessage};
use crate::machine::{Completion, Sends};
use crate::network::{Packet, PacketKind, PacketTimes};
use crate::units::{SimDuration, SimTime};

impl TrainContext<'_> {
    /// Prepares the next packets of a message on the processor of the source: as many as nothing is known to interrupt.
    pub(in crate::machine::transport) fn prepare(&mut self, id: MessageId) {
        let now = self.key.0;
        let message = self.messages[id];
        let PacketizedMessage { from, to, unprepared, .. } = message;
        self.settle(from);
        let bytes = unprepared.min(self.packet_bytes);
        let service = self.service(from, message.preparation(bytes, self.node));
        let length = u32::try_from(bytes).expect("check limits the size of packets");
        let packet = Packet::new(id, to, length, PacketKind::Data);
        if from != to && self.processors.free(from) <= now && !self.processors.defers(from) {
            self.prepare_train(from, packet, service);
            return;
        }
        self.messages[id].unprepared -= bytes;
        let job = Job::Prepare { message: id, bytes: length };
        if let Some(departure) = self.processors.serve(self.calendar, now, from, (job, service)) {
            self.prepared(from, packet, departure);
        }
    }

    /// Prepares packets of a message on a processor with an empty queue.
    fn prepare_train(&mut self, from: u32, packet: Packet, service: SimDuration) {
        let (now, id, overlap) = (self.key.0, packet.message, self.node.sending.overlap);
        let mut train = Train::new(EvenInstants::single(now), packet);
        let (out, times) = self.trains.next_link(from, &packet, &mut train.course);
        let is_alone = self.finds_link_free(from, out, now + service);
        let before = self.processors.checkpoint(from);
        let link_free = self.trains.tracks[out as usize].line.free();
        let unprepared = self.messages[id].unprepared;
        let equal = u32::try_from(unprepared / self.packet_bytes).expect("check limits the size of messages");
        let gap = if overlap { service } else { service + times.occupancy };
        let run = EvenInstants { first: now, gap, count: if is_alone { equal.max(1) } else { 1 } };
        let admission = self.processors.serve_run(self.calendar, from, run, (Job::Forward(packet), service));
        let count = admission.count;
        let departures = admission.departures.as_ref().expect("the processor does not defer jobs");
        train.run = run.head(count);
        self.messages[id].unprepared -= u64::from(packet.bytes) * u64::from(count);
        self.counts.events += u64::from(count);
        let preparation = self.continue_preparation(from, id, self.processors.free(from));
        let entity = if overlap { self.first_processor + from } else { out };
        let flight = MovingTrain { link: NO_LINK, entity, train };
        let admission = SpeculativeAdmission::of(&flight, service, before);
        let admission = SpeculativeAdmission { out, link_free, preparation, ..admission };
        if self.trains.places.separates_links() {
            self.keep(from, SpeculativeAdmission { out: self.trains.places.to_router(from), ..admission });
            self.hand_to_router(from, Train::new(train.run, packet), departures);
        } else if let Some(rear) = self.rear(from, &packet, (is_alone, times)) {
            self.inject_convoy(from, (out, times), (admission, departures), rear);
        } else {
            let (entity, arrivals, notice) = self.inject(from, (out, times), &packet, departures);
            self.keep(from, SpeculativeAdmission { notice, ..admission });
            if !is_alone {
                // The order of arrivals at a link with a backlog cannot be known in advance.
                let train = Train { run: EvenInstants::single(arrivals.first()), ..train };
                self.add_pending_arrival(out, PendingArrival { train, entity });
                return;
            }
            self.queue_ahead(out, entity, train, &arrivals);
        }
        self.advance_queued();
    }

    /// Returns whether nothing delays packets that the processor of `from` hands to a link from `departure` on.
    fn finds_link_free(&mut self, from: u32, link: u32, departure: SimTime) -> bool {
        if self.node.sending.overlap {
            return true;
        }
        if self.trains.places.separates_links() {
            self.settle(self.trains.places.of_link(link));
            if !self.trains.pending_arrivals.is_empty(self.trains.places.to_router(from)) {
                return false;
            }
        }
        self.trains.tracks[link as usize].line.free() <= departure
    }

    /// Handles a packet of a message whose preparation ends at `departure`, when it goes to its link or to its own
    /// node.
    pub(super) fn prepared(&mut self, from: u32, packet: Packet, departure: SimTime) {
        let (id, bytes) = (packet.message, packet.bytes);
        self.counts.events += 1;
        if packet.to == from {
            self.job_timers.add(self.calendar, from, departure, Job::Prepare { message: id, bytes });
            return;
        }
        let departure = EvenInstants::single(departure);
        self.continue_preparation(from, id, departure.first);
        let mut train = Train::new(departure, packet);
        if self.trains.places.separates_links() {
            let entity = self.first_processor + from;
            self.add_pending_arrival(self.trains.places.to_router(from), PendingArrival { train, entity });
            return;
        }
        let way = self.trains.next_link(from, &packet, &mut train.course);
        let (entity, arrivals, _) = self.inject(from, way, &packet, &Runs::One(departure));
        train.run = EvenInstants::single(arrivals.first());
        self.add_pending_arrival(way.0, PendingArrival { train, entity });
    }

    /// Hands packets of a message to their first link at their departures from the processor of `from`. Returns the
    /// entity of the first arrival, the arrivals, and whether the source is notified of the departure.
    #[inline]
    pub(super) fn inject(
        &mut self,
        from: u32,
        (out, times): (u32, PacketTimes),
        packet: &Packet,
        departures: &Runs,
    ) -> (Entity, Runs, bool) {
        let arrival = self.arrival_entity(from, (out, times), packet, departures.first());
        let departure = self.departure_entity(from, (out, times), departures.first());
        let arrivals = self.transmit(out, packet, departures, times);
        self.messages[packet.message].uninjected -= departures.count();
        (arrival, arrivals, self.notify_if_awaited(packet.message, out, departure))
    }

    /// Returns the entity of the event at which a packet that is handed to a link at `departure` has left that link. As
    /// in [`arrival_entity`](Self::arrival_entity), it is that of the processor if the packet neither waits nor takes time.
    fn departure_entity(&self, vertex: u32, (link, times): (u32, PacketTimes), departure: SimTime) -> Entity {
        let is_free = self.trains.tracks[link as usize].line.free() <= departure;
        if times.occupancy == SimDuration::ZERO && is_free { self.first_processor + vertex } else { link }
    }

    /// Notifies the source of a message when the last packet handed to `link` has left it, if the source waits for that
    /// to prepare the next packet or to continue.
    pub(super) fn notify_if_awaited(&mut self, id: MessageId, link: u32, entity: Entity) -> bool {
        let PacketizedMessage { unprepared, uninjected, rule, .. } = self.messages[id];
        let is_awaited = if unprepared > 0 {
            !self.node.sending.overlap && u64::from(uninjected) == unprepared.div_ceil(self.packet_bytes)
        } else {
            uninjected == 0 && rule == Sends::UntilInjected
        };
        if is_awaited {
            let time = self.trains.tracks[link as usize].line.free();
            let is_first = self.trains.pending_departures.is_empty(link);
            self.trains.pending_departures.push_back(link, PendingDeparture { time, entity, message: id });
            if is_first {
                self.schedule_next_departure(link);
            }
        }
        is_awaited
    }

    /// Schedules the preparation of the next packet of a message, if there is one. With overlap it starts when the last
    /// preparation ends, at `departure`. Returns the state of the preparation.
    pub(super) fn continue_preparation(&mut self, from: u32, id: MessageId, departure: SimTime) -> Preparation {
        if !self.node.sending.overlap || self.messages[id].unprepared == 0 {
            return Preparation::Begun;
        }
        self.job_timers.add(self.calendar, from, departure, Job::Continue(id));
        Preparation::Continued
    }

    /// Handles the first pending departure from `link`, if its event is the current event of `entity`.
    pub(super) fn leave_link(&mut self, link: u32, entity: Entity) {
        let key = (self.key.0, entity);
        if let Some(PendingDeparture { message, .. }) =
            self.trains.pending_departures.front(link).filter(|departure| departure.key() == key).copied()
        {
            self.trains.pending_departures.pop_front(link);
            self.schedule_next_departure(link);
            self.leave(message);
        }
    }

    /// Schedules the first departure from `link`, unless the event of the first arrival by it handles it, too.
    fn schedule_next_departure(&mut self, link: u32) {
        let Some(key) = self.trains.pending_departures.front(link).map(PendingDeparture::key) else { return };
        if key <= self.key || !self.trains.is_next_arrival_by(link, key) {
            self.calendar.schedule(key.0, key.1);
        }
    }

    /// Handles the departure of a packet from its source. Without overlap, the next packet is prepared now.
    pub(super) fn leave(&mut self, id: MessageId) {
        let PacketizedMessage { unprepared, handle, rule, .. } = self.messages[id];
        if unprepared > 0 {
            self.prepare(id);
        } else if rule == Sends::UntilInjected {
            self.completions.push_back(Completion::Sent { handle });
        }
    }
}
