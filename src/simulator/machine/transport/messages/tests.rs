//! Times of LogGOPS by hand.

use crate::machine::{LogGops, Machine};
use crate::network::{Link, Network, Topology};
use crate::node::{InterfaceChoice, Progress};
use crate::program::{Message, Process};
use crate::simulation::Simulation;
use crate::units::{Bytes, PerByte, SimDuration};

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
        processor: None,
    }
}

fn ns(count: u64) -> SimDuration {
    SimDuration::from_ps(1000 * count)
}

/// Makespan in ns of messages of these lengths from rank 0 to ranks 1, 2, …
fn fan_out(machine: &Machine, lengths: &[u64]) -> u64 {
    let ranks = u32::try_from(lengths.len()).unwrap() + 1;
    let lengths = lengths.to_vec();
    let program = move |me: Process| {
        let lengths = lengths.clone();
        async move {
            if me.rank() > 0 {
                me.receive(0).await;
                return;
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

#[test]
fn overhead_and_gap_of_a_sender_overlap() {
    // o > g: a message each 1500 ns.
    assert_eq!(fan_out(&Machine::from(loggops()), &[1, 1, 1]), 2 * 1500 + 5500);
    // 1000 + 1000 · 6 > o: the interface decides.
    assert_eq!(fan_out(&Machine::from(loggops()), &[1001, 1]), 7000 + 5500);
    let slow = LogGops { gap: ns(4000), ..loggops() };
    assert_eq!(fan_out(&Machine::from(slow), &[1, 1, 1]), 2 * 4000 + 5500);
}

#[test]
fn a_large_message_holds_its_sender_until_it_is_met() {
    let machine = Machine::from(loggops());
    let bytes = 65_536;
    // Both receivers wait: the first message is met when its first byte has come, at 4000 ns.
    assert_eq!(fan_out(&machine, &[bytes, 1]), (1000 + 6 * 65_535) + 5500);
    let short_gap = LogGops { gap_per_byte: PerByte::FREE, gap: ns(0), ..loggops() };
    assert_eq!(fan_out(&Machine::from(short_gap), &[bytes, 1]), 4000 + 5500);
}

#[test]
fn several_interfaces_send_side_by_side() {
    let mut machine = Machine::from(LogGops { overhead: ns(100), gap: ns(4000), ..loggops() });
    // A message each 4000 ns; o + L + o for the last.
    assert_eq!(fan_out(&machine, &[1, 1, 1]), 2 * 4000 + 2700);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.count, interface.choice) = (2, InterfaceChoice::RoundRobin);
    // The third waits for the first.
    assert_eq!(fan_out(&machine, &[1, 1, 1]), 4000 + 2700);
}

#[test]
fn a_receiver_may_be_spared_the_bytes_or_all_work() {
    let mut machine = Machine::from(LogGops { overhead_per_byte: PerByte::new(ns(1)), ..loggops() });
    // While they arrive: the slower of G and O after the first byte; the sender's O runs beside the wire.
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
    // As without a network, but for a G that the first byte of each packet but the first pays.
    assert_eq!(fan_out(&machine, &[1]), 5500);
    assert_eq!(fan_out(&machine, &[1000]), 1500 + 2500 + 1500 + 6 * 999);
}
