//! Several ranks on a node, on every topology, with every switching.

use crate::{parsim, repository};
use parsim::engine::Discipline;
use parsim::machine::{Allocation, Partition, Placement};
use parsim::network::switching::{CutThrough, StoreAndForward, Wormhole};
use parsim::network::topology::Arrangement;
use parsim::network::{Buffers, Choice, Routing, Switching, Topology};
use parsim::node::{Level, Shared};
use parsim::trace::{Activity, Trace};
use parsim::units::{Bytes, SimDuration};
use parsim::{Machine, Message, Process, Simulation, load_machine};
use std::fs;

fn topologies() -> Vec<Topology> {
    vec![
        Topology::Complete { nodes: 6 },
        Topology::Line { nodes: 6 },
        Topology::Ring { nodes: 6 },
        Topology::Mesh2d { rows: 2, columns: 3 },
        Topology::Mesh3d { layers: 2, rows: 2, columns: 2 },
        Topology::Torus2d { rows: 2, columns: 3 },
        Topology::Torus3d { layers: 2, rows: 3, columns: 2 },
        Topology::Hypercube { dimension: 3 },
        Topology::BinaryTree { levels: 3 },
        Topology::FatTree { arity: 2, levels: 2 },
        Topology::CubeConnectedCycles { dimension: 3 },
        Topology::Torus { sides: vec![3, 2, 2] },
        Topology::HyperX { sides: vec![3, 2] },
        Topology::ExtendedFatTree { children: vec![3, 2], parents: vec![1, 2] },
        Topology::Dragonfly { groups: 3, routers: 2, nodes: 1, globals: 1, arrangement: Arrangement::Relative },
        Topology::Concentrated { nodes: 2, routers: Box::new(Topology::Line { nodes: 3 }) },
        Topology::graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    ]
}

/// Switchings, with the buffers that they leave to the links.
fn switchings() -> Vec<(Switching, Buffers)> {
    let packet = Bytes::new(64);
    let stored = Switching::StoreAndForward(StoreAndForward { packet });
    let cut_through = Switching::CutThrough(CutThrough { packet, header: Bytes::new(4) });
    let wormhole = Switching::Wormhole(Wormhole { packet, flit: Bytes::new(4), buffer: 4, lanes: 1, router: None });
    vec![
        (stored.clone(), Buffers::Unbounded),
        (stored, Buffers::Packets(1)),
        (cut_through, Buffers::Packets(2)),
        (wormhole, Buffers::Unbounded),
    ]
}

fn placements(nodes: u32) -> Vec<(u32, Placement)> {
    let pairs = (0..nodes).flat_map(|node| [node, node]).collect();
    let crowded = vec![0, 1, 0, 0, nodes - 1, 1, 0];
    vec![
        (2 * nodes, Placement::Packed { ranks_per_node: 2 }),
        (3 * nodes - 1, Placement::Packed { ranks_per_node: 3 }),
        (2 * nodes, Placement::Explicit(pairs)),
        (7, Placement::Explicit(crowded)),
        (3 * nodes - 1, cyclic("node", 3)),
        (4 * nodes, Placement::GridBlocks { shape: vec![2, 2 * nodes], block: vec![2, 2] }),
    ]
}

fn cyclic(over: &str, ranks_per_node: u32) -> Placement {
    Placement::Cyclic { over: over.to_owned(), ranks_per_node }
}

/// Every rank sends to five others, its neighbours on the node among them.
async fn exchange(me: Process) {
    let distances = || (1..=5).map(|distance| distance % me.ranks());
    let mut sends = Vec::new();
    for distance in distances() {
        sends.push(me.start_send((me.rank() + distance) % me.ranks(), Message::new(100)).await);
    }
    for distance in distances() {
        me.receive((me.rank() + me.ranks() - distance) % me.ranks()).await;
    }
    me.wait_all(sends).await;
}

