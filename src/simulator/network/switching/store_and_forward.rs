//! Store and forward.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Every node on the way receives a packet completely before it sends it on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoreAndForward {
    /// The largest packet; a longer message is cut.
    pub packet: Bytes,
}
