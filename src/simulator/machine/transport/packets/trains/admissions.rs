//! A stack of speculative admissions for each vertex.

use super::places::NO_LINK;
use super::{MovingTrain, Train};
use crate::engine::{Entity, Stacks};
use crate::node::DispatchCheckpoint;
use crate::units::{SimDuration, SimTime};

/// Preparation of packets by their source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Preparation {
    /// They are in transit, or it has begun with the first of them.
    Begun,
    /// The same, and it prepares the next packet of the message when it has prepared the last of them.
    Continued,
    /// It has not begun with the first of them.
    Foreseen,
}

/// A train at a vertex that has admitted it.
#[derive(Clone, Copy)]
pub(super) struct SpeculativeAdmission {
    pub(super) train: Train,
    /// The link that it comes by.
    pub(super) link: u32,
    /// The entity whose events its arrivals are.
    pub(super) entity: Entity,
    /// The link that it leaves by, or its acknowledge.
    pub(super) out: u32,
    pub(super) service: SimDuration,
    /// The vertex and that link before the train.
    pub(super) before: DispatchCheckpoint,
    pub(super) link_free: SimTime,
    /// The longest time that a packet of it stays in the [buffer](super::buffers) behind the link that it comes by.
    pub(super) stay: SimDuration,
    /// It waits for the router's turn.
    pub(super) deferred: bool,
    /// True if the source is notified when the last packet has left its first link.
    pub(super) notice: bool,
    pub(super) preparation: Preparation,
}

impl SpeculativeAdmission {
    /// A train that comes to a vertex and is served there.
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

    /// A train that comes by a link, by events of an entity, and passes a vertex after this service, whose processor and link were
    /// free at these times.
    #[expect(clippy::inline_always, reason = "an admission is put together where it is kept")]
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
            before: DispatchCheckpoint::calm(free),
            link_free,
            stay: SimDuration::ZERO,
            deferred: false,
            notice: false,
            preparation: Preparation::Begun,
        }
    }

    /// Returns the number of packets that have arrived when the event with this key is run, including, if `at_once`,
    /// those that a processor sends in this event and that take no time: processes that go on in this event do so
    /// before.
    pub(super) fn arrived(&self, (now, entity): (SimTime, Entity), at_once: bool) -> u32 {
        let has_come = self.entity < entity || self.entity == entity && at_once;
        let until = if has_come { now } else { now.before(SimDuration::from_ps(1)) };
        let arrived = self.train.run.within(until, SimDuration::ZERO);
        if self.link == NO_LINK && self.preparation != Preparation::Foreseen { arrived.max(1) } else { arrived }
    }
}

/// The admissions of every vertex that may have to be withdrawn, the last to arrive on top.
pub(super) struct Passages {
    stacks: Stacks<SpeculativeAdmission>,
    /// By vertex: when the last packet of the admission on top comes, the start if there is none. It is asked for at every
    /// vertex on the way of every packet, and what lies on the stacks is spread over the memory.
    until: Vec<SimTime>,
}

impl Passages {
    pub(super) fn new(vertices: u32) -> Self {
        Self { stacks: Stacks::new(vertices), until: vec![SimTime::START; vertices as usize] }
    }

    /// The last admission of `vertex`.
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

    /// Returns whether all packets that have been admitted to a place have come at `now`.
    #[inline]
    pub(super) fn have_come(&self, place: u32, now: SimTime) -> bool {
        self.until[place as usize] <= now
    }

    /// Adds an admission whose last packet comes at `until`.
    #[expect(clippy::inline_always, reason = "an admission is put together where it is kept")]
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

    /// All admissions of `vertex` have come and need not be known any more.
    #[inline]
    pub(super) fn clear(&mut self, vertex: u32) {
        self.until[vertex as usize] = SimTime::START;
        self.stacks.clear(vertex);
    }

    /// The admissions of `vertex`, the last to arrive first.
    pub(super) fn iter(&self, vertex: u32) -> impl Iterator<Item = &SpeculativeAdmission> {
        self.stacks.iter(vertex)
    }

    /// Returns whether all packets that have been admitted to a place have come before `now`.
    #[inline]
    pub(super) fn have_come_before(&self, place: u32, now: SimTime) -> bool {
        self.until[place as usize] < now
    }
}
