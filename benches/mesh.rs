//! Links only: uniform random packets on an 8 × 16 mesh, beside a bare mesh on the engine `simcore` in the same run.
//!
//! In both every link is a FIFO station, every node always has a few packets under way to random destinations, and a
//! packet costs one event a hop. `simcore` keeps times as `f64` and its events in boxes; its mesh is as lean as it
//! can be, without anything that parsim's network has beside the stations.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use parsim::Machine;
use parsim::engine::{Calendar, Streams};
use parsim::network::{Fabric, Onward, Packet, PacketKind, Passage, Topology};
use parsim::units::SimTime;
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
/// The transmission time of a packet, in seconds.
const TRANSMISSION: f64 = 81.6e-6;

/// Cheap random destinations, the same on both sides.
struct Destinations {
    state: u64,
    left: u32,
}

impl Destinations {
    fn new() -> Self {
        Self { state: 1, left: PACKETS }
    }

    /// The destination of the next packet from `node`, while there are any.
    fn next(&mut self, node: u32) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let ahead = u32::try_from(self.state >> 33).expect("31 bits") % (NODES - 1) + 1;
        Some((node + ahead) % NODES)
    }
}

/// The packet-hops that parsim's network plays.
fn parsim(machine: &Machine) -> u64 {
    let topology = Topology::Mesh2d { rows: ROWS, columns: COLUMNS };
    let mut fabric = Fabric::new(&machine.network, topology, Onward::BySoftware, Streams::new(1));
    let mut calendar = Calendar::new();
    let mut destinations = Destinations::new();
    let mut passages = Vec::new();
    let mut hops = 0;
    for node in (0..NODES).flat_map(|node| std::iter::repeat_n(node, WINDOW as usize)) {
        if let Some(to) = destinations.next(node) {
            let packet = Packet::new(0, to, BYTES, PacketKind::Data);
            fabric.send(&mut calendar, SimTime::START, node, packet);
        }
    }
    while let Some((now, entity)) = calendar.pop() {
        fabric.step(&mut calendar, now, entity, &mut passages);
        for passage in passages.drain(..) {
            let Passage::Arrived { packet, at } = passage else { continue };
            hops += 1;
            if packet.to != at {
                fabric.send(&mut calendar, now, at, packet);
            } else if let Some(to) = destinations.next(at) {
                fabric.send(&mut calendar, now, at, Packet::new(0, to, BYTES, PacketKind::Data));
            }
        }
    }
    hops
}

#[derive(Clone, Serialize)]
struct Arrival {
    to: u32,
}

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
        self.free[port] = self.free[port].max(now) + TRANSMISSION;
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
        });
    }
}

/// The packet-hops that the bare mesh plays.
fn bare() -> u64 {
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
    for node in &nodes {
        for _ in 0..WINDOW {
            node.borrow_mut().send_own();
        }
    }
    simulation.step_until_no_events();
    shared.borrow().1
}

fn uniform_traffic(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/machines/parsytec-supercluster-t800.ron");
    let machine = Machine::load(path).expect("the machine is good");
    let mut group = criterion.benchmark_group("uniform 8 x 16 mesh");
    group.throughput(Throughput::Elements(parsim(&machine)));
    group.bench_function("parsim", |bencher| bencher.iter(|| black_box(parsim(&machine))));
    group.throughput(Throughput::Elements(bare()));
    group.bench_function("simcore", |bencher| bencher.iter(|| black_box(bare())));
    group.finish();
}

criterion_group!(benches, uniform_traffic);
criterion_main!(benches);
