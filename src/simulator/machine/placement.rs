//! Placement of ranks on nodes.

use super::folding;
use crate::engine::Streams;
use crate::network::Topology;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A rule for placing the ranks on the nodes in use. Ranks on one node share its processor and memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RankPlacement", title = "Placement"))]
pub enum Placement {
    /// In the order of the ranks along the rows.
    RowMajor,
    /// In the order of the ranks along the rows, with every second row reversed, so that consecutive ranks are always
    /// neighbours.
    Snake,
    /// Shuffled with the scenario's seed.
    Random,
    /// The node of each rank; several ranks may share a node. A scenario can also give `RankFile("ranks.txt")`, a file
    /// with a line such as `17 3` for each rank, or `RankFile("ranks.txt", "nodes.txt")`, where nodes have the names
    /// listed in the second file, one line for each node.
    Explicit(Vec<u32>),
    /// A fixed number of consecutive ranks on each node, with the nodes in order. The ranks of a node take its cores in
    /// order, those of the first socket first.
    Packed {
        /// The number of ranks on a node.
        ranks_per_node: u32,
    },
    /// Row by row in a logical grid that is folded over the machine's grid. Consecutive sides of the machine's grid
    /// form groups, and the product of each group is a side of `shape`. Along a side of the logical grid, ranks follow
    /// the last side of the group and return in the next row: a ring of 8 on 2 × 4 nodes has ranks 0 to 3 beside ranks
    /// 7 to 4.
    Folded {
        /// The sides of the logical grid.
        shape: Vec<u32>,
    },
    /// Two ranks; the second is on the first node at this number of hops from node 0.
    Apart {
        /// The distance in hops.
        hops: u32,
    },
}

/// The part of the machine that a run has to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Partition {
    /// As many nodes as the ranks need, as a mesh that is as square as possible (on a 2D mesh) or as a shorter line,
    /// ring or complete graph. On a hypercube, the smallest subcube that holds the ranks. Any other topology as a
    /// whole.
    #[default]
    Fitted,
    /// A mesh of this shape, from the nodes of a 2D mesh or torus.
    Shape {
        /// The number of rows.
        rows: u32,
        /// The number of columns.
        columns: u32,
    },
    /// The complete topology of the machine, for any number of ranks.
    Whole,
}

impl Partition {
    /// Returns the topology that ranks which need `nodes` nodes get on a machine with `topology`.
    #[must_use]
    pub fn of(self, topology: &Topology, nodes: u32) -> Topology {
        match (self, topology) {
            (Self::Shape { rows, columns }, _) => Topology::Mesh2d { rows, columns },
            (Self::Fitted, Topology::Mesh2d { .. }) => {
                let (rows, columns) = near_square(nodes);
                Topology::Mesh2d { rows, columns }
            }
            (Self::Fitted, Topology::Line { .. }) => Topology::Line { nodes },
            (Self::Fitted, Topology::Ring { .. }) => Topology::Ring { nodes },
            (Self::Fitted, Topology::Complete { .. }) => Topology::Complete { nodes },
            (Self::Fitted, Topology::Hypercube { .. }) => {
                Topology::Hypercube { dimension: nodes.next_power_of_two().ilog2() }
            }
            _ => topology.clone(),
        }
    }
}

/// Returns the shape (rows, columns) of the most nearly square grid that `count` elements fill. The number of rows is
/// the largest divisor of `count` that is not above its square root: 2 gives 1 × 2, 7 gives 1 × 7, 100 gives 10 × 10.
///
/// # Panics
/// Panics if `count` is zero.
#[must_use]
pub fn near_square(count: u32) -> (u32, u32) {
    let rows = (1..=count.isqrt()).rev().find(|rows| count.is_multiple_of(*rows));
    let rows = rows.expect("one divides every number");
    (rows, count / rows)
}

/// The location of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankLocation {
    /// The node of the rank.
    pub node: u32,
    /// The position of the rank among the ranks of its node. Beyond the last core the ranks start again with the first
    /// core.
    pub core: u32,
}

impl RankLocation {
    /// Returns the core of the rank on a node with this number of cores; several ranks may share a core.
    #[must_use]
    pub const fn core_of(self, cores: u32) -> u32 {
        self.core % cores
    }
}

