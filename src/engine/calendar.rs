//! The calendar: what happens next.

use crate::units::{SimDuration, SimTime};
use priority_queue::PriorityQueue;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Whatever can have a pending event: at most one at a time.
pub type Entity = u32;

/// (time, entity) packed so that one comparison orders both.
type Key = u128;

/// Later than any event.
const NEVER: Key = Key::MAX;

fn key(time: SimTime, entity: Entity) -> Key {
    Key::from(time.ps()) << 32 | Key::from(entity)
}

#[expect(clippy::cast_possible_truncation, reason = "the key is 64 bits of time over 32 bits of entity")]
fn unpack(key: Key) -> (SimTime, Entity) {
    (SimTime::from_ps((key >> 32) as u64), entity(key))
}

#[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are the entity")]
const fn entity(key: Key) -> Entity {
    key as Entity
}

const fn are_simultaneous(a: Key, b: Key) -> bool {
    (a ^ b) >> 32 == 0
}

/// The pending events, handed out in the order of (time, entity).
///
/// Events that never move lie in a 4-ary heap, or in lanes if they were scheduled as far ahead as others; the few
/// that move (a computation that a router preempts) lie in a queue whose priorities can change.
pub struct Calendar {
    lanes: Lanes,
    fixed: Heap,
    /// The key of the first movable event, `NEVER` if there is none.
    first_alarm: Key,
    // Fx, never an identity hasher: dense ids under an identity hash make every look-up of an
    // absent key scan the table.
    movable: PriorityQueue<Entity, Reverse<Key>, FxBuildHasher>,
}

impl Calendar {
    /// An empty calendar.
    #[must_use]
    pub fn new() -> Self {
        Self { lanes: Lanes::default(), fixed: Heap::default(), first_alarm: NEVER, movable: PriorityQueue::default() }
    }

    /// Schedules the one event of `entity`, which stays where it is put.
    pub fn schedule(&mut self, time: SimTime, entity: Entity) {
        self.fixed.push(key(time, entity));
    }

    /// Schedules the one event of `entity`, which stays where it is put, `delay` after `now`, the time of the last event
    /// taken out. Where most delays are one of a few this costs less than [`schedule`](Self::schedule).
    pub fn schedule_after(&mut self, now: SimTime, delay: SimDuration, entity: Entity) {
        let key = key(now + delay, entity);
        match self.lanes.of(delay) {
            Some(lane) => self.lanes.push(lane, key),
            None => self.fixed.push(key),
        }
    }

    /// Sets the one movable event of `entity` to `time`, wherever it was before.
    pub fn set_alarm(&mut self, time: SimTime, entity: Entity) {
        let priority = Reverse(key(time, entity));
        if self.movable.change_priority(&entity, priority).is_none() {
            self.movable.push(entity, priority);
        }
        self.find_first_alarm();
    }

