//! Costs of messages at processors, interfaces and memories.

use super::*;

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
    let memory = Shared {
        bandwidth: PerByte::new(ns(2)),
        latency: ns(100),
        discipline: Discipline::FirstComeFirstServed,
        per_core: None,
    };
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
fn several_interfaces_send_side_by_side() {
    let mut machine = Machine::from(LogGops { overhead: ns(100), gap: ns(4000), ..loggops() });
    // One message every 4000 ns, and o + L + o for the last.
    assert_eq!(fan_out(&machine, &[1, 1, 1]), 2 * 4000 + 2700);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.count, interface.choice) = (2, InterfaceChoice::RoundRobin);
    // The third message waits for the first.
    assert_eq!(fan_out(&machine, &[1, 1, 1]), 4000 + 2700);
}

/// A message that stays on the node takes no turn from those that leave it.
#[test]
fn messages_within_a_node_take_no_turn_at_its_interfaces() {
    let mut machine = star(Sends::Buffered);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.count, interface.choice) = (2, InterfaceChoice::RoundRobin);
    interface.gap_per_byte = PerByte::new(ns(4));
    let allocation = Allocation::new(&machine, 4).placement(Placement::Explicit(vec![0, 0, 1, 2]));
    let program = async |me: Process| {
        if me.rank() > 0 {
            me.receive(0).await;
            return;
        }
        for (to, bytes) in [(2, 1000), (1, 1), (3, 1000)] {
            me.send(to, Message::new(bytes)).await;
        }
    };
    let makespan = Simulation::on(&allocation).unwrap().run(&program).unwrap().makespan;
    assert_eq!(makespan.ps() / 1000, 20 + 4000);
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