fn machine(topology: &Topology, (switching, buffers): (Switching, Buffers)) -> Machine {
    let mut machine = load_machine(repository("scenarios/machines/router-network.ron")).expect("a good machine");
    machine.network.routing = match topology {
        Topology::Graph { .. } => Routing::ShortestPath(Choice::Lowest),
        _ => Routing::DimensionOrder,
    };
    machine.network.topology = topology.clone();
    machine.network.switching = switching;
    machine.network.links.buffers = buffers;
    machine
}

/// All messages come, the ranks lie where they were asked to, and every account sums to the makespan.
#[test]
fn several_ranks_share_a_node_everywhere() {
    for topology in topologies() {
        for switching in switchings() {
            let machine = machine(&topology, switching);
            for (ranks, placement) in placements(topology.nodes()) {
                for partition in [Partition::Fitted, Partition::Whole] {
                    let place = format!("{ranks} ranks, {placement:?}, {partition:?}, {:?}", machine.network);
                    let allocation = Allocation::new(&machine, ranks).partition(partition).placement(placement.clone());
                    let simulation = Simulation::on(&allocation).unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_placed(&simulation, ranks, &placement);
                    let trace = simulation.run(&exchange).unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_eq!(trace.counts.messages, 5 * u64::from(ranks), "{place}");
                    for rank in 0..ranks {
                        let account = trace.accounts.rank(rank);
                        let sum: SimDuration = Activity::ALL.into_iter().map(|activity| account.get(activity)).sum();
                        assert_eq!(sum, trace.makespan, "{place}");
                    }
                }
            }
        }
    }
}

/// Every rank computes, each for another time, and passes a message on.
async fn pipeline(me: Process) {
    for _ in 0..3 {
        me.compute_for(SimDuration::from_us(100 * (u64::from(me.rank()) + 1))).await;
        let send = me.start_send((me.rank() + 1) % me.ranks(), Message::new(100)).await;
        me.receive((me.rank() + me.ranks() - 1) % me.ranks()).await;
        me.wait(send).await;
    }
}

/// A rank computes as long on a core that it shares as on one of its own; while the core computes for others, it is ready.
#[test]
fn ranks_that_share_a_core_compute_no_longer() {
    for (machine, time_slice) in
        [("parsytec-supercluster-t800", 1000), ("parsytec-supercluster-t800", 0), ("router-network", 50), ("fugaku", 0)]
    {
        let mut machine =
            load_machine(repository(&format!("scenarios/machines/{machine}.ron"))).expect("a good machine");
        machine.nodes.time_slice = SimDuration::from_us(time_slice);
        let run = |placement| {
            let allocation = Allocation::new(&machine, 6).partition(Partition::Whole).placement(placement);
            let simulation = Simulation::on(&allocation).unwrap_or_else(|error| panic!("{}: {error}", machine.name));
            simulation.run(&pipeline).unwrap_or_else(|error| panic!("{}: {error}", machine.name))
        };
        let ready =
            |trace: &Trace| -> SimDuration { (0..6).map(|rank| trace.accounts.rank(rank).get(Activity::Ready)).sum() };
        let (alone, shared) = (run(Placement::RowMajor), run(Placement::Explicit(vec![0, 0, 0, 1, 1, 0])));
        assert_eq!(ready(&alone), SimDuration::ZERO, "{}", machine.name);
        assert!(ready(&shared) > SimDuration::ZERO, "{}", machine.name);
        for rank in 0..6 {
            let of = |trace: &Trace, activity| trace.accounts.rank(rank).get(activity);
            let computing = SimDuration::from_us(300 * (u64::from(rank) + 1));
            assert_eq!(of(&alone, Activity::Computing), computing, "{}, rank {rank}", machine.name);
            assert_eq!(of(&shared, Activity::Computing), computing, "{}, rank {rank}", machine.name);
            assert_eq!(shared.accounts.rank(rank).total(), shared.makespan, "{}, rank {rank}", machine.name);
        }
    }
}

