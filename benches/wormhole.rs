//! Flit-hops per second of the wormhole router: 8 × 8 mesh, uniform traffic, by load and lanes.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::experiment;
use parsim::scenario::source::Document;
use parsim::scenario::{CheckedScenario, Plan};
use std::hint::black_box;

const FLITS: u64 = 16;

fn scenario(offered: &str, lanes: u32) -> CheckedScenario {
    let mut document = Document::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/wormhole-mesh.ron"))
        .expect("the scenario is shipped");
    for (path, value) in [
        ("program.offered", offered),
        ("program.packet", "64 B"),
        ("program.warm_up", "0 us"),
        ("program.measured", "40 us"),
        ("machine.network.switching.lanes", &lanes.to_string()),
    ] {
        document.set(path, value).expect("the scenario has this field");
    }
    Plan::new(document, &[]).and_then(|plan| plan.base()).expect("the scenario has no faults").into_scenario()
}

fn flit_hops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wormhole");
    group.sample_size(10);
    for (offered, lanes) in [("0.1", 2), ("0.3", 2), ("0.3", 16), ("0.6", 2)] {
        let scenario = scenario(offered, lanes);
        let hops = experiment::run(&scenario).expect("the traffic is delivered").counts.packet_hops;
        group.throughput(Throughput::Elements(hops * FLITS));
        let id = BenchmarkId::new(format!("{lanes} lanes"), offered);
        group.bench_function(id, |bencher| bencher.iter(|| experiment::run(black_box(&scenario))));
    }
    group.finish();
}

criterion_group!(benches, flit_hops);
criterion_main!(benches);
