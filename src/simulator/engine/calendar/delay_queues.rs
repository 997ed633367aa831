//! Queues of events that were scheduled equally far ahead, whose times therefore come in the order in which they
//! are scheduled.

use super::{Entity, Key, NEVER, key};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The number of delay queues: the number of packet lengths whose transmission times are common at once.
const QUEUES: usize = 4;

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
    firsts: [Key; QUEUES],
    all: [DelayQueue; QUEUES],
    /// The last delay without a queue. The next time that it comes it gets one.
    candidate: SimDuration,
}

impl Default for DelayQueues {
    fn default() -> Self {
        let delays = [SimDuration::ZERO; QUEUES];
        Self { used: 0, delays, firsts: [NEVER; QUEUES], all: Default::default(), candidate: SimDuration::ZERO }
    }
}

impl DelayQueues {
    /// The queue for events that are so far ahead, if there is one.
    pub(super) fn of(&mut self, delay: SimDuration) -> Option<usize> {
        let queue = self.delays[..self.used].iter().position(|known| *known == delay);
        queue.or_else(|| self.open(delay))
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

    pub(super) fn push(&mut self, queue: usize, time: SimTime, entity: Entity) {
        self.firsts[queue] = self.firsts[queue].min(key(time, entity));
        self.all[queue].push(time, entity);
    }

    /// The queue with the first event of all, and that event, `NEVER` if there is none.
    pub(super) fn first(&self) -> (usize, Key) {
        let mut first = (0, self.firsts[0]);
        for queue in 1..self.used {
            if self.firsts[queue] < first.1 {
                first = (queue, self.firsts[queue]);
            }
        }
        first
    }

    /// Takes the first event of a queue out.
    pub(super) fn pop(&mut self, queue: usize) {
        self.firsts[queue] = self.all[queue].pop();
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
    /// The entities of the instants behind the current one, those of the first instant first.
    entities: VecDeque<Entity>,
    /// A bit for each entity, of which none is set.
    marks: Vec<u64>,
}

struct Instant {
    time: SimTime,
    events: usize,
    /// The first of its entities.
    least: Entity,
}

impl DelayQueue {
    #[inline]
    fn push(&mut self, time: SimTime, entity: Entity) {
        match self.instants.back_mut() {
            Some(last) if last.time == time => {
                last.events += 1;
                last.least = last.least.min(entity);
            }
            last => {
                debug_assert!(last.is_none_or(|last| last.time < time), "`now` is the time of the last event");
                self.instants.push_back(Instant { time, events: 1, least: entity });
            }
        }
        self.entities.push_back(entity);
    }

    /// Takes the first event out; the one that is the first then, `NEVER` if there is none.
    #[inline]
    fn pop(&mut self) -> Key {
        if self.handed_out >= self.current.len() {
            self.begin_instant();
        }
        self.handed_out += 1;
        match (self.current.get(self.handed_out), self.instants.front()) {
            (Some(entity), _) => key(self.time, *entity),
            (None, Some(instant)) => key(instant.time, instant.least),
            (None, None) => NEVER,
        }
    }

    fn begin_instant(&mut self) {
        let Some(Instant { time, events, .. }) = self.instants.pop_front() else { return };
        self.time = time;
        self.handed_out = 0;
        self.current.clear();
        self.current.extend(self.entities.drain(..events));
        sort(&mut self.current, &mut self.marks);
    }
}

/// Sorts entities, of which none occurs twice: where they are dense, by their bits in `marks`.
fn sort(entities: &mut [Entity], marks: &mut Vec<u64>) {
    /// The most words that are looked at for an entity.
    const WORDS: usize = 4;
    if entities.len() < 2 {
        return;
    }
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
