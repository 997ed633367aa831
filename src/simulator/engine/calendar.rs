//! The calendar: the pending events in their order.

use crate::units::{SimDuration, SimTime};
use delay_queues::DelayQueues;
use priority_queue::PriorityQueue;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;

mod delay_queues;

/// The number of something that can have a pending event: a station, an alarm. It has at most one at a time, apart from
/// the obsolete events of timers.
pub type Entity = u32;

/// (time, entity) packed so that one comparison orders both.
type EventKey = u128;

/// Later than any event.
const NEVER: EventKey = EventKey::MAX;

fn key(time: SimTime, entity: Entity) -> EventKey {
    EventKey::from(time.ps()) << 32 | EventKey::from(entity)
}

#[expect(clippy::cast_possible_truncation, reason = "the key is 64 bits of time over 32 bits of entity")]
fn unpack(key: EventKey) -> (SimTime, Entity) {
    (SimTime::from_ps((key >> 32) as u64), key as Entity)
}

/// The pending events, handed out in the order of (time, entity).
///
/// Events whose times do not change are in a 4-ary heap, or in a delay queue if their delay is a common one. The few
/// whose times change (a computation that a router preempts) are in a queue whose priorities can be changed.
pub struct Calendar {
    delay_queues: DelayQueues,
    fixed: Heap,
    /// The key of the first movable event, `NEVER` if there is none.
    first_alarm: EventKey,
    // Fx, never an identity hasher: dense ids under an identity hash make every look-up of an absent key scan the table.
    movable: PriorityQueue<Entity, Reverse<EventKey>, FxBuildHasher>,
    /// A lower bound of the keys of all events, except those of the instant that a delay queue is handing out.
    limit: EventKey,
}

impl Calendar {
    /// Creates an empty calendar.
    #[must_use]
    pub fn new() -> Self {
        Self {
            delay_queues: DelayQueues::default(),
            fixed: Heap::default(),
            first_alarm: NEVER,
            movable: PriorityQueue::default(),
            limit: 0,
        }
    }

    /// Schedules the one event of `entity`, whose time does not change afterwards.
    #[inline(never)]
    pub fn schedule(&mut self, time: SimTime, entity: Entity) {
        let key = key(time, entity);
        self.limit = self.limit.min(key);
        self.fixed.push(key);
    }

    /// Schedules the one event of `entity` for `delay` after `now`, the time of the last event taken out. The time does
    /// not change afterwards. If a few delays are common, this costs less than [`schedule`](Self::schedule).
    // The rarer cases are separate functions that are not inlined, so that the common one saves no registers.
    pub fn schedule_after(&mut self, now: SimTime, delay: SimDuration, entity: Entity) {
        let time = now + delay;
        match self.delay_queues.of(delay) {
            Some(queue) if self.delay_queues.follow(queue, time, entity) => {}
            Some(queue) => self.push(queue, time, entity),
            None => self.schedule_with_delay(time, delay, entity),
        }
    }

    #[inline(never)]
    fn push(&mut self, queue: usize, time: SimTime, entity: Entity) {
        if self.delay_queues.push(queue, time, entity) {
            self.limit = self.limit.min(key(time, entity));
        }
    }

    /// Schedules an event whose delay has no queue.
    #[inline(never)]
    fn schedule_with_delay(&mut self, time: SimTime, delay: SimDuration, entity: Entity) {
        match self.delay_queues.open(delay) {
            Some(queue) => self.push(queue, time, entity),
            None => self.schedule(time, entity),
        }
    }

    /// Sets the time of the one movable event of `entity`, which is scheduled if it is not pending.
    pub fn set_alarm(&mut self, time: SimTime, entity: Entity) {
        let priority = Reverse(key(time, entity));
        if self.movable.change_priority(&entity, priority).is_none() {
            self.movable.push(entity, priority);
        }
        self.limit = self.limit.min(priority.0);
        self.find_first_alarm();
    }

    /// Returns the time of the next event.
    #[must_use]
    pub fn next_time(&mut self) -> Option<SimTime> {
        let next = self.delay_queues.first().key.min(self.fixed.peek()).min(self.first_alarm);
        (next != NEVER).then(|| unpack(next).0)
    }

    /// Removes and returns the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(SimTime, Entity)> {
        self.delay_queues.next_of_instant(self.limit).or_else(|| self.pop_first())
    }

    /// Removes and returns the first of all events, and updates `limit`.
    #[inline(never)]
    fn pop_first(&mut self) -> Option<(SimTime, Entity)> {
        let first = self.delay_queues.first();
        let others = self.fixed.peek().min(self.first_alarm);
        if first.key < others {
            self.delay_queues.pop(first.queue);
            self.limit = others.min(first.beside);
            return Some(unpack(first.key));
        }
        self.limit = 0;
        if others == NEVER {
            return None;
        }
        if others == self.first_alarm {
            self.movable.pop();
            self.find_first_alarm();
        } else {
            self.fixed.pop();
        }
        Some(unpack(others))
    }

    fn find_first_alarm(&mut self) {
        self.first_alarm = self.movable.peek().map_or(NEVER, |(_, Reverse(key))| *key);
    }
}

impl Default for Calendar {
    fn default() -> Self {
        Self::new()
    }
}

