//! Routers of packets in transit: hardware beside the processors, or software on them.

use crate::repository;
use parsim::machine::{Allocation, Placement};
use parsim::network::switching::{CutThrough, StoreAndForward, Wormhole};
use parsim::network::{Switching, Topology};
use parsim::node::{Level, Module, Processor, Router, RouterTurn, Work};
use parsim::program::collective::{AllReduce, CollectiveOperation};
use parsim::programs::Collective;
use parsim::trace::{Activity, Trace};
use parsim::units::{Bytes, PerByte, SimDuration};
use parsim::{Machine, Message, Process, Simulation, load_machine};

/// Ranks on every node.
const PAIR: u32 = 2;
const NODES: u32 = 16;

fn topologies() -> [Topology; 4] {
    [
        Topology::Hypercube { dimension: 4 },
        Topology::Torus2d { rows: 4, columns: 4 },
        Topology::Mesh2d { rows: 4, columns: 4 },
        Topology::FatTree { arity: 2, levels: 4 },
    ]
}

fn switchings() -> [Switching; 3] {
    let packet = Bytes::new(1 << 20);
    [
        Switching::StoreAndForward(StoreAndForward { packet }),
        Switching::CutThrough(CutThrough { packet, header: Bytes::new(4) }),
        Switching::Wormhole(Wormhole { packet, flit: Bytes::new(4), buffer: 8, lanes: 2, router: None }),
    ]
}

/// Machines of hardware routers whose software takes 100 us to send a message and whose links take 2 us for a byte.
fn machines() -> impl Iterator<Item = Machine> {
    let path = repository("scenarios/machines/ideal-hypercube.ron");
    let ideal = load_machine(path).expect("a good machine");
    let kinds = topologies().into_iter().flat_map(|topology| {
        switchings().into_iter().flat_map(move |switching| {
            let topology = topology.clone();
            [1, 2].map(|cores| (topology.clone(), switching.clone(), cores))
        })
    });
    kinds.map(move |(topology, switching, members)| {
        let mut machine = ideal.clone();
        machine.network.topology = topology;
        machine.network.switching = switching;
        machine.nodes.levels = vec![Level { name: "node".to_owned(), members, memory: None, interface: None }];
        machine
    })
}

fn run(machine: &Machine, ranks_per_node: u32, program: &dyn parsim::program::Program) -> Trace {
    let placement = Placement::Packed { ranks_per_node };
    let allocation = Allocation::new(machine, ranks_per_node * NODES).placement(placement);
    let simulation = Simulation::on(&allocation).expect("a good machine").keep_deliveries();
    simulation.run(program).expect("the program ends")
}

/// A message from the first node to the last. If they are `busy`, the first rank of every other node computes for
/// longer than it is on its way, and the second one sends messages to itself.
async fn ping(me: Process, busy: bool) {
    let last = me.ranks() - PAIR;
    match me.rank() {
        0 => {
            me.compute(Work::new(Module::Rsub, 1000)).await;
            me.send(last, Message::new(64)).await;
        }
        rank if rank == last => drop(me.receive(0).await),
        rank if rank < PAIR || rank > last || !busy => {}
        rank if rank % PAIR == 0 => me.compute(Work::new(Module::Rsub, 100).rows(30)).await,
        rank => {
            for _ in 0..40 {
                let sending = me.start_send(rank, Message::new(64)).await;
                me.receive(rank).await;
                me.wait(sending).await;
            }
        }
    }
}

/// Rows of 100 us, and 10 us of a memory for a word that a link moves.
fn with_computations(mut machine: Machine) -> Machine {
    let Processor::Calibrated(times) = &mut machine.nodes.processor else { unreachable!("it is calibrated") };
    times.rsub = SimDuration::from_us(1);
    machine.nodes.dma_per_word = SimDuration::from_us(10);
    machine
}

/// The time of the ping among nodes that are idle and among busy ones.
fn pings(machine: &Machine) -> [SimDuration; 2] {
    [false, true].map(|busy| {
        let trace = run(machine, PAIR, &move |me: Process| ping(me, busy));
        let ping = trace.deliveries.iter().find(|one| one.from == 0).expect("it is delivered");
        ping.delivered.since(ping.sent)
    })
}

#[test]
fn a_packet_in_transit_waits_for_no_processor_of_hardware_routers() {
    for machine in machines().map(with_computations) {
        let [idle, busy] = pings(&machine);
        assert_eq!(idle, busy, "{:?}", machine.network);
        let mut software = machine.clone();
        software.nodes.router = Router::Software;
        software.nodes.router_turn = Some(RouterTurn::EndOfRow);
        let [idle, busy] = pings(&software);
        // Between the nodes of a fat tree there are switches alone.
        let is_direct = machine.network.topology.switches() == 0;
        assert_eq!(idle < busy, is_direct, "{:?}", machine.network);
    }
}

