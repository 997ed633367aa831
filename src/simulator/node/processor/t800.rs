//! The T800, and the errors of timing kernels on it.

use super::assembly::{Assembly, ListingError};
use super::cache::Cache;
use super::interpreter::KernelFault;
use super::memory::LayoutError;
use crate::units::Hertz;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The fewest cycles of an external word (t800-hardware.md, section 2).
const MIN_EXTERNAL_CYCLES: u32 = 3;

/// A T800 with its external memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct T800 {
    /// The clock rate; 20 MHz fits Table 5 of CS-RR-281.
    pub clock: Hertz,
    /// Cycles of an external word, at least 3: one more than `e` of the hand counts.
    pub external_cycles: u32,
    /// The times of floating-point arithmetic, which depend on the data.
    #[serde(default)]
    pub fp_times: FpTimes,
    /// A cache in front of external memory; none unless given.
    #[serde(default)]
    pub cache: Option<Cache>,
}

/// The databook's times of floating-point arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FpTimes {
    /// Double add 6, multiply 18, divide 31 cycles.
    #[default]
    Typical,
    /// Double add 9, multiply 27, divide 43 cycles.
    Worst,
}

/// The reason why a kernel cannot be timed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The listing is faulty.
    #[error("kernel {name}: {}", sentences(faults))]
    Listing {
        /// The kernel.
        name: String,
        /// All faults of the listing.
        faults: Vec<ListingError>,
    },
    /// The kernel does not fit into memory.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The kernel faults when executed.
    #[error(transparent)]
    Fault(#[from] KernelFault),
    /// The machine does not describe its processors.
    #[error("{}: {}", super::NO_SPEED, super::GIVE_SPEED)]
    NoSpeed,
    /// The iterations exceed the range of a transputer word.
    #[error("{iterations} iterations exceed the range of a word")]
    Iterations {
        /// The number of iterations.
        iterations: u64,
    },
    /// External memory is faster than a T800 can use.
    #[error("external memory of {cycles} cycles a word: a T800 needs at least {MIN_EXTERNAL_CYCLES}")]
    ExternalCycles {
        /// Cycles of an external word.
        cycles: u32,
    },
    /// The cache is not a whole number of lines, its lines are not whole words, or a hit takes longer than a miss.
    #[error(
        "a cache must be a whole number of lines of whole words, and a hit must take at least one cycle and no more than a miss"
    )]
    Cache,
}

fn sentences(faults: &[ListingError]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl T800 {
    /// Checks that such a T800 can exist.
    ///
    /// # Errors
    /// If external memory is too fast or the cache is invalid.
    pub fn check(&self) -> Result<(), KernelError> {
        if self.external_cycles < MIN_EXTERNAL_CYCLES {
            return Err(KernelError::ExternalCycles { cycles: self.external_cycles });
        }
        if self.cache.is_some_and(|cache| !cache.is_sound() || cache.miss_cycles < cache.hit_cycles) {
            return Err(KernelError::Cache);
        }
        Ok(())
    }
}

impl Assembly {
    /// Executes one trip of the kernel, with all arrays zero.
    ///
    /// # Errors
    /// If the kernel does not fit into memory, or faults.
    pub fn trial_run(&self) -> Result<(), KernelError> {
        Ok(self.start(1)?.run()?)
    }
}