fn assert_placed(simulation: &Simulation<'_>, ranks: u32, placement: &Placement) {
    let layout = simulation.layout();
    assert_eq!(layout.ranks(), ranks);
    for rank in 0..ranks {
        let node = match placement {
            Placement::Packed { ranks_per_node } => rank / ranks_per_node,
            Placement::Explicit(nodes) => nodes[rank as usize],
            Placement::Cyclic { ranks_per_node, .. } => rank % ranks.div_ceil(*ranks_per_node),
            Placement::GridBlocks { .. } => rank % (ranks / 2) / 2,
            _ => unreachable!("ranks share nodes here"),
        };
        assert_eq!(layout.node(rank), node);
    }
}

/// A folder with a file of ranks, one of nodes, and a scenario on `machine` that names them.
fn with_rank_file(machine: &str, ranks: &str, nodes: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("ranks.txt", ranks);
    if let Some(nodes) = nodes {
        write("nodes.txt", nodes);
    }
    let names = if nodes.is_some() { ", \"nodes.txt\"" } else { "" };
    let scenario = format!(
        "Scenario(machine: File(\"{}\"), ranks: 4, partition: Whole, placement: RankFile(\"ranks.txt\"{names}), \
         program: Collective(operation: AllReduce(algorithm: Ring), bytes: \"1000 B\"), seed: 1)",
        repository(machine).display()
    );
    write("scenario.ron", &scenario);
    folder
}

fn output(folder: &tempfile::TempDir, arguments: &[&str]) -> std::process::Output {
    let scenario = folder.path().join("scenario.ron");
    parsim().arg(arguments[0]).arg(scenario).args(&arguments[1..]).output().expect("parsim runs")
}

/// With names, as a list of columns, or as Open MPI writes it: the same as the list in the scenario, two ranks on a node
/// included, on a grid, a fat tree with interfaces, and nodes of eight cores.
#[test]
fn ranks_lie_where_a_file_says() {
    let nodes = Some("a1 slots=2\na2\n# spare\nb1\nb2\n");
    let forms = [("0 a1\n1 b1\n3 a1\n2 b2 # last\n", nodes), ("rank,node\n0,0\n1,2\n2,3\n3,0\n", None)];
    let open_mpi = ("rank 3=0\nrank 0=0\nrank 1=2\nrank 2=3\n", None);
    let cost = ["run", "--format", "json", "--set", "machine.nodes.memory=64 GiB"];
    for machine in ["parsytec-supercluster-t800", "trestles", "small-cluster"] {
        let machine = format!("scenarios/machines/{machine}.ron");
        for (ranks, nodes) in [forms[0], forms[1], open_mpi] {
            let folder = with_rank_file(&machine, ranks, nodes);
            let from_file = output(&folder, &cost);
            let listed = output(&folder, &[&cost[..], &["--set", "placement=Explicit([0, 2, 3, 0])"]].concat());
            assert!(from_file.status.success(), "{}", String::from_utf8_lossy(&from_file.stderr));
            let makespan = |output: &std::process::Output| -> Option<f64> {
                let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
                row["makespan_s"].as_f64()
            };
            assert_eq!(makespan(&from_file), makespan(&listed), "{machine}");
            assert!(makespan(&listed).is_some());
        }
    }
}

