//! Interface of one kind of topology.

use super::bisection::Bisection;
use std::ops::Range;

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

/// Channels for which packets on natural routes wait while they hold others: the least that keeps them from waiting in a
/// circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaturalWaits {
    /// Nothing: the channels are taken in an order.
    InOrder,
    /// Nothing on any way without a turn: between two vertices there is but one.
    OneWay,
    /// Nothing on any shortest way: vertices are numbered from the nodes up, and a way rises and then falls.
    UpAndDown,
    /// Two classes on every ring.
    RoundRings,
    /// A class more with every global link of a dragonfly.
    BetweenGroups,
    /// A class more with every turn from a link to a vertex of a lower number to one of a higher number.
    Anyhow,
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
    /// Ports of `at` by which ways to `to` of natural length may lead.
    fn rivals(&self, at: u32, to: u32) -> Range<u32> {
        let port = self.route(at, to);
        port..port + 1
    }
    /// See [`Topology::other_way_round`](super::Topology::other_way_round).
    fn other_way_round(&self, _at: u32, _to: u32) -> Option<u32> {
        None
    }
    fn natural_waits(&self) -> NaturalWaits {
        NaturalWaits::InOrder
    }
    /// See [`Topology::is_global`](super::Topology::is_global).
    fn is_global(&self, _at: u32, _port: u32) -> bool {
        false
    }
    /// See [`Topology::link_classes`](super::Topology::link_classes).
    fn link_classes(&self) -> Vec<String> {
        Vec::new()
    }
    /// See [`Topology::link_class`](super::Topology::link_class).
    fn link_class(&self, _at: u32, _port: u32) -> Option<usize> {
        None
    }
    /// See [`Topology::share_a_ring`](super::Topology::share_a_ring).
    fn share_a_ring(&self, a: u32, b: u32) -> bool {
        a / 2 == b / 2
    }
    /// See [`Topology::passes`](super::Topology::passes).
    fn passes(&self, at: u32, via: u32) -> bool {
        at == via
    }
    /// See [`Topology::crosses_dateline`](super::Topology::crosses_dateline).
    fn crosses_dateline(&self, _at: u32, _to: u32, _port: u32) -> bool {
        false
    }
    fn faults(&self) -> Vec<String>;
    fn layout(&self) -> Vec<(f64, f64)>;
    /// The figures where a closed form is known.
    fn figures(&self) -> Option<TopologyMetrics>;
}

/// A number of vertices of a topology without faults.
pub(super) fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("a topology without faults has at most 2^31 vertices")
}

/// The names `kind-1`, `kind-2` and so on.
pub(super) fn numbered(kind: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{kind}-{number}")).collect()
}

/// The fault of a parameter that is below its least value.
pub(super) fn at_least(least: u32, name: &str, value: u32) -> Option<String> {
    (value < least).then(|| format!("`{name}` is {value}: it must be at least {least}"))
}
