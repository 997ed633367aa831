//! Interface of one kind of topology.

use super::bisection::Bisection;

/// Vertices of a topology, wide enough to notice that there are too many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) nodes: u64,
    pub(super) switches: u64,
}

impl Count {
    pub(super) fn direct(nodes: u64) -> Self {
        Self { nodes, switches: 0 }
    }

    pub(super) fn vertices(self) -> u64 {
        self.nodes.saturating_add(self.switches)
    }
}

/// The figures of a topology, in closed form or measured on its graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TopologyMetrics {
    pub(super) links: u64,
    pub(super) least_degree: u32,
    pub(super) degree: u32,
    /// Links on the longest of the shortest paths between nodes.
    pub(super) longest: u32,
    /// Links on the shortest paths between all ordered pairs of nodes, together.
    pub(super) total_distance: u128,
    pub(super) arc_connectivity: u32,
    pub(super) node_connectivity: u32,
    pub(super) bisection: Bisection,
}

/// One kind of topology; see the methods of the same name of `Topology`.
pub(super) trait TopologyShape {
    fn count(&self) -> Count;
    fn ports(&self) -> u32;
    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)>;
    fn route(&self, at: u32, to: u32) -> u32;
    fn course(&self, at: u32, to: u32) -> (u32, u32) {
        (self.route(at, to), 1)
    }
    fn distance(&self, a: u32, b: u32) -> u32;
    /// See [`Topology::crosses_dateline`](super::Topology::crosses_dateline).
    fn crosses_dateline(&self, _at: u32, _to: u32, _port: u32) -> bool {
        false
    }
    fn faults(&self) -> Vec<String>;
    fn layout(&self) -> Vec<(f64, f64)>;
    /// The figures where a closed form is known.
    fn figures(&self) -> Option<TopologyMetrics>;
}

/// The fault of a parameter that is below its least value.
pub(super) fn at_least(least: u32, name: &str, value: u32) -> Option<String> {
    (value < least).then(|| format!("`{name}` is {value}: it must be at least {least}"))
}
