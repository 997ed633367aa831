//! Times of the LogGOPS model, computed by hand.

use crate::engine::Discipline;
use crate::machine::{Allocation, LogGops, Machine, NodeOverride, Overtaking, Placement, Sends};
use crate::network::switching::{CutThrough, StoreAndForward, Wormhole};
use crate::network::{Contention, Link, LinkOverride, Network, Routing as NetworkRouting, Switching, Topology};
use crate::node::{
    DataTransfer, EmptyMessage, Injection, Interface, InterfaceChoice, Level, Node, Processor, Progress, Router,
    Shared, WithinNode,
};
use crate::program::{Message, MessagePattern, Process, Program};
use crate::simulation::Simulation;
use crate::trace::Activity;
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

#[test]
fn a_message_pays_both_overheads_the_latency_and_its_bytes_once() {
    let machine = Machine::from(loggops());
    assert_eq!(fan_out(&machine, &[1]), 1500 + 2500 + 1500);
    assert_eq!(fan_out(&machine, &[1001]), 1500 + 2500 + 1500 + 6000);
}

/// Eight cores share a memory of 2 ns/B with a latency of 100 ns. The time is o, then the bytes of both messages in
/// sequence, then o; the interface is not used.
#[test]
fn messages_within_a_node_pass_through_its_memory() {
    let memory =
        Shared { bandwidth: PerByte::new(ns(2)), latency: ns(100), discipline: Discipline::FirstComeFirstServed };
    let level = Level { name: "node".to_owned(), members: 8, memory: Some(memory), interface: None };
    let machine = Machine::from(loggops());
    let machine = Machine { nodes: Node { levels: vec![level], ..machine.nodes.clone() }, ..machine };
    assert!(machine.faults().is_empty(), "{:?}", machine.faults());
    let pairs = async |me: Process| match me.rank() {
        rank @ (0 | 1) => me.send(rank + 2, Message::new(1000)).await,
        rank @ (2 | 3) => drop(me.receive(rank - 2).await),
        _ => me.load(500.0).await,
    };
    let makespan = |ranks: u32, ranks_per_node: u32| {
        let allocation = Allocation::new(&machine, ranks).placement(Placement::Packed { ranks_per_node });
        Simulation::on(&allocation).unwrap().run(&pairs).unwrap().makespan.ps() / 1000
    };
    assert_eq!(makespan(4, 8), 1500 + 2 * 2000 + 100 + 1500);
    // A load of 1000 ns is over before the messages arrive, a second load is not.
    assert_eq!(makespan(5, 8), 1500 + 2 * 2000 + 100 + 1500);
    assert_eq!(makespan(6, 8), 2 * 1000 + 2 * 2000 + 100 + 1500);
    // Between nodes messages use the interface and no memory.
    assert_eq!(makespan(4, 2), (1000 + 999 * 6) + 1500 + 2500 + 1500 + 999 * 6);
}

#[test]
fn overhead_and_gap_of_a_sender_overlap() {
    // o > g: one message every 1500 ns.
    assert_eq!(fan_out(&Machine::from(loggops()), &[1, 1, 1]), 2 * 1500 + 5500);
    // 1000 + 1000 · 6 > o: the interface is the bottleneck.
    assert_eq!(fan_out(&Machine::from(loggops()), &[1001, 1]), 7000 + 5500);
    let slow = LogGops { gap: ns(4000), ..loggops() };
    assert_eq!(fan_out(&Machine::from(slow), &[1, 1, 1]), 2 * 4000 + 5500);
}

#[test]
fn a_large_message_holds_its_sender_until_it_is_met() {
    let machine = Machine::from(loggops());
    let bytes = 65_536;
    // Both receivers wait. The first message is matched when its first byte has arrived, at 4000 ns.
    assert_eq!(fan_out(&machine, &[bytes, 1]), (1000 + 6 * 65_535) + 5500);
    let short_gap = LogGops { gap_per_byte: PerByte::FREE, gap: ns(0), ..loggops() };
    assert_eq!(fan_out(&Machine::from(short_gap), &[bytes, 1]), 4000 + 5500);
}

/// Returns the end in ns of a rank that sends and computes for 50 ms, and of the receiver, which posts its receive
/// after `late`.
fn ends_of_a_met_send(machine: &Machine, late: SimDuration) -> [u64; 2] {
    let program = move |me: Process| async move {
        if me.rank() == 0 {
            me.send(1, Message::new(100_000)).await;
            me.compute_for(ns(50_000_000)).await;
        } else {
            me.compute_for(late).await;
            me.receive(0).await;
        }
    };
    let trace = Simulation::new(machine, 2).unwrap().run(&program).unwrap();
    let idle = |rank: u32| trace.accounts.rank(rank).get(Activity::Idle);
    [0, 1].map(|rank| (trace.makespan - idle(rank)).ps() / 1000)
}

