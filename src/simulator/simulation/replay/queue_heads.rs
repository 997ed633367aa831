//! A compact hash table of queue heads by route. An entry takes four bytes, since there may be as many queues as
//! operations.

use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Receiver, sender and tag.
pub type Route = (u32, u32, u32);

/// The value of an empty slot.
const NONE: u32 = u32::MAX;
/// The initial number of slots.
const INITIAL_SLOTS: usize = 64;

/// A hash table of links, keyed by route, with linear probing. It stores only the links; the caller provides their
/// routes.
pub struct QueueHeads {
    slots: Vec<u32>,
    count: usize,
}

impl QueueHeads {
    pub fn new() -> Self {
        Self { slots: vec![NONE; INITIAL_SLOTS], count: 0 }
    }

    /// Returns the slot of the link with this route.
    #[inline]
    pub fn find(&self, route: Route, route_of: impl Fn(u32) -> Route) -> Option<usize> {
        let mut slot = self.slot_of(route);
        loop {
            match self.slots[slot] {
                NONE => return None,
                link if route_of(link) == route => return Some(slot),
                _ => slot = self.after(slot),
            }
        }
    }

    /// Returns the link in a slot.
    pub fn at(&self, slot: usize) -> u32 {
        self.slots[slot]
    }

    /// Replaces the link in a slot by another one of the same route.
    pub fn put(&mut self, slot: usize, link: u32) {
        self.slots[slot] = link;
    }

    /// Inserts a link with a route that is not in the table.
    pub fn insert(&mut self, route: Route, link: u32, route_of: impl Fn(u32) -> Route) {
        if 4 * (self.count + 1) > 3 * self.slots.len() {
            self.grow(route_of);
        }
        self.count += 1;
        self.place(route, link);
    }

    /// Removes the link in a slot and shifts the following links of its probe sequence back.
    pub fn remove(&mut self, mut slot: usize, route_of: impl Fn(u32) -> Route) {
        self.count -= 1;
        let mut next = slot;
        loop {
            next = self.after(next);
            let link = self.slots[next];
            if link == NONE {
                self.slots[slot] = NONE;
                return;
            }
            let mask = self.slots.len() - 1;
            let wanted = self.slot_of(route_of(link));
            if next.wrapping_sub(wanted) & mask >= next.wrapping_sub(slot) & mask {
                self.slots[slot] = link;
                slot = next;
            }
        }
    }

    fn place(&mut self, route: Route, link: u32) {
        let mut slot = self.slot_of(route);
        while self.slots[slot] != NONE {
            slot = self.after(slot);
        }
        self.slots[slot] = link;
    }

    #[cold]
    fn grow(&mut self, route_of: impl Fn(u32) -> Route) {
        let more = vec![NONE; 2 * self.slots.len()];
        for link in std::mem::replace(&mut self.slots, more) {
            if link != NONE {
                self.place(route_of(link), link);
            }
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits are taken")]
    fn slot_of(&self, route: Route) -> usize {
        FxBuildHasher.hash_one(route) as usize & (self.slots.len() - 1)
    }

    const fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }
}
