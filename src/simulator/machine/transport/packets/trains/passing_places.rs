//! Passing where links are separate places: trains cross processors and links that do nothing else.

use super::super::software::forwarding_time;
use super::admissions::SpeculativeAdmission;
use super::{MovingTrain, SpeculationLimit, Track, Train, TrainContext, longest_stay};
use crate::engine::{Entity, Instants};
use crate::network::{Packet, PacketCourse};
use crate::units::{SimDuration, SimTime};

/// A [`MovingTrain`] in separate parts, for the reason given in `TrainContext::pass`; its arrivals are a single instant
/// or a run.
#[derive(Clone, Copy)]
struct Approach<R> {
    link: u32,
    entity: Entity,
    packet: Packet,
    course: PacketCourse,
    advance: SpeculationLimit,
    arrivals: R,
    /// `true` if the train has arrived, so that it may be admitted in any case.
    has_arrived: bool,
}

impl<R: Instants> Approach<R> {
    const fn of(flight: &MovingTrain, arrivals: R, has_arrived: bool) -> Self {
        let MovingTrain { link, entity, train: Train { packet, course, limit: advance, .. } } = *flight;
        Self { link, entity, packet, course, advance, arrivals, has_arrived }
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
        let MovingTrain { link, train: Train { run, packet, .. }, .. } = *flight;
        let vertex = self.end(link, packet.to);
        let is_routed = self.trains.places.is_routed(link, vertex, packet.to);
        if is_routed && self.is_injected(vertex, link, &packet) {
            return false;
        }
        if run.count == 1 {
            self.pass_each((vertex, is_routed), flight, Approach::of(flight, run.first, has_arrived))
        } else {
            self.pass_each((vertex, is_routed), flight, Approach::of(flight, run, has_arrived))
        }
    }

    /// Lets a train pass places, the first of them the link to which the router of `vertex` hands it if `is_routed`, and
    /// the processor of the vertex otherwise.
    #[expect(clippy::inline_always, reason = "one loop for single packets, one for several")]
    #[inline(always)]
    fn pass_each<R: Instants>(
        &mut self,
        (mut vertex, mut is_routed): (u32, bool),
        flight: &mut MovingTrain,
        mut train: Approach<R>,
    ) -> bool {
        let count = train.arrivals.count();
        // Trains that were handed to other links before must not be overtaken.
        let goes_on = self.trains.ahead.is_empty();
        let (mut processors, mut links) = (0, 0);
        loop {
            if !is_routed {
                let Some(departing) = self.pass_processor(vertex, train) else { break };
                (train, processors) = (departing, processors + count);
                if !goes_on {
                    break;
                }
            }
            let Some((end, arriving)) = self.pass_link(vertex, train) else { break };
            (vertex, train, links) = (end, arriving, links + count);
            if !goes_on {
                break;
            }
            is_routed = self.trains.places.is_routed_behind_link(vertex, train.packet.to);
        }
        *flight = MovingTrain { link: train.link, entity: train.entity, train: train.train() };
        self.counts.packet_hops += u64::from(links);
        self.counts.events += u64::from(processors) + u64::from(links) * u64::from(self.trains.link_events);
        processors + links > 0
    }

    /// Returns a train as it departs from the processor of `vertex` to the router, if it may be admitted and the
    /// processor does nothing else. The caller counts the events.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn pass_processor<R: Instants>(&mut self, vertex: u32, train: Approach<R>) -> Option<Approach<R>> {
        let Approach { packet, arrivals, .. } = train;
        if packet.to == vertex || !self.may_be_admitted(vertex, &train) {
            return None;
        }
        let service = self.service(vertex, forwarding_time(self.node, packet.kind));
        let line = self.processors.idle_station(vertex)?;
        let free = line.free();
        let departures = arrivals.served_evenly(free, service)?;
        line.pass(departures.last(), arrivals.work(service));
        let way = self.trains.places.to_router(vertex);
        let advance = self.behind_others((vertex, free), &train);
        self.keep(vertex, train.admission(way, service, (free, SimTime::START)));
        let entity = self.first_processor + vertex;
        Some(Approach { link: way, entity, advance, arrivals: departures, has_arrived: false, ..train })
    }

    /// Returns the vertex at the end of the link by which a train leaves `vertex`, and the train as it arrives there, if
    /// it may be admitted to the link. The caller counts the events.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn pass_link<R: Instants>(&mut self, vertex: u32, train: Approach<R>) -> Option<(u32, Approach<R>)> {
        let Approach { packet, arrivals, course: mut onward, .. } = train;
        let (out, times) = self.trains.next_link(vertex, &packet, &mut onward);
        let place = self.trains.places.of_link(out);
        let Track { line, end, .. } = self.trains.tracks[out as usize];
        let (link_free, crossing) = (line.free(), times.arrival(end == packet.to));
        let is_later = crossing > SimDuration::ZERO || self.is_handed_over_later(&train);
        let is_admitted = is_later && self.may_be_admitted(place, &train);
        if !is_admitted {
            return None;
        }
        let ends = arrivals.served_evenly(link_free, times.occupancy)?;
        let track = &mut self.trains.tracks[out as usize];
        track.line.pass(ends.last(), arrivals.work(times.occupancy));
        track.carried += u64::from(arrivals.count());
        if self.trains.transfers.is_some() {
            self.record_transfer(out, &packet, &[ends.run()], times.occupancy);
        }
        let mut admission = train.admission(out, SimDuration::ZERO, (SimTime::START, link_free));
        if self.trains.buffers.is_some() {
            admission.stay = longest_stay(arrivals.run(), (ends.first(), ends.last()));
        }
        let advance = self.behind_others((place, link_free), &train);
        self.keep(place, admission);
        let is_at_once = crossing == SimDuration::ZERO && link_free <= arrivals.first();
        let entity = if is_at_once { self.first_processor + vertex } else { self.trains.places.arrival(out) };
        let arrivals = ends.moved_to(arrivals.first().max(link_free) + crossing);
        Some((end, Approach { link: out, entity, course: onward, advance, arrivals, has_arrived: false, ..train }))
    }

    /// Returns whether a processor hands a train to a link later than now. If the link takes no time, the train then
    /// arrives at its end in that later event of the processor.
    #[inline]
    fn is_handed_over_later<R: Instants>(&self, train: &Approach<R>) -> bool {
        train.arrivals.first() > self.key.0 && self.trains.places.processor_before(train.link).is_some()
    }

    /// Returns the extent to which a train may be admitted ahead behind a place that was free from `free` on.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn behind_others<R: Instants>(&self, (place, free): (u32, SimTime), train: &Approach<R>) -> SpeculationLimit {
        if free > train.arrivals.first() { self.behind(place, train.packet, train.advance) } else { train.advance }
    }

    /// Returns whether a train may be admitted to `place`, because it has arrived or ahead of its event.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn may_be_admitted<R: Instants>(&mut self, place: u32, train: &Approach<R>) -> bool {
        train.has_arrived
            || train.advance == SpeculationLimit::Ahead
                && self.is_next_arrival(place, train.link, (train.arrivals.first(), train.entity))
    }
}
