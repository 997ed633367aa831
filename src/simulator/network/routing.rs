//! Description of routing: the rule that selects the path of a packet.

use serde::{Deserialize, Serialize};

/// A rule that names the next port of a packet.
///
/// Those that follow a shortest path, an order of the vertices or a table know which links have
/// [failed](super::LinkOverride::LinkFailed) and go round them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "NetworkRouting", title = "Routing"))]
pub enum Routing {
    /// Along the columns to the destination's column, then along its rows; free of deadlock. On
    /// every other topology with a name its [natural route](super::Topology::route).
    DimensionOrder,
    /// The same, but equally long ways share the packets evenly, by the scenario's seed: both ways
    /// round a ring, and all ports that come closer in a fat tree, in cube-connected cycles and in
    /// a graph.
    EvenTies,
    /// Up towards the root of a spanning tree, then down and never up again; free of deadlock on
    /// every connected graph with a single class of buffers (up*/down* of Autonet: Schroeder et
    /// al., IEEE JSAC 9(8), 1991). The root is the first of the vertices from which the farthest
    /// node is nearest; *up* leads to a vertex that is nearer to the root, or as near and of a
    /// lower number. A packet goes down as soon as it can; the way may be longer than the shortest.
    UpDown,
    /// Along a shortest path.
    ShortestPath(Choice),
    /// By the port, of those on a shortest path, for which the fewest packets wait (wormhole: whose
    /// virtual channels are least occupied), hop by hop; at equal load by the lowest.
    MinimalAdaptive,
    /// As written, vertex by vertex; where nothing is written, along a shortest path by the lowest
    /// port.
    Table(Vec<Signpost>),
}

/// Choice between ports that lie on shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Choice {
    /// The one with the lowest number.
    Lowest,
    /// Any, with equal probability, by the scenario's seed.
    Seeded,
}

/// One entry of a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Signpost {
    /// The vertex at which a packet is.
    pub at: u32,
    /// The node to which it is going.
    pub to: u32,
    /// The neighbour to which it goes next.
    pub next: u32,
}

impl Routing {
    /// Returns whether it finds its way round links that have failed.
    #[must_use]
    pub const fn avoids_failed_links(&self) -> bool {
        !matches!(self, Self::DimensionOrder | Self::EvenTies)
    }
}
