//! How long a computation takes.

use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// A description of a processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Processor {
    /// Measured times per iteration of each kernel.
    Calibrated(Calibration),
}

/// One measured time per kernel, whatever the size of the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// `Inv`: the inverse of a pivot.
    pub inv: SimDuration,
    /// `Norm`: one element of a row is normalised.
    pub norm: SimDuration,
    /// `Set`: the factor of a row is set up.
    pub set: SimDuration,
    /// `Rsub`: one element of a row is reduced, `a[j] -= f * b[j]`; the inner iteration.
    pub rsub: SimDuration,
    /// `Buf`: one element is copied.
    pub buf: SimDuration,
    /// A floating-point operation in any other kernel.
    pub flop: SimDuration,
}

/// The inner loops that programs are made of, named as in CS-RR-281, equation (10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kernel {
    /// The inverse of a pivot element.
    Inv,
    /// Normalisation of a row, per element.
    Norm,
    /// Setting of variables, per row.
    Set,
    /// Row subtraction, per element.
    Rsub,
    /// Buffering of data, per element.
    Buf,
    /// Any floating-point operation.
    Flop,
}

/// What a process asks its processor to do: `passes` equal rows of a loop nest, each of them
/// the kernels of `row` with their number of iterations.
///
/// The row is visible from outside because a router may have to wait for the end of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    row: [(Kernel, u64); 2],
    passes: u64,
}

impl Work {
    /// One row of `iterations` iterations of `kernel`.
    #[must_use]
    pub const fn new(kernel: Kernel, iterations: u64) -> Self {
        Self { row: [(kernel, iterations), (Kernel::Inv, 0)], passes: 1 }
    }

    /// `count` floating-point operations in one go.
    #[must_use]
    pub const fn flops(count: u64) -> Self {
        Self::new(Kernel::Flop, count)
    }

    /// The same row, begun with one iteration of `kernel`.
    #[must_use]
    pub const fn after(mut self, kernel: Kernel) -> Self {
        self.row[1] = (kernel, 1);
        self
    }

    /// The same row `passes` times.
    #[must_use]
    pub const fn rows(mut self, passes: u64) -> Self {
        self.passes = passes;
        self
    }

    /// How many rows there are.
    #[must_use]
    pub const fn passes(self) -> u64 {
        self.passes
    }
}

impl Processor {
    /// The time of one row of `work`.
    #[must_use]
    pub fn row_time(&self, work: Work) -> SimDuration {
        work.row.iter().map(|&(kernel, iterations)| self.iteration(kernel) * iterations).sum()
    }

    fn iteration(&self, kernel: Kernel) -> SimDuration {
        let Self::Calibrated(times) = self;
        match kernel {
            Kernel::Inv => times.inv,
            Kernel::Norm => times.norm,
            Kernel::Set => times.set,
            Kernel::Rsub => times.rsub,
            Kernel::Buf => times.buf,
            Kernel::Flop => times.flop,
        }
    }
}
