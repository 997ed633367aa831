//! Virtual cut-through switching.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A node forwards a packet as soon as it has received the header. A blocked packet is collected in the node where its
/// head is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CutThrough {
    /// The largest packet; a longer message is split.
    pub packet: Bytes,
    /// The part of a packet that a node must have received before it forwards the packet; nothing by default.
    #[serde(default)]
    pub header: Bytes,
}

impl CutThrough {
    /// Creates cut-through switching of packets of up to `packet` bytes, which a node forwards from their first bit on.
    #[must_use]
    pub const fn new(packet: Bytes) -> Self {
        Self { packet, header: Bytes::new(0) }
    }
}
