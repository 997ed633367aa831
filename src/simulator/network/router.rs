//! Route selection at run time.

use super::Network;
use super::choice::{any, hashed, one_of};
use super::distances::DistanceTable;
use super::indirect_routing::{IndirectRouting, UgalPreference};
use super::route_state::RouteState;
use super::routing::{Choice, Routing, Through, TieRule};
use super::routing_table::RoutingTable;
use super::topology::{Routes, Topology};
use super::wiring::Wiring;
use crate::engine::Streams;
use rand_chacha::ChaCha8Rng;

/// Selects the next port of every packet.
pub struct RouteSelector {
    manner: Selection,
    rng: ChaCha8Rng,
}

enum Selection {
    Natural(Routes),
    EvenTies(Ties),
    RingTies(RingTies),
    Indirect(IndirectRouting),
    Signposts(RoutingTable),
    Shortest(DistanceTable, Tie),
}

/// The choice between ports on shortest paths.
#[derive(Clone, Copy)]
enum Tie {
    Lowest,
    Seeded,
    Hashed,
    LeastLoaded,
}

impl RouteSelector {
    /// Creates the route selector of `network` on `topology`, the part in use.
    pub fn new(network: &Network, topology: &Topology, streams: Streams) -> Self {
        let wiring = || Wiring::new(topology, &network.overrides);
        let shortest = |tie| Selection::Shortest(DistanceTable::new(&wiring()), tie);
        let manner = match &network.routing {
            Routing::DimensionOrder | Routing::Ties(TieRule::ByParity) => Selection::Natural(Routes::of(topology)),
            Routing::EvenTies => Selection::EvenTies(Ties::new(topology)),
            Routing::Ties(rule) => Selection::RingTies(RingTies::new(topology, *rule)),
            Routing::Valiant => Selection::Indirect(IndirectRouting::new(topology, None, Through::Group)),
            Routing::Ugal { threshold, weights, through } => {
                let preference = UgalPreference { threshold: *threshold, weights: *weights };
                Selection::Indirect(IndirectRouting::new(topology, Some(preference), *through))
            }
            Routing::UpDown => Selection::Signposts(RoutingTable::up_down(wiring())),
            Routing::ShortestPath(Choice::Lowest) => shortest(Tie::Lowest),
            Routing::ShortestPath(Choice::Seeded) => shortest(Tie::Seeded),
            Routing::ShortestPath(Choice::Hashed) => shortest(Tie::Hashed),
            Routing::MinimalAdaptive => shortest(Tie::LeastLoaded),
            Routing::Table(table) => Selection::Signposts(RoutingTable::written(wiring(), table)),
        };
        Self { manner, rng: streams.stream("routing", 0) }
    }

    /// Returns the size in bytes of the routing tables for `destinations` nodes: one number per vertex and destination,
    /// or 0 if routes are computed without a table.
    pub fn memory(routing: &Routing, topology: &Topology, destinations: u32) -> f64 {
        const PLACE_BYTES: f64 = 24.0;
        let table = f64::from(topology.vertices()) * 4.0;
        match routing {
            routing if routing.follows_dimensions() => 0.0,
            _ => f64::from(topology.nodes()) * PLACE_BYTES + f64::from(destinations) * table,
        }
    }

    /// Returns the port by which a packet for `to` leaves the vertex `at`, which is not `to`. `load` returns the number
    /// of packets that wait at a port of `at`. The route state of the packet is kept in `way`.
    #[inline]
    pub fn leave(
        &mut self,
        way: &mut RouteState,
        topology: &Topology,
        (at, to): (u32, u32),
        load: impl Fn(u32) -> u64,
    ) -> u32 {
        match &self.manner {
            Selection::Natural(routes) => way.leave(at, to, routes),
            _ => self.choose(way, topology, (at, to), load),
        }
    }

    #[inline(never)]
    fn choose(
        &mut self,
        way: &mut RouteState,
        topology: &Topology,
        (at, to): (u32, u32),
        load: impl Fn(u32) -> u64,
    ) -> u32 {
        match &mut self.manner {
            Selection::Natural(routes) => way.leave(at, to, routes),
            Selection::EvenTies(ties) => ties.port(topology, at, to, &mut self.rng),
            Selection::RingTies(ties) => ties.port(topology, at, to),
            Selection::Indirect(detours) => detours.leave(way, topology, (at, to), load, &mut self.rng),
            Selection::Signposts(routing_table) => routing_table.port(at, to),
            Selection::Shortest(distances, tie) => {
                let port = match tie {
                    Tie::Lowest => distances.closer(at, to).next(),
                    Tie::Seeded => any(distances.closer(at, to), &mut self.rng),
                    Tie::Hashed => hashed(distances.closer(at, to), [way.from, to, at]),
                    Tie::LeastLoaded => least_loaded(|| distances.closer(at, to), load, &mut self.rng),
                };
                port.expect("check rejects networks that are not connected").0
            }
        }
    }

