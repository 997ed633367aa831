//! Delay queues: one queue for all events that were scheduled with the same delay. Their times are in the order in which
//! they were scheduled.

use super::{Entity, EventKey, NEVER, key};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The number of delay queues, which suffices for the transmission times of the few packet lengths that are common at
/// once.
const QUEUES: usize = 4;
/// The number of taken entities from which on it is worth moving those behind them to the front.
const SPENT: usize = 64;

/// The events with common delays, in a queue for each of these delays.
///
/// A network whose packets are mostly of one length schedules most of its events with the same delay, and a queue costs
/// less than a heap.
pub(super) struct DelayQueues {
    /// Number of delay queues in use.
    used: usize,
    /// The delay with which the events of each queue were scheduled.
    delays: [SimDuration; QUEUES],
    /// The key of the first event of each queue, `NEVER` if it is empty; for the `open` queue, possibly that of an event
    /// that has been removed.
    firsts: [EventKey; QUEUES],
    all: [DelayQueue; QUEUES],
    /// The queue from which an event was removed last.
    current_queue: usize,
    /// The last delay without a queue. If the next delay without a queue is the same, it gets one.
    candidate: SimDuration,
}

/// The first event of all queues.
pub(super) struct FirstEvent {
    pub queue: usize,
    /// The key of the event, `NEVER` if there is none.
    pub key: EventKey,
    /// The lowest key among the first events of the other queues.
    pub beside: EventKey,
}

impl Default for DelayQueues {
    fn default() -> Self {
        let delays = [SimDuration::ZERO; QUEUES];
        let (firsts, all) = ([NEVER; QUEUES], Default::default());
        Self { used: 0, delays, firsts, all, current_queue: 0, candidate: SimDuration::ZERO }
    }
}

impl DelayQueues {
    /// Returns the queue for events with this delay, if there is one.
    #[inline]
    pub(super) fn of(&self, delay: SimDuration) -> Option<usize> {
        self.delays.iter().take(self.used).position(|known| *known == delay)
    }

    /// Assigns an empty queue to a delay that has none, if the delay has just occurred before and a queue is empty.
    pub(super) fn open(&mut self, delay: SimDuration) -> Option<usize> {
        // An event without delay could precede events of the current instant that have not been handed out.
        if delay == SimDuration::ZERO || std::mem::replace(&mut self.candidate, delay) != delay {
            return None;
        }
        let vacant = self.firsts.iter().position(|first| *first == NEVER)?;
        self.delays[vacant] = delay;
        self.used = self.used.max(vacant + 1);
        Some(vacant)
    }

    /// Adds an event to a queue if that is simple, as it is for most events that are not the first of their instant.
    /// Returns whether the event has been added.
    #[inline]
    pub(super) fn follow(&mut self, queue: usize, time: SimTime, entity: Entity) -> bool {
        self.all[queue].follow(time, entity)
    }

    /// Adds an event to a queue. Returns whether it is the first one there.
    pub(super) fn push(&mut self, queue: usize, time: SimTime, entity: Entity) -> bool {
        self.all[queue].push(time, entity);
        let key = key(time, entity);
        let is_first = key < self.firsts[queue];
        if is_first {
            self.firsts[queue] = key;
        }
        is_first
    }

    /// Returns the first event of all queues.
    #[inline]
    pub(super) fn first(&mut self) -> FirstEvent {
        let (mut queue, mut key, mut beside) = (0, NEVER, NEVER);
        if self.used == 0 {
            return FirstEvent { queue, key, beside };
        }
        self.firsts[self.current_queue] = self.all[self.current_queue].first();
        key = self.firsts[0];
        if self.used == 1 {
            return FirstEvent { queue, key, beside };
        }
        for next in 1..QUEUES {
            let other = self.firsts[next];
            beside = beside.min(key.max(other));
            queue = if other < key { next } else { queue };
            key = key.min(other);
        }
        FirstEvent { queue, key, beside }
    }

    /// Removes and returns the next event of the instant that is being handed out, if it comes before `limit`.
    #[inline]
    pub(super) fn next_of_instant(&mut self, limit: EventKey) -> Option<(SimTime, Entity)> {
        let queue = &mut self.all[self.current_queue];
        let entity = *queue.current.get(queue.handed_out)?;
        if key(queue.time, entity) >= limit {
            return None;
        }
        queue.handed_out += 1;
        Some((queue.time, entity))
    }

