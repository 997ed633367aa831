//! Placement of ranks on nodes.

use super::{folding, grid_blocks};
use crate::engine::Streams;
use crate::network::Topology;
use crate::node::Level;
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
    /// Shuffled with the scenario's seed, one rank on each node; `Shuffled` places several on a node.
    Random,
    /// Shuffled with the scenario's seed, with a fixed number of ranks on each node in use: the nodes are random ones of
    /// those of the part, and each has random ranks.
    Shuffled {
        /// The number of ranks on a node.
        ranks_per_node: u32,
    },
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
    /// Round robin over the groups of a level of the nodes, such as sockets: consecutive ranks are on different sockets of
    /// the same node, which has `ranks_per_node` of them (`--map-by socket` of Open MPI, `--distribution=block:cyclic` of
    /// Slurm). Over the nodes themselves, consecutive ranks are on different nodes (`--map-by node`, `cyclic`).
    Cyclic {
        /// The name of the level, which is one of [`Node::levels`](crate::node::Node::levels), or `node`.
        over: String,
        /// The number of ranks on a node.
        ranks_per_node: u32,
    },
    /// A block of a grid of ranks on each node, such as 2 × 4 ranks of 8 × 8, so that most neighbours in the grid share a
    /// node (`grid_order` of Cray MPICH, `MPI_Cart_create` with `reorder`). Ranks are counted row by row in the grid, and
    /// blocks are on nodes row by row in the grid of blocks.
    GridBlocks {
        /// The sides of the grid of ranks. Their product is the number of ranks.
        shape: Vec<u32>,
        /// The sides of a block, which divide those of the grid.
        block: Vec<u32>,
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
    /// The number of the rank's core on its node. Beyond the last core the ranks start again with the first core.
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
    /// For each rank, its core: the number of lower ranks on the same node, unless the placement says otherwise.
    cores: Vec<u32>,
    /// For each node up to the last one with a rank, the number of ranks on it. A machine may have many more nodes.
    ranks_on: Vec<u32>,
}

impl Placement {
    /// Returns the number of nodes that `ranks` ranks need, with as many ranks on each node as the rule places there.
    #[must_use]
    pub fn nodes_needed(&self, ranks: u32) -> u32 {
        match self {
            Self::Packed { ranks_per_node }
            | Self::Cyclic { ranks_per_node, .. }
            | Self::Shuffled { ranks_per_node } => ranks.div_ceil((*ranks_per_node).max(1)),
            Self::GridBlocks { block, .. } => {
                let ranks_per_node = u32::try_from(grid_blocks::ranks(block)).unwrap_or(u32::MAX);
                ranks.div_ceil(ranks_per_node.max(1))
            }
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
            Self::Shuffled { .. } => "Shuffled",
            Self::Explicit(_) => "Explicit",
            Self::Packed { .. } => "Packed",
            Self::Cyclic { .. } => "Cyclic",
            Self::GridBlocks { .. } => "GridBlocks",
            Self::Folded { .. } => "Folded",
            Self::Apart { .. } => "Apart",
        }
    }

    /// Returns `true` if the seed decides where ranks are.
    #[must_use]
    pub const fn is_random(&self) -> bool {
        matches!(self, Self::Random | Self::Shuffled { .. })
    }

    /// Returns the first node at distance `hops` from node 0.
    #[must_use]
    pub fn at_distance(topology: &Topology, hops: u32) -> Option<u32> {
        (0..topology.nodes()).find(|node| topology.distance(0, *node) == hops)
    }

