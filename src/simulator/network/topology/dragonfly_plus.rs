//! Dragonfly+: groups of leaf routers, which have the nodes, and spine routers, which have the links between groups.
//! Within a group, every leaf is joined to every spine (Shpiner et al., Dragonfly+: low cost topology for scaling
//! datacenters, `HiPINEB` 2017). Also known as Megafly.
//!
//! The natural route is the minimal one: over at most one link between groups.

use super::bisection::{Bisection, crossing_bound};
use super::global_links::{Arrangement, GlobalLinks, global_links_fault};
use super::layout::{circle, roomy_radius};
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least};

/// The shape of `Topology::DragonflyPlus`. Nodes are numbered first, then, group by group, the leaves and the spines.
/// The ports of a leaf lead to the spines, then to its nodes; those of a spine to the leaves, then to other groups.
#[derive(Clone, Copy)]
pub(super) struct DragonflyPlus {
    pub(super) groups: u32,
    pub(super) leaves: u32,
    pub(super) spines: u32,
    pub(super) nodes: u32,
    pub(super) globals: u32,
    pub(super) arrangement: Arrangement,
}

/// A vertex, as its group and its number among those of its kind in the group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    Node { group: u32, leaf: u32 },
    Leaf { group: u32, leaf: u32 },
    Spine { group: u32, spine: u32 },
}

impl Member {
    const fn group(self) -> u32 {
        match self {
            Self::Node { group, .. } | Self::Leaf { group, .. } | Self::Spine { group, .. } => group,
        }
    }

    /// Returns the number of links from a node to its leaf; 0 for a router.
    const fn below(self) -> u32 {
        matches!(self, Self::Node { .. }) as u32
    }
}

impl DragonflyPlus {
    fn links(&self) -> GlobalLinks {
        GlobalLinks { groups: self.groups, per_group: self.spines * self.globals, arrangement: self.arrangement }
    }

    fn all_nodes(&self) -> u32 {
        self.groups * self.leaves * self.nodes
    }

    fn routers(&self) -> u32 {
        self.leaves + self.spines
    }

    fn leaf(&self, group: u32, leaf: u32) -> u32 {
        self.all_nodes() + group * self.routers() + leaf
    }

    fn spine(&self, group: u32, spine: u32) -> u32 {
        self.leaf(group, self.leaves + spine)
    }

    fn member(&self, vertex: u32) -> Member {
        let Some(router) = vertex.checked_sub(self.all_nodes()) else {
            let leaf = vertex / self.nodes;
            return Member::Node { group: leaf / self.leaves, leaf: leaf % self.leaves };
        };
        let (group, number) = (router / self.routers(), router % self.routers());
        match number.checked_sub(self.leaves) {
            None => Member::Leaf { group, leaf: number },
            Some(spine) => Member::Spine { group, spine },
        }
    }

    /// Returns the spines of `from` that are joined to `to`, and their ports.
    fn joints(&self, from: u32, to: u32) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        let links = self.links();
        let joint = move |round| links.toward(from, to, round);
        (0..links.between_two()).map(joint).map(|index| (index / self.globals, self.leaves + index % self.globals))
    }

    /// Returns the port by which a spine sends packets to another group: a global link if it has one, otherwise down to
    /// a leaf.
    fn across(&self, spine: u32, from: u32, to: u32, spread: u32) -> u32 {
        let own = || self.joints(from, to).filter(|(owner, _)| *owner == spine);
        match own().count() {
            0 => spread % self.leaves,
            count => own().nth(spread as usize % count).expect("a remainder of their count is the place of a link").1,
        }
    }

    /// Returns the number of links from a spine to the leaf of a node of group `to`.
    fn links_of_spine(&self, spine: u32, group: u32, to: u32) -> u32 {
        if group == to {
            1
        } else if self.joints(group, to).any(|(owner, _)| owner == spine) {
            2
        } else {
            4
        }
    }
}

impl TopologyShape for DragonflyPlus {
    fn count(&self) -> Count {
        let leaves = u64::from(self.groups).saturating_mul(self.leaves.into());
        let spines = u64::from(self.groups).saturating_mul(self.spines.into());
        Count { nodes: leaves.saturating_mul(self.nodes.into()), switches: leaves.saturating_add(spines) }
    }

    fn ports(&self) -> u32 {
        (self.spines + self.nodes).max(self.leaves + self.globals)
    }

