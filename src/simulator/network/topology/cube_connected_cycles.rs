//! Cube-connected cycles: a hypercube whose corners are rings, so that every node needs only three ports.
//!
//! A packet must visit every ring position whose bit differs. A shortest path is therefore a shortest tour of the ring
//! from the packet's position to that of the destination that visits these positions. (Preparata and Vuillemin 1981.)

use super::bisection::Bisection;
use super::layout::{circle, corner};
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least};
use std::ops::Range;

const NEXT: u32 = 0;
const PREVIOUS: u32 = 1;
const ACROSS: u32 = 2;

pub(super) struct CubeConnectedCycles {
    pub(super) dimension: u32,
}

impl CubeConnectedCycles {
    fn corner(&self, node: u32) -> u32 {
        node / self.dimension
    }

    fn position(&self, node: u32) -> u32 {
        node % self.dimension
    }

    fn next(&self, position: u32) -> u32 {
        (position + 1) % self.dimension
    }

    fn previous(&self, position: u32) -> u32 {
        (position + self.dimension - 1) % self.dimension
    }

    fn ahead(&self, from: u32, to: u32) -> u32 {
        (to + self.dimension - from) % self.dimension
    }

    /// Returns the number of steps along the ring from `from` to `to` that visit all positions in the set `visit`.
    ///
    /// A tour either leaves one link of the ring unused, so that it walks on a line, or uses all links.
    fn tour(&self, from: u32, to: u32, visit: u32) -> u32 {
        let stops = visit | 1 << from | 1 << to;
        let round = self.dimension + self.ahead(from, to).min(self.ahead(to, from));
        let unused = 0..self.dimension;
        unused.map(|start| self.tour_of_line(start, stops, from, to)).min().unwrap_or(0).min(round)
    }

    /// Returns the steps of a tour that does not use the link into `start` from the position before it.
    fn tour_of_line(&self, start: u32, stops: u32, from: u32, to: u32) -> u32 {
        let line = self.turned(stops, start);
        let span = line.ilog2() - line.trailing_zeros();
        2 * span - self.ahead(start, from).abs_diff(self.ahead(start, to))
    }

    /// Returns the set with positions counted from `start`.
    fn turned(&self, set: u32, start: u32) -> u32 {
        (set >> start | set << (self.dimension - start)) & ((1 << self.dimension) - 1)
    }
}

impl TopologyShape for CubeConnectedCycles {
    fn count(&self) -> Count {
        Count::direct(2_u64.saturating_pow(self.dimension).saturating_mul(self.dimension.into()))
    }

    fn ports(&self) -> u32 {
        3
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let (corner, position) = (self.corner(vertex), self.position(vertex));
        let ring = corner * self.dimension;
        match port {
            NEXT => Some((ring + self.next(position), PREVIOUS)),
            PREVIOUS => Some((ring + self.previous(position), NEXT)),
            ACROSS => Some(((corner ^ (1 << position)) * self.dimension + position, ACROSS)),
            _ => None,
        }
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        let (position, end) = (self.position(at), self.position(to));
        let bits = self.corner(at) ^ self.corner(to);
        if bits >> position & 1 == 1 {
            return ACROSS;
        }
        let remaining = self.tour(position, end, bits);
        let rises = self.tour(self.next(position), end, bits) < remaining;
        if rises { NEXT } else { PREVIOUS }
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        let bits = self.corner(a) ^ self.corner(b);
        bits.count_ones() + self.tour(self.position(a), self.position(b), bits)
    }

    fn tied_port_range(&self, _at: u32, _to: u32) -> Range<u32> {
        0..self.ports()
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::Anyhow
    }

    fn faults(&self) -> Vec<String> {
        at_least(3, "dimension", self.dimension).into_iter().collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let ring = |number: u32| {
            let (x, y) = corner(number);
            circle(self.dimension, 0.6).map(move |(dx, dy)| (4.0 * x + dx, 4.0 * y + dy))
        };
        (0..1 << self.dimension).flat_map(ring).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = self.dimension << self.dimension;
        let from_one: u128 = (0..nodes).map(|node| u128::from(self.distance(0, node))).sum();
        Some(TopologyMetrics {
            links: u64::from(nodes) * 3 / 2,
            least_degree: 3,
            degree: 3,
            longest: if self.dimension == 3 { 6 } else { 2 * self.dimension + self.dimension / 2 - 2 },
            total_distance: u128::from(nodes) * from_one,
            arc_connectivity: 3,
            node_connectivity: 3,
            bisection: Bisection::Exact(1 << (self.dimension - 1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    const CYCLES: Topology = Topology::CubeConnectedCycles { dimension: 3 };

    #[test]
    fn a_bit_is_mended_where_it_stands() {
        assert_eq!(CYCLES.path(0, 3 * 0b101).collect::<Vec<_>>(), [0, 3, 5, 17, 15]);
        assert_eq!(CYCLES.neighbour(5, 2), Some((17, 2)));
        assert_eq!(CYCLES.neighbour(5, 0), Some((3, 1)));
    }
}