    /// Places `ranks` ranks on `topology`, which has room for them and whose nodes have these levels.
    pub(super) fn lay_out(&self, topology: Topology, ranks: u32, (levels, streams): (&[Level], Streams)) -> Layout {
        if let Self::Cyclic { over, ranks_per_node } = self {
            return cyclic(topology, ranks, *ranks_per_node, CoreGroups::named(over, levels));
        }
        let nodes: Arc<[u32]> = match self {
            Self::RowMajor => (0..ranks).collect(),
            Self::Snake => (0..ranks).map(|rank| snake(&topology, rank)).collect(),
            Self::Random => shuffled(topology.nodes(), (ranks, 1), streams).into(),
            Self::Shuffled { ranks_per_node } => shuffled(topology.nodes(), (ranks, *ranks_per_node), streams).into(),
            Self::Explicit(nodes) => nodes.as_slice().into(),
            Self::Packed { ranks_per_node } | Self::Cyclic { ranks_per_node, .. } => {
                (0..ranks).map(|rank| rank / ranks_per_node).collect()
            }
            Self::GridBlocks { shape, block } => {
                (0..ranks).map(|rank| grid_blocks::block_of(shape, block, rank)).collect()
            }
            Self::Folded { shape } => {
                let sides = topology.grid_sides().unwrap_or_default();
                let groups = folding::groups(&sides, shape).unwrap_or_default();
                (0..ranks).map(|rank| folding::node(&groups, rank)).collect()
            }
            Self::Apart { hops } => Arc::new([0, Self::at_distance(&topology, *hops).unwrap_or(0)]),
        };
        Layout::new(topology, nodes, None)
    }
}

/// The groups of the cores of a node over which consecutive ranks are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CoreGroups {
    /// The number of groups of a node.
    count: u32,
    /// The number of cores of a group.
    cores: u32,
    /// `true` if a group is a whole node by its name. A node may also have a single socket.
    is_node: bool,
}

impl CoreGroups {
    /// Returns the groups of the level with this name; `None` if there is no such level. Unless a level has the name
    /// `node`, it stands for whole nodes.
    pub fn named(name: &str, levels: &[Level]) -> Option<Self> {
        let sizes: Vec<u64> = Level::sizes(levels).collect();
        let all = sizes.last().copied().unwrap_or(1);
        let place = levels.iter().position(|level| level.name == name);
        let cores = place.map(|place| sizes[place]).or_else(|| (name == Self::OF_NODES).then_some(all))?;
        let is_node = place.is_none_or(|place| place + 1 == levels.len());
        Some(Self { count: u32::try_from(all / cores.max(1)).ok()?, cores: u32::try_from(cores).ok()?, is_node })
    }

    /// The name that stands for whole nodes.
    pub const OF_NODES: &str = "node";
}

/// Places ranks round robin over groups of cores, or over nodes if a group is a whole node.
fn cyclic(topology: Topology, ranks: u32, ranks_per_node: u32, groups: Option<CoreGroups>) -> Layout {
    let CoreGroups { count, cores, is_node } = groups.unwrap_or(CoreGroups { count: 1, cores: 1, is_node: true });
    if is_node {
        let nodes = ranks.div_ceil(ranks_per_node);
        return Layout::new(topology, (0..ranks).map(|rank| rank % nodes).collect(), None);
    }
    let core = |rank: u32| {
        let place = rank % ranks_per_node;
        place % count * cores + place / count
    };
    let nodes = (0..ranks).map(|rank| rank / ranks_per_node).collect();
    Layout::new(topology, nodes, Some((0..ranks).map(core).collect()))
}

fn snake(topology: &Topology, rank: u32) -> u32 {
    let (Topology::Mesh2d { columns, .. } | Topology::Torus2d { columns, .. }) = topology else {
        return rank;
    };
    let (row, column) = (rank / columns, rank % columns);
    let column = if row % 2 == 1 { columns - 1 - column } else { column };
    row * columns + column
}

/// Returns the node of each rank: random nodes, with `ranks_per_node` random ranks on each, the last one fewer.
fn shuffled(nodes: u32, (ranks, ranks_per_node): (u32, u32), streams: Streams) -> Vec<u32> {
    let mut rng = streams.stream("placement", 0);
    let mut order: Vec<u32> = (0..nodes).collect();
    order.shuffle(&mut rng);
    if ranks_per_node > 1 {
        order = (0..ranks).map(|rank| order[(rank / ranks_per_node) as usize]).collect();
        order.shuffle(&mut rng);
    }
    order.truncate(ranks as usize);
    order
}

