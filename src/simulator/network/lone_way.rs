//! The way of a message that has all its links to itself.

use super::{Network, Switching};
use crate::units::{PerByte, SimDuration};

/// Links that a message has to itself.
#[derive(Clone, Debug)]
pub struct LoneWay {
    /// Delay of the first byte on each link.
    per_hop: SimDuration,
    per_byte: PerByte,
    /// Decides on the bytes that every node between stores before it sends them on.
    switching: Switching,
}

impl LoneWay {
    /// The links of `network`.
    #[must_use]
    pub fn of(network: &Network) -> Self {
        Self {
            per_hop: network.links.latency + network.links.per_packet,
            per_byte: network.links.byte_time(),
            switching: network.switching.clone(),
        }
    }

    /// The longer of a link's time per byte and this one.
    #[must_use]
    pub fn slower(&self, per_byte: PerByte) -> PerByte {
        if self.per_byte.bytes_per_s() < per_byte.bytes_per_s() { self.per_byte } else { per_byte }
    }

    /// The time over this number of links from the entry of a message to that of its first byte at its destination.
    #[must_use]
    pub fn delay(&self, hops: u32, bytes: u64) -> SimDuration {
        let hops = u64::from(hops);
        let stored = self.per_byte.time(self.switching.header_bytes(bytes.min(self.switching.packet_bytes())));
        self.per_hop * hops + stored * hops.saturating_sub(1)
    }
}
