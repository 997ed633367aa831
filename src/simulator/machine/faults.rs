//! Faults of the description of a machine.

use super::Machine;
use crate::fault::{Fault, within};
use crate::network::Topology;
use crate::node::Level;

impl Machine {
    /// All faults, by the fields of the description, if the whole machine is in use.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let faults = self.faults_of_parts();
        if faults.is_empty() { self.misfits(&self.network.topology) } else { faults }
    }

    /// All faults that it has whatever part of it is in use.
    pub(super) fn faults_of_parts(&self) -> Vec<Fault> {
        let mut faults: Vec<_> = within("network", self.network.faults()).collect();
        faults.extend(within("nodes", self.nodes.faults()));
        faults.extend(within("levels", Level::faults(&self.levels)));
        if faults.is_empty() {
            faults.extend(self.memory_fault());
            faults.extend(self.override_faults());
        }
        faults
    }

    /// Faults of the combination when `topology` is in use.
    pub(super) fn misfits(&self, topology: &Topology) -> Vec<Fault> {
        within("network", self.network.misfits(topology)).collect()
    }

    /// A message is as large as a memory at most, and its packets are counted in 32 bits.
    fn memory_fault(&self) -> Option<Fault> {
        let too_large = self.nodes.memory.count() / self.network.switching.packet_bytes() > u64::from(u32::MAX);
        too_large.then(|| {
            let message = format!("{} is more than 2^32 packets", self.nodes.memory);
            Fault::new("nodes.memory", message, "give less memory or larger packets")
        })
    }

    fn override_faults(&self) -> impl Iterator<Item = Fault> + '_ {
        let nodes = self.network.topology.nodes();
        let faults = move |(index, different): (usize, &super::NodeOverride)| {
            within(&format!("overrides.{index}"), different.faults(nodes)).collect::<Vec<_>>()
        };
        self.overrides.iter().enumerate().flat_map(faults)
    }
}
