//! The discipline by which messages contend for links.

use serde::{Deserialize, Serialize};

/// The discipline by which messages contend for links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Contention {
    /// A link carries one packet at a time, in order of arrival.
    #[default]
    FirstComeFirstServed,
    /// A link carries one packet at a time and serves the waiting packets round robin: one packet of each input port of
    /// its vertex, or of each flow, in turn. Within a port or flow, packets are served first come, first served.
    RoundRobin(RoundRobinOver),
    /// Messages share every link fairly: each message is a flow of bytes over all links of its route at once, at its
    /// max-min fair rate. Needs `nodes.interface` with a `progress` other than `WhileArriving`; interfaces are shared
    /// fairly, too.
    FairFlows,
    /// Every message has the network to itself. Needs `nodes.interface`, whose messages still wait for each other.
    Off,
}

/// The parties among which round robin rotates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RoundRobinOver {
    /// The input ports of the vertex, by number, and last the vertex itself. A port has one turn, however many nodes
    /// are behind it.
    InputPorts,
    /// Flows: pairs of source and destination.
    Flows,
}

impl Contention {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether links are shared round robin.
    pub(super) const fn takes_turns(self) -> bool {
        matches!(self, Self::RoundRobin(_))
    }

    /// Returns whether messages are split into packets, which queue for links.
    #[must_use]
    pub const fn is_of_packets(self) -> bool {
        matches!(self, Self::FirstComeFirstServed | Self::RoundRobin(_))
    }
}
