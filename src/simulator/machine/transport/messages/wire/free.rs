//! A network without contention.

use crate::network::{LoneWay, Network, Topology};
use crate::units::{PerByte, SimDuration};

/// Every message has all links of its way to itself.
pub struct FreeWire {
    topology: Topology,
    way: LoneWay,
}

impl FreeWire {
    pub fn new(network: &Network, topology: Topology) -> Self {
        Self { topology, way: LoneWay::of(network) }
    }

    /// The longer of a link's time per byte and this one.
    pub fn slower(&self, per_byte: PerByte) -> PerByte {
        self.way.slower(per_byte)
    }

    /// The time from the entry of a message to that of its first byte at its destination.
    pub fn delay(&self, from: u32, to: u32, bytes: u64) -> SimDuration {
        self.way.delay(self.hops(from, to), bytes)
    }

    /// The links between two nodes; one where a message takes the network to its own node.
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        self.topology.distance(from, to).max(1)
    }
}
