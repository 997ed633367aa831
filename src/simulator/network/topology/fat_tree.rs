//! The k-ary n-tree: levels of switches with equal numbers of links up and down.
//!
//! A switch is a level `l`, which is 0 next to the nodes, and a word of n − 1 digits in base k. Its up port `k + u`
//! leads to the switch of level l + 1 with digit `l` set to `u`; its down port `j` leads to the switch of level l − 1
//! with digit l − 1 set to `j`, or from level 0 to node k · word + j. A switch is therefore above the nodes whose
//! higher digits are those of its word, and every route up from a node to that level is a shortest one. (Petrini and
//! Vanneschi, k-ary n-trees, 1997.)

use super::bisection::Bisection;
use super::layout::tree_on_circles;
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least, numbered};
use std::ops::Range;

pub(super) struct FatTree {
    pub(super) arity: u32,
    pub(super) levels: u32,
}

/// A vertex, as its height (0 for a node, l + 1 for a switch of level l) and its digits. Digit 0 of a switch is free:
/// it matches any digit.
#[derive(Clone, Copy)]
struct TreeVertex {
    height: u32,
    word: u32,
}

impl FatTree {
    fn nodes(&self) -> u32 {
        self.arity.pow(self.levels)
    }

    fn width(&self) -> u32 {
        self.arity.pow(self.levels - 1)
    }

    /// Returns the level and word of a switch.
    fn switch(&self, vertex: u32) -> Option<(u32, u32)> {
        let index = vertex.checked_sub(self.nodes())?;
        Some((index / self.width(), index % self.width()))
    }

    fn vertex(&self, level: u32, word: u32) -> u32 {
        self.nodes() + level * self.width() + word
    }

    fn digit(&self, word: u32, index: u32) -> u32 {
        word / self.arity.pow(index) % self.arity
    }

    fn with_digit(&self, word: u32, index: u32, digit: u32) -> u32 {
        let unit = self.arity.pow(index);
        word - self.digit(word, index) * unit + digit * unit
    }

    fn above(&self, level: u32, word: u32, digit: u32) -> Option<(u32, u32)> {
        let higher = level + 1 < self.levels;
        higher.then(|| (self.vertex(level + 1, self.with_digit(word, level, digit)), self.digit(word, level)))
    }

    fn below(&self, level: u32, word: u32, digit: u32) -> (u32, u32) {
        match level.checked_sub(1) {
            None => (word * self.arity + digit, 0),
            Some(lower) => {
                let port = self.arity + self.digit(word, lower);
                (self.vertex(lower, self.with_digit(word, lower, digit)), port)
            }
        }
    }

    fn place(&self, vertex: u32) -> TreeVertex {
        match self.switch(vertex) {
            None => TreeVertex { height: 0, word: vertex },
            Some((level, word)) => TreeVertex { height: level + 1, word: word * self.arity },
        }
    }

    /// Returns whether a digit of two vertices differs; the free digit of a switch never does.
    fn differs(&self, a: TreeVertex, b: TreeVertex, index: u32) -> bool {
        let free = index == 0 && (a.height > 0 || b.height > 0);
        !free && self.digit(a.word, index) != self.digit(b.word, index)
    }
}

impl TopologyShape for FatTree {
    fn count(&self) -> Count {
        let arity = u64::from(self.arity);
        let width = arity.saturating_pow(self.levels.saturating_sub(1));
        Count { nodes: arity.saturating_pow(self.levels), switches: width.saturating_mul(self.levels.into()) }
    }

    fn ports(&self) -> u32 {
        2 * self.arity
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        match self.switch(vertex) {
            None => (port == 0).then(|| (self.vertex(0, vertex / self.arity), vertex % self.arity)),
            Some((level, word)) if port < self.arity => Some(self.below(level, word, port)),
            Some((level, word)) if port < self.ports() => self.above(level, word, port - self.arity),
            Some(_) => None,
        }
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        assert!(to < self.nodes(), "vertex {to} is a switch: packets go to nodes");
        let Some((level, word)) = self.switch(at) else {
            return 0;
        };
        let (digit, scope) = (self.digit(to, level), self.arity.pow(level));
        if word / scope == to / scope / self.arity { digit } else { self.arity + digit }
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::UpAndDown
    }

