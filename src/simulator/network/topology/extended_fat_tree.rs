//! Extended generalized fat trees, in which every level has its own numbers of children and parents.
//!
//! The nodes of XGFT(h; m; w) are level 0; a vertex of level i has `m_i` children and `w_(i + 1)` parents (Öhring,
//! Ibel, Das and Kumar, On generalized fat trees, IPPS 1995). Let M be the product of the numbers of children up to a
//! level, and W that of the numbers of parents. A vertex is a pair: the number of the subtree of M nodes below it, and
//! its number among the W vertices above that subtree. Its up port u leads to the parent whose second number is its own
//! plus u W; a down port selects the subtree of the child.

use super::bisection::Bisection;
use super::layout::tree_on_circles;
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, numbered};
use std::ops::Range;

pub(super) struct ExtendedFatTree<'a> {
    pub(super) children: &'a [u32],
    pub(super) parents: &'a [u32],
}

/// A vertex, as its level, the subtree below it, and its number above that subtree.
#[derive(Clone, Copy)]
struct TreePlace {
    level: usize,
    subtree: u32,
    number: u32,
}

impl ExtendedFatTree<'_> {
    fn levels(&self) -> usize {
        self.children.len()
    }

    /// Returns M of a level: the number of nodes of a subtree.
    fn below(&self, level: usize) -> u32 {
        self.children[..level].iter().product()
    }

    /// Returns W of a level: the number of vertices above a subtree.
    fn above(&self, level: usize) -> u32 {
        self.parents[..level].iter().product()
    }

    /// Returns the positions of all vertices, each level in a row.
    fn rows(&self) -> Vec<(f64, f64)> {
        let widest = (0..=self.levels()).map(|level| self.subtrees(level) * self.above(level)).max().unwrap_or(1);
        let row = |level: usize| {
            let count = self.subtrees(level) * self.above(level);
            let gap = f64::from(widest) / f64::from(count);
            #[expect(clippy::cast_precision_loss, reason = "a number of levels")]
            let height = 2.0 * (self.levels() - level) as f64;
            (0..count).map(move |index| ((f64::from(index) + 0.5) * gap, height))
        };
        (0..=self.levels()).flat_map(row).collect()
    }

    fn subtrees(&self, level: usize) -> u32 {
        self.children[level..].iter().product()
    }

    fn at_level(&self, level: usize) -> u64 {
        let product = |numbers: &[u32]| numbers.iter().fold(1_u64, |all, number| all.saturating_mul((*number).into()));
        product(&self.children[level..]).saturating_mul(product(&self.parents[..level.min(self.parents.len())]))
    }

    fn first(&self, level: usize) -> u32 {
        (0..level).map(|level| self.subtrees(level) * self.above(level)).sum()
    }

    fn place(&self, vertex: u32) -> TreePlace {
        let mut rest = vertex;
        for level in 0.. {
            let count = self.subtrees(level) * self.above(level);
            if rest < count {
                let above = self.above(level);
                return TreePlace { level, subtree: rest / above, number: rest % above };
            }
            rest -= count;
        }
        unreachable!("a vertex lies at one of the levels")
    }

    fn vertex(&self, place: TreePlace) -> u32 {
        self.first(place.level) + place.subtree * self.above(place.level) + place.number
    }

    fn down_ports(&self, level: usize) -> u32 {
        level.checked_sub(1).map_or(0, |below| self.children[below])
    }

    fn up_ports(&self, level: usize) -> u32 {
        self.parents.get(level).copied().unwrap_or(0)
    }

    fn up(&self, place: TreePlace, port: u32) -> (u32, u32) {
        let TreePlace { level, subtree, number } = place;
        let children = self.children[level];
        let parent =
            TreePlace { level: level + 1, subtree: subtree / children, number: number + port * self.above(level) };
        (self.vertex(parent), subtree % children)
    }

    fn down(&self, place: TreePlace, port: u32) -> (u32, u32) {
        let TreePlace { level, subtree, number } = place;
        let (below, above) = (level - 1, self.above(level - 1));
        let child = TreePlace { level: below, subtree: subtree * self.children[below] + port, number: number % above };
        (self.vertex(child), self.down_ports(below) + number / above)
    }

    /// Returns the digit that changes between a height and the one below: of the subtree above the level, of the number
    /// below it.
    fn digit(&self, place: TreePlace, height: usize) -> u32 {
        if height > place.level {
            place.subtree / (self.below(height - 1) / self.below(place.level)) % self.children[height - 1]
        } else {
            place.number / self.above(height - 1) % self.parents[height - 1]
        }
    }

    /// Returns the highest level at which subtrees differ.
    fn heights(&self) -> usize {
        self.children.iter().rposition(|children| *children > 1).map_or(0, |level| level + 1)
    }

    /// Returns the bisection. All nodes of one half can send at the rate that the narrowest level leaves to each,
    /// evenly over all routes, to the nodes of the other half, so that no cut is narrower. If a level has an even
    /// number of children, halving every subtree of that level cuts the links that the level can carry.
    fn bisection(&self) -> Bisection {
        let nodes = u64::from(self.below(self.levels()));
        let carried = |level: &usize| {
            let (links, nodes_below) = (u64::from(self.above(level + 1)), u64::from(self.below(*level)));
            (nodes / 2 * links, nodes_below)
        };
        let levels = 0..self.levels();
        let narrowest = levels.clone().map(|level| carried(&level)).map(|(links, below)| links.div_ceil(below)).min();
        let even = levels.filter(|level| self.children[*level].is_multiple_of(2));
        let cut = even.map(|level| carried(&level)).map(|(links, below)| links / below).min();
        let of_nodes = nodes / 2 * u64::from(self.parents[0]);
        Bisection::between(narrowest.unwrap_or(0), cut.unwrap_or(of_nodes).min(of_nodes))
    }
}

