//! A network without contention.

use crate::network::{Network, Topology, UncontendedTiming};
use crate::units::{PerByte, SimDuration};

/// A network in which every message has all links of its path to itself.
pub struct FreeWire {
    topology: Topology,
    route: UncontendedTiming,
}

impl FreeWire {
    pub fn new(network: &Network, topology: Topology) -> Self {
        Self { topology, route: UncontendedTiming::of(network) }
    }

    /// Returns the time per byte of the slower of a link and an interface.
    pub fn slower(&self, per_byte: PerByte) -> PerByte {
        self.route.slower(per_byte)
    }

    /// Returns the time from the injection of a message to the arrival of its first byte at its destination.
    pub fn delay(&self, from: u32, to: u32, bytes: u64) -> SimDuration {
        self.route.delay(self.hops(from, to), bytes)
    }

    /// Returns the number of links between two nodes, which is one if a message to its own node takes the network.
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        self.topology.distance(from, to).max(1)
    }
}
