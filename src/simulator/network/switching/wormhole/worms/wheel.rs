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

    /// Returns the pending changes with their cycles, in order.
    pub(super) fn pending(&self) -> impl Iterator<Item = (u64, &T)> {
        let cycles = (self.cycle + 1..).take(self.slots.len());
        cycles.flat_map(|cycle| self.slots[self.slot_of(cycle)].iter().map(move |value| (cycle, value)))
    }
}

/// Changes that arrive over links: a wheel for every link latency.
pub(super) struct Wheels<T> {
    wheels: Vec<Wheel<T>>,
}

impl<T> Wheels<T> {
    /// Creates a wheel for each of these delays, numbered in order.
    pub(super) fn new(delays: impl Iterator<Item = u64>) -> Self {
        Self { wheels: delays.map(Wheel::new).collect() }
    }

    /// Returns the wheel with a number.
    #[inline]
    pub(super) fn of(&mut self, number: u8) -> &mut Wheel<T> {
        &mut self.wheels[usize::from(number)]
    }

    /// Returns the numbers of all wheels.
    pub(super) fn numbers(&self) -> std::ops::Range<u8> {
        0..u8::try_from(self.wheels.len()).expect("a network has few classes of links")
    }

    /// Ends the current cycle; returns whether changes are pending.
    pub(super) fn has_pending(&mut self) -> bool {
        // Every wheel must be called.
        self.wheels.iter_mut().fold(false, |is_turning, wheel| wheel.has_pending() | is_turning)
    }

    /// Returns the pending changes with their cycles and the numbers of their wheels.
    pub(super) fn pending(&self) -> impl Iterator<Item = (u64, u8, &T)> {
        self.numbers()
            .zip(&self.wheels)
            .flat_map(|(number, wheel)| wheel.pending().map(move |(cycle, change)| (cycle, number, change)))
    }
}
