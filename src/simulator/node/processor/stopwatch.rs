//! A processor at work: how long the rows of programs take on it.

use super::Processor;
use super::kernels::Kernels;
use super::modules::{Module, Work};
use super::t800::KernelError;
use super::timed_kernel::TimedKernel;
use crate::units::SimDuration;
use std::collections::BTreeMap;

/// Times rows on a processor, and remembers what has to be run.
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

/// The kernels that were asked for, and the times of their rows by module and iterations.
#[derive(Clone, Debug, Default)]
struct RowTimes {
    kernels: BTreeMap<Module, TimedKernel>,
    times: BTreeMap<(Module, u64), SimDuration>,
}

/// Work of a processor for its process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Computation {
    /// Iterations of modules, row by row.
    Rows(Work),
    /// A share of some floating-point operations.
    Operations(f64),
    /// Something whose time is known.
    Time(SimDuration),
}

impl From<Work> for Computation {
    fn from(work: Work) -> Self {
        Self::Rows(work)
    }
}

impl Stopwatch {
    /// A stopwatch that has timed nothing yet.
    #[must_use]
    pub fn new(processor: &Processor) -> Self {
        Self { processor: processor.clone(), played: RowTimes::default() }
    }

    /// The time of a row of a computation, and how many rows it has.
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

    /// The time of one row of `work`.
    ///
    /// # Errors
    /// If a kernel is faulty, or does not fit into memory with this number of iterations.
    pub fn row_time(&mut self, work: Work) -> Result<SimDuration, KernelError> {
        work.row().map(|(module, iterations)| self.time(module, iterations)).sum()
    }

    /// The time of a share of some floating-point operations: exact where the processor is a rate of them, else of
    /// the nearest whole number.
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
