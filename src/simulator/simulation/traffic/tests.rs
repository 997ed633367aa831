//! Traffic on small networks whose results are known.

use super::*;
use crate::machine::{Allocation, Machine, Partition, Pattern};
use crate::network::Topology;
use crate::network::switching::{CutThrough, StoreAndForward, Wormhole};
use crate::program::LengthShare;
use crate::units::Bytes;
use std::collections::BTreeMap;

/// The machine of the shipped traffic scenarios, with another network.
pub(super) fn router_network(network: Network) -> Machine {
    let machine = crate::machine::shipped("router-network");
    Machine { network, ..machine }
}

fn trace(machine: &Machine, traffic: &Traffic) -> Trace {
    let allocation = Allocation::new(machine, machine.network.topology.nodes()).partition(Partition::Whole);
    Simulation::on(&allocation).unwrap().run(traffic).unwrap()
}

/// Returns the outcomes of `traffic` on the network of `machine`.
pub(super) fn run(machine: &Machine, traffic: &Traffic) -> BTreeMap<&'static str, f64> {
    trace(machine, traffic).outcomes.into_iter().collect()
}

fn mesh(switching: Switching) -> Machine {
    let machine = crate::machine::shipped("router-network");
    router_network(Network { switching, topology: Topology::Mesh2d { rows: 4, columns: 4 }, ..machine.network })
}

fn traffic(offered: f64, packet: u64) -> Traffic {
    Traffic {
        pattern: Pattern::Uniform,
        offered,
        packet: Bytes::new(packet),
        process: InjectionProcess::Bernoulli,
        warm_up: SimDuration::from_us(10),
        measured: SimDuration::from_us(100),
        drain: SimDuration::from_us(1000),
        to_self: false,
        mix: Vec::new(),
        settle: false,
    }
}

fn modes() -> [Switching; 3] {
    let packet = Bytes::new(64);
    [
        Switching::StoreAndForward(StoreAndForward { packet }),
        Switching::CutThrough(CutThrough { packet, header: Bytes::new(4) }),
        Switching::Wormhole(Wormhole { packet, flit: Bytes::new(4), buffer: 8, lanes: 2, router: None }),
    ]
}

#[test]
fn what_is_offered_below_saturation_is_accepted() {
    for switching in modes() {
        let outcomes = run(&mesh(switching.clone()), &traffic(0.2, 16));
        let (injected, accepted) =
            (outcomes["injected_flits_per_node_cycle"], outcomes["accepted_flits_per_node_cycle"]);
        assert!((injected / (0.2 * 15.0 / 16.0) - 1.0).abs() < 0.03, "{switching:?}: {injected}");
        assert!((accepted / injected - 1.0).abs() < 0.01, "{switching:?}: {accepted}");
        assert!(outcomes["injected_packets"].to_bits() == outcomes["delivered_packets"].to_bits());
    }
}

/// Packets that wait for a link at the end have not crossed it.
#[test]
fn hops_are_those_of_packets_that_have_begun_to_cross_a_link() {
    let machine = crate::machine::shipped("router-network");
    let packet = Bytes::new(16);
    let network = Network {
        topology: Topology::Line { nodes: 3 },
        switching: Switching::StoreAndForward(StoreAndForward { packet }),
        ..machine.network
    };
    let machine = router_network(network);
    let pattern = Pattern::HotSpot { node: 0, share: 1.0 };
    let load = Traffic { pattern, drain: SimDuration::ZERO, ..traffic(0.9, 16) };
    let of = |buffers| {
        let mut machine = machine.clone();
        machine.network.links.buffers = buffers;
        trace(&machine, &load).counts.packet_hops
    };
    let hops = of(crate::network::Buffers::Unbounded);
    assert_eq!(hops, of(crate::network::Buffers::Packets(1_000_000)));
    let of_a_link = machine.network.links.time(16);
    assert!(hops <= 4 * (SimDuration::from_us(110).ps() / of_a_link.ps() + 1), "{hops}");
}