    /// Returns the number of links on the route from `from` to `to`, without a detour.
    pub fn hops(&self, topology: &Topology, from: u32, to: u32) -> u32 {
        match &self.manner {
            Selection::Natural(_) | Selection::EvenTies(_) | Selection::RingTies(_) | Selection::Indirect(_) => {
                topology.distance(from, to)
            }
            Selection::Shortest(distances, _) => distances.from(from, to),
            Selection::Signposts(routing_table) => {
                let path = routing_table.path(from, to).expect("check rejects tables that lead nowhere");
                u32::try_from(path.len() - 1).expect("a path has fewer links than there are vertices")
            }
        }
    }

    /// Returns the largest number of valleys on any route between two nodes: turns from a link to a lower-numbered
    /// vertex to a link to a higher-numbered one.
    pub fn max_valleys(&self, topology: &Topology) -> u32 {
        match &self.manner {
            // A bound: a valley takes two links.
            Selection::Natural(_) | Selection::EvenTies(_) | Selection::RingTies(_) => {
                Some(topology.metrics().diameter_links / 2)
            }
            Selection::Indirect(_) => Some(topology.metrics().diameter_links),
            Selection::Shortest(distances, _) => Some(distances.max_valleys()),
            Selection::Signposts(routing_table) => {
                let pairs = (0..topology.nodes()).flat_map(|to| (0..topology.nodes()).map(move |from| (from, to)));
                pairs.filter_map(|(from, to)| routing_table.path(from, to)).map(|path| valleys(&path)).max()
            }
        }
        .unwrap_or(0)
    }
}

/// Returns a random one of the ports for which the fewest packets wait. The lowest one would collect the packets of all
/// sources that meet empty queues at the same time.
fn least_loaded<P: Iterator<Item = (u32, u32)>>(
    ports: impl Fn() -> P,
    load: impl Fn(u32) -> u64,
    rng: &mut ChaCha8Rng,
) -> Option<(u32, u32)> {
    let least = ports().map(|(port, _)| load(port)).min()?;
    any(ports().filter(|(port, _)| load(*port) == least), rng)
}

fn valleys(path: &[u32]) -> u32 {
    path.windows(3).map(|turn| u32::from(turn[1] < turn[0] && turn[1] < turn[2])).sum()
}

/// The ports among which equally long routes share their packets.
struct Ties {
    /// The ports by vertex and destination, filled on first use; empty in a large network.
    known: Vec<Option<Box<[u32]>>>,
    nodes: u32,
}

impl Ties {
    fn new(topology: &Topology) -> Self {
        /// Largest number of pairs of vertex and destination whose ports are cached, about a megabyte.
        const MAX: usize = 1 << 16;
        let pairs = topology.vertices() as usize * topology.nodes() as usize;
        Self { known: vec![None; if pairs <= MAX { pairs } else { 0 }], nodes: topology.nodes() }
    }

    fn port(&mut self, topology: &Topology, at: u32, to: u32, rng: &mut ChaCha8Rng) -> u32 {
        let pair = at as usize * self.nodes as usize + to as usize;
        match self.known.get_mut(pair) {
            Some(ports) => one_of(ports.get_or_insert_with(|| tied_ports(topology, at, to)), rng),
            None => one_of(&tied_ports(topology, at, to), rng),
        }
    }
}

/// Natural routes with another rule for ties between the two directions of a ring.
struct RingTies {
    routes: Routes,
    rule: TieRule,
    /// Number of packets with a tie, by vertex.
    ties: Vec<u32>,
}

impl RingTies {
    fn new(topology: &Topology, rule: TieRule) -> Self {
        let counts = if rule == TieRule::ByTurns { topology.vertices() } else { 0 };
        Self { routes: Routes::of(topology), rule, ties: vec![0; counts as usize] }
    }