/// The placement of all ranks of a run: the topology in use and the node of each rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The part of the machine that the run has to itself.
    pub topology: Topology,
    /// The node of each rank, in an `Arc` so that users of the nodes alone can share the list.
    nodes: Arc<[u32]>,
    /// The nodes that ranks share; `None` if every rank is alone on the node of the same number.
    sharing: Option<NodeSharing>,
}

/// The ranks on each node.
#[derive(Clone, Debug, PartialEq)]
struct NodeSharing {
    /// For each rank, the number of lower ranks on the same node.
    cores: Vec<u32>,
    /// For each node up to the last one with a rank, the number of ranks on it. A machine may have many more nodes.
    ranks_on: Vec<u32>,
}

impl Placement {
    /// Returns the number of nodes that `ranks` ranks need, with as many ranks on each node as the rule places there.
    #[must_use]
    pub fn nodes_needed(&self, ranks: u32) -> u32 {
        match self {
            Self::Packed { ranks_per_node } => ranks.div_ceil((*ranks_per_node).max(1)),
            Self::Explicit(nodes) => nodes.iter().max().map_or(ranks, |last| ranks.min(last.saturating_add(1))),
            _ => ranks,
        }
    }

    /// Returns the name of the rule, as in a scenario.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RowMajor => "RowMajor",
            Self::Snake => "Snake",
            Self::Random => "Random",
            Self::Explicit(_) => "Explicit",
            Self::Packed { .. } => "Packed",
            Self::Folded { .. } => "Folded",
            Self::Apart { .. } => "Apart",
        }
    }

    /// Returns the first node at distance `hops` from node 0.
    #[must_use]
    pub fn at_distance(topology: &Topology, hops: u32) -> Option<u32> {
        (0..topology.nodes()).find(|node| topology.distance(0, *node) == hops)
    }

    /// Places `ranks` ranks on `topology`, which has room for them.
    pub(super) fn lay_out(&self, topology: Topology, ranks: u32, streams: Streams) -> Layout {
        let nodes: Arc<[u32]> = match self {
            Self::RowMajor => (0..ranks).collect(),
            Self::Snake => (0..ranks).map(|rank| snake(&topology, rank)).collect(),
            Self::Random => shuffled(topology.nodes(), ranks, streams).into(),
            Self::Explicit(nodes) => nodes.as_slice().into(),
            Self::Packed { ranks_per_node } => (0..ranks).map(|rank| rank / ranks_per_node).collect(),
            Self::Folded { shape } => {
                let sides = folding::sides(&topology).unwrap_or_default();
                let groups = folding::groups(&sides, shape).unwrap_or_default();
                (0..ranks).map(|rank| folding::node(&groups, rank)).collect()
            }
            Self::Apart { hops } => Arc::new([0, Self::at_distance(&topology, *hops).unwrap_or(0)]),
        };
        Layout::new(topology, nodes)
    }
}

fn snake(topology: &Topology, rank: u32) -> u32 {
    let (Topology::Mesh2d { columns, .. } | Topology::Torus2d { columns, .. }) = topology else {
        return rank;
    };
    let (row, column) = (rank / columns, rank % columns);
    let column = if row % 2 == 1 { columns - 1 - column } else { column };
    row * columns + column
}

fn shuffled(nodes: u32, ranks: u32, streams: Streams) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes).collect();
    order.shuffle(&mut streams.stream("placement", 0));
    order.truncate(ranks as usize);
    order
}

impl Layout {
    fn new(topology: Topology, nodes: Arc<[u32]>) -> Self {
        let is_in_order = (0..).zip(nodes.iter()).all(|(rank, node)| rank == *node);
        let sharing = (!is_in_order).then(|| NodeSharing::of(&nodes));
        Self { topology, nodes, sharing }
    }

