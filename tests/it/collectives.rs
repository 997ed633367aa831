//! Laws of collective operations on a machine: they move the right data, and take the published time where nothing is
//! in their way.

use parsim::Simulation;
use parsim::machine::{Allocation, Machine, Partition, Sends};
use parsim::network::{Network, Topology};
use parsim::node::processor::Processor;
use parsim::program::collective::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, Children, CollectiveOperation, Concurrency, Forward, Gather,
    LocalCosts, NaiveBroadcast, NeighbourBroadcast, PipelinedBroadcast, Reduce, ReduceScatter, Scan, Scatter,
    SendOrder,
};
use parsim::program::{Process, Program};
use parsim::programs::Collective;
use parsim::trace::Trace;
use parsim::units::{Bytes, SimDuration};
use std::cell::RefCell;
use std::rc::Rc;

pub fn ideal(name: &str) -> Machine {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/machines/");
    parsim::load_machine(format!("{folder}ideal-{name}.ron")).expect("a machine")
}

/// A run of `program` on `ranks` ranks of a machine with another topology.
pub fn run_on(machine: &Machine, topology: Topology, ranks: u32, program: &dyn Program) -> Trace {
    let network = Network { topology, ..machine.network.clone() };
    let machine = Machine { network, ..machine.clone() };
    let allocation = Allocation::new(&machine, ranks).partition(Partition::Whole);
    Simulation::on(&allocation).expect("a sound machine").run(program).expect("a run that ends")
}

fn broadcasts() -> Vec<Broadcast> {
    let sends = [Concurrency::Sequential, Concurrency::Concurrent];
    let naive = sends.map(|sends| Broadcast::Naive(NaiveBroadcast { order: SendOrder::Ascending, sends }));
    let tree = |sends, forward| Broadcast::Neighbour(NeighbourBroadcast { sends, forward, first: Children::Trunk });
    let chain = [3, 8, 1000].map(|bytes| Broadcast::Pipelined(PipelinedBroadcast { segment: Bytes::new(bytes) }));
    let trees = [
        tree(sends[0], Forward::WholeMessage),
        tree(sends[1], Forward::PerPacket),
        Broadcast::Binomial,
        Broadcast::Hypercube,
    ];
    naive.into_iter().chain(trees).chain(chain).collect()
}

fn operations() -> Vec<CollectiveOperation> {
    let mut all: Vec<CollectiveOperation> =
        broadcasts().into_iter().map(|algorithm| CollectiveOperation::Broadcast { algorithm }).collect();
    all.extend(
        [Reduce::Naive, Reduce::Binomial, Reduce::Hypercube].map(|algorithm| CollectiveOperation::Reduce { algorithm }),
    );
    all.extend(
        [AllReduce::RecursiveDoubling, AllReduce::Ring, AllReduce::ReduceScatterAllGather, AllReduce::ReduceBroadcast]
            .map(|algorithm| CollectiveOperation::AllReduce { algorithm }),
    );
    all.extend(
        [ReduceScatter::RecursiveHalving, ReduceScatter::Ring, ReduceScatter::Pairwise]
            .map(|algorithm| CollectiveOperation::ReduceScatter { algorithm }),
    );
    all.extend(
        [Scatter::Naive, Scatter::Binomial, Scatter::Hypercube]
            .map(|algorithm| CollectiveOperation::Scatter { algorithm }),
    );
    all.extend(
        [Gather::Naive, Gather::Binomial, Gather::Hypercube].map(|algorithm| CollectiveOperation::Gather { algorithm }),
    );
    all.extend(
        [AllGather::Ring, AllGather::RecursiveDoubling, AllGather::Torus]
            .map(|algorithm| CollectiveOperation::AllGather { algorithm }),
    );
    all.extend(
        [AllToAll::Pairwise, AllToAll::Hypercube, AllToAll::Torus]
            .map(|algorithm| CollectiveOperation::AllToAll { algorithm }),
    );
    all.extend(
        [Scan::Chain, Scan::RecursiveDoubling, Scan::LinearNonBlocking]
            .map(|algorithm| CollectiveOperation::Scan { algorithm }),
    );
    all.extend(
        [Barrier::Tree, Barrier::Dissemination, Barrier::Ideal]
            .map(|algorithm| CollectiveOperation::Barrier { algorithm }),
    );
    all
}

/// Word `word` of what `rank` has for `block`; whole numbers, so that sums are exact in any order.
fn word(rank: u32, block: u32, word: u32) -> f64 {
    f64::from(1 + word + 10 * block + 1000 * rank)
}

fn words(rank: u32, block: u32, count: u32) -> Vec<f64> {
    (0..count).map(|index| word(rank, block, index)).collect()
}

fn summed(ranks: impl Iterator<Item = u32>, block: u32, count: u32) -> Vec<f64> {
    let zero = vec![0.0; count as usize];
    let add = |sum: Vec<f64>, rank| sum.iter().zip(words(rank, block, count)).map(|(sum, value)| sum + value).collect();
    ranks.fold(zero, add)
}

