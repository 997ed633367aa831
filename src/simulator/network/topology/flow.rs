//! Maximum flows, for the number of links or vertices whose loss disconnects a network.

use std::collections::VecDeque;

use super::Topology;

/// A capacity that no minimum cut includes.
pub(super) const UNLIMITED: u64 = u64::MAX / 4;

/// A flow network with the residual capacity of every arc; arc `i ^ 1` is the reverse of arc `i`.
#[derive(Clone, Debug, Default)]
pub(super) struct ResidualNetwork {
    arcs: Vec<(usize, u64)>,
    leaving: Vec<Vec<usize>>,
}

impl ResidualNetwork {
    pub(super) fn new(vertices: usize) -> Self {
        Self { arcs: Vec::new(), leaving: vec![Vec::new(); vertices] }
    }

    /// Creates the network of the links of a topology, with capacity one each, and `extra` vertices without links.
    pub(super) fn of_links(topology: &Topology, extra: usize) -> Self {
        let mut residual = Self::new(topology.vertices() as usize + extra);
        for ((a, _), (b, _)) in topology.links() {
            residual.join(a as usize, b as usize, 1, 1);
        }
        residual
    }

    /// Adds an arc with its capacities in both directions.
    pub(super) fn join(&mut self, from: usize, to: usize, forward: u64, backward: u64) {
        self.leaving[from].push(self.arcs.len());
        self.arcs.push((to, forward));
        self.leaving[to].push(self.arcs.len());
        self.arcs.push((from, backward));
    }

    /// Computes the maximum flow by shortest augmenting paths (Edmonds and Karp 1972).
    pub(super) fn flow(&mut self, source: usize, sink: usize) -> u64 {
        let mut flow = 0;
        while let Some(path) = self.augmenting_path(source, sink) {
            let capacity = path.iter().map(|arc| self.arcs[*arc].1).min().unwrap_or(0);
            for arc in path {
                self.arcs[arc].1 -= capacity;
                self.arcs[arc ^ 1].1 += capacity;
            }
            flow += capacity;
        }
        flow
    }

    fn augmenting_path(&self, source: usize, sink: usize) -> Option<Vec<usize>> {
        let mut arrival = vec![None; self.leaving.len()];
        let mut reached = VecDeque::from([source]);
        while let Some(vertex) = reached.pop_front() {
            for &arc in &self.leaving[vertex] {
                let (next, capacity) = self.arcs[arc];
                if capacity > 0 && next != source && arrival[next].is_none() {
                    arrival[next] = Some(arc);
                    reached.push_back(next);
                }
            }
            if arrival[sink].is_some() {
                break;
            }
        }
        arrival[sink]?;
        let back = |arc: &usize| arrival[self.arcs[*arc ^ 1].0];
        Some(std::iter::successors(arrival[sink], back).collect())
    }
}

/// Returns the smallest number of links whose loss disconnects the graph (Menger: of edge-disjoint paths).
pub(super) fn arc_connectivity(topology: &Topology) -> u32 {
    let links = ResidualNetwork::of_links(topology, 0);
    let paths = (1..topology.vertices() as usize).map(|sink| links.clone().flow(0, sink));
    narrow(paths.min().unwrap_or(0))
}

/// Returns the smallest number of vertices whose loss disconnects the graph, or leaves a single one (Even 1975: of any
/// κ + 1 vertices, one is not among κ lost ones).
pub(super) fn node_connectivity(topology: &Topology) -> u32 {
    let vertices = topology.vertices() as usize;
    let halves = split_vertices(topology);
    let mut least = vertices as u64 - 1;
    for source in 0..vertices {
        if source as u64 > least {
            break;
        }
        for sink in source + 1..vertices {
            if !joined(topology, source, sink) {
                least = least.min(halves.clone().flow(2 * source + 1, 2 * sink));
            }
        }
    }
    narrow(least)
}

/// Creates the network in which vertex `v` is an arc of capacity one from `2 v` to `2 v + 1`.
fn split_vertices(topology: &Topology) -> ResidualNetwork {
    let vertices = topology.vertices() as usize;
    let mut halves = ResidualNetwork::new(2 * vertices);
    for vertex in 0..vertices {
        halves.join(2 * vertex, 2 * vertex + 1, 1, 0);
    }
    for ((a, _), (b, _)) in topology.links() {
        let (a, b) = (a as usize, b as usize);
        halves.join(2 * a + 1, 2 * b, UNLIMITED, 0);
        halves.join(2 * b + 1, 2 * a, UNLIMITED, 0);
    }
    halves
}

fn joined(topology: &Topology, a: usize, b: usize) -> bool {
    let a = u32::try_from(a).expect("vertices are counted in 32 bits");
    topology.links_at(a).any(|(_, to, _)| to as usize == b)
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("no more disjoint paths than vertices")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bow_tie_breaks_at_its_knot() {
        let tie = Topology::graph(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]);
        assert_eq!((arc_connectivity(&tie), node_connectivity(&tie)), (2, 1));
    }
}
