//! Laws of all fabrics: exact times of lone messages, a simple oracle for contention, and conservation of packets.

use super::channels::Channels;
use super::fabric::LinkState;
use super::routing::{Through, Weights};
use super::switching::wormhole::{Allocators, Arbiters, WormholeRouter};
use super::switching::{CutThrough, StoreAndForward, Wormhole};
use super::topology::Arrangement;
use super::*;
use crate::engine::{Calendar, Entity, Streams};
use crate::trace::{Direction, Transfer};
use crate::units::{Bytes, PerByte, SimDuration, SimTime};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn ps(ps: u64) -> SimDuration {
    SimDuration::from_ps(ps)
}

fn link(per_byte: u64, per_packet: u64, latency: u64, buffers: Buffers) -> Link {
    Link {
        per_byte: Some(PerByte::new(ps(per_byte))),
        protocol: None,
        width: None,
        per_packet: ps(per_packet),
        latency: ps(latency),
        start: SimDuration::ZERO,
        buffers,
    }
}

fn network(topology: Topology, switching: Switching, links: Link) -> Network {
    Network {
        topology,
        routing: Routing::DimensionOrder,
        switching,
        links,
        end_links: None,
        link_classes: BTreeMap::new(),
        virtual_channels: VirtualChannels::AsNeeded,
        contention: Contention::FirstComeFirstServed,
        overrides: Vec::new(),
    }
}

/// Creates a network of which only the topology matters.
pub(super) fn plain(topology: Topology) -> Network {
    network(topology, store_and_forward(), link(1, 0, 0, Buffers::Unbounded))
}

fn store_and_forward() -> Switching {
    Switching::StoreAndForward(StoreAndForward { packet: Bytes::new(1 << 20) })
}

fn cut_through(header: u64) -> Switching {
    Switching::CutThrough(CutThrough { packet: Bytes::new(1 << 20), header: Bytes::new(header) })
}

fn wormhole(flit: u64, buffer: u32, lanes: u32) -> Switching {
    Switching::Wormhole(Wormhole { packet: Bytes::new(1 << 20), flit: Bytes::new(flit), buffer, lanes, router: None })
}

/// Sends packets = (time, from, to, bytes) through a fabric; returns the time of each delivery.
fn deliveries(fabric: &mut Fabric, packets: &[(u64, u32, u32, u32)]) -> Vec<Option<u64>> {
    deliveries_until(SimTime::END, fabric, packets)
}

fn deliveries_until(end: SimTime, fabric: &mut Fabric, packets: &[(u64, u32, u32, u32)]) -> Vec<Option<u64>> {
    deliveries_by(Fabric::step, end, fabric, packets)
}

/// A function that runs the event of an entity.
type Run = fn(&mut Fabric, &mut Calendar, SimTime, Entity, &mut Vec<HopEvent>);

fn deliveries_by(run: Run, end: SimTime, fabric: &mut Fabric, packets: &[(u64, u32, u32, u32)]) -> Vec<Option<u64>> {
    let mut calendar = Calendar::new();
    let first = fabric.entities();
    for (number, packet) in (0..).zip(packets) {
        calendar.schedule(SimTime::from_ps(packet.0), first + number);
    }
    let mut delivered = vec![None; packets.len()];
    let mut passages = Vec::new();
    while let Some((now, entity)) = calendar.pop().filter(|(now, _)| *now <= end) {
        if let Some(number) = entity.checked_sub(first) {
            let (_, from, to, bytes) = packets[number as usize];
            fabric.send(&mut calendar, now, from, Packet::new(number, to, bytes, PacketKind::Data));
            continue;
        }
        run(fabric, &mut calendar, now, entity, &mut passages);
        for passage in passages.drain(..) {
            match passage.ends() {
                (packet, _, Some(at)) if packet.to == at => {
                    fabric.release(&mut calendar, now, packet);
                    assert_eq!(delivered[packet.message as usize].replace(now.ps()), None, "delivered once");
                }
                (packet, _, Some(at)) => fabric.send(&mut calendar, now, at, packet),
                (.., None) => {}
            }
        }
    }
    delivered
}

fn fabric(network: &Network) -> Fabric {
    Fabric::new(network, network.topology.clone(), ForwardedBy::Router, Streams::new(1))
}

