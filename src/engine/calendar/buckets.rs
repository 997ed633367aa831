//! Buckets of time: events in the order of their times without comparing them all.

use super::Key;
use super::heap::Heap;

/// Pending keys by when they are due.
///
/// The near ones lie in a heap, which is short; those that follow lie unsorted in a ring of buckets, each as wide as a
/// power of two of picoseconds, and come to the heap bucket by bucket; the far ones lie in a heap beyond the ring. From
/// time to time the width becomes that of about two events, and the ring as long as there are events (a calendar
/// queue: Brown, Communications of the ACM 31 (1988) 1220, with heaps where its buckets do badly: many events at once,
/// and few of them far away).
pub(super) struct Buckets {
    /// The width of a bucket is two to the power of this.
    shift: u32,
    /// The number, since the start of time, of the last bucket that has come to the near ones.
    open: u64,
    near: Heap,
    /// The places of the first key of each bucket; its length is a power of two.
    ring: Vec<u32>,
    places: Vec<Place>,
    vacant: u32,
    in_ring: usize,
    far: Heap,
    /// Keys taken out since the width was looked at, and when the first of them was due.
    taken: u64,
    taken_since: u64,
}

#[derive(Clone, Copy)]
struct Place {
    key: Key,
    /// The next place of the bucket, or the next vacant one.
    next: u32,
}

const NONE: u32 = u32::MAX;
const SHORTEST_RING: usize = 64;
const LONGEST_RING: usize = 1 << 20;
/// The width is looked at after so many keys, or a quarter of all if those are more.
const PATIENCE: u64 = 1024;

#[expect(clippy::cast_possible_truncation, reason = "the upper part of a key is 64 bits of time")]
const fn time(key: Key) -> u64 {
    (key >> 32) as u64
}

impl Buckets {
    pub(super) fn new() -> Self {
        Self {
            // About a microsecond.
            shift: 20,
            open: 0,
            near: Heap::default(),
            ring: vec![NONE; SHORTEST_RING],
            places: Vec::new(),
            vacant: NONE,
            in_ring: 0,
            far: Heap::default(),
            taken: 0,
            taken_since: 0,
        }
    }

    pub(super) fn push(&mut self, key: Key) {
        let bucket = time(key) >> self.shift;
        if bucket <= self.open {
            self.near.push(key);
        } else if bucket - self.open < self.ring.len() as u64 {
            self.put_in_ring(bucket, key);
        } else {
            self.far.push(key);
        }
    }

    /// The first key.
    pub(super) fn peek(&mut self) -> Option<Key> {
        self.near.peek().or_else(|| self.open_next())
    }

    /// Takes out the first key.
    pub(super) fn pop(&mut self) -> Option<Key> {
        self.peek()?;
        let key = self.near.pop()?;
        self.taken += 1;
        if self.taken >= PATIENCE && 4 * self.taken >= self.len() as u64 {
            self.adapt(time(key));
        }
        Some(key)
    }

    fn len(&self) -> usize {
        self.near.len() + self.in_ring + self.far.len()
    }

    fn slot(&self, bucket: u64) -> usize {
        usize::try_from(bucket & (self.ring.len() as u64 - 1)).expect("the ring is short")
    }

    fn put_in_ring(&mut self, bucket: u64, key: Key) {
        let slot = self.slot(bucket);
        let place = Place { key, next: self.ring[slot] };
        self.in_ring += 1;
        if let Some(vacant) = self.places.get_mut(self.vacant as usize) {
            self.ring[slot] = std::mem::replace(&mut self.vacant, vacant.next);
            *vacant = place;
            return;
        }
        self.ring[slot] = u32::try_from(self.places.len()).expect("an entity has one event at a time");
        self.places.push(place);
    }

    /// Brings the next bucket that has keys to the near ones; the first of them.
    fn open_next(&mut self) -> Option<Key> {
        loop {
            if self.in_ring == 0 {
                self.open = time(self.far.peek()?) >> self.shift;
            } else {
                self.open += 1;
            }
            while let Some(first) = self.far.peek() {
                if (time(first) >> self.shift) - self.open >= self.ring.len() as u64 {
                    break;
                }
                self.far.pop();
                self.push(first);
            }
            let slot = self.slot(self.open);
            let mut next = std::mem::replace(&mut self.ring[slot], NONE);
            while let Some(place) = self.places.get_mut(next as usize) {
                self.near.push(place.key);
                let after = std::mem::replace(&mut place.next, self.vacant);
                self.vacant = std::mem::replace(&mut next, after);
                self.in_ring -= 1;
            }
            if let Some(first) = self.near.peek() {
                return Some(first);
            }
        }
    }

    /// Fits the width of buckets to how fast time has passed, and the ring to how many keys there are.
    fn adapt(&mut self, now: u64) {
        let distance = (now - self.taken_since) / self.taken;
        (self.taken, self.taken_since) = (0, now);
        let shift = (2 * distance).max(1).ilog2();
        let length = self.len().next_power_of_two().clamp(SHORTEST_RING, LONGEST_RING);
        let fits = shift.abs_diff(self.shift) <= 1 && length <= 2 * self.ring.len() && self.ring.len() <= 4 * length;
        // So it does where the next bucket has been far away, and others have come before it.
        let crowds = self.near.len() > SHORTEST_RING && 2 * self.near.len() > self.len();
        if !fits || crowds {
            self.lay_out(now, shift, length);
        }
    }

    fn lay_out(&mut self, now: u64, shift: u32, length: usize) {
        let mut keys = Vec::with_capacity(self.len());
        while let Some(key) = self.near.pop() {
            keys.push(key);
        }
        while let Some(key) = self.far.pop() {
            keys.push(key);
        }
        for first in &self.ring {
            let bucket =
                std::iter::successors(self.places.get(*first as usize), |place| self.places.get(place.next as usize));
            keys.extend(bucket.map(|place| place.key));
        }
        self.places.clear();
        (self.vacant, self.in_ring) = (NONE, 0);
        (self.shift, self.open) = (shift, now >> shift);
        self.ring = vec![NONE; length];
        for key in keys {
            self.push(key);
        }
    }
}