/// Links that have failed carry nothing, which is not a low utilization.
#[test]
fn failed_links_are_no_part_of_the_mean() {
    let outcomes = |failed: &[(u32, u32)]| {
        let mut machine = mesh(Switching::StoreAndForward(StoreAndForward { packet: Bytes::new(16) }));
        machine.network.routing = crate::network::Routing::ShortestPath(crate::network::Choice::Lowest);
        machine.network.overrides =
            failed.iter().map(|&(from, to)| crate::network::LinkOverride::LinkFailed { from, to }).collect();
        let whole = trace(&machine, &traffic(0.2, 16));
        let working = 48.0 - 2.0 * f64::from(u32::try_from(failed.len()).unwrap());
        let busy: f64 = whole.links.iter().map(|link| link.busy.seconds()).sum();
        (whole.outcome("link_utilization_mean").unwrap(), busy / working / 100e-6)
    };
    for failed in [&[][..], &[(5, 6), (9, 10), (1, 2), (4, 8)]] {
        let (mean, expected) = outcomes(failed);
        // The links are also used before and after the window.
        assert!(mean < expected && mean > 0.85 * expected, "{mean} {expected}");
    }
}

/// Buffers that never fill are alike, and the memory of a router does not depend on their size.
#[test]
fn buffers_beyond_all_memory_are_as_good_as_large_ones() {
    let of_size = |buffer| {
        let mode = Wormhole { packet: Bytes::new(64), flit: Bytes::new(4), buffer, lanes: 2, router: None };
        trace(&mesh(Switching::Wormhole(mode)), &traffic(0.6, 4)).counts
    };
    assert_eq!(of_size(10_000), of_size(u32::MAX));
}

/// The mean gap of a Bernoulli process is a slot divided by its chance, also where 1 less the chance rounds to 1.
#[test]
fn gaps_grow_as_loads_shrink_for_every_representable_load() {
    let machine = mesh(modes()[2].clone());
    let allocation = Allocation::new(&machine, 16).partition(Partition::Whole);
    let layout = Simulation::on(&allocation).unwrap().layout().clone();
    let mean_s = |offered: f64, draws: u32| {
        let traffic = traffic(offered, 16);
        let mut field = TrafficRun::new(&machine.network, &traffic, &layout, Streams::new(1));
        (0..draws).map(|_| field.gap(0).seconds()).sum::<f64>() / f64::from(draws)
    };
    for offered in [0.5, 1e-3, 1e-9, 1e-12] {
        let expected_s = 16e-9 / offered;
        let share = mean_s(offered, 10_000) / expected_s;
        assert!((share - 1.0).abs() < 0.05, "{offered}: {share} of {expected_s} s");
    }
    for offered in [1e-17, 1e-300, 1e-320, f64::from_bits(1)] {
        assert!(mean_s(offered, 100) > 1e5, "{offered}");
    }
}

/// Without contention, the mean latency is that of the mean distance: 8/3 links of 16 ns between different nodes of a 4
/// × 4 mesh.
#[test]
fn latency_at_almost_no_load_is_that_of_lone_packets() {
    let [store_and_forward, cut_through, wormhole] = modes().map(|mode| run(&mesh(mode), &traffic(0.002, 16)));
    let near = |outcomes: &BTreeMap<&str, f64>, expected_ns: f64| {
        let mean = outcomes["latency_mean_s"] * 1e9;
        assert!((mean / expected_ns - 1.0).abs() < 0.05, "{mean} ns, expected {expected_ns} ns");
    };
    near(&store_and_forward, 8.0 / 3.0 * 16.0);
    near(&cut_through, 16.0 + 4.0 * (8.0 / 3.0 - 1.0));
    near(&wormhole, 4.0 * (1.0 + 4.0 * 8.0 / 3.0 + 3.0 + 3.0));
}