    fn wide_ports(&self) -> u64 {
        let sum = |a: u32, b: u32| u64::from(a) + u64::from(b);
        sum(self.spines, self.nodes).max(sum(self.leaves, self.globals))
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        match self.member(vertex) {
            Member::Node { group, leaf } => {
                (port == 0).then(|| (self.leaf(group, leaf), self.spines + vertex % self.nodes))
            }
            Member::Leaf { group, leaf } if port < self.spines => Some((self.spine(group, port), leaf)),
            Member::Leaf { group, leaf } => {
                let node = port - self.spines;
                (node < self.nodes).then(|| ((group * self.leaves + leaf) * self.nodes + node, 0))
            }
            Member::Spine { group, spine } if port < self.leaves => Some((self.leaf(group, port), spine)),
            Member::Spine { group, spine } => {
                let global = port - self.leaves;
                let index = (global < self.globals).then_some(spine * self.globals + global)?;
                let (there, far) = self.links().far(group, index)?;
                Some((self.spine(there, far / self.globals), self.leaves + far % self.globals))
            }
        }
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        assert!(to < self.all_nodes(), "vertex {to} is a switch: packets go to nodes");
        let Member::Node { group: to_group, leaf: to_leaf } = self.member(to) else { unreachable!("nodes come first") };
        match self.member(at) {
            Member::Node { .. } => 0,
            Member::Leaf { group, leaf } if (group, leaf) == (to_group, to_leaf) => self.spines + to % self.nodes,
            Member::Leaf { group, .. } if group == to_group => to % self.spines,
            Member::Leaf { group, .. } => {
                let joints = self.joints(group, to_group);
                let count = joints.clone().count();
                joints.map(|(spine, _)| spine).nth(to as usize % count).expect("groups are joined")
            }
            Member::Spine { group, .. } if group == to_group => to_leaf,
            Member::Spine { group, spine } => self.across(spine, group, to_group, to),
        }
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        if a == b {
            return 0;
        }
        let (from, to) = (self.member(a), self.member(b));
        let routers = match (from, to) {
            (Member::Spine { group, spine }, Member::Spine { group: other, spine: far }) if group == other => {
                2 * u32::from(spine != far)
            }
            (Member::Spine { group, spine }, Member::Spine { group: other, spine: far }) => {
                let links = self.links();
                let joint = |round| {
                    let ends = [links.toward(group, other, round), links.toward(other, group, round)];
                    let [near, there] = ends.map(|index| index / self.globals);
                    1 + 2 * (u32::from(near != spine) + u32::from(there != far))
                };
                (0..links.between_two()).map(joint).min().expect("groups are joined")
            }
            (Member::Spine { group, spine }, other) | (other, Member::Spine { group, spine }) => {
                self.links_of_spine(spine, group, other.group())
            }
            (Member::Node { group, leaf } | Member::Leaf { group, leaf }, other) => match other {
                Member::Node { group: there, leaf: far } | Member::Leaf { group: there, leaf: far } => {
                    if (group, leaf) == (there, far) { 0 } else { 2 + u32::from(group != there) }
                }
                Member::Spine { .. } => unreachable!("handled above"),
            },
        };
        from.below() + routers + to.below()
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::BetweenGroups
    }

    fn is_global(&self, at: u32, port: u32) -> bool {
        port >= self.leaves && matches!(self.member(at), Member::Spine { .. })
    }

    fn passes(&self, at: u32, via: u32) -> bool {
        self.member(at).group() == self.member(via).group()
    }

    fn link_classes(&self) -> Vec<String> {
        ["local", "global"].map(str::to_owned).into()
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        match self.member(at) {
            Member::Node { .. } => None,
            Member::Leaf { .. } => (port < self.spines).then_some(0),
            Member::Spine { .. } => Some(usize::from(port >= self.leaves)),
        }
    }

    fn faults(&self) -> Vec<String> {
        let numbers =
            [("groups", self.groups), ("leaves", self.leaves), ("spines", self.spines), ("nodes", self.nodes)];
        let few: Vec<String> = numbers.into_iter().filter_map(|(name, value)| at_least(1, name, value)).collect();
        if few.is_empty() {
            global_links_fault(self.groups, self.spines, self.globals).into_iter().collect()
        } else {
            few
        }
    }

