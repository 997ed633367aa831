//! Levels: groups of cores within groups of cores, and what the members of each share.

use crate::engine::Discipline;
use crate::units::{PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// One level of a hierarchy of cores: socket, node, region. Levels are listed from the inside out, and a level
/// groups what the level before it describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The name of the level.
    pub name: String,
    /// Number of groups of the level below, or of cores, in a group.
    pub members: u32,
    /// The memory that its cores share: their loads, and the messages between them that no level further inside
    /// has a memory for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Shared>,
    /// The interface that its cores share: every message that leaves the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Shared>,
}

/// Something that cores share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Bandwidth for all of them together.
    pub bandwidth: PerByte,
    /// Time added to everything that has passed through it, without keeping others waiting.
    #[serde(default)]
    pub latency: SimDuration,
    /// The rule of sharing.
    pub discipline: Discipline,
}

impl Shared {
    /// Returns whether jobs pass it in turn.
    #[must_use]
    pub fn is_in_line(&self) -> bool {
        self.discipline == Discipline::FirstComeFirstServed
    }
}

impl Level {
    /// The cores of a group of each of `levels`, from the inside out.
    pub fn sizes<'l>(levels: impl IntoIterator<Item = &'l Self>) -> impl Iterator<Item = u64> {
        levels.into_iter().scan(1u64, |size, level| {
            *size = size.saturating_mul(level.members.into());
            Some(*size)
        })
    }
}
