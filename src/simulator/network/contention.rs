//! Disciplines where the ways of messages meet.

use serde::{Deserialize, Serialize};

/// Discipline where the ways of messages meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Contention {
    /// A link carries one packet at a time, in the order in which they come to it.
    #[default]
    FirstComeFirstServed,
    /// A link carries one packet at a time, of those that wait in turn: one of each input port of its vertex, or of each flow, then
    /// again of the first; of those of a port or flow the first that came.
    RoundRobin(RoundRobinOver),
    /// Messages share every link fairly: each is a flow of bytes over all links of its way at once, whose rate is max-min
    /// fair. Needs `nodes.interface` with a `progress` other than `WhileArriving`; interfaces are shared fairly, too.
    FairFlows,
    /// Every message has the network to itself. Needs `nodes.interface`, whose messages still wait for each other.
    Off,
}

/// Those whose packets cross a link in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RoundRobinOver {
    /// The ports by which packets come to the vertex, by their numbers, and after them the vertex itself. A port has one turn,
    /// however many nodes lie behind it.
    InputPorts,
    /// Pairs of source and destination.
    Flows,
}

impl Contention {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether packets take turns.
    pub(super) const fn takes_turns(self) -> bool {
        matches!(self, Self::RoundRobin(_))
    }

    /// Returns whether messages are cut into packets, which wait for each other.
    #[must_use]
    pub const fn is_of_packets(self) -> bool {
        matches!(self, Self::FirstComeFirstServed | Self::RoundRobin(_))
    }
}
