//! How fast the calendar is: the hold model, in which every event taken out schedules another.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::engine::{Calendar, Entity};
use parsim::units::SimDuration;
use std::time::Duration;

const HOLDS: u64 = 10_000;

fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("calendar");
    group.throughput(Throughput::Elements(HOLDS)).measurement_time(Duration::from_secs(1)).sample_size(20);
    for pending in [128u32, 1024, 16_384, 262_144] {
        for (kind, schedule) in
            [("schedule", Calendar::schedule as fn(&mut Calendar, _, _)), ("alarm", Calendar::set_alarm)]
        {
            let mut spans = Spans(1);
            let mut calendar = Calendar::new();
            for entity in 0..pending {
                schedule(&mut calendar, parsim::units::SimTime::START + spans.next(), entity);
            }
            group.bench_function(BenchmarkId::new(kind, pending), |bencher| {
                bencher.iter(|| {
                    for _ in 0..HOLDS {
                        let (now, entity): (_, Entity) = calendar.pop().expect("every event schedules another");
                        schedule(&mut calendar, now + spans.next(), entity);
                    }
                });
            });
        }
    }
    group.finish();
}

/// Cheap random spans of up to a microsecond.
struct Spans(u64);

impl Spans {
    fn next(&mut self) -> SimDuration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        SimDuration::from_ps(1 + (self.0 >> 44))
    }
}

criterion_group!(benches, hold);
criterion_main!(benches);
