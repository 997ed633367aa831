//! Messages over networks of packets, flits and links of their own rates.

use super::*;

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

/// The announcement of a message, the request for its data and their confirmation have the cause of the message, whatever
/// others send meanwhile.
#[test]
fn all_messages_of_a_transfer_have_its_cause() {
    let mut machine = star(Sends::UntilDelivered);
    let interface = machine.nodes.interface.as_mut().unwrap();
    interface.data = DataTransfer::OnRequest { above: Bytes::new(100), confirmed: true };
    let program = async |me: Process| {
        me.compute_for(ns([1, 50_000, 10_000, 1][me.rank() as usize])).await;
        match me.rank() {
            0 => me.send(1, Message::new(1000)).await,
            2 => me.send(3, Message::new(10)).await,
            receiver => drop(me.receive(receiver - 1).await),
        }
    };
    let mut bytes = Vec::new();
    let simulation = Simulation::new(&machine, 4).unwrap();
    simulation.run_recorded(&program, "a transfer", Detail::LINKS, Box::new(&mut bytes)).unwrap();
    let recording = Recording::read(&bytes[..]).unwrap();
    let causes_between = |ends: [u32; 2]| {
        let between = recording.transfers.iter().filter(|transfer| ends.contains(&transfer.destination));
        between.map(|transfer| transfer.event).collect::<Vec<_>>()
    };
    let (of_transfer, of_other) = (causes_between([0, 1]), causes_between([2, 3]));
    assert_eq!((of_transfer.len(), of_other.len()), (8, 2), "each message crosses two links");
    assert!(of_transfer.iter().all(|cause| *cause == of_transfer[0] && *cause != of_other[0]), "{of_transfer:?}");
}
