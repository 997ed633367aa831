//! The processor of a node: how long a piece of sequential computation takes.
//!
//! A program asks for iterations of [`Module`]s; a [`Stopwatch`] times them on a [`Processor`], which
//! knows a measured time, a mix of instructions or a [`Kernel`] for each module. A [`Kernel`] is a listing of T800 instructions. [`Kernel::assemble`] resolves it, the
//! [`KernelInterpreter`] executes it for its values, [`time_kernel`] times the same execution on a [`T800`], and a
//! [`TimedKernel`] answers for any number of trips. A [`Cost`] holds the terms of equation (2) of
//! CS-RR-281, overlapped as the hardware works and summed as the report accounts.

mod account;
mod assembly;
mod cache;
mod counted;
mod cycles;
mod faults;
mod instruction;
mod interpreter;
mod kernels;
mod listing;
mod memory;
mod modules;
mod stopwatch;
mod t800;
mod timed_kernel;
mod timing;

pub use account::{AccountingRule, ComponentAccount, Cost};
pub use assembly::{Assembly, Instruction, ListingError};
pub use cache::{Cache, CacheUse};
pub use counted::{Counted, Mix, Rate};
pub use cycles::QuarterCycles;
pub use instruction::{DatabookCycles, InstructionSpec, Mnemonic, OPERATIONS, Takes};
pub use interpreter::{ExecutedInstruction, KernelFault, KernelInterpreter, MemoryAccess};
pub use kernels::Kernels;
pub use listing::{Array, CodePlacement, Constant, Contents, Holds, Iteration, Kernel, Length, Local, MemoryRegion};
pub use memory::{LayoutError, MemoryLayout};
pub use modules::{Module, Modules, Work};
pub use stopwatch::{Computation, Stopwatch};
pub use t800::{FpTimes, KernelError, T800};
pub use timed_kernel::TimedKernel;
pub use timing::{IterationStart, TimedRun, time_kernel};

use crate::units::{FlopRate, SimDuration};
use serde::{Deserialize, Serialize};

/// A processor, by the kind of its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Processor {
    /// A measured time of an iteration of each module, whatever the size of the problem.
    Calibrated(Modules<SimDuration>),
    /// A T800, instruction by instruction.
    Kernels(Box<Kernels>),
    /// Cycles for each kind of instruction, and a mix of instructions for each module.
    Counted(Box<Counted>),
    /// The time of one inner iteration.
    Rate(Rate),
    /// Floating-point operations per second; what has none takes no time.
    FlopRate(FlopRate),
    /// Not described: computations are given as times, and a program that asks for operations fails.
    Unspecified,
}

/// The fault of a machine with such processors on which a program computes.
pub const NO_SPEED: &str = "the machine says nothing of its processors";
/// The remedy of that.
pub const GIVE_SPEED: &str = "give one, such as `processor: FlopRate(\"10 Gflop/s\")`";

#[cfg(test)]
mod tests;