#[test]
fn packets_of_a_mix_offer_the_same_load() {
    let mix =
        vec![LengthShare { packet: Bytes::new(64), share: 0.25 }, LengthShare { packet: Bytes::new(4), share: 0.5 }];
    for switching in modes() {
        let traffic = Traffic { mix: mix.clone(), ..traffic(0.2, 16) };
        assert!((traffic.mean_bytes() - 22.0).abs() < 1e-9);
        let outcomes = run(&mesh(switching.clone()), &traffic);
        let injected = outcomes["injected_flits_per_node_cycle"];
        assert!((injected / (0.2 * 15.0 / 16.0) - 1.0).abs() < 0.05, "{switching:?}: {injected}");
        // One packet every 22 ns / 0.2 from each of 16 nodes; 15 of 16 destinations are other nodes.
        let packets = 110e-6 * 0.2 / 22e-9 * 15.0;
        assert!((outcomes["injected_packets"] / packets - 1.0).abs() < 0.05, "{switching:?}");
    }
}

#[test]
fn sources_make_up_the_load_and_the_starved_one_is_seen() {
    // All nodes send to the first one over a single link. Nodes closer to it get a larger share of that link.
    let machine = crate::machine::shipped("router-network");
    let line = router_network(Network {
        topology: Topology::Line { nodes: 8 },
        switching: modes()[2].clone(),
        routing: crate::network::Routing::DimensionOrder,
        ..machine.network
    });
    let hot = Traffic { pattern: Pattern::HotSpot { node: 0, share: 1.0 }, ..traffic(0.5, 16) };
    let trace = trace(&line, &hot);
    let sum = |part: fn(&SourceLoad) -> f64| trace.sources.iter().map(part).sum::<f64>() / 8.0;
    let outcome = |name| trace.outcome(name).unwrap();
    assert!((sum(|source| source.injected) - outcome("injected_flits_per_node_cycle")).abs() < 1e-9);
    assert!((sum(|source| source.accepted) - outcome("accepted_flits_per_node_cycle")).abs() < 1e-9);
    assert!(trace.sources[0].packets == 0 && trace.sources[0].latency_mean_s.is_nan());
    let least = outcome("least_source_accepted_flits_per_cycle");
    // Every router alternates between its own node and all nodes behind it: the next node gets half, the last two get a
    // 64th.
    for (source, share) in [(1, 1.0 / 2.0), (2, 1.0 / 4.0), (6, 1.0 / 64.0), (7, 1.0 / 64.0)] {
        assert!((trace.sources[source].accepted / share - 1.0).abs() < 0.05, "{:?}", trace.sources[source]);
    }
    assert!((least * 64.0 - 1.0).abs() < 0.05, "{least}");
    assert!((outcome("most_source_accepted_flits_per_cycle") - trace.sources[1].accepted).abs() < 1e-12);
}

/// The queue of the hot node fills for a while, so that the mean over the whole window is too small.
#[test]
fn the_beginning_is_left_out_until_the_latency_settles() {
    let [cold, warm] = [false, true].map(|settle| {
        let traffic = Traffic { warm_up: SimDuration::ZERO, settle, ..traffic(0.6, 64) };
        run(&mesh(modes()[0].clone()), &traffic)
    });
    assert!(!cold.contains_key("warm_up_removed_s"));
    assert!((0.0..50e-6).contains(&warm["warm_up_removed_s"]), "{warm:?}");
    assert!(warm["latency_mean_s"] >= cold["latency_mean_s"]);
    let beyond = Traffic { settle: true, pattern: Pattern::HotSpot { node: 5, share: 1.0 }, ..traffic(0.9, 16) };
    assert!(run(&mesh(modes()[0].clone()), &beyond)["warm_up_removed_s"].is_nan(), "it never settles");
}

#[test]
fn runs_with_the_same_seed_are_equal() {
    let machine = mesh(modes()[2].clone());
    let [one, other] = [(); 2].map(|()| trace(&machine, &traffic(0.3, 16)));
    assert_eq!((one.outcomes, one.counts), (other.outcomes, other.counts));
}
