//! Links only: uniform random packets on an 8 × 16 mesh, beside a bare mesh on the engine `simcore` in the same run.
//!
//! In both every link is a FIFO station, every node always has a few packets under way to random destinations, and a
//! packet costs one event a hop. Either all nodes begin at once, so that all packets move in step, or each begins at a
//! random time within the first transmission. `simcore` keeps times as `f64` and its events in boxes; its mesh is as lean as it
//! can be, without anything that parsim's network has beside the stations.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use parsim::engine::{Calendar, Streams};
use parsim::network::{Fabric, ForwardedBy, HopEvent, Packet, PacketKind, Topology};
use parsim::units::SimTime;
use parsim::{Machine, load_machine};
use serde::Serialize;
use simcore::{Event, EventHandler, Simulation, SimulationContext, cast};
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

const ROWS: u32 = 8;
const COLUMNS: u32 = 16;
const NODES: u32 = ROWS * COLUMNS;
/// Packets that each node has under way.
const WINDOW: u32 = 4;
/// Packets in all.
const PACKETS: u32 = 20_000;
const BYTES: u32 = 120;
/// The transmission time of a packet, in nanoseconds.
const TRANSMISSION: u32 = 81_600;

/// The beginning of the nodes: all at once, or each at a time of its own.
#[derive(Clone, Copy)]
enum Begin {
    InStep,
    Apart,
}

/// Cheap random numbers, the same on both sides.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

struct Destinations {
    dice: Dice,
    left: u32,
}

impl Destinations {
    fn new() -> Self {
        Self { dice: Dice(1), left: PACKETS }
    }

    /// The destination of the next packet from `node`, while there are any.
    fn next(&mut self, node: u32) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        Some((node + 1 + self.dice.roll(NODES - 1)) % NODES)
    }
}

/// The time at which each node begins, in nanoseconds.
fn begins(begin: Begin) -> Vec<u32> {
    let mut dice = Dice(7);
    (0..NODES).map(|_| if matches!(begin, Begin::InStep) { 0 } else { dice.roll(TRANSMISSION) }).collect()
}

/// Nanoseconds as seconds.
fn seconds(nanoseconds: u32) -> f64 {
    f64::from(nanoseconds) * 1e-9
}

/// The packet-hops that parsim's network runs.
fn parsim(machine: &Machine, begin: Begin) -> u64 {
    let topology = Topology::Mesh2d { rows: ROWS, columns: COLUMNS };
    let mut fabric = Fabric::new(&machine.network, topology, ForwardedBy::Router, Streams::new(1));
    let mut calendar = Calendar::new();
    let mut destinations = Destinations::new();
    let mut passages = Vec::new();
    let mut end = SimTime::START;
    let first_node = fabric.entities();
    for (node, begin) in (first_node..).zip(begins(begin)) {
        calendar.schedule(SimTime::from_ps(1000 * u64::from(begin)), node);
    }
    while let Some((now, entity)) = calendar.pop() {
        if let Some(node) = entity.checked_sub(first_node) {
            for to in (0..WINDOW).map_while(|_| destinations.next(node)) {
                fabric.send(&mut calendar, now, node, Packet::new(0, to, BYTES, PacketKind::Data));
            }
            continue;
        }
        end = now;
        fabric.relay(&mut calendar, now, entity, &mut passages);
        for passage in &passages {
            let HopEvent::Arrived { at, .. } = *passage else { continue };
            if let Some(to) = destinations.next(at) {
                fabric.send(&mut calendar, now, at, Packet::new(0, to, BYTES, PacketKind::Data));
            }
        }
        passages.clear();
    }
    fabric.loads(end).iter().map(|load| load.packets).sum()
}

#[derive(Clone, Serialize)]
struct Arrival {
    to: u32,
}

#[derive(Clone, Serialize)]
struct Beginning {}

/// A node of the bare mesh with its outgoing links: east, west, south, north.
struct Node {
    number: u32,
    free: [f64; 4],
    context: SimulationContext,
    shared: Rc<RefCell<(Destinations, u64)>>,
}

impl Node {
    fn send(&mut self, to: u32) {
        let (column, target) = (self.number % COLUMNS, to % COLUMNS);
        let (port, next) = match column.cmp(&target) {
            std::cmp::Ordering::Less => (0, self.number + 1),
            std::cmp::Ordering::Greater => (1, self.number - 1),
            std::cmp::Ordering::Equal if self.number < to => (2, self.number + COLUMNS),
            std::cmp::Ordering::Equal => (3, self.number - COLUMNS),
        };
        let now = self.context.time();
        self.free[port] = self.free[port].max(now) + seconds(TRANSMISSION);
        self.context.emit(Arrival { to }, next, self.free[port] - now);
    }

    fn send_own(&mut self) {
        let to = self.shared.borrow_mut().0.next(self.number);
        if let Some(to) = to {
            self.send(to);
        }
    }
}

impl EventHandler for Node {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Arrival { to } => {
                self.shared.borrow_mut().1 += 1;
                if to == self.number { self.send_own() } else { self.send(to) }
            }
            Beginning {} => {
                (0..WINDOW).for_each(|_| self.send_own());
            }
        });
    }
}

/// The packet-hops that the bare mesh runs.
fn bare(begin: Begin) -> u64 {
    let mut simulation = Simulation::new(1);
    let shared = Rc::new(RefCell::new((Destinations::new(), 0)));
    let mut nodes = Vec::new();
    for number in 0..NODES {
        let name = number.to_string();
        let context = simulation.create_context(&name);
        let node = Rc::new(RefCell::new(Node { number, free: [0.0; 4], context, shared: Rc::clone(&shared) }));
        assert_eq!(simulation.add_handler(&name, node.clone()), number, "nodes are numbered as they come");
        nodes.push(node);
    }
    for (node, begin) in nodes.iter().zip(begins(begin)) {
        let node = node.borrow();
        node.context.emit(Beginning {}, node.number, seconds(begin));
    }
    simulation.step_until_no_events();
    shared.borrow().1
}

fn uniform_traffic(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/machines/parsytec-supercluster-t800.ron");
    let machine = load_machine(path).expect("the machine is good");
    for (begin, name) in [(Begin::Apart, "uniform 8 x 16 mesh"), (Begin::InStep, "uniform 8 x 16 mesh, in step")] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(parsim(&machine, begin)));
        group.bench_function("parsim", |bencher| bencher.iter(|| black_box(parsim(&machine, begin))));
        group.throughput(Throughput::Elements(bare(begin)));
        group.bench_function("simcore", |bencher| bencher.iter(|| black_box(bare(begin))));
        group.finish();
    }
}

criterion_group!(benches, uniform_traffic);
criterion_main!(benches);