#[test]
fn a_large_message_in_packets_is_met_by_its_first_one() {
    let link = Link { latency: ns(2500), ..Link::new(PerByte::FREE) };
    let over = Network::store_and_forward(Topology::Complete { nodes: 2 }, link, Bytes::new(1000));
    let packets = Machine::from(LogGops { over: Some(over), ..loggops() });
    let without = Machine::from(loggops());
    for late in [0, 4001, 300_000, 10_000_000] {
        let ends = ends_of_a_met_send(&without, ns(late));
        assert_eq!(ends_of_a_met_send(&packets, ns(late)), ends, "{late}");
        assert_eq!(ends[0], late.max(4000) + 50_000_000);
    }
}

#[test]
fn several_interfaces_send_side_by_side() {
    let mut machine = Machine::from(LogGops { overhead: ns(100), gap: ns(4000), ..loggops() });
    // One message every 4000 ns, and o + L + o for the last.
    assert_eq!(fan_out(&machine, &[1, 1, 1]), 2 * 4000 + 2700);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.count, interface.choice) = (2, InterfaceChoice::RoundRobin);
    // The third message waits for the first.
    assert_eq!(fan_out(&machine, &[1, 1, 1]), 4000 + 2700);
}

#[test]
fn a_receiver_may_be_spared_the_bytes_or_all_work() {
    let mut machine = Machine::from(LogGops { overhead_per_byte: PerByte::new(ns(1)), ..loggops() });
    // While bytes arrive, each after the first takes the slower of G and O; the sender's O overlaps with the wire.
    assert_eq!(fan_out(&machine, &[1001]), 1500 + 2500 + 1500 + 6000);
    machine.nodes.interface.as_mut().unwrap().progress = Progress::AfterArrival;
    assert_eq!(fan_out(&machine, &[1001]), 1500 + 2500 + 6000 + 1500 + 1000);
    machine.nodes.interface.as_mut().unwrap().progress = Progress::Offloaded;
    assert_eq!(fan_out(&machine, &[1001]), 1500 + 2500 + 6000);
}

#[test]
fn packets_of_a_network_carry_what_interfaces_send() {
    let link = Link { latency: ns(2500), ..Link::new(PerByte::FREE) };
    let over = Network::store_and_forward(Topology::Complete { nodes: 4 }, link, Bytes::new(100));
    let machine = Machine::from(LogGops { over: Some(over), ..loggops() });
    assert!(machine.faults().is_empty(), "{:?}", machine.faults());
    // The result is that without a network, plus G for the first byte of each packet after the first.
    assert_eq!(fan_out(&machine, &[1]), 5500);
    assert_eq!(fan_out(&machine, &[1000]), 1500 + 2500 + 1500 + 6 * 999);
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

#[test]
fn flows_share_the_link_of_their_source_and_interfaces_their_rate() {
    // Both messages have half the rate.
    assert_eq!(fan_out(&star(Sends::Buffered), &[1000, 1000]), 20 + 2000);
    // The messages are sent in sequence.
    assert_eq!(fan_out(&star(Sends::UntilDelivered), &[1000, 1000]), 2 * (20 + 1000));
    // The messages are sent in sequence: the second begins when the last byte of the first has left.
    let mut in_turn = star(Sends::Buffered);
    in_turn.nodes.interface.as_mut().unwrap().injection = Injection::InTurn;
    assert_eq!(fan_out(&in_turn, &[1000, 1000]), 20 + 2000);
    assert_eq!(fan_out(&in_turn, &[1000, 500, 10]), 20 + 1510);
    // If they share the rate, the first message arrives with the second; in sequence it arrives after its own 1000 ns.
    assert_eq!(fan_out_before(&star(Sends::Buffered), &[1000, 1000], ns(5000)), 20 + 2000 + 5000);
    assert_eq!(fan_out_before(&in_turn, &[1000, 1000], ns(5000)), 20 + 1000 + 5000);
    // 4 ns per byte between the two of them, or 4 ns per byte for each.
    let mut slow = star(Sends::Buffered);
    let interface = slow.nodes.interface.as_mut().unwrap();
    interface.gap_per_byte = PerByte::new(ns(4));
    assert_eq!(fan_out(&slow, &[1000, 1000]), 20 + 8000);
    slow.nodes.interface.as_mut().unwrap().count = 2;
    assert_eq!(fan_out(&slow, &[1000, 1000]), 20 + 4000);
}

/// Returns the makespan in ns of two nodes that simultaneously send each other `count` messages of `bytes` bytes.
fn crossing(machine: &Machine, count: usize, bytes: u64) -> u64 {
    let program = |me: Process| async move {
        let other = 1 - me.rank();
        let mut under_way = Vec::new();
        for _ in 0..count {
            under_way.push(me.start_receive(MessagePattern { from: Some(other), tag: None }).await);
            under_way.push(me.start_send(other, Message::new(bytes)).await);
        }
        me.wait_all(under_way).await;
    };
    Simulation::new(machine, 2).unwrap().run(&program).unwrap().makespan.ps() / 1000
}

#[test]
fn long_messages_that_cross_share_one_direction() {
    let mut machine = star(Sends::UntilDelivered);
    assert_eq!(crossing(&machine, 1, 1000), 20 + 1000);
    machine.nodes.interface.as_mut().unwrap().duplex = Some(Bytes::new(999));
    assert_eq!(crossing(&machine, 1, 999), 20 + 999);
    assert_eq!(crossing(&machine, 1, 1000), 20 + 2000);
    assert_eq!(crossing(&machine, 2, 1000), 20 + 4000);
    // Messages to different nodes do not cross.
    assert_eq!(fan_out(&machine, &[1000, 1000]), 2 * (20 + 1000));
    machine.network.contention = Contention::Off;
    assert_eq!(crossing(&machine, 1, 1000), 20 + 999);
    machine.network.contention = Contention::FirstComeFirstServed;
    assert_eq!(machine.faults()[0].path, "nodes.interface.duplex");
}

/// Returns the makespan in ns of a program on as many ranks.
fn makespan(machine: &Machine, ranks: u32, program: &impl Program) -> u64 {
    Simulation::new(machine, ranks).unwrap().run(program).unwrap().makespan.ps() / 1000
}

#[test]
fn messages_that_nothing_opposes_have_the_rate_of_all_interfaces() {
    let mut machine = star(Sends::Buffered);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.count, interface.gap_per_byte) = (2, PerByte::new(ns(2)));
    let two = async |me: Process| {
        for _ in 0..2 {
            match me.rank() {
                0 => me.send(1, Message::new(1000)).await,
                _ => drop(me.receive(0).await),
            }
        }
    };
    for duplex in [None, Some(Bytes::new(999))] {
        machine.nodes.interface.as_mut().unwrap().duplex = duplex;
        assert_eq!(makespan(&machine, 2, &two), 20 + 2000);
    }
    assert_eq!(crossing(&machine, 2, 1000), 20 + 4000);
}

