//! Descriptions that can be the content of a file.

use super::check::read_part;
use super::machine_form::MachineForm;
use super::source::{Document, Faults};
use super::sweep::Plan;
use parsim_sim::machine::Machine;
use parsim_sim::node::processor::{Kernel, Modules, T800};

/// The content of a file, by the name of its root: a scenario, or a part that scenarios include by `File("…")`.
#[derive(Clone, Debug)]
pub enum Description {
    /// `Scenario(…)`, or a root with any name that is not listed below.
    Scenario(Box<Plan>),
    /// `Machine(…)`.
    Machine(Box<Machine>),
    /// `T800(…)`.
    Processor(T800),
    /// `Kernel(…)`.
    Kernel(Box<Kernel>),
    /// `Modules(…)`: a kernel for each module.
    Modules(Box<Modules<Kernel>>),
}

impl Description {
    /// Reads and checks the whole document. Of a scenario, the base values and the axes are checked.
    ///
    /// # Errors
    /// All faults, each with its place.
    pub fn read(document: Document) -> Result<Self, Faults> {
        Ok(match document.root().name() {
            Some("Machine" | "LogGOPS") => Self::Machine(Box::new(read_part::<MachineForm>(&document)?.into())),
            Some("T800") => Self::Processor(read_part(&document)?),
            Some("Kernel") => Self::Kernel(Box::new(read_part(&document)?)),
            Some("Modules") => Self::Modules(Box::new(read_part(&document)?)),
            _ => {
                let plan = Plan::new(document, &[])?;
                plan.base()?;
                Self::Scenario(Box::new(plan))
            }
        })
    }
}
