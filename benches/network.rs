//! Speed at which packets cross a network: packet-hops per second, by size of the machine.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::engine::Streams;
use parsim::machine::{Completion, OutgoingMessage, RankLocation, Sends, Transport};
use parsim::network::Topology;
use parsim::units::SimTime;
use parsim::{Machine, load_machine};
use std::time::Duration;

/// Bytes of each message: three packets of the machine.
const BYTES: u64 = 360;
/// The most rows and columns that a message crosses, so that traffic is the same on every machine.
const REACH: u32 = 4;

fn store_and_forward(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/machines/parsytec-supercluster-t800.ron");
    let mut machine = load_machine(path).expect("the machine is good");
    machine.sends = Sends::UntilInjected;
    let mut group = criterion.benchmark_group("packet-hops");
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3)).sample_size(10);
    for (rows, columns) in [(8, 16), (32, 32), (128, 128)] {
        group.throughput(Throughput::Elements(everybody_sends(&machine, rows, columns)));
        group.bench_function(BenchmarkId::new("mesh2d", rows * columns), |bencher| {
            bencher.iter(|| everybody_sends(&machine, rows, columns));
        });
    }
    group.finish();
}

/// Every node sends to one in its neighbourhood, chosen at random but always the same; the packet-hops.
fn everybody_sends(machine: &Machine, rows: u32, columns: u32) -> u64 {
    let mut transport = Transport::new(machine, Topology::Mesh2d { rows, columns }, 0, Streams::new(1));
    let mut random = Random(1);
    for node in 0..rows * columns {
        let row = random.near(node / columns).min(rows - 1);
        let column = random.near(node % columns).min(columns - 1);
        let at = |node| RankLocation { node, core: 0 };
        let message = OutgoingMessage { bytes: BYTES, again: false, handle: node, cause: 0 };
        transport.send(SimTime::START, (at(node), at(row * columns + column)), message);
    }
    while let Some(now) = transport.step() {
        while let Some(completion) = transport.next_completion() {
            if let Completion::Delivered { message, .. } = completion {
                transport.accept(now, message, 0);
            }
        }
    }
    transport.counts().packet_hops
}

/// Cheap random numbers.
struct Random(u64);

impl Random {
    /// A number that is at most `REACH` away.
    fn near(&mut self, number: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = u32::try_from(self.0 >> 33).expect("31 bits") % (2 * REACH + 1);
        (number + drawn).saturating_sub(REACH)
    }
}

criterion_group!(benches, store_and_forward);
criterion_main!(benches);