/// From node 0 to node 3 over a slow link, and back over two fast ones.
#[test]
fn messages_that_never_meet_share_nothing_in_either_order() {
    let mut machine = star(Sends::UntilDelivered);
    machine.network.topology = Topology::Mesh2d { rows: 2, columns: 2 };
    machine.network.overrides = vec![LinkOverride::LinkSpeed { from: 0, to: 1, per_byte: PerByte::new(ns(10)) }];
    machine.nodes.interface.as_mut().unwrap().duplex = Some(Bytes::new(999));
    for first in [0, 3] {
        let there_and_back = move |me: Process| async move {
            let other = 3 - me.rank();
            match me.rank() {
                rank if rank == first => {
                    me.send(other, Message::new(1000)).await;
                    me.receive(other).await;
                }
                0 | 3 => {
                    me.receive(other).await;
                    me.send(other, Message::new(1000)).await;
                }
                _ => {}
            }
        };
        assert_eq!(makespan(&machine, 4, &there_and_back), 20 + 10_000 + 20 + 1000, "{first}");
    }
}

#[test]
fn data_whose_receive_waits_leave_before_the_next_message() {
    let mut machine = star(Sends::Eager { up_to: Bytes::new(100) });
    let interface = machine.nodes.interface.as_mut().unwrap();
    interface.injection = Injection::InTurn;
    interface.data = DataTransfer::WhenMatched { above: Bytes::new(100) };
    for contention in [Contention::FairFlows, Contention::FirstComeFirstServed, Contention::Off] {
        machine.network.contention = contention;
        let program = async |me: Process| match me.rank() {
            0 => {
                me.compute_for(ns(1000)).await;
                let sends = [me.start_send(1, Message::new(1000)).await, me.start_send(2, Message::new(1)).await];
                me.wait_all(sends.to_vec()).await;
            }
            rank => {
                me.receive(0).await;
                me.compute_for(ns(5000 * u64::from(rank - 1))).await;
            }
        };
        // The second message arrives behind the 1000 bytes of the first; without contention the first byte is free.
        let arrival = makespan(&machine, 3, &program) - 5000;
        assert!((1000 + 20 + 999..=1000 + 20 + 1001).contains(&arrival), "{arrival}");
        // An earlier message keeps the interface busy for 100 ns while both are requested.
        let behind = async |me: Process| match me.rank() {
            0 => {
                let first = me.start_send(3, Message::new(100)).await;
                let sends =
                    [first, me.start_send(1, Message::new(1000)).await, me.start_send(2, Message::new(1)).await];
                me.wait_all(sends.to_vec()).await;
            }
            rank => {
                me.receive(0).await;
                me.compute_for(ns(5000 * u64::from(rank == 2))).await;
            }
        };
        let arrival = makespan(&machine, 4, &behind) - 5000;
        assert!((20 + 1097..=20 + 1101).contains(&arrival), "{arrival}");
    }
}

