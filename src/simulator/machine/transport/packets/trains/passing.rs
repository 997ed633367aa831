//! Passing: trains cross vertices on their path that do nothing else.

use super::super::software::forwarding_time;
use super::admissions::SpeculativeAdmission;
use super::convoys::{NoRear, Rear, ShortRear};
use super::{MovingTrain, SpeculationLimit, Train, TrainContext, longest_stay};
use crate::engine::Instants;
use crate::network::{Packet, PacketCourse};
use crate::units::{SimDuration, SimTime};

/// The passage of a train through a vertex.
struct Crossing<R> {
    service: SimDuration,
    /// The time from which the processor was free before the train.
    free: SimTime,
    link_free: SimTime,
    out: u32,
    /// The vertex at the end of the link.
    end: u32,
    /// The longest time that a packet of the train stays, if buffers are finite.
    stay: SimDuration,
    onward: PacketCourse,
    next_arrivals: R,
    /// `true` if the train waits for something at the vertex.
    waits: bool,
    /// `true` if the train leaves the vertex and arrives at the next one in the same event.
    is_at_once: bool,
}

impl TrainContext<'_> {
    /// Lets a train that may be admitted to `vertex` pass this vertex and the following ones, while it may be admitted
    /// ahead and the vertices do nothing else. Afterwards `flight` describes its arrival at the first vertex
    /// that it has not passed. Returns whether it has passed any.
    #[inline(never)]
    pub(super) fn pass_freely(&mut self, vertex: u32, flight: &mut MovingTrain) -> bool {
        let run = flight.train.run;
        let passed = match (run.count, self.trains.buffers.is_some()) {
            (1, false) => self.pass::<false, _, _>(vertex, flight, run.first, &mut NoRear),
            (_, false) => self.pass::<false, _, _>(vertex, flight, run, &mut NoRear),
            (1, true) => self.pass::<true, _, _>(vertex, flight, run.first, &mut NoRear),
            (_, true) => self.pass::<true, _, _>(vertex, flight, run, &mut NoRear),
        };
        self.count_passed(passed)
    }

    /// Lets a train and the packet that follows it pass vertices, as [`pass_freely`](Self::pass_freely).
    #[inline(never)]
    pub(super) fn pass_in_convoy(&mut self, vertex: u32, flight: &mut MovingTrain, rear: &mut ShortRear) {
        let run = flight.train.run;
        let passed = if self.trains.buffers.is_some() {
            self.pass::<true, _, _>(vertex, flight, run, rear)
        } else {
            self.pass::<false, _, _>(vertex, flight, run, rear)
        };
        self.count_passed(passed);
    }

    /// Counts the events and hops of packets at the vertices that they have passed. Returns whether there are any.
    #[inline]
    fn count_passed(&mut self, passed: u32) -> bool {
        self.counts.packet_hops += u64::from(passed);
        self.counts.events += u64::from(passed) * u64::from(1 + self.trains.link_events);
        passed > 0
    }

    /// Lets packets with these arrivals, and their rear, pass vertices; with `STAY`, buffers are finite. Returns the
    /// number of packets passed, summed over the vertices.
    #[expect(clippy::inline_always, reason = "one loop for single packets, one for several")]
    #[inline(always)]
    fn pass<const STAY: bool, R: Instants, B: Rear>(
        &mut self,
        mut vertex: u32,
        flight: &mut MovingTrain,
        mut arrivals: R,
        rear: &mut B,
    ) -> u32 {
        // All values that change from vertex to vertex have separate variables. The processor would stall on a copy of
        // a structure directly after a write to one of its parts.
        let MovingTrain { mut link, mut entity, train: Train { packet, mut course, limit: mut advance, .. } } = *flight;
        let unpaced = forwarding_time(self.node, packet.kind);
        let mut passed = 0;
        while let Some(crossing) = self.cross::<STAY, _>(vertex, (&packet, course), unpaced, arrivals) {
            passed += arrivals.count() + B::COUNT;
            if crossing.waits {
                advance = self.behind(vertex, packet, advance);
            }
            let until = arrivals.last();
            if until > self.key.0 || STAY {
                let Crossing { service, free, link_free, out, stay, .. } = crossing;
                let train = Train { run: arrivals.run(), packet, course, limit: advance };
                let admission = SpeculativeAdmission::passing(train, (link, entity), (out, service), (free, link_free));
                if STAY {
                    self.keep(vertex, SpeculativeAdmission { stay, ..admission });
                } else {
                    self.trains.admissions.push(vertex, until, admission);
                }
            }
            rear.follow::<STAY>(self, vertex, link, course, (crossing.out, crossing.service));
            let exit = self.trains.places.arrival(crossing.out);
            entity = if crossing.is_at_once { self.first_processor + vertex } else { exit };
            (link, vertex, course, arrivals) = (crossing.out, crossing.end, crossing.onward, crossing.next_arrivals);
            let may_go_on = advance == SpeculationLimit::Ahead && packet.to != vertex && self.trains.ahead.is_empty();
            if !may_go_on || !self.is_next_arrival(vertex, link, (arrivals.first(), entity)) {
                break;
            }
        }
        *flight = MovingTrain { link, entity, train: Train { run: arrivals.run(), packet, course, limit: advance } };
        passed
    }

    /// Serves a train at `vertex` and on the link by which it leaves, if the vertex does nothing else and the
    /// departures are evenly spaced.
    #[expect(clippy::inline_always, reason = "called at every vertex")]
    #[inline(always)]
    fn cross<const STAY: bool, R: Instants>(
        &mut self,
        vertex: u32,
        (packet, mut onward): (&Packet, PacketCourse),
        unpaced: SimDuration,
        arrivals: R,
    ) -> Option<Crossing<R>> {
        let service = self.service(vertex, unpaced);
        let line = self.processors.idle_station(vertex)?;
        let free = line.free();
        let departures = arrivals.served_evenly(free, service)?;
        let (out, times) = self.trains.next_link(vertex, packet, &mut onward);
        let track = &mut self.trains.tracks[out as usize];
        let (end, link_free) = (track.end, track.line.free());
        let ends = departures.served_evenly(link_free, times.occupancy)?;
        line.pass(departures.last(), arrivals.work(service));
        track.line.pass(ends.last(), arrivals.work(times.occupancy));
        track.carried += u64::from(arrivals.count());
        let stay = if STAY { longest_stay(arrivals.run(), (ends.first(), ends.last())) } else { SimDuration::ZERO };
        let crossing = times.arrival(end == packet.to);
        let departure = departures.first();
        if self.trains.transfers.is_some() {
            self.record_transfer(out, packet, &[ends.run()], times.occupancy);
        }
        Some(Crossing {
            service,
            free,
            link_free,
            out,
            end,
            stay,
            onward,
            next_arrivals: ends.moved_to(departure.max(link_free) + crossing),
            waits: free > arrivals.first() || link_free.since(departure) > times.occupancy,
            is_at_once: crossing == SimDuration::ZERO && link_free <= departure,
        })
    }

    /// Returns the extent to which a packet that has waited at a place may be admitted ahead.
    #[inline(never)]
    pub(super) fn behind(&self, place: u32, packet: Packet, advance: SpeculationLimit) -> SpeculationLimit {
        if self.waits_only_for_own_message(place, packet) { advance } else { advance.after_link() }
    }
}
