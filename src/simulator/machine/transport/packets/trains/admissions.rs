//! The stack of speculative admissions of each place.

use super::places::NO_LINK;
use super::{MovingTrain, Train};
use crate::engine::{Entity, Stacks};
use crate::node::DispatchCheckpoint;
use crate::units::{SimDuration, SimTime};

/// The state of the preparation of packets at their source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Preparation {
    /// The packets are in transit, or the preparation of the first of them has begun.
    Begun,
    /// As `Begun`; in addition, the end of the preparation of the last packet starts that of the next packet of the
    /// message.
    Continued,
    /// The preparation of the first packet is speculated and has not begun.
    Speculated,
}

/// A train that has been admitted to a place.
#[derive(Clone, Copy)]
pub(super) struct SpeculativeAdmission {
    pub(super) train: Train,
    /// The link by which the train arrives.
    pub(super) link: u32,
    /// The entity of the events of its arrivals.
    pub(super) entity: Entity,
    /// The link by which the train, or the acknowledgement of its message, leaves.
    pub(super) out: u32,
    pub(super) service: SimDuration,
    /// The state of the vertex before the train was admitted.
    pub(super) before: DispatchCheckpoint,
    pub(super) link_free: SimTime,
    /// The longest time that a packet of the train stays in the [buffer](super::buffers) at the end of the link by
    /// which it arrives.
    pub(super) stay: SimDuration,
    /// `true` if the train waits for the router's turn.
    pub(super) deferred: bool,
    /// `true` if the source is notified when the last packet has left its first link.
    pub(super) notice: bool,
    pub(super) preparation: Preparation,
}

impl SpeculativeAdmission {
    /// Creates the admission of a train that arrives at a vertex and is served there.
    pub(super) const fn of(flight: &MovingTrain, service: SimDuration, before: DispatchCheckpoint) -> Self {
        let MovingTrain { link, entity, train } = *flight;
        Self {
            train,
            link,
            entity,
            out: NO_LINK,
            service,
            before,
            link_free: SimTime::START,
            stay: SimDuration::ZERO,
            deferred: false,
            notice: false,
            preparation: Preparation::Begun,
        }
    }

    /// Creates the admission of a train that arrives by a link, with events of an entity, and passes a vertex with this
    /// service, whose processor and link were free at these times.
    #[expect(clippy::inline_always, reason = "an admission is constructed in place")]
    #[inline(always)]
    pub(super) const fn passing(
        train: Train,
        (link, entity): (u32, Entity),
        (out, service): (u32, SimDuration),
        (free, link_free): (SimTime, SimTime),
    ) -> Self {
        Self {
            train,
            link,
            entity,
            out,
            service,
            before: DispatchCheckpoint::idle(free),
            link_free,
            stay: SimDuration::ZERO,
            deferred: false,
            notice: false,
            preparation: Preparation::Begun,
        }
    }

    /// Returns the number of packets that have arrived when the event with this key is run. With `at_once`, they
    /// include packets that a processor sends in this same event and that take no time; processes that resume in this
    /// event do so before those packets arrive.
    pub(super) fn arrived(&self, (now, entity): (SimTime, Entity), at_once: bool) -> u32 {
        let has_come = self.entity < entity || self.entity == entity && at_once;
        let until = if has_come { now } else { now.before(SimDuration::from_ps(1)) };
        let arrived = self.train.run.count_within(until, SimDuration::ZERO);
        if self.link == NO_LINK && self.preparation != Preparation::Speculated { arrived.max(1) } else { arrived }
    }
}

/// The admissions of every place that may have to be withdrawn, with the last to arrive on top.
pub(super) struct AdmissionStacks {
    stacks: Stacks<SpeculativeAdmission>,
    /// For each place, the arrival of the last packet of the top admission, or the start of time if there is none. It
    /// is kept apart because it is read at every place on the path of every packet, while the stacks are spread over
    /// the memory.
    until: Vec<SimTime>,
}

impl AdmissionStacks {
    pub(super) fn new(vertices: u32) -> Self {
        Self { stacks: Stacks::new(vertices), until: vec![SimTime::START; vertices as usize] }
    }

    /// Returns the last admission of `vertex`.
    pub(super) fn top(&self, vertex: u32) -> Option<&SpeculativeAdmission> {
        self.stacks.top(vertex)
    }

    pub(super) fn top_mut(&mut self, vertex: u32) -> Option<&mut SpeculativeAdmission> {
        self.stacks.top_mut(vertex)
    }

    /// Returns whether an arrival at `vertex` by the event with this key comes after all packets of the admissions
    /// there.
    #[inline]
    pub(super) fn precede(&self, vertex: u32, (time, entity): (SimTime, Entity)) -> bool {
        let until = self.until[vertex as usize];
        until < time || until == time && self.top(vertex).is_none_or(|top| top.entity <= entity)
    }

    /// Returns whether all packets that have been admitted to a place have arrived at `now`.
    #[inline]
    pub(super) fn have_arrived(&self, place: u32, now: SimTime) -> bool {
        self.until[place as usize] <= now
    }

    /// Adds an admission whose last packet arrives at `until`.
    #[expect(clippy::inline_always, reason = "an admission is constructed in place")]
    #[inline(always)]
    pub(super) fn push(&mut self, vertex: u32, until: SimTime, admission: SpeculativeAdmission) {
        self.until[vertex as usize] = until;
        self.stacks.push(vertex, admission);
    }

    pub(super) fn pop(&mut self, vertex: u32) -> Option<SpeculativeAdmission> {
        let admission = self.stacks.pop(vertex)?;
        self.until[vertex as usize] = self.top(vertex).map_or(SimTime::START, |top| top.train.run.last());
        Some(admission)
    }

    /// Forgets the admissions of `vertex`, all of which have arrived.
    #[inline]
    pub(super) fn clear(&mut self, vertex: u32) {
        self.until[vertex as usize] = SimTime::START;
        self.stacks.clear(vertex);
    }

    /// Returns the admissions of `vertex`, the last to arrive first.
    pub(super) fn iter(&self, vertex: u32) -> impl Iterator<Item = &SpeculativeAdmission> {
        self.stacks.iter(vertex)
    }

    /// Returns whether all packets that have been admitted to a place have arrived before `now`.
    #[inline]
    pub(super) fn have_arrived_before(&self, place: u32, now: SimTime) -> bool {
        self.until[place as usize] < now
    }
}