#[test]
fn a_packet_in_transit_takes_nothing_of_a_node_with_a_hardware_router() {
    for machine in machines().map(with_computations) {
        let computing = |machine: &Machine| {
            let trace = run(machine, PAIR, &|me: Process| ping(me, true));
            // Ranks that share a core are ready, not computing, while links take its memory.
            let between = (1..NODES - 1).map(|node| trace.accounts.rank(PAIR * node));
            between.map(|rank| rank.get(Activity::Computing) + rank.get(Activity::Ready)).sum::<SimDuration>()
        };
        let alone = SimDuration::from_us(100) * 30 * u64::from(NODES - 2);
        assert_eq!(computing(&machine), alone, "{:?}", machine.network);
        let mut software = machine.clone();
        software.nodes.router = Router::Software;
        let is_direct = machine.network.topology.switches() == 0;
        assert_eq!(computing(&software) > alone, is_direct, "{:?}", machine.network);
    }
}

fn all_reduce(machine: &Machine, ranks_per_node: u32, algorithm: &AllReduce, bytes: u64) -> SimDuration {
    let operation = CollectiveOperation::AllReduce { algorithm: algorithm.clone() };
    run(
        machine,
        ranks_per_node,
        &Collective { operation, bytes: Bytes::new(bytes), root: 0, repetitions: 1, local: None },
    )
    .makespan
}

/// Small all-reduces, by all algorithms, on machines that differ in the time of a byte alone.
#[test]
fn neither_a_shorter_message_nor_a_faster_link_makes_an_all_reduce_slower() {
    use AllReduce::{RecursiveDoubling, ReduceBroadcast, ReduceScatterAllGather, Ring};
    for machine in machines() {
        for algorithm in [RecursiveDoubling, Ring, ReduceScatterAllGather, ReduceBroadcast] {
            // Ranks that share a core wait for each other in an order that a link may change.
            for ranks_per_node in 1..=machine.nodes.cores() {
                let place = format!("{algorithm:?}, {ranks_per_node} a node, {:?}", machine.network);
                let times = [8, 64, 512].map(|bytes| all_reduce(&machine, ranks_per_node, &algorithm, bytes));
                assert!(times.is_sorted(), "{times:?}: {place}");
                let times = [10, 100, 500, 2000, 20_000].map(|ns: u64| {
                    let mut machine = machine.clone();
                    machine.network.links.per_byte = Some(PerByte::new(SimDuration::from_ps(ns * 1000)));
                    all_reduce(&machine, ranks_per_node, &algorithm, 64)
                });
                assert!(times.is_sorted(), "{times:?}: {place}");
            }
        }
    }
}

/// Messages of one packet that every other node sends to the first one, as fast as its network interface takes them.
async fn hot_spot(me: Process) {
    const MESSAGES: u32 = 200;
    if me.rank() == 0 {
        for _ in 0..MESSAGES * (me.ranks() - 1) {
            me.receive_any().await;
        }
    } else {
        for _ in 0..MESSAGES {
            let _ = me.start_send(0, Message::new(64)).await;
        }
    }
}

/// Every input of a switch gets the same share of what all of them ask for, whatever the length of a packet, which sets
/// the cycles between two allocations. (Of three channels and more each has its own turn, and shares differ by some percent.)
#[test]
fn heads_that_ask_for_one_virtual_channel_get_equal_shares() {
    let path = repository("scenarios/machines/router-network.ron");
    let shipped = load_machine(path).expect("a good machine");
    for (lanes, packet) in [1, 2].into_iter().flat_map(|lanes| (4..=64).step_by(4).map(move |packet| (lanes, packet))) {
        let mut machine = shipped.clone();
        machine.network.topology = Topology::FatTree { arity: 8, levels: 1 };
        let packet = Bytes::new(packet);
        machine.network.switching =
            Switching::Wormhole(Wormhole { packet, flit: Bytes::new(4), buffer: 8, lanes, router: None });
        let allocation = Allocation::new(&machine, 8);
        let simulation = Simulation::on(&allocation).expect("a good machine").keep_deliveries();
        let mut deliveries = simulation.run(&hot_spot).expect("the program ends").deliveries;
        deliveries.sort_by_key(|one| one.delivered);
        let mut shares = [0_u32; 8];
        for one in &deliveries[..deliveries.len() / 2] {
            shares[one.from as usize] += 1;
        }
        assert!(shares[1..].iter().all(|share| share.abs_diff(100) <= 2), "{lanes} channels, {packet}: {shares:?}");
    }
}
