//! The complete binary tree of processors; packets go up to the common ancestor and down again.

use super::bisection::Bisection;
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least};

const PARENT: u32 = 0;

pub(super) struct BinaryTree {
    pub(super) levels: u32,
}

impl BinaryTree {
    fn nodes(&self) -> u64 {
        2_u64.saturating_pow(self.levels).saturating_sub(1)
    }
}

impl TopologyShape for BinaryTree {
    fn count(&self) -> Count {
        Count::direct(self.nodes())
    }

    fn ports(&self) -> u32 {
        3
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        if port == PARENT {
            return (vertex > 0).then(|| (parent(vertex), port_below(vertex)));
        }
        let child = 2 * u64::from(vertex) + u64::from(port);
        (port < 3 && child < self.nodes()).then(|| (2 * vertex + port, PARENT))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        let below = depth(to).checked_sub(depth(at)).filter(|below| *below > 0);
        match below.map(|below| ancestor(to, below - 1)) {
            Some(child) if parent(child) == at => port_below(child),
            _ => PARENT,
        }
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::OneWay
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        let common = depth(a).min(depth(b));
        let (near, far) = (ancestor(a, depth(a) - common) + 1, ancestor(b, depth(b) - common) + 1);
        depth(a).abs_diff(depth(b)) + 2 * (u32::BITS - (near ^ far).leading_zeros())
    }

    fn faults(&self) -> Vec<String> {
        at_least(1, "levels", self.levels).into_iter().collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let place = |node: u32| {
            let width = f64::from(1_u32 << (self.levels - 1 - depth(node)));
            let index = f64::from(node + 1 - (1 << depth(node)));
            (width * (index + 0.5), f64::from(depth(node)))
        };
        (0..(1_u32 << self.levels) - 1).map(place).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = u128::from(self.nodes());
        let crossing = |depth: u32| {
            let below = (1_u128 << (self.levels - depth)) - 1;
            (1_u128 << depth) * 2 * below * (nodes - below)
        };
        let joined = u32::from(self.levels > 1);
        Some(TopologyMetrics {
            links: self.nodes() - 1,
            least_degree: joined,
            degree: [0, 2, 3][self.levels.min(3) as usize - 1],
            longest: 2 * (self.levels - 1),
            total_distance: (1..self.levels).map(crossing).sum(),
            arc_connectivity: joined,
            node_connectivity: joined,
            bisection: Bisection::Exact(joined.into()),
        })
    }
}

fn depth(node: u32) -> u32 {
    (node + 1).ilog2()
}

fn parent(node: u32) -> u32 {
    (node - 1) / 2
}

fn ancestor(node: u32, generations: u32) -> u32 {
    ((node + 1) >> generations) - 1
}

/// Returns the port of the parent whose link leads to `node`.
fn port_below(node: u32) -> u32 {
    2 - node % 2
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    #[test]
    fn routes_turn_at_the_common_ancestor() {
        let tree = Topology::BinaryTree { levels: 4 };
        assert_eq!(tree.path(7, 10).collect::<Vec<_>>(), [7, 3, 1, 4, 10]);
        assert_eq!(tree.path(0, 14).collect::<Vec<_>>(), [0, 2, 6, 14]);
        assert_eq!(tree.neighbour(2, 2), Some((6, 0)));
        assert_eq!(tree.neighbour(7, 1), None);
    }
}