    /// Takes the next event out.
    pub fn pop(&mut self) -> Option<(SimTime, Entity)> {
        let (lane, first) = self.lanes.first();
        let others = self.fixed.peek().min(self.first_alarm);
        if first < others {
            self.lanes.pop(lane);
            return Some(unpack(first));
        }
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

/// The number of lanes: as many delays are common at once, say the transmission of a full packet and what a router
/// does for it.
const LANES: usize = 4;

/// Events that were scheduled equally far ahead, in lanes: their times come in the order in which they are scheduled.
///
/// A network whose packets are mostly of one length schedules most of its events so, and a lane costs less than a heap.
struct Lanes {
    /// How many lanes have been used.
    used: usize,
    /// How far ahead the events of each lane were scheduled.
    delays: [SimDuration; LANES],
    /// The first event of each lane.
    firsts: [Key; LANES],
    all: [Lane; LANES],
    /// The last delay without a lane. The next time that it comes it gets one.
    candidate: SimDuration,
}

impl Default for Lanes {
    fn default() -> Self {
        let delays = [SimDuration::ZERO; LANES];
        Self { used: 0, delays, firsts: [NEVER; LANES], all: Default::default(), candidate: SimDuration::ZERO }
    }
}

impl Lanes {
    /// The lane for events that are so far ahead, if there is one.
    fn of(&mut self, delay: SimDuration) -> Option<usize> {
        let lane = self.delays[..self.used].iter().position(|known| *known == delay);
        lane.or_else(|| self.open(delay))
    }

    fn open(&mut self, delay: SimDuration) -> Option<usize> {
        // Events without delay could come among those of the same time that are being handed out.
        if delay == SimDuration::ZERO || std::mem::replace(&mut self.candidate, delay) != delay {
            return None;
        }
        let vacant = self.firsts.iter().position(|first| *first == NEVER)?;
        self.delays[vacant] = delay;
        self.used = self.used.max(vacant + 1);
        Some(vacant)
    }

    fn push(&mut self, lane: usize, key: Key) {
        self.firsts[lane] = self.firsts[lane].min(key);
        self.all[lane].keys.push_back(key);
    }

    /// The lane with the first event of all, and that event, `NEVER` if there is none.
    fn first(&self) -> (usize, Key) {
        let mut first = (0, self.firsts[0]);
        for lane in 1..self.used {
            if self.firsts[lane] < first.1 {
                first = (lane, self.firsts[lane]);
            }
        }
        first
    }

    /// Takes the first event of a lane out.
    fn pop(&mut self, lane: usize) {
        self.firsts[lane] = self.all[lane].pop();
    }
}

/// Events in the order of their times; those of one time in any order until they are handed out.
#[derive(Default)]
struct Lane {
    keys: VecDeque<Key>,
    /// So many at the front are of one time, to which nothing is added any more, and in order.
    in_order: usize,
}

impl Lane {
    /// Takes the first event out; the one that is the first then, `NEVER` if there is none.
    fn pop(&mut self) -> Key {
        if self.in_order == 0 {
            self.in_order = if self.is_alone(self.keys[0]) { 1 } else { self.put_in_order() };
        }
        self.keys.pop_front();
        self.in_order -= 1;
        match self.keys.front() {
            None => NEVER,
            Some(first) if self.in_order > 0 || self.is_alone(*first) => *first,
            Some(_) => self.first(),
        }
    }

    /// Whether the first event is the only one of its time.
    fn is_alone(&self, first: Key) -> bool {
        self.keys.get(1).is_none_or(|second| !are_simultaneous(first, *second))
    }

    /// Puts the events at the front that are of one time in order; their number.
    fn put_in_order(&mut self) -> usize {
        let count = self.simultaneous();
        self.keys.make_contiguous()[..count].sort_unstable_by_key(|key| entity(*key));
        count
    }

    /// The first event, wherever it is among those of its time.
    fn first(&self) -> Key {
        self.keys.iter().take(self.simultaneous()).copied().min().unwrap_or(NEVER)
    }

    /// How many events at the front are of the same time.
    fn simultaneous(&self) -> usize {
        let Some(first) = self.keys.front() else { return 0 };
        1 + self.keys.iter().skip(1).take_while(|key| are_simultaneous(**key, *first)).count()
    }
}

/// A 4-ary min-heap. A popped root leaves a hole that the next push fills, because a station
/// that has just finished a job usually schedules the next one: one sift instead of two.
#[derive(Default)]
struct Heap {
    keys: Vec<Key>,
    hole: bool,
}

const ARITY: usize = 4;

impl Heap {
    fn push(&mut self, key: Key) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.keys.push(key);
            self.sift_up(key);
        }
    }

    /// Takes the root out, which has been peeked at.
    fn pop(&mut self) {
        self.hole = true;
    }

    /// The first key, `NEVER` if there is none.
    fn peek(&mut self) -> Key {
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

    /// Places `key` on the path from the last leaf upwards.
    fn sift_up(&mut self, key: Key) {
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

    /// Places `key` on the path from the root downwards; the root is vacant.
    fn sift_down(&mut self, key: Key) {
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let (mut least, mut child) = (key, at);
            for (offset, &key) in self.keys.iter().skip(first).take(ARITY).enumerate() {
                if key < least {
                    (least, child) = (key, first + offset);
                }
            }
            if child == at {
                break;
            }
            self.keys[at] = least;
            at = child;
        }
        self.keys[at] = key;
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

    /// Plays `rounds` of one event out and some in, whose distances come from `spans`, against a sorted set.
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
