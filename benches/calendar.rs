//! How fast the calendar is: the hold model, in which every event taken out schedules another.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::engine::{Calendar, Entity};
use parsim::units::{SimDuration, SimTime};
use std::time::Duration;

const HOLDS: u32 = 10_000;

/// A way to schedule an event: fixed or movable.
type Schedule = fn(&mut Calendar, SimTime, Entity);

fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("calendar");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1)).sample_size(20);
    group.throughput(Throughput::Elements(u64::from(HOLDS)));
    let ways: [(&str, Schedule); 2] = [("schedule", Calendar::schedule), ("alarm", Calendar::set_alarm)];
    for (name, schedule) in ways {
        for pending in [128, 1024, 16_384, 262_144] {
            let mut spans = Spans(1);
            let mut calendar = filled(schedule, pending, &mut spans);
            group.bench_function(BenchmarkId::new(name, pending), |bencher| {
                bencher.iter(|| hold_often(&mut calendar, schedule, &mut spans));
            });
        }
    }
    group.finish();
}

fn filled(schedule: Schedule, pending: Entity, spans: &mut Spans) -> Calendar {
    let mut calendar = Calendar::new();
    for entity in 0..pending {
        schedule(&mut calendar, SimTime::START + spans.next(), entity);
    }
    calendar
}

fn hold_often(calendar: &mut Calendar, schedule: Schedule, spans: &mut Spans) {
    for _ in 0..HOLDS {
        let (now, entity) = calendar.pop().expect("every event schedules another");
        schedule(calendar, now + spans.next(), entity);
    }
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
