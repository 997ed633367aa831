//! Messages as flows, which share links and interfaces.

use super::*;

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

/// Routers that forward a packet after its header: the bytes behind the slowest link go on as they come, in a flow as in
/// a packet, so that only the headers before that link cost time.
#[test]
fn only_headers_before_the_slowest_link_cost_time() {
    for (per_byte, expected) in [([1, 10, 1], 64 + 10_000), ([10, 1, 1], 10_000), ([1, 1, 10], 128 + 10_000)] {
        let mut machine = star(Sends::UntilDelivered);
        machine.network.topology = Topology::Line { nodes: 4 };
        let header = Bytes::new(64);
        machine.network.switching = CutThrough { packet: Bytes::new(1 << 20), header }.into();
        machine.network.overrides = (0..3)
            .map(|from| {
                let per_byte = PerByte::new(ns(per_byte[from as usize]));
                LinkOverride::LinkSpeed { from, to: from + 1, per_byte }
            })
            .collect();
        let latency = 3 * machine.network.links.latency.ps() / 1000;
        let far = async |me: Process| match me.rank() {
            0 => me.send(3, Message::new(1000)).await,
            3 => drop(me.receive(0).await),
            _ => {}
        };
        assert_eq!(makespan(&machine, 4, &far), latency + expected, "{per_byte:?}");
        machine.network.contention = Contention::FirstComeFirstServed;
        assert_eq!(makespan(&machine, 4, &far), latency + expected, "{per_byte:?} in packets");
    }
}
