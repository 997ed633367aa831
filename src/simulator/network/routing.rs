//! The description of routing: the rule that selects the path of a packet.

use serde::{Deserialize, Serialize};

/// The rule that selects the next port of a packet.
///
/// Rules that follow a shortest path, an order of the vertices or a table avoid links that have
/// [failed](super::LinkOverride::LinkFailed).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "NetworkRouting", title = "Routing"))]
pub enum Routing {
    /// Along the columns to the destination's column, then along its rows; free of deadlock. On every other topology
    /// with a name, its [natural route](super::Topology::route); a graph has no dimensions.
    DimensionOrder,
    /// Like `DimensionOrder`, but equally long routes share the packets evenly, at random by the scenario's seed: both
    /// directions round a ring, and all ports that lead closer in a fat tree, in cube-connected cycles and in a graph. With
    /// `FairFlows`, a whole message takes one of them.
    EvenTies,
    /// Like `DimensionOrder`, but this rule selects the direction round a ring where both are equally long; a graph has
    /// no rings.
    Ties(TieRule),
    /// Along natural routes (in a graph, shortest paths by the lowest port) to an intermediate node, drawn for every
    /// packet by the scenario's seed, and from there to the destination (Valiant and Brebner 1981). In a dragonfly, the
    /// packet turns to the destination as soon as it is in the group of that node. Any traffic becomes nearly uniform
    /// traffic of almost twice the path length. A packet takes the natural route if the detour would pass its source
    /// again, and is delivered as soon as it passes its destination, also before it has been at the intermediate node.
    Valiant,
    /// Along the natural route, or through an intermediate node that is drawn as for `Valiant`, whichever promises to
    /// be faster where the packet leaves its source. The cost of a route is its number of links times the number of
    /// packets that wait for its first link (wormhole: flits in the buffers behind that link; `FairFlows`: messages that
    /// are assigned to that link, of whatever length, also those that it is serving). The natural route is
    /// taken unless its cost exceeds that of the other by more than the threshold (UGAL with local information: Singh
    /// 2005; Kim et al. 2008).
    Ugal {
        /// The threshold in favour of the natural route, in links times packets (wormhole: flits).
        #[serde(default)]
        threshold: u32,
        /// The weights that multiply the number of waiting packets; `Links` by default.
        #[serde(default, skip_serializing_if = "Weights::is_default")]
        weights: Weights,
        /// The place in a dragonfly where the route turns to the destination: the `Group` of the intermediate node by
        /// default.
        #[serde(default, skip_serializing_if = "Through::is_default")]
        through: Through,
    },
    /// Up towards the root of a spanning tree, then down and never up again; free of deadlock on every connected graph
    /// with a single class of buffers (up*/down* of Autonet: Schroeder et al., IEEE JSAC 9(8), 1991). The root is the
    /// first of the vertices whose farthest node is nearest. *Up* leads to a vertex that is nearer to the root, or
    /// equally near with a lower number. In a fat tree, *up* leads to the next level, by the port of the natural route
    /// if that is among the best. A packet goes down as soon as it can, so that its route may be longer than the
    /// shortest.
    UpDown,
    /// Along a shortest path.
    ShortestPath(Choice),
    /// Hop by hop, by the port on a shortest path for which the fewest packets wait (wormhole: whose virtual channels
    /// are least occupied); a random one of these in a tie, by the scenario's seed.
    MinimalAdaptive,
    /// By a table, vertex by vertex; for pairs without an entry, along a shortest path by the lowest port.
    Table(Vec<Signpost>),
}

/// The weights of the two routes between which UGAL chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Weights {
    /// The number of links of each route.
    #[default]
    Links,
    /// 1 for the natural route and 2 for the other, whatever their lengths, as in `BookSim2` (`ugal_dragonflynew`).
    OneAndTwo,
}

/// The end of the first leg of an indirect route in a dragonfly; elsewhere it is the intermediate node itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Through {
    /// Any vertex in the group of the intermediate node (Kim et al. 2008).
    #[default]
    Group,
    /// The router of the intermediate node, as in `BookSim2`: the route has one more link within the group, and each
    /// leg has two classes.
    Router,
}

impl Weights {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Through {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The choice between ports on shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Choice {
    /// The port with the lowest number.
    Lowest,
    /// A random port, uniform, by the scenario's seed.
    Seeded,
    /// By a hash of source, destination and vertex, so that all packets from one node to another take the same path
    /// (equal-cost multipath, RFC 2992).
    Hashed,
}

/// The choice between the two directions round a ring where both are equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TieRule {
    /// Towards the next higher coordinate.
    Higher,
    /// Towards the next lower coordinate.
    Lower,
    /// Towards the higher coordinate from even coordinates, towards the lower one from odd ones, as in
    /// `DimensionOrder`.
    ByParity,
    /// Alternately, over the packets with a tie at a vertex, beginning with the higher coordinate.
    ByTurns,
}

/// One entry of a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Signpost {
    /// The vertex at which the packet is.
    pub at: u32,
    /// The destination node of the packet.
    pub to: u32,
    /// The next vertex, a neighbour of `at`.
    pub next: u32,
}

impl Routing {
    /// Returns whether the rule routes around links that have failed.
    #[must_use]
    pub const fn avoids_failed_links(&self) -> bool {
        !self.follows_dimensions()
    }

    /// Returns whether packets follow natural routes, or equally long equivalents, to the end of each leg.
    #[must_use]
    pub const fn follows_dimensions(&self) -> bool {
        matches!(self, Self::DimensionOrder | Self::EvenTies | Self::Ties(_) | Self::Valiant | Self::Ugal { .. })
    }

    /// Returns the end of the first leg of packets that take an indirect route.
    #[must_use]
    pub const fn through(&self) -> Through {
        match self {
            Self::Ugal { through, .. } => *through,
            _ => Through::Group,
        }
    }

    /// Returns whether packets may be sent through an intermediate node.
    #[must_use]
    pub const fn is_indirect(&self) -> bool {
        matches!(self, Self::Valiant | Self::Ugal { .. })
    }
}
