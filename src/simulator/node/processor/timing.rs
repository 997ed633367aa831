//! Timing model of a T800: integer unit, autonomous FPU, memory and instruction fetch.
//!
//! * An FP instruction waits until the FPU is free. Its prefix byte overlaps that wait, as does the address
//!   arithmetic before it (t800-hardware.md, section 2, "rule to simulate").
//! * An on-chip word costs the one cycle that is included in the databook cycles; an external word of w cycles costs
//!   w - 1 more.
//! * Code is fetched in words of w cycles. Linear code costs (w - 4) / 4 more for each byte if w > 4, a transfer of
//!   control w + 2 (section 2, e = w - 1). As in the hand counts, these cycles are charged even if the integer unit is
//!   about to wait for the FPU, and a write stalls the processor like a read.

use super::account::{ComponentAccount, Cost};
use super::assembly::{Assembly, Instruction};
use super::cache::{CacheLines, CacheUse};
use super::cycles::QuarterCycles;
use super::instruction::DatabookCycles;
use super::interpreter::{ExecutedInstruction, KernelFault, KernelInterpreter, MemoryAccess};
use super::memory::{MemoryLayout, is_on_chip};
use super::t800::{FpTimes, T800};

/// The result of running a kernel to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedRun {
    /// Cost of the whole run.
    pub cost: Cost,
    /// Time at which both the integer unit and the FPU had finished, by the clock of the run.
    pub end: QuarterCycles,
    /// The starts of the iterations.
    pub arrivals: Vec<IterationStart>,
}

/// The start of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationStart {
    /// Cost of everything before the iteration.
    pub cost: Cost,
    /// Remaining time for which the FPU is busy.
    pub pending: QuarterCycles,
}

impl TimedRun {
    /// Returns the costs of the iterations between consecutive starts.
    pub fn iterations(&self) -> impl Iterator<Item = Cost> {
        self.arrivals.windows(2).map(|pair| pair[1].cost - pair[0].cost)
    }
}

/// Runs a kernel from its first instruction to the end.
///
/// # Errors
/// If the kernel faults.
pub fn time_kernel(processor: &T800, kernel: &mut KernelInterpreter) -> Result<TimedRun, KernelFault> {
    let assembly = kernel.assembly();
    let mut clockwork = KernelClock::new(processor, assembly, kernel.layout());
    let mut arrivals = Vec::new();
    loop {
        if assembly.iteration() == Some(kernel.next_index()) {
            arrivals.push(clockwork.arrival());
        }
        let Some(step) = kernel.step()? else { break };
        clockwork.advance(&step);
    }
    clockwork.wait_for_fpu();
    Ok(TimedRun { cost: clockwork.cost(), end: clockwork.now, arrivals })
}

/// The clock of a T800 and its cycle counts.
struct KernelClock<'a> {
    processor: &'a T800,
    assembly: &'a Assembly,
    code: u32,
    lines: Option<CacheLines>,
    /// The code word fetched last, and its cycles.
    fetched: Option<(u32, u32)>,
    now: QuarterCycles,
    /// Time at which the FPU becomes free.
    fpu_free: QuarterCycles,
    /// Cycles of FPU work handed over so far, finished or not.
    fpu_issued: QuarterCycles,
    /// Cycles in which the integer unit waited for the FPU.
    waited: QuarterCycles,
    cpu: QuarterCycles,
    internal_memory: QuarterCycles,
    external_memory: QuarterCycles,
    /// Fetch cycles that stalled the integer unit.
    fetch_stall: QuarterCycles,
    /// Fetch cycles of all code bytes.
    fetch_whole: QuarterCycles,
}

impl<'a> KernelClock<'a> {
    fn new(processor: &'a T800, assembly: &'a Assembly, layout: &MemoryLayout) -> Self {
        Self {
            processor,
            assembly,
            code: layout.code,
            lines: processor.cache.map(CacheLines::empty),
            fetched: None,
            now: QuarterCycles::ZERO,
            fpu_free: QuarterCycles::ZERO,
            fpu_issued: QuarterCycles::ZERO,
            waited: QuarterCycles::ZERO,
            cpu: QuarterCycles::ZERO,
            internal_memory: QuarterCycles::ZERO,
            external_memory: QuarterCycles::ZERO,
            fetch_stall: QuarterCycles::ZERO,
            fetch_whole: QuarterCycles::ZERO,
        }
    }

    fn advance(&mut self, step: &ExecutedInstruction) {
        let instruction = &self.assembly.instructions()[step.index];
        let cycles = instruction.operation.cycles;
        self.compute(instruction.bytes - 1);
        if cycles.is_floating() {
            self.wait_for_fpu();
        }
        self.fetch(instruction);
        self.compute(integer_cycles(cycles, step));
        if let Some(access) = step.access {
            self.access_memory(access);
        }
        self.hand_over(cycles);
        if step.taken {
            self.transfer_control(self.assembly.offset(instruction.target));
        }
    }

