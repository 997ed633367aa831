//! Time of a whole run: Gauss-Jordan with both broadcasts.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use parsim::experiment;
use parsim::scenario::source::Document;
use parsim::scenario::{CheckedScenario, Plan};
use std::time::Duration;

fn gauss_jordan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gauss-jordan n=128 p=32");
    group.measurement_time(Duration::from_secs(3)).sample_size(10);
    for broadcast in ["naive", "neighbour"] {
        let scenario = scenario(broadcast);
        let events = experiment::run(&scenario).expect("the scenario is good").counts.events;
        group.throughput(Throughput::Elements(events));
        group.bench_function(broadcast, |bencher| bencher.iter(|| experiment::run(&scenario)));
    }
    group.finish();
}

fn scenario(broadcast: &str) -> CheckedScenario {
    let path = format!("{}/../scenarios/gauss-jordan-{broadcast}.ron", env!("CARGO_MANIFEST_DIR"));
    let mut document = Document::load(path).expect("the scenario is good");
    for (path, value) in [("program.n", "128"), ("ranks", "32")] {
        document.set(path, value).expect("the field is there");
    }
    Plan::new(document, &[]).and_then(|plan| plan.base()).expect("the scenario is good").into_scenario()
}

criterion_group!(benches, gauss_jordan);
criterion_main!(benches);
