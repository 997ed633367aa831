//! A machine takes about ten lines, in RON and in Rust, with the same defaults.

use crate::repository;
use parsim::machine::{Allocation, Placement, Sends};
use parsim::network::switching::CutThrough;
use parsim::network::{Link, Network, Routing, Switching, Topology};
use parsim::node::{Copies, Level, Node, Processor, Receiving, Router, Sending};
use parsim::programs::{RingShift, ShiftOrder};
use parsim::units::{Bytes, PerByte, SimDuration};
use parsim::{Machine, Simulation, load_machine};

const SMALL_CLUSTER: &str = "scenarios/machines/small-cluster.ron";

fn in_rust() -> Machine {
    let us = SimDuration::from_us(1);
    let sending = Sending {
        per_packet: us,
        per_byte: PerByte::FREE,
        per_hop: SimDuration::ZERO,
        copies: Copies::EverySend,
        overlap: true,
    };
    let receiving = Receiving { per_packet: us, per_byte: PerByte::FREE };
    let processor = Processor::FlopRate("20 Gflop/s".parse().expect("a rate"));
    let mut node = Node::new(processor, Bytes::new(64 << 30), Router::Hardware, sending, receiving);
    node.levels = vec![Level { name: "node".to_owned(), members: 8, memory: None, interface: None }];
    let latency = SimDuration::from_ps(300_000);
    let network = Network::new(
        Topology::FatTree { arity: 4, levels: 2 },
        Routing::DimensionOrder,
        Switching::CutThrough(CutThrough { packet: Bytes::new(64 << 10), header: Bytes::new(0) }),
        Link { latency, ..Link::new("12.5 GB/s".parse().expect("a rate")) },
    );
    Machine::new("small cluster", node, network, Sends::UntilInjected)
}

#[test]
fn defaults_are_the_same_in_ron_and_in_rust() {
    assert_eq!(load_machine(repository(SMALL_CLUSTER)).expect("a good machine"), in_rust());
}

#[test]
fn a_machine_of_ten_lines_runs() {
    let text = std::fs::read_to_string(repository(SMALL_CLUSTER)).expect("a file");
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    assert!(code.count() <= 12, "{text}");
    let machine = in_rust();
    let allocation = Allocation::new(&machine, 128).placement(Placement::Packed { ranks_per_node: 8 });
    let shift = RingShift { bytes: Bytes::new(1 << 20), rounds: 1, order: ShiftOrder::Concurrent };
    let trace = Simulation::on(&allocation).expect("room for all ranks").run(&shift).expect("a run that ends");
    assert_eq!(trace.counts.messages, 128);
    // A megabyte takes 16 packets: 84 us on a link, which the eight ranks of a node do not share here.
    assert!(trace.makespan > SimDuration::from_us(84), "{}", trace.makespan);
}

/// Computations on one core that has no clock of time slices come one after the other.
#[test]
fn without_time_slices_a_computation_keeps_its_core() {
    use parsim::node::Work;
    let mut machine = in_rust();
    machine.nodes.levels.clear();
    let allocation = Allocation::new(&machine, 2).placement(Placement::Packed { ranks_per_node: 2 });
    let ends = |me: parsim::Process| async move {
        me.compute(Work::flops(20_000_000)).await;
        me.report(if me.rank() == 0 { "first" } else { "second" }, me.now().seconds());
    };
    let trace = Simulation::on(&allocation).expect("room for two").run(&ends).expect("a run that ends");
    let end = |name| (trace.outcome(name).expect("an end") * 1e6).round();
    assert_eq!((end("first"), end("second")), (1000.0, 2000.0));
}