#[test]
fn ranks_of_a_core_compute_in_the_order_of_their_requests() {
    let machine = Machine::from(loggops());
    let allocation = Allocation::new(&machine, 3).placement(Placement::Explicit(vec![0, 0, 0]));
    let program = async |me: Process| {
        for _ in 0..if me.rank() == 0 { 3 } else { 1 } {
            me.compute_for(ns(1000)).await;
        }
    };
    let trace = Simulation::on(&allocation).unwrap().run(&program).unwrap();
    let end = |rank: u32| (trace.makespan - trace.accounts.rank(rank).get(Activity::Idle)).ps() / 1000;
    assert_eq!([0, 1, 2].map(end), [5000, 2000, 3000]);
}

/// Two ranks of one core use the interface of that core.
#[test]
fn an_interface_belongs_to_a_core_and_not_to_a_rank() {
    let mut machine = star(Sends::Buffered);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.count, interface.choice) = (2, InterfaceChoice::ByCore);
    interface.gap_per_byte = PerByte::new(ns(4));
    let allocation = Allocation::new(&machine, 4).placement(Placement::Explicit(vec![0, 0, 1, 2]));
    let program = async |me: Process| match me.rank() {
        rank @ (0 | 1) => me.send(rank + 2, Message::new(1000)).await,
        rank => drop(me.receive(rank - 2).await),
    };
    let makespan = Simulation::on(&allocation).unwrap().run(&program).unwrap().makespan;
    assert_eq!(makespan.ps() / 1000, 20 + 8000);
}

#[test]
fn an_empty_message_takes_the_time_of_one_byte_on_every_network() {
    for contention in [Contention::FairFlows, Contention::FirstComeFirstServed, Contention::Off] {
        let mut machine = star(Sends::Buffered);
        machine.network.contention = contention;
        for header in [0, 16] {
            machine.nodes.interface.as_mut().unwrap().header = Bytes::new(header);
            assert_eq!(fan_out(&machine, &[0]), fan_out(&machine, &[1]), "{:?}", machine.network.contention);
        }
    }
}

/// The packet takes 1 us on one link and 10 us on the other, in either order.
#[test]
fn a_stored_packet_takes_its_time_on_every_link_once() {
    let mut machine = star(Sends::Buffered);
    let packet = Bytes::new(1000);
    machine.network.topology = Topology::Line { nodes: 3 };
    machine.network.switching = Switching::StoreAndForward(StoreAndForward { packet });
    machine.network.overrides = vec![LinkOverride::LinkSpeed { from: 0, to: 1, per_byte: PerByte::new(ns(10)) }];
    for contention in [Contention::FairFlows, Contention::FirstComeFirstServed] {
        machine.network.contention = contention;
        for ends in [(0, 2), (2, 0)] {
            let program = move |me: Process| async move {
                match me.rank() {
                    rank if rank == ends.0 => me.send(ends.1, Message::new(1000)).await,
                    rank if rank == ends.1 => drop(me.receive(ends.0).await),
                    _ => {}
                }
            };
            assert_eq!(makespan(&machine, 3, &program), 10_000 + 1000 + 20, "{ends:?}");
        }
    }
}

#[test]
fn long_messages_are_not_copied() {
    let mut machine = Machine::from(LogGops { overhead_per_byte: PerByte::new(ns(1)), ..loggops() });
    machine.nodes.interface.as_mut().unwrap().copied = Some(Bytes::new(1000));
    assert_eq!(machine.faults()[0].path, "nodes.interface.copied");
    machine.nodes.interface.as_mut().unwrap().progress = Progress::AfterArrival;
    assert_eq!(fan_out(&machine, &[1000]), 5500 + 5994 + 999);
    assert_eq!(fan_out(&machine, &[1001]), 5500 + 6000);
    // Stages that hold a short message completely delay it, and no later message.
    machine.nodes.interface.as_mut().unwrap().latency_per_byte = PerByte::new(ns(2));
    assert_eq!(fan_out(&machine, &[1000]), 5500 + 5994 + 999 + 1998);
    assert_eq!(fan_out(&machine, &[1001]), 5500 + 6000);
}