impl TopologyShape for ExtendedFatTree<'_> {
    fn count(&self) -> Count {
        let switches = (1..=self.levels()).map(|level| self.at_level(level));
        Count { nodes: self.at_level(0), switches: switches.fold(0, u64::saturating_add) }
    }

    fn ports(&self) -> u32 {
        (0..=self.levels()).map(|level| self.down_ports(level) + self.up_ports(level)).max().unwrap_or(0)
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let place = self.place(vertex);
        let down = self.down_ports(place.level);
        if port < down {
            return Some(self.down(place, port));
        }
        (port - down < self.up_ports(place.level)).then(|| self.up(place, port - down))
    }

    /// Routes up to the first vertex above the destination, then down. At every level, the up port is selected by the
    /// number of the destination among the subtrees one level below, modulo the number of parents (d mod k). If nodes
    /// have several parents, the number is first divided by their number at higher levels; otherwise all nodes below
    /// one rail would select the same port.
    fn route(&self, at: u32, to: u32) -> u32 {
        let place = self.place(at);
        let TreePlace { level, subtree, .. } = place;
        assert!(to < self.below(self.levels()), "vertex {to} is a switch: packets go to nodes");
        if level > 0 && subtree == to / self.below(level) {
            return to / self.below(level - 1) % self.children[level - 1];
        }
        let rails = if level > 0 { self.parents[0] } else { 1 };
        let spread = to / self.below(level.saturating_sub(1)) / rails;
        self.down_ports(level) + spread % self.parents[level]
    }

    fn tied_port_range(&self, at: u32, to: u32) -> Range<u32> {
        let TreePlace { level, subtree, .. } = self.place(at);
        let is_above = subtree == to / self.below(level);
        let (down, up) = (self.down_ports(level), self.up_ports(level));
        if is_above { 0..down } else { down..down + up }
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::UpAndDown
    }

    /// Returns the length of a walk over the heights that passes every link at which a differing digit can change.
    fn distance(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.place(a), self.place(b));
        let (low, high) = (a.level.min(b.level), a.level.max(b.level));
        let apart = (1..=self.levels()).filter(|height| !(low + 1..=high).contains(height));
        let different = apart.filter(|height| self.digit(a, *height) != self.digit(b, *height));
        let reach = |(bottom, top): (usize, usize), height: usize| (bottom.min(height - 1), top.max(height));
        let (bottom, top) = different.fold((low, high), reach);
        u32::try_from(2 * (top - bottom) - (high - low)).expect("at most 31 levels have several children")
    }

    fn link_classes(&self) -> Vec<String> {
        numbered("level", self.levels() - 1)
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        let TreePlace { level, .. } = self.place(at);
        let lower = if port < self.down_ports(level) { level.checked_sub(1)? } else { level };
        lower.checked_sub(1).filter(|class| class + 1 < self.levels())
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.children.is_empty() {
            faults.push("`children` is empty: give a number for every level of switches, the lowest first".to_owned());
        } else if self.parents.len() != self.children.len() {
            let (children, parents) = (self.children.len(), self.parents.len());
            faults
                .push(format!("`parents` has {parents} numbers and `children` {children}: give both for every level"));
        }
        for (name, numbers) in [("children", self.children), ("parents", self.parents)] {
            if numbers.contains(&0) {
                faults.push(format!("`{name}` has a 0: every number must be at least 1"));
            }
        }
        faults
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let switches: Vec<u32> = (1..=self.levels()).map(|level| self.subtrees(level) * self.above(level)).collect();
        // A node with several leaf switches is around none of them.
        let circles = (self.parents[0] == 1).then(|| tree_on_circles(self.subtrees(0), &switches)).flatten();
        circles.unwrap_or_else(|| self.rows())
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = self.below(self.levels());
        let levels = 0..=self.levels();
        let degree = |level: usize| self.down_ports(level) + self.up_ports(level);
        let least_degree = levels.clone().map(degree).min().unwrap_or(0);
        let pairs = |height: usize| {
            u128::from(nodes) * u128::from(self.below(height) - self.below(height - 1)) * 2 * height as u128
        };
        Some(TopologyMetrics {
            links: (0..self.levels()).map(|level| self.at_level(level) * u64::from(self.parents[level])).sum(),
            least_degree,
            degree: levels.map(degree).max().unwrap_or(0),
            longest: u32::try_from(2 * self.heights()).expect("at most 31 levels have several children"),
            total_distance: (1..=self.levels()).map(pairs).sum(),
            arc_connectivity: least_degree,
            node_connectivity: least_degree,
            bisection: self.bisection(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bisection, ChannelLoads, Topology, uniform};

    fn tree(children: &[u32], parents: &[u32]) -> Topology {
        Topology::ExtendedFatTree { children: children.to_vec(), parents: parents.to_vec() }
    }

    #[test]
    fn equal_levels_are_a_k_ary_tree() {
        let (extended, plain) = (tree(&[3, 3, 3], &[1, 3, 3]), Topology::FatTree { arity: 3, levels: 3 });
        assert_eq!((extended.metrics().nodes, extended.switches()), (27, 27));
        assert_eq!(extended.closed_form_metrics().total_distance, plain.closed_form_metrics().total_distance);
        for shift in 1..27 {
            let traffic = (0..27).map(|node| (node, (node + shift) % 27, 1.0));
            assert!((ChannelLoads::along_routes(&extended, traffic).max() - 1.0).abs() < 1e-12, "shift {shift}");
        }
    }

    /// Nodes with two parents: the traffic that one parent receives continues evenly.
    #[test]
    fn rails_do_not_narrow_the_ways_above_them() {
        // The busiest links are those above the lowest switches, and those to nodes, which receive all messages by one
        // link.
        for (children, parents, even) in [([4, 4, 4], [2, 2, 2], 1.5), ([4, 4, 4], [2, 4, 4], 63.0 / 64.0)] {
            let tree = tree(&children, &parents);
            let load = ChannelLoads::along_routes(&tree, uniform(tree.nodes())).max();
            assert!((load - even).abs() < 1e-9, "{tree}: {load}");
        }
    }

    #[test]
    fn a_taper_narrows_the_bisection() {
        assert_eq!(tree(&[8, 8], &[1, 8]).metrics().bisection_width, Bisection::Exact(32));
        assert_eq!(tree(&[8, 8], &[1, 4]).metrics().bisection_width, Bisection::Exact(16));
        assert_eq!(tree(&[4, 4, 8], &[1, 2, 2]).metrics().bisection_width, Bisection::Exact(16));
    }

    #[test]
    fn ways_go_no_higher_than_they_must() {
        let tapered = tree(&[4, 4], &[1, 2]);
        assert_eq!(tapered.path(0, 3).collect::<Vec<_>>(), [0, 16, 3]);
        assert_eq!(tapered.path(0, 6).collect::<Vec<_>>(), [0, 16, 20, 17, 6]);
        assert_eq!(tapered.path(0, 5).collect::<Vec<_>>(), [0, 16, 21, 17, 5]);
    }
}
