//! The graph of a network, its ports and its natural routes.
//!
//! *Vertices* are the nodes (with a processor), numbered `0..nodes()`, then the switches (routers without a processor),
//! `nodes()..vertices()`. Every vertex has numbered *ports*. A link joins a port of one vertex to a port of another and
//! carries packets in both directions. It therefore consists of two *channels*, each named by the port where it starts.
//!
//! A regular topology is computed from its parameters without tables: a mesh of 1024 × 1024 nodes takes as much memory
//! as one of 2 × 2. Only [`Topology::Graph`] has tables.
//!
//! The parameters are plain fields and may be impossible; [`Topology::faults`] then describes the faults in words. All
//! other methods require a topology without faults, and vertices and ports inside it.

mod binary_tree;
mod bisection;
mod complete;
mod concentrated;
mod cube_connected_cycles;
mod deadlock;
mod description;
mod dragonfly;
mod dragonfly_plus;
mod extended_fat_tree;
mod fat_tree;
mod flow;
mod global_links;
mod graph;
mod graph_links;
mod grid;
mod hyper_x;
mod hypercube;
mod layout;
mod load;
mod mesh;
mod metrics;
mod name;
mod parallel;
mod routes;
mod shape;
mod torus;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod published;
#[cfg(test)]
mod ten_sizes;

use std::ops::Range;

use binary_tree::BinaryTree;
use complete::Complete;
use concentrated::Concentrated;
use cube_connected_cycles::CubeConnectedCycles;
use dragonfly::Dragonfly;
use dragonfly_plus::DragonflyPlus;
use extended_fat_tree::ExtendedFatTree;
use fat_tree::FatTree;
use graph::Graph;
use hyper_x::HyperX;
use hypercube::Hypercube;
use parallel::Parallel;
use shape::{TopologyMetrics, TopologyShape, narrow};

pub use bisection::Bisection;
pub use description::Topology;
pub use global_links::Arrangement;
pub use graph_links::GraphLinks;
pub use load::{ChannelLoads, TrafficShare, uniform};
pub use metrics::Metrics;
pub use name::{NAMES, TopologyError};
pub use routes::Routes;
pub use shape::DeadlockAvoidance;

/// The largest number of vertices of any topology, 2³¹.
pub const MAX_VERTICES: u64 = 1 << 31;
/// The largest number of ports of a vertex, 2³¹, so that the channels of any topology can be counted in 64 bits.
const MAX_PORTS: u64 = 1 << 31;
/// The largest depth of nested topologies, because every level queries the next one several times.
const MAX_NESTING: u32 = 4;

/// Evaluates an expression on the shape of a topology, with static dispatch.
macro_rules! with_shape {
    ($topology:expr, $shape:ident => $value:expr) => {
        match $topology {
            Topology::Complete { nodes } => {
                let $shape = Complete { nodes: *nodes };
                $value
            }
            Topology::Line { nodes } => {
                let $shape = mesh::line(*nodes);
                $value
            }
            Topology::Ring { nodes } => {
                let $shape = torus::ring(*nodes);
                $value
            }
            Topology::Mesh2d { rows, columns } => {
                let $shape = mesh::plane(*rows, *columns);
                $value
            }
            Topology::Mesh3d { layers, rows, columns } => {
                let $shape = mesh::space(*layers, *rows, *columns);
                $value
            }
            Topology::Torus2d { rows, columns } => {
                let $shape = torus::plane(*rows, *columns);
                $value
            }
            Topology::Torus3d { layers, rows, columns } => {
                let $shape = torus::space(*layers, *rows, *columns);
                $value
            }
            Topology::Hypercube { dimension } => {
                let $shape = Hypercube { dimension: *dimension };
                $value
            }
            Topology::BinaryTree { levels } => {
                let $shape = BinaryTree { levels: *levels };
                $value
            }
            Topology::FatTree { arity, levels } => {
                let $shape = FatTree { arity: *arity, levels: *levels };
                $value
            }
            Topology::Mesh { sides } => {
                let $shape = mesh::of_sides(sides);
                $value
            }
            Topology::Torus { sides } => {
                let $shape = torus::of_sides(sides);
                $value
            }
            Topology::HyperX { sides } => {
                let $shape = HyperX { sides };
                $value
            }
            Topology::ExtendedFatTree { children, parents } => {
                let $shape = ExtendedFatTree { children, parents };
                $value
            }
            Topology::Dragonfly { groups, routers, nodes, globals, arrangement } => {
                let $shape = Dragonfly {
                    groups: *groups,
                    routers: *routers,
                    nodes: *nodes,
                    globals: *globals,
                    arrangement: *arrangement,
                };
                $value
            }
            Topology::DragonflyPlus { groups, leaves, spines, nodes, globals, arrangement } => {
                let $shape = DragonflyPlus {
                    groups: *groups,
                    leaves: *leaves,
                    spines: *spines,
                    nodes: *nodes,
                    globals: *globals,
                    arrangement: *arrangement,
                };
                $value
            }
            Topology::Concentrated { nodes, routers } => {
                let $shape = Concentrated { nodes: *nodes, routers };
                $value
            }
            Topology::Parallel { links, of } => {
                let $shape = Parallel { links: *links, of };
                $value
            }
            Topology::CubeConnectedCycles { dimension } => {
                let $shape = CubeConnectedCycles { dimension: *dimension };
                $value
            }
            Topology::Graph { nodes, switches, degree, links, classes } => {
                let $shape = Graph { nodes: *nodes, switches: *switches, degree: *degree, links, classes };
                $value
            }
        }
    };
}

