//! Timing wheels: changes that are due a fixed number of cycles later.

/// A timing wheel, whose changes are due a fixed number of cycles after they are added.
pub(super) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    /// The slot of the current cycle: first of the changes that are due, then of those that are added.
    now: usize,
    /// The current cycle.
    cycle: u64,
    /// The last cycle in which a change is due.
    last: u64,
}

impl<T> Wheel<T> {
    pub(super) fn new(delay: u64) -> Self {
        Self { slots: (0..delay).map(|_| Vec::new()).collect(), now: 0, cycle: 0, last: 0 }
    }

    fn slot_of(&self, cycle: u64) -> usize {
        usize::try_from(cycle % self.slots.len() as u64).expect("the remainder is an index")
    }

    /// Returns the list to which the changes that the current cycle causes are added.
    pub(super) fn slot(&mut self) -> &mut Vec<T> {
        &mut self.slots[self.now]
    }

    /// Makes `cycle` the current cycle and removes its list; [`give_back`](Self::give_back) returns the memory.
    pub(super) fn take(&mut self, cycle: u64) -> Vec<T> {
        (self.now, self.cycle) = (self.slot_of(cycle), cycle);
        std::mem::take(&mut self.slots[self.now])
    }

    pub(super) fn give_back(&mut self, mut list: Vec<T>) {
        list.clear();
        self.slots[self.now] = list;
    }

    /// Ends the current cycle; returns whether changes are pending.
    pub(super) fn has_pending(&mut self) -> bool {
        if !self.slots[self.now].is_empty() {
            self.last = self.cycle + self.slots.len() as u64;
        }
        self.last > self.cycle
    }
}
