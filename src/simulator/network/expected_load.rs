//! The loads that traffic is expected to put on the channels of a network, under its routing.

use super::link_model::{LinkModel, LinkModels};
use super::route_state::RouteState;
use super::router::{RouteSelector, tied_ports};
use super::routing::{Choice, Routing, TieRule};
use super::topology::{ChannelLoads, Topology, TrafficShare};
use super::wiring::Wiring;
use super::{Contention, Network};
use crate::engine::Streams;
use crate::units::PerByte;

/// Messages that a node offers to a network.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedMessages {
    /// The rate of a node with weight 1, without headers.
    pub rate: PerByte,
    /// The lengths of messages without headers, in bytes, each with its share of the messages.
    pub lengths: Vec<(f64, u64)>,
    /// The bytes that every message has on the network in addition.
    pub header: u64,
}

impl Network {
    /// Returns the loads of the channels of `topology`, the part in use, if `traffic` follows the routing of this network;
    /// `None` if it goes through intermediate nodes. Packets that choose between ports at random, by turns or by the
    /// queues there are taken to share them evenly.
    ///
    /// The network must have no [faults](Self::machine_faults) on this topology.
    #[must_use]
    pub fn channel_loads(
        &self,
        topology: &Topology,
        traffic: impl IntoIterator<Item = TrafficShare>,
    ) -> Option<ChannelLoads> {
        match &self.routing {
            Routing::Valiant | Routing::Ugal { .. } => None,
            Routing::DimensionOrder | Routing::Ties(TieRule::ByParity) => {
                Some(ChannelLoads::along_routes(topology, traffic))
            }
            Routing::EvenTies => Some(along_natural_ports(topology, traffic, tied_ports)),
            Routing::Ties(TieRule::ByTurns) => Some(along_natural_ports(topology, traffic, |topology, at, to| {
                [topology.route(at, to)].into_iter().chain(topology.opposite_direction(at, to)).collect()
            })),
            Routing::ShortestPath(Choice::Seeded) | Routing::MinimalAdaptive => {
                Some(over_working_links(&Wiring::new(topology, &self.overrides), traffic))
            }
            _ => Some(self.along_single_routes(topology, traffic)),
        }
    }

    /// Returns the share of the time for which the busiest channel of `topology`, the part in use, is busy if the nodes in
    /// `traffic` offer these messages; above 1 if it cannot carry them. `None` if the shares of the channels are not known,
    /// because packets avoid queues or take detours, or if channels are never busy.
    #[must_use]
    pub fn busiest_channel_utilization(
        &self,
        topology: &Topology,
        traffic: impl IntoIterator<Item = TrafficShare>,
        offered: &OfferedMessages,
    ) -> Option<f64> {
        if self.routing == Routing::MinimalAdaptive || self.contention == Contention::Off {
            return None;
        }
        let (loads, models) = (self.channel_loads(topology, traffic)?, LinkModels::of(self, topology));
        let used = |vertex: u32, port: u32| {
            let link = models.model(vertex * topology.ports() + port);
            let capacity = link.byte_time().bytes_per_s();
            loads.of(vertex, port) * offered.rate.bytes_per_s() / capacity * self.stretch(link, offered)
        };
        let at = |vertex| topology.links_at(vertex).map(move |(port, ..)| (vertex, port));
        let channels = (0..topology.vertices()).flat_map(at);
        Some(channels.map(|(vertex, port)| used(vertex, port)).fold(0.0, f64::max))
    }

    /// Returns the time for which messages occupy a link, as a multiple of that of their bytes alone: 1 without headers and
    /// times per packet.
    fn stretch(&self, mut link: LinkModel, offered: &OfferedMessages) -> f64 {
        let bytes_alone = |bytes: u64| link.byte_time().time(bytes).seconds();
        let alone_s: f64 = offered.lengths.iter().map(|(share, bytes)| share * bytes_alone(*bytes)).sum();
        let lengths = offered.lengths.iter();
        let whole_s: f64 =
            lengths.map(|(share, bytes)| share * self.occupancy_s(&mut link, bytes + offered.header)).sum();
        if alone_s > 0.0 { whole_s / alone_s } else { 1.0 }
    }

    /// Returns the time for which a message of `bytes` bytes occupies a link, in seconds.
    fn occupancy_s(&self, link: &mut LinkModel, bytes: u64) -> f64 {
        let packet = self.switching.packet_bytes();
        if self.contention == Contention::FairFlows || packet == 0 || packet > u64::from(u32::MAX) {
            return link.byte_time().time(bytes).seconds();
        }
        let mut time_s = |bytes: u64| match u32::try_from(bytes) {
            Ok(bytes @ 1..) => link.times(bytes, &self.switching).occupancy.seconds(),
            _ => 0.0,
        };
        #[expect(clippy::cast_precision_loss, reason = "a bound")]
        let whole = (bytes / packet) as f64;
        whole * time_s(packet) + time_s(bytes % packet)
    }

    /// Returns the loads if there is one route from each node to each other.
    fn along_single_routes(
        &self,
        topology: &Topology,
        traffic: impl IntoIterator<Item = TrafficShare>,
    ) -> ChannelLoads {
        let mut selector = RouteSelector::new(self, topology, Streams::new(0));
        ChannelLoads::along(topology, traffic, |from, at, to| {
            let port = selector.leave(&mut RouteState::from(from), topology, (at, to), |_| 0);
            (port, next(topology, at, port))
        })
    }
}

