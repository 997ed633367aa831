//! Topologies as a scenario describes them.

use super::global_links::Arrangement;
use super::graph_links::GraphLinks;
use serde::{Deserialize, Serialize};

/// The graph of a network.
///
/// ```
/// use parsim_sim::network::topology::Topology;
///
/// let mesh = Topology::from_name("mesh2d", 64).expect("64 is a square");
/// assert_eq!(mesh, Topology::Mesh2d { rows: 8, columns: 8 });
/// assert_eq!(mesh.neighbour(0, 0), Some((1, 1)), "east of the corner, arriving from the west");
/// assert_eq!(mesh.route(0, 63), 0, "columns first");
/// assert_eq!(mesh.distance(0, 63), 14);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Topology {
    /// A complete graph: every node has a link to every other. Port `q` of node `v` leads to the `q`-th of the other
    /// nodes.
    Complete {
        /// Number of nodes.
        nodes: u32,
    },
    /// An open chain. Port 0 leads to the next node, port 1 to the previous one.
    Line {
        /// Number of nodes.
        nodes: u32,
    },
    /// A closed chain with the ports of a line. Two nodes share one link, not two.
    Ring {
        /// Number of nodes.
        nodes: u32,
    },
    /// An open grid with node = row · columns + column. Port 0 leads to the next column (east), 1 to the previous one
    /// (west), 2 to the next row (south), 3 to the previous one (north).
    Mesh2d {
        /// Number of rows, the outer index.
        rows: u32,
        /// Number of columns, the inner index.
        columns: u32,
    },
    /// An open grid in space with node = (layer · rows + row) · columns + column. Ports 0 to 3 are as in two
    /// dimensions; 4 leads to the next layer, 5 to the previous one.
    Mesh3d {
        /// Number of layers, the outermost index.
        layers: u32,
        /// Number of rows.
        rows: u32,
        /// Number of columns, the innermost index.
        columns: u32,
    },
    /// A grid whose rows and columns are rings, numbered like the mesh. A side of 2 has one link between its two nodes,
    /// not two.
    Torus2d {
        /// Number of rows, the outer index.
        rows: u32,
        /// Number of columns, the inner index.
        columns: u32,
    },
    /// A grid in space whose lines are rings, numbered like the mesh.
    Torus3d {
        /// Number of layers, the outermost index.
        layers: u32,
        /// Number of rows.
        rows: u32,
        /// Number of columns, the innermost index.
        columns: u32,
    },
    /// An open grid of any number of dimensions, numbered like `Mesh2d` and `Mesh3d`: the last coordinate varies
    /// fastest and has ports 0 (ascending) and 1 (descending), the one before it has 2 and 3, and so on.
    Mesh {
        /// The lengths of the sides, the outermost first: `[layers, rows, columns]` in space.
        sides: Vec<u32>,
    },
    /// A grid of any number of dimensions whose lines are rings, numbered like the mesh. A side of 2 has one link
    /// between its two nodes.
    Torus {
        /// The lengths of the sides, the outermost first.
        sides: Vec<u32>,
    },
    /// A grid whose lines are complete graphs: every node of a line is one hop from every other. It is numbered like
    /// the mesh; port q of a line leads to the q-th of the other nodes.
    HyperX {
        /// The lengths of the sides, the outermost first.
        sides: Vec<u32>,
    },
    /// A hypercube of 2^dimension nodes. Port `i` leads to the node whose number differs in bit `i`.
    Hypercube {
        /// Number of dimensions.
        dimension: u32,
    },
    /// A complete binary tree with a processor at every vertex. The root is 0, and the children of `v` are 2v + 1 and
    /// 2v + 2. Port 0 leads to the parent, 1 and 2 to the children.
    BinaryTree {
        /// Number of levels: 2^levels − 1 nodes.
        levels: u32,
    },
    /// The k-ary n-tree: arity^levels nodes below levels · arity^(levels − 1) switches.
    FatTree {
        /// Number of ports of a switch towards the nodes, and also towards the roots.
        arity: u32,
        /// Number of levels of switches.
        levels: u32,
    },
    /// An extended generalized fat tree, XGFT(h; m; w): the numbers of ports of the switches are given level by level.
    /// `ExtendedFatTree(children: [16, 16], parents: [1, 8])` is a tree of 256 nodes whose upper links are tapered by
    /// 2 : 1. Ports lead down first, then up.
    ExtendedFatTree {
        /// m: the number of children of a switch, by level, the lowest first.
        children: Vec<u32>,
        /// w: the number of parents of a node, then of a switch of every level except the highest.
        parents: Vec<u32>,
    },
    /// Groups of routers that are fully connected within a group, with at least one link between any two groups. The
    /// natural route is the minimal one, over at most one link between groups.
    Dragonfly {
        /// Number of groups.
        groups: u32,
        /// Number of routers of a group.
        routers: u32,
        /// Number of nodes at a router.
        nodes: u32,
        /// Number of links of a router to other groups.
        globals: u32,
        /// The order of the links between groups; Absolute by default.
        #[serde(default)]
        arrangement: Arrangement,
    },
    /// Groups of leaf routers with nodes and spine routers with links to other groups; within a group every leaf is
    /// joined to every spine (Megafly).
    DragonflyPlus {
        /// Number of groups.
        groups: u32,
        /// Number of leaf routers of a group.
        leaves: u32,
        /// Number of spine routers of a group.
        spines: u32,
        /// Number of nodes at a leaf.
        nodes: u32,
        /// Number of links of a spine to other groups.
        globals: u32,
        /// The order of the links between groups; Absolute by default.
        #[serde(default)]
        arrangement: Arrangement,
    },
    /// Groups of nodes at the routers of another topology, for example `Concentrated(nodes: 4, routers: Mesh2d(rows: 8,
    /// columns: 8))`. Vertices are numbered nodes first, then routers.
    Concentrated {
        /// Number of nodes at a router.
        nodes: u32,
        /// The topology whose nodes are the routers.
        routers: Box<Topology>,
    },
    /// Several parallel links for each link of another topology: planes, or trunks. All packets for one node take the
    /// same of the parallel links; `EvenTies` and `MinimalAdaptive` choose freely.
    Parallel {
        /// Number of parallel links for each link.
        links: u32,
        /// The topology whose links are multiplied.
        of: Box<Topology>,
    },
    /// A hypercube with a ring of `dimension` nodes at every corner; node = corner · dimension + position. Ports 0 and
    /// 1 lead to the next and the previous position, port 2 to the corner that differs in bit `position`.
    CubeConnectedCycles {
        /// Dimension of the cube and length of the rings, at least 3.
        dimension: u32,
    },
    /// Any connected graph, given by its links. The ports of a vertex are numbered in the order in which its links are
    /// listed.
    Graph {
        /// Number of nodes.
        nodes: u32,
        /// Number of switches, numbered after the nodes.
        #[serde(default)]
        switches: u32,
        /// The largest number of links at a vertex, if limited (4 for a transputer).
        #[serde(default)]
        degree: Option<u32>,
        /// The links, as pairs of vertices: `[(0, 1), (1, 2)]`.
        links: GraphLinks,
        /// The name of the class of each link, which `link_classes` describes; `""` for none. In a scenario a graph may
        /// be read from a file, `GraphFile("links.txt")`, with a line such as `3 7` or `3 7 optical` for each link.
        /// With `GraphFile("links.txt", "vertices.txt")`, vertices have names, which the second file lists one per
        /// line: nodes as `node3`, switches as `leaf1 switch`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        classes: Vec<String>,
    },
}
