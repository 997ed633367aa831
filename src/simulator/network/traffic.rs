//! Traffic patterns: the destinations of the packets of each node.

use super::Topology;
use super::topology::{ChannelLoads, TrafficShare};
use crate::engine::{below, place_among, unit_of_53_bits};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The rule that selects the destination of every packet.
///
/// Grids are square, whatever the topology: node = row · side + column. Those of `GridTornado` and `GridNeighbour` have the
/// sides that are given, and the last one varies fastest, as in `Torus(sides)`. A node that is its own destination does not
/// send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Pattern {
    /// Every node with equal probability, including the source itself.
    Uniform,
    /// One hot node receives this share of all packets; the destinations of the others are uniform.
    HotSpot {
        /// The hot node.
        #[serde(default)]
        node: u32,
        /// The share of the hot node; 1 by default.
        #[serde(default = "all")]
        share: f64,
    },
    /// Several hot nodes receive this share of all packets, in equal parts; the destinations of the others are uniform.
    HotSpots {
        /// The hot nodes.
        nodes: Vec<u32>,
        /// The share of all hot nodes together; 1 by default.
        #[serde(default = "all")]
        share: f64,
    },
    /// A random node of the next group of this many nodes, uniform; the last group sends to the first. Between groups
    /// of a dragonfly this is the worst case of minimal routing, which has a single link for this traffic.
    NextGroup {
        /// Number of nodes in a group, which must divide the number of nodes.
        nodes: u32,
    },
    /// The node whose number has all bits inverted: N − 1 − i.
    BitComplement,
    /// The node at (column, row) for a source at (row, column).
    Transpose,
    /// The node whose number is that of the source, rotated to the left by one bit.
    Shuffle,
    /// The neighbour to the north, east, west or south on the wrapped grid, with equal probability.
    News,
    /// The node ⌈side / 2⌉ − 1 columns further on the wrapped grid, or on a ring of all nodes if their number is not
    /// square.
    Tornado,
    /// The node ⌈side / 2⌉ − 1 further in every dimension of a wrapped grid (Dally, Towles).
    GridTornado {
        /// The sides of the grid, whose product must be the number of nodes.
        sides: Vec<u32>,
    },
    /// The node one further in every dimension of a wrapped grid (Dally, Towles).
    GridNeighbour {
        /// The sides of the grid, whose product must be the number of nodes.
        sides: Vec<u32>,
    },
    /// The i-th node of the list for source node i. The list may be read from a file: `Permutation(File("x.ron"))`.
    Permutation(Vec<u32>),
}

const fn all() -> f64 {
    1.0
}

impl Pattern {
    /// The patterns by which networks are compared, with node 0 as the hot spot.
    pub const COMPARED: [Self; 7] = [
        Self::Uniform,
        Self::HotSpot { node: 0, share: all() },
        Self::BitComplement,
        Self::Transpose,
        Self::Shuffle,
        Self::News,
        Self::Tornado,
    ];

