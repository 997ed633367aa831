//! Queues of events that were scheduled equally far ahead, whose times therefore come in the order in which they
//! are scheduled.

use super::{Entity, EventKey, NEVER, key};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The number of delay queues: the number of packet lengths whose transmission times are common at once.
const QUEUES: usize = 4;
/// Fewer entities that have been taken are not worth moving those behind them.
const SPENT: usize = 64;

/// Events by how far ahead they were scheduled.
///
/// A network whose packets are mostly of one length schedules most of its events equally far ahead, and a queue costs
/// less than a heap.
pub(super) struct DelayQueues {
    /// Number of delay queues in use.
    used: usize,
    /// The delay with which the events of each queue were scheduled.
    delays: [SimDuration; QUEUES],
    /// The first event of each queue.
    firsts: [EventKey; QUEUES],
    all: [DelayQueue; QUEUES],
    /// The queue whose first event was taken out last; its first one now may come later than `firsts` says.
    open: usize,
    /// The last delay without a queue. The next time that it comes it gets one.
    candidate: SimDuration,
}

/// The first event of all queues, `NEVER` if there is none.
pub(super) struct FirstEvent {
    pub queue: usize,
    pub key: EventKey,
    /// The first one of the other queues.
    pub beside: EventKey,
}

impl Default for DelayQueues {
    fn default() -> Self {
        let delays = [SimDuration::ZERO; QUEUES];
        let (firsts, all) = ([NEVER; QUEUES], Default::default());
        Self { used: 0, delays, firsts, all, open: 0, candidate: SimDuration::ZERO }
    }
}

impl DelayQueues {
    /// The queue for events that are so far ahead, if there is one.
    #[inline]
    pub(super) fn of(&self, delay: SimDuration) -> Option<usize> {
        self.delays.iter().take(self.used).position(|known| *known == delay)
    }

    /// Gives a queue to events that are so far ahead, if there is one to be had.
    pub(super) fn open(&mut self, delay: SimDuration) -> Option<usize> {
        // Events without delay could come among those of the same time that are being handed out.
        if delay == SimDuration::ZERO || std::mem::replace(&mut self.candidate, delay) != delay {
            return None;
        }
        let vacant = self.firsts.iter().position(|first| *first == NEVER)?;
        self.delays[vacant] = delay;
        self.used = self.used.max(vacant + 1);
        Some(vacant)
    }

    /// Adds an event to a queue where that is simple: it is not the first one of its instant. Returns whether it is added.
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

    /// The first events of all queues.
    #[inline]
    pub(super) fn first(&mut self) -> FirstEvent {
        let (mut queue, mut key, mut beside) = (0, NEVER, NEVER);
        if self.used == 0 {
            return FirstEvent { queue, key, beside };
        }
        self.firsts[self.open] = self.all[self.open].first();
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

    /// Takes out the next event of the instant that is being handed out, if it comes before `limit`.
    #[inline]
    pub(super) fn next_of_instant(&mut self, limit: EventKey) -> Option<(SimTime, Entity)> {
        let queue = &mut self.all[self.open];
        let entity = *queue.current.get(queue.handed_out)?;
        if key(queue.time, entity) >= limit {
            return None;
        }
        queue.handed_out += 1;
        Some((queue.time, entity))
    }

    /// Takes the first event of a queue out.
    pub(super) fn pop(&mut self, queue: usize) {
        self.open = queue;
        self.all[queue].pop();
    }
}

/// The events of one queue: those of the instant that is being handed out, in order, and those of the instants behind it.
#[derive(Default)]
struct DelayQueue {
    time: SimTime,
    current: Vec<Entity>,
    /// Number of the current ones that have been handed out.
    handed_out: usize,
    instants: VecDeque<Instant>,
    /// The last instant, behind those; it has no events if there is none.
    last: Instant,
    /// The entities of the instants behind the current one, those of the first instant first, after those that have been
    /// taken.
    entities: Vec<Entity>,
    taken: usize,
    /// A bit for each entity, of which none is set.
    marks: Vec<u64>,
}

#[derive(Clone, Copy, Default)]
struct Instant {
    time: SimTime,
    events: usize,
    /// The first of its entities.
    least: Entity,
}

impl DelayQueue {
    /// Adds an event where it only lengthens its instant. Returns whether it does.
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

    fn open(&mut self, time: SimTime, entity: Entity) {
        if self.last.events > 0 {
            debug_assert!(self.last.time < time, "`now` is the time of the last event");
            self.instants.push_back(self.last);
        }
        self.last = Instant { time, events: 0, least: entity };
    }

    /// Takes the first event out.
    fn pop(&mut self) {
        if self.handed_out >= self.current.len() {
            self.begin_instant();
        }
        self.handed_out += 1;
    }

    /// The first event, `NEVER` if there is none.
    fn first(&self) -> EventKey {
        match (self.current.get(self.handed_out), self.instants.front().unwrap_or(&self.last)) {
            (Some(entity), _) => key(self.time, *entity),
            (None, Instant { events: 0, .. }) => NEVER,
            (None, instant) => key(instant.time, instant.least),
        }
    }

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

/// Sorts entities, of which none occurs twice: where they are dense, by their bits in `marks`.
fn sort(entities: &mut [Entity], marks: &mut Vec<u64>) {
    /// The most words that are looked at for an entity.
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
