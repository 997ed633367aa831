//! Changes due in one of the next cycles.

/// Changes due a number of cycles after the one in which they are put in.
pub(super) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    /// The slot of the cycle at work: of what becomes true in it, then of what is put in.
    now: usize,
    /// The cycle at work.
    cycle: u64,
    /// The last cycle in which anything becomes true.
    last: u64,
}

impl<T> Wheel<T> {
    pub(super) fn new(delay: u64) -> Self {
        Self { slots: (0..delay).map(|_| Vec::new()).collect(), now: 0, cycle: 0, last: 0 }
    }

    fn slot_of(&self, cycle: u64) -> usize {
        usize::try_from(cycle % self.slots.len() as u64).expect("the remainder is an index")
    }

    /// The list to which what comes out of the cycle at work is added.
    pub(super) fn slot(&mut self) -> &mut Vec<T> {
        &mut self.slots[self.now]
    }

    /// Takes the list of a cycle out, which is at work from now on; [`give_back`](Self::give_back) keeps its memory.
    pub(super) fn take(&mut self, cycle: u64) -> Vec<T> {
        (self.now, self.cycle) = (self.slot_of(cycle), cycle);
        std::mem::take(&mut self.slots[self.now])
    }

    pub(super) fn give_back(&mut self, mut list: Vec<T>) {
        list.clear();
        self.slots[self.now] = list;
    }

    /// The cycle is over: whether anything is still to come.
    pub(super) fn is_turning(&mut self) -> bool {
        if !self.slots[self.now].is_empty() {
            self.last = self.cycle + self.slots.len() as u64;
        }
        self.last > self.cycle
    }

    /// Returns the pending changes, each with its cycle, in the order of the cycles.
    pub(super) fn coming(&self) -> impl Iterator<Item = (u64, &T)> {
        let cycles = (self.cycle + 1..).take(self.slots.len());
        cycles.flat_map(|cycle| self.slots[self.slot_of(cycle)].iter().map(move |value| (cycle, value)))
    }
}

/// Changes that come over links: a wheel for every latency that links have.
pub(super) struct Wheels<T> {
    wheels: Vec<Wheel<T>>,
}

impl<T> Wheels<T> {
    /// A wheel for each of these delays, which are numbered in their order.
    pub(super) fn new(delays: impl Iterator<Item = u64>) -> Self {
        Self { wheels: delays.map(Wheel::new).collect() }
    }

    /// The wheel with a number.
    #[inline]
    pub(super) fn of(&mut self, number: u8) -> &mut Wheel<T> {
        &mut self.wheels[usize::from(number)]
    }

    /// The numbers of all wheels.
    pub(super) fn numbers(&self) -> std::ops::Range<u8> {
        0..u8::try_from(self.wheels.len()).expect("a network has few classes of links")
    }

    /// The cycle is over: whether anything is still to come.
    pub(super) fn is_turning(&mut self) -> bool {
        // Every wheel wants to be asked.
        self.wheels.iter_mut().fold(false, |is_turning, wheel| wheel.is_turning() | is_turning)
    }

    /// Returns the pending changes, each with its cycle and the number of its wheel.
    pub(super) fn coming(&self) -> impl Iterator<Item = (u64, u8, &T)> {
        self.numbers()
            .zip(&self.wheels)
            .flat_map(|(number, wheel)| wheel.coming().map(move |(cycle, change)| (cycle, number, change)))
    }
}
