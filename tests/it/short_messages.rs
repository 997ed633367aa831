//! A shorter message is never slower: every all-reduce on every topology with hardware routers.

use crate::repository;
use parsim::machine::{Allocation, Sends};
use parsim::network::switching::{CutThrough, StoreAndForward};
use parsim::network::{Choice, Routing, Switching, Topology};
use parsim::program::collective::CollectiveOperation;
use parsim::units::Bytes;
use parsim::{Machine, Message, Process, Simulation, load_machine};
use proptest::prelude::*;

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

fn all_reduce(algorithm: &str) -> CollectiveOperation {
    ron::from_str(&format!("AllReduce(algorithm: {algorithm})")).expect("an algorithm")
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
        Topology::BinaryTree { levels: 7 },
    ];
    for (number, machine) in machines().iter().take(2).enumerate() {
        for (place, topology) in topologies.iter().enumerate() {
            // Every algorithm meets every topology, and each of the two every kind of send.
            for (index, (algorithm, bytes)) in ALGORITHMS.iter().zip([8, 512].into_iter().cycle()).enumerate() {
                let sends = SENDS[(place + index) % SENDS.len()];
                let mut machine = machine.clone();
                (machine.network.topology, machine.sends) = (topology.clone(), sends);
                let [trains, single] = [false, true].map(|is_single| {
                    makespan_of(&machine, &all_reduce(algorithm), bytes, |simulation| {
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

/// Messages of a round: (sender, distance to the receiver, bytes).
type Round = Vec<(u32, u32, u64)>;

async fn exchange(me: Process, rounds: Vec<Round>) {
    for round in rounds {
        let receiver = |from: u32, ahead: u32| (from + ahead) % me.ranks();
        let mut sends = Vec::new();
        for (_, ahead, bytes) in round.iter().filter(|(from, ..)| *from == me.rank()) {
            sends.push(me.start_send(receiver(me.rank(), *ahead), Message::new(*bytes)).await);
        }
        for (from, ..) in round.iter().filter(|(from, ahead, _)| receiver(*from, *ahead) == me.rank()) {
            me.receive(*from).await;
        }
        me.wait_all(sends).await;
    }
}

fn any_rounds() -> impl Strategy<Value = (Topology, Vec<Round>)> {
    let topologies = vec![
        (16u32, Topology::BinaryTree { levels: 5 }),
        (32, Topology::BinaryTree { levels: 6 }),
        (16, Topology::Line { nodes: 16 }),
        (16, Topology::Mesh2d { rows: 4, columns: 4 }),
    ];
    prop::sample::select(topologies).prop_flat_map(|(ranks, topology)| {
        // Lengths whose times are multiples of each other, so that packets keep arriving at the same moment.
        let message = (0..ranks, 1..ranks, prop::sample::select(vec![0, 8, 1250, 2500, 12_500]));
        (Just(topology), prop::collection::vec(prop::collection::vec(message, 1..64), 1..5))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    /// Packets that arrive at the same moment by one link, at different places, can be withdrawn in either order.
    #[test]
    fn trains_that_arrive_together_take_the_time_of_single_packets((topology, rounds) in any_rounds()) {
        let ranks = topology.nodes().min(32);
        for mut machine in machines().into_iter().take(2) {
            machine.network.topology = topology.clone();
            let allocation = Allocation::new(&machine, ranks);
            let [trains, single] = [false, true].map(|is_single| {
                let simulation = Simulation::on(&allocation).expect("a sound machine").keep_deliveries();
                let simulation = if is_single { simulation.packet_by_packet() } else { simulation };
                let rounds = rounds.clone();
                simulation.run(&move |me: Process| exchange(me, rounds.clone())).expect("the exchanges end")
            });
            prop_assert_eq!(trains.makespan, single.makespan);
            prop_assert_eq!(trains.deliveries, single.deliveries);
        }
    }
}

const SENDS: [Sends; 3] = [Sends::UntilInjected, Sends::UntilDelivered, Sends::Rendezvous];

#[test]
fn a_shorter_all_reduce_is_never_slower() {
    let mut slower = Vec::new();
    let machines = machines();
    for (place, topology) in topologies().into_iter().enumerate() {
        // Every algorithm meets every topology, and each of the two every machine.
        for (index, algorithm) in ALGORITHMS.iter().enumerate() {
            let number = (place + index) % machines.len();
            let mut machine = machines[number].clone();
            machine.network.routing = match topology {
                Topology::Graph { .. } => Routing::ShortestPath(Choice::Lowest),
                _ => Routing::DimensionOrder,
            };
            machine.network.topology = topology.clone();
            let times = LENGTHS.map(|bytes| makespan(&machine, &all_reduce(algorithm), bytes));
            if !times.is_sorted() {
                slower.push(format!("machine {number}, {topology}, {algorithm}: {times:?}"));
            }
        }
    }
    assert!(slower.is_empty(), "{}", slower.join("\n"));
}
