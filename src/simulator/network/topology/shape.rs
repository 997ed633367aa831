//! The interface of a kind of topology.

use super::bisection::Bisection;
use std::ops::Range;

/// The number of vertices of a topology, wide enough to detect too many.
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

/// The metrics of a topology, in closed form or measured on its graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TopologyMetrics {
    pub(super) links: u64,
    pub(super) least_degree: u32,
    pub(super) degree: u32,
    /// Length of the longest shortest path between nodes, in links.
    pub(super) longest: u32,
    /// Total length of the shortest paths between all ordered pairs of nodes, in links.
    pub(super) total_distance: u128,
    pub(super) arc_connectivity: u32,
    pub(super) node_connectivity: u32,
    pub(super) bisection: Bisection,
}

/// The channel dependencies of natural routes, as the least precaution that keeps packets from waiting in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlockAvoidance {
    /// No precaution: channels are taken in a fixed order.
    InOrder,
    /// No precaution on routes without a U-turn: there is only one between two vertices.
    OneWay,
    /// No precaution on shortest routes: vertices are numbered from the nodes up, and a route ascends and then
    /// descends.
    UpAndDown,
    /// Two classes on every ring.
    RoundRings,
    /// One more class with every global link of a dragonfly.
    BetweenGroups,
    /// One more class with every turn from a link to a lower-numbered vertex to a link to a higher-numbered one.
    Anyhow,
}

/// A kind of topology. The methods implement those of the same name of `Topology`.
pub(super) trait TopologyShape {
    fn count(&self) -> Count;
    fn ports(&self) -> u32;
    /// Returns the same as `ports`, wide enough to detect too many.
    fn wide_ports(&self) -> u64 {
        self.ports().into()
    }
    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)>;
    fn route(&self, at: u32, to: u32) -> u32;
    fn course(&self, at: u32, to: u32) -> (u32, u32) {
        (self.route(at, to), 1)
    }
    fn distance(&self, a: u32, b: u32) -> u32;
    /// Returns the ports of `at` by which routes of natural length may lead to `to`.
    fn tied_port_range(&self, at: u32, to: u32) -> Range<u32> {
        let port = self.route(at, to);
        port..port + 1
    }
    /// Implements [`Topology::opposite_direction`](super::Topology::opposite_direction).
    fn opposite_direction(&self, _at: u32, _to: u32) -> Option<u32> {
        None
    }
    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::InOrder
    }
    /// Implements [`Topology::is_global`](super::Topology::is_global).
    fn is_global(&self, _at: u32, _port: u32) -> bool {
        false
    }
    /// Implements [`Topology::link_classes`](super::Topology::link_classes).
    fn link_classes(&self) -> Vec<String> {
        Vec::new()
    }
    /// Implements [`Topology::link_class`](super::Topology::link_class).
    fn link_class(&self, _at: u32, _port: u32) -> Option<usize> {
        None
    }
    /// Implements [`Topology::share_a_ring`](super::Topology::share_a_ring).
    fn share_a_ring(&self, a: u32, b: u32) -> bool {
        a / 2 == b / 2
    }
    /// Implements [`Topology::passes`](super::Topology::passes).
    fn passes(&self, at: u32, via: u32) -> bool {
        at == via
    }
    /// Implements [`Topology::crosses_dateline`](super::Topology::crosses_dateline).
    fn crosses_dateline(&self, _at: u32, _to: u32, _port: u32) -> bool {
        false
    }
    fn faults(&self) -> Vec<String>;
    fn layout(&self) -> Vec<(f64, f64)>;
    /// Returns the metrics if a closed form is known.
    fn closed_form_metrics(&self) -> Option<TopologyMetrics>;
}

/// Converts the number of vertices of a topology without faults.
pub(super) fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("a topology without faults has at most 2^31 vertices")
}

/// Returns the names `kind-1`, `kind-2` and so on.
pub(super) fn numbered(kind: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{kind}-{number}")).collect()
}

/// Returns the fault of a parameter that is below its least value.
pub(super) fn at_least(least: u32, name: &str, value: u32) -> Option<String> {
    (value < least).then(|| format!("`{name}` is {value}: it must be at least {least}"))
}

/// Returns the `faults` of the topology in the field `parent` of another one, as seen from there: a fault may begin with
/// the path of its field.
pub(super) fn faults_within(parent: &str, faults: Vec<String>) -> impl Iterator<Item = String> {
    faults.into_iter().map(move |fault| match fault.strip_prefix('`') {
        Some(rest) => format!("`{parent}.{rest}"),
        None => fault,
    })
}
