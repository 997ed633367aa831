//! What becomes true in one of the next cycles.

/// What becomes true in a later cycle.
pub(super) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    pub(super) count: usize,
    /// The cycle whose list was taken out last.
    taken: u64,
}

impl<T> Wheel<T> {
    pub(super) fn new(slots: u64) -> Self {
        Self { slots: (0..slots).map(|_| Vec::new()).collect(), count: 0, taken: 0 }
    }

    fn slot(&self, cycle: u64) -> usize {
        usize::try_from(cycle % self.slots.len() as u64).expect("the remainder is an index")
    }

    pub(super) fn put(&mut self, cycle: u64, value: T) {
        let slot = self.slot(cycle);
        self.slots[slot].push(value);
        self.count += 1;
    }

    /// Takes the list of a cycle out; [`give_back`](Self::give_back) keeps its memory.
    pub(super) fn take(&mut self, cycle: u64) -> Vec<T> {
        let slot = self.slot(cycle);
        let list = std::mem::take(&mut self.slots[slot]);
        self.count -= list.len();
        self.taken = cycle;
        list
    }

    pub(super) fn give_back(&mut self, cycle: u64, mut list: Vec<T>) {
        list.clear();
        let slot = self.slot(cycle);
        self.slots[slot] = list;
    }

    /// What is still to come, with its cycle, in the order of the cycles.
    pub(super) fn coming(&self) -> impl Iterator<Item = (u64, &T)> {
        let cycles = (self.taken + 1..).take(self.slots.len() - 1);
        cycles.flat_map(|cycle| self.slots[self.slot(cycle)].iter().map(move |value| (cycle, value)))
    }
}
