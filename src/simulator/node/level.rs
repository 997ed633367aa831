//! Levels of a core hierarchy, and the memory and interface that the cores of a group share.

use crate::engine::{Discipline, SaturationPoint};
use crate::units::{PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// One level of a hierarchy of cores: socket, node, region. Levels are listed from the innermost outwards; the groups
/// of a level consist of groups of the level before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The name of the level.
    pub name: String,
    /// Number of groups of the previous level, or of cores in the first level, in one group.
    pub members: u32,
    /// The memory shared by the cores of a group. It carries their loads and those messages between them for which no
    /// inner level has a memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Shared>,
    /// The interface shared by the cores of a group. Every message that leaves the group passes through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Shared>,
}

/// A resource that cores share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Total bandwidth.
    pub bandwidth: PerByte,
    /// Delay added to everything that passes through the resource, without keeping others waiting.
    #[serde(default)]
    pub latency: SimDuration,
    /// The rule by which concurrent users share the resource.
    pub discipline: Discipline,
    /// The most bandwidth that a single load or message gets, because a core has only so many requests under way; all
    /// of it unless given. Needs `ProcessorSharing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_core: Option<PerByte>,
}

impl Shared {
    /// Creates a resource without latency.
    #[must_use]
    pub const fn new(bandwidth: PerByte, discipline: Discipline) -> Self {
        Self { bandwidth, latency: SimDuration::ZERO, discipline, per_core: None }
    }

    /// Limits the bandwidth that a single load or message gets.
    #[must_use]
    pub const fn per_core(mut self, limit: PerByte) -> Self {
        self.per_core = Some(limit);
        self
    }

    /// Returns the time of a number of bytes that share the resource with nothing.
    #[must_use]
    pub fn lone_time(&self, bytes: f64) -> SimDuration {
        let limited = self.per_core.map_or(SimDuration::ZERO, |limit| limit.time_of_share(bytes));
        self.bandwidth.time_of_share(bytes).max(limited)
    }

    /// Returns the number of users from which on they share the bandwidth: 1 unless [`per_core`](Self::per_core) limits
    /// them.
    #[must_use]
    pub fn saturation(&self) -> SaturationPoint {
        match self.per_core {
            Some(limit) => SaturationPoint::at(limit.bytes_per_s().recip() * self.bandwidth.bytes_per_s()),
            None => SaturationPoint::ONE,
        }
    }

    /// Sets the delay of everything that passes through the resource.
    #[must_use]
    pub const fn latency(mut self, latency: SimDuration) -> Self {
        self.latency = latency;
        self
    }

    /// Returns whether jobs pass through the resource one at a time, first come, first served.
    #[must_use]
    pub fn is_in_line(&self) -> bool {
        self.discipline == Discipline::FirstComeFirstServed
    }
}

impl Level {
    /// Creates a level whose groups have this number of members and share nothing.
    #[must_use]
    pub fn new(name: &str, members: u32) -> Self {
        Self { name: name.to_owned(), members, memory: None, interface: None }
    }

    /// Sets the memory that the cores of a group share.
    #[must_use]
    pub fn memory(mut self, memory: Shared) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Sets the interface that the cores of a group share.
    #[must_use]
    pub fn interface(mut self, interface: Shared) -> Self {
        self.interface = Some(interface);
        self
    }

    /// Returns the number of cores in a group of each of `levels`, from the innermost outwards.
    pub fn sizes<'l>(levels: impl IntoIterator<Item = &'l Self>) -> impl Iterator<Item = u64> {
        levels.into_iter().scan(1u64, |size, level| {
            *size = size.saturating_mul(level.members.into());
            Some(*size)
        })
    }
}
