//! Links that differ from all others.

use super::topology::Topology;
use crate::units::PerByte;
use serde::{Deserialize, Serialize};

/// Exception for one link, or all parallel links between two vertices, in both directions. Vertices are numbered in the part of the machine that is in use; a link
/// of the machine that lies outside that part is left out of account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum LinkOverride {
    /// Its speed.
    LinkSpeed {
        /// One end.
        from: u32,
        /// The other.
        to: u32,
        /// The transmission time of a byte.
        per_byte: PerByte,
    },
    /// It does not work: the routing must find other ways.
    LinkFailed {
        /// One end.
        from: u32,
        /// The other.
        to: u32,
    },
}

impl LinkOverride {
    /// The ends of the link, as written.
    #[must_use]
    pub const fn ends(&self) -> (u32, u32) {
        let (Self::LinkSpeed { from, to, .. } | Self::LinkFailed { from, to }) = self;
        (*from, *to)
    }

    /// Returns whether the link has failed.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::LinkFailed { .. })
    }
}

/// The ports by which `from` is joined to `to`: several where links are parallel.
pub fn ports_towards(topology: &Topology, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
    let links = (from < topology.vertices()).then(|| topology.links_at(from));
    links.into_iter().flatten().filter(move |(_, far, _)| *far == to).map(|(port, ..)| port)
}

/// The first port by which `from` is joined to `to`, if it is.
pub fn port_towards(topology: &Topology, from: u32, to: u32) -> Option<u32> {
    ports_towards(topology, from, to).next()
}
