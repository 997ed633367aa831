//! Routing tables: for every destination, the port by which each vertex forwards its packets.

use super::overrides::port_towards;
use super::routing::Signpost;
use super::topology::{DeadlockAvoidance, Topology};
use super::wiring::{UNREACHABLE, Wiring};
use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

/// The port in a table where no route leads to the destination.
const NO_PORT: u32 = u32::MAX;

/// The tables of a routing that sends all packets for a destination along the same route from each vertex; each table
/// is computed on first use.
#[derive(Debug)]
pub struct RoutingTable {
    wiring: Wiring,
    order: PortOrder,
    toward: Vec<OnceLock<Box<[u32]>>>,
}

#[derive(Debug)]
enum PortOrder {
    /// By vertex, its place in the order from the root downwards.
    UpDown(Vec<u32>),
    /// By vertex and destination, the port.
    Written(BTreeMap<(u32, u32), u32>),
}

impl RoutingTable {
    /// Creates the tables of [`Routing::UpDown`](super::Routing::UpDown).
    pub fn up_down(wiring: Wiring) -> Self {
        let places = if has_levels(wiring.topology()) { levels(wiring.topology()) } else { places(&wiring) };
        Self::new(wiring, PortOrder::UpDown(places))
    }

    /// Creates the tables of [`Routing::Table`](super::Routing::Table).
    pub fn written(wiring: Wiring, table: &[Signpost]) -> Self {
        let port = |post: &Signpost| Some(((post.at, post.to), port_towards(wiring.topology(), post.at, post.next)?));
        let order = PortOrder::Written(table.iter().filter_map(port).collect());
        Self::new(wiring, order)
    }

    fn new(wiring: Wiring, order: PortOrder) -> Self {
        let toward = vec![OnceLock::new(); wiring.topology().nodes() as usize];
        Self { wiring, order, toward }
    }

    /// Returns the port by which a packet for `to` leaves `at`.
    pub fn port(&self, at: u32, to: u32) -> u32 {
        self.toward[to as usize].get_or_init(|| self.ports(to))[at as usize]
    }

    /// Returns the vertices from `from` to `to`; `None` if packets do not arrive there.
    pub fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            let (next, _) = self.topology().neighbour(at, self.port(at, to))?;
            path.push(next);
            at = next;
            if path.len() > self.toward.len() + self.topology().switches() as usize {
                return None;
            }
        }
        Some(path)
    }

    fn topology(&self) -> &Topology {
        self.wiring.topology()
    }

    fn ports(&self, to: u32) -> Box<[u32]> {
        match &self.order {
            PortOrder::UpDown(places) => self.ports_up_down(places, to),
            PortOrder::Written(table) => self.ports_written(table, to),
        }
    }

    fn ports_written(&self, table: &BTreeMap<(u32, u32), u32>, to: u32) -> Box<[u32]> {
        let distances = self.wiring.distances(to);
        let port = |at| table.get(&(at, to)).copied().unwrap_or_else(|| self.nearest(&distances, at, |_| true));
        (0..self.topology().vertices()).map(port).collect()
    }

    /// Returns a pair of nodes without a route between them, which is possible in a tree with levels whose links have
    /// failed.
    pub fn disconnected_pair(&self) -> Option<(u32, u32)> {
        let PortOrder::UpDown(places) = &self.order else { return None };
        if !has_levels(self.topology()) {
            return None;
        }
        // Nodes below the same switches reach the same nodes.
        let above = |node: &u32| self.wiring.links_at(*node).map(|(_, switch)| switch).collect::<Vec<_>>();
        let mut known = HashSet::new();
        let others: Vec<u32> = (0..self.topology().nodes()).filter(|node| known.insert(above(node))).collect();
        others.iter().find_map(|to| {
            let lengths = self.lengths_up_down(places, *to).1;
            others.iter().find(|from| lengths[**from as usize] == UNREACHABLE).map(|from| (*from, *to))
        })
    }

    /// Returns, by vertex, the lengths of the routes to `to` that only go down, and of those that may go up first.
    fn lengths_up_down(&self, places: &[u32], to: u32) -> (Box<[u32]>, Box<[u32]>) {
        let is_above = |one: u32, other: u32| places[one as usize] < places[other as usize];
        let down = self.wiring.climb(to, |near, far| is_above(far, near));
        let mut lengths = down.clone();
        for at in from_above(places).into_iter().filter(|at| down[*at as usize] == UNREACHABLE) {
            let above = self.wiring.links_at(at).filter(|(_, next)| is_above(*next, at));
            let length = above.map(|(_, next)| lengths[next as usize].saturating_add(1)).min();
            lengths[at as usize] = length.unwrap_or(UNREACHABLE);
        }
        (down, lengths)
    }

    /// Returns the ports of all vertices on up*/down* routes to `to`: down if a route of only downward links is left,
    /// otherwise up to the best of the vertices above, so that a packet never goes up after it has gone down.
    fn ports_up_down(&self, places: &[u32], to: u32) -> Box<[u32]> {
        let is_above = |one: u32, other: u32| places[one as usize] < places[other as usize];
        let (down, lengths) = self.lengths_up_down(places, to);
        let has_levels = has_levels(self.topology());
        let port = |at: u32| {
            if down[at as usize] != UNREACHABLE {
                return self.nearest(&down, at, |next| is_above(at, next));
            }
            let natural = has_levels.then(|| self.topology().route(at, to));
            let leads = |port: &u32| self.leads_nearest(&lengths, at, *port, |next| is_above(next, at));
            natural.filter(leads).unwrap_or_else(|| self.nearest(&lengths, at, |next| is_above(next, at)))
        };
        (0..self.topology().vertices()).map(port).collect()
    }

    /// Returns whether a port of `at` leads to one of the nearest allowed neighbours.
    fn leads_nearest(&self, distances: &[u32], at: u32, port: u32, is_allowed: impl Fn(u32) -> bool) -> bool {
        let allowed = || self.wiring.links_at(at).filter(|(_, next)| is_allowed(*next));
        let least = allowed().map(|(_, next)| distances[next as usize]).min();
        allowed().any(|(own, next)| own == port && Some(distances[next as usize]) == least)
    }

    /// Returns the lowest port of `at` that leads to the nearest allowed neighbour.
    fn nearest(&self, distances: &[u32], at: u32, is_allowed: impl Fn(u32) -> bool) -> u32 {
        let allowed = self.wiring.links_at(at).filter(|(_, next)| is_allowed(*next));
        allowed.min_by_key(|(_, next)| distances[*next as usize]).map_or(NO_PORT, |(port, _)| port)
    }
}

