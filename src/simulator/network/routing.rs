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
    /// Dimension order as above, but where both ways round a ring are equally long, by this rule.
    Ties(TieRule),
    /// Along natural routes to a node that is drawn for every packet, by the scenario's seed, and from there to the
    /// destination (Valiant and Brebner 1981); in a dragonfly from anywhere in that node's group. Any traffic
    /// becomes uniform traffic, of twice the length. Straight where the way would come by the source again.
    Valiant,
    /// Along the natural route or by way of a node that is drawn as for Valiant, whichever promises to be faster where
    /// the packet leaves its source: the natural one unless it has more links times packets that wait for the first of
    /// them (wormhole: flits in the buffers behind it) than the other, by more than the threshold (UGAL with local
    /// information: Singh 2005; Kim et al. 2008).
    Ugal {
        /// In favour of the natural route, in links times packets (wormhole: flits).
        #[serde(default)]
        threshold: u32,
        /// The weights by which the packets that wait are multiplied; `Links` unless given.
        #[serde(default, skip_serializing_if = "Weights::is_default")]
        weights: Weights,
        /// The place in a dragonfly where the way turns to the destination: in the `Group` of the drawn node unless
        /// given.
        #[serde(default, skip_serializing_if = "Through::is_default")]
        through: Through,
    },
    /// Up towards the root of a spanning tree, then down and never up again; free of deadlock on
    /// every connected graph with a single class of buffers (up*/down* of Autonet: Schroeder et
    /// al., IEEE JSAC 9(8), 1991). The root is the first of the vertices from which the farthest
    /// node is nearest; *up* leads to a vertex that is nearer to the root, or as near and of a
    /// lower number. In a fat tree *up* leads to the next level, by the port of the natural route where that is among the best.
    /// A packet goes down as soon as it can; the way may be longer than the shortest.
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

/// Weights of the two ways between which UGAL chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Weights {
    /// The links of either way.
    #[default]
    Links,
    /// 1 for the natural way, 2 for the other, whatever their links: as `BookSim2` has it (`ugal_dragonflynew`).
    OneAndTwo,
}

/// The end of the first leg of a way by another node, in a dragonfly; elsewhere that is the node itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Through {
    /// Anywhere in the group of the node (Kim et al. 2008).
    #[default]
    Group,
    /// The router of the node, as `BookSim2` has it: with a link within the group more, and two classes for each leg.
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

/// Choice between ports that lie on shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Choice {
    /// The one with the lowest number.
    Lowest,
    /// Any, with equal probability, by the scenario's seed.
    Seeded,
    /// By a hash of source, destination and vertex, so that all packets from one node to another take the same way
    /// (equal-cost multipath, RFC 2992).
    Hashed,
}

/// Choice between both ways round a ring where they are equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TieRule {
    /// Towards the next higher coordinate.
    Higher,
    /// Towards the next lower coordinate.
    Lower,
    /// The higher from even coordinates, the lower from odd ones, as in `DimensionOrder`.
    ByParity,
    /// Both by turns, for the packets that meet a tie at a vertex, the higher first.
    ByTurns,
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
        !self.follows_dimensions()
    }

    /// Returns whether packets keep to natural routes, or to ones as long and as good, to wherever they are bound first.
    #[must_use]
    pub const fn follows_dimensions(&self) -> bool {
        matches!(self, Self::DimensionOrder | Self::EvenTies | Self::Ties(_) | Self::Valiant | Self::Ugal { .. })
    }

    /// The end of the first leg of packets that are sent by way of another node.
    #[must_use]
    pub const fn through(&self) -> Through {
        match self {
            Self::Ugal { through, .. } => *through,
            _ => Through::Group,
        }
    }

    /// Returns whether a packet may be sent by way of another node.
    #[must_use]
    pub const fn is_indirect(&self) -> bool {
        matches!(self, Self::Valiant | Self::Ugal { .. })
    }
}
