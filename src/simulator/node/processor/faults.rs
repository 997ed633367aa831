//! Faults of the description of a processor.

use super::assembly::ListingError;
use super::listing::Kernel;
use super::modules::{Module, Modules};
use super::t800::T800;
use super::{Kernels, Processor};
use crate::fault::{Fault, within};

impl Processor {
    /// All faults, by the fields of the description.
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
    /// All faults; of the whole.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let fault =
            |error: super::KernelError| Fault::new("", error.to_string(), "change the description of the memory");
        self.sound().err().map(fault).into_iter().collect()
    }
}

impl Modules<Kernel> {
    /// The faults of all kernels, by the fields of the modules.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        Module::ALL.into_iter().flat_map(|module| within(module.field(), self.of(module).faults())).collect()
    }
}

impl Kernel {
    /// All faults, by the lines of the listing: a kernel must assemble, and one trip of it must come to its end.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        match self.assemble() {
            Err(errors) => errors.iter().map(listing_fault).collect(),
            Ok(assembly) => {
                let fault = |error: super::KernelError| Fault::new("", error.to_string(), "change the kernel");
                assembly.try_out().err().map(fault).into_iter().collect()
            }
        }
    }
}

fn listing_fault(error: &ListingError) -> Fault {
    let path = error.line().map_or_else(String::new, |line| format!("listing.{}", line - 1));
    Fault::new(&path, error.to_string(), "change the listing")
}
