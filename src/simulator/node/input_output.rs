//! Input and output through the host.

use crate::units::{PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// The host computer. The machine reads its input and writes its output through one node, one transfer at a time, in
/// the order in which ranks request the transfers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The node that the host is connected to, in the partition in use; node 0 unless given.
    #[serde(default)]
    pub node: u32,
    /// The time of reading, CS-RR-281 equation (5); free unless given.
    #[serde(default)]
    pub input: Linear,
    /// The time of writing, CS-RR-281 equation (6); free unless given.
    #[serde(default)]
    pub output: Linear,
}

/// The time of a transfer of `l` bytes: `start + per_byte · l`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// The time of a transfer without data; zero unless given.
    #[serde(default)]
    pub start: SimDuration,
    /// The time of each byte; zero unless given.
    #[serde(default)]
    pub per_byte: PerByte,
}

impl Linear {
    /// Returns the time of a transfer of `bytes` bytes.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.start + self.per_byte.time(bytes)
    }
}
