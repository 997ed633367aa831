use super::published::{fftw, linpack, matrix_multiplication, scalar_product};
use super::*;

const EQUATIONS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/multicore-clusters/equations-6-to-9.csv"));
const OPTIMA: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/multicore-clusters/optima.csv"));
const INTEGER_OPTIMA: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/multicore-clusters/integer-optima.csv"));

const BWGRID: Hardware = Hardware { core_flop_per_s: 8.5e9, memory_bytes_per_s: 6e9, cluster_bytes_per_s: 1.4e9 };
const BWUNICLUSTER: Hardware =
    Hardware { core_flop_per_s: 15.4e9, memory_bytes_per_s: 77e9, cluster_bytes_per_s: 5.4e9 };

/// The numbers of a row; NaN for a cell that is not a number.
fn numbers(row: &str) -> Vec<f64> {
    row.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()
}

fn close(value: f64, expected: f64, tolerance: f64, place: &str) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{place}: {value} instead of {expected}");
}

#[test]
fn equations_6_to_9_are_met() {
    assert_eq!(EQUATIONS.lines().count(), 97);
    for row in EQUATIONS.lines().skip(1) {
        let cells = numbers(row);
        let (q, p, n) = (cells[0], cells[1], cells[2]);
        let values = [
            scalar_product(q, p, n),
            matrix_multiplication(q, p, n),
            linpack(q, p, n, BandwidthReading::Printed),
            linpack(q, p, n, BandwidthReading::Corrected),
            fftw(q, p, n),
        ];
        for (value, expected) in values.iter().zip(&cells[3..8]) {
            close(*value, *expected, 1e-9, row);
        }
        let speedups = [values[0], values[1], values[3], values[4]].map(|efficiency| q * p * efficiency);
        for (value, expected) in speedups.iter().zip(&cells[8..12]) {
            close(*value, *expected, 1e-9, row);
        }
    }
}

/// Equations (6) to (9) are (5), corrected, with the tables' values. As printed they do not follow from it.
#[test]
fn the_general_equation_gives_6_to_9() {
    let w = 8.0;
    for (q, p, n) in [(1.0, 1.0, 1e3), (4.0, 16.0, 1e4), (8.0, 4.0, 1e6), (16.0, 64.0, 1e5)] {
        let f = |demand: Demand, hardware: &Hardware, beta1: f64| {
            demand.on(hardware, beta1).efficiency((q, p), Scaling::Hockney, BandwidthReading::Corrected)
        };
        let product = Demand { operations: 2.0 * n - 1.0, bytes: 2.0 * n * w, exchanged_bytes: p * w };
        close(f(product, &BWGRID, 1.0), scalar_product(q, p, n), 1e-12, "(6)");
        let bytes = 2.0 * n * n * w;
        let matrices =
            Demand { operations: 2.0 * n.powi(3) - n * n, bytes, exchanged_bytes: 2.0 * n * n * w * f64::sqrt(p) };
        close(f(matrices, &BWGRID, p), matrix_multiplication(q, p, n), 1e-12, "(7)");
        let gamma = 1.0 + p.log2() / 12.0;
        let equations = Demand { operations: 2.0 / 3.0 * n.powi(3), bytes, exchanged_bytes: gamma * n * n * w };
        close(f(equations, &BWUNICLUSTER, 1.0), linpack(q, p, n, BandwidthReading::Corrected), 1e-12, "(8)");
        let c = 2.0 * w;
        let transform =
            Demand { operations: 2.0 * n * n * n.log2(), bytes: n * n * c, exchanged_bytes: n * p.log2() * c };
        close(f(transform, &BWUNICLUSTER, 1.0), fftw(q, p, n), 1e-12, "(9)");
        assert!(f(equations, &BWUNICLUSTER, 1.0) > linpack(q, p, n, BandwidthReading::Printed) || p < 2.0);
    }
}

