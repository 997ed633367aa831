//! The cost of link transfers for the memory of a node.

use crate::engine::Discipline;
use crate::engine::Streams;
use crate::machine::transport::packets::PacketTransport;
use crate::machine::{Allocation, Completion, Machine, OutgoingMessage, Placement, RankLocation, Sends};
use crate::network::Topology;
use crate::node::{Copies, Level, Module, Node, Processor, Receiving, Router, Sending, Shared, Work};
use crate::program::{Message, Process};
use crate::simulation::Simulation;
use crate::units::{Bytes, PerByte, SimDuration, SimTime};

const BYTES: u64 = 120;
const CENTRE: u32 = 4;

/// A 3 × 3 mesh without software costs. Links take 1 us per byte and 200 ns of memory per word, and nodes compute rows
/// of 1 us.
fn machine() -> Machine {
    let us = SimDuration::from_us;
    let mut machine = crate::machine::shipped("parsytec-supercluster-t800");
    let nodes = &mut machine.nodes;
    nodes.sending = Sending {
        per_packet: SimDuration::ZERO,
        per_byte: PerByte::FREE,
        per_hop: SimDuration::ZERO,
        copies: Copies::EverySend,
        overlap: false,
    };
    nodes.receiving = Receiving { per_packet: SimDuration::ZERO, per_byte: PerByte::FREE };
    nodes.routing.per_packet = SimDuration::ZERO;
    nodes.dma_per_word = us(1).ratio(1, 5);
    machine.network.links.per_byte = Some(PerByte::new(us(1)));
    machine.sends = Sends::UntilInjected;
    let Processor::Calibrated(times) = &mut machine.nodes.processor else { unreachable!("it is calibrated") };
    times.rsub = us(1);
    machine
}

/// Returns the end of a computation of 10 ms on the central node while `directions` directions of its links are busy.
fn end_with(directions: u32) -> SimTime {
    let machine = machine();
    let mesh = Topology::Mesh2d { rows: 3, columns: 3 };
    let mut transport = PacketTransport::new(&machine, mesh, 9, Streams::new(1));
    let neighbours = [1, 3, 5, 7];
    let now = SimTime::START;
    let location = |node| RankLocation { node, core: 0 };
    transport
        .compute(now, location(CENTRE), CENTRE, Work::new(Module::Rsub, 10_000).into())
        .expect("a sound processor");
    for direction in 0..directions {
        let neighbour = neighbours[direction as usize / 2];
        let (from, to) = if direction % 2 == 0 { (neighbour, CENTRE) } else { (CENTRE, neighbour) };
        let message = OutgoingMessage { bytes: 1000 * BYTES, again: false, handle: direction, cause: 0 };
        transport.send(now, (location(from), location(to)), message);
    }
    while let Some(now) = transport.step() {
        if transport.completions.contains(&Completion::Computed { owner: CENTRE }) {
            return now;
        }
    }
    unreachable!("the computation ends")
}

#[test]
fn every_busy_direction_of_a_link_takes_its_share_of_the_memory() {
    // A packet of 30 words takes 6 us of memory in its 120 us on the link: a twentieth.
    let alone = end_with(0).since(SimTime::START).seconds();
    assert!((alone - 0.01).abs() < 1e-12);
    for directions in 1..=8 {
        let end = end_with(directions).since(SimTime::START).seconds();
        let expected = alone / (1.0 - 0.05 * f64::from(directions));
        // In each direction, one packet may be in transit when the computation ends.
        let last_packets = 6e-6 * f64::from(directions) * expected / alone;
        assert!((end - expected).abs() <= last_packets, "{directions}: {end} instead of {expected}");
    }
}

/// A memory of 1 ns/B with a latency of 100 ns, like a link with that latency: the latency is added once.
#[test]
fn packets_within_a_node_do_not_wait_for_each_other_s_latency() {
    let mut machine = machine();
    machine.nodes = Node::ideal(Processor::Unspecified, Router::Hardware);
    machine.nodes.memory = Bytes::from_mib(1);
    machine.nodes.sending.overlap = true;
    let memory = Shared {
        bandwidth: PerByte::new(SimDuration::from_ns(1)),
        latency: SimDuration::from_ns(100),
        discipline: Discipline::FirstComeFirstServed,
        per_core: None,
    };
    machine.nodes.levels = vec![Level { name: "node".to_owned(), members: 2, memory: Some(memory), interface: None }];
    let allocation = Allocation::new(&machine, 2).placement(Placement::Packed { ranks_per_node: 2 });
    let program = async |me: Process| match me.rank() {
        0 => me.send(1, Message::new(10 * BYTES)).await,
        _ => drop(me.receive(0).await),
    };
    let trace = Simulation::on(&allocation).unwrap().run(&program).unwrap();
    assert_eq!(trace.makespan, SimDuration::from_ns(10 * BYTES + 100));
}
