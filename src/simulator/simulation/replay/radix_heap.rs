//! The event queue, ordered by time and then by the order in which events were first requested.

use crate::engine::Precedence;
use crate::units::SimTime;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An event in the event queue.
#[derive(Clone, Copy)]
pub struct ScheduledEvent {
    pub time: SimTime,
    pub precedence: Precedence,
    pub event: PackedEvent,
    /// The resource whose retrial queue the event comes from, or [`NO_QUEUE`].
    pub queue: u32,
}

/// No resource.
pub const NO_QUEUE: u32 = u32::MAX;

/// An event: its kind, and the place of its operation or message, or its rank.
#[derive(Clone, Copy)]
pub struct PackedEvent(u32);

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A computation requires its processor.
    Begin,
    /// A message requires the processor and the interface of its sender.
    Send,
    /// A message requires the processor and the interface of its receiver.
    Arrive,
    /// A receive is due to be posted, or an operation ends.
    Due,
    /// The processor of a rank has completed its communication work after the last operation of the rank.
    Finish,
}

impl PackedEvent {
    const KIND_BITS: u32 = 3;
    /// The number of places that can be distinguished.
    pub const MAX_PLACES: u32 = 1 << (u32::BITS - Self::KIND_BITS);

    #[inline]
    pub fn new(kind: EventKind, place: u32) -> Self {
        assert!(place < Self::MAX_PLACES, "fewer than 2^29 operations and messages at once");
        Self(place << Self::KIND_BITS | kind as u32)
    }

    #[inline]
    pub const fn place(self) -> u32 {
        self.0 >> Self::KIND_BITS
    }

    #[inline]
    pub const fn kind(self) -> EventKind {
        match self.0 & ((1 << Self::KIND_BITS) - 1) {
            0 => EventKind::Begin,
            1 => EventKind::Send,
            2 => EventKind::Arrive,
            3 => EventKind::Due,
            _ => EventKind::Finish,
        }
    }
}

/// The event queue, a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, 1990), which is applicable because events are never
/// scheduled in the past.
///
/// An event is stored in the bucket of the highest bit in which its time differs from the current time. The events at
/// the current time are stored in their order of execution. When they have been executed, the events of the lowest
/// bucket are distributed over lower ones.
pub struct RadixHeap {
    now: SimTime,
    /// Events at the current time that were requested in order; those before `next` have been popped.
    in_order: Vec<ScheduledEvent>,
    next: usize,
    /// Events at the current time that were requested out of order.
    out_of_order: BinaryHeap<EarliestFirst>,
    buckets: [Vec<ScheduledEvent>; u64::BITS as usize],
    /// Bit b is set if bucket b is not empty.
    filled: u64,
}

/// An event at the current time, ordered so that the event with the lowest precedence is the greatest.
#[derive(Clone, Copy)]
struct EarliestFirst(ScheduledEvent);

/// The capacity, in events, that a vector keeps even if it is unused.
const MAX_SPARE_CAPACITY: usize = 1 << 12;

impl RadixHeap {
    pub fn new() -> Self {
        let buckets = std::array::from_fn(|_| Vec::new());
        Self { now: SimTime::START, in_order: Vec::new(), next: 0, out_of_order: BinaryHeap::new(), buckets, filled: 0 }
    }

    /// Adds an event, which must not be earlier than the last one popped.
    #[inline]
    pub fn push(&mut self, entry: ScheduledEvent) {
        let different = entry.time.ps() ^ self.now.ps();
        if different == 0 {
            return self.push_present(entry);
        }
        let bucket = different.ilog2();
        self.buckets[bucket as usize].push(entry);
        self.filled |= 1 << bucket;
    }

    #[inline]
    fn push_present(&mut self, entry: ScheduledEvent) {
        if self.in_order.last().is_none_or(|last| last.precedence < entry.precedence) {
            self.in_order.push(entry);
        } else {
            self.out_of_order.push(EarliestFirst(entry));
        }
    }

    /// Removes and returns the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<ScheduledEvent> {
        let Some(entry) = self.in_order.get(self.next).copied() else {
            return if let Some(EarliestFirst(entry)) = self.out_of_order.pop() { Some(entry) } else { self.advance() };
        };
        if let Some(EarliestFirst(first)) = self.out_of_order.peek()
            && first.precedence < entry.precedence
        {
            return self.out_of_order.pop().map(|EarliestFirst(entry)| entry);
        }
        self.next += 1;
        if self.next == self.in_order.len() {
            self.in_order.clear();
            self.next = 0;
        }
        Some(entry)
    }

    /// Returns the lowest order among the events at the current time.
    pub fn first_order(&self) -> Option<u64> {
        let in_order = self.in_order.get(self.next).map(|entry| entry.precedence.order);
        let others = self.out_of_order.peek().map(|EarliestFirst(entry)| entry.precedence.order);
        in_order.into_iter().chain(others).min()
    }

    /// Advances to the time of the next event and removes that event.
    fn advance(&mut self) -> Option<ScheduledEvent> {
        if self.filled == 0 {
            return None;
        }
        let bucket = self.filled.trailing_zeros();
        self.filled &= self.filled - 1;
        self.in_order.shrink_to(MAX_SPARE_CAPACITY);
        let mut entries = std::mem::take(&mut self.buckets[bucket as usize]);
        self.now = entries.iter().map(|entry| entry.time).min()?;
        let only = if entries.len() == 1 { entries.pop() } else { None };
        for entry in entries.drain(..) {
            self.push(entry);
        }
        if entries.capacity() <= MAX_SPARE_CAPACITY {
            self.buckets[bucket as usize] = entries;
        }
        only.or_else(|| self.pop())
    }
}

impl Ord for EarliestFirst {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.precedence.cmp(&self.0.precedence)
    }
}

impl PartialOrd for EarliestFirst {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for EarliestFirst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for EarliestFirst {}
