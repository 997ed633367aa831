//! Input and output through the host.

use crate::units::{PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// The host computer: through one node the machine reads its input and writes its output, one transfer at a time, in the order
/// in which ranks ask for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The node that the host is connected to, in the part of the machine in use; node 0 unless given.
    #[serde(default)]
    pub node: u32,
    /// Reading, CS-RR-281 equation (5); free unless given.
    #[serde(default)]
    pub input: Linear,
    /// Writing, CS-RR-281 equation (6); free unless given.
    #[serde(default)]
    pub output: Linear,
}

/// A transfer of `l` bytes takes `start + per_byte · l`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// The time of a transfer without data; none unless given.
    #[serde(default)]
    pub start: SimDuration,
    /// The time of each byte; none unless given.
    #[serde(default)]
    pub per_byte: PerByte,
}

impl Linear {
    /// The time of `bytes` bytes.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.start + self.per_byte.time(bytes)
    }
}
