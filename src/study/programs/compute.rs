//! A single loop.

use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::node::processor::{Computation, Cost, Module, Processor, QuarterCycles, Stopwatch, Work};
use parsim_sim::program::Process;
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Hertz, real};
use serde::{Deserialize, Serialize};

/// A loop: every rank computes `rows` rows of `iterations` iterations of one module.
///
/// The program reports `iteration_ns`, the simulated time of an iteration including its share of entering and leaving
/// the loop. On a processor that is timed from kernels it also reports the cost of an iteration alone, by the terms of
/// CS-RR-281, equation (2):
///
/// | outcome | is |
/// | --- | --- |
/// | `cpu_cycles` | `n_cpu`: databook cycles of the integer unit minus the memory cycle of each data word |
/// | `fpu_cycles` | `n_fpu`: cycles in which the FPU is busy |
/// | `overlapped_cycles` | `n_fpuover`: cycles of the FPU in which the integer unit does not wait for it |
/// | `internal_memory_cycles` | `n_intmem`: one for each on-chip data word |
/// | `external_memory_cycles` | `n_exmem`: all cycles of each external data word |
/// | `fetch_cycles` | `n_exinst` as the report accounts: a quarter of an external word for each code byte |
/// | `fetch_held_up_cycles` | `n_exinst` as the hardware works: fetch cycles that hold the integer unit up |
/// | `iteration_overlapped_ns` | the sum of the cycles with `fetch_held_up_cycles`, minus `overlapped_cycles` |
/// | `iteration_summed_ns` | the sum of the cycles with `fetch_cycles`, without overlap |
///
/// The external memory cycles of the report's Table 5 are the sum of `external_memory_cycles` and `fetch_cycles`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compute {
    /// The computation in the loop.
    pub module: Module,
    /// Number of iterations in a row.
    pub iterations: u64,
    /// Number of rows. 1 by default.
    #[serde(default = "one")]
    pub rows: u64,
}

const fn one() -> u64 {
    1
}

impl Program for Compute {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(compute(process, self.clone()))
    }

    fn faults(&self, _ranks: u32) -> Vec<Fault> {
        let counts = [("iterations", self.iterations), ("rows", self.rows)];
        let empty = counts.into_iter().filter(|(_, count)| *count == 0);
        let fault = |(path, _)| Fault::new(path, "nothing would be computed".to_owned(), "give a number from 1 on");
        empty.map(fault).collect()
    }

    /// Rejects computations that the processors cannot perform: kernels without a listing, or with data that exceeds
    /// the memory.
    fn machine_faults(&self, machine: &Machine, _layout: &Layout) -> Vec<Fault> {
        let work = Work::new(self.module, self.iterations).rows(self.rows);
        let timed = Stopwatch::new(&machine.nodes.processor).rows(Computation::Rows(work));
        let help = "give fewer iterations, or describe processors that can compute them";
        timed.err().map(|error| Fault::new("program.iterations", error.to_string(), help)).into_iter().collect()
    }

    fn phases(&self) -> &'static [Phase] {
        &["computation"]
    }
}

async fn compute(me: Process, program: Compute) {
    let Compute { module, iterations, rows } = program;
    let start = me.now();
    me.phase("computation");
    me.compute(Work::new(module, iterations).rows(rows)).await;
    if me.rank() != me.host() {
        return;
    }
    me.report("iteration_ns", 1e9 * me.elapsed(start).seconds() / real(iterations) / real(rows));
    if let Processor::Kernels(kernels) = me.processor()
        && let Ok(cost) = kernels.timed(module).and_then(|kernel| kernel.inner_cost(iterations))
    {
        report(&me, &cost, iterations, kernels.t800.clock);
    }
}

/// Reports the cost of an iteration, given the cost of all iterations of a row.
fn report(me: &Process, cost: &Cost, iterations: u64, clock: Hertz) {
    let each = |cycles: QuarterCycles| cycles.cycles() / real(iterations);
    let ns = |cycles: QuarterCycles| 1e9 * each(cycles) / real(clock.per_s());
    let (overlapped, summed) = (&cost.overlapped, &cost.summed);
    me.report("cpu_cycles", each(summed.cpu));
    me.report("fpu_cycles", each(summed.fpu));
    me.report("overlapped_cycles", each(overlapped.fpu_overlap));
    me.report("internal_memory_cycles", each(summed.internal_memory));
    me.report("external_memory_cycles", each(summed.external_memory));
    me.report("fetch_cycles", each(summed.external_fetch));
    me.report("fetch_held_up_cycles", each(overlapped.external_fetch));
    me.report("iteration_overlapped_ns", ns(overlapped.total()));
    me.report("iteration_summed_ns", ns(summed.total()));
}