/// A 4-ary min-heap. A popped root leaves a hole that the next push fills, because a station that has just finished a
/// job usually schedules the next one: one sift instead of two.
#[derive(Default)]
struct Heap {
    keys: Vec<EventKey>,
    /// `true` if the root has been popped and not replaced.
    hole: bool,
}

const ARITY: usize = 4;

impl Heap {
    fn push(&mut self, key: EventKey) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.keys.push(key);
            self.sift_up(key);
        }
    }

    /// Removes the root. Must follow a [`peek`](Self::peek), which fills the hole of an earlier pop.
    fn pop(&mut self) {
        self.hole = true;
    }

    /// Returns the first key, `NEVER` if there is none.
    fn peek(&mut self) -> EventKey {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.keys.pop()
                && !self.keys.is_empty()
            {
                self.sift_down(last);
            }
        }
        self.keys.first().copied().unwrap_or(NEVER)
    }

    /// Places `key` on the path from the last leaf, which is vacant, to the root.
    fn sift_up(&mut self, key: EventKey) {
        let mut at = self.keys.len() - 1;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }

    /// Places `key` on the path of least children from the root, which is vacant, to a leaf.
    fn sift_down(&mut self, key: EventKey) {
        let mut at = 0;
        while let Some((least, child)) = self.least_child(at).filter(|(least, _)| *least < key) {
            self.keys[at] = least;
            at = child;
        }
        self.keys[at] = key;
    }

    /// Returns the least of the children of a node, and its place.
    #[inline]
    fn least_child(&self, node: usize) -> Option<(EventKey, usize)> {
        let first = node * ARITY + 1;
        let children = self.keys.get(first..)?;
        let lesser = |a: (EventKey, usize), b: (EventKey, usize)| if b.0 < a.0 { b } else { a };
        // Selections instead of branches, which no processor could predict.
        if let Some(&[a, b, c, d]) = children.first_chunk::<ARITY>() {
            return Some(lesser(lesser((a, first), (b, first + 1)), lesser((c, first + 2), (d, first + 3))));
        }
        (first..).zip(children).map(|(place, key)| (*key, place)).reduce(lesser)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    #[test]
    fn simultaneous_events_come_in_the_order_of_entities() {
        let mut calendar = Calendar::new();
        for entity in [3, 1, 2] {
            calendar.schedule(at(7), entity);
        }
        calendar.set_alarm(at(7), 0);
        let order: Vec<_> = std::iter::from_fn(|| calendar.pop()).collect();
        assert_eq!(order, [(at(7), 0), (at(7), 1), (at(7), 2), (at(7), 3)]);
    }

    #[test]
    fn an_alarm_moves_both_ways() {
        let mut calendar = Calendar::new();
        calendar.schedule(at(10), 5);
        calendar.set_alarm(at(20), 1);
        calendar.set_alarm(at(5), 1);
        calendar.set_alarm(at(15), 1);
        assert_eq!(calendar.pop(), Some((at(10), 5)));
        assert_eq!(calendar.pop(), Some((at(15), 1)));
        assert_eq!(calendar.pop(), None);
    }

    /// Runs `rounds` of one event out and some in, whose distances come from `spans`, against a sorted set.
    fn agrees_with_a_sorted_set(pending: u32, rounds: u32, span: impl Fn(u64) -> u64) {
        let mut calendar = Calendar::new();
        let mut oracle = BTreeSet::new();
        let mut vacant: Vec<Entity> = (0..pending).collect();
        let (mut state, mut now) = (1u64, 0);
        for round in 0..rounds {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let count = if round == 0 { u64::from(pending) } else { state >> 40 & 3 };
            for entity in vacant.split_off(vacant.len() - vacant.len().min(usize::try_from(count).unwrap())) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let delay = span(state >> 33);
                if entity % 3 == 0 {
                    calendar.schedule(at(now + delay), entity);
                } else {
                    calendar.schedule_after(at(now), SimDuration::from_ps(delay), entity);
                }
                oracle.insert((at(now + delay), entity));
            }
            let event = calendar.pop();
            assert_eq!(event, oracle.pop_first());
            if let Some((time, entity)) = event {
                now = time.ps();
                vacant.push(entity);
            }
        }
        while let Some(event) = oracle.pop_first() {
            assert_eq!(calendar.pop(), Some(event));
        }
        assert_eq!(calendar.pop(), None);
    }

    #[test]
    fn the_order_is_that_of_a_sorted_set_whatever_the_distances() {
        agrees_with_a_sorted_set(1, 100, |random| random % 3);
        agrees_with_a_sorted_set(300, 20_000, |random| random % 1000);
        agrees_with_a_sorted_set(300, 20_000, |random| random % 2);
        agrees_with_a_sorted_set(300, 20_000, |_| 7);
        // A few common delays, and others between them.
        agrees_with_a_sorted_set(300, 20_000, |random| [81, 81, 27, 9, 240, 3][(random % 6) as usize]);
        agrees_with_a_sorted_set(300, 20_000, |random| if random % 3 == 0 { random % 100 } else { 50 });
        // From picoseconds to seconds, and all at once.
        agrees_with_a_sorted_set(2_000, 50_000, |random| 1 << (random % 40));
        agrees_with_a_sorted_set(20_000, 60_000, |random| random % 3 * 1_000_000_000 + random % 17);
        agrees_with_a_sorted_set(500, 5_000, |random| if random % 50 == 0 { u64::MAX >> 8 } else { 0 });
    }
}
