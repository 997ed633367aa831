//! Pending requests, by name.

use super::call::RequestName;
use parsim_sim::program::PendingOperation;
use rustc_hash::FxHashMap;
use std::mem;

/// The pending requests of a rank. Requests of the same name form a linked list.
#[derive(Debug, Default)]
pub struct Requests {
    /// The first and the last slot of each name.
    lists: FxHashMap<RequestName, (u32, u32)>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    begun: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The operation, or `None` if the request is complete already.
    work: Option<PendingOperation>,
    begun: u64,
    next: Option<u32>,
}

impl Requests {
    /// Appends a request to those of its name. A request without work is complete.
    pub fn push(&mut self, name: RequestName, work: Option<PendingOperation>) {
        let slot = Slot { work, begun: self.begun, next: None };
        self.begun += 1;
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("operations are counted in 32 bits")
        });
        self.slots[number as usize] = slot;
        let (_, last) = self.lists.entry(name).or_insert((number, number));
        if *last != number {
            self.slots[*last as usize].next = Some(number);
            *last = number;
        }
    }

    /// Removes the oldest request of a name. Returns `None` if there is none, or if it is complete.
    pub fn take(&mut self, name: RequestName) -> Option<PendingOperation> {
        let list = self.lists.get_mut(&name)?;
        let number = list.0;
        let slot = self.slots[number as usize];
        match slot.next {
            Some(next) => list.0 = next,
            None => _ = self.lists.remove(&name),
        }
        self.free.push(number);
        slot.work
    }

    /// Returns the operation of the oldest request of a name, unless the request is known to be complete.
    pub fn oldest(&self, name: RequestName) -> Option<PendingOperation> {
        self.lists.get(&name).and_then(|(first, _)| self.slots[*first as usize].work)
    }

    /// Removes all requests and returns their operations in the order in which they began.
    pub fn take_all(&mut self) -> Vec<PendingOperation> {
        let Self { lists, slots, .. } = mem::take(self);
        let mut all: Vec<(u64, PendingOperation)> = Vec::new();
        for (first, _) in lists.into_values() {
            let mut next = Some(first);
            while let Some(number) = next {
                let slot = slots[number as usize];
                all.extend(slot.work.map(|work| (slot.begun, work)));
                next = slot.next;
            }
        }
        all.sort_unstable_by_key(|(begun, _)| *begun);
        all.into_iter().map(|(_, work)| work).collect()
    }
}
