//! Finite buffers: a check that packets that move as if there were always room never lack it.
//!
//! A packet occupies room at the end of a link from its start on that link until it has left the next one or has been
//! received. Trains do not wait for room. Instead, packets that have certainly arrived at a place are counted against
//! the buffers of the links by which they arrived. As long as the count never exceeds the size of a buffer, no packet
//! would have waited, and all times are those of the finite buffers. If that is not certain, the run is [short of
//! room](FiniteBuffers::are_short), and must be repeated packet by packet.
//!
//! The count is an upper bound: classes of virtual channels share the room of a link, a train stays as long as its
//! longest-staying packet, and packets that continue from one vertex by different links count with the maximum of each.

use super::admissions::SpeculativeAdmission;
use super::places::Places;
use super::{Train, Trains, longest_stay};
use crate::engine::{EvenInstants, Lists, Stacks};
use crate::network::{LinkModels, Packet, Topology};
use crate::units::{SimDuration, SimTime};

/// The packets that are certainly in the buffers at the ends of links.
pub(super) struct FiniteBuffers {
    /// For each link, the number of packets for which there is room at its end.
    room: Vec<u32>,
    /// The occupancy of each lane: the packets of one link that continue from its end by the same place. Packets arrive
    /// in order there.
    lanes: Vec<LaneOccupancy>,
    lanes_of_a_link: u32,
    /// For each lane, the ends of the stays that are still known.
    stays: Stacks<EvenInstants>,
    /// For each vertex, the packets that wait for the router's turn: the link by which they arrived, and their starts
    /// on it.
    deferred: Lists<(u32, EvenInstants)>,
    /// The admissions that [`count_arrivals`](Trains::count_arrivals) is counting; empty otherwise.
    arrivals: Vec<BufferArrival>,
    is_short: bool,
}

/// The packets that have arrived by a lane.
#[derive(Clone, Copy)]
struct LaneOccupancy {
    /// The latest time at which a known packet leaves.
    until: SimTime,
    /// The number of known packets: those that have arrived since the lane was last empty, or fewer after a
    /// [recount](FiniteBuffers::recount).
    known: u32,
    /// The largest number of packets that may have been there at once, but at least an equal share of the room.
    most: u32,
}

/// The part of an admission that matters for buffers.
#[derive(Clone, Copy)]
pub(super) struct BufferArrival {
    link: u32,
    packet: Packet,
    run: EvenInstants,
    stay: SimDuration,
    deferred: bool,
}

impl BufferArrival {
    /// Returns the part of an admission all packets of which have arrived.
    pub(super) const fn of(admission: &SpeculativeAdmission) -> Self {
        let SpeculativeAdmission { train: Train { run, packet, .. }, link, stay, deferred, .. } = *admission;
        Self { link, packet, run, stay, deferred }
    }

    /// Returns the same part if only the first `count` packets have arrived.
    pub(super) fn head(self, count: u32) -> Self {
        Self { run: self.run.head(count), ..self }
    }
}

impl FiniteBuffers {
    /// Creates empty buffers, if at least one of them is finite.
    pub(super) fn of(topology: &Topology, places: &Places, models: &LinkModels) -> Option<Box<Self>> {
        let room: Vec<_> = (0..places.links()).map(|link| models.model(link).buffers.room()).collect();
        let lanes_of_a_link = if places.separates_links() { topology.ports() + 1 } else { 1 };
        let lane = |room: &u32| LaneOccupancy { until: SimTime::START, known: 0, most: room / lanes_of_a_link };
        room.iter().any(|room| *room < u32::MAX).then(|| {
            Box::new(Self {
                lanes: room.iter().flat_map(|room| (0..lanes_of_a_link).map(move |_| lane(room))).collect(),
                lanes_of_a_link,
                stays: Stacks::new(places.links() * lanes_of_a_link),
                deferred: Lists::new(topology.vertices()),
                arrivals: Vec::new(),
                room,
                is_short: false,
            })
        })
    }

    /// Returns whether a packet may have found no room.
    pub(super) const fn are_short(&self) -> bool {
        self.is_short
    }