/// The 32 cases of the vector: store and forward whole and in four packets, cut-through and cut-through in flits of 4
/// bytes, by plain stations and by channels.
#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole picoseconds and bytes")]
fn a_lone_message_takes_its_closed_form() {
    let table = include_str!("../../../validation/switching/switching.csv");
    for line in table.lines().skip(1) {
        let case: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let whole = |number: f64| (number * 1e6).round() as u64;
        let (links, bytes, startup) = (case[0] as u32, case[1] as u32, whole(case[2]));
        let wire = link(whole(case[3]), whole(case[4]), 0, Buffers::Unbounded);
        let line = Topology::Line { nodes: links + 1 };
        let time = |switching: Switching, buffers: Buffers, packets: u32| {
            let wire = Link { buffers, ..wire.clone() };
            let packets: Vec<_> = (0..packets).map(|_| (startup, 0, links, bytes / packets)).collect();
            let times = deliveries(&mut fabric(&network(line.clone(), switching, wire)), &packets);
            times.last().copied().flatten().unwrap()
        };
        for buffers in [Buffers::Unbounded, Buffers::Packets(8)] {
            assert_eq!(time(store_and_forward(), buffers, 1), whole(case[5]), "{case:?}");
            assert_eq!(time(store_and_forward(), buffers, 4), whole(case[10]), "{case:?}");
            assert_eq!(time(cut_through(0), buffers, 1), whole(case[6]), "{case:?}");
            assert_eq!(time(cut_through(4), buffers, 1), whole(case[12]), "{case:?}");
        }
    }
}

/// The latency of a worm as derived in [`switching::wormhole`], plus the cycle in which the worm waits for its clock.
#[test]
fn a_lone_worm_takes_four_cycles_a_link() {
    for (links, flits, latency) in [(1, 1, 0), (1, 16, 0), (7, 1, 0), (7, 16, 2), (14, 16, 0), (3, 40, 1)] {
        let line = Topology::Line { nodes: links + 1 };
        let network =
            network(line, wormhole(4, 6 + 2 * latency, 1), link(10, 0, 40 * u64::from(latency), Buffers::Unbounded));
        let times = deliveries(&mut fabric(&network), &[(0, 0, links, 4 * flits)]);
        let cycles = 1 + (4 + latency) * links + 3 + flits - 1;
        assert_eq!(times, [Some(40 * u64::from(cycles))], "{links} links, {flits} flits, latency {latency}");
    }
}

/// Returns the transfers that a fabric records for packets = (time, from, to, bytes).
fn transfers(fabric: &mut Fabric, packets: &[(u64, u32, u32, u32)]) -> Vec<Transfer> {
    fabric.record_transfers();
    assert!(deliveries(fabric, packets).iter().all(Option::is_some));
    fabric.finish_transfers(SimTime::END);
    let mut transfers: Vec<_> = fabric.transfers().expect("they are recorded").finalised().to_vec();
    transfers.sort_by_key(|transfer| (transfer.from, transfer.first));
    transfers
}

