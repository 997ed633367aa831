//! A shorter message is never slower: every all-reduce on every topology with hardware routers.

use crate::repository;
use parsim::machine::{Allocation, Sends};
use parsim::network::switching::{CutThrough, StoreAndForward};
use parsim::network::{Choice, Routing, Switching, Topology};
use parsim::program::collective::CollectiveOperation;
use parsim::units::Bytes;
use parsim::{Machine, Process, Simulation, load_machine};

/// Every all-reduce for 64 ranks.
const ALGORITHMS: &[&str] = &[
    "RecursiveDoubling",
    "Ring",
    "ReduceScatterAllGather",
    "ReduceBroadcast",
    "Linear",
    "NonOverlapping",
    "SegmentedRing()",
    "SegmentedRing(segment: \"64 B\")",
    "Rabenseifner",
    "RabenseifnerWhole",
    "RecursiveMultiplying(radix: 4)",
    "AllGatherReduce",
    "Bine",
    "BineReduceScatterAllGather",
    "TorusDoubling(shape: [4, 4, 4], ports: 6)",
    "TorusHalving(shape: [4, 4, 4], ports: 6)",
    "TorusRings(shape: [4, 4, 4], ports: 6)",
    "Hierarchical(group: Ranks(4), reduce: Binomial, between: Rabenseifner, broadcast: Binomial)",
];
const RANKS: u32 = 64;
/// Lengths in bytes: a word, as many words as ranks, four times as many.
const LENGTHS: [u64; 3] = [8, 512, 2048];

fn topologies() -> Vec<Topology> {
    let ring: Vec<_> = (0..RANKS).flat_map(|node| [(node, (node + 1) % RANKS), (node, (node + 9) % RANKS)]).collect();
    vec![
        Topology::Complete { nodes: RANKS },
        Topology::Line { nodes: RANKS },
        Topology::Ring { nodes: RANKS },
        Topology::Mesh2d { rows: 8, columns: 8 },
        Topology::Mesh3d { layers: 4, rows: 4, columns: 4 },
        Topology::Torus2d { rows: 8, columns: 8 },
        Topology::Torus3d { layers: 4, rows: 4, columns: 4 },
        Topology::Hypercube { dimension: 6 },
        Topology::BinaryTree { levels: 7 },
        Topology::FatTree { arity: 4, levels: 3 },
        Topology::CubeConnectedCycles { dimension: 4 },
        Topology::graph(RANKS, &ring),
    ]
}

/// Routers whose messages are prepared by processors, packet by packet, and routers below network interfaces.
fn machines() -> Vec<Machine> {
    let processors = load_machine(repository("scenarios/machines/small-cluster.ron")).expect("a good machine");
    let interfaces = load_machine(repository("scenarios/machines/trestles.ron")).expect("a good machine");
    let stored = Switching::StoreAndForward(StoreAndForward { packet: Bytes::new(120) });
    let cut_through = Switching::CutThrough(CutThrough { packet: Bytes::new(4096), header: Bytes::new(0) });
    let with = |machine: &Machine, switching: &Switching| {
        let mut machine = machine.clone();
        machine.nodes.levels = Vec::new();
        machine.network.switching = switching.clone();
        machine
    };
    vec![with(&processors, &stored), with(&processors, &cut_through), with(&interfaces, &cut_through)]
}

fn makespan(machine: &Machine, operation: &CollectiveOperation, bytes: u64) -> f64 {
    makespan_of(machine, operation, bytes, |simulation| simulation)
}

fn makespan_of<'m>(
    machine: &'m Machine,
    operation: &CollectiveOperation,
    bytes: u64,
    with: impl Fn(Simulation<'m>) -> Simulation<'m>,
) -> f64 {
    let operation = operation.clone();
    let program = move |me: Process| {
        let operation = operation.clone();
        async move {
            operation.run(&me, 0, bytes, None).await;
        }
    };
    let allocation = Allocation::new(machine, RANKS);
    let simulation = Simulation::on(&allocation).unwrap_or_else(|error| panic!("{machine:?}: {error}"));
    with(simulation).run(&program).expect("the operation ends").makespan.seconds()
}

/// Trains take the time of single packets for every all-reduce, whatever its sends wait for: the collective operations have
/// empty messages, and many of their messages are in flight at once.
#[test]
fn trains_of_an_all_reduce_take_the_time_of_single_packets() {
    let topologies = [
        Topology::Torus2d { rows: 8, columns: 8 },
        Topology::FatTree { arity: 4, levels: 3 },
        Topology::Line { nodes: 64 },
    ];
    for (number, machine) in machines().iter().take(2).enumerate() {
        for (topology, sends) in topologies.iter().flat_map(|topology| SENDS.map(|sends| (topology, sends))) {
            let mut machine = machine.clone();
            (machine.network.topology, machine.sends) = (topology.clone(), sends);
            for (algorithm, bytes) in ALGORITHMS.iter().zip([8, 512].into_iter().cycle()) {
                let text = format!("AllReduce(algorithm: {algorithm})");
                let operation: CollectiveOperation = ron::from_str(&text).expect("an algorithm");
                let [trains, single] = [false, true].map(|is_single| {
                    makespan_of(&machine, &operation, bytes, |simulation| {
                        if is_single { simulation.packet_by_packet() } else { simulation }
                    })
                });
                assert!(
                    (trains - single).abs() < 1e-15,
                    "machine {number}, {topology}, {sends:?}, {algorithm}, {bytes} B"
                );
            }
        }
    }
}

const SENDS: [Sends; 3] = [Sends::UntilInjected, Sends::UntilDelivered, Sends::Rendezvous];

#[test]
fn a_shorter_all_reduce_is_never_slower() {
    let mut slower = Vec::new();
    for (number, machine) in machines().iter().enumerate() {
        for topology in topologies() {
            let mut machine = machine.clone();
            machine.network.routing = match topology {
                Topology::Graph { .. } => Routing::ShortestPath(Choice::Lowest),
                _ => Routing::DimensionOrder,
            };
            machine.network.topology = topology.clone();
            for algorithm in ALGORITHMS {
                let text = format!("AllReduce(algorithm: {algorithm})");
                let operation: CollectiveOperation = ron::from_str(&text).expect("an algorithm");
                let times = LENGTHS.map(|bytes| makespan(&machine, &operation, bytes));
                if !times.is_sorted() {
                    slower.push(format!("machine {number}, {topology}, {algorithm}: {times:?}"));
                }
            }
        }
    }
    assert!(slower.is_empty(), "{}", slower.join("\n"));
}