    /// Returns the name of the pattern in output.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::HotSpot { .. } => "hot_spot",
            Self::HotSpots { .. } => "hot_spots",
            Self::NextGroup { .. } => "next_group",
            Self::BitComplement => "bit_complement",
            Self::Transpose => "transpose",
            Self::Shuffle => "shuffle",
            Self::News => "news",
            Self::Tornado => "tornado",
            Self::GridTornado { .. } => "grid_tornado",
            Self::GridNeighbour { .. } => "grid_neighbour",
            Self::Permutation(_) => "permutation",
        }
    }

    /// Returns the destination of the next packet from `node`, one of `nodes` nodes; the node itself if it does not
    /// send.
    #[must_use]
    pub fn destination(&self, node: u32, nodes: u32, rng: &mut ChaCha8Rng) -> u32 {
        match self {
            Self::Uniform => below(nodes, rng),
            Self::HotSpot { node: hot, share } => {
                if unit_of_53_bits(rng) < *share {
                    *hot
                } else {
                    below(nodes, rng)
                }
            }
            Self::HotSpots { nodes: hot, share } => {
                if unit_of_53_bits(rng) < *share {
                    hot[place_among(hot.len(), rng)]
                } else {
                    below(nodes, rng)
                }
            }
            Self::NextGroup { nodes: group } => next_group(node, *group, nodes) + below(*group, rng),
            Self::News => news(node, side(nodes), below(4, rng)),
            _ => self.image(node, nodes),
        }
    }

    /// Returns the mean flow from each of `nodes` nodes to each other, if every node sends one unit; `None` if the
    /// pattern has a [fault](Self::fault).
    #[must_use]
    pub fn flows(&self, nodes: u32) -> Option<Vec<TrafficShare>> {
        self.fault(nodes).is_none().then(|| (0..nodes).flat_map(|node| self.flows_from(node, nodes)).collect())
    }

    /// Returns the mean flow between `places`, the nodes that take part, whose positions the pattern counts; `None` if the
    /// pattern has a [fault](Self::fault).
    #[must_use]
    pub fn flows_between(&self, places: &[u32]) -> Option<Vec<TrafficShare>> {
        let at = |position: u32| places[position as usize];
        let flows = self.flows(u32::try_from(places.len()).ok()?)?;
        Some(flows.into_iter().map(|(from, to, weight)| (at(from), at(to), weight)).collect())
    }

    fn flows_from(&self, node: u32, nodes: u32) -> Vec<TrafficShare> {
        let anywhere = |weight: f64| (0..nodes).map(move |to| (node, to, weight / f64::from(nodes)));
        match self {
            Self::Uniform => anywhere(1.0).collect(),
            Self::HotSpot { node: hot, share } => spots(&[*hot], *share, node, anywhere),
            Self::HotSpots { nodes: hot, share } => spots(hot, *share, node, anywhere),
            Self::NextGroup { nodes: group } => {
                let first = next_group(node, *group, nodes);
                (first..first + group).map(|to| (node, to, 1.0 / f64::from(*group))).collect()
            }
            Self::News => (0..4).map(|way| (node, news(node, side(nodes), way), 0.25)).collect(),
            _ => vec![(node, self.image(node, nodes), 1.0)],
        }
    }

    /// Returns the mean numbers of messages that `node` sends to others and receives from others, if each of `nodes` nodes
    /// sends one. The pattern must not have a [fault](Self::fault).
    #[must_use]
    pub fn exchanged(&self, node: u32, nodes: u32) -> (f64, f64) {
        let others = 1.0 - 1.0 / f64::from(nodes);
        let of_hot_nodes = |hot: &[u32], share: f64| {
            let uniform = (1.0 - share) * others;
            let is_hot = hot.contains(&node);
            let at_one = share / f64::from(u32::try_from(hot.len()).unwrap_or(u32::MAX));
            let sent = if is_hot { share - at_one } else { share };
            let received = if is_hot { at_one * f64::from(nodes - 1) } else { 0.0 };
            (sent + uniform, received + uniform)
        };
        match self {
            Self::Uniform => (others, others),
            Self::HotSpot { node: hot, share } => of_hot_nodes(&[*hot], *share),
            Self::HotSpots { nodes: hot, share } => of_hot_nodes(hot, *share),
            Self::NextGroup { nodes: group } if *group == nodes => (others, others),
            Self::NextGroup { .. } | Self::News => (1.0, 1.0),
            _ => {
                let sent = if self.image(node, nodes) == node { 0.0 } else { 1.0 };
                (sent, sent)
            }
        }
    }

    /// Returns whether each of `nodes` nodes sends only to itself; `false` if the pattern has a [fault](Self::fault).
    #[must_use]
    pub fn stays(&self, nodes: u32) -> bool {
        self.fault(nodes).is_none()
            && match self {
                Self::Uniform | Self::HotSpot { .. } | Self::HotSpots { .. } | Self::NextGroup { .. } | Self::News => {
                    nodes < 2
                }
                _ => (0..nodes).all(|node| self.image(node, nodes) == node),
            }
    }

    /// Returns the only destination of `node` in a deterministic pattern; the node itself in a random one.
    fn image(&self, node: u32, nodes: u32) -> u32 {
        match self {
            Self::BitComplement => nodes - 1 - node,
            Self::Transpose => node % side(nodes) * side(nodes) + node / side(nodes),
            Self::Shuffle => node * 2 % nodes + node * 2 / nodes,
            Self::Tornado => tornado(node, nodes),
            Self::GridTornado { sides } => shifted(node, sides, half_way),
            Self::GridNeighbour { sides } => shifted(node, sides, |_| 1),
            Self::Permutation(list) => list[node as usize],
            Self::Uniform | Self::HotSpot { .. } | Self::HotSpots { .. } | Self::NextGroup { .. } | Self::News => node,
        }
    }

    /// Returns the side of the square grid in which the pattern counts rows and columns; `None` if there is none.
    #[must_use]
    pub fn square_side(&self, nodes: u32) -> Option<u32> {
        let counts = matches!(self, Self::Transpose | Self::News | Self::Tornado);
        Some(side(nodes)).filter(|side| counts && side.pow(2) == nodes)
    }

    /// Returns the largest load of any channel of `topology` along the natural routes.
    #[must_use]
    pub fn largest_load(&self, topology: &Topology) -> Option<f64> {
        let flows = self.flows(topology.nodes())?;
        Some(ChannelLoads::along_routes(topology, flows).max())
    }

    /// Returns why the pattern does not fit `nodes` nodes, in words, if it does not.
    #[must_use]
    pub fn fault(&self, nodes: u32) -> Option<String> {
        let is_square = |side: u32| side.pow(2) == nodes;
        match self {
            Self::HotSpot { node, .. } if *node >= nodes => {
                Some(format!("the hot node {node} is out of range 0 to {}", nodes.saturating_sub(1)))
            }
            Self::HotSpots { nodes: hot, .. } if hot.is_empty() => Some("no hot node is named".to_owned()),
            Self::HotSpots { nodes: hot, .. } if hot.iter().collect::<HashSet<_>>().len() < hot.len() => {
                Some(format!("a hot node of {hot:?} is listed twice"))
            }
            Self::HotSpots { nodes: hot, .. } if hot.iter().any(|node| *node >= nodes) => {
                Some(format!("a hot node of {hot:?} is out of range 0 to {}", nodes.saturating_sub(1)))
            }
            Self::NextGroup { nodes: group } if *group == 0 || !nodes.is_multiple_of(*group) => {
                Some(format!("{nodes} nodes do not form groups of {group}"))
            }
            Self::HotSpot { share, .. } | Self::HotSpots { share, .. } if !(0.0..=1.0).contains(share) => {
                Some(format!("a share of {share} is not between 0 and 1"))
            }
            Self::Transpose | Self::News if !is_square(side(nodes)) => Some(no_square(nodes)),
            Self::GridTornado { sides } | Self::GridNeighbour { sides } if size(sides) != u64::from(nodes) => {
                let sides = sides.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
                Some(format!("{nodes} nodes do not form a grid of {sides}"))
            }
            Self::Shuffle if !nodes.is_power_of_two() => Some(format!("{nodes} is not a power of two")),
            Self::Permutation(list) => {
                let mut sorted = list.clone();
                sorted.sort_unstable();
                (!sorted.into_iter().eq(0..nodes)).then(|| {
                    format!("the list is not a permutation of 0 to {}; many nodes send to one as `HotSpot`", nodes - 1)
                })
            }
            _ => None,
        }
    }
}