/// Returns whether vertices are numbered level by level, beginning with the nodes.
fn has_levels(topology: &Topology) -> bool {
    topology.natural_waits() == DeadlockAvoidance::UpAndDown
}

/// Returns the place of each vertex in the order from the highest level down.
fn levels(topology: &Topology) -> Vec<u32> {
    (0..topology.vertices()).rev().collect()
}

/// Returns the place of each vertex in the order of distance from the root, then of number.
fn places(wiring: &Wiring) -> Vec<u32> {
    let distances = wiring.distances(wiring.centre());
    let mut order: Vec<u32> = (0..wiring.topology().vertices()).collect();
    order.sort_by_key(|vertex| distances[*vertex as usize]);
    let mut places = vec![0; order.len()];
    for (place, vertex) in (0..).zip(order) {
        places[vertex as usize] = place;
    }
    places
}

/// Returns the vertices in the order of their places.
fn from_above(places: &[u32]) -> Vec<u32> {
    let mut order = vec![0; places.len()];
    for (vertex, place) in (0..).zip(places) {
        order[*place as usize] = vertex;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::LinkOverride;

    /// No route goes up after its first downward link.
    #[test]
    fn up_and_down_turns_once_and_arrives() {
        let failed = [LinkOverride::LinkFailed { from: 0, to: 1 }];
        for name in ["ring", "mesh2d", "torus2d", "hypercube"] {
            let topology = Topology::from_name(name, 16).unwrap();
            for overrides in [&failed[..], &[]] {
                let places = places(&Wiring::new(&topology, overrides));
                let routing_table = RoutingTable::up_down(Wiring::new(&topology, overrides));
                for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
                    let path = routing_table.path(from, to).expect("packets arrive");
                    let is_down = |link: &[u32]| places[link[1] as usize] > places[link[0] as usize];
                    assert!(path.windows(2).map(is_down).is_sorted(), "{name}: {path:?}");
                    assert!(!path.windows(2).any(|link| !overrides.is_empty() && (link == [0, 1] || link == [1, 0])));
                }
            }
        }
    }

    /// Routes in a whole tree are the natural ones; with failed links they still never go up after going down.
    #[test]
    fn a_fat_tree_is_climbed_by_its_levels() {
        let trees = [
            Topology::FatTree { arity: 3, levels: 3 },
            Topology::ExtendedFatTree { children: vec![3, 4, 2], parents: vec![1, 2, 3] },
        ];
        for tree in trees {
            let whole = RoutingTable::up_down(Wiring::new(&tree, &[]));
            let pairs = || (0..tree.nodes()).flat_map(|from| (0..tree.nodes()).map(move |to| (from, to)));
            for (from, to) in pairs() {
                assert_eq!(whole.path(from, to), Some(tree.path(from, to).collect()), "{tree} {from} {to}");
            }
            for link in tree.links().filter(|((from, _), (to, _))| from.min(to) >= &tree.nodes()) {
                let failed = [LinkOverride::LinkFailed { from: link.0.0, to: link.1.0 }];
                let damaged = RoutingTable::up_down(Wiring::new(&tree, &failed));
                if damaged.disconnected_pair().is_some() {
                    continue;
                }
                for (from, to) in pairs() {
                    let path = damaged.path(from, to).expect("packets arrive");
                    assert!(path.windows(2).map(|link| link[1] < link[0]).is_sorted(), "{tree}: {path:?}");
                    let ends = [link.0.0, link.1.0];
                    assert!(!path.windows(2).any(|link| ends.contains(&link[0]) && ends.contains(&link[1])));
                }
            }
        }
    }

    #[test]
    fn packets_follow_the_table_and_elsewhere_the_shortest_path() {
        let ring = Topology::Ring { nodes: 5 };
        let post = |at, next| Signpost { at, to: 1, next };
        let path = |table: &[Signpost]| RoutingTable::written(Wiring::new(&ring, &[]), table).path(0, 1);
        assert_eq!(path(&[]), Some(vec![0, 1]));
        assert_eq!(path(&[post(0, 4), post(4, 3)]), Some(vec![0, 4, 3, 2, 1]));
        assert_eq!(path(&[post(0, 4)]), None, "4 sends it back");
    }
}
