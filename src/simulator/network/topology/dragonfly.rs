//! Dragonflies: groups of fully connected routers, with links between all groups (Kim, Dally, Scott and Abts,
//! Technology-driven, highly-scalable dragonfly topology, ISCA 2008).
//!
//! The natural route is the minimal one: over at most one link between groups. There may be a route of fewer links
//! through a third group; distances and diameters are those of the natural routes.

use super::bisection::{Bisection, crossing_bound};
use super::global_links::{Arrangement, GlobalLinks, global_links_fault};
use super::layout::{circle, roomy_radius};
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least};
use std::collections::BTreeSet;
use std::ops::Range;

/// The shape of `Topology::Dragonfly`. Router r of a group has number group · routers + r; routers are numbered after
/// all nodes. The ports of a router lead to the other routers of its group, then to other groups, then to its nodes.
#[derive(Clone, Copy)]
pub(super) struct Dragonfly {
    pub(super) groups: u32,
    pub(super) routers: u32,
    pub(super) nodes: u32,
    pub(super) globals: u32,
    pub(super) arrangement: Arrangement,
}

/// The router of a vertex, which is the router itself or a node at it.
#[derive(Clone, Copy)]
struct RouterPlace {
    group: u32,
    router: u32,
    /// Number of links from the vertex to the router.
    below: u32,
}

impl Dragonfly {
    fn links(&self) -> GlobalLinks {
        GlobalLinks { groups: self.groups, per_group: self.routers * self.globals, arrangement: self.arrangement }
    }

    fn all_nodes(&self) -> u32 {
        self.groups * self.routers * self.nodes
    }

    fn vertex(&self, group: u32, router: u32) -> u32 {
        self.all_nodes() + group * self.routers + router
    }

    fn place(&self, vertex: u32) -> RouterPlace {
        let (router, below) = match vertex.checked_sub(self.all_nodes()) {
            None => (vertex / self.nodes, 1),
            Some(router) => (router, 0),
        };
        RouterPlace { group: router / self.routers, router: router % self.routers, below }
    }

    fn global_ports(&self) -> Range<u32> {
        self.routers - 1..self.routers - 1 + self.globals
    }

    /// Returns the links between two groups, as the router in `from`, the router in `to`, and the port in `from`.
    fn joints(&self, from: u32, to: u32) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let links = self.links();
        (0..links.between_two()).map(move |round| {
            let (near, far) = (links.toward(from, to, round), links.toward(to, from, round));
            (near / self.globals, far / self.globals, self.global_ports().start + near % self.globals)
        })
    }

    /// Returns the port by which the minimal route leads from a router to a router of another group. Of the links that
    /// make the route shortest, `spread` selects one.
    fn towards_group(&self, at: RouterPlace, to: RouterPlace, spread: u32) -> u32 {
        let hops = |(near, far, _): &(u32, u32, u32)| u32::from(*near != at.router) + u32::from(*far != to.router);
        let least = self.joints(at.group, to.group).map(|joint| hops(&joint)).min().expect("groups are joined");
        let shortest = || self.joints(at.group, to.group).filter(|joint| hops(joint) == least);
        let count = u32::try_from(shortest().count()).expect("a group has fewer than 2^32 links");
        let (near, _, port) =
            shortest().nth((spread % count) as usize).expect("a remainder of their count is the place of a link");
        if near == at.router { port } else { local_port(at.router, near) }
    }

    /// Returns the number of links between two routers.
    fn between(&self, a: RouterPlace, b: RouterPlace) -> u32 {
        if a.group == b.group {
            return u32::from(a.router != b.router);
        }
        let hops = |(near, far, _)| 1 + u32::from(near != a.router) + u32::from(far != b.router);
        self.joints(a.group, b.group).map(hops).min().expect("groups are joined")
    }

    /// Returns the number of ordered pairs of routers of two groups with one, two and three links between them. A route
    /// has one link if both routers have a joint, and two if one of them has.
    fn pairs(&self, from: u32, to: u32) -> [u64; 3] {
        let routers = u64::from(self.routers);
        let distinct = |name: fn((u32, u32, u32)) -> (u32, u32)| -> u64 {
            self.joints(from, to).map(name).collect::<BTreeSet<_>>().len() as u64
        };
        let near = distinct(|(near, ..)| (near, 0));
        let far = distinct(|(_, far, _)| (0, far));
        let both = distinct(|(near, far, _)| (near, far));
        let neither = (routers - near) * (routers - far);
        [both, routers * routers - neither - both, neither]
    }

    /// Returns the number of ordered pairs of different routers of the network with one, two and three links between
    /// them.
    fn all_pairs(&self) -> [u64; 3] {
        let (groups, routers) = (u64::from(self.groups), u64::from(self.routers));
        let of_group = |from: u32| (0..self.groups).filter(move |to| *to != from).map(move |to| (from, to));
        let apart = (0..self.groups).flat_map(of_group).map(|(from, to)| self.pairs(from, to));
        apart.fold([groups * routers * (routers - 1), 0, 0], |[one, two, three], pairs| {
            [one + pairs[0], two + pairs[1], three + pairs[2]]
        })
    }

    /// Returns the bisection bound from traffic between all nodes, which natural routes spread evenly over the links
    /// between two groups, over the links within a group on either side of them, and over the links of the nodes.
    fn crossing_bound(&self) -> u64 {
        let between_two = u128::from(self.links().between_two()).max(1);
        let (routers, of_router) = (u128::from(self.routers), u128::from(self.nodes).pow(2));
        let global = (routers * routers * of_router).div_ceil(between_two);
        let transit = (2 * u128::from(self.globals) * routers * of_router).div_ceil(between_two);
        let nodes = self.all_nodes();
        crossing_bound(nodes.into(), global.max(transit + of_router).max((nodes - 1).into()))
    }
}

