//! The throughput of topologies with 64 end nodes, store and forward, unbounded buffers, below saturation: the cells of
//! the table with little noise. `parsim validate topologies-64` runs all cells.

use super::tests::{router_network, run};
use crate::machine::Pattern;
use crate::network::switching::StoreAndForward;
use crate::network::{Buffers, Link, Network, Routing, Switching, Topology, VirtualChannels};
use crate::program::{InjectionProcess, Traffic};
use crate::units::{Bytes, PerByte, SimDuration};

/// A row of the table: topology, pattern, width of a link, and the throughputs in flits per cycle as printed, by the
/// bisection rule and by the routes.
struct Row {
    topology: &'static str,
    pattern: &'static str,
    width: f64,
    printed: f64,
    rule: f64,
    routed: f64,
}

fn rows() -> Vec<Row> {
    let table = include_str!("../../../../validation/topologies-64/effective-bandwidth.csv");
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: usize| cells[cell].parse().unwrap();
        let (printed, rule, routed) = (number(5), number(6), number(7));
        Row { topology: cells[0], pattern: cells[1], width: number(2), printed, rule, routed }
    };
    // The source determines the neighbours on the wrapped grid.
    table.lines().skip(1).map(row).filter(|row| row.pattern != "news_open").collect()
}

fn link(width: f64) -> Link {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand picoseconds")]
    let byte = SimDuration::from_ps((1000.0 / width).round() as u64);
    Link {
        per_byte: Some(PerByte::new(byte)),
        protocol: None,
        per_packet: SimDuration::ZERO,
        latency: SimDuration::ZERO,
        start: SimDuration::ZERO,
        width: None,
        buffers: Buffers::Unbounded,
    }
}

fn network(row: &Row) -> Network {
    let name = match row.topology {
        "mesh2" => "mesh2d",
        "torus2" => "torus2d",
        "mesh3" => "mesh3d",
        "torus3" => "torus3d",
        "fattree" => "fat-tree",
        other => other,
    };
    Network {
        topology: Topology::from_name(name, 64).unwrap(),
        routing: Routing::EvenTies,
        switching: Switching::StoreAndForward(StoreAndForward { packet: Bytes::new(16) }),
        links: link(row.width),
        end_links: Some(link(1.0)),
        link_classes: std::collections::BTreeMap::new(),
        virtual_channels: VirtualChannels::AsNeeded,
        contention: crate::network::Contention::FirstComeFirstServed,
        overrides: Vec::new(),
    }
}

fn pattern(name: &str) -> Pattern {
    match name {
        "uniform" => Pattern::Uniform,
        "hotspot" => Pattern::HotSpot { node: 0, share: 1.0 },
        "bitcomp" => Pattern::BitComplement,
        "news_wrap" => Pattern::News,
        "transpose" => Pattern::Transpose,
        _ => Pattern::Shuffle,
    }
}

/// Returns the throughput at which the busiest link would be busy all the time, and the utilisation of that link in a
/// run with `packets` packets. Below saturation both grow in proportion to the load.
fn throughput(row: &Row, offered: f64, packets: f64) -> (f64, f64) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time in microseconds")]
    let measured = SimDuration::from_us((packets * 16e-3 / 64.0 / offered).ceil() as u64);
    let traffic = Traffic {
        pattern: pattern(row.pattern),
        offered,
        packet: Bytes::new(16),
        process: InjectionProcess::Poisson,
        warm_up: SimDuration::from_us(measured.ps() / 20_000_000),
        measured,
        drain: measured,
        to_self: false,
        mix: Vec::new(),
        settle: false,
    };
    let outcomes = run(&router_network(network(row)), &traffic);
    let used = outcomes["link_utilization_max"];
    (64.0 * outcomes["accepted_flits_per_node_cycle"] / used, used)
}

/// Measures one cell at nine tenths of the load that saturates the busiest link.
fn measure(row: &Row, packets: f64) -> f64 {
    let (pilot, used) = throughput(row, 0.01, packets / 10.0);
    assert!(used < 1.0);
    let non_local = match row.pattern {
        "uniform" | "hotspot" => 63.0,
        "transpose" => 56.0,
        "shuffle" => 62.0,
        _ => 64.0,
    };
    throughput(row, 0.9 * pilot / non_local, packets).0
}

/// Prints a cell. Returns whether it is within 3 % of the routes and not above the bisection rule.
fn is_as_routed(row: &Row, packets: f64) -> bool {
    let simulated = measure(row, packets);
    let Row { topology, pattern, printed, rule, routed, .. } = row;
    let error = 100.0 * (simulated / routed - 1.0);
    println!("{topology},{pattern},{printed},{rule},{routed},{simulated:.3},{error:+.2}");
    error.abs() < 3.0 && simulated < 1.003 * rule
}

#[test]
fn quiet_cells_of_table_five_as_routed() {
    let has_little_noise = |row: &&Row| row.pattern == "hotspot" || row.topology == "ring" && row.pattern == "bitcomp";
    for row in rows().iter().filter(has_little_noise) {
        assert!(is_as_routed(row, 60_000.0));
    }
}
