//! Programs that really compute get what a sequential computation gets, and count what they do.

use parsim::Simulation;
use parsim::machine::{Machine, Sends};
use parsim::program::Program;
use parsim::programs::Shipped;
use parsim::scenario::source::Document;
use parsim::trace::Trace;

/// Every program with numbers, with as many ranks as it can take, and without.
const PROGRAMS: [&str; 14] = [
    "DotProduct(n: 50, all_reduce: ReduceBroadcast, numerics: true)",
    "DotProduct(n: 3, all_reduce: Ring, numerics: true)",
    "Reduction(n: 100, reduce: Binomial, numerics: true)",
    "Summa(n: 13, panel: 3, numerics: true)",
    "Summa(n: 12, panel: 100, numerics: true)",
    "Summa(n: 12, panel: 2, broadcast: ScatterRingAllGather, numerics: true)",
    "Summa(n: 12, panel: 5, broadcast: Pipeline(segment: \"64 B\"), numerics: true)",
    "Lu(n: 24, block: 4, numerics: true)",
    "Lu(n: 17, block: 3, numerics: true)",
    "Fft2d(n: 16, all_to_all: Pairwise, numerics: true)",
    "Floyd(n: 11, decomposition: Rows, numerics: true)",
    "Floyd(n: 11, decomposition: Blocks, numerics: true)",
    "FiniteDifference(n: 14, iterations: 5, numerics: true)",
    "FiniteDifference(n: 12, iterations: 2, numerics: true)",
];