    fn port(&mut self, topology: &Topology, at: u32, to: u32) -> u32 {
        let (natural, _) = self.routes.course(at, to);
        let Some(other) = topology.opposite_direction(at, to) else { return natural };
        // The ports of a ring come in pairs, that of the ascending direction first.
        let rises = match self.rule {
            TieRule::ByParity => return natural,
            TieRule::Higher => true,
            TieRule::Lower => false,
            TieRule::ByTurns => {
                let ties = &mut self.ties[at as usize];
                *ties = ties.wrapping_add(1);
                *ties % 2 == 1
            }
        };
        if rises { natural.min(other) } else { natural.max(other) }
    }
}

/// Returns the ports by which equally long routes lead from `at` to `to`, at least one.
pub fn tied_ports(topology: &Topology, at: u32, to: u32) -> Box<[u32]> {
    let rivals = topology.tied_port_range(at, to);
    if rivals.len() == 1 {
        return [rivals.start].into();
    }
    let closer = topology.distance(at, to) - 1;
    let comes_closer =
        |port: &u32| topology.neighbour(at, *port).is_some_and(|(next, _)| topology.distance(next, to) == closer);
    let ports: Box<[u32]> = rivals.filter(comes_closer).collect();
    if ports.is_empty() { [topology.route(at, to)].into() } else { ports }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    #[test]
    fn both_ways_round_a_ring_are_taken_where_they_are_equally_long() {
        let topology = Topology::Ring { nodes: 6 };
        let mut rng = Streams::new(1).stream("routing", 0);
        let mut falling = |to| (0..1000).filter(|_| one_of(&tied_ports(&topology, 0, to), &mut rng) == 1).count();
        assert_eq!((falling(2), falling(5)), (0, 1000));
        assert!((400..600).contains(&falling(3)));
    }

    #[test]
    fn the_way_round_a_ring_follows_the_rule_where_both_are_equally_long() {
        let torus = Topology::Torus { sides: vec![4, 6] };
        let ports = |rule, at, to| {
            let mut ties = RingTies::new(&torus, rule);
            [0; 3].map(|_| ties.port(&torus, at, to))
        };
        for (at, to) in [(0, 3), (1, 4)] {
            assert_eq!(ports(TieRule::Higher, at, to), [0; 3]);
            assert_eq!(ports(TieRule::Lower, at, to), [1; 3]);
            assert_eq!(ports(TieRule::ByTurns, at, to), [0, 1, 0]);
            assert_eq!(ports(TieRule::ByParity, at, to), [at % 2; 3]);
        }
        assert_eq!(ports(TieRule::Lower, 0, 2), [0; 3], "two ahead, four behind");
        assert_eq!(ports(TieRule::Lower, 0, 12), [3; 3]);
    }

    #[test]
    fn a_hash_keeps_a_pair_on_its_way_and_spreads_pairs() {
        let tree = Topology::FatTree { arity: 4, levels: 2 };
        let distances = DistanceTable::new(&Wiring::new(&tree, &[]));
        let rng = Streams::new(1).stream("routing", 0);
        let mut router = RouteSelector { manner: Selection::Shortest(distances, Tie::Hashed), rng };
        let mut port = |from, to| router.leave(&mut RouteState::from(from), &tree, (16, to), |_| 0);
        let mut taken = [0; 8];
        for (from, to) in (0..4).flat_map(|from| (4..16).map(move |to| (from, to))) {
            let first = port(from, to);
            assert_eq!(port(from, to), first);
            taken[first as usize] += 1;
        }
        assert!(taken[4..].iter().all(|count| (6..=18).contains(count)), "{taken:?}");
    }

    #[test]
    fn the_least_loaded_of_the_shortest_paths_is_taken_and_any_of_equals() {
        let mesh = Topology::Mesh2d { rows: 2, columns: 2 };
        let distances = DistanceTable::new(&Wiring::new(&mesh, &[]));
        let rng = Streams::new(1).stream("routing", 0);
        let mut router = RouteSelector { manner: Selection::Shortest(distances, Tie::LeastLoaded), rng };
        let mut port = |to, load: fn(u32) -> u64| router.leave(&mut RouteState::from(0), &mesh, (0, to), load);
        let taken = (0..100).map(|_| port(3, |_| 1)).filter(|port| *port == 0).count();
        assert!((35..=65).contains(&taken), "{taken}");
        assert_eq!(port(3, |port| u64::from(port == 0)), 2);
        assert_eq!(port(1, |port| u64::from(port == 0)), 0);
        assert_eq!((router.hops(&mesh, 0, 3), router.max_valleys(&mesh)), (2, 1));
    }
}
