//! Speed at which processes are resumed: verbs that take no time and need no network, and messages between neighbours.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::network::Topology;
use parsim::units::SimDuration;
use parsim::{Message, Process, Simulation, load_machine};
use std::time::Duration;

const ROUNDS: u32 = 20;

/// All wait for each other, again and again.
async fn barriers(me: Process) {
    for _ in 0..ROUNDS {
        me.barrier().await;
    }
}

/// Pairs of ranks send a byte to and fro.
async fn ping_pong(me: Process) {
    let partner = me.rank() ^ 1;
    for _ in 0..ROUNDS {
        if me.rank() < partner {
            me.send(partner, Message::new(1)).await;
            me.receive(partner).await;
        } else {
            me.receive(partner).await;
            me.send(partner, Message::new(1)).await;
        }
    }
}

fn processes(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/machines/parsytec-supercluster-t800.ron");
    let mut machine = load_machine(path).expect("the machine is good");
    machine.network.links.start = SimDuration::ZERO;
    let mut group = criterion.benchmark_group("processes");
    group.measurement_time(Duration::from_secs(3)).sample_size(10);
    for side in [16_u32, 128] {
        let ranks = side * side;
        machine.network.topology = Topology::Mesh2d { rows: side, columns: side };
        // A barrier a round; or a send and a receive a round.
        group.throughput(Throughput::Elements(u64::from(ranks * ROUNDS)));
        group.bench_function(BenchmarkId::new("barriers", ranks), |bencher| {
            bencher.iter(|| {
                Simulation::new(&machine, ranks)
                    .expect("a good machine")
                    .run(&barriers)
                    .expect("all come to the barrier")
            });
        });
        group.throughput(Throughput::Elements(u64::from(ranks * ROUNDS * 2)));
        group.bench_function(BenchmarkId::new("messages", ranks), |bencher| {
            bencher.iter(|| {
                Simulation::new(&machine, ranks)
                    .expect("a good machine")
                    .run(&ping_pong)
                    .expect("every message is received")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, processes);
criterion_main!(benches);
