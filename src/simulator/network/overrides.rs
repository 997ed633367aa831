//! Exceptions for single links.

use super::topology::Topology;
use crate::units::PerByte;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An exception for one link, or for all parallel links between two vertices, in both directions. Vertices are numbered
/// in the part of the machine that is in use; a link of the machine outside that part is ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum LinkOverride {
    /// The link has another speed.
    LinkSpeed {
        /// The vertex at one end.
        from: u32,
        /// The vertex at the other end.
        to: u32,
        /// The transmission time of a byte.
        per_byte: PerByte,
    },
    /// The link has failed: the routing must avoid it.
    LinkFailed {
        /// The vertex at one end.
        from: u32,
        /// The vertex at the other end.
        to: u32,
    },
}

impl LinkOverride {
    /// Returns the ends of the link, as written.
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

/// Returns the ports of `from` whose links lead to `to`; several if links are parallel.
pub fn ports_towards(topology: &Topology, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
    let links = (from < topology.vertices()).then(|| topology.links_at(from));
    links.into_iter().flatten().filter(move |(_, far, _)| *far == to).map(|(port, ..)| port)
}

/// Returns the first port of `from` whose link leads to `to`, if any.
pub fn port_towards(topology: &Topology, from: u32, to: u32) -> Option<u32> {
    ports_towards(topology, from, to).next()
}

/// Returns both directions of the links that have failed, by their ends.
#[must_use]
pub fn failed_directions(overrides: &[LinkOverride]) -> BTreeSet<(u32, u32)> {
    let failed = overrides.iter().filter(|link| link.is_failure()).map(LinkOverride::ends);
    failed.flat_map(|(from, to)| [(from, to), (to, from)]).collect()
}