#[test]
fn faults_of_a_rank_file_have_its_lines() {
    let nodes = Some("a1\na2\nb1\n");
    let cluster = "scenarios/machines/small-cluster.ron";
    let crowd = "0 1\n1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n7 1\n8 1\n";
    let wrong: [(&str, Option<&str>, &str, &str); 9] = [
        ("0 a1\n1 c7\n2 a2\n3 b1\n", nodes, "ranks.txt:2:3", "`c7` is not a node of"),
        ("0 0\n1 a1\n", None, "ranks.txt:2:3", "RankFile(\"ranks.txt\", \"nodes.txt\")"),
        ("0 0\n1 1\n0 1\n2 2\n", None, "ranks.txt:3:3", "rank 0 has a node already"),
        ("0 0\n1 1\n3 1\n", None, "ranks.txt:3:3", "rank 2 has no node"),
        ("0 0\n1 1\n2 1 7\n", None, "ranks.txt:3:1", "a line consists of a rank and its node"),
        ("0 0\nx 1\n", None, "ranks.txt:2:1", "`x` is not the number of a rank"),
        ("0 0\n1 1\n2 2\n3 99999\n", None, "ranks.txt:4:3", "node 99999 does not exist"),
        (crowd, None, "ranks.txt:9:3", "rank 8 exceeds the 8 cores of node 1"),
        ("0 a1\n1 a2\n2 a1\n3 b1\n", Some("a1\na2\na1\n"), "nodes.txt:3:1", "the name of two nodes"),
    ];
    for (ranks, nodes, place, message) in wrong {
        let folder = with_rank_file(cluster, ranks, nodes);
        let count = ranks.lines().count().to_string();
        let checked = output(&folder, &["check", "--set", &format!("ranks={count}")]);
        let words = String::from_utf8_lossy(&checked.stderr).into_owned() + &String::from_utf8_lossy(&checked.stdout);
        assert!(!checked.status.success() && words.contains(place) && words.contains(message), "{ranks}\n{words}");
    }
    let folder = with_rank_file(cluster, "0 0\n1 1\n2 1\n", None);
    let words = String::from_utf8_lossy(&output(&folder, &["run"]).stderr).into_owned();
    assert!(words.contains("3 nodes are listed for 4 ranks"), "{words}");
}

/// Two sockets of four cores, each with a memory: two ranks of a node load twice as fast if they are on different ones.
/// Four on one socket and four on the other share both, whatever their order.
#[test]
fn ranks_on_different_sockets_share_no_memory() {
    let mut machine = load_machine(repository("scenarios/machines/small-cluster.ron")).expect("a good machine");
    let memory = Shared::new("10 GB/s".parse().expect("a rate"), Discipline::ProcessorSharing);
    let level = |name: &str, members, memory| Level { name: name.to_owned(), members, memory, interface: None };
    machine.nodes.levels = vec![level("socket", 4, Some(memory)), level("node", 2, None)];
    let time = |ranks, placement| {
        let allocation = Allocation::new(&machine, ranks).placement(placement);
        let simulation = Simulation::on(&allocation).expect("a good placement");
        simulation.run(&|me: Process| async move { me.load(1e6).await }).expect("it runs").makespan
    };
    let packed = |ranks_per_node| Placement::Packed { ranks_per_node };
    assert_eq!(time(2, packed(2)), SimDuration::from_us(200));
    assert_eq!(time(2, cyclic("socket", 2)), SimDuration::from_us(100));
    assert_eq!(time(2, cyclic("node", 2)), SimDuration::from_us(200));
    assert_eq!(time(16, packed(8)), SimDuration::from_us(400));
    assert_eq!(time(16, cyclic("socket", 8)), SimDuration::from_us(400));
    assert_eq!(time(6, packed(8)), SimDuration::from_us(400));
    assert_eq!(time(6, cyclic("socket", 8)), SimDuration::from_us(300));
}

/// Exchanges messages of one byte with the neighbours in a grid of 8 × 8 ranks.
async fn halo(me: Process) {
    let (row, column) = me.grid().coordinates(me.rank());
    let beside = [(row, column.wrapping_sub(1)), (row, column + 1), (row.wrapping_sub(1), column), (row + 1, column)];
    let neighbours = || beside.into_iter().filter(|(row, column)| *row < 8 && *column < 8);
    let mut sends = Vec::new();
    for (row, column) in neighbours() {
        sends.push(me.start_send(8 * row + column, Message::new(1)).await);
    }
    for (row, column) in neighbours() {
        me.receive(8 * row + column).await;
    }
    me.wait_all(sends).await;
    me.report_tally();
}

