//! The links of a topology that work.

use super::overrides::{LinkOverride, failed_directions};
use super::topology::Topology;
use std::collections::{BTreeSet, VecDeque};

/// The distance between vertices without a path.
pub const UNREACHABLE: u32 = u32::MAX;

/// A topology without the links that have failed.
#[derive(Debug)]
pub struct Wiring {
    topology: Topology,
    failed: BTreeSet<(u32, u32)>,
}

impl Wiring {
    pub fn new(topology: &Topology, overrides: &[LinkOverride]) -> Self {
        Self { topology: topology.clone(), failed: failed_directions(overrides) }
    }

    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the port and the neighbour of each working link at a vertex, by ascending port.
    pub fn links_at(&self, vertex: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let links = self.topology.links_at(vertex).map(|(port, next, _)| (port, next));
        links.filter(move |(_, next)| self.failed.is_empty() || !self.failed.contains(&(vertex, *next)))
    }

    /// Returns, by vertex, the number of links on a shortest path to `to`.
    pub fn distances(&self, to: u32) -> Box<[u32]> {
        self.climb(to, |_, _| true)
    }

    /// Returns the same for paths whose links are all allowed; a link is given as (near, far), backwards from `to`.
    pub fn climb(&self, to: u32, is_allowed: impl Fn(u32, u32) -> bool) -> Box<[u32]> {
        let mut distances = vec![UNREACHABLE; self.topology.vertices() as usize];
        distances[to as usize] = 0;
        let mut reached = VecDeque::from([to]);
        while let Some(near) = reached.pop_front() {
            for (_, far) in self.links_at(near) {
                if distances[far as usize] == UNREACHABLE && is_allowed(near, far) {
                    distances[far as usize] = distances[near as usize] + 1;
                    reached.push_back(far);
                }
            }
        }
        distances.into()
    }

    /// Returns the first vertex that vertex 0 does not reach.
    pub fn first_unreachable(&self) -> Option<u32> {
        (0..).zip(&self.distances(0)).find(|(_, distance)| **distance == UNREACHABLE).map(|(vertex, _)| vertex)
    }

    /// Returns the centre: the first of the vertices whose farthest node is nearest.
    ///
    /// Vertices that cannot be the centre are skipped: a neighbour's farthest node is at most one link nearer (Takes
    /// and Kosters, *Computing the eccentricity distribution of large graphs*, 2013).
    pub fn centre(&self) -> u32 {
        if self.failed.is_empty() && is_vertex_transitive(&self.topology) {
            return 0;
        }
        let (nodes, vertices) = (self.topology.nodes() as usize, self.topology.vertices());
        // A lower bound of the distance to the farthest node, by vertex.
        let mut least = vec![0; vertices as usize];
        let mut open: Vec<u32> = (0..vertices).collect();
        let mut best = (u32::MAX, u32::MAX);
        while let Some(vertex) = open.iter().copied().min_by_key(|vertex| (least[*vertex as usize], *vertex)) {
            let distances = self.distances(vertex);
            let farthest = distances[..nodes].iter().copied().max().unwrap_or(0);
            best = best.min((farthest, vertex));
            for (least, distance) in least.iter_mut().zip(&distances) {
                let of_vertex = if (vertex as usize) < nodes { *distance } else { 0 };
                *least = of_vertex.max(farthest.saturating_sub(*distance)).max(*least);
            }
            open.retain(|other| *other != vertex && (least[*other as usize], *other) < best);
        }
        best.1
    }
}

/// Returns whether the topology, if whole, looks the same from every vertex.
const fn is_vertex_transitive(topology: &Topology) -> bool {
    matches!(
        topology,
        Topology::Complete { .. }
            | Topology::Ring { .. }
            | Topology::Torus2d { .. }
            | Topology::Torus3d { .. }
            | Topology::Torus { .. }
            | Topology::Hypercube { .. }
            | Topology::HyperX { .. }
            | Topology::CubeConnectedCycles { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::laws::topologies;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_centre_is_the_first_of_the_best(topology in topologies(), failed in any::<prop::sample::Index>(), is_whole: bool) {
            let links: Vec<_> = topology.links().map(|((from, _), (to, _))| (from, to)).collect();
            let (from, to) = links.get(failed.index(links.len().max(1))).copied().unwrap_or((0, 0));
            let failures = [LinkOverride::LinkFailed { from, to }];
            let wiring = Wiring::new(&topology, if is_whole || links.is_empty() { &[] } else { &failures });
            let nodes = topology.nodes() as usize;
            let farthest = |vertex: &u32| wiring.distances(*vertex)[..nodes].iter().copied().max();
            prop_assert_eq!(Some(wiring.centre()), (0..topology.vertices()).min_by_key(farthest));
        }
    }
}