    /// Removes the first event of a queue.
    pub(super) fn pop(&mut self, queue: usize) {
        self.current_queue = queue;
        self.all[queue].pop();
    }
}

/// The events of one delay: those of the instant that is being handed out, in order, and those of later instants.
#[derive(Default)]
struct DelayQueue {
    /// The instant that is being handed out.
    time: SimTime,
    /// The entities of that instant.
    current: Vec<Entity>,
    /// Number of these entities that have been handed out.
    handed_out: usize,
    /// The later instants, except the last one.
    instants: VecDeque<Instant>,
    /// The last instant; it has no events if there is no later instant.
    last: Instant,
    /// The entities of the later instants, instant by instant, behind `taken` obsolete ones.
    entities: Vec<Entity>,
    taken: usize,
    /// A bit for each entity, for sorting; none is set between calls.
    marks: Vec<u64>,
}

#[derive(Clone, Copy, Default)]
struct Instant {
    time: SimTime,
    events: usize,
    /// The lowest of its entities.
    least: Entity,
}

impl DelayQueue {
    /// Adds an event if it belongs to the last instant, is not the lowest entity there, and needs no more memory.
    /// Returns whether it has been added.
    #[inline]
    fn follow(&mut self, time: SimTime, entity: Entity) -> bool {
        let is_simple = self.last.time == time && self.last.least < entity && self.last.events > 0;
        let is_added = is_simple && self.entities.len() < self.entities.capacity();
        if is_added {
            self.last.events += 1;
            self.entities.push(entity);
        }
        is_added
    }

    fn push(&mut self, time: SimTime, entity: Entity) {
        if self.last.time != time || self.last.events == 0 {
            self.open(time, entity);
        }
        self.last.events += 1;
        self.last.least = self.last.least.min(entity);
        self.entities.push(entity);
    }

    /// Appends an instant without events.
    fn open(&mut self, time: SimTime, entity: Entity) {
        if self.last.events > 0 {
            debug_assert!(self.last.time < time, "`now` is the time of the last event");
            self.instants.push_back(self.last);
        }
        self.last = Instant { time, events: 0, least: entity };
    }

    /// Removes the first event.
    fn pop(&mut self) {
        if self.handed_out >= self.current.len() {
            self.begin_instant();
        }
        self.handed_out += 1;
    }

    /// Returns the key of the first event, `NEVER` if there is none.
    fn first(&self) -> EventKey {
        match (self.current.get(self.handed_out), self.instants.front().unwrap_or(&self.last)) {
            (Some(entity), _) => key(self.time, *entity),
            (None, Instant { events: 0, .. }) => NEVER,
            (None, instant) => key(instant.time, instant.least),
        }
    }

    /// Begins to hand out the next instant.
    fn begin_instant(&mut self) {
        let Instant { time, events, .. } = self.instants.pop_front().unwrap_or_else(|| std::mem::take(&mut self.last));
        self.time = time;
        self.handed_out = 0;
        self.current.clear();
        self.current.extend_from_slice(&self.entities[self.taken..self.taken + events]);
        self.taken += events;
        if self.taken == self.entities.len() {
            self.entities.clear();
            self.taken = 0;
        } else if self.taken >= SPENT && 2 * self.taken >= self.entities.len() {
            self.entities.drain(..self.taken);
            self.taken = 0;
        }
        if events > 1 {
            sort(&mut self.current, &mut self.marks);
        }
    }
}

/// Sorts entities, none of which occurs twice. Dense ones are sorted by setting their bits in `marks`.
fn sort(entities: &mut [Entity], marks: &mut Vec<u64>) {
    /// The largest number of words per entity that are worth scanning.
    const WORDS: usize = 4;
    let last = entities.iter().copied().max().unwrap_or(0) as usize / 64;
    if last >= entities.len() * WORDS {
        entities.sort_unstable();
        return;
    }
    if last >= marks.len() {
        marks.resize(last + 1, 0);
    }
    for entity in &*entities {
        marks[*entity as usize / 64] |= 1 << (entity % 64);
    }
    let mut sorted = entities.iter_mut();
    for (first, mark) in (0..).step_by(64).zip(&mut marks[..=last]) {
        let mut bits = std::mem::take(mark);
        while bits != 0 {
            if let Some(place) = sorted.next() {
                *place = first + bits.trailing_zeros();
            }
            bits &= bits - 1;
        }
    }
}