fn blocks(ranks: u32, block: impl Fn(u32) -> Vec<f64>) -> Vec<f64> {
    (0..ranks).flat_map(block).collect()
}

/// The data that `rank` brings in: blocks for all where it has some for each.
pub fn input(operation: &CollectiveOperation, rank: u32, ranks: u32, count: u32) -> Vec<f64> {
    match operation {
        CollectiveOperation::Scatter { .. }
        | CollectiveOperation::AllToAll { .. }
        | CollectiveOperation::ReduceScatter { .. } => blocks(ranks, |block| words(rank, block, count)),
        _ => words(rank, 0, count),
    }
}

/// The data that `rank` must have at the end.
pub fn output(operation: &CollectiveOperation, rank: u32, root: u32, ranks: u32, count: u32) -> Option<Vec<f64>> {
    match operation {
        CollectiveOperation::Broadcast { .. } => Some(words(root, 0, count)),
        CollectiveOperation::Reduce { .. } => (rank == root).then(|| summed(0..ranks, 0, count)),
        CollectiveOperation::AllReduce { .. } => Some(summed(0..ranks, 0, count)),
        CollectiveOperation::ReduceScatter { .. } => Some(summed(0..ranks, rank, count)),
        CollectiveOperation::Scatter { .. } => Some(words(root, rank, count)),
        CollectiveOperation::Gather { .. } => (rank == root).then(|| blocks(ranks, |from| words(from, 0, count))),
        CollectiveOperation::AllGather { .. } => Some(blocks(ranks, |from| words(from, 0, count))),
        CollectiveOperation::AllToAll { .. } => Some(blocks(ranks, |from| words(from, rank, count))),
        CollectiveOperation::Barrier { .. } => None,
        CollectiveOperation::Scan { .. } => Some(summed(0..=rank, 0, count)),
    }
}

type Outputs = Rc<RefCell<Vec<Option<Vec<f64>>>>>;

pub fn moved(
    machine: &Machine,
    operation: &CollectiveOperation,
    root: u32,
    ranks: u32,
    count: u32,
) -> Vec<Option<Vec<f64>>> {
    let outputs: Outputs = Rc::new(RefCell::new(vec![None; ranks as usize]));
    let program = {
        let outputs = Rc::clone(&outputs);
        let operation = operation.clone();
        move |me: Process| {
            let (outputs, operation) = (Rc::clone(&outputs), operation.clone());
            async move {
                let own = input(&operation, me.rank(), ranks, count).into();
                let result = operation.run(&me, root, 8 * u64::from(count), Some(own)).await;
                outputs.borrow_mut()[me.rank() as usize] = result.map(|values| values.to_vec());
            }
        }
    };
    run_on(machine, Topology::Complete { nodes: ranks }, ranks, &program);
    outputs.take()
}

#[test]
fn every_algorithm_moves_the_right_data() {
    let mut machine = ideal("hypercube");
    for operation in operations() {
        for ranks in [1, 2, 3, 4, 5, 7, 8, 12, 16, 21] {
            if operation.fault(ranks).is_some() {
                assert!(!ranks.is_power_of_two());
                continue;
            }
            for (root, count, sends) in
                [(0, 1, Sends::UntilInjected), (ranks - 1, 5, Sends::Rendezvous), (ranks / 2, 0, Sends::Buffered)]
            {
                machine.sends = sends;
                let expected: Vec<_> = (0..ranks).map(|rank| output(&operation, rank, root, ranks, count)).collect();
                let moved = moved(&machine, &operation, root, ranks, count);
                assert_eq!(moved, expected, "{operation:?}, {ranks} ranks, root {root}, {count} words");
            }
        }
    }
}

#[test]
fn algorithms_for_powers_of_two_say_so() {
    let collective = |operation| Collective { operation, bytes: Bytes::new(8), root: 0, repetitions: 1, local: None };
    let faults = collective(CollectiveOperation::AllReduce { algorithm: AllReduce::ReduceScatterAllGather }).faults(12);
    assert_eq!(faults[0].message, "ReduceScatterAllGather needs a power of two as the number of ranks, not 12");
    assert_eq!(faults[0].path, "operation");
    assert!(collective(CollectiveOperation::AllReduce { algorithm: AllReduce::Ring }).faults(12).is_empty());
}

/// A time of each call leaves all else to the machine, additions among it; costs of additions without that of a byte are rejected.
#[test]
fn a_call_takes_its_time_beside_all_else() {
    let machine = with_start_up();
    for operation in operations() {
        let time = |local| {
            let operation = operation.clone();
            let program = Collective { operation, bytes: Bytes::new(256), root: 0, repetitions: 3, local };
            run_on(&machine, Topology::Hypercube { dimension: 3 }, 8, &program).makespan
        };
        let call = SimDuration::from_us(7);
        let beside = time(Some(LocalCosts { call, ..LocalCosts::default() }));
        assert_eq!(beside, time(None) + call * 3, "{operation:?}");
    }
    let local = Some(LocalCosts { fork: SimDuration::from_us(1), ..LocalCosts::default() });
    let operation = CollectiveOperation::AllReduce { algorithm: AllReduce::Ring };
    let faults = Collective { operation, bytes: Bytes::new(8), root: 0, repetitions: 1, local }.faults(4);
    assert_eq!(faults[0].path, "local.fork");
}

