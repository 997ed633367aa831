//! The events that are going to happen, in the order of their times and of when they were first asked for.

use crate::units::SimTime;

/// An event on the agenda.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Time and order, as one number: entries are compared all the time.
    key: u128,
    /// Tells those apart that one event asked for.
    number: u64,
    pub event: Event,
    /// The resource from whose line it was called, or [`NO_LINE`].
    pub line: u32,
}

impl Entry {
    #[inline]
    pub fn new(time: SimTime, order: u64, number: u64, (event, line): (Event, u32)) -> Self {
        Self { key: u128::from(time.ps()) << u64::BITS | u128::from(order), number, event, line }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the upper half")]
    pub const fn time(&self) -> SimTime {
        SimTime::from_ps((self.key >> u64::BITS) as u64)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub const fn order(&self) -> u64 {
        self.key as u64
    }

    #[inline]
    const fn is_before(&self, other: &Self) -> bool {
        self.key < other.key || self.key == other.key && self.number < other.number
    }
}

/// No line.
pub const NO_LINE: u32 = u32::MAX;

/// Something that happens: its kind, and the place of the operation or message, or the rank.
#[derive(Clone, Copy)]
pub struct Event(u32);

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A computation wants its processor.
    Begin,
    /// A message wants processor and interface of its source.
    Send,
    /// A message wants those of its destination.
    Arrive,
    /// A receive is to be posted, or an operation has ended.
    Due,
    /// A rank whose operations have ended has done its work for others.
    Finish,
}

impl Event {
    const KIND_BITS: u32 = 3;
    /// Places are smaller.
    pub const PLACES: u32 = 1 << (u32::BITS - Self::KIND_BITS);

    #[inline]
    pub fn new(kind: EventKind, place: u32) -> Self {
        assert!(place < Self::PLACES, "fewer than 2^29 operations and messages at once");
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

/// A heap, and the first event before it: many an event is the next one as soon as it is asked for, and never enters the heap.
pub struct Agenda {
    first: Option<Entry>,
    heap: Vec<Entry>,
}

/// Children of a node of the heap.
const WIDTH: usize = 4;

impl Agenda {
    pub const fn new() -> Self {
        Self { first: None, heap: Vec::new() }
    }

    #[inline]
    pub fn push(&mut self, entry: Entry) {
        match self.first {
            Some(first) if first.is_before(&entry) => self.sink(entry),
            Some(first) => {
                self.first = Some(entry);
                self.sink(first);
            }
            None if self.heap.first().is_none_or(|top| entry.is_before(top)) => self.first = Some(entry),
            None => self.sink(entry),
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        if self.first.is_some() {
            return self.first.take();
        }
        let last = self.heap.pop()?;
        if self.heap.is_empty() {
            return Some(last);
        }
        let top = self.heap[0];
        self.settle(last);
        Some(top)
    }

    /// Adds an entry to the heap.
    fn sink(&mut self, entry: Entry) {
        let mut place = self.heap.len();
        self.heap.push(entry);
        while place > 0 {
            let parent = (place - 1) / WIDTH;
            if self.heap[parent].is_before(&entry) {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = entry;
    }

    /// Puts an entry in the place of the top.
    fn settle(&mut self, entry: Entry) {
        let (heap, mut place) = (&mut self.heap[..], 0);
        loop {
            let child = place * WIDTH + 1;
            let Some(children) = heap.get(child..(child + WIDTH).min(heap.len())).filter(|some| !some.is_empty())
            else {
                break;
            };
            let mut least = 0;
            for number in 1..children.len() {
                if children[number].is_before(&children[least]) {
                    least = number;
                }
            }
            if entry.is_before(&children[least]) {
                break;
            }
            heap[place] = children[least];
            place = child + least;
        }
        heap[place] = entry;
    }
}