/// Returns the flows from `node` to the hot nodes and, by `anywhere`, to all nodes with the remaining weight.
fn spots<I: Iterator<Item = TrafficShare>>(
    hot: &[u32],
    share: f64,
    node: u32,
    anywhere: impl Fn(f64) -> I,
) -> Vec<TrafficShare> {
    let count = u32::try_from(hot.len()).expect("fewer than all nodes");
    let hot = hot.iter().map(|to| (node, *to, share / f64::from(count)));
    if share < 1.0 { anywhere(1.0 - share).chain(hot).collect() } else { hot.collect() }
}

/// Returns the first node of the group after that of `node`.
const fn next_group(node: u32, group: u32, nodes: u32) -> u32 {
    (node / group + 1) * group % nodes
}

const fn side(nodes: u32) -> u32 {
    nodes.isqrt()
}

fn news(node: u32, side: u32, way: u32) -> u32 {
    let (row, column) = (node / side, node % side);
    match way {
        0 => (row + side - 1) % side * side + column,
        1 => row * side + (column + 1) % side,
        2 => row * side + (column + side - 1) % side,
        _ => (row + 1) % side * side + column,
    }
}

fn tornado(node: u32, nodes: u32) -> u32 {
    let side = if side(nodes).pow(2) == nodes { side(nodes) } else { nodes };
    node / side * side + (node % side + half_way(side)) % side
}

/// Returns the shift that goes almost half way round a ring.
const fn half_way(side: u32) -> u32 {
    side.div_ceil(2) - 1
}

/// Returns the node that is further by `shift` in every dimension of a wrapped grid.
fn shifted(node: u32, sides: &[u32], shift: impl Fn(u32) -> u32) -> u32 {
    let (mut to, mut left, mut weight) = (0, node, 1);
    for side in sides.iter().rev() {
        to += (left % side + shift(*side)) % side * weight;
        left /= side;
        weight *= side;
    }
    to
}

/// Returns the number of nodes of a grid, at most `u64::MAX`.
fn size(sides: &[u32]) -> u64 {
    sides.iter().fold(1, |size: u64, side| size.saturating_mul(u64::from(*side)))
}

