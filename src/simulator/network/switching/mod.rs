//! Switching techniques.

mod cut_through;
mod store_and_forward;
pub mod wormhole;

pub use cut_through::CutThrough;
pub use store_and_forward::StoreAndForward;
pub use wormhole::Wormhole;

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The technique by which a packet crosses the nodes between source and destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Switching {
    /// A node receives the whole packet before it forwards it.
    StoreAndForward(StoreAndForward),
    /// A node forwards a packet while it still receives it (virtual cut-through).
    CutThrough(CutThrough),
    /// A packet is split into flits that follow its head and stop where they are when the head is blocked.
    Wormhole(Wormhole),
}

impl From<StoreAndForward> for Switching {
    fn from(mode: StoreAndForward) -> Self {
        Self::StoreAndForward(mode)
    }
}

impl From<CutThrough> for Switching {
    fn from(mode: CutThrough) -> Self {
        Self::CutThrough(mode)
    }
}

impl From<Wormhole> for Switching {
    fn from(mode: Wormhole) -> Self {
        Self::Wormhole(mode)
    }
}

impl Switching {
    /// Creates store-and-forward switching of packets of up to `packet` bytes.
    #[must_use]
    pub const fn store_and_forward(packet: Bytes) -> Self {
        Self::StoreAndForward(StoreAndForward { packet })
    }

    /// Creates cut-through switching as [`CutThrough::new`] describes it.
    #[must_use]
    pub const fn cut_through(packet: Bytes) -> Self {
        Self::CutThrough(CutThrough::new(packet))
    }

    /// Creates wormhole switching as [`Wormhole::new`] describes it.
    #[must_use]
    pub const fn wormhole(packet: Bytes) -> Self {
        Self::Wormhole(Wormhole::new(packet))
    }

    /// Returns whether packets pass clocked routers.
    #[must_use]
    pub const fn has_clocked_routers(&self) -> bool {
        matches!(self, Self::Wormhole(_))
    }

    /// Returns whether the pipeline stages of the routers are described.
    #[must_use]
    pub const fn is_described(&self) -> bool {
        matches!(self, Self::Wormhole(Wormhole { router: Some(_), .. }))
    }

    /// Returns the size of the smallest packet in bytes: a flit where packets are split into flits.
    #[must_use]
    pub const fn smallest_packet_bytes(&self) -> u64 {
        match self {
            Self::Wormhole(mode) => mode.flit.count(),
            Self::StoreAndForward(_) | Self::CutThrough(_) => 1,
        }
    }

    /// Returns the size of the largest packet in bytes.
    #[must_use]
    pub const fn packet_bytes(&self) -> u64 {
        match self {
            Self::StoreAndForward(mode) => mode.packet.count(),
            Self::CutThrough(mode) => mode.packet.count(),
            Self::Wormhole(mode) => mode.packet.count(),
        }
    }

    /// Returns the size of the longest message in bytes: its packets are counted in 32 bits.
    #[must_use]
    pub const fn longest_message(&self) -> u64 {
        self.packet_bytes().saturating_mul(u32::MAX as u64)
    }

    /// Returns the number of bytes that a node must have received of a packet of `bytes` bytes before it forwards it.
    #[must_use]
    pub fn header_bytes(&self, bytes: u64) -> u64 {
        match self {
            Self::StoreAndForward(_) => bytes,
            Self::CutThrough(mode) => mode.header.count().min(bytes),
            Self::Wormhole(mode) => mode.flit.count().min(bytes),
        }
    }
}