fn machine() -> Machine {
    parsim::load_machine(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/machines/parsytec-supercluster-t800.ron"))
        .expect("a machine")
}

fn shipped(program: &str) -> Shipped {
    Document::from_text("a program", program).expect("a text").read().expect("a program")
}

fn can_be_played(program: &str, ranks: u32) -> bool {
    shipped(program).faults(ranks).is_empty()
}

fn run(machine: &Machine, program: &str, ranks: u32) -> Trace {
    let shipped = shipped(program);
    assert_eq!(shipped.faults(ranks), [], "{program} on {ranks}");
    let simulation = Simulation::new(machine, ranks).expect("a sound machine");
    simulation.run(&shipped).unwrap_or_else(|error| panic!("{program} on {ranks}: {error}"))
}

fn outcome(trace: &Trace, name: &str) -> f64 {
    trace.outcome(name).unwrap_or_else(|| panic!("no {name} in {:?}", trace.outcomes))
}

#[test]
fn every_program_computes_what_a_sequential_one_does() {
    let machine = machine();
    for program in PROGRAMS {
        for ranks in [1, 2, 3, 4, 6, 7, 8, 12] {
            let trace = run(&machine, program, ranks);
            let error = outcome(&trace, "relative_error");
            assert!(error < 1e-12, "{program} on {ranks} ranks: {error}");
        }
    }
}

/// Later messages arrive before earlier ones where sends are buffered; they are not received before them.
#[test]
fn every_program_computes_under_every_kind_of_send() {
    let systems = [
        "GaussJordan(n: 110, broadcast: Neighbour(sends: Sequential, forward: WholeMessage, first: Trunk), \
         barrier: Never, numerics: true)",
        "GaussJordan(n: 110, broadcast: Naive(order: Ascending, sends: Concurrent), barrier: Never, numerics: true)",
        "GaussJordan(n: 110, broadcast: Neighbour(sends: Concurrent, forward: PerPacket, first: Branch), \
         barrier: Tree, numerics: true)",
    ];
    let larger = [
        "Summa(n: 100, panel: 5, numerics: true)",
        "Lu(n: 100, block: 4, numerics: true)",
        "Floyd(n: 100, decomposition: Rows, numerics: true)",
        "FiniteDifference(n: 100, iterations: 5, numerics: true)",
    ];
    let mut machine = machine();
    for sends in [Sends::UntilInjected, Sends::UntilDelivered, Sends::Rendezvous, Sends::Buffered] {
        machine.sends = sends;
        let most = if sends == Sends::Buffered { 100 } else { 16 };
        for program in PROGRAMS.into_iter().chain(systems).chain(larger) {
            for ranks in [3, 7, 16, 100].into_iter().filter(|ranks| *ranks <= most && can_be_played(program, *ranks)) {
                let trace = run(&machine, program, ranks);
                let of_system = trace.outcome("relative_residual");
                let error = of_system.unwrap_or_else(|| outcome(&trace, "relative_error"));
                assert!(error < 1e-12, "{program} on {ranks} ranks, {sends:?}: {error}");
            }
        }
    }
}

/// The factors of a random matrix need its pivots, all others do the same with and without numbers.
#[test]
fn numbers_take_no_time() {
    let machine = machine();
    for program in PROGRAMS.into_iter().filter(|program| !program.starts_with("Lu")) {
        let without = program.replace("numerics: true", "numerics: false");
        for ranks in [1, 4, 6] {
            let (with, without) = (run(&machine, program, ranks), run(&machine, &without, ranks));
            assert_eq!((with.makespan, with.counts), (without.makespan, without.counts), "{program} on {ranks}");
            for count in ["operations", "memory_bytes", "message_bytes", "exchanged_bytes"] {
                assert!((outcome(&with, count) - outcome(&without, count)).abs() < 0.5, "{program}: {count}");
            }
        }
    }
}

/// The programs count what their algorithms are known to do.
#[test]
fn the_counts_are_those_of_the_algorithms() {
    let machine = machine();
    let count = |program: &str, ranks, name| outcome(&run(&machine, program, ranks), name);
    let same = |one: f64, other: f64| assert!((one - other).abs() < 0.5, "{one} is not {other}");
    let dot = "DotProduct(n: 1000, all_reduce: ReduceBroadcast)";
    same(count(dot, 1, "operations"), 2000.0);
    same(count(dot, 4, "operations"), 2003.0);
    same(count(dot, 4, "memory_bytes"), 16000.0);
    same(count(dot, 4, "exchanged_bytes"), 6.0 * 8.0);
    // 2n³ operations; each rank of 2 × 2 sends half of its blocks of A and B on: n² words each.
    let summa = "Summa(n: 32, panel: 8)";
    same(count(summa, 4, "operations"), 2.0 * 32f64.powi(3));
    same(count(summa, 4, "exchanged_bytes"), 2.0 * 32f64.powi(2) * 8.0);
    same(count(summa, 1, "memory_bytes"), 8.0 * (4.0 * 2.0 * 32.0 * 8.0 + 4.0 * 2.0 * 32f64.powi(2)));
    // Σ (n − k) + 2 (n − k)² below the diagonal: 2/3 n³ − n²/2 − n/6.
    let lu = "Lu(n: 48, block: 8)";
    for ranks in [1, 6] {
        same(count(lu, ranks, "operations"), 2.0 / 3.0 * 48f64.powi(3) - 48f64.powi(2) / 2.0 - 48.0 / 6.0);
    }
    // 5 N log₂ N for N = n² numbers, of which all but a p-th leave their rank.
    let fft = "Fft2d(n: 32, all_to_all: Pairwise)";
    same(count(fft, 4, "operations"), 5.0 * 1024.0 * 10.0);
    same(count(fft, 4, "exchanged_bytes"), 0.75 * 1024.0 * 16.0);
    let floyd = |decomposition: &str| format!("Floyd(n: 16, decomposition: {decomposition})");
    same(count(&floyd("Rows"), 4, "operations"), 2.0 * 16f64.powi(3));
    same(count(&floyd("Rows"), 4, "exchanged_bytes"), 3.0 * 16f64.powi(2) * 8.0);
    same(count(&floyd("Blocks"), 4, "exchanged_bytes"), 2.0 * 16f64.powi(2) * 8.0);
    let jacobi = "FiniteDifference(n: 16, iterations: 3)";
    same(count(jacobi, 4, "operations"), 3.0 * 4.0 * 256.0);
    same(count(jacobi, 4, "exchanged_bytes"), 3.0 * 4.0 * 16.0 * 8.0);
    same(count("Reduction(n: 64, reduce: Binomial)", 4, "operations"), 63.0);
}
