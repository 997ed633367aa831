//! Passing where links are separate places: trains cross processors and links that do nothing else.

use super::super::software::forwarding_time;
use super::admissions::SpeculativeAdmission;
use super::{MovingTrain, SpeculationLimit, Train, TrainContext};
use crate::engine::{Entity, Instants};
use crate::network::{Packet, PacketCourse};
use crate::units::{SimDuration, SimTime};

/// A [`MovingTrain`] in separate parts, for the reason given in `TrainContext::pass`; its arrivals are a single instant
/// or a run.
struct Approach<R> {
    link: u32,
    entity: Entity,
    packet: Packet,
    course: PacketCourse,
    advance: SpeculationLimit,
    arrivals: R,
}

impl<R: Instants> Approach<R> {
    const fn of(flight: &MovingTrain, arrivals: R) -> Self {
        let MovingTrain { link, entity, train: Train { packet, course, limit: advance, .. } } = *flight;
        Self { link, entity, packet, course, advance, arrivals }
    }

    fn train(&self) -> Train {
        Train { run: self.arrivals.run(), packet: self.packet, course: self.course, limit: self.advance }
    }

    /// Returns the admission of the train to a place whose processor was free from `free` on and whose link from
    /// `link_free` on.
    #[expect(clippy::inline_always, reason = "an admission is constructed in place")]
    #[inline(always)]
    fn admission(&self, out: u32, service: SimDuration, (free, link_free): (SimTime, SimTime)) -> SpeculativeAdmission {
        SpeculativeAdmission::passing(self.train(), (self.link, self.entity), (out, service), (free, link_free))
    }
}

impl TrainContext<'_> {
    /// Lets a train pass the places on its path that do nothing else, while it may be admitted ahead. It may pass
    /// the first one in any case if it has arrived there (`has_arrived`). Afterwards `flight` describes its arrival at the
    /// first place that it has not passed. Returns whether it has passed any.
    pub(super) fn pass_places(&mut self, flight: &mut MovingTrain, has_arrived: bool) -> bool {
        let run = flight.train.run;
        if run.count == 1 {
            self.pass_each(flight, run.first, has_arrived)
        } else {
            self.pass_each(flight, run, has_arrived)
        }
    }

    #[expect(clippy::inline_always, reason = "one loop for single packets, one for several")]
    #[inline(always)]
    fn pass_each<R: Instants>(&mut self, flight: &mut MovingTrain, arrivals: R, mut has_arrived: bool) -> bool {
        let mut train = Approach::of(flight, arrivals);
        // Trains that were handed to other links before must not be overtaken.
        let goes_on = self.trains.ahead.is_empty();
        let (mut processors, mut links) = (0, 0);
        loop {
            let vertex = self.end(train.link, train.packet.to);
            if self.trains.places.is_routed(train.link, vertex, train.packet.to) {
                if self.is_injected(vertex, train.link, &train.packet) {
                    break;
                }
            } else {
                if train.packet.to == vertex || !self.pass_processor(vertex, &mut train, has_arrived) {
                    break;
                }
                (processors, has_arrived) = (processors + arrivals.count(), false);
                if !goes_on {
                    break;
                }
            }
            if !self.pass_link(vertex, &mut train, has_arrived) {
                break;
            }
            (links, has_arrived) = (links + arrivals.count(), false);
            if !goes_on {
                break;
            }
        }
        *flight = MovingTrain { link: train.link, entity: train.entity, train: train.train() };
        self.counts.packet_hops += u64::from(links);
        self.counts.events += u64::from(processors) + u64::from(links) * u64::from(self.trains.link_events);
        processors + links > 0
    }

    /// Lets a train pass the processor of `vertex` to the router, if it may be admitted and the processor does nothing
    /// else. The caller counts the events.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn pass_processor<R: Instants>(&mut self, vertex: u32, train: &mut Approach<R>, has_arrived: bool) -> bool {
        let (packet, arrivals) = (train.packet, train.arrivals);
        if !has_arrived && !self.may_be_admitted_ahead(vertex, train) {
            return false;
        }
        let service = self.service(vertex, forwarding_time(self.node, packet.kind));
        let Some(line) = self.processors.idle_station(vertex) else { return false };
        let free = line.free();
        let Some(departures) = arrivals.served_evenly(free, service) else { return false };
        line.pass(departures.last(), arrivals.work(service));
        let way = self.trains.places.to_router(vertex);
        let admission = train.admission(way, service, (free, SimTime::START));
        if free > arrivals.first() {
            train.advance = self.behind(vertex, packet, train.advance);
        }
        self.keep(vertex, admission);
        (train.link, train.entity, train.arrivals) = (way, self.first_processor + vertex, departures);
        true
    }

    /// Lets a train pass the link by which it leaves `vertex`, if it may be admitted and the link takes time. The
    /// caller counts the events.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn pass_link<R: Instants>(&mut self, vertex: u32, train: &mut Approach<R>, has_arrived: bool) -> bool {
        let (packet, arrivals, mut onward) = (train.packet, train.arrivals, train.course);
        let (out, times) = self.trains.next_link(vertex, &packet, &mut onward);
        let place = self.trains.places.of_link(out);
        let track = self.trains.tracks[out as usize];
        let (link_free, crossing) = (track.line.free(), times.arrival(track.end == packet.to));
        if times.occupancy == SimDuration::ZERO || crossing == SimDuration::ZERO {
            return false;
        }
        if !has_arrived && !self.may_be_admitted_ahead(place, train) {
            return false;
        }
        let Some(ends) = arrivals.served_evenly(link_free, times.occupancy) else { return false };
        let track = &mut self.trains.tracks[out as usize];
        track.line.pass(ends.last(), arrivals.work(times.occupancy));
        track.carried += arrivals.count();
        if self.trains.transfers.is_some() {
            self.record_transfer(out, &packet, &[ends.run()], times.occupancy);
        }
        let mut admission = train.admission(out, SimDuration::ZERO, (SimTime::START, link_free));
        if link_free > arrivals.first() {
            train.advance = self.behind(place, packet, train.advance);
        }
        if self.trains.buffers.is_some() {
            admission.stay = super::longest_stay(arrivals.run(), (ends.first(), ends.last()));
        }
        self.keep(place, admission);
        (train.link, train.entity, train.course) = (out, self.trains.places.arrival(out), onward);
        train.arrivals = ends.moved_to(arrivals.first().max(link_free) + crossing);
        true
    }

    /// Returns whether a train may be admitted to `place` ahead of its event.
    #[inline]
    fn may_be_admitted_ahead<R: Instants>(&mut self, place: u32, train: &Approach<R>) -> bool {
        train.advance == SpeculationLimit::Ahead
            && self.is_next_arrival(place, train.link, (train.arrivals.first(), train.entity))
    }
}