/// Trees that are looked up, additions, and threads that are started again take their times once each.
#[test]
fn local_costs_are_paid_where_the_operations_have_them() {
    let machine = with_start_up();
    let time = |operation: &str, local: &LocalCosts| {
        let operation: CollectiveOperation = ron::from_str(operation).expect("an operation");
        let local = Some(LocalCosts { thread_per_byte: Some("1 ns/B".parse().expect("a time")), ..local.clone() });
        let program = Collective { operation, bytes: Bytes::new(256), root: 0, repetitions: 3, local };
        run_on(&machine, Topology::Hypercube { dimension: 3 }, 8, &program).makespan
    };
    let cost = SimDuration::from_us(7);
    let tree = LocalCosts { tree: cost, ..LocalCosts::default() };
    let addition = LocalCosts { addition: cost, ..LocalCosts::default() };
    let threads = LocalCosts { threads: cost, ..LocalCosts::default() };
    let cases = [
        (&tree, "Broadcast(algorithm: Binomial)", 1),
        (&tree, "AllGather(algorithm: ByDimensions(shape: [4, 2], ports: 2))", 4),
        (&tree, "Broadcast(algorithm: TorusTree(shape: [4, 2], ports: 2))", 2),
        (&tree, "AllReduce(algorithm: RecursiveDoubling)", 0),
        (&addition, "AllReduce(algorithm: RecursiveDoubling)", 3),
        (&addition, "Broadcast(algorithm: Binomial)", 0),
        (&threads, "AllReduce(algorithm: TorusDoubling(shape: [4, 2], ports: 2))", 1),
        (&threads, "AllReduce(algorithm: TorusRings(shape: [4, 2], ports: 2))", 4),
        (&threads, "ReduceScatter(algorithm: TorusRings(shape: [4, 2], ports: 2))", 2),
        (&threads, "AllReduce(algorithm: Ring)", 0),
    ];
    for (local, operation, count) in cases {
        let without = time(operation, &LocalCosts::default());
        assert_eq!(time(operation, local), without + cost * (3 * count), "{operation}");
    }
}

/// The ideal machine with a time of each packet and of each addition.
fn with_start_up() -> Machine {
    let mut machine = ideal("hypercube");
    machine.nodes.sending.per_packet = SimDuration::from_us(1);
    machine.nodes.processor = Processor::FlopRate("1 Mflop/s".parse().expect("a rate"));
    machine
}

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/validation/collectives/collectives.csv"));

fn published(name: &str) -> CollectiveOperation {
    ron::from_str(name).unwrap_or_else(|error| panic!("no operation {name}: {error}"))
}

/// The rows of the table: name, ranks, bytes, time in picoseconds.
fn table() -> impl Iterator<Item = (&'static str, u32, u64, u64)> {
    TABLE.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        let time: parsim::units::SimDuration = format!("{} us", cells[4]).parse().expect("a time");
        (cells[0], cells[2].parse().expect("ranks"), cells[3].parse().expect("bytes"), time.ps())
    })
}

fn time_ps(machine: &Machine, topology: Topology, name: &str, ranks: u32, bytes: u64) -> u64 {
    let program =
        Collective { operation: published(name), bytes: Bytes::new(bytes), root: 0, repetitions: 1, local: None };
    let trace = run_on(machine, topology, ranks, &program);
    assert_eq!(trace.outcomes[0].0, "collective_s");
    assert!((trace.outcomes[0].1 - trace.makespan.seconds()).abs() < 1e-12);
    trace.makespan.ps()
}

#[test]
fn all_published_cases_to_the_picosecond() {
    let machine = ideal("hypercube");
    let mut cases = 0;
    for (name, ranks, bytes, expected) in table() {
        let side = ranks.isqrt();
        let topology = if name.contains("Torus") {
            Topology::Torus2d { rows: side, columns: side }
        } else {
            Topology::Hypercube { dimension: ranks.ilog2() }
        };
        assert_eq!(time_ps(&machine, topology, name, ranks, bytes), expected, "{name}, p = {ranks}, m = {bytes}");
        cases += 1;
    }
    assert_eq!(cases, 72);
}

#[test]
fn no_topology_is_faster_than_the_formula() {
    let machine = ideal("hypercube");
    for (name, ranks, bytes, expected) in table().filter(|(_, ranks, ..)| [16, 64].contains(ranks)) {
        for topology in parsim::network::topology::NAMES {
            let nodes = if topology == "binary-tree" { ranks * 2 - 1 } else { ranks };
            let Ok(topology) = Topology::from_name(topology, nodes) else { continue };
            let time = time_ps(&machine, topology.clone(), name, ranks, bytes);
            assert!(time >= expected, "{name} on {topology}, m = {bytes}: {time} ps");
        }
    }
}
