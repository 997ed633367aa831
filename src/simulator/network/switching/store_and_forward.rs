//! Store-and-forward switching.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Every node on the route receives a packet completely before it forwards it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoreAndForward {
    /// The largest packet; a longer message is split.
    pub packet: Bytes,
}
