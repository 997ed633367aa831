//! Finite buffers: whether packets that go on as if there were room for all ever find none.
//!
//! A packet has room behind a link from its start on that link until it has left the next one, or has been taken in. Trains
//! do not wait for room. What has come to a place for certain is held against the buffers behind the links that it came by:
//! as long as less is there at any instant than they hold, no packet would have waited, and all times are those of the
//! finite buffers. Where that is not certain the run is [short of room](FiniteBuffers::are_short), and has to be run packet by
//! packet.
//!
//! The count errs on the side of too many: classes of virtual channels share the room of a link, a train stays as long as the
//! packet of it that stays longest, and packets that go on from one vertex by different links count with their most each.

use super::admissions::SpeculativeAdmission;
use super::places::Places;
use super::{Train, Trains, longest};
use crate::engine::{EvenInstants, Lists, Stacks};
use crate::network::{LinkModels, Packet, Topology};
use crate::units::{SimDuration, SimTime};

/// The packets that are surely in the buffers behind links.
pub(super) struct FiniteBuffers {
    /// Number of packets for which there is room behind a link, by link.
    room: Vec<u32>,
    /// By link and place by which packets go on from its end: they come there in order.
    lanes: Vec<LaneOccupancy>,
    lanes_of_a_link: u32,
    /// By lane: the ends of the stays of those that are known still.
    stays: Stacks<EvenInstants>,
    /// By vertex: packets that wait for the router's turn, by the link that they came by and their starts there.
    deferred: Lists<(u32, EvenInstants)>,
    /// Admissions that are just being noted; empty between.
    came: Vec<Came>,
    is_short: bool,
}

/// The packets that have come by a lane.
#[derive(Clone, Copy)]
struct LaneOccupancy {
    /// The last of the known ends, and their number: all that have been there since there was nothing, unless that were too many.
    until: SimTime,
    known: u32,
    /// The most that may have been there at once; an equal share of the room, if it was never more.
    most: u32,
}

/// The part of an admission that counts here.
#[derive(Clone, Copy)]
pub(super) struct Came {
    link: u32,
    packet: Packet,
    run: EvenInstants,
    stay: SimDuration,
    deferred: bool,
}

impl Came {
    /// An admission of which all has come.
    pub(super) const fn of(admission: &SpeculativeAdmission) -> Self {
        let SpeculativeAdmission { train: Train { run, packet, .. }, link, stay, deferred, .. } = *admission;
        Self { link, packet, run, stay, deferred }
    }

    /// The same if only the first `count` packets have come.
    pub(super) fn head(self, count: u32) -> Self {
        Self { run: self.run.head(count), ..self }
    }
}

impl FiniteBuffers {
    /// The empty buffers, if one of them at least is finite.
    pub(super) fn of(topology: &Topology, places: &Places, models: &LinkModels) -> Option<Box<Self>> {
        let room: Vec<_> = (0..places.links()).map(|link| models.model(link).buffers.room()).collect();
        let lanes_of_a_link = if places.shares_links() { topology.ports() + 1 } else { 1 };
        let lane = |room: &u32| LaneOccupancy { until: SimTime::START, known: 0, most: room / lanes_of_a_link };
        room.iter().any(|room| *room < u32::MAX).then(|| {
            Box::new(Self {
                lanes: room.iter().flat_map(|room| (0..lanes_of_a_link).map(move |_| lane(room))).collect(),
                lanes_of_a_link,
                stays: Stacks::new(places.links() * lanes_of_a_link),
                deferred: Lists::new(topology.vertices()),
                came: Vec::new(),
                room,
                is_short: false,
            })
        })
    }

    /// Returns whether a packet may have found no room.
    pub(super) const fn are_short(&self) -> bool {
        self.is_short
    }

    /// Packets have come to `place`, by a link that takes them `crossing` from their starts on.
    #[inline]
    fn come(&mut self, (place, places): (u32, &Places), came: &Came, crossing: SimDuration) {
        let starts = came.run.moved(crossing, SimDuration::ZERO);
        if came.deferred {
            return self.deferred.push_back(place, (came.link, starts));
        }
        let last = self.lanes_of_a_link - 1;
        let lane = if last == 0 { 0 } else { places.as_link(place).map_or(last, |out| places.port(out)) };
        self.add(came.link, lane, starts, crossing + came.stay);
    }

    /// Those that have waited longest for the router's turn at `vertex` leave it from the first to the second of these times.
    pub(super) fn let_go(&mut self, vertex: u32, left: (SimTime, SimTime)) {
        let (link, starts) = self.deferred.pop_front(vertex).expect("what has been let in has come");
        self.add(link, self.lanes_of_a_link - 1, starts, longest(starts, left));
    }

    /// Packets have come by a lane of `link`, and none of them stays longer than `span` from its start on.
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
            self.look_closely(link, number, starts, span);
        }
    }

    /// Counts those that are there with the last that have come by a lane.
    #[cold]
    #[inline(never)]
    fn look_closely(&mut self, link: u32, number: u32, starts: EvenInstants, span: SimDuration) {
        let staying: Vec<_> = self.stays.iter(number).filter(|ends| ends.last() >= starts.first).copied().collect();
        self.stays.clear(number);
        staying.iter().rev().for_each(|ends| self.stays.push(number, *ends));
        let before = starts.first.before(SimDuration::from_ps(1));
        let left = |ends: &EvenInstants| ends.within(before, SimDuration::ZERO);
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
    /// All that has been admitted to `place` has come: it has had room behind the links that it came by.
    #[inline(never)]
    pub(super) fn fill_buffers(&mut self, place: u32) {
        let Some(buffers) = &mut self.buffers else { return };
        let mut came = std::mem::take(&mut buffers.came);
        came.extend(self.admissions.iter(place).map(Came::of));
        while let Some(one) = came.pop() {
            self.fill_buffer(place, &one);
        }
        self.buffers.iter_mut().for_each(|buffers| buffers.came = std::mem::take(&mut came));
    }

    /// The same of one admission.
    #[inline]
    pub(super) fn fill_buffer(&mut self, place: u32, came: &Came) {
        let Some(buffers) = &mut self.buffers else { return };
        if let Some(track) = self.tracks.get(came.link as usize) {
            let times = self.models.times(came.link, came.packet.bytes);
            buffers.come((place, &self.places), came, times.arrival(track.end == came.packet.to));
        }
    }
}
