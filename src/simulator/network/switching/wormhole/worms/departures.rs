//! The flits that have left their routers in the last cycles, until they and the credits for their places have arrived.

use super::buffers::{Input, Output};
use super::layout::Flit;

/// A flit that leaves a router, and the credit for the place that it frees.
#[derive(Clone, Copy)]
pub(super) struct FlitDeparture {
    /// The input channel at which the flit arrives; `NONE` if it goes to the node.
    pub(super) to: u32,
    pub(super) flit: Flit,
    /// The output channel of the upstream router to which the credit returns; `NONE` if the flit came from the node.
    pub(super) credited: u32,
}

/// The departures of one cycle.
#[derive(Clone, Default)]
struct CycleDepartures {
    cycle: u64,
    list: Vec<FlitDeparture>,
}

/// The departures of the last cycles. Those of a cycle are read when the flits arrive, and again when the credits arrive,
/// each time once for every link latency.
pub(super) struct FlitDepartures {
    /// A ring of as many cycles as a flit or credit travels.
    cycles: Vec<CycleDepartures>,
    /// The place of the current cycle in the ring.
    now: usize,
    /// By link latency, the number of cycles from the departure of a flit to its arrival.
    flit_delays: Vec<u64>,
    /// By link latency, the number of cycles from the departure of a flit to the arrival of the credit.
    credit_delays: Vec<u64>,
    /// The last cycle in which anything arrives.
    last: u64,
}

impl FlitDepartures {
    pub(super) fn new(flit_delays: Vec<u64>, credit_delays: Vec<u64>) -> Self {
        let longest = flit_delays.iter().chain(&credit_delays).max().expect("a network has a link latency");
        let cycles = (0..*longest).map(|_| CycleDepartures::default()).collect();
        Self { cycles, now: 0, flit_delays, credit_delays, last: 0 }
    }

    fn place(&self, cycle: u64) -> usize {
        usize::try_from(cycle % self.cycles.len() as u64).expect("the remainder is an index")
    }

    /// Returns the indices of all link latencies.
    pub(super) fn wires(&self) -> std::ops::Range<u8> {
        0..u8::try_from(self.flit_delays.len()).expect("a network has few classes of links")
    }

    /// Returns the link latency whose departures have to be selected, unless all links have the same.
    pub(super) fn only(&self, wire: u8) -> Option<u8> {
        (self.flit_delays.len() > 1).then_some(wire)
    }

    /// Returns the cycle in which the flits departed that arrive in `cycle` over links of one latency.
    pub(super) fn departure_of_flits(&self, cycle: u64, wire: u8) -> Option<u64> {
        cycle.checked_sub(self.flit_delays[usize::from(wire)])
    }

    /// Returns the cycle in which the flits departed whose credits arrive in `cycle` over links of one latency.
    pub(super) fn departure_of_credits(&self, cycle: u64, wire: u8) -> Option<u64> {
        cycle.checked_sub(self.credit_delays[usize::from(wire)])
    }

    /// Takes out the departures of a cycle; [`give_back`](Self::give_back) returns them.
    pub(super) fn take(&mut self, departed: Option<u64>) -> Vec<FlitDeparture> {
        self.of_cycle(departed).map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, departed: Option<u64>, list: Vec<FlitDeparture>) {
        if let Some(of_cycle) = self.of_cycle(departed) {
            *of_cycle = list;
        }
    }

    /// Returns the departures of a cycle, if it was one of the last cycles and anything was due in it.
    fn of_cycle(&mut self, departed: Option<u64>) -> Option<&mut Vec<FlitDeparture>> {
        let place = self.place(departed?);
        let CycleDepartures { cycle, list } = &mut self.cycles[place];
        (Some(*cycle) == departed).then_some(list)
    }

    /// Begins the departures of `cycle`, in which everything has arrived that was due.
    pub(super) fn begin(&mut self, cycle: u64) {
        self.now = self.place(cycle);
        let current = &mut self.cycles[self.now];
        current.cycle = cycle;
        current.list.clear();
    }

    /// Returns the departures of the current cycle, to which others are added.
    #[inline]
    pub(super) fn current(&mut self) -> &mut Vec<FlitDeparture> {
        &mut self.cycles[self.now].list
    }

    /// Ends the departures of the current cycle.
    pub(super) fn end(&mut self, inputs: &[Input], outputs: &[Output]) {
        let CycleDepartures { cycle, list } = &self.cycles[self.now];
        for ((flits, credits), wire) in self.flit_delays.iter().zip(&self.credit_delays).zip(self.wires()) {
            if cycle + flits > self.last && list.iter().any(|departure| departure.is_over(wire, inputs)) {
                self.last = cycle + flits;
            }
            if cycle + credits > self.last && list.iter().any(|departure| departure.is_credited_over(wire, outputs)) {
                self.last = cycle + credits;
            }
        }
    }

    /// Returns whether anything arrives after the current cycle.
    pub(super) fn are_pending(&self) -> bool {
        self.last > self.cycles[self.now].cycle
    }

    /// Returns the flits that arrive after the current cycle, by link latency and in order, with the cycles of their
    /// arrival and the indices of the latencies.
    pub(super) fn pending<'a>(&'a self, inputs: &'a [Input]) -> impl Iterator<Item = (u64, u8, &'a FlitDeparture)> {
        let now = self.cycles[self.now].cycle;
        let due = move |wire: u8| (now + 1..=now + self.flit_delays[usize::from(wire)]).map(move |due| (due, wire));
        self.wires().flat_map(due).flat_map(move |(due, wire)| {
            let departed = self.departure_of_flits(due, wire);
            let of_cycle = departed.map(|departed| &self.cycles[self.place(departed)]);
            let list =
                of_cycle.filter(|of_cycle| Some(of_cycle.cycle) == departed).map_or(&[][..], |found| &found.list);
            let flits = list.iter().filter(move |departure| departure.is_over(wire, inputs));
            flits.map(move |departure| (due, wire, departure))
        })
    }
}

impl FlitDeparture {
    /// Returns whether the flit goes over a link with this latency.
    pub(super) fn is_over(&self, wire: u8, inputs: &[Input]) -> bool {
        inputs.get(self.to as usize).is_some_and(|input| input.wire == wire)
    }

    /// Returns whether the credit goes over a link with this latency.
    fn is_credited_over(&self, wire: u8, outputs: &[Output]) -> bool {
        outputs.get(self.credited as usize).is_some_and(|output| output.wire == wire)
    }
}
