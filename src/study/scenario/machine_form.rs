//! The forms in which a file can describe a machine.

use super::check::Describable;
use parsim_sim::fault::Fault;
use parsim_sim::machine::{LogGops, Machine};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A machine: its nodes and network, or the constants of a model that stands for them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum MachineForm {
    /// Nodes on a network.
    Machine(Box<Machine>),
    /// Processors and network interfaces described by the LogGOPS model.
    #[serde(rename = "LogGOPS")]
    LogGops(Box<LogGops>),
}

impl From<MachineForm> for Machine {
    fn from(form: MachineForm) -> Self {
        match form {
            MachineForm::Machine(machine) => *machine,
            MachineForm::LogGops(model) => (*model).into(),
        }
    }
}

/// Deserialises the machine of a scenario from either form.
pub fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Machine, D::Error> {
    MachineForm::deserialize(source).map(Machine::from)
}

impl Describable for MachineForm {
    fn faults(&self) -> Vec<Fault> {
        Machine::from(self.clone()).faults()
    }
}