    /// Counts packets that have arrived at `place`, by a link over which they take `crossing` from their starts.
    #[inline]
    fn count_arrived(&mut self, (place, places): (u32, &Places), arrival: &BufferArrival, crossing: SimDuration) {
        let starts = arrival.run.moved(crossing, SimDuration::ZERO);
        if arrival.deferred {
            return self.deferred.push_back(place, (arrival.link, starts));
        }
        let last = self.lanes_of_a_link - 1;
        let lane = if last == 0 { 0 } else { places.as_link(place).map_or(last, |out| places.port(out)) };
        self.add(arrival.link, lane, starts, crossing + arrival.stay);
    }

    /// Records that the packets that have waited longest for the router's turn at `vertex` leave it, from the first to
    /// the second of these times.
    pub(super) fn release_deferred(&mut self, vertex: u32, left: (SimTime, SimTime)) {
        let (link, starts) = self.deferred.pop_front(vertex).expect("admitted packets have arrived");
        self.add(link, self.lanes_of_a_link - 1, starts, longest_stay(starts, left));
    }

    /// Counts packets that have arrived by a lane of `link`, none of which stays longer than `span` from its start.
    #[inline]
    fn add(&mut self, link: u32, lane: u32, starts: EvenInstants, span: SimDuration) {
        let number = link * self.lanes_of_a_link + lane;
        let lane = &mut self.lanes[number as usize];
        if lane.until < starts.first && lane.known > 0 {
            lane.known = 0;
            self.stays.clear(number);
        }
        let ends = starts.moved(SimDuration::ZERO, span);
        self.stays.push(number, ends);
        lane.known += starts.count;
        lane.until = lane.until.max(ends.last());
        if lane.known > lane.most {
            self.recount(link, number, starts, span);
        }
    }

    /// Counts exactly how many packets are in a lane together with the last ones that have arrived, and forgets those
    /// that have left before.
    #[cold]
    #[inline(never)]
    fn recount(&mut self, link: u32, number: u32, starts: EvenInstants, span: SimDuration) {
        let staying: Vec<_> = self.stays.iter(number).filter(|ends| ends.last() >= starts.first).copied().collect();
        self.stays.clear(number);
        staying.iter().rev().for_each(|ends| self.stays.push(number, *ends));
        let before = starts.first.before(SimDuration::from_ps(1));
        let left = |ends: &EvenInstants| ends.count_within(before, SimDuration::ZERO);
        let there: u32 = staying.iter().map(|ends| ends.count - left(ends)).sum();
        let steps = span.ps().checked_div(starts.gap.ps()).and_then(|steps| u32::try_from(steps).ok());
        let together = steps.map_or(starts.count, |steps| starts.count.min(steps.saturating_add(1)));
        let lane = &mut self.lanes[number as usize];
        lane.known = staying.iter().map(|ends| ends.count).sum();
        lane.most = lane.most.max(there - starts.count + together);
        let of_link = (link * self.lanes_of_a_link) as usize..((link + 1) * self.lanes_of_a_link) as usize;
        let behind_link: u64 = self.lanes[of_link].iter().map(|lane| u64::from(lane.most)).sum();
        self.is_short |= behind_link > u64::from(self.room[link as usize]);
    }
}

impl Trains {
    /// Counts the admissions of `place`, all of which have arrived, in the buffers of the links by which they arrived.
    #[inline(never)]
    pub(super) fn count_arrivals(&mut self, place: u32) {
        let Some(buffers) = &mut self.buffers else { return };
        let mut arrivals = std::mem::take(&mut buffers.arrivals);
        arrivals.extend(self.admissions.iter(place).map(BufferArrival::of));
        while let Some(arrival) = arrivals.pop() {
            self.count_arrival(place, &arrival);
        }
        self.buffers.iter_mut().for_each(|buffers| buffers.arrivals = std::mem::take(&mut arrivals));
    }

    /// Counts one admission that has arrived.
    #[inline]
    pub(super) fn count_arrival(&mut self, place: u32, arrival: &BufferArrival) {
        let Some(buffers) = &mut self.buffers else { return };
        if let Some(track) = self.tracks.get(arrival.link as usize) {
            let times = self.models.times(arrival.link, arrival.packet.bytes);
            buffers.count_arrived((place, &self.places), arrival, times.arrival(track.end == arrival.packet.to));
        }
    }
}
