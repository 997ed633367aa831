//! The links of a topology that work.

use super::overrides::LinkOverride;
use super::topology::Topology;
use std::collections::{BTreeSet, VecDeque};

/// A distance that no path has.
pub const UNREACHABLE: u32 = u32::MAX;

/// A topology without the links that have failed.
#[derive(Debug)]
pub struct Wiring {
    topology: Topology,
    failed: BTreeSet<(u32, u32)>,
}

impl Wiring {
    pub fn new(topology: &Topology, overrides: &[LinkOverride]) -> Self {
        let failures = overrides.iter().filter(|link| link.is_failure()).map(LinkOverride::ends);
        let failed = failures.flat_map(|(from, to)| [(from, to), (to, from)]).collect();
        Self { topology: topology.clone(), failed }
    }

    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The links at a vertex: port and neighbour, by rising port.
    pub fn links_at(&self, vertex: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let links = self.topology.links_at(vertex).map(|(port, next, _)| (port, next));
        links.filter(move |(_, next)| self.failed.is_empty() || !self.failed.contains(&(vertex, *next)))
    }

    /// By vertex, the number of links on a shortest path from there to `to`.
    pub fn distances(&self, to: u32) -> Box<[u32]> {
        self.climb(to, |_, _| true)
    }

    /// The same for paths whose every link, as (near, far) from `to` backwards, is allowed.
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

    /// The first vertex that vertex 0 does not reach.
    pub fn lost(&self) -> Option<u32> {
        (0..).zip(&self.distances(0)).find(|(_, distance)| **distance == UNREACHABLE).map(|(vertex, _)| vertex)
    }

    /// The first of the vertices from which the farthest node is nearest.
    pub fn centre(&self) -> u32 {
        let nodes = self.topology.nodes() as usize;
        let farthest = |vertex: &u32| self.distances(*vertex)[..nodes].iter().copied().max();
        (0..self.topology.vertices()).min_by_key(farthest).unwrap_or(0)
    }
}
