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
    /// Every node has a link to every other: port `q` of node `v` leads to the `q`-th of the others.
    Complete {
        /// Number of nodes.
        nodes: u32,
    },
    /// An open chain; port 0 leads to the next node, port 1 to the one before.
    Line {
        /// Number of nodes.
        nodes: u32,
    },
    /// A closed chain, ports as in a line. Two nodes share one link, not two.
    Ring {
        /// Number of nodes.
        nodes: u32,
    },
    /// An open grid; node = row · columns + column. Port 0 leads to the next column (east), 1 to
    /// the one before (west), 2 to the next row (south), 3 to the one before (north).
    Mesh2d {
        /// Number of rows, the outer index.
        rows: u32,
        /// Number of columns, the inner index.
        columns: u32,
    },
    /// An open grid in space; node = (layer · rows + row) · columns + column. Ports 0 to 3 as in
    /// two dimensions, 4 leads to the next layer, 5 to the one before.
    Mesh3d {
        /// Number of layers, the outermost index.
        layers: u32,
        /// Number of rows.
        rows: u32,
        /// Number of columns, the innermost index.
        columns: u32,
    },
    /// A grid whose rows and columns are rings, numbered as the mesh. A side of 2 has one link
    /// between its two nodes, not two.
    Torus2d {
        /// Number of rows, the outer index.
        rows: u32,
        /// Number of columns, the inner index.
        columns: u32,
    },
    /// A grid in space whose lines are rings, numbered as the mesh.
    Torus3d {
        /// Number of layers, the outermost index.
        layers: u32,
        /// Number of rows.
        rows: u32,
        /// Number of columns, the innermost index.
        columns: u32,
    },
    /// An open grid of any number of dimensions, numbered as those above: the last coordinate varies fastest and owns
    /// ports 0 (rising) and 1, the one before it 2 and 3, and so on.
    Mesh {
        /// The lengths, the outermost first: `[layers, rows, columns]` in space.
        sides: Vec<u32>,
    },
    /// A grid of any number of dimensions whose lines are rings, numbered as the mesh. A side of 2 has one link between
    /// its two nodes.
    Torus {
        /// The lengths, the outermost first.
        sides: Vec<u32>,
    },
    /// A grid whose lines are cliques: any node of a line is one hop away. Numbered as the mesh; port q of a line leads to
    /// the q-th of the others.
    HyperX {
        /// The lengths, the outermost first.
        sides: Vec<u32>,
    },
    /// 2^dimension nodes; port `i` leads to the node whose number differs in bit `i`.
    Hypercube {
        /// Number of dimensions.
        dimension: u32,
    },
    /// A complete binary tree with a processor at every vertex, root 0, children of `v` at 2v + 1
    /// and 2v + 2. Port 0 leads to the parent, 1 and 2 to the children.
    BinaryTree {
        /// Number of levels: 2^levels − 1 nodes.
        levels: u32,
    },
    /// The k-ary n-tree: arity^levels nodes below levels · arity^(levels − 1) switches.
    FatTree {
        /// Number of ports of a switch towards the nodes, and as many towards the roots.
        arity: u32,
        /// Number of levels of switches.
        levels: u32,
    },
    /// An extended generalized fat tree, XGFT(h; m; w): every level of switches has its own numbers of ports.
    /// `ExtendedFatTree(children: [16, 16], parents: [1, 8])` is a tree of 256 nodes whose upper links are tapered 2 : 1.
    /// Ports lead down first, then up.
    ExtendedFatTree {
        /// m: the children of a switch, the lowest level first.
        children: Vec<u32>,
        /// w: the parents of a node, then of a switch of every level but the highest.
        parents: Vec<u32>,
    },
    /// Groups of routers, all joined to each other in a group, and at least one link between any two groups. The
    /// natural way is the minimal one, over at most one link between groups.
    Dragonfly {
        /// Number of groups.
        groups: u32,
        /// Routers of a group.
        routers: u32,
        /// Nodes at a router.
        nodes: u32,
        /// Links of a router to other groups.
        globals: u32,
        /// Their order; Absolute unless given.
        #[serde(default)]
        arrangement: Arrangement,
    },
    /// Groups of leaf routers with nodes and spine routers with links to other groups; in a group every leaf is joined
    /// to every spine (Megafly).
    DragonflyPlus {
        /// Number of groups.
        groups: u32,
        /// Leaf routers of a group.
        leaves: u32,
        /// Spine routers of a group.
        spines: u32,
        /// Nodes at a leaf.
        nodes: u32,
        /// Links of a spine to other groups.
        globals: u32,
        /// Their order; Absolute unless given.
        #[serde(default)]
        arrangement: Arrangement,
    },
    /// Groups of nodes behind the routers of another topology, such as `Concentrated(nodes: 4, routers: Mesh2d(rows: 8,
    /// columns: 8))`. The nodes come first, then the routers.
    Concentrated {
        /// Nodes at a router.
        nodes: u32,
        /// The topology whose nodes are the routers.
        routers: Box<Topology>,
    },
    /// Several links in place of each of another topology: planes, or trunks. Packets for one node take the same of them;
    /// `EvenTies` and `MinimalAdaptive` choose freely.
    Parallel {
        /// Links in place of one.
        links: u32,
        /// The other topology.
        of: Box<Topology>,
    },
    /// A hypercube with a ring of `dimension` nodes at every corner; node = corner · dimension +
    /// position. Ports 0 and 1 lead to the next position and the one before, port 2 to the corner
    /// that differs in bit `position`.
    CubeConnectedCycles {
        /// Dimension of the cube and length of the rings, at least 3.
        dimension: u32,
    },
    /// Any connected graph, as written. Ports are numbered, at either end, in the order in which
    /// the links are listed.
    Graph {
        /// Number of nodes.
        nodes: u32,
        /// Number of switches, numbered after the nodes.
        #[serde(default)]
        switches: u32,
        /// The largest number of links at a vertex, where there is one (4 for a transputer).
        #[serde(default)]
        degree: Option<u32>,
        /// The links, as pairs of vertices: `[(0, 1), (1, 2)]`.
        links: GraphLinks,
        /// By link, the name of its class, which `link_classes` describes; `""` for none. In a scenario `GraphFile("links.txt")`
        /// stands for a graph: a file with a line such as `3 7` or `3 7 optical` for each link; in `GraphFile("links.txt",
        /// "vertices.txt")` the vertices have names: those of the second file, a line each, nodes as `node3`, switches as
        /// `leaf1 switch`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        classes: Vec<String>,
    },
}