/// Returns the loads if packets share some ports of natural routes.
fn along_natural_ports(
    topology: &Topology,
    traffic: impl IntoIterator<Item = TrafficShare>,
    ports: impl Fn(&Topology, u32, u32) -> Box<[u32]>,
) -> ChannelLoads {
    let distances = |to| (0..topology.vertices()).map(|at| topology.distance(at, to)).collect();
    let links =
        |(at, to), _: &[u32]| ports(topology, at, to).iter().map(|port| (*port, next(topology, at, *port))).collect();
    ChannelLoads::shared(topology, traffic, distances, links)
}

/// Returns the loads if packets share all working links on shortest paths.
fn over_working_links(wiring: &Wiring, traffic: impl IntoIterator<Item = TrafficShare>) -> ChannelLoads {
    let closer = |(at, _), distances: &[u32]| {
        wiring.links_at(at).filter(|(_, next)| distances[*next as usize] < distances[at as usize]).collect()
    };
    ChannelLoads::shared(wiring.topology(), traffic, |to| wiring.distances(to).into(), closer)
}

/// Returns the vertex behind a port of a route.
fn next(topology: &Topology, at: u32, port: u32) -> u32 {
    topology.neighbour(at, port).expect("routes take ports with links").0
}

#[cfg(test)]
mod tests {
    use super::super::traffic::Pattern;
    use super::*;
    use crate::network::{Link, LinkOverride, laws::plain};

    fn network(topology: Topology, routing: Routing, failed: &[(u32, u32)]) -> Network {
        let network = plain(topology);
        let overrides = failed.iter().map(|(from, to)| LinkOverride::LinkFailed { from: *from, to: *to }).collect();
        Network { routing, overrides, ..network }
    }

    fn largest(network: &Network, pattern: &Pattern) -> f64 {
        let flows = pattern.flows(network.topology.nodes()).unwrap();
        network.channel_loads(&network.topology, flows).unwrap().max()
    }

    /// The routes round a failed link are those of the numbering of the whole network.
    #[test]
    fn a_failed_link_moves_only_the_routes_over_it() {
        let lowest = || Routing::ShortestPath(Choice::Lowest);
        let cases = [
            (Topology::Mesh { sides: vec![4, 4] }, 3.0),
            (Topology::Torus { sides: vec![8, 8] }, 3.0),
            (Topology::HyperX { sides: vec![8, 8] }, 1.0),
            (Topology::Hypercube { dimension: 6 }, 2.0),
        ];
        for (topology, expected) in cases {
            let load = largest(&network(topology.clone(), lowest(), &[(0, 1)]), &Pattern::BitComplement);
            assert!((load - expected).abs() < 1e-12, "{topology}: {load}");
        }
    }

    /// A channel of half the speed is busy for twice the time, and a channel without contention never.
    #[test]
    fn the_busiest_channel_is_not_always_the_one_with_the_largest_load() {
        let topology = Topology::Torus { sides: vec![4, 8] };
        let mut network = network(topology.clone(), Routing::DimensionOrder, &[]);
        let flows = Pattern::Uniform.flows(32).unwrap();
        let packet = network.switching.packet_bytes();
        let time = network.links.byte_time().time(packet);
        let offered = OfferedMessages { rate: network.links.byte_time(), lengths: vec![(1.0, packet)], header: 0 };
        let used = |network: &Network| network.busiest_channel_utilization(&topology, flows.clone(), &offered);
        assert!((used(&network).unwrap() - 1.0).abs() < 1e-9);
        let slower = |packets| Network {
            links: Link { per_packet: time * packets, ..network.links.clone() },
            ..network.clone()
        };
        // The time per packet occupies a channel, too: that of as many packets again.
        assert!((used(&slower(3)).unwrap() - 4.0).abs() < 1e-9);
        let with_header = OfferedMessages { header: packet, ..offered.clone() };
        let used_with_header = network.busiest_channel_utilization(&topology, flows.clone(), &with_header);
        assert!((used_with_header.unwrap() - 2.0).abs() < 1e-9);
        let slow = Link::new(PerByte::new(network.links.byte_time().time(4)));
        network.link_classes.insert("side-1".to_owned(), slow);
        assert!((used(&network).unwrap() - 2.0).abs() < 1e-9);
        network.contention = Contention::Off;
        assert_eq!(used(&network), None);
    }

    /// Loads are the means of random and alternating choices, over routes that are drawn as packets draw them.
    #[test]
    fn loads_are_the_means_of_many_packets() {
        let [ring, tree] = [Topology::Torus { sides: vec![4, 6] }, Topology::FatTree { arity: 2, levels: 3 }];
        let routings = [
            Routing::EvenTies,
            Routing::Ties(TieRule::ByTurns),
            Routing::Ties(TieRule::Higher),
            Routing::ShortestPath(Choice::Seeded),
            Routing::ShortestPath(Choice::Hashed),
            Routing::MinimalAdaptive,
            Routing::UpDown,
        ];
        for (topology, routing) in
            [ring, tree].into_iter().flat_map(|one| routings.clone().map(|way| (one.clone(), way)))
        {
            let network = network(topology.clone(), routing.clone(), &[]);
            let flows = Pattern::BitComplement.flows(topology.nodes()).unwrap();
            let loads = network.channel_loads(&topology, flows.clone()).unwrap();
            let mut selector = RouteSelector::new(&network, &topology, Streams::new(3));
            let drawn = ChannelLoads::along(&topology, flows.repeat(2000), |from, at, to| {
                let port = selector.leave(&mut RouteState::from(from), &topology, (at, to), |_| 0);
                (port, next(&topology, at, port))
            });
            let ends = topology.links().map(|(end, _)| end);
            for (vertex, port) in ends {
                let (load, mean) = (loads.of(vertex, port), drawn.of(vertex, port) / 2000.0);
                assert!((load - mean).abs() < 0.1, "{topology}, {routing:?}: {load} and {mean} at {vertex}, {port}");
            }
        }
    }
}