    fn hand_over(&mut self, cycles: DatabookCycles) {
        match cycles {
            DatabookCycles::Integer(_) | DatabookCycles::Branch { .. } => (),
            DatabookCycles::Transfer { fpu, .. } => self.fpu_issued += whole(fpu),
            DatabookCycles::Arithmetic { typical, worst, .. } => self.occupy_fpu(typical, worst),
            DatabookCycles::Comparison { typical, worst } => {
                self.occupy_fpu(typical, worst);
                self.wait_for_fpu();
            }
        }
    }

    fn occupy_fpu(&mut self, typical: u32, worst: u32) {
        let cycles = whole(match self.processor.fp_times {
            FpTimes::Typical => typical,
            FpTimes::Worst => worst,
        });
        self.fpu_issued += cycles;
        self.fpu_free = self.now + cycles;
    }

    fn wait_for_fpu(&mut self) {
        let wait = self.pending();
        self.waited += wait;
        self.now += wait;
    }

    const fn pending(&self) -> QuarterCycles {
        self.fpu_free.saturating_sub(self.now)
    }

    fn compute(&mut self, cycles: u32) {
        self.cpu += whole(cycles);
        self.now += whole(cycles);
    }

    /// Accounts for a memory access. The databook cycles include one memory cycle for each word.
    fn access_memory(&mut self, access: MemoryAccess) {
        for word in 0..access.words {
            self.cpu = self.cpu - whole(1);
            let address = access.address.wrapping_add(4 * word);
            if is_on_chip(address) {
                self.internal_memory += whole(1);
            } else {
                let cycles = self.external_cycles(address);
                self.external_memory += whole(cycles);
                self.now += whole(cycles - 1);
            }
        }
    }

    fn external_cycles(&mut self, address: u32) -> u32 {
        self.lines.as_mut().map_or(self.processor.external_cycles, |lines| lines.cycles(address))
    }

    fn fetch(&mut self, instruction: &Instruction) {
        for byte in 0..instruction.bytes {
            let Some(cycles) = self.code_cycles(instruction.offset + byte) else { return };
            self.fetch_whole += QuarterCycles::quarters(u64::from(cycles));
            self.stall(QuarterCycles::quarters(u64::from(cycles.saturating_sub(4))));
        }
    }

    fn transfer_control(&mut self, target: u32) {
        self.fetched = None;
        if let Some(cycles) = self.code_cycles(target) {
            self.stall(whole(cycles + 2));
        }
    }

    fn stall(&mut self, cycles: QuarterCycles) {
        self.fetch_stall += cycles;
        self.now += cycles;
    }

    /// Returns the cycles of the external code word that contains byte `offset`; `None` if it is on the chip.
    fn code_cycles(&mut self, offset: u32) -> Option<u32> {
        let word = self.code.wrapping_add(offset) & !3;
        if is_on_chip(word) {
            return None;
        }
        match self.fetched {
            Some((fetched, cycles)) if fetched == word => Some(cycles),
            _ => {
                let cycles = self.external_cycles(word);
                self.fetched = Some((word, cycles));
                Some(cycles)
            }
        }
    }

    fn arrival(&self) -> IterationStart {
        IterationStart { cost: self.cost(), pending: self.pending() }
    }

    fn cost(&self) -> Cost {
        let fpu = self.fpu_issued - self.pending();
        let summed = ComponentAccount {
            cpu: self.cpu,
            fpu,
            fpu_overlap: QuarterCycles::ZERO,
            internal_memory: self.internal_memory,
            external_memory: self.external_memory,
            external_fetch: self.fetch_whole,
        };
        let overlapped =
            ComponentAccount { fpu_overlap: fpu - self.waited, external_fetch: self.fetch_stall, ..summed };
        let cache = self.lines.as_ref().map_or_else(CacheUse::default, |lines| lines.looked_up);
        Cost { overlapped, summed, cache }
    }
}

const fn whole(cycles: u32) -> QuarterCycles {
    QuarterCycles::whole(cycles as u64)
}

/// Returns the cycles of the integer unit, without prefixes, before it hands over to the FPU.
const fn integer_cycles(cycles: DatabookCycles, step: &ExecutedInstruction) -> u32 {
    let databook = match cycles {
        DatabookCycles::Integer(cycles) => cycles,
        DatabookCycles::Branch { passed, taken } => {
            if step.taken {
                taken
            } else {
                passed
            }
        }
        DatabookCycles::Transfer { integer, .. } | DatabookCycles::Arithmetic { integer, .. } => integer,
        DatabookCycles::Comparison { .. } => 0,
    };
    databook + step.value_cycles
}