    /// Draws the groups on a circle; in each the spines are innermost, then the leaves, then the nodes.
    fn layout(&self) -> Vec<(f64, f64)> {
        let of_leaves = self.leaves * self.nodes;
        let radius = roomy_radius(of_leaves.max(2 * self.spines)).max(1.0) + 1.0;
        let outer = if self.groups > 1 { 2.5 * (radius + 1.0) * roomy_radius(self.groups) } else { 0.0 };
        let centres: Vec<(f64, f64)> = circle(self.groups, outer).collect();
        let ring = |count: u32, radius: f64| -> Vec<(f64, f64)> { circle(count, radius).collect() };
        let (nodes, leaves, spines) =
            (ring(of_leaves, radius + 1.0), ring(self.leaves, radius), ring(self.spines, radius / 2.0));
        let around = |centre: &(f64, f64), spokes: &[(f64, f64)]| -> Vec<(f64, f64)> {
            spokes.iter().map(|(x, y)| (centre.0 + x, centre.1 + y)).collect()
        };
        let below = centres.iter().flat_map(|centre| around(centre, &nodes));
        let routers = centres.iter().flat_map(|centre| [around(centre, &leaves), around(centre, &spines)].concat());
        below.chain(routers).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = u128::from(self.all_nodes());
        let (of_leaf, of_group) = (u128::from(self.nodes), u128::from(self.nodes) * u128::from(self.leaves));
        let links = self.links();
        let in_use = self.globals.min(links.between_two() * (self.groups - 1));
        let longest = [(self.groups > 1, 5), (self.leaves > 1, 4), (self.nodes > 1, 2)];
        Some(TopologyMetrics {
            links: u64::from(self.all_nodes())
                + u64::from(self.groups) * u64::from(self.leaves) * u64::from(self.spines)
                + links.all(),
            least_degree: 1,
            degree: (self.spines + self.nodes).max(self.leaves + in_use),
            longest: longest.into_iter().find(|(exists, _)| *exists).map_or(0, |(_, links)| links),
            total_distance: nodes * (2 * (of_leaf - 1) + 4 * (of_group - of_leaf) + 5 * (nodes - of_group)),
            arc_connectivity: 1,
            node_connectivity: 1,
            bisection: Bisection::between(self.crossing_bound(), u64::from(self.all_nodes() / 2)),
        })
    }
}

impl DragonflyPlus {
    /// Returns the bisection bound from traffic between all nodes, spread evenly over the links between two groups,
    /// over the links between leaves and spines, and over the links of the nodes. The links of a spine to the leaves
    /// carry the same load as its global links.
    fn crossing_bound(&self) -> u64 {
        let between_two = u128::from(self.links().between_two()).max(1);
        let of_leaf = u128::from(self.nodes);
        let of_group = of_leaf * u128::from(self.leaves);
        let nodes = u128::from(self.all_nodes());
        let global = (of_group * of_group).div_ceil(between_two);
        let transit = (u128::from(self.globals) * of_group * of_leaf).div_ceil(between_two);
        let local = (of_leaf * (of_group - of_leaf)).div_ceil(self.spines.into());
        crossing_bound(self.all_nodes().into(), global.max(transit + local).max(nodes - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;
    use super::*;

    fn megafly(groups: u32) -> Topology {
        let arrangement = Arrangement::Absolute;
        Topology::DragonflyPlus { groups, leaves: 3, spines: 2, nodes: 2, globals: 2, arrangement }
    }

    #[test]
    fn figures_and_distances_are_those_of_the_routes() {
        for topology in (1..=5).map(megafly) {
            let (mut longest, mut total) = (0, 0_u128);
            for (from, to) in (0..topology.vertices()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to)))
            {
                let length = u32::try_from(topology.path(from, to).count() - 1).unwrap();
                assert_eq!((length, length), (topology.distance(from, to), topology.distance(to, from)), "{from} {to}");
                if from < topology.nodes() {
                    longest = longest.max(length);
                    total += u128::from(length);
                }
            }
            let figures = topology.closed_form_metrics();
            assert_eq!((longest, total), (figures.longest, figures.total_distance), "{topology:?}");
            assert_eq!(topology.links().count() as u64, figures.links);
        }
    }

    #[test]
    fn a_minimal_way_goes_up_across_and_down() {
        let topology = megafly(5);
        assert_eq!((topology.nodes(), topology.vertices()), (30, 55));
        assert_eq!(topology.path(0, 29).collect::<Vec<_>>(), [0, 30, 34, 53, 52, 29]);
    }
}
