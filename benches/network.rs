//! How fast packets cross a network: packet-hops per second, by size of the machine.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::Machine;
use parsim::machine::{Happening, Sends, Transport};
use parsim::network::Topology;
use parsim::units::SimTime;
use std::time::Duration;

/// Bytes of each message: ten packets of the machine.
const BYTES: u64 = 1200;

fn store_and_forward(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/machines/parsytec-supercluster-t800.ron");
    let mut machine = Machine::load(path).expect("the machine is good");
    machine.sends = Sends::UntilInjected;
    let mut group = criterion.benchmark_group("packet-hops");
    group.measurement_time(Duration::from_secs(3)).sample_size(10);
    for (rows, columns) in [(8, 16), (32, 32), (128, 128)] {
        let mesh = Topology::Mesh2d { rows, columns };
        group.throughput(Throughput::Elements(everybody_sends(&machine, &mesh)));
        group.bench_function(BenchmarkId::new("mesh2d", rows * columns), |bencher| {
            bencher.iter(|| everybody_sends(&machine, &mesh));
        });
    }
    group.finish();
}

/// Every node sends to another one, chosen at random but always the same; the packet-hops.
fn everybody_sends(machine: &Machine, mesh: &Topology) -> u64 {
    let mut transport = Transport::new(machine, mesh.clone());
    let mut state = 1u64;
    for node in 0..mesh.nodes() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = u32::try_from(state >> 33).expect("31 bits") % mesh.nodes();
        transport.send(SimTime::START, node, other, BYTES, node);
    }
    while let Some(now) = transport.step() {
        while let Some(happening) = transport.happenings.pop_front() {
            if let Happening::Delivered { message, .. } = happening {
                transport.accept(now, message);
            }
        }
    }
    transport.counts().packet_hops
}

criterion_group!(benches, store_and_forward);
criterion_main!(benches);