/// A head that enters its router in a cycle is on the link in the third cycle after it, and on the next link four
/// cycles later; the flits follow without a gap. (With one flit less of buffer space there is a gap: the credit for a
/// head is a cycle late, because the head has waited for its virtual channel.)
#[test]
fn the_flits_of_a_lone_worm_are_told_for_every_link() {
    for (links, flits, latency) in [(1, 1, 0), (7, 16, 2), (3, 40, 1)] {
        let wire = link(10, 0, 40 * u64::from(latency), Buffers::Unbounded);
        let network = network(Topology::Line { nodes: links + 1 }, wormhole(4, 7 + 2 * latency, 2), wire);
        let told = transfers(&mut fabric(&network), &[(0, 0, links, 4 * flits)]);
        let time = ps(40 * u64::from(flits));
        let expected = (0..links).map(|from| {
            let first = SimTime::from_ps(40 * u64::from(4 + (4 + latency) * from));
            (from, from + 1, 0, first, time, time, 4 * flits, 1)
        });
        let fields = |it: &Transfer| (it.from, it.to, it.channel, it.first, it.time, it.on_wire, it.bytes, it.packets);
        assert_eq!(told.iter().map(fields).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

/// Two worms that share the last link hold a virtual channel each, and alternate on the wire.
#[test]
fn worms_that_alternate_on_a_link_are_told_apart() {
    let wire = link(10, 0, 0, Buffers::Unbounded);
    let network = network(Topology::Line { nodes: 3 }, wormhole(4, 8, 2), wire);
    let told = transfers(&mut fabric(&network), &[(0, 0, 2, 64), (160, 1, 2, 64)]);
    let [_, one, other] = &told[..] else { panic!("{told:?}") };
    assert_eq!((one.from, other.from), (1, 1));
    assert_ne!(one.channel, other.channel);
    assert_eq!([one.on_wire, other.on_wire], [ps(16 * 40); 2]);
    // The link is never idle from the first flit to the last one: 32 cycles for both.
    assert_eq!(other.end().max(one.end()).since(one.first), ps(32 * 40));
    assert!(one.time > one.on_wire && other.first < one.end(), "{told:?}");
}

/// A simple model of channels with explicit times for every single byte: a list of packets that wait at vertices, links
/// that search for the first of them, and a clock that advances by one picosecond.
struct Oracle<'o> {
    topology: &'o Topology,
    wires: &'o [Link],
    header: Option<u64>,
    contention: Contention,
}

/// The progress of a packet: its vertex, and the time at which each of its bytes has arrived there. Byte 0 stands for
/// the start of the packet.
struct WaitingPacket {
    number: usize,
    from: u32,
    at: u32,
    to: u32,
    bytes_at: Vec<u64>,
    /// Arrival time of the head, and the link over which it arrived.
    head: (u64, u32),
    /// Sequence number among the packets that have arrived at a wire, once the packet has.
    place: Option<u64>,
}

impl WaitingPacket {
    fn come(&mut self, places: &mut u64) {
        *places += 1;
        self.place = Some(*places);
    }
}

/// A wire: the packet that it carries, the time at which its last byte leaves, and the last turn.
#[derive(Clone)]
struct OracleWire {
    carries: Option<(usize, u64)>,
    last: u64,
}

impl Oracle<'_> {
    fn deliveries(&self, packets: &[(u64, u32, u32, u32)]) -> Vec<Option<u64>> {
        let source = |(number, &(time, at, to, bytes)): (usize, &(u64, u32, u32, u32))| {
            let by = u32::MAX - u32::try_from(packets.len() - number).unwrap();
            let bytes_at = vec![time; bytes as usize + 1];
            WaitingPacket { number, from: at, at, to, bytes_at, head: (time, by), place: None }
        };
        let mut standing: Vec<WaitingPacket> = packets.iter().enumerate().map(source).collect();
        let mut wires = vec![OracleWire { carries: None, last: u64::MAX }; self.wires.len()];
        let mut delivered = vec![None; packets.len()];
        let (mut now, mut places) = (0, 0);
        while !standing.is_empty() {
            // First the wires that become free now, one after the other, each with the packet that arrives by it at the
            // same time.
            for wire in 0..wires.len() {
                let Some((number, _)) = wires[wire].carries.take_if(|(_, gone)| *gone == now) else { continue };
                self.start(&mut standing, &mut wires[wire], wire, now);
                if !self.arrives_on_departure() {
                    continue;
                }
                let head = (now, u32::try_from(wire).unwrap());
                let comes_now = |packet: &&mut WaitingPacket| (packet.number, packet.head) == (number, head);
                if let Some(packet) = standing.iter_mut().find(comes_now) {
                    packet.come(&mut places);
                    let onward = self.wire(packet);
                    self.start(&mut standing, &mut wires[onward], onward, now);
                }
            }
            // Then all other packets that arrive or are injected now.
            standing.sort_by_key(|packet| packet.head);
            for index in 0..standing.len() {
                if standing[index].head.0 == now && standing[index].place.is_none() {
                    standing[index].come(&mut places);
                    let onward = self.wire(&standing[index]);
                    self.start(&mut standing, &mut wires[onward], onward, now);
                }
            }
            for packet in standing.extract_if(.., |packet| packet.at == packet.to) {
                delivered[packet.number] = packet.bytes_at.last().copied();
            }
            now += 1;
        }
        delivered
    }

    fn arrives_on_departure(&self) -> bool {
        self.header.is_none() && self.wires.iter().all(|wire| wire.latency == SimDuration::ZERO)
    }

    /// Returns the wire for which a packet waits.
    fn wire(&self, packet: &WaitingPacket) -> usize {
        (packet.at * self.topology.ports() + self.topology.route(packet.at, packet.to)) as usize
    }

    /// Starts the packet whose turn it is on a free wire; within a turn, the first one to arrive.
    fn start(&self, standing: &mut [WaitingPacket], wire: &mut OracleWire, number: usize, now: u64) {
        let is_here = |packet: &&mut WaitingPacket| {
            packet.at != packet.to && packet.place.is_some() && self.wire(packet) == number && packet.head.0 <= now
        };
        let after = |packet: &WaitingPacket| self.turn(packet).wrapping_sub(wire.last).wrapping_sub(1);
        if wire.carries.is_some() {
            return;
        }
        let Some(packet) = standing.iter_mut().filter(is_here).min_by_key(|packet| (after(packet), packet.place))
        else {
            return;
        };
        wire.last = self.turn(packet);
        let link = &self.wires[number];
        let port = u32::try_from(number).unwrap() % self.topology.ports();
        let (next, _) = self.topology.neighbour(packet.at, port).unwrap();
        let (per_byte, latency) = (link.byte_time().time(1).ps(), link.latency.ps());
        let mut gone = now + link.per_packet.ps();
        for (byte, came) in packet.bytes_at.iter_mut().enumerate() {
            gone = (gone + if byte > 0 { per_byte } else { 0 }).max(*came);
            *came = gone + latency;
        }
        wire.carries = Some((packet.number, gone));
        packet.at = next;
        packet.place = None;
        let bytes = packet.bytes_at.len() - 1;
        let header = self.header.map_or(bytes, |header| bytes.min(usize::try_from(header).unwrap()));
        packet.head = (packet.bytes_at[header], u32::try_from(number).unwrap());
    }

    fn turn(&self, packet: &WaitingPacket) -> u64 {
        let ports = self.topology.ports();
        match self.contention {
            Contention::RoundRobin(RoundRobinOver::Flows) => u64::from(packet.from) << 32 | u64::from(packet.to),
            // A packet that has arrived by no wire has the last turn.
            Contention::RoundRobin(RoundRobinOver::InputPorts) => {
                let wire = Some(packet.head.1).filter(|wire| (*wire as usize) < self.wires.len());
                wire.map_or(ports, |wire| self.topology.neighbour(wire / ports, wire % ports).unwrap().1).into()
            }
            _ => u64::MAX,
        }
    }
}

fn disciplines() -> impl Strategy<Value = Contention> {
    prop_oneof![
        Just(Contention::FirstComeFirstServed),
        Just(Contention::RoundRobin(RoundRobinOver::InputPorts)),
        Just(Contention::RoundRobin(RoundRobinOver::Flows)),
    ]
}

pub(super) fn topologies() -> impl Strategy<Value = Topology> {
    prop_oneof![
        Just(Topology::Mesh2d { rows: 3, columns: 3 }),
        Just(Topology::Ring { nodes: 6 }),
        Just(Topology::Torus2d { rows: 3, columns: 4 }),
        Just(Topology::Hypercube { dimension: 3 }),
        Just(Topology::BinaryTree { levels: 3 }),
        Just(Topology::FatTree { arity: 2, levels: 3 }),
        Just(Topology::CubeConnectedCycles { dimension: 3 }),
        Just(Topology::Torus { sides: vec![3, 2, 3] }),
        Just(Topology::HyperX { sides: vec![2, 4] }),
        Just(Topology::ExtendedFatTree { children: vec![3, 3], parents: vec![1, 2] }),
        Just(Topology::Dragonfly { groups: 5, routers: 2, nodes: 1, globals: 2, arrangement: Arrangement::Circulant }),
        Just(Topology::Concentrated { nodes: 2, routers: Box::new(Topology::Ring { nodes: 5 }) }),
        Just(Topology::Parallel { links: 2, of: Box::new(Topology::Ring { nodes: 6 }) }),
    ]
}

/// Generates packets between different nodes, at times that often coincide.
fn packets(nodes: u32, largest: u32) -> impl Strategy<Value = Vec<(u64, u32, u32, u32)>> {
    let packet = (0..60_u64, 0..nodes, 1..nodes, 1..=largest);
    prop::collection::vec(packet.prop_map(move |(at, from, far, bytes)| (at, from, (from + far) % nodes, bytes)), 1..50)
}

fn loads() -> impl Strategy<Value = (Topology, Vec<(u64, u32, u32, u32)>)> {
    topologies().prop_flat_map(|topology| {
        let nodes = topology.nodes();
        (Just(topology), packets(nodes, 12))
    })
}

fn switchings() -> impl Strategy<Value = Switching> {
    prop_oneof![
        Just(store_and_forward()),
        (0..6_u64).prop_map(cut_through),
        (1..5_u64, 1..9_u32, 1..3_u32, prop::option::of(routers())).prop_map(|(flit, buffer, lanes, router)| {
            Switching::Wormhole(Wormhole { packet: Bytes::new(1 << 20), flit: Bytes::new(flit), buffer, lanes, router })
        }),
    ]
}

/// Generates routers with any stages.
fn routers() -> impl Strategy<Value = WormholeRouter> {
    let allocators = prop_oneof![
        Just((Allocators::InputFirst, Arbiters::RoundRobin)),
        Just((Allocators::InputFirst, Arbiters::Matrix)),
        Just((Allocators::Islip, Arbiters::RoundRobin)),
    ];
    let stages = (0..4_u32, 1..4_u32, 1..4_u32, 1..3_u32);
    (stages, 0..3_u32, 0..3_u32, 0..3_u32, allocators).prop_map(
        |(stages, credit_delay, injection, ejection, (allocators, arbiters))| {
            let (routing, vc_allocation, switch_allocation, traversal) = stages;
            WormholeRouter {
                routing,
                vc_allocation,
                switch_allocation,
                traversal,
                credit_delay,
                injection,
                ejection,
                allocators,
                arbiters,
            }
        },
    )
}

fn routings() -> impl Strategy<Value = Routing> {
    prop_oneof![
        Just(Routing::DimensionOrder),
        Just(Routing::EvenTies),
        Just(Routing::UpDown),
        Just(Routing::ShortestPath(Choice::Lowest)),
        Just(Routing::ShortestPath(Choice::Seeded)),
        Just(Routing::ShortestPath(Choice::Hashed)),
        Just(Routing::Ties(TieRule::ByTurns)),
        Just(Routing::Ties(TieRule::Lower)),
        Just(Routing::Valiant),
        Just(Routing::Ugal { threshold: 1, weights: Weights::Links, through: Through::Group }),
        Just(Routing::Ugal { threshold: 1, weights: Weights::OneAndTwo, through: Through::Router }),
        Just(Routing::MinimalAdaptive),
        Just(Routing::Table(Vec::new())),
    ]
}

/// Lets those of the given links fail without which the network is still connected.
fn fail(network: &mut Network, links: &[usize]) {
    for link in links {
        let topology = network.topology.clone();
        let Some(((from, _), (to, _))) = topology.links().nth(*link) else { continue };
        network.overrides.push(LinkOverride::LinkFailed { from, to });
        if !network.machine_faults(&topology).is_empty() {
            network.overrides.pop();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Blocked heads, shared links, links of different speed: exact to the picosecond.
    #[test]
    fn channels_agree_with_the_oracle(
        (topology, packets) in loads(),
        speeds in prop::collection::vec((1..5_u64, 0..4_u64, 0..7_u64), 150),
        has_latency in prop::bool::ANY,
        header in prop::option::of(0..6_u64),
        contention in disciplines(),
    ) {
        let ports = topology.ports();
        let wires: Vec<Link> = (0..(topology.vertices() * ports) as usize)
            .map(|wire| {
                let (per_byte, per_packet, latency) = speeds[wire % speeds.len()];
                // Every hop must take time, because simultaneous events have no defined order in the oracle.
                link(per_byte, per_packet + 1, if has_latency { latency } else { 0 }, Buffers::Unbounded)
            })
            .collect();
        let switching = header.map_or_else(store_and_forward, cut_through);
        let network = Network { contention, ..network(topology.clone(), switching, wires[0].clone()) };
        let mut channels = Channels::new(&network, topology.clone(), Streams::new(1));
        for (wire, link) in (0..).zip(&wires) {
            channels = channels.with_link(wire / ports, wire % ports, link);
        }
        let times = deliveries(&mut Fabric(LinkState::Channels(Box::new(channels))), &packets);
        prop_assert_eq!(times, Oracle { topology: &topology, wires: &wires, header, contention }.deliveries(&packets));
    }

    /// Stations are equivalent to channels that store and forward without limits.
    #[test]
    fn channels_agree_with_stations((topology, packets) in loads(), per_byte in 1..5_u64) {
        let network = network(topology.clone(), store_and_forward(), link(per_byte, 0, 0, Buffers::Unbounded));
        let mut stations = fabric(&network);
        prop_assert!(matches!(stations.0, LinkState::Links(_)));
        let channels = Channels::new(&network, topology, Streams::new(1));
        let times = deliveries(&mut Fabric(LinkState::Channels(Box::new(channels))), &packets);
        prop_assert_eq!(deliveries(&mut stations, &packets), times);
    }

    /// The recorded transfers up to any instant, whole or partial, last as long as the links have been busy.
    #[test]
    fn what_links_tell_until_an_instant_is_their_load_at_it(
        (topology, packets) in loads(),
        switching in switchings(),
        (per_byte, latency) in (1..5_u64, 0..3_u64),
        room in prop::option::of(1..4_u32),
        end_link in prop::option::of(1..9_u64),
        end in 0..600_u64,
    ) {
        let is_wormhole = matches!(switching, Switching::Wormhole(_));
        let flit = if let Switching::Wormhole(mode) = &switching { mode.flit.count() } else { 1 };
        let buffers = room.filter(|_| !is_wormhole).map_or(Buffers::Unbounded, Buffers::Packets);
        let mut network = network(topology, switching, link(per_byte, 0, latency * flit * per_byte, buffers));
        network.end_links = end_link.filter(|_| !is_wormhole).map(|per_byte| link(per_byte, 0, 0, buffers));
        let (mut fabric, end) = (fabric(&network), SimTime::from_ps(end));
        fabric.record_transfers();
        deliveries_until(end, &mut fabric, &packets);
        fabric.finish_transfers(end);
        let links = fabric.loads(end);
        let transfers: Vec<_> = fabric.transfers().expect("they are recorded").finalised().to_vec();
        let directions: Vec<Direction> = Direction::of_loads(&links).collect();
        for direction in &directions {
            let own = || transfers.iter().filter(|transfer| transfer.direction() == *direction);
            let parallel = || links.iter().zip(&directions).filter(|(_, other)| *other == direction).map(|(link, _)| link);
            let busy: SimDuration = own().map(|transfer| transfer.busy_until(end)).sum();
            prop_assert_eq!(busy, parallel().map(|link| link.busy).sum::<SimDuration>());
            let told: u64 = own().map(|transfer| u64::from(transfer.packets)).sum();
            let packets: u64 = parallel().map(|link| link.packets).sum();
            // The load of a plain station counts packets that wait.
            prop_assert!(told == packets || network.is_plain() && told < packets, "{} {:?}", told, direction);
        }
        prop_assert!(!is_wormhole || transfers.iter().all(|transfer| transfer.end() <= end));
    }

    /// The latency of a lone worm in terms of the stages of its routers, plus the cycle in which it waits for its
    /// clock.
    #[test]
    fn a_lone_worm_takes_the_stages_of_its_routers(
        router in routers(),
        (links, flits, latency, lanes) in (1..8_u32, 1..40_u32, 0..3_u32, 1..3_u32),
    ) {
        let wire = link(10, 0, 40 * u64::from(latency), Buffers::Unbounded);
        // A head occupies its place while it is assigned its route and its channel.
        let buffer = u32::try_from(router.credit_loop(latency.into())).unwrap() + router.routing + router.vc_allocation;
        let mode = Wormhole { packet: Bytes::new(1 << 20), flit: Bytes::new(4), buffer, lanes, router: Some(router) };
        let network = network(Topology::Line { nodes: links + 1 }, Switching::Wormhole(mode), wire);
        let times = deliveries(&mut fabric(&network), &[(0, 0, links, 4 * flits)]);
        let stages = router.routing + router.vc_allocation + router.switch_allocation + router.traversal;
        let ends = router.injection + router.ejection;
        let cycles = 1 + (stages + 1 + latency) * links + stages + ends + flits - 1;
        prop_assert_eq!(times, [Some(40 * u64::from(cycles))]);
    }

    /// Every packet is delivered exactly once, whatever the buffers, and at the same time whether routers or the caller
    /// forward it, and whether or not transfers are recorded.
    #[test]
    fn nothing_is_lost(
        (topology, packets) in loads(),
        switching in switchings(),
        room in prop::option::of(1..4_u32),
        routing in routings(),
        failed in prop::collection::vec(0..40_usize, 0..3),
        contention in disciplines(),
    ) {
        let is_wormhole = matches!(switching, Switching::Wormhole(_));
        let buffers = room.filter(|_| !is_wormhole).map_or(Buffers::Unbounded, Buffers::Packets);
        let mut network = network(topology, switching, link(1, 0, 0, buffers));
        network.routing = routing;
        network.contention = contention;
        if network.routing.avoids_failed_links() {
            fail(&mut network, &failed);
        }
        let times = deliveries(&mut fabric(&network), &packets);
        prop_assert!(times.iter().all(Option::is_some), "{:?}", times);
        for is_recorded in [false, true] {
            let mut fabric = fabric(&network);
            if is_recorded {
                fabric.record_transfers();
            }
            prop_assert_eq!(&deliveries_by(Fabric::relay, SimTime::END, &mut fabric, &packets), &times);
        }
    }
}

/// Three nodes of a line send to its end continuously. Their shares of the last link are proportional to arrivals under
/// FIFO, halved at every merge under round robin over ports, and equal under round robin over flows.
#[test]
fn a_parking_lot_is_shared_by_discipline() {
    const EACH: u32 = 120;
    let share = |contention, shares: [usize; 3]| {
        let wire = link(10, 0, 0, Buffers::Packets(2));
        let line = Topology::Line { nodes: 4 };
        let network = Network { contention, ..network(line, store_and_forward(), wire) };
        let packets: Vec<_> = (0..3 * EACH).map(|number| (0, number % 3, 3, 1)).collect();
        let times = deliveries(&mut fabric(&network), &packets);
        let mut order: Vec<_> = times.into_iter().zip(0..3 * EACH).collect();
        order.sort_unstable();
        // The first packets arrive before the links have filled.
        let sources = || order[20..140].iter().map(|(_, number)| number % 3);
        assert_eq!(
            [0, 1, 2].map(|source| sources().filter(|other| *other == source).count()),
            shares,
            "{contention:?}"
        );
    };
    share(Contention::RoundRobin(RoundRobinOver::InputPorts), [30, 30, 60]);
    share(Contention::RoundRobin(RoundRobinOver::Flows), [40, 40, 40]);
}

/// All nodes of a ring send to the opposite node: with one class of buffers each waits for the next one, with two
/// classes none does.
#[test]
fn a_ring_without_virtual_channels_comes_to_a_stand() {
    let ring = Topology::Ring { nodes: 8 };
    let packets: Vec<_> = (0..64).map(|number| (0, number % 8, (number + 3) % 8, 32)).collect();
    let modes = [
        (store_and_forward(), Buffers::Packets(1)),
        (cut_through(1), Buffers::Packets(1)),
        (wormhole(4, 2, 1), Buffers::Unbounded),
    ];
    for (switching, buffers) in modes {
        let mut network = network(ring.clone(), switching, link(1, 0, 0, buffers));
        assert!(deliveries(&mut fabric(&network), &packets).iter().all(Option::is_some));
        network.virtual_channels = VirtualChannels::Single;
        let mut fabric = fabric(&network);
        assert!(deliveries(&mut fabric, &packets).iter().any(Option::is_none));
        let standstill = fabric.standstill();
        let around: Vec<_> = (0..8).map(|from| BufferId { from, to: (from + 1) % 8, class: 0 }).collect();
        assert_eq!(standstill.cycle, around, "{standstill}");
    }
}
