//! A network without contention.

use crate::network::{Network, Switching, Topology};
use crate::units::{PerByte, SimDuration};

/// Every message has all links of its way to itself.
pub struct FreeWire {
    topology: Topology,
    /// Delay of the first byte on each link.
    per_hop: SimDuration,
    per_byte: PerByte,
    /// Decides on the bytes that every node between stores before it sends them on.
    switching: Switching,
}

impl FreeWire {
    pub fn new(network: &Network, topology: Topology) -> Self {
        Self {
            topology,
            per_hop: network.links.latency + network.links.per_packet,
            per_byte: network.links.byte_time(),
            switching: network.switching.clone(),
        }
    }

    /// The longer of a link's time per byte and this one.
    pub fn slower(&self, per_byte: PerByte) -> PerByte {
        if self.per_byte.bytes_per_s() < per_byte.bytes_per_s() { self.per_byte } else { per_byte }
    }

    /// The time from the entry of a message to that of its first byte at its destination.
    pub fn delay(&self, from: u32, to: u32, bytes: u64) -> SimDuration {
        let hops = u64::from(self.topology.distance(from, to));
        let stored = self.per_byte.time(self.switching.header_bytes(bytes.min(self.switching.packet_bytes())));
        self.per_hop * hops + stored * hops.saturating_sub(1)
    }
}