/// Returns the port by which router `from` of a group is joined to router `to`.
fn local_port(from: u32, to: u32) -> u32 {
    to - u32::from(to > from)
}

impl TopologyShape for Dragonfly {
    fn count(&self) -> Count {
        let switches = u64::from(self.groups).saturating_mul(self.routers.into());
        Count { nodes: switches.saturating_mul(self.nodes.into()), switches }
    }

    fn ports(&self) -> u32 {
        self.global_ports().end + self.nodes
    }

    fn wide_ports(&self) -> u64 {
        u64::from(self.routers - 1) + u64::from(self.globals) + u64::from(self.nodes)
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let RouterPlace { group, router, below } = self.place(vertex);
        let global = self.global_ports();
        if below == 1 {
            return (port == 0).then(|| (self.vertex(group, router), global.end + vertex % self.nodes));
        }
        if port < global.start {
            let to = port + u32::from(port >= router);
            return Some((self.vertex(group, to), local_port(to, router)));
        }
        if global.contains(&port) {
            let (there, index) = self.links().far(group, router * self.globals + port - global.start)?;
            return Some((self.vertex(there, index / self.globals), global.start + index % self.globals));
        }
        let node = port - global.end;
        (node < self.nodes).then(|| ((group * self.routers + router) * self.nodes + node, 0))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        assert!(to < self.all_nodes(), "vertex {to} is a switch: packets go to nodes");
        let (here, there) = (self.place(at), self.place(to));
        if here.below == 1 {
            0
        } else if here.group != there.group {
            self.towards_group(here, there, to)
        } else if here.router != there.router {
            local_port(here.router, there.router)
        } else {
            self.global_ports().end + to % self.nodes
        }
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        let (from, to) = (self.place(a), self.place(b));
        if a == b { 0 } else { from.below + self.between(from, to) + to.below }
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::BetweenGroups
    }

    fn is_global(&self, at: u32, port: u32) -> bool {
        at >= self.all_nodes() && self.global_ports().contains(&port)
    }

    fn passes(&self, at: u32, via: u32) -> bool {
        self.place(at).group == self.place(via).group
    }

    fn link_classes(&self) -> Vec<String> {
        ["local", "global"].map(str::to_owned).into()
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        (at >= self.all_nodes() && port < self.global_ports().end).then(|| usize::from(self.is_global(at, port)))
    }

    fn faults(&self) -> Vec<String> {
        let numbers = [("groups", self.groups), ("routers", self.routers), ("nodes", self.nodes)];
        let few: Vec<String> = numbers.into_iter().filter_map(|(name, value)| at_least(1, name, value)).collect();
        if few.is_empty() {
            global_links_fault(self.groups, self.routers, self.globals).into_iter().collect()
        } else {
            few
        }
    }

