//! The processor of a node, which determines the time of sequential computation.
//!
//! A program requests iterations of [`Module`]s. A [`Stopwatch`] times them on a [`Processor`], which describes each
//! module by a measured time, an instruction mix or a [`Kernel`].
//!
//! A [`Kernel`] is a listing of T800 instructions. [`Kernel::assemble`] assembles it, the [`KernelInterpreter`]
//! executes it for its values, [`time_kernel`] times the same execution on a [`T800`], and a [`TimedKernel`] gives the
//! time for any number of trips. A [`Cost`] contains the terms of equation (2) of CS-RR-281, both overlapped as in
//! hardware and summed as in the report.

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
pub use instruction::{DatabookCycles, InstructionSpec, Mnemonic, OPERATIONS, OperandKind};
pub use interpreter::{ExecutedInstruction, KernelFault, KernelInterpreter, MemoryAccess};
pub use kernels::Kernels;
pub use listing::{
    Array, CodePlacement, Constant, Contents, InitialValue, Iteration, Kernel, Length, Local, MemoryRegion,
};
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
    /// A measured time of an iteration of each module, independent of the problem size.
    Calibrated(Modules<SimDuration>),
    /// A T800, simulated instruction by instruction.
    Kernels(Box<Kernels>),
    /// Cycles for each kind of instruction, and a mix of instructions for each module.
    Counted(Box<Counted>),
    /// The time of one inner iteration.
    Rate(Rate),
    /// Floating-point operations per second. Work without floating-point operations takes no time.
    FlopRate(FlopRate),
    /// No description: programs must give computations as times, and those that request operations fail.
    Unspecified,
}

/// The fault of a program that computes on a machine with unspecified processors.
pub const NO_SPEED: &str = "the machine does not describe the speed of its processors";
/// The remedy for [`NO_SPEED`].
pub const GIVE_SPEED: &str = "give one, such as `processor: FlopRate(\"10 Gflop/s\")`";

#[cfg(test)]
mod tests;
