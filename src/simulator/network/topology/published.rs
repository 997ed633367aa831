//! The metrics of `execution-time-topologies-collectives`, recomputed; see `validation/topologies-64/README.md` for the
//! errors of the source.

use super::{ChannelLoads, Metrics, Topology, TrafficShare, uniform};

macro_rules! published {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/topologies-64/", $file))
    };
}

fn rows(csv: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(cell: &str) -> f64 {
    cell.parse().expect("a number")
}

fn assert_rounds_to(value: f64, printed: &str, what: &str) {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = 0.1_f64.powi(i32::try_from(decimals).expect("a few decimals"));
    assert!((value - number(printed)).abs() <= 0.5 * unit + 1e-9, "{what}: {value}, printed {printed}");
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand links")]
fn count(links: u64) -> f64 {
    links as f64
}

/// Degrees, cuts, links and diameter of six topologies, in rows of 3 to 64 nodes.
#[test]
fn table_one_to_the_digit() {
    for row in rows(published!("table-1.csv")) {
        let name = match row[0] {
            "full" => "complete",
            "mesh" => "mesh2d",
            "torus" => "torus2d",
            "btree" => "binary-tree",
            "hyper" => "hypercube",
            name => name,
        };
        let topology = Topology::from_name(name, row[1].parse().expect("nodes")).expect("a row of the table");
        let metrics = topology.metrics();
        let width = metrics.bisection_width.exact().expect("a formula");
        let figures = [
            metrics.diameter.into(),
            metrics.arc_connectivity.into(),
            count(width),
            count(metrics.links),
            metrics.least_degree.into(),
            metrics.degree.into(),
            metrics.node_connectivity.into(),
        ];
        for (column, (figure, cell)) in figures.into_iter().zip(&row[2..]).enumerate() {
            assert_rounds_to(figure, cell, &format!("{topology:?}, column {column}"));
        }
    }
}

fn of_64_nodes(short: &str) -> Topology {
    let name = match short {
        "mesh2" => "mesh2d",
        "torus2" => "torus2d",
        "mesh3" => "mesh3d",
        "torus3" => "torus3d",
        "fattree" => "fat-tree",
        name => name,
    };
    Topology::from_name(name, 64).expect("64 suits all of them")
}

/// Returns the mean with self as in the vector, which counts a node of the fat tree as −1 hops from itself: it is the
/// mean number of links minus one.
fn mean_with_self(metrics: &Metrics) -> f64 {
    let to_self = if metrics.switches > 0 { -1.0 / f64::from(metrics.nodes) } else { 0.0 };
    metrics.average_distance_with_self + to_self
}

/// Returns the mean hops on which the latency row of the source is based: d k / 3 for a mesh of d sides k, with self
/// for a ring or torus, without self for the others.
fn hops_of_latency(topology: &Topology, metrics: &Metrics) -> f64 {
    match topology {
        Topology::Mesh2d { rows, .. } => 2.0 * f64::from(*rows) / 3.0,
        Topology::Mesh3d { .. } => 4.0,
        Topology::FatTree { .. } | Topology::CubeConnectedCycles { .. } => metrics.average_distance,
        _ => metrics.average_distance_with_self,
    }
}

/// Hops, widths at 256 pins, latency rule and bisection bandwidth of seven topologies.
#[test]
fn graph_columns_of_table_five_to_the_digit() {
    for row in rows(published!("table-5-graph.csv")) {
        let topology = of_64_nodes(row[0]);
        let metrics = topology.metrics();
        let width = metrics.width_at_equal_pins(256.0);
        let cut = count(metrics.bisection_width.exact().expect("a formula"));
        let check = |value: f64, column: usize| {
            assert_rounds_to(value, row[column], &format!("{} column {column}", row[0]));
        };
        check(mean_with_self(&metrics), 2);
        check(metrics.average_distance, 3);
        check(metrics.diameter.into(), 5);
        check(hops_of_latency(&topology, &metrics) * 2.0 / width, 7);
        check(width, 8);
        check(2.0 * cut * width, 10);
    }
}

fn pattern(name: &str) -> Vec<TrafficShare> {
    let all = |to: fn(u32) -> u32| (0..64).map(|from| (from, to(from), 1.0)).collect();
    let neighbours = |wrapped: bool| {
        let to = move |from: u32, (right, down): (u32, u32)| {
            let (x, y) = (from % 8 + right, from / 8 + down);
            let inside = wrapped || (1..9).contains(&x) && (1..9).contains(&y);
            inside.then_some((from, (y + 7) % 8 * 8 + (x + 7) % 8, 0.25))
        };
        (0..64)
            .flat_map(|from| [(2, 1), (0, 1), (1, 2), (1, 0)].into_iter().filter_map(move |step| to(from, step)))
            .collect()
    };
    match name {
        "uniform" => uniform(64).collect(),
        "hotspot" => all(|_| 0),
        "bitcomp" => all(|from| 63 - from),
        "news_wrap" => neighbours(true),
        "news_open" => neighbours(false),
        "transpose" => all(|from| from % 8 * 8 + from / 8),
        _ => all(|from| from * 2 % 64 + from / 32),
    }
}

/// Returns the largest load with halved ties, as in the vector. Where both directions round a ring are equally long,
/// the natural route ascends from even coordinates and descends from odd ones, while the vector halves such flows. So
/// does the mean of the loads and of those of the network shifted by one in every direction.
fn with_halved_ties(topology: &Topology, flows: &[TrafficShare]) -> f64 {
    let shifted = |node: u32| {
        let next = |node, port| topology.neighbour(node, port).expect("a ring goes on").0;
        (0..topology.ports()).step_by(2).fold(node, next)
    };
    let loads = ChannelLoads::along_routes(topology, flows.iter().copied());
    let others = flows.iter().map(|&(from, to, weight)| (shifted(from), shifted(to), weight));
    let others = ChannelLoads::along_routes(topology, others);
    let channels = (0..64).flat_map(|node| (0..topology.ports()).map(move |port| (node, port)));
    let mean = |(node, port): (u32, u32)| f64::midpoint(loads.of(node, port), others.of(shifted(node), port));
    channels.map(mean).fold(0.0, f64::max)
}

/// The loads along the natural routes themselves, without halved ties.
#[test]
fn uniform_traffic_is_balanced() {
    for (name, load) in [("ring", 8.0), ("torus2", 1.0), ("torus3", 0.5)] {
        let max = ChannelLoads::along_routes(&of_64_nodes(name), uniform(64)).max();
        assert!((max - load).abs() < 1e-9, "{name}: {max}");
    }
}

/// The largest channel loads of dimension order, and of evenly divided shortest paths for the fat tree and the
/// cube-connected cycles.
#[test]
fn channel_loads_to_the_digit() {
    for row in rows(published!("channel-loads.csv")) {
        let (topology, flows) = (of_64_nodes(row[0]), pattern(row[1]));
        let load = match row[0] {
            "fattree" | "ccc" => ChannelLoads::over_shortest_paths(&topology, flows).max(),
            "mesh2" | "mesh3" => ChannelLoads::along_routes(&topology, flows).max(),
            _ => with_halved_ties(&topology, &flows),
        };
        assert_rounds_to(load, row[4], &format!("{} {}", row[0], row[1]));
    }
}
