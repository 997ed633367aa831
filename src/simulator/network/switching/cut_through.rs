//! Virtual cut-through.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A node sends a packet on as soon as it has the header; a packet whose way is blocked is
/// collected in the node where its head stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CutThrough {
    /// The largest packet; a longer message is cut.
    pub packet: Bytes,
    /// Part of a packet that a node must have before it sends it on; nothing unless given.
    #[serde(default)]
    pub header: Bytes,
}