    /// Returns the length of a walk over the heights that passes the links at which all differing digits can change.
    fn distance(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.place(a), self.place(b));
        let different = (0..self.levels).filter(|index| self.differs(a, b, *index));
        let (low, high) = (a.height.min(b.height), a.height.max(b.height));
        let reach = |(low, high): (u32, u32), index: u32| (low.min(index), high.max(index + 1));
        let (bottom, top) = different.fold((low, high), reach);
        2 * (top - bottom) - (high - low)
    }

    fn tied_port_range(&self, _at: u32, _to: u32) -> Range<u32> {
        0..self.ports()
    }

    fn link_classes(&self) -> Vec<String> {
        numbered("level", self.levels as usize - 1)
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        let (level, _) = self.switch(at)?;
        let upper = if port < self.arity { level } else { level + 1 };
        let class = upper.checked_sub(1).filter(|class| class + 1 < self.levels)?;
        Some(class as usize)
    }

    fn faults(&self) -> Vec<String> {
        let faults = [at_least(2, "arity", self.arity), at_least(1, "levels", self.levels)];
        faults.into_iter().flatten().collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let (nodes, width) = (self.nodes(), self.width());
        if let Some(places) = tree_on_circles(nodes, &vec![width; self.levels as usize]) {
            return places;
        }
        let below = (0..nodes).map(|node| (f64::from(node), f64::from(self.levels)));
        let middle = f64::from(self.arity - 1) / 2.0;
        let row = |level: u32| {
            let y = f64::from(self.levels - 1 - level);
            (0..width).map(move |word| (f64::from(word * self.arity) + middle, y))
        };
        below.chain((0..self.levels).flat_map(row)).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let (nodes, arity) = (u128::from(self.nodes()), u128::from(self.arity));
        let at_height = |height: u32| (arity.pow(height) - arity.pow(height - 1)) * 2 * u128::from(height);
        Some(TopologyMetrics {
            links: u64::from(self.nodes()) * u64::from(self.levels),
            least_degree: 1,
            degree: if self.levels == 1 { self.arity } else { 2 * self.arity },
            longest: 2 * self.levels,
            total_distance: nodes * (1..=self.levels).map(at_height).sum::<u128>(),
            arc_connectivity: 1,
            node_connectivity: 1,
            bisection: Bisection::Exact(u64::from(self.nodes()) / 2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    const TREE: Topology = Topology::FatTree { arity: 2, levels: 3 };

    #[test]
    fn eight_nodes_have_twelve_switches() {
        assert_eq!((TREE.nodes(), TREE.switches(), TREE.links().count()), (8, 12, 24));
        assert_eq!(TREE.neighbour(5, 0), Some((10, 1)));
        assert_eq!(TREE.neighbour(10, 3), Some((15, 0)));
        assert_eq!(TREE.neighbour(16, 2), None);
    }

    #[test]
    fn routes_rise_no_higher_than_they_must() {
        assert_eq!(TREE.path(0, 1).collect::<Vec<_>>(), [0, 8, 1]);
        assert_eq!(TREE.path(0, 7).collect::<Vec<_>>(), [0, 8, 13, 19, 15, 11, 7]);
        assert_eq!(TREE.distance(0, 7), 6);
    }

    /// A row of 256 nodes would be a strip that nobody can read.
    #[test]
    fn a_large_tree_is_drawn_on_circles() {
        for (arity, levels, most) in [(16, 2, 24.0), (2, 8, 80.0), (256, 1, 52.0)] {
            let places = Topology::FatTree { arity, levels }.layout();
            let extent = |axis: fn(&(f64, f64)) -> f64| {
                let values = || places.iter().map(axis);
                values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
            };
            let (wide, high) = (extent(|place| place.0), extent(|place| place.1));
            assert!(wide < most && wide < 1.1 * high && high < 1.1 * wide, "{arity}-ary: {wide} × {high}");
        }
    }

    #[test]
    fn a_shift_of_all_nodes_shares_no_channel() {
        for shift in 1..8 {
            let traffic = (0..8).map(|node| (node, (node + shift) % 8, 1.0));
            let loads = super::super::ChannelLoads::along_routes(&TREE, traffic);
            assert!((loads.max() - 1.0).abs() < 1e-12, "shift {shift}: {}", loads.max());
        }
    }
}
