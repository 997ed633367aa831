//! The hypercube: one dimension per bit of the node's number, e-cube routing.

use super::bisection::Bisection;
use super::layout::corner;
use super::shape::{Count, TopologyMetrics, TopologyShape};

pub(super) struct Hypercube {
    pub(super) dimension: u32,
}

impl TopologyShape for Hypercube {
    fn count(&self) -> Count {
        Count::direct(2_u64.saturating_pow(self.dimension))
    }

    fn ports(&self) -> u32 {
        self.dimension
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        (port < self.dimension).then(|| (vertex ^ (1 << port), port))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        (at ^ to).trailing_zeros()
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        (a ^ b).count_ones()
    }

    fn faults(&self) -> Vec<String> {
        Vec::new()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        (0..1 << self.dimension).map(corner).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = 1_u64 << self.dimension;
        let links = u64::from(self.dimension) * nodes / 2;
        Some(TopologyMetrics {
            links,
            least_degree: self.dimension,
            degree: self.dimension,
            longest: self.dimension,
            total_distance: u128::from(nodes) * u128::from(links),
            arc_connectivity: self.dimension,
            node_connectivity: self.dimension,
            bisection: Bisection::Exact(nodes / 2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    #[test]
    fn the_lowest_differing_bit_goes_first() {
        let cube = Topology::Hypercube { dimension: 3 };
        assert_eq!(cube.path(0, 0b110).collect::<Vec<_>>(), [0, 0b010, 0b110]);
        assert_eq!(cube.neighbour(0b101, 1), Some((0b111, 1)));
    }
}
