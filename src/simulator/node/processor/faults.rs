//! Validation of the description of a processor.

use super::assembly::ListingError;
use super::listing::Kernel;
use super::modules::{Module, Modules};
use super::t800::T800;
use super::{Kernels, Processor};
use crate::fault::{Fault, within};

impl Processor {
    /// Returns all faults, by the fields of the description.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        match self {
            Self::Kernels(kernels) => kernels.faults(),
            _ => Vec::new(),
        }
    }
}

impl Kernels {
    fn faults(&self) -> Vec<Fault> {
        within("t800", self.t800.faults()).chain(within("modules", self.modules.faults())).collect()
    }
}

impl T800 {
    /// Returns all faults; they concern the T800 as a whole.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let fault =
            |error: super::KernelError| Fault::new("", error.to_string(), "change the description of the memory");
        self.check().err().map(fault).into_iter().collect()
    }
}

impl Modules<Kernel> {
    /// Returns the faults of all kernels, by the fields of the modules.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        Module::ALL.into_iter().flat_map(|module| within(module.field(), self.of(module).faults())).collect()
    }
}

impl Kernel {
    /// Returns all faults, by the lines of the listing: a kernel must assemble, and a run of one trip must terminate.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        match self.assemble() {
            Err(errors) => errors.iter().map(listing_fault).collect(),
            Ok(assembly) => {
                let fault = |error: super::KernelError| Fault::new("", error.to_string(), "change the kernel");
                assembly.trial_run().err().map(fault).into_iter().collect()
            }
        }
    }
}

fn listing_fault(error: &ListingError) -> Fault {
    let path = error.line().map_or_else(String::new, |line| format!("listing.{}", line - 1));
    Fault::new(&path, error.to_string(), "change the listing")
}
