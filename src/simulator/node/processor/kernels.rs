//! A processor that executes the modules of programs as kernels.

use super::account::AccountingRule;
use super::listing::Kernel;
use super::modules::{Module, Modules};
use super::t800::{KernelError, T800};
use super::timed_kernel::TimedKernel;
use serde::{Deserialize, Serialize};

/// A T800 and the compiled modules of programs; computation times follow from the instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kernels {
    /// The hardware, usually `File("../processors/….ron")`.
    pub t800: T800,
    /// The listing of each module, usually `File("../kernels/modules.ron")`.
    pub modules: Modules<Kernel>,
    /// The rule by which the components of a computation add up to its time.
    pub accounting: AccountingRule,
}

impl Kernels {
    /// Returns the kernel of `module`, ready to be timed.
    ///
    /// # Errors
    /// If the hardware or the listing is faulty, or the kernel faults.
    pub fn timed(&self, module: Module) -> Result<TimedKernel, KernelError> {
        TimedKernel::new(&self.t800, self.modules.of(module))
    }
}