#[test]
fn a_link_that_is_slower_than_the_interfaces_holds_them_up() {
    let links = Link::new(PerByte::new(ns(10))).latency(ns(2500));
    for contention in [Contention::Off, Contention::FirstComeFirstServed] {
        let over = Network::new(
            Topology::Complete { nodes: 2 },
            NetworkRouting::DimensionOrder,
            Switching::CutThrough(CutThrough { packet: Bytes::from_mib(1), header: Bytes::new(0) }),
            links.clone(),
        );
        let machine = Machine::from(LogGops { over: Some(Network { contention, ..over }), ..loggops() });
        // A link takes all bytes, or all but the first.
        let bytes = if contention == Contention::Off { 1000 } else { 1001 };
        assert_eq!(fan_out(&machine, &[1001]), 1500 + 2500 + 1500 + 10 * bytes);
    }
}

#[test]
fn packets_are_taken_while_they_come_and_a_gap_lies_between_messages() {
    for packet in [1001, 1000, 999, 100] {
        let link = Link { latency: ns(2500), ..Link::new(PerByte::new(ns(6))) };
        let switching = Switching::CutThrough(CutThrough { packet: Bytes::new(packet), header: Bytes::new(0) });
        let over = Network::new(Topology::Complete { nodes: 2 }, NetworkRouting::DimensionOrder, switching, link);
        let machine = Machine::from(LogGops { over: Some(over), gap: ns(100_000), ..loggops() });
        assert_eq!(fan_out(&machine, &[1001]), 1500 + 2500 + 1500 + 6 * 1001, "{packet}");
    }
}

#[test]
fn a_message_to_the_same_node_is_copied_by_its_receiver() {
    let mut machine = Machine::from(loggops());
    let both_on_one = |machine: &Machine| {
        let program = |me: Process| async move {
            match me.rank() {
                0 => me.send(1, Message::new(1001)).await,
                _ => drop(me.receive(0).await),
            }
        };
        let both = Allocation::new(machine, 2).placement(Placement::Explicit(vec![0, 0]));
        Simulation::on(&both).unwrap().run(&program).unwrap().makespan.ps() / 1000
    };
    assert_eq!(both_on_one(&machine), 1500 + 1500 + 6000);
    machine.nodes.interface.as_mut().unwrap().copy_per_byte = Some(PerByte::new(ns(1)));
    assert_eq!(both_on_one(&machine), 1500 + 1500 + 1000);
}

/// Returns the makespan in ns of a message of 1001 B whose receiver computes for `late` ns before it posts its receive.
fn late_receive(machine: &Machine, late: u32) -> u64 {
    let program = move |me: Process| async move {
        if me.rank() == 0 {
            return me.send(1, Message::new(1001)).await;
        }
        me.operate(f64::from(late)).await;
        me.receive(0).await;
    };
    Simulation::new(machine, 2).unwrap().run(&program).unwrap().makespan.ps() / 1000
}

#[test]
fn data_wait_for_the_receive_that_they_have_met() {
    let data = |data| {
        let processor = Some(Processor::FlopRate(FlopRate::from_gflop_per_s(1)));
        let mut machine = Machine::from(LogGops { processor, eager_up_to: Bytes::new(0), ..loggops() });
        machine.nodes.interface.as_mut().unwrap().data = data;
        assert!(machine.faults().is_empty());
        machine
    };
    let above = Bytes::new(1000);
    let lone = 1500 + 2500 + 1500 + 6000;
    let ends = |of, late| late_receive(&data(of), late);
    assert_eq!([0, 20_000].map(|late| ends(DataTransfer::AtOnce, late)), [lone, 20_000 + 1500 + 6000]);
    assert_eq!([0, 20_000].map(|late| ends(DataTransfer::WhenMatched { above }, late)), [lone, 20_000 + lone]);
    // Announcement and request are messages of one byte. In the second case the announcement has arrived while the
    // receiver computed.
    let control = 1500 + 2500 + 1500;
    assert_eq!(ends(DataTransfer::OnRequest { above, confirmed: false }, 0), 2 * control + lone);
    assert_eq!(ends(DataTransfer::OnRequest { above, confirmed: false }, 40_000), 40_000 + 1500 + control + lone);
    let short = DataTransfer::OnRequest { above: Bytes::new(1001), confirmed: false };
    assert_eq!(ends(short, 0), lone);
}

/// Many senders to one receiver: each event that has to wait is called once.
#[test]
fn what_waits_for_one_interface_costs_a_few_events() {
    const RANKS: u32 = 400;
    let machine = Machine::from(loggops());
    let fan_in = |me: Process| async move {
        if me.rank() > 0 {
            return me.send(0, Message::new(1)).await;
        }
        for _ in 1..RANKS {
            me.receive_any().await;
        }
    };
    let run = Simulation::new(&machine, RANKS).unwrap().run(&fan_in).unwrap();
    // One receive completes every 1500 ns after the first.
    assert_eq!(run.makespan.ps() / 1000, 5500 + 1500 * u64::from(RANKS - 2));
    assert!(run.counts.events < 8 * u64::from(RANKS), "{}", run.counts.events);
}

