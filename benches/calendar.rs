//! Comparison of calendars by the hold model, in which every event taken out schedules another, at three sizes with
//! keys of picoseconds and entities.
//!
//! The candidates are parsim's own calendar for events that stay and for alarms that move (`priority-queue`), the
//! heap of the standard library over the same packed keys, and a bucket calendar (a ring of buckets, each sorted when
//! it is opened, with a heap for what lies beyond the ring).

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use parsim::engine::{Calendar, Entity};
use parsim::units::{SimDuration, SimTime};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

const HOLDS: u32 = 10_000;

/// The operations that every candidate has.
trait Events {
    fn schedule(&mut self, time: SimTime, entity: Entity);
    fn next(&mut self) -> (SimTime, Entity);
}

/// parsim's own, events that stay.
#[derive(Default)]
struct Own(Calendar);

impl Events for Own {
    fn schedule(&mut self, time: SimTime, entity: Entity) {
        self.0.schedule(time, entity);
    }

    fn next(&mut self) -> (SimTime, Entity) {
        self.0.pop().expect("every event schedules another")
    }
}

/// parsim's own, events that may move: `priority-queue`.
#[derive(Default)]
struct Alarms(Calendar);

impl Events for Alarms {
    fn schedule(&mut self, time: SimTime, entity: Entity) {
        self.0.set_alarm(time, entity);
    }

    fn next(&mut self) -> (SimTime, Entity) {
        self.0.pop().expect("every event schedules another")
    }
}

fn key(time: SimTime, entity: Entity) -> u128 {
    u128::from(time.ps()) << 32 | u128::from(entity)
}

#[expect(clippy::cast_possible_truncation, reason = "the key is 64 bits of time over 32 bits of entity")]
fn unpacked(key: u128) -> (SimTime, Entity) {
    (SimTime::from_ps((key >> 32) as u64), key as Entity)
}

/// The standard library's.
#[derive(Default)]
struct Standard(BinaryHeap<Reverse<u128>>);

impl Events for Standard {
    fn schedule(&mut self, time: SimTime, entity: Entity) {
        self.0.push(Reverse(key(time, entity)));
    }

    fn next(&mut self) -> (SimTime, Entity) {
        self.0.pop().map(|Reverse(key)| unpacked(key)).expect("every event schedules another")
    }
}

const BUCKETS: usize = 4096;

/// A ring of buckets, each of a power of two of picoseconds.
struct Buckets {
    shift: u32,
    /// The number of the open bucket since the start.
    open: u64,
    /// The keys left in the open bucket, the next one last.
    sorted: Vec<u128>,
    ring: Vec<Vec<u128>>,
    beyond: BinaryHeap<Reverse<u128>>,
    in_ring: usize,
}

impl Buckets {
    /// Buckets that hold a few events each if `pending` events are spread over a microsecond or so.
    fn for_pending(pending: Entity) -> Self {
        let shift = (1_u64 << 20).div_ceil(u64::from(pending)).max(1).ilog2() + 2;
        let ring = (0..BUCKETS).map(|_| Vec::new()).collect();
        Self { shift, open: 0, sorted: Vec::new(), ring, beyond: BinaryHeap::new(), in_ring: 0 }
    }

    fn slot(bucket: u64) -> usize {
        usize::try_from(bucket % BUCKETS as u64).expect("a place in the ring")
    }

    fn open_next(&mut self) {
        self.open += 1;
        if self.in_ring == 0
            && let Some(Reverse(first)) = self.beyond.peek()
        {
            self.open = self.open.max(unpacked(*first).0.ps() >> self.shift);
        }
        while let Some(Reverse(first)) = self.beyond.peek().copied() {
            let bucket = unpacked(first).0.ps() >> self.shift;
            if bucket >= self.open + BUCKETS as u64 {
                break;
            }
            self.beyond.pop();
            self.ring[Self::slot(bucket)].push(first);
            self.in_ring += 1;
        }
        std::mem::swap(&mut self.sorted, &mut self.ring[Self::slot(self.open)]);
        self.in_ring -= self.sorted.len();
        self.sorted.sort_unstable_by(|a, b| b.cmp(a));
    }
}

impl Events for Buckets {
    fn schedule(&mut self, time: SimTime, entity: Entity) {
        let (key, bucket) = (key(time, entity), time.ps() >> self.shift);
        if bucket <= self.open {
            let place = self.sorted.partition_point(|other| *other > key);
            self.sorted.insert(place, key);
        } else if bucket < self.open + BUCKETS as u64 {
            self.ring[Self::slot(bucket)].push(key);
            self.in_ring += 1;
        } else {
            self.beyond.push(Reverse(key));
        }
    }

    fn next(&mut self) -> (SimTime, Entity) {
        loop {
            if let Some(key) = self.sorted.pop() {
                return unpacked(key);
            }
            self.open_next();
        }
    }
}

fn hold(criterion: &mut Criterion) {
    for pending in [128, 16_384, 1 << 20] {
        let mut orders = vec![
            measure(criterion, "own", pending, Own::default()),
            measure(criterion, "BinaryHeap", pending, Standard::default()),
            measure(criterion, "buckets", pending, Buckets::for_pending(pending)),
            measure(criterion, "priority-queue", pending, Alarms::default()),
        ];
        orders.dedup();
        assert_eq!(orders.len(), 1, "all calendars hand out the same events in the same order");
    }
}

/// A number that depends on which events come in which order.
fn measure(criterion: &mut Criterion, name: &str, pending: Entity, mut events: impl Events) -> u64 {
    let mut spans = Spans(1);
    for entity in 0..pending {
        events.schedule(SimTime::START + spans.next(), entity);
    }
    let order = hold_often(&mut events, &mut spans);
    let mut group = criterion.benchmark_group("calendar");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1)).sample_size(20);
    group.throughput(Throughput::Elements(u64::from(HOLDS)));
    group.bench_function(BenchmarkId::new(name, pending), |bencher| {
        bencher.iter(|| hold_often(&mut events, &mut spans));
    });
    group.finish();
    order
}

fn hold_often(events: &mut impl Events, spans: &mut Spans) -> u64 {
    let mut order = 0_u64;
    for _ in 0..HOLDS {
        let (now, entity) = events.next();
        order = order.wrapping_mul(31).wrapping_add(u64::from(entity));
        events.schedule(now + spans.next(), entity);
    }
    order
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
