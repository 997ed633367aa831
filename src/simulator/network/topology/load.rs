//! The load of every channel under a traffic pattern.

use std::collections::BTreeMap;

use super::Topology;

/// A share of traffic: source node, destination node and weight.
pub type TrafficShare = (u32, u32, f64);
/// A link at a vertex: its port and the next vertex.
type LinkAt = (u32, u32);

/// The load of every channel under a traffic pattern.
///
/// Divided by a channel's width, the largest load bounds the throughput: at an injection of λ per
/// unit of weight the busiest channel is used λ · load / width of the time.
///
/// ```
/// use parsim_sim::network::topology::{ChannelLoads, Topology};
///
/// let ring = Topology::Ring { nodes: 8 };
/// let complement = (0..8).map(|node| (node, 7 - node, 1.0));
/// assert_eq!(ChannelLoads::along_routes(&ring, complement).max(), 2.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelLoads {
    ports: u32,
    loads: Vec<f64>,
}

impl ChannelLoads {
    /// Returns the loads if every flow follows [`Topology::route`].
    #[must_use]
    pub fn along_routes(topology: &Topology, traffic: impl IntoIterator<Item = TrafficShare>) -> Self {
        Self::along(topology, traffic, |_, at, to| {
            let (port, _, next) = topology.step(at, to);
            (port, next)
        })
    }

    /// Returns the loads if every flow takes single steps, as (port, next vertex); `step` takes the source, the place and
    /// the destination of a packet.
    pub(in crate::network) fn along(
        topology: &Topology,
        traffic: impl IntoIterator<Item = TrafficShare>,
        mut step: impl FnMut(u32, u32, u32) -> LinkAt,
    ) -> Self {
        let mut loads = Self::idle(topology);
        for (from, to, weight) in traffic {
            let mut at = from;
            while at != to {
                let (port, next) = step(from, at, to);
                loads.add(at, port, weight);
                at = next;
            }
        }
        loads
    }

    /// Returns the loads if every flow is divided evenly, at every vertex, over all ports that lead closer.
    #[must_use]
    pub fn over_shortest_paths(topology: &Topology, traffic: impl IntoIterator<Item = TrafficShare>) -> Self {
        let closer = |(at, _), distances: &[u32]| {
            let links = topology.links_at(at).map(|(port, next, _)| (port, next));
            links.filter(|(_, next)| distances[*next as usize] < distances[at as usize]).collect()
        };
        Self::shared(topology, traffic, |to| topology.distances_from(to), closer)
    }

    /// Returns the loads if every flow is divided evenly, at every vertex, over some ports, as (port, next vertex), which
    /// lead closer to the destination: `ports` takes place and destination, and the `distances` of all vertices from it.
    pub(in crate::network) fn shared(
        topology: &Topology,
        traffic: impl IntoIterator<Item = TrafficShare>,
        distances: impl Fn(u32) -> Vec<u32>,
        ports: impl Fn((u32, u32), &[u32]) -> Vec<LinkAt>,
    ) -> Self {
        let mut loads = Self::idle(topology);
        for (to, mut present) in by_destination(topology, traffic) {
            let distances = distances(to);
            let mut farthest_first: Vec<u32> = (0..topology.vertices()).filter(|&vertex| vertex != to).collect();
            farthest_first.sort_by_key(|&vertex| std::cmp::Reverse(distances[vertex as usize]));
            for vertex in farthest_first {
                if present[vertex as usize] > 0.0 {
                    let ports = ports((vertex, to), &distances);
                    loads.divide(vertex, &ports, &mut present);
                }
            }
        }
        loads
    }

    fn idle(topology: &Topology) -> Self {
        let ports = topology.ports();
        Self { ports, loads: vec![0.0; topology.vertices() as usize * ports as usize] }
    }

    /// Divides the traffic that is `present` at a vertex over some of its ports.
    fn divide(&mut self, vertex: u32, ports: &[LinkAt], present: &mut [f64]) {
        let share = present[vertex as usize] / f64::from(u32::try_from(ports.len()).expect("ports are u32"));
        for (port, next) in ports {
            self.add(vertex, *port, share);
            present[*next as usize] += share;
        }
    }

    fn add(&mut self, vertex: u32, port: u32, weight: f64) {
        let index = self.index(vertex, port);
        self.loads[index] += weight;
    }

    fn index(&self, vertex: u32, port: u32) -> usize {
        vertex as usize * self.ports as usize + port as usize
    }

    /// Returns the load of the channel that leaves `vertex` by `port`.
    #[must_use]
    pub fn of(&self, vertex: u32, port: u32) -> f64 {
        self.loads[self.index(vertex, port)]
    }

    /// Returns the largest load of any channel.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.loads.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the busiest channel as (vertex, port), the first one in a tie; `None` without traffic.
    #[must_use]
    pub fn busiest(&self) -> Option<(u32, u32)> {
        let max = self.max();
        let index = self.loads.iter().position(|&load| load > 0.0 && load >= max)?;
        let (vertex, port) = (index / self.ports as usize, index % self.ports as usize);
        u32::try_from(vertex).ok().zip(u32::try_from(port).ok())
    }
}

/// Returns the traffic in which every node sends 1 / nodes to each node, including itself.
pub fn uniform(nodes: u32) -> impl Iterator<Item = TrafficShare> {
    all_pairs(nodes).map(move |(from, to, _)| (from, to, 1.0 / f64::from(nodes)))
}

/// Returns one unit of traffic from every node to every other.
pub(super) fn all_pairs(nodes: u32) -> impl Iterator<Item = TrafficShare> {
    (0..nodes).flat_map(move |from| (0..nodes).filter(move |&to| to != from).map(move |to| (from, to, 1.0)))
}

/// Returns the traffic that every vertex sends, by destination.
fn by_destination(topology: &Topology, traffic: impl IntoIterator<Item = TrafficShare>) -> BTreeMap<u32, Vec<f64>> {
    let mut present = BTreeMap::new();
    for (from, to, weight) in traffic {
        let sources = present.entry(to).or_insert_with(|| vec![0.0; topology.vertices() as usize]);
        sources[from as usize] += weight;
    }
    present
}