/// Returns the times in ns that each rank reports under the given names.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
fn reported<const N: usize>(machine: &Machine, program: &impl Program, names: [&'static str; N]) -> [u64; N] {
    let ranks = u32::try_from(N).unwrap();
    let outcomes = Simulation::new(machine, ranks).unwrap().run(program).unwrap().outcomes;
    names.map(|name| outcomes.iter().find(|(own, _)| *own == name).unwrap().1 as u64)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn report_now(me: &Process, name: &'static str) {
    me.report(name, (me.now().ps() / 1000) as f64);
}

/// The second message waits for the interface, and the computation that follows it waits for the message.
#[test]
fn a_computation_does_not_overtake_a_send_before_it() {
    const NAMES: [&str; 3] = ["computed", "first", "second"];
    let program = |me: Process| async move {
        if me.rank() > 0 {
            me.receive(0).await;
            return report_now(&me, NAMES[me.rank() as usize]);
        }
        let first = me.start_send(1, Message::new(1001)).await;
        let second = me.start_send(2, Message::new(1)).await;
        me.compute_for(ns(100_000)).await;
        report_now(&me, NAMES[0]);
        me.wait_all([first, second]).await;
    };
    let machine = Machine::from(loggops());
    let times = reported(&machine, &program, NAMES);
    assert_eq!(times, [7000 + 1500 + 100_000, 5500 + 6000, 7000 + 5500]);
    // Two overheads, plus the wait of the second send for its interface.
    let accounts = Simulation::new(&machine, 3).unwrap().run(&program).unwrap().accounts;
    let account = accounts.rank(0);
    let of = |activity| account.get(activity).ps() / 1000;
    assert_eq!([Activity::Computing, Activity::System, Activity::Sending].map(of), [100_000, 3000, 5500]);
}

/// The request and the data of a transfer need no processor if the interfaces are offloading.
#[test]
fn data_leave_on_request_while_their_sender_computes() {
    const NAMES: [&str; 2] = ["computed", "received"];
    let mut machine = Machine::from(LogGops { eager_up_to: Bytes::new(0), ..loggops() });
    let interface = machine.nodes.interface.as_mut().unwrap();
    interface.data = DataTransfer::OnRequest { above: Bytes::new(1000), confirmed: false };
    let program = |me: Process| async move {
        if me.rank() > 0 {
            me.receive(0).await;
            return report_now(&me, NAMES[1]);
        }
        let sent = me.start_send(1, Message::new(1001)).await;
        me.compute_for(ns(100_000)).await;
        report_now(&me, NAMES[0]);
        me.wait(sent).await;
    };
    // Announcement and request cost o + L + o each. The data follow once the processor is free at 101 500 ns and has
    // handled the request for 1500 ns.
    assert_eq!(reported(&machine, &program, NAMES), [101_500, 103_000 + 5500 + 6000]);
    machine.nodes.interface.as_mut().unwrap().progress = Progress::Offloaded;
    // The announcement takes o + L, the request L, and the data L and the time of their bytes.
    assert_eq!(reported(&machine, &program, NAMES), [101_500, 1500 + 3 * 2500 + 6000]);
}

/// A message that has matched its receive leaves before the next computation of its sender, as if its data left at
/// once.
#[test]
fn data_that_have_met_their_receive_go_before_a_computation() {
    const NAMES: [&str; 2] = ["computed", "received"];
    let program = |me: Process| async move {
        if me.rank() > 0 {
            me.receive(0).await;
            return report_now(&me, NAMES[1]);
        }
        me.compute_for(ns(10_000)).await;
        let sent = me.start_send(1, Message::new(1001)).await;
        me.compute_for(ns(100_000)).await;
        report_now(&me, NAMES[0]);
        me.wait(sent).await;
    };
    for progress in [Progress::WhileArriving, Progress::Offloaded] {
        let times = [DataTransfer::AtOnce, DataTransfer::WhenMatched { above: Bytes::new(1000) }].map(|data| {
            let mut machine = Machine::from(LogGops { eager_up_to: Bytes::new(0), ..loggops() });
            let interface = machine.nodes.interface.as_mut().unwrap();
            (interface.data, interface.progress) = (data, progress);
            reported(&machine, &program, NAMES)
        });
        assert_eq!(times[0], times[1]);
        assert_eq!(times[0][0], 10_000 + 1500 + 100_000);
    }
}

/// A slow or fast processor takes longer or shorter for o and O, but bytes cross its interface at G. The time is o + L
/// + 1000 G + o without O, whatever the speed, and has O at half the speed where that is slower than G.
#[test]
fn a_slow_processor_does_not_slow_its_interface() {
    let taking = |factor: f64, overhead_per_byte: u64| {
        let constants = LogGops { overhead_per_byte: PerByte::new(ns(overhead_per_byte)), ..loggops() };
        let mut machine = Machine::from(constants);
        machine.nodes.interface.as_mut().unwrap().progress = Progress::WhileArriving;
        machine.overrides = vec![NodeOverride::NodeSpeed { nodes: vec![1], factor }];
        fan_out(&machine, &[1001])
    };
    for (factor, overhead) in [(0.5, 3000), (1.0, 1500), (2.0, 750)] {
        assert_eq!(taking(factor, 0), 1500 + 2500 + 6000 + overhead, "{factor}");
    }
    // The sender pays O for 1000 bytes as well.
    assert_eq!(taking(0.5, 4), 1500 + 2500 + 8000 + 3000);
}

/// A message to the rank itself takes o + L + (s − 1) G + o as to a neighbour, or as a copy o + o + (s − 1) G.
/// LogGOPSim 76451de takes 11,494 ns.
#[test]
fn a_rank_sends_to_itself_over_the_network_on_request() {
    let program = |me: Process| async move {
        let sent = me.start_send(0, Message::new(1000)).await;
        me.receive(0).await;
        me.wait(sent).await;
    };
    let time = |within_node| {
        let machine = Machine::from(LogGops { within_node, ..loggops() });
        Simulation::new(&machine, 1).unwrap().run(&program).unwrap().makespan
    };
    assert_eq!(time(WithinNode::Copied), ns(1500 + 1500 + 999 * 6));
    assert_eq!(time(WithinNode::OverNetwork), ns(1500 + 2500 + 1500 + 999 * 6));
}

/// As in LogGOPSim: o − O at the sender, then L and o − G, or, where O counts, o minus the smaller one; g − G between
/// two messages.
#[test]
fn an_empty_message_may_take_less_than_one_byte() {
    let time = |overhead_per_byte: u64, empty: EmptyMessage, lengths: &[u64]| {
        let overhead_per_byte = PerByte::new(ns(overhead_per_byte));
        let six = LogGops { gap: ns(2000), overhead: ns(1500), overhead_per_byte, empty, ..loggops() };
        fan_out(&Machine::from(six), lengths)
    };
    let (as_one, less) = (EmptyMessage::AsOneByte, EmptyMessage::LessThanOneByte);
    assert_eq!(time(0, as_one, &[0]), 1500 + 2500 + 1500);
    assert_eq!(time(0, less, &[1]), 1500 + 2500 + 1500);
    assert_eq!(time(0, less, &[0]), 1500 + 2500 + 1500 - 6);
    assert_eq!(time(10, less, &[0]), 1500 + 2500 + 1500 - 6);
    assert_eq!(time(4, less, &[0]), 1500 + 2500 + 1500 - 4);
    assert_eq!(time(0, less, &[0, 1]), 2000 - 6 + 1500 + 2500 + 1500);
    let mut machine = Machine::from(LogGops { empty: less, ..loggops() });
    assert!(machine.faults().is_empty());
    machine.nodes.interface.as_mut().unwrap().progress = Progress::AfterArrival;
    assert_eq!(machine.faults()[0].path, "nodes.interface.empty");
}

/// A header takes time at the interface and on the network, but no threshold counts it.
#[test]
fn a_header_goes_with_every_message() {
    let time = |header: u64, contention: Contention| {
        let link = Link { latency: ns(2500), ..Link::new(PerByte::new(ns(6))) };
        let switching = Switching::CutThrough(CutThrough { packet: Bytes::new(1 << 30), header: Bytes::new(0) });
        let over = Network::new(Topology::Complete { nodes: 4 }, NetworkRouting::DimensionOrder, switching, link);
        let mut machine = Machine::from(LogGops { over: Some(Network { contention, ..over }), ..loggops() });
        machine.nodes.interface.as_mut().unwrap().header = Bytes::new(header);
        machine.nodes.interface.as_mut().unwrap().progress = Progress::AfterArrival;
        machine.sends = Sends::Eager { up_to: Bytes::new(1001) };
        fan_out(&machine, &[1001])
    };
    for contention in [Contention::Off, Contention::FirstComeFirstServed, Contention::FairFlows] {
        assert_eq!(time(16, contention), time(0, contention) + 16 * 6, "{contention:?}");
    }
}

/// Returns the time in ns of a message of 1000 B from the first to the second node of this network, with o = 300 ns and
/// G = 2 ns/B. The processor of the receiver is not involved.
fn lone(network: Network) -> u64 {
    let six = LogGops { latency: ns(0), overhead: ns(300), gap: ns(0), gap_per_byte: PerByte::new(ns(2)), ..loggops() };
    let mut machine = Machine::from(LogGops { over: Some(network), ..six });
    machine.nodes.interface.as_mut().unwrap().progress = Progress::Offloaded;
    assert!(machine.faults().is_empty(), "{:?}", machine.faults());
    fan_out(&machine, &[1000])
}

/// An interface takes bytes as they arrive, regardless of the link on which they arrive and of the earlier link that
/// delayed them.
#[test]
fn bytes_come_at_the_pace_of_the_slowest_link_of_their_way() {
    let time = |count: u64| PerByte::new(ns(count));
    let link = |count: u64| Link::new(time(count));
    let over = |topology: Topology, count: u64| {
        let switching = Switching::CutThrough(CutThrough { packet: Bytes::from_mib(1), header: Bytes::new(0) });
        Network::new(topology, NetworkRouting::DimensionOrder, switching, link(count))
    };
    let pair = |count| over(Topology::Complete { nodes: 2 }, count);
    let with = |network: Network, count: u64| {
        let exception = LinkOverride::LinkSpeed { from: 0, to: 1, per_byte: time(count) };
        Network { overrides: vec![exception], ..network }
    };
    let between = |network: Network, count: u64| Network { end_links: Some(link(count)), ..network };
    // If a link is the slowest, it delays all 1000 B; if the interface is, all bytes after the first.
    assert_eq!(
        [lone(pair(3)), lone(with(pair(1), 3)), lone(between(pair(3), 1)), lone(between(pair(1), 3))],
        [3300; 4]
    );
    assert_eq!([lone(pair(1)), lone(with(pair(3), 1)), lone(between(pair(1), 1))], [2298; 3]);
    // The path takes one of two sides, regardless of which side the first port of a node belongs to.
    let sides = [(5, 1), (1, 5)].map(|(first, second)| {
        let classes = [("side-1".to_owned(), link(first)), ("side-2".to_owned(), link(second))];
        lone(Network { link_classes: classes.into(), ..over(Topology::Mesh { sides: vec![2, 2] }, 9) })
    });
    assert_eq!(std::collections::BTreeSet::from(sides), [2298, 5300].into());
}

/// Two worms alternate on a link, so that the bytes of each arrive at half its rate, which is that of the interfaces.
#[test]
fn interfaces_take_worms_as_their_flits_come() {
    let switching = Wormhole { packet: Bytes::new(4000), flit: Bytes::new(4), buffer: 8, lanes: 2, router: None };
    let link = Link::new(PerByte::new(ns(1)));
    let over =
        Network::new(Topology::Line { nodes: 4 }, NetworkRouting::DimensionOrder, Switching::Wormhole(switching), link);
    let makespan = |both: bool, gap_per_byte: u64| {
        let free = LogGops { latency: ns(0), overhead: ns(0), gap: ns(0), over: Some(over.clone()), ..loggops() };
        let machine = Machine::from(LogGops { gap_per_byte: PerByte::new(ns(gap_per_byte)), ..free });
        let program = move |me: Process| async move {
            match me.rank() {
                sender @ (0 | 1) if both || sender == 0 => me.send(sender + 2, Message::new(4000)).await,
                receiver @ (2 | 3) if both || receiver == 2 => drop(me.receive(receiver - 2).await),
                _ => {}
            }
        };
        Simulation::new(&machine, 4).unwrap().run(&program).unwrap().makespan.ps() / 1000
    };
    let (alone, together, slow) = (makespan(false, 1), makespan(true, 1), makespan(true, 2));
    assert!((4000..4100).contains(&alone) && (8000..8100).contains(&together), "{alone} {together}");
    assert!((together..together + 100).contains(&slow), "{slow} is much more than {together}");
}

/// A processor copies the bytes of a message out of the interface, but not its header.
#[test]
fn a_header_takes_no_time_of_processors() {
    let time = |contention: Contention, header: u64| {
        let switching = Switching::CutThrough(CutThrough { packet: Bytes::new(1000), header: Bytes::new(0) });
        let link = Link::new(PerByte::new(ns(1)));
        let over = Network::new(Topology::Complete { nodes: 2 }, NetworkRouting::DimensionOrder, switching, link);
        let per_byte = PerByte::new(ns(1));
        let six = LogGops { latency: ns(0), overhead: ns(300), gap: ns(0), gap_per_byte: per_byte, ..loggops() };
        let mut machine = Machine::from(LogGops { over: Some(Network { contention, ..over }), ..six });
        let interface = machine.nodes.interface.as_mut().unwrap();
        interface.overhead_per_byte = PerByte::new(ns(4));
        interface.progress = Progress::WhileArriving;
        interface.header = Bytes::new(header);
        fan_out(&machine, &[100])
    };
    // Without a header the processor is slower.
    for (contention, bytes) in [(Contention::Off, 499), (Contention::FirstComeFirstServed, 500)] {
        assert_eq!(time(contention, 0), 300 + 99 * 4 + 300, "{contention:?}");
        assert_eq!(time(contention, 400), 300 + bytes + 300, "{contention:?}");
    }
}