/// Reports that nodes do not form a square grid, with the numbers next to theirs that do.
fn no_square(nodes: u32) -> String {
    let [below, above] = [side(nodes), side(nodes) + 1].map(|side| u64::from(side).pow(2));
    format!("{nodes} nodes do not form a square grid, as {below} or {above} do")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    #[test]
    fn permutations_of_sixteen() {
        let mut rng = Streams::new(1).stream("traffic", 0);
        let mut to = |pattern: &Pattern, node| pattern.destination(node, 16, &mut rng);
        assert_eq!(to(&Pattern::BitComplement, 0b0010), 0b1101);
        assert_eq!(to(&Pattern::Transpose, 1), 4);
        assert_eq!((to(&Pattern::Shuffle, 0b1010), to(&Pattern::Shuffle, 15)), (0b0101, 15));
        assert_eq!((to(&Pattern::Tornado, 4), to(&Pattern::Tornado, 7)), (5, 4));
        assert_eq!((Pattern::Tornado.square_side(16), Pattern::Tornado.square_side(15)), (Some(4), None));
    }

    #[test]
    fn a_pattern_stays_if_it_has_no_flow_between_two_nodes() {
        let leaves = |(from, to, weight): &TrafficShare| from != to && *weight > 0.0;
        let identity = Pattern::Permutation((0..4).collect());
        let group = Pattern::NextGroup { nodes: 4 };
        for pattern in Pattern::COMPARED.iter().chain([&identity, &group]) {
            for nodes in 1..=64 {
                let flows = pattern.flows(nodes);
                let expected = flows.is_some_and(|flows| !flows.iter().any(leaves));
                assert_eq!(pattern.stays(nodes), expected, "{pattern:?} among {nodes} nodes");
            }
        }
        assert!(!Pattern::Uniform.stays(u32::MAX));
    }

    #[test]
    fn messages_of_a_node_are_the_sums_of_its_flows() {
        let spots = Pattern::HotSpots { nodes: vec![0, 3], share: 0.6 };
        let spot = Pattern::HotSpot { node: 1, share: 0.3 };
        let [group, all] = [2, 4].map(|nodes| Pattern::NextGroup { nodes });
        for pattern in Pattern::COMPARED.iter().chain([&spots, &spot, &group, &all]) {
            for nodes in 2..=64 {
                let Some(flows) = pattern.flows(nodes) else { continue };
                let sum = |is_wanted: &dyn Fn(&TrafficShare) -> bool| -> f64 {
                    flows.iter().filter(|flow| flow.0 != flow.1 && is_wanted(flow)).map(|flow| flow.2).sum()
                };
                for node in 0..nodes {
                    let (sent, received) = pattern.exchanged(node, nodes);
                    let expected = (sum(&|flow| flow.0 == node), sum(&|flow| flow.1 == node));
                    let is_near = (sent - expected.0).abs() < 1e-9 && (received - expected.1).abs() < 1e-9;
                    assert!(is_near, "{pattern:?} at {node} of {nodes}: {sent}, {received}, not {expected:?}");
                }
            }
        }
    }

    #[test]
    fn neighbours_are_drawn_evenly() {
        let mut rng = Streams::new(1).stream("traffic", 0);
        let mut counts = [0; 16];
        for _ in 0..4000 {
            counts[Pattern::News.destination(0, 16, &mut rng) as usize] += 1;
        }
        for neighbour in [1, 3, 4, 12] {
            assert!((900..1100).contains(&counts[neighbour]), "{counts:?}");
        }
        assert_eq!(counts.iter().filter(|count| **count > 0).count(), 4);
    }

    #[test]
    fn flows_are_the_shares_of_the_destinations() {
        let mut rng = Streams::new(1).stream("traffic", 0);
        let half = Pattern::HotSpot { node: 3, share: 0.5 };
        let several = Pattern::HotSpots { nodes: vec![2, 9], share: 0.6 };
        let next = Pattern::NextGroup { nodes: 4 };
        for pattern in Pattern::COMPARED.iter().chain([&half, &several, &next]) {
            let mut drawn = [0.0; 16];
            (0..4000).for_each(|_| drawn[pattern.destination(6, 16, &mut rng) as usize] += 1.0 / 4000.0);
            for (from, to, weight) in pattern.flows(16).unwrap() {
                drawn[to as usize] -= if from == 6 { weight } else { 0.0 };
            }
            assert!(drawn.iter().all(|rest: &f64| rest.abs() < 0.03), "{pattern:?}: {drawn:?}");
        }
    }

    #[test]
    fn the_next_group_is_that_behind_ones_own() {
        let mut rng = Streams::new(1).stream("traffic", 0);
        let mut groups = |node| [0; 40].map(|_| Pattern::NextGroup { nodes: 4 }.destination(node, 12, &mut rng) / 4);
        assert_eq!((groups(0), groups(7), groups(8)), ([1; 40], [2; 40], [0; 40]));
    }

    /// Digit permutations move every coordinate (Dally, Towles: Table 3.1).
    #[test]
    fn digits_move_in_every_dimension() {
        let mut rng = Streams::new(1).stream("traffic", 0);
        let sides = vec![2, 5, 8];
        let node = |[layer, row, column]: [u32; 3]| (layer * 5 + row) * 8 + column;
        let tornado = Pattern::GridTornado { sides: sides.clone() };
        let neighbour = Pattern::GridNeighbour { sides };
        assert_eq!(tornado.destination(node([1, 4, 6]), 80, &mut rng), node([1, 1, 1]));
        assert_eq!(neighbour.destination(node([1, 4, 6]), 80, &mut rng), node([0, 0, 7]));
        assert_eq!(tornado.exchanged(0, 80), (1.0, 1.0));
        assert!(!tornado.stays(80) && Pattern::GridTornado { sides: vec![2; 3] }.stays(8));
    }

    /// A tornado in every dimension loads each ring as one ring alone: k / 2 − 1 on the channels of one direction.
    #[test]
    fn the_tornado_of_a_torus_loads_each_ring_alike() {
        let load =
            |sides: Vec<u32>, topology: Topology| Pattern::GridTornado { sides }.largest_load(&topology).unwrap();
        assert!((load(vec![8, 8, 8], Topology::Torus3d { layers: 8, rows: 8, columns: 8 }) - 3.0).abs() < 1e-9);
        assert!((load(vec![16], Topology::Ring { nodes: 16 }) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn hot_nodes_have_equal_parts_of_their_share() {
        let mut rng = Streams::new(1).stream("traffic", 0);
        let spots = Pattern::HotSpots { nodes: vec![3, 12], share: 0.5 };
        let mut counts = [0; 16];
        (0..8000).for_each(|_| counts[spots.destination(5, 16, &mut rng) as usize] += 1);
        for (node, count) in counts.iter().enumerate() {
            let expected = if node == 3 || node == 12 { 2000 + 250 } else { 250 };
            assert!((expected * 4 / 5..expected * 6 / 5).contains(count), "{counts:?}");
        }
    }

    #[test]
    fn loads_of_a_torus() {
        let torus = Topology::Torus2d { rows: 8, columns: 8 };
        let load = |pattern: Pattern| pattern.largest_load(&torus).unwrap();
        assert!((load(Pattern::Uniform) - 1.0).abs() < 1e-9 && (load(Pattern::BitComplement) - 2.0).abs() < 1e-9);
        assert!((load(Pattern::News) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn patterns_are_defined_where_their_digits_are() {
        let defined = |nodes| Pattern::COMPARED.map(|pattern| pattern.flows(nodes).is_some());
        assert_eq!(defined(64), [true; 7]);
        assert_eq!(defined(8), [true, true, true, false, true, false, true]);
        assert_eq!(defined(9), [true, true, true, true, false, true, true]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(Pattern::Shuffle.fault(48).as_deref(), Some("48 is not a power of two"));
        assert_eq!(Pattern::Transpose.fault(8).as_deref(), Some("8 nodes do not form a square grid, as 4 or 9 do"));
        let tornado = |sides: &[u32]| Pattern::GridTornado { sides: sides.to_vec() };
        assert_eq!(tornado(&[8, 8]).fault(512).as_deref(), Some("512 nodes do not form a grid of 8 × 8"));
        assert!(tornado(&[]).fault(2).is_some() && tornado(&[0, 8]).fault(8).is_some());
        assert!(tornado(&[u32::MAX; 4]).fault(8).is_some() && tornado(&[2, 2, 2]).fault(8).is_none());
        assert_eq!(Pattern::NextGroup { nodes: 5 }.fault(8).as_deref(), Some("8 nodes do not form groups of 5"));
        assert!(Pattern::HotSpots { nodes: vec![1, 8], share: 1.0 }.fault(8).is_some());
        assert!(Pattern::HotSpots { nodes: Vec::new(), share: 1.0 }.fault(8).is_some());
        assert!(Pattern::HotSpots { nodes: vec![1], share: 1.5 }.fault(8).is_some());
        assert!(Pattern::Permutation(vec![0, 2, 2]).fault(3).is_some());
        assert_eq!(Pattern::Permutation(vec![2, 0, 1]).fault(3), None);
    }
}
