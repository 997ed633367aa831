//! The fully connected network: every node is one hop from every other.

use super::bisection::Bisection;
use super::layout::{circle, roomy_radius};
use super::shape::{Count, TopologyMetrics, TopologyShape, at_least};

pub(super) struct Complete {
    pub(super) nodes: u32,
}

impl TopologyShape for Complete {
    fn count(&self) -> Count {
        Count::direct(self.nodes.into())
    }

    fn ports(&self) -> u32 {
        self.nodes - 1
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        (port < self.ports()).then(|| {
            let to = port + u32::from(port >= vertex);
            (to, port_to(to, vertex))
        })
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        port_to(at, to)
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        u32::from(a != b)
    }

    fn faults(&self) -> Vec<String> {
        at_least(1, "nodes", self.nodes).into_iter().collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        circle(self.nodes, roomy_radius(self.nodes)).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = u64::from(self.nodes);
        let others = self.nodes - 1;
        Some(TopologyMetrics {
            links: nodes * (nodes - 1) / 2,
            least_degree: others,
            degree: others,
            longest: others.min(1),
            total_distance: u128::from(nodes) * u128::from(others),
            arc_connectivity: others,
            node_connectivity: others,
            bisection: Bisection::Exact((nodes / 2) * nodes.div_ceil(2)),
        })
    }
}

fn port_to(at: u32, to: u32) -> u32 {
    to - u32::from(to > at)
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    #[test]
    fn ports_skip_the_node_itself() {
        let complete = Topology::Complete { nodes: 4 };
        let at_two: Vec<_> = complete.links_at(2).collect();
        assert_eq!(at_two, [(0, 0, 1), (1, 1, 1), (2, 3, 2)]);
        assert_eq!(complete.neighbour(2, 3), None);
    }
}