impl Topology {
    /// Creates a graph of nodes only, without a limit on the links of a node.
    #[must_use]
    pub fn graph(nodes: u32, links: &[(u32, u32)]) -> Self {
        Self::Graph { nodes, switches: 0, degree: None, links: links.to_vec().into(), classes: Vec::new() }
    }

    /// Returns whether the links, or those between the routers, are those of a graph.
    pub(super) fn is_of_graph(&self) -> bool {
        match self {
            Self::Graph { .. } => true,
            Self::Parallel { of: whole, .. } | Self::Concentrated { routers: whole, .. } => whole.is_of_graph(),
            _ => false,
        }
    }

    /// Returns the number of nodes, which are the vertices with a processor.
    ///
    /// # Panics
    /// If the topology has more than 2^32 vertices, which is one of its [faults](Topology::faults).
    #[must_use]
    pub fn nodes(&self) -> u32 {
        narrow(with_shape!(self, shape => shape.count()).nodes)
    }

    /// Returns the number of vertices: nodes and switches.
    ///
    /// # Panics
    /// As [`Topology::nodes`].
    #[must_use]
    pub fn vertices(&self) -> u32 {
        narrow(with_shape!(self, shape => shape.count()).vertices())
    }

    /// Returns the number of vertices without a processor.
    ///
    /// # Panics
    /// As [`Topology::nodes`].
    #[must_use]
    pub fn switches(&self) -> u32 {
        self.vertices() - self.nodes()
    }

    /// Returns the largest number of ports of a vertex; all ports are numbered below it.
    #[must_use]
    pub fn ports(&self) -> u32 {
        with_shape!(self, shape => shape.ports())
    }