/// The time of (3) and the efficiency of (5) are equivalent.
#[test]
fn time_and_efficiency_agree() {
    let demand = Demand { operations: 3e12, bytes: 5e10, exchanged_bytes: 7e8 };
    for scaling in [Scaling::Hockney, Scaling::Roofline] {
        for (q, p, beta1) in [(1.0, 1.0, 1.0), (8.0, 16.0, 1.0), (16.0, 64.0, 64.0)] {
            let time_s = demand.time_s(&BWGRID, beta1, (q, p), scaling);
            let parameters = demand.on(&BWGRID, beta1);
            let efficiency = parameters.efficiency((q, p), scaling, BandwidthReading::Corrected);
            close(demand.operations / (time_s * q * p * 8.5e9), efficiency, 1e-12, "(3) and (5)");
            let performance = parameters.performance(&BWGRID, (q, p), scaling, BandwidthReading::Corrected);
            close(performance, demand.operations / time_s, 1e-12, "(4)");
        }
    }
    let node_s = demand.operations / 8.0 / 8.5e9 + demand.bytes / 6e9;
    close(demand.node_time_s(&BWGRID, 8.0, Scaling::Hockney), node_s, 1e-12, "(1)");
}

#[test]
fn the_simplification_needs_its_beta() {
    let parameters = Parameters { x: 70.0, r: 0.25, v: 0.2333, beta1: 16.0 };
    let at = (4.0, 16.0);
    let efficiency = parameters.efficiency(at, Scaling::Hockney, BandwidthReading::Corrected);
    close(parameters.simplified(at, BandwidthReading::Corrected), efficiency, 1e-12, "with β");
    assert!((parameters.simplified(at, BandwidthReading::Printed) / efficiency - 1.0).abs() > 0.005);
}

#[test]
fn optima_are_those_of_the_table() {
    assert_eq!(OPTIMA.lines().count(), 19);
    for row in OPTIMA.lines().skip(1) {
        let cells = numbers(row);
        let reading = if row.starts_with('2') { BandwidthReading::Corrected } else { BandwidthReading::Printed };
        let communication = match row.split(',').nth(1) {
            Some("p") => Communication::Linear,
            Some("sqrt") => Communication::Root,
            _ => Communication::Logarithm,
        };
        let search = NodeSearch { x: cells[2], c: cells[3], beta0: cells[4], v: cells[5], communication };
        let (q, p) = (cells[6], cells[7]);
        let parameters = search.at(p);
        let values = [
            greatest(|q| parameters.speedup((q, p), Scaling::Hockney, reading)),
            best_cores(&parameters, p, BandwidthReading::Corrected),
            best_cores(&parameters, p, BandwidthReading::Printed),
            greatest(|p| search.at(p).speedup((q, p), Scaling::Hockney, reading)),
            best_nodes(&search, q, reading),
            search.best_nodes_by_table(q, BandwidthReading::Printed),
            search.best_nodes_by_table(q, BandwidthReading::Corrected),
        ];
        for (value, expected) in values.iter().zip(&cells[8..15]) {
            // The values are printed with five or six decimals. A search locates a flat maximum to half of the digits
            // only.
            close(*value, *expected, 1e-7 + 6e-6 / expected, row);
        }
    }
}

/// Returns the argument in 0.001 … 10⁹ at which a function with a single maximum is largest, by golden-section search
/// over the logarithm.
fn greatest(function: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (1e-3_f64.ln(), 1e9_f64.ln());
    while high - low > 1e-9 {
        let step = golden * (high - low);
        let (left, right) = (high - step, low + step);
        if function(left.exp()) < function(right.exp()) {
            low = left;
        } else {
            high = right;
        }
    }
    f64::midpoint(low, high).exp()
}

#[test]
fn whole_optima_are_those_of_the_table() {
    let most_nodes = 4096;
    assert_eq!(INTEGER_OPTIMA.lines().count(), 10);
    for row in INTEGER_OPTIMA.lines().skip(1) {
        let cells = numbers(row);
        let n = cells[1];
        let (most_cores, efficiency): (u32, fn(f64, f64, f64) -> f64) = match &row[..1] {
            "6" => (8, scalar_product),
            "7" => (8, matrix_multiplication),
            "8" => (16, |q, p, n| linpack(q, p, n, BandwidthReading::Corrected)),
            _ => (16, fftw),
        };
        let speedup = |q: u32, p: u32| f64::from(q * p) * efficiency(q.into(), p.into(), n);
        let best = NodeOptimum::search(1..=most_cores, most_nodes, speedup).unwrap();
        let whole = |column: usize| row.split(',').nth(column).and_then(|cell| cell.parse::<u32>().ok());
        assert_eq!((Some(best.q), Some(best.p)), (whole(3), whole(4)), "{row}");
        close(best.speedup, cells[2], 1e-9, row);
        let full = NodeOptimum::search([most_cores], most_nodes, speedup).unwrap();
        close(full.speedup, cells[5], 1e-9, row);
        assert_eq!(Some(full.p), whole(6), "{row}");
    }
}

