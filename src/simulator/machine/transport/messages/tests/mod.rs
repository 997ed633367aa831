//! Times of the LogGOPS model, computed by hand.

mod costs;
mod flows;
mod networks;
mod order;

use crate::engine::Discipline;
use crate::machine::{Allocation, LogGops, Machine, NodeOverride, Overtaking, Placement, Sends};
use crate::network::switching::{CutThrough, StoreAndForward, Wormhole};
use crate::network::{Contention, Link, LinkOverride, Network, Routing as NetworkRouting, Switching, Topology};
use crate::node::{
    DataTransfer, EmptyMessage, Injection, Interface, InterfaceChoice, Level, Node, Processor, Progress, Router,
    Shared, WithinNode,
};
use crate::program::{Message, MessagePattern, Process, Program};
use crate::simulation::{Detail, Simulation};
use crate::trace::{Activity, Recording};
use crate::units::{Bytes, FlopRate, PerByte, SimDuration};

/// L = 2500 ns, o = 1500 ns, g = 1000 ns, G = 6 ns/B, O = 0, S = 65535 B: the defaults of LogGOPSim.
fn loggops() -> LogGops {
    LogGops {
        latency: ns(2500),
        overhead: ns(1500),
        gap: ns(1000),
        gap_per_byte: PerByte::new(ns(6)),
        overhead_per_byte: PerByte::FREE,
        eager_up_to: Bytes::new(65_535),
        over: None,
        within_node: WithinNode::Copied,
        empty: EmptyMessage::AsOneByte,
        overtaking: Overtaking::Forbidden,
        processor: None,
        detours: Vec::new(),
    }
}

fn ns(count: u64) -> SimDuration {
    SimDuration::from_ps(1000 * count)
}

/// Returns the makespan in ns of messages of these lengths from rank 0 to ranks 1, 2, ….
fn fan_out(machine: &Machine, lengths: &[u64]) -> u64 {
    fan_out_before(machine, lengths, ns(0))
}

/// Returns the same makespan if rank 1 computes for `work` after its receive.
fn fan_out_before(machine: &Machine, lengths: &[u64], work: SimDuration) -> u64 {
    let ranks = u32::try_from(lengths.len()).unwrap() + 1;
    let lengths = lengths.to_vec();
    let program = move |me: Process| {
        let lengths = lengths.clone();
        async move {
            if me.rank() > 0 {
                me.receive(0).await;
                return if me.rank() == 1 {
                    me.compute_for(work).await;
                };
            }
            for (to, bytes) in (1..).zip(lengths) {
                me.send(to, Message::new(bytes)).await;
            }
        }
    };
    Simulation::new(machine, ranks).unwrap().run(&program).unwrap().makespan.ps() / 1000
}

/// A star of four nodes, with links of 1 ns per byte and 10 ns of latency, and interfaces without overheads.
fn star(sends: Sends) -> Machine {
    let links = Link::new(PerByte::new(ns(1))).latency(ns(10));
    let star = Topology::FatTree { arity: 4, levels: 1 };
    let switching = Switching::CutThrough(CutThrough { packet: Bytes::from_mib(1), header: Bytes::new(0) });
    let mut network = Network::new(star, NetworkRouting::DimensionOrder, switching, links);
    network.contention = Contention::FairFlows;
    let free = PerByte::FREE;
    let interface = Interface { progress: Progress::Offloaded, ..Interface::new(ns(0), free, ns(0), free) };
    let mut nodes = Node::ideal(Processor::Unspecified, Router::Hardware);
    nodes.interface = Some(interface);
    let machine = Machine::new("star", nodes, network, sends);
    assert!(machine.faults().is_empty(), "{:?}", machine.faults());
    machine
}

/// Returns the makespan in ns of a program on as many ranks.
fn makespan(machine: &Machine, ranks: u32, program: &impl Program) -> u64 {
    Simulation::new(machine, ranks).unwrap().run(program).unwrap().makespan.ps() / 1000
}