    /// Returns whether every rank is alone on the node of the same number.
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        self.sharing.is_none()
    }

    /// Returns the number of ranks.
    ///
    /// # Panics
    /// Never: ranks are numbered in 32 bits.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("ranks are counted in 32 bits")
    }

    /// Returns the node of each rank.
    #[must_use]
    pub fn nodes(&self) -> Arc<[u32]> {
        Arc::clone(&self.nodes)
    }

    /// Returns the node of `rank`.
    #[must_use]
    pub fn node(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// Returns the location of `rank`: the ranks of a node take its cores in order.
    #[must_use]
    pub fn location(&self, rank: u32) -> RankLocation {
        let core = self.sharing.as_ref().map_or(0, |sharing| sharing.cores[rank as usize]);
        RankLocation { node: self.nodes[rank as usize], core }
    }

    /// Returns the number of ranks on `node`.
    #[must_use]
    pub fn ranks_on(&self, node: u32) -> u32 {
        match &self.sharing {
            Some(sharing) => sharing.ranks_on.get(node as usize).copied().unwrap_or(0),
            None => (node < self.ranks()).into(),
        }
    }

    /// Returns the number of nodes that have ranks.
    ///
    /// # Panics
    /// Never: nodes are numbered in 32 bits.
    #[must_use]
    pub fn occupied(&self) -> u32 {
        let Some(sharing) = &self.sharing else { return self.ranks() };
        let occupied = sharing.ranks_on.iter().filter(|ranks| **ranks > 0).count();
        u32::try_from(occupied).expect("nodes are counted in 32 bits")
    }

    /// Returns the largest number of ranks on one node.
    #[must_use]
    pub fn most_ranks_on_a_node(&self) -> u32 {
        let Some(sharing) = &self.sharing else { return self.ranks().min(1) };
        sharing.ranks_on.iter().copied().max().unwrap_or(0)
    }

    /// Returns the number of cores that ranks use, on nodes with this number of cores.
    #[must_use]
    pub fn cores_in_use(&self, cores: u32) -> u32 {
        let Some(sharing) = &self.sharing else { return self.ranks() };
        sharing.ranks_on.iter().map(|ranks| (*ranks).min(cores)).sum()
    }

    /// Returns whether ranks share a core on nodes with this number of cores.
    #[must_use]
    pub fn shares_cores(&self, cores: u32) -> bool {
        self.most_ranks_on_a_node() > cores
    }

    /// Returns the first rank on `node`, if there is one. The search takes time linear in the number of ranks.
    #[must_use]
    pub fn first_rank(&self, node: u32) -> Option<u32> {
        (0..self.ranks()).find(|rank| self.node(*rank) == node)
    }
}

impl NodeSharing {
    fn of(nodes: &[u32]) -> Self {
        let in_use = nodes.iter().max().map_or(0, |last| *last as usize + 1);
        let mut ranks_on = vec![0; in_use];
        let mut cores = Vec::with_capacity(nodes.len());
        for node in nodes {
            cores.push(ranks_on[*node as usize]);
            ranks_on[*node as usize] += 1;
        }
        Self { cores, ranks_on }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay_out(placement: &Placement, ranks: u32) -> Vec<u32> {
        let mesh = Topology::Mesh2d { rows: 2, columns: 3 };
        let layout = placement.lay_out(mesh, ranks, Streams::new(1));
        (0..ranks).map(|rank| layout.node(rank)).collect()
    }

    #[test]
    fn ranks_form_as_square_a_mesh_as_they_fill() {
        let shapes = [1, 2, 3, 4, 8, 12, 32, 100, 127, 128].map(near_square);
        let square = [(1, 1), (1, 2), (1, 3), (2, 2), (2, 4), (3, 4), (4, 8), (10, 10), (1, 127), (8, 16)];
        assert_eq!(shapes, square);
    }

    #[test]
    fn every_rule_places_the_ranks_as_it_says() {
        assert_eq!(lay_out(&Placement::RowMajor, 5), [0, 1, 2, 3, 4]);
        assert_eq!(lay_out(&Placement::Snake, 5), [0, 1, 2, 5, 4]);
        assert_eq!(lay_out(&Placement::Explicit(vec![5, 0]), 2), [5, 0]);
        assert_eq!(lay_out(&Placement::Packed { ranks_per_node: 2 }, 5), [0, 0, 1, 1, 2]);
        assert_eq!(lay_out(&Placement::Apart { hops: 3 }, 2), [0, 5]);
        let mut random = lay_out(&Placement::Random, 6);
        assert_eq!(random, lay_out(&Placement::Random, 6));
        random.sort_unstable();
        assert_eq!(random, [0, 1, 2, 3, 4, 5]);
    }
}