    /// Returns the vertex at the other end of the link at `port` of `vertex`, and the port there; `None` if the port
    /// has no link.
    #[must_use]
    pub fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        with_shape!(self, shape => shape.neighbour(vertex, port))
    }

    /// Returns the links at a vertex as (port, neighbour, port of the neighbour), by ascending port.
    pub fn links_at(&self, vertex: u32) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let joined = move |port| self.neighbour(vertex, port).map(|(to, there)| (port, to, there));
        (0..self.ports()).filter_map(joined)
    }

    /// Returns each link once, as a pair of (vertex, port), the smaller end first.
    pub fn links(&self) -> impl Iterator<Item = ((u32, u32), (u32, u32))> + '_ {
        let at = move |vertex| self.links_at(vertex).map(move |(port, to, there)| ((vertex, port), (to, there)));
        (0..self.vertices()).flat_map(at).filter(|(near, far)| near < far)
    }

    /// Returns the port by which a packet at vertex `at` leaves for node `to` on the natural, deterministic route of
    /// the topology, which is a shortest path except in dragonflies.
    ///
    /// - line, mesh: dimension order, columns first;
    /// - ring, torus: dimension order, in the shorter direction; in a tie, ascending from even coordinates and
    ///   descending from odd ones;
    /// - hypercube: e-cube, the lowest differing bit first;
    /// - binary tree: up to the common ancestor, then down;
    /// - `HyperX`: dimension order;
    /// - fat trees: up to a common ancestor, at every level by the digit of the destination that belongs to it (d mod
    ///   k), then down;
    /// - dragonflies: the minimal route, over at most one link between groups;
    /// - cube-connected cycles: across the cube wherever a bit differs, otherwise along the ring by the shortest tour
    ///   of the positions still to visit;
    /// - graph: a shortest path, by the lowest port.
    ///
    /// On lines, meshes, hypercubes and trees there is no channel dependency cycle; see [`Topology::dependency_cycle`]
    /// for the others.
    ///
    /// # Panics
    /// If the packet is already at its destination, or `to` is a switch of a regular topology.
    #[must_use]
    pub fn route(&self, at: u32, to: u32) -> u32 {
        assert!(at != to, "vertex {at} needs no route to itself");
        with_shape!(self, shape => shape.route(at, to))
    }

    /// Returns the port of [`Topology::route`] and the number of vertices, beginning with `at`, that the route is known
    /// to leave by that port.
    ///
    /// # Panics
    /// As [`Topology::route`].
    #[must_use]
    pub fn course(&self, at: u32, to: u32) -> (u32, u32) {
        assert!(at != to, "vertex {at} needs no route to itself");
        with_shape!(self, shape => shape.course(at, to))
    }

    /// Returns whether the route from `at` towards `to`, which leaves by `port`, crosses the dateline of its ring,
    /// which is between the highest and the lowest coordinate; `false` in a topology without rings.
    #[must_use]
    pub fn crosses_dateline(&self, at: u32, to: u32, port: u32) -> bool {
        with_shape!(self, shape => shape.crosses_dateline(at, to, port))
    }

    /// Returns a range of ports of `at` that includes those of all routes to `to` of the same length and kind as the
    /// natural one: both directions round a ring, all routes up a fat tree.
    #[must_use]
    pub fn tied_port_range(&self, at: u32, to: u32) -> Range<u32> {
        with_shape!(self, shape => shape.tied_port_range(at, to))
    }

    /// Returns the port of `at` that leads to `to` in the direction opposite to the natural route, if both directions
    /// round the ring are equally long.
    #[must_use]
    pub fn opposite_direction(&self, at: u32, to: u32) -> Option<u32> {
        with_shape!(self, shape => shape.opposite_direction(at, to))
    }

    /// Returns the cycles in which packets on natural routes could wait for each other.
    #[must_use]
    pub fn natural_waits(&self) -> DeadlockAvoidance {
        with_shape!(self, shape => shape.natural_waits())
    }

    /// Returns whether the link at `port` of `at` joins two groups of a dragonfly.
    #[must_use]
    pub fn is_global(&self, at: u32, port: u32) -> bool {
        with_shape!(self, shape => shape.is_global(at, port))
    }

    /// Returns the names of the link classes: `local` and `global` in a dragonfly, `level-1` and so on in a fat tree,
    /// `side-1` and so on in a grid with a list of sides, and the classes that a graph names; empty for other
    /// topologies. A link between a node and a switch has no class, except in a graph.
    #[must_use]
    pub fn link_classes(&self) -> Vec<String> {
        with_shape!(self, shape => shape.link_classes())
    }

    /// Returns the class of the link at `port` of `at`, as an index of [`Topology::link_classes`].
    #[must_use]
    pub fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        with_shape!(self, shape => shape.link_class(at, port))
    }

    /// Returns whether two ports of a vertex belong to the same ring, where there are rings.
    #[must_use]
    pub fn share_a_ring(&self, a: u32, b: u32) -> bool {
        with_shape!(self, shape => shape.share_a_ring(a, b))
    }

    /// Returns the number of nodes of a group of a dragonfly, which are numbered consecutively; `None` without groups.
    #[must_use]
    pub const fn group_nodes(&self) -> Option<u32> {
        match self {
            Self::Dragonfly { routers, nodes, .. } => Some(*routers * *nodes),
            Self::DragonflyPlus { leaves, nodes, .. } => Some(*leaves * *nodes),
            _ => None,
        }
    }

    /// Returns the sides of a grid, the slowest first; `None` for another topology.
    #[must_use]
    pub fn grid_sides(&self) -> Option<Vec<u32>> {
        match self {
            Self::Line { nodes } | Self::Ring { nodes } => Some(vec![*nodes]),
            Self::Mesh2d { rows, columns } | Self::Torus2d { rows, columns } => Some(vec![*rows, *columns]),
            Self::Mesh3d { layers, rows, columns } | Self::Torus3d { layers, rows, columns } => {
                Some(vec![*layers, *rows, *columns])
            }
            Self::Mesh { sides } | Self::Torus { sides } => Some(sides.clone()),
            _ => None,
        }
    }

    /// Returns whether a packet at `at` that was sent through node `via` may turn to its destination: `at` is that
    /// node, its router, or in its group of a dragonfly.
    #[must_use]
    pub fn passes(&self, at: u32, via: u32) -> bool {
        with_shape!(self, shape => shape.passes(at, via))
    }

    /// Returns the vertices from `from` to node `to` along [`Topology::route`], including both ends.
    ///
    /// # Panics
    /// If the route leads to a port without a link, because the topology has [faults](Topology::faults).
    pub fn path(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |&at: &u32| (at != to).then(|| self.step(at, to).2);
        std::iter::successors(Some(from), next)
    }

    /// Returns the number of links between two vertices along natural routes, which is the distance except in
    /// dragonflies.
    ///
    /// # Panics
    /// May panic if `a` or `b` is not a vertex, or if the topology has [faults](Topology::faults); the result is
    /// meaningless then if it does not.
    #[must_use]
    pub fn distance(&self, a: u32, b: u32) -> u32 {
        with_shape!(self, shape => shape.distance(a, b))
    }

    /// Returns the impossible parameters, with a sentence for each; empty if there are none.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        if self.nesting() > MAX_NESTING {
            return vec![format!("{} topologies are nested, at most {MAX_NESTING} may be", self.nesting())];
        }
        let mut faults = with_shape!(self, shape => shape.faults());
        if faults.is_empty() {
            faults.extend(self.excess());
        }
        faults
    }

    /// Returns the fault that there are too many vertices or ports, given that the parameters have no other faults;
    /// the inner topology of a nested one has been checked before.
    fn excess(&self) -> Option<String> {
        if with_shape!(self, shape => shape.count()).vertices() > MAX_VERTICES {
            return Some(format!("the topology has more than 2^31 = {MAX_VERTICES} vertices"));
        }
        let ports = with_shape!(self, shape => shape.wide_ports());
        (ports > MAX_PORTS).then(|| format!("a vertex has {ports} ports: at most 2^31 = {MAX_PORTS} can be numbered"))
    }

    /// Returns the depth of nested topologies, including this one.
    fn nesting(&self) -> u32 {
        match self {
            Self::Concentrated { routers: inner, .. } | Self::Parallel { of: inner, .. } => 1 + inner.nesting(),
            _ => 1,
        }
    }

    /// Returns a position in a drawing for every vertex: x to the right, y down, neighbours about one unit apart.
    #[must_use]
    pub fn layout(&self) -> Vec<(f64, f64)> {
        with_shape!(self, shape => shape.layout())
    }

    /// Returns the metrics by which topologies are compared.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::of(self)
    }

    /// Returns a cycle of channels (vertex, port), each of which may wait for the next one when every packet follows
    /// [`Topology::route`]. Returns `None` if there is none, in which case the routing cannot deadlock (Dally and Seitz
    /// 1987). Searches all pairs of nodes.
    #[must_use]
    pub fn dependency_cycle(&self) -> Option<Vec<(u32, u32)>> {
        deadlock::dependency_cycle(self)
    }

    fn step(&self, at: u32, to: u32) -> (u32, u32, u32) {
        let port = self.route(at, to);
        let (next, there) = self.neighbour(at, port).expect("a route follows links");
        (port, there, next)
    }

    fn closed_form_metrics(&self) -> TopologyMetrics {
        let figures = with_shape!(self, shape => shape.closed_form_metrics());
        let narrowed = |figures: TopologyMetrics| TopologyMetrics {
            bisection: bisection::narrowed(self, figures.bisection),
            ..figures
        };
        figures.map_or_else(|| metrics::measured(self), narrowed)
    }
}
