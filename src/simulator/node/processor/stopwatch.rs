//! Timing of the rows of programs on a processor.

use super::Processor;
use super::kernels::Kernels;
use super::modules::{Module, Work};
use super::t800::KernelError;
use super::timed_kernel::TimedKernel;
use crate::units::SimDuration;
use std::collections::BTreeMap;

/// Times rows on a processor and caches the times of kernels.
///
/// ```
/// use parsim_sim::node::processor::{Module, Processor, Stopwatch, Work};
/// let processor: Processor = ron::from_str(r#"Rate((inner_iteration: "9 us"))"#).unwrap();
/// let mut stopwatch = Stopwatch::new(&processor);
/// let row = stopwatch.row_time(Work::new(Module::Rsub, 10).rows(3)).unwrap();
/// assert_eq!(row.seconds(), 90e-6);
/// ```
#[derive(Clone, Debug)]
pub struct Stopwatch {
    processor: Processor,
    played: RowTimes,
}

/// The kernels used so far, and the times of their rows by module and number of iterations.
#[derive(Clone, Debug, Default)]
struct RowTimes {
    kernels: BTreeMap<Module, TimedKernel>,
    times: BTreeMap<(Module, u64), SimDuration>,
}

/// Work that a process requests from its processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Computation {
    /// Iterations of modules, row by row.
    Rows(Work),
    /// A number of floating-point operations, not necessarily whole: a share of others.
    Operations(f64),
    /// Work whose time is known.
    Time(SimDuration),
}

impl From<Work> for Computation {
    fn from(work: Work) -> Self {
        Self::Rows(work)
    }
}

impl Stopwatch {
    /// Creates a stopwatch with an empty cache.
    #[must_use]
    pub fn new(processor: &Processor) -> Self {
        Self { processor: processor.clone(), played: RowTimes::default() }
    }

    /// Returns the time of one row of a computation, and the number of rows.
    ///
    /// # Errors
    /// As [`row_time`](Self::row_time).
    pub fn rows(&mut self, computation: Computation) -> Result<(SimDuration, u64), KernelError> {
        Ok(match computation {
            Computation::Rows(work) => (self.row_time(work)?, work.passes()),
            Computation::Operations(operations) => (self.operations_time(operations)?, 1),
            Computation::Time(time) => (time, 1),
        })
    }

    /// Returns the time of one row of `work`.
    ///
    /// # Errors
    /// If a kernel is faulty, or does not fit into memory with this number of iterations.
    pub fn row_time(&mut self, work: Work) -> Result<SimDuration, KernelError> {
        work.row().map(|(module, iterations)| self.time(module, iterations)).sum()
    }

    /// Returns the time of a fractional number of floating-point operations. The result is exact if the processor is
    /// described by a flop rate; otherwise the number is rounded to the nearest integer.
    ///
    /// # Errors
    /// As [`row_time`](Self::row_time).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and never negative")]
    pub fn operations_time(&mut self, operations: f64) -> Result<SimDuration, KernelError> {
        match &self.processor {
            Processor::FlopRate(rate) => Ok(rate.time_of_share(operations)),
            _ => self.time(Module::Flop, operations.round() as u64),
        }
    }

    fn time(&mut self, module: Module, iterations: u64) -> Result<SimDuration, KernelError> {
        match &self.processor {
            Processor::Calibrated(times) => Ok(*times.of(module) * iterations),
            Processor::Counted(counted) => Ok(counted.time(module, iterations)),
            Processor::Rate(rate) => Ok(rate.time(module, iterations)),
            Processor::FlopRate(rate) => Ok(rate.time(iterations.saturating_mul(module.flops()))),
            Processor::Unspecified => Err(KernelError::NoSpeed),
            Processor::Kernels(kernels) => self.played.time(kernels, module, iterations),
        }
    }
}

impl RowTimes {
    fn time(&mut self, kernels: &Kernels, module: Module, iterations: u64) -> Result<SimDuration, KernelError> {
        if let Some(time) = self.times.get(&(module, iterations)) {
            return Ok(*time);
        }
        let time = self.kernel(kernels, module)?.time(iterations, kernels.accounting)?;
        self.times.insert((module, iterations), time);
        Ok(time)
    }

    fn kernel(&mut self, kernels: &Kernels, module: Module) -> Result<&TimedKernel, KernelError> {
        use std::collections::btree_map::Entry;
        Ok(match self.kernels.entry(module) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(kernels.timed(module)?),
        })
    }
}
