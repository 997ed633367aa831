//! The route of a message that has all its links to itself.

use super::{Network, Switching};
use crate::units::{PerByte, SimDuration};

/// The timing of links that a message has to itself.
#[derive(Clone, Debug)]
pub struct UncontendedTiming {
    /// Delay of the first byte on each link, without storage.
    per_hop: SimDuration,
    per_byte: PerByte,
    /// The switching, which determines how many bytes each intermediate node stores before it forwards them.
    switching: Switching,
}

impl UncontendedTiming {
    /// Returns the timing of the links of `network`.
    #[must_use]
    pub fn of(network: &Network) -> Self {
        Self {
            per_hop: network.links.latency + network.links.per_packet,
            per_byte: network.links.byte_time(),
            switching: network.switching.clone(),
        }
    }

    /// Returns the longer of the links' time per byte and `per_byte`.
    #[must_use]
    pub fn slower(&self, per_byte: PerByte) -> PerByte {
        if self.per_byte.bytes_per_s() < per_byte.bytes_per_s() { self.per_byte } else { per_byte }
    }

    /// Returns the time over `hops` links from the injection of a message until its first byte arrives at the
    /// destination.
    #[must_use]
    pub fn delay(&self, hops: u32, bytes: u64) -> SimDuration {
        let hops = u64::from(hops);
        let stored = self.per_byte.time(self.switching.header_bytes(bytes.min(self.switching.packet_bytes())));
        self.per_hop * hops + stored * hops.saturating_sub(1)
    }
}