    /// Draws the groups on a circle, the routers of each on a smaller one, and their nodes outside of it.
    fn layout(&self) -> Vec<(f64, f64)> {
        let spokes: Vec<(f64, f64)> = circle(self.routers, 1.0).collect();
        let inner = roomy_radius(self.routers * self.nodes).max(1.0);
        let outer = roomy_radius(self.groups) * 2.5 * (inner + 2.0);
        let centres: Vec<(f64, f64)> = circle(self.groups, if self.groups > 1 { outer } else { 0.0 }).collect();
        let place = |group: u32, (x, y): (f64, f64)| (centres[group as usize].0 + x, centres[group as usize].1 + y);
        let around: Vec<(f64, f64)> = circle(self.routers * self.nodes, inner + 1.0).collect();
        let nodes = (0..self.groups).flat_map(|group| around.iter().map(move |spoke| (group, *spoke)));
        let routers = (0..self.groups)
            .flat_map(|group| spokes.iter().map(move |(x, y)| (group, (x * inner * 0.7, y * inner * 0.7))));
        nodes.chain(routers).map(|(group, spoke)| place(group, spoke)).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = u128::from(self.all_nodes());
        let (groups, of_router) = (u64::from(self.groups), u128::from(self.nodes).pow(2));
        let links = self.links();
        let in_group = u64::from(self.routers) * u64::from(self.routers - 1) / 2;
        let in_use = self.globals.min(links.between_two() * (self.groups - 1));
        let pairs = self.all_pairs();
        let between_routers: u128 = (1..).zip(pairs).map(|(links, pairs)| links * u128::from(pairs)).sum();
        let longest = (1..).zip(pairs).filter(|(_, pairs)| *pairs > 0).map(|(links, _)| links).last().unwrap_or(0);
        Some(TopologyMetrics {
            links: u64::from(self.all_nodes()) + groups * in_group + links.all(),
            least_degree: 1,
            degree: self.routers - 1 + in_use + self.nodes,
            longest: if nodes > 1 { 2 + longest } else { 0 },
            total_distance: of_router * between_routers + nodes * (nodes - 1) * 2,
            arc_connectivity: 1,
            node_connectivity: 1,
            bisection: Bisection::between(self.crossing_bound(), u64::from(self.all_nodes() / 2)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;
    use super::*;

    fn dragonfly(groups: u32, arrangement: Arrangement) -> Topology {
        Topology::Dragonfly { groups, routers: 4, nodes: 2, globals: 2, arrangement }
    }

    /// Kim et al. 2008, figure 5: nine groups of four routers, with two nodes and two global links each.
    #[test]
    fn seventy_two_nodes_are_five_links_apart_at_most() {
        let small = dragonfly(9, Arrangement::Absolute);
        assert_eq!((small.nodes(), small.switches(), small.links().count()), (72, 36, 72 + 54 + 36));
        assert_eq!((small.metrics().degree, small.metrics().diameter_links), (7, 5));
        assert_eq!(small.path(0, 71).collect::<Vec<_>>(), [0, 72, 75, 104, 107, 71]);
    }

    #[test]
    fn figures_are_those_of_the_routes() {
        for arrangement in [Arrangement::Absolute, Arrangement::Relative, Arrangement::Circulant] {
            for groups in 1..=9 {
                let topology = dragonfly(groups, arrangement);
                let nodes = || 0..topology.nodes();
                let lengths = nodes().flat_map(|from| nodes().map(move |to| (from, to)));
                let length = |(from, to)| u32::try_from(topology.path(from, to).count() - 1).unwrap();
                let lengths: Vec<u32> = lengths.map(length).collect();
                let figures = topology.closed_form_metrics();
                assert_eq!(lengths.iter().copied().max(), Some(figures.longest), "{topology:?}");
                assert_eq!(lengths.iter().map(|length| u128::from(*length)).sum::<u128>(), figures.total_distance);
                assert_eq!(topology.links().count() as u64, figures.links);
            }
        }
    }

    #[test]
    fn minimal_ways_cross_one_global_link_and_have_the_length_of_the_distance() {
        let topology = dragonfly(5, Arrangement::Circulant);
        for (from, to) in (0..topology.vertices()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to))) {
            let path: Vec<u32> = topology.path(from, to).collect();
            let global = path.windows(2).filter(|link| topology.is_global(link[0], topology.route(link[0], to)));
            assert!(global.count() <= 1);
            assert_eq!(path.len() - 1, topology.distance(from, to) as usize, "{from} to {to}");
        }
    }
}