/// A grid of parameters for laws.
fn everywhere() -> impl Iterator<Item = (Parameters, f64, f64)> {
    let xs = [0.1, 1.0, 20.0, 1e4];
    let rs = [0.5, 100.0, 1e7];
    let counts = [1.0, 2.0, 7.0, 64.0, 1000.0];
    xs.into_iter().flat_map(move |x| {
        rs.into_iter().flat_map(move |r| {
            counts
                .into_iter()
                .flat_map(move |q| counts.into_iter().map(move |p| (Parameters { x, r, v: 0.25, beta1: 1.0 }, q, p)))
        })
    })
}

/// Amdahl along q and p: the efficiency falls. Gustafson along x: it rises. Both scalings and both readings are
/// covered.
#[test]
fn efficiency_falls_with_cores_and_nodes_and_rises_with_the_load() {
    for (parameters, q, p) in everywhere() {
        for scaling in [Scaling::Hockney, Scaling::Roofline] {
            for reading in [BandwidthReading::Corrected, BandwidthReading::Printed] {
                let at = |x: f64, q, p| Parameters { x, ..parameters }.efficiency((q, p), scaling, reading);
                let here = at(parameters.x, q, p);
                assert!(here > 0.0 && here <= 1.0);
                assert!(at(parameters.x, q + 1.0, p) < here && at(parameters.x, q, p + 1.0) < here);
                assert!(at(2.0 * parameters.x, q, p) > here);
                let hockney = parameters.efficiency((q, p), Scaling::Hockney, reading);
                assert!(parameters.efficiency((q, p), Scaling::Roofline, reading) >= hockney);
            }
            let (x, double) = (parameters.x, 2.0 * parameters.x);
            let node = node_efficiency(x, q, scaling);
            assert!(node <= 1.0 && node_efficiency(x, q + 1.0, scaling) < node || scaling == Scaling::Roofline);
            assert!(node_efficiency(double, q, scaling) >= node);
        }
    }
}

#[test]
fn the_limits_are_those_of_the_source() {
    let efficiency = |x: f64, r: f64, q: f64, p: f64| {
        Parameters { x, r, v: 0.25, beta1: 1.0 }.efficiency((q, p), Scaling::Hockney, BandwidthReading::Corrected)
    };
    // q = p = 1: below x / (1 + x), and equal to it if nothing is exchanged.
    for x in [0.1, 1.0, 50.0] {
        assert!(efficiency(x, 10.0, 1.0, 1.0) < x / (1.0 + x));
        close(efficiency(x, f64::INFINITY, 1.0, 1.0), x / (1.0 + x), 1e-15, "nothing exchanged");
    }
    // Many nodes and many cores: the efficiency vanishes.
    assert!(efficiency(50.0, 10.0, 1.0, 1e12) < 1e-9 && efficiency(50.0, 10.0, 1e9, 1.0) < 1e-9);
    // The roofline of x = 20: linear up to q = 20, constant beyond. Hockney's curve reaches half of it there.
    let node = |q: f64, scaling| node_performance(&BWGRID, 20.0, q, scaling) / 8.5e9;
    close(node(10.0, Scaling::Roofline), 10.0, 1e-15, "below the ridge");
    close(node(1e6, Scaling::Roofline), 20.0, 1e-15, "beyond the ridge");
    close(node(20.0, Scaling::Hockney), 10.0, 1e-15, "at the ridge");
    close(node_efficiency(20.0, 1.0, Scaling::Hockney), 1.0, 1e-15, "relative to one core");
}

/// One core per node is the flat cluster: computation and loads divided by p, plus the exchange.
#[test]
fn one_core_per_node_is_the_flat_cluster() {
    for (parameters, _, p) in everywhere() {
        let Parameters { x, r, v, .. } = parameters;
        let flat = 1.0 / (1.0 + 1.0 / x + p / (r * v * x));
        for reading in [BandwidthReading::Corrected, BandwidthReading::Printed] {
            close(parameters.efficiency((1.0, p), Scaling::Hockney, reading), flat, 1e-12, "flat");
        }
    }
}