/// Most neighbours of a block share its node, so that fewer messages leave it than from a row or a column of the grid:
/// those across 4 of the 14 lines between rows or columns, and across 7 of them.
#[test]
fn blocks_of_a_grid_send_fewer_messages_out_of_their_nodes() {
    let machine = load_machine(repository("scenarios/machines/small-cluster.ron")).expect("a good machine");
    let leaving = |placement| {
        let allocation = Allocation::new(&machine, 64).placement(placement);
        let trace = Simulation::on(&allocation).expect("a good placement").run(&halo).expect("it runs");
        trace.outcome("exchanged_bytes")
    };
    let blocks = |block: &[u32]| Placement::GridBlocks { shape: vec![8, 8], block: block.to_vec() };
    assert_eq!(leaving(Placement::Packed { ranks_per_node: 8 }), Some(7.0 * 16.0));
    assert_eq!(leaving(cyclic("node", 8)), Some(7.0 * 16.0));
    assert_eq!(leaving(blocks(&[2, 4])), Some(4.0 * 16.0));
    assert_eq!(leaving(blocks(&[1, 8])), Some(7.0 * 16.0));
}

#[test]
fn faults_of_rules_for_several_ranks_on_a_node_stand_at_their_place() {
    let places: [(&str, &str, &str, &str); 8] = [
        (
            "GridBlocks(shape: [8, 8], block: [3, 4])",
            "placement.block.0",
            "3 does not divide 8, the side of the grid",
            "give a divisor of 8: 2 or 4",
        ),
        (
            "GridBlocks(shape: [8, 9], block: [2, 3])",
            "placement.shape",
            "a grid of 8 × 9 has 72 ranks, and the run has 64",
            "such as [8, 8]",
        ),
        (
            "GridBlocks(shape: [8, 8], block: [8])",
            "placement.block",
            "the block has 1 side, and the grid has 2 sides",
            "for each side of the grid",
        ),
        (
            "GridBlocks(shape: [8, 8], block: [4, 4])",
            "placement.block",
            "a block of 4 × 4 has 16 ranks, and a node has 8 cores",
            "give a smaller block",
        ),
        ("GridBlocks(shape: [8, 8], block: [2, 1])", "ranks", "at 2 per node they need 32", "place more on each node"),
        ("GridBlocks(shape: [8, 8], blocks: [2, 4])", "placement", "unknown field `blocks`", "`block`"),
        (
            "Cyclic(over: \"nod\", ranks_per_node: 8)",
            "placement.over",
            "the nodes have no level `nod`",
            "did you mean `node`?",
        ),
        (
            "Cyclic(over: \"node\", ranks_per_node: 9)",
            "placement.ranks_per_node",
            "9 ranks do not fit on the 8 cores of a node",
            "from 1 to 8; ranks share a core",
        ),
    ];
    for (placement, place, message, help) in places {
        let checked = parsim()
            .args(["check", "scenarios/steps-stencil-2d.ron", "--set", "axes=[]", "--set"])
            .arg(format!("placement={placement}"))
            .env("NO_COLOR", "1")
            .assert()
            .code(2);
        let said = String::from_utf8_lossy(&checked.get_output().stderr).into_owned();
        assert!(said.contains(&format!(" {place}\n")), "no {place} in\n{said}");
        assert!(said.contains(message) && said.contains(help), "no `{message}`, `{help}` in\n{said}");
    }
}

/// Of one number of ranks and several placements, the placement without room is to blame.
#[test]
fn a_placement_without_room_is_named_and_underlined() {
    let sweep = |placements: &str| {
        let over = ["--over", "p=256", "--over", placements];
        let machine = ["--set", r#"machine=File("scenarios/machines/ideal-torus.ron")"#];
        let output = parsim()
            .args(["sweep", "scenarios/ring-shift.ron"])
            .args(over)
            .args(machine)
            .env("NO_COLOR", "1")
            .assert()
            .code(2);
        String::from_utf8_lossy(&output.get_output().stderr).into_owned()
    };
    for placement in ["Random", "RowMajor", "Snake"] {
        let said = sweep(&format!("placement=Packed(ranks_per_node: 256),{placement}"));
        let message = format!("`{placement}` places one on each (ranks)");
        assert!(said.contains(&message) && said.contains("--over placement="), "{said}");
        assert!(said.contains("`Packed(ranks_per_node: "), "{said}");
    }
}
