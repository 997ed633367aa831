//! The metrics by which networks are compared.

use std::collections::VecDeque;

use serde::Serialize;

use super::Topology;
use super::bisection::{self, Bisection};
use super::flow::{arc_connectivity, node_connectivity};
use super::shape::TopologyMetrics;

/// The size, distances and cuts of a topology.
///
/// A *hop* is the entry into a router. In a direct network, where every node has a router, that is a link. With
/// switches, the last link of a path leads to a node without a router, so that a path has one hop less than links,
/// which is its number of switches. `execution-time-topologies-collectives` counts hops in this way in its comparison
/// of topologies with 64 nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Number of vertices with a processor.
    pub nodes: u32,
    /// Number of vertices without a processor.
    pub switches: u32,
    /// Number of links, which is the cost of the network.
    pub links: u64,
    /// Largest number of links at a vertex.
    pub degree: u32,
    /// Smallest number of links at a vertex.
    pub least_degree: u32,
    /// Number of hops between the two nodes that are farthest apart.
    pub diameter: u32,
    /// Number of links between the two nodes that are farthest apart.
    pub diameter_links: u32,
    /// Mean number of hops from a node to another.
    pub average_distance: f64,
    /// Mean number of hops from a node to any node, including itself (0 hops).
    pub average_distance_with_self: f64,
    /// Mean number of links from a node to another.
    pub average_links: f64,
    /// Smallest number of links whose loss disconnects the network.
    pub arc_connectivity: u32,
    /// Smallest number of vertices whose loss disconnects the network or leaves a single one.
    pub node_connectivity: u32,
    /// Number of links between the halves of the narrowest bisection.
    pub bisection_width: Bisection,
}

impl Metrics {
    pub(super) fn of(topology: &Topology) -> Self {
        let figures = topology.closed_form_metrics();
        let (nodes, switches) = (topology.nodes(), topology.switches());
        let pairs = u128::from(nodes) * u128::from(nodes - 1);
        let indirect = u32::from(switches > 0);
        let hops = figures.total_distance - pairs * u128::from(indirect);
        Self {
            nodes,
            switches,
            links: figures.links,
            degree: figures.degree,
            least_degree: figures.least_degree,
            diameter: figures.longest.saturating_sub(indirect),
            diameter_links: figures.longest,
            average_distance: ratio(hops, pairs),
            average_distance_with_self: ratio(hops, u128::from(nodes).pow(2)),
            average_links: ratio(figures.total_distance, pairs),
            arc_connectivity: figures.arc_connectivity,
            node_connectivity: figures.node_connectivity,
            bisection_width: figures.bisection,
        }
    }

    /// Returns the number of routers: the switches, or the nodes if there are none.
    #[must_use]
    pub fn routers(&self) -> u32 {
        if self.switches > 0 { self.switches } else { self.nodes }
    }

    /// Returns the width of a link if all routers together have `pins` pins, divided evenly over their ports, for a
    /// comparison of networks of equal cost.
    #[must_use]
    pub fn width_at_equal_pins(&self, pins: f64) -> f64 {
        pins / (f64::from(self.routers()) * f64::from(self.degree))
    }
}

/// Returns the mean; 0 over no pairs.
#[expect(clippy::cast_precision_loss, reason = "both are exact below 2^53 and a mean is rounded anyway")]
fn ratio(sum: u128, pairs: u128) -> f64 {
    if pairs == 0 { 0.0 } else { sum as f64 / pairs as f64 }
}

/// Returns the metrics of any topology, measured on its graph.
pub(super) fn measured(topology: &Topology) -> TopologyMetrics {
    let (longest, total_distance) = distances(topology);
    let (least_degree, degree) = degrees(topology);
    let arc_connectivity = arc_connectivity(topology);
    TopologyMetrics {
        links: topology.links().count() as u64,
        least_degree,
        degree,
        longest,
        total_distance,
        arc_connectivity,
        node_connectivity: node_connectivity(topology),
        bisection: bisection::measured(topology, arc_connectivity),
    }
}

/// Returns the smallest and the largest number of links of a vertex.
pub(super) fn degrees(topology: &Topology) -> (u32, u32) {
    let degrees = (0..topology.vertices()).map(|vertex| topology.links_at(vertex).count());
    let degrees = degrees.map(|degree| u32::try_from(degree).expect("ports are u32"));
    (degrees.clone().min().unwrap_or(0), degrees.max().unwrap_or(0))
}

/// Returns the longest distance between nodes, and the sum over all ordered pairs.
fn distances(topology: &Topology) -> (u32, u128) {
    let from = |node| topology.distances_from(node).into_iter().take(topology.nodes() as usize);
    let all = (0..topology.nodes()).flat_map(from);
    all.fold((0, 0), |(longest, total), distance| (longest.max(distance), total + u128::from(distance)))
}

impl Topology {
    /// Returns the number of links from one vertex to every vertex by breadth-first search: the reference for
    /// distances.
    pub(super) fn distances_from(&self, vertex: u32) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.vertices() as usize];
        distances[vertex as usize] = 0;
        let mut reached = VecDeque::from([vertex]);
        while let Some(at) = reached.pop_front() {
            for (_, next, _) in self.links_at(at) {
                if distances[next as usize] == u32::MAX {
                    distances[next as usize] = distances[at as usize] + 1;
                    reached.push_back(next);
                }
            }
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::laws::all_up_to;

    #[test]
    fn closed_forms_equal_the_graph() {
        for topology in all_up_to(40) {
            let mut measured = measured(&topology);
            let claimed = topology.closed_form_metrics();
            measured.bisection = claimed.bisection;
            assert_eq!(claimed, measured, "{topology:?}");
        }
    }

    #[test]
    fn larger_cube_connected_cycles_keep_their_closed_form() {
        for dimension in 3..8 {
            let topology = Topology::CubeConnectedCycles { dimension };
            let figures = topology.closed_form_metrics();
            assert_eq!(topology.distances_from(0).into_iter().max(), Some(figures.longest));
        }
    }
}