impl Layout {
    /// Creates the layout of ranks on these nodes and cores. Without a list of cores, the ranks of a node take its cores
    /// in order.
    fn new(topology: Topology, nodes: Arc<[u32]>, cores: Option<Vec<u32>>) -> Self {
        let is_in_order = (0..).zip(nodes.iter()).all(|(rank, node)| rank == *node);
        let sharing = (!is_in_order).then(|| {
            let in_order = NodeSharing::of(&nodes);
            cores.map_or_else(|| in_order.clone(), |cores| NodeSharing { cores, ..in_order.clone() })
        });
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

    /// Returns the location of `rank`. The ranks of a node take its cores in order, unless they are placed
    /// [round robin](Placement::Cyclic) over groups of them.
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
        let layout = placement.lay_out(mesh, ranks, (&[], Streams::new(1)));
        (0..ranks).map(|rank| layout.node(rank)).collect()
    }

    /// Two sockets of four cores: the ranks of a node are on either in turn.
    #[test]
    fn consecutive_ranks_are_on_different_sockets() {
        let level = |name: &str, members| Level { name: name.to_owned(), members, memory: None, interface: None };
        let levels = [level("socket", 4), level("board", 2)];
        let placed = |over: &str, ranks_per_node| -> Vec<(u32, u32)> {
            let placement = Placement::Cyclic { over: over.to_owned(), ranks_per_node };
            let nodes = Topology::Complete { nodes: 3 };
            let layout = placement.lay_out(nodes, 7, (&levels, Streams::new(1)));
            let location = |rank| layout.location(rank);
            (0..7).map(|rank| (location(rank).node, location(rank).core)).collect()
        };
        assert_eq!(placed("socket", 4), [(0, 0), (0, 4), (0, 1), (0, 5), (1, 0), (1, 4), (1, 1)]);
        for whole in ["board", "node"] {
            assert_eq!(placed(whole, 4), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3)]);
        }
        assert_eq!(CoreGroups::named("sockets", &levels), None);
        assert_eq!(CoreGroups::named("node", &[]), Some(CoreGroups { count: 1, cores: 1, is_node: true }));
        let levels = [level("socket", 4), level("node", 1)];
        let placement = Placement::Cyclic { over: "socket".to_owned(), ranks_per_node: 4 };
        let layout = placement.lay_out(Topology::Complete { nodes: 2 }, 6, (&levels, Streams::new(1)));
        assert_eq!((0..6).map(|rank| layout.node(rank)).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1]);
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
        let blocks = Placement::GridBlocks { shape: vec![2, 4], block: vec![2, 2] };
        assert_eq!(lay_out(&blocks, 8), [0, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(blocks.nodes_needed(8), 2);
        let cyclic = Placement::Cyclic { over: "node".to_owned(), ranks_per_node: 2 };
        assert_eq!(lay_out(&cyclic, 5), [0, 1, 2, 0, 1]);
        assert_eq!(lay_out(&Placement::Apart { hops: 3 }, 2), [0, 5]);
        let shuffled = Placement::Shuffled { ranks_per_node: 4 };
        let layout = shuffled.lay_out(Topology::Complete { nodes: 8 }, 12, (&[], Streams::new(1)));
        assert_eq!((layout.occupied(), layout.most_ranks_on_a_node(), shuffled.nodes_needed(13)), (3, 4, 4));
        assert!((1..12).any(|rank| layout.node(rank - 1) != layout.node(rank) && rank % 4 != 0), "ranks are shuffled");
        let mut random = lay_out(&Placement::Random, 6);
        assert_eq!(random, lay_out(&Placement::Random, 6));
        random.sort_unstable();
        assert_eq!(random, [0, 1, 2, 3, 4, 5]);
    }
}
