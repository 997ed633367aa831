//! Rollback of trains that have been admitted ahead of time.

use super::admissions::{Preparation, SpeculativeAdmission};
use super::buffers::BufferArrival;
use super::places::NO_LINK;
use super::{PendingArrival, SpeculationLimit, Train, TrainContext};
use crate::engine::{EvenInstants, Lists, Runs};
use crate::network::{Packet, PacketKind};
use crate::units::{SimDuration, SimTime};

impl TrainContext<'_> {
    /// Settles `place` before an event that is not the arrival of a train: packets that have not arrived yet are
    /// withdrawn.
    pub(in crate::machine::transport) fn settle(&mut self, place: u32) {
        self.settle_before(place, false);
    }

    /// Settles all places at the end of the run.
    pub(in crate::machine::transport) fn settle_all(&mut self) {
        for place in 0..self.trains.places.count() {
            self.settle(place);
        }
    }

    /// Settles the place that a train reaches by `way`, before it is admitted there by its own event. Trains that have
    /// been admitted ahead may arrive after it.
    pub(super) fn settle_for_train(&mut self, way: u32, train: &Train) {
        let place = self.place(way, train);
        if self.trains.places.as_link(place).is_some()
            && !self.node.sending.overlap
            && self.trains.places.processor_before(way).is_none()
        {
            // Packets of a source are prepared one after the other, each when the link is free.
            self.settle(self.end(way, train.packet.to));
        }
        self.settle_before(place, true);
    }

    /// Returns the place that a train reaches by `way`.
    fn place(&self, way: u32, train: &Train) -> u32 {
        let Train { packet, mut course, .. } = *train;
        let vertex = self.end(way, packet.to);
        if !self.trains.places.is_routed(way, vertex, packet.to) {
            return vertex;
        }
        let port = course.leave(vertex, packet.to, &self.trains.routes);
        self.trains.places.of_link(self.trains.places.link(vertex, port))
    }

    #[inline]
    fn settle_before(&mut self, place: u32, trains_of_this_event: bool) {
        if !self.trains.clear_before(place, self.key.0) {
            self.settle_now(place, trains_of_this_event);
        }
    }

    fn settle_now(&mut self, place: u32, trains_of_this_event: bool) {
        // The entities of links come before those of processors.
        let first_processor = self.first_processor;
        while let Some(admission) = self.trains.admissions.pop(place) {
            let is_from_here =
                admission.link == NO_LINK || self.trains.places.processor_before(admission.link).is_some();
            let at_once = trains_of_this_event || is_from_here || admission.entity < first_processor;
            let arrived = admission.arrived(self.key, at_once);
            if arrived < admission.train.run.count {
                self.withdraw(place, &admission, arrived);
                self.reschedule(place, &admission, arrived);
            }
            if arrived > 0 {
                self.trains.clear(place);
                self.trains.count_arrival(place, &BufferArrival::of(&admission).head(arrived));
            }
        }
    }

    /// Withdraws all but the first `kept` packets of the last admission of `place`, which has been removed, there and
    /// on their further path. Returns whether the source is notified of the departure of the `kept` packets.
    fn withdraw(&mut self, place: u32, admission: &SpeculativeAdmission, kept: u32) -> bool {
        if let Some(link) = self.trains.places.as_link(place) {
            let vertex = self.trains.places.start(link);
            let kept_run = (kept > 0).then(|| Runs::One(admission.train.run.head(kept)));
            return self.withdraw_from_link(vertex, admission, kept, kept_run.as_ref());
        }
        let SpeculativeAdmission { train: Train { run, packet, .. }, out, service, before, .. } = *admission;
        if admission.deferred {
            self.processors.withdraw_deferred(place, kept);
            return false;
        }
        let withdrawn = run.count - kept;
        self.counts.events -= u64::from(withdrawn);
        let departures = self.processors.withdraw(self.calendar, place, before, (run, kept), service);
        if admission.preparation == Preparation::Continued {
            self.job_timers.withdraw(place);
        }
        if admission.link == NO_LINK {
            self.messages[packet.message].unprepared += u64::from(packet.bytes) * u64::from(withdrawn);
        }
        if packet.to == place {
            self.undo_reception(place, packet, withdrawn);
            if out != NO_LINK {
                self.withdraw_acknowledge(admission);
            }
            return false;
        }
        if self.trains.places.separates_links() {
            self.cancel(out, &packet, withdrawn);
            return false;
        }
        self.withdraw_from_link(place, admission, kept, departures.as_ref())
    }

    /// Withdraws all packets of an admission from the link by which they leave `vertex`, and hands the first `kept` to
    /// it again, at these departures. Returns the same as [`withdraw`](Self::withdraw).
    fn withdraw_from_link(
        &mut self,
        vertex: u32,
        admission: &SpeculativeAdmission,
        kept: u32,
        departures: Option<&Runs>,
    ) -> bool {
        let SpeculativeAdmission { train: Train { run, packet, .. }, link, out, link_free, .. } = *admission;
        if admission.notice {
            self.trains.pending_departures.pop_back(out);
        }
        let times = self.trains.models.times(out, packet.bytes);
        self.revoke(out, link_free, run.count, times.occupancy);
        let is_injected = self.is_injected(vertex, link, &packet);
        if is_injected {
            self.messages[packet.message].uninjected += run.count;
        }
        let mut notice = false;
        match departures {
            Some(departures) if is_injected => {
                notice = self.inject(vertex, (out, times), &packet, departures).2;
            }
            Some(departures) => drop(self.transmit(out, &packet, departures, times)),
            None => {}
        }
        self.cancel(out, &packet, run.count - kept);
        notice
    }

    /// Withdraws the acknowledgement that the end of an admission has sent.
    fn withdraw_acknowledge(&mut self, admission: &SpeculativeAdmission) {
        let SpeculativeAdmission { train: Train { packet, .. }, out, link_free, .. } = *admission;
        let acknowledge = self.acknowledge_packet(packet.message);
        if !self.trains.places.separates_links() {
            let times = self.trains.models.times(out, acknowledge.bytes);
            self.revoke(out, link_free, 1, times.occupancy);
        }
        self.cancel(out, &acknowledge, 1);
    }

    fn undo_reception(&mut self, vertex: u32, packet: Packet, count: u32) {
        let message = &mut self.messages[packet.message];
        if packet.kind == PacketKind::Acknowledge || message.missing == 0 {
            self.job_timers.withdraw(vertex);
        }
        if packet.kind == PacketKind::Data {
            message.missing += count;
        }
    }

    fn revoke(&mut self, out: u32, free: SimTime, count: u32, transmission: SimDuration) {
        let track = &mut self.trains.tracks[out as usize];
        track.line.revoke(free, transmission * u64::from(count));
        track.carried -= u64::from(count);
        if let Some(transfers) = &mut self.trains.transfers {
            transfers.withdraw(out, count);
        }
        self.counts.packet_hops -= u64::from(count);
        self.counts.events -= u64::from(count) * u64::from(self.trains.link_events);
    }

    /// Cancels the last `count` packets handed to `way` that belong to the same message as `packet`.
    fn cancel(&mut self, way: u32, packet: &Packet, count: u32) {
        let mut left = count;
        while let Some(place) = self.last_pending(way, packet).filter(|_| left > 0) {
            let Some(PendingArrival { train, .. }) = self.trains.pending_arrivals.get_mut(place) else { break };
            let EvenInstants { count, .. } = &mut train.run;
            if let Some(rest) = count.checked_sub(left).filter(|rest| *rest > 0) {
                *count = rest;
                return;
            }
            left -= *count;
            let next = |arrivals: &Lists<PendingArrival>| arrivals.front(way).map(PendingArrival::key);
            let before = next(&self.trains.pending_arrivals);
            self.trains.pending_arrivals.remove(way, place);
            if next(&self.trains.pending_arrivals) != before {
                self.schedule_next(way);
            }
        }
        if left > 0 {
            let train = Train::new(EvenInstants::single(self.key.0), *packet);
            self.cancel_admitted(self.place(way, &train), way, left);
        }
    }

    /// Returns the place of the last train of the same message as `packet` that arrives by `way` by its own events, if
    /// it is not followed there by packets of other messages, which arrive later.
    fn last_pending(&self, way: u32, packet: &Packet) -> Option<u32> {
        let arrivals = &self.trains.pending_arrivals;
        let is_alike = |other: &Packet| other.message == packet.message && other.kind == packet.kind;
        let (_, last) = arrivals.iter_back(way).next()?;
        // Packets for different places that arrive at the same moment are in no order.
        let mut latest = arrivals.iter_back(way).take_while(|(_, other)| other.train.run.first == last.train.run.first);
        latest.find(|(_, other)| is_alike(&other.train.packet)).map(|(place, _)| place)
    }

    /// Cancels the last `left` packets that have been admitted to `place` from `way`. Packets from other ways that
    /// arrive after them are withdrawn, and arrive by their own events.
    fn cancel_admitted(&mut self, place: u32, way: u32, mut left: u32) {
        while left > 0 {
            let mut admission = self.trains.admissions.pop(place).expect("an admitted packet has an admission");
            if admission.link != way {
                self.withdraw(place, &admission, 0);
                self.reschedule(place, &admission, 0);
                continue;
            }
            let kept = admission.train.run.count.saturating_sub(left);
            admission.notice = self.withdraw(place, &admission, kept);
            left -= admission.train.run.count - kept;
            if kept > 0 {
                admission.train.run.count = kept;
                if admission.train.packet.to == place {
                    admission.out = NO_LINK;
                }
                self.trains.admissions.push(place, admission.train.run.last(), admission);
            }
        }
    }

    /// Lets all but the first `kept` packets of a withdrawn admission arrive by their own events.
    fn reschedule(&mut self, place: u32, admission: &SpeculativeAdmission, kept: u32) {
        let SpeculativeAdmission { train, link, entity, .. } = *admission;
        if admission.preparation == Preparation::Speculated {
            self.wait_for_departure(place, admission);
        } else if link == NO_LINK {
            self.continue_preparation(place, train.packet.message, self.processors.free(place));
        } else if let Some(run) = train.run.tail(kept) {
            let train = Train { run, limit: SpeculationLimit::Never, ..train };
            // Earlier packets for other places may arrive by the same way. There are few of them, unlike later packets.
            let is_earlier = |other: &PendingArrival| other.train.run.first < run.first;
            self.trains.pending_arrivals.insert_after_first(link, PendingArrival { train, entity }, is_earlier);
            self.schedule_next(link);
        }
    }
}
