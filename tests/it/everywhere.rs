//! Every shipped program runs on every topology and on every shipped machine.

use parsim::experiment::{run, run_recorded, simulation};
use parsim::network::Topology;
use parsim::programs::Shipped;
use parsim::scenario::source::Document;
use parsim::scenario::{CheckedScenario, Plan};
use parsim::simulation::Detail;
use parsim::trace::{LinkLoad, Recording};
use parsim::units::{SimDuration, SimTime};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const TOPOLOGIES: [&str; 22] = [
    "Complete(nodes: 8)",
    "Line(nodes: 8)",
    "Ring(nodes: 8)",
    "Mesh2d(rows: 2, columns: 5)",
    "Mesh3d(layers: 2, rows: 2, columns: 3)",
    "Torus2d(rows: 3, columns: 4)",
    "Torus3d(layers: 3, rows: 2, columns: 3)",
    "Hypercube(dimension: 3)",
    "BinaryTree(levels: 3)",
    "FatTree(arity: 2, levels: 3)",
    "FatTree(arity: 3, levels: 2)",
    "CubeConnectedCycles(dimension: 3)",
    "Mesh(sides: [2, 3, 2, 2])",
    "Torus(sides: [3, 2, 3])",
    "HyperX(sides: [2, 4])",
    "ExtendedFatTree(children: [4, 3], parents: [1, 2])",
    "Dragonfly(groups: 3, routers: 2, nodes: 2, globals: 1)",
    "DragonflyPlus(groups: 3, leaves: 2, spines: 2, nodes: 2, globals: 1)",
    "Concentrated(nodes: 3, routers: Torus2d(rows: 2, columns: 3))",
    "Parallel(links: 2, of: Ring(nodes: 5))",
    "Dragonfly(groups: 5, routers: 2, nodes: 1, globals: 2, arrangement: Relative)",
    "Graph(nodes: 5, switches: 1, links: [(0, 5), (1, 5), (2, 5), (3, 4), (4, 5)])",
];

fn scenarios() -> Vec<PathBuf> {
    files("scenarios")
}

/// The RON files of a folder of the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).expect("a folder");
    let files = folder.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "ron")).collect();
    files.sort();
    files
}

/// A scenario on four nodes of a topology that it gets as a whole.
fn document(file: &Path, topology: &str, placement: &str) -> Document {
    let mut document = Document::load(file).expect("a sound file");
    if is_loggops(&document) {
        document.set("machine.over", NETWORK).expect("a field that can be set");
    }
    let ranks = if document.get("program").is_some_and(|_| file.ends_with("ping.ron")) { "2" } else { "4" };
    let mut settings = vec![
        ("machine.network.topology", topology),
        ("partition", "Whole"),
        ("ranks", ranks),
        ("placement", placement),
        ("compare", "[]"),
        ("axes", "[]"),
        ("zip", "[]"),
        ("filter", "None"),
    ];
    let routing = if topology.starts_with("Graph") { "ShortestPath(Lowest)" } else { "DimensionOrder" };
    settings.push(("machine.network.routing", routing));
    // Overrides and classes name links and nodes of the scenario's own topology.
    settings.push(("machine.network.overrides", "[]"));
    settings.push(("machine.network.link_classes", "{}"));
    if file.ends_with("booksim2-dragonfly.ron") {
        settings.push(("machine.network.virtual_channels", "AsNeeded"));
    }
    if document.get("background").is_some() {
        settings.push(("background.nodes", "[]"));
        // Slow links would be overrun by the load of fast ones.
        settings.push(("background.offered", "1 MB/s"));
    }
    if !is_loggops(&document) {
        settings.push(("machine.overrides", "[]"));
    }
    if document.get("program.n").is_some() {
        settings.push(("program.n", "16"));
    }
    for (path, value) in settings {
        set(&mut document, path, value);
    }
    document
}

/// The network that a LogGOPS machine gets in these tests.
const NETWORK: &str = "Network(topology: Complete(nodes: 8), routing: DimensionOrder, \
     switching: StoreAndForward(packet: \"1 KiB\"), links: Link(per_byte: \"1 ns/B\"))";

fn is_loggops(document: &Document) -> bool {
    document.get("machine").is_some_and(|machine| machine.name() == Some("LogGOPS"))
}

/// Sets a field of the scenario; the network of a LogGOPS machine is in `over`.
fn set(document: &mut Document, path: &str, value: &str) {
    let path = if is_loggops(document) { path.replace("machine.network", "machine.over") } else { path.to_owned() };
    document.set(&path, value).unwrap_or_else(|fault| panic!("{path} = {value}: {fault:?}"));
}

#[test]
fn every_shipped_scenario_runs_on_every_topology() {
    for (number, file) in scenarios().iter().enumerate() {
        for (turn, topology) in TOPOLOGIES.iter().enumerate() {
            let is_ping = file.ends_with("ping.ron");
            let placement = if is_ping || (number + turn) % 2 == 0 { "RowMajor" } else { "Explicit([3, 1, 4, 0])" };
            let document = document(file, topology, placement);
            let case = Plan::new(document, &[]).and_then(|plan| plan.base());
            let case = case.unwrap_or_else(|faults| panic!("{} on {topology}: {faults}", file.display()));
            let trace = run(&case.scenario);
            let trace = trace.unwrap_or_else(|error| panic!("{} on {topology}: {error}", file.display()));
            assert!(trace.makespan > SimDuration::ZERO, "{} on {topology}", file.display());
        }
    }
}

#[test]
fn the_topologies_are_all_that_there_are() {
    let name = |text: &str| ron::from_str::<Topology>(text).expect("a topology").name();
    let names: BTreeSet<&str> = TOPOLOGIES.map(name).into();
    let without_a_name_to_size = ["mesh", "torus", "extended-fat-tree", "concentrated", "parallel", "graph"];
    let all = parsim::network::topology::NAMES.into_iter().chain(without_a_name_to_size);
    assert_eq!(names, all.collect());
}

/// Every program that a scenario can name, small, and every collective operation.
const PROGRAMS: [&str; 34] = [
    "Ping(bytes: \"300 B\")",
    "GaussJordan(n: 9, broadcast: Binomial, barrier: Tree)",
    "GaussJordan(n: 9, broadcast: Neighbour(sends: Concurrent, forward: PerPacket, first: Trunk), barrier: Never)",
    "Compute(module: Rsub, iterations: 20)",
    "LinkRate()",
    "RingShift(bytes: \"100 B\", rounds: 2, order: Concurrent)",
    "Collective(operation: Broadcast(algorithm: Hypercube), bytes: \"100 B\")",
    "Collective(operation: Reduce(algorithm: Binomial), bytes: \"100 B\")",
    "Collective(operation: AllReduce(algorithm: RecursiveDoubling), bytes: \"100 B\")",
    "Collective(operation: AllReduce(algorithm: Ring), bytes: \"100 B\")",
    "Collective(operation: ReduceScatter(algorithm: Pairwise), bytes: \"100 B\")",
    "Collective(operation: Scatter(algorithm: Binomial), bytes: \"100 B\")",
    "Collective(operation: Gather(algorithm: Naive), bytes: \"100 B\")",
    "Collective(operation: AllGather(algorithm: Torus), bytes: \"100 B\")",
    "Collective(operation: AllToAll(algorithm: Pairwise), bytes: \"100 B\")",
    "Collective(operation: AllToAll(algorithm: Torus), bytes: \"100 B\")",
    "Collective(operation: Barrier(algorithm: Dissemination), bytes: \"0 B\")",
    "Collective(operation: Scan(algorithm: Chain), bytes: \"100 B\")",
    "Characteristic(application: MatrixMultiplication, n: 50, mode: BulkSynchronous, rounds: 2, chunks: 2)",
    "Characteristic(application: Fftw, n: 64, mode: FreeRunning)",
    "Phases(parameters: {\"n\": 6}, steps: [Compute(flops: \"n\"), Exchange(with: Ring, bytes: \"8 * n B\")])",
    "Traffic(pattern: Uniform, offered: 0.3, packet: \"16 B\", process: Poisson, warm_up: \"1 us\", \
     measured: \"400 us\", drain: \"100 ms\")",
    "DotProduct(n: 30, all_reduce: ReduceScatterAllGather)",
    "DotProduct(n: 30, all_reduce: Ring, numerics: true)",
    "Summa(n: 10, panel: 3)",
    "Lu(n: 13, block: 3)",
    "Lu(n: 12, block: 2, rows: 1, numerics: true)",
    "Fft2d(n: 16, all_to_all: Hypercube)",
    "Fft2d(n: 8, all_to_all: Pairwise, numerics: true)",
    "Reduction(n: 30, reduce: Hypercube)",
    "Ising(sub_lattice: 4, processes: 4, exchange: 0.22, attempts: 20, \
     synchronisation: TimeWarp(saving: Copy, gvt_every: \"1 ms\"), \
     costs: Costs(attempt: 4, update: 1, send: 1, receive: 1, rollback: 1, undo: 1, site: \"1 B\", message: \"32 B\"))",
    "Floyd(n: 9, decomposition: Rows)",
    "Floyd(n: 9, decomposition: Blocks)",
    "FiniteDifference(n: 10, iterations: 2)",
];

fn on_machine(machine: &Path, program: &str, ranks: u32, placement: &str) -> CheckedScenario {
    let text = format!(
        "Scenario(machine: File(\"{}\"), ranks: {ranks}, placement: {placement}, program: {program}, seed: 1)",
        machine.display()
    );
    let mut document =
        Document::from_text(concat!(env!("CARGO_MANIFEST_DIR"), "/test.ron"), &text).expect("a sound text");
    // A cluster has a million links; a part of it will do.
    if document.get("machine.network.topology").is_some_and(|topology| topology.name() == Some("Complete")) {
        document.set("machine.network.topology.nodes", "8").expect("a field that can be set");
    }
    let case = Plan::new(document, &[]).and_then(|plan| plan.base());
    case.unwrap_or_else(|faults| panic!("{program} on {}: {faults}", machine.display())).into_scenario()
}

#[test]
fn every_program_runs_on_every_shipped_machine_and_all_messages_come() {
    for (number, machine) in files("scenarios/machines").iter().enumerate() {
        for (turn, program) in PROGRAMS.iter().enumerate() {
            let is_traffic = program.starts_with("Traffic");
            let needs_more =
                program.starts_with("LinkRate") && !has_protocol(machine) || is_traffic && !takes_traffic(machine);
            if needs_more {
                continue;
            }
            let is_alone = is_traffic || (number + turn) % 2 == 0;
            let placement = if is_alone { "RowMajor" } else { "Packed(ranks_per_node: 2)" };
            let place = format!("{program} on {}, {placement}", machine.display());
            let ranks = if program.starts_with("Ping") { 2 } else { 4 };
            let scenario = on_machine(machine, program, ranks, placement);
            if is_traffic {
                let trace = run(&scenario).unwrap_or_else(|error| panic!("{place}: {error}"));
                assert!(trace.counts.messages > 0, "{place}");
                continue;
            }
            let simulation = simulation(&scenario).keep_deliveries();
            let mut bytes = Vec::new();
            let trace = simulation.run_recorded(&scenario.program, "", Detail::LINKS, Box::new(&mut bytes));
            let trace = trace.unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(trace.deliveries.len() as u64, trace.counts.messages, "{place}");
            assert_transfers_fill_links(&bytes, &place);
        }
    }
}

/// The transfers of a recording are as many packets, and as long, as the loads of the links say; but a load counts
/// packets that wait for a link that is busy at the end.
fn assert_transfers_fill_links(recording: &[u8], place: &str) {
    let recording = Recording::read(recording).expect("what is written can be read");
    let end = SimTime::START + recording.makespan;
    let under_way = recording.transfers.iter().filter(|transfer| transfer.end() > end);
    let busy: BTreeSet<_> = under_way.map(|transfer| (transfer.from, transfer.to)).collect();
    for (told, link) in recording.transferred().iter().zip(&recording.links) {
        let has_queue = busy.contains(&(link.from, link.to)) && told.packets < link.packets;
        let told = LinkLoad { packets: if has_queue { link.packets } else { told.packets }, ..*told };
        assert_eq!(told, *link, "{place}");
    }
}

/// The switchings and links on which transfers are told in different ways.
const FABRICS: [&[(&str, &str)]; 4] = [
    &[],
    &[
        ("machine.network.switching", "Wormhole(packet: \"1 KiB\", flit: \"64 B\", buffer: 3, lanes: 2)"),
        ("machine.network.links.per_byte", "1 ns/B"),
        ("machine.network.links.latency", "128 ns"),
        ("machine.network.links.per_packet", "0 us"),
        ("machine.network.links.buffers", "Unbounded"),
        ("machine.network.end_links", "None"),
    ],
    &[
        ("machine.network.switching", "CutThrough(packet: \"1 KiB\", header: \"4 B\")"),
        ("machine.network.links.buffers", "Packets(2)"),
        ("machine.network.end_links", END_LINKS),
    ],
    &[("machine.network.end_links", END_LINKS)],
];
const END_LINKS: &str = "Some(Link(per_byte: \"0.3 ns/B\", start: \"0 us\", buffers: Packets(1)))";

#[test]
fn the_transfers_of_every_shipped_scenario_fill_the_links_of_every_fabric() {
    for file in scenarios() {
        for topology in ["Torus2d(rows: 3, columns: 4)", "FatTree(arity: 2, levels: 3)"] {
            for fabric in FABRICS {
                let mut document = document(&file, topology, "RowMajor");
                // It has no processes whose messages could be told.
                if document.get("program").is_some_and(|program| program.name() == Some("Traffic")) {
                    continue;
                }
                let place = format!("{} on {topology} {fabric:?}", file.display());
                set(&mut document, "machine.network.contention", "FirstComeFirstServed");
                for (path, value) in fabric {
                    set(&mut document, path, value);
                }
                let case = Plan::new(document, &[]).and_then(|plan| plan.base());
                let scenario = case.unwrap_or_else(|faults| panic!("{place}: {faults}")).scenario;
                let mut bytes = Vec::new();
                let played = run_recorded(&scenario, Detail::LINKS, Box::new(&mut bytes));
                played.unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_transfers_fill_links(&bytes, &place);
            }
        }
    }
}

/// Returns whether open traffic runs on a machine: its processors send packets, and a byte takes time on a link.
fn takes_traffic(machine: &Path) -> bool {
    let machine = parsim::load_machine(machine).expect("a machine");
    let has_free_links = machine.network.links.byte_time().time(1 << 20) == SimDuration::ZERO;
    machine.nodes.interface.is_none() && !has_free_links
}

/// True if the links are described as `LinkRate` needs it, the one program that not every machine can run.
fn has_protocol(machine: &Path) -> bool {
    parsim::load_machine(machine).expect("a machine").network.links.protocol.is_some()
}

#[test]
fn the_programs_are_all_that_there_are() {
    let named = |program: &str| {
        let document = Document::from_text("a program", program).expect("a text");
        document.read::<Shipped>().expect("a program").name()
    };
    // A program in a file has its own number of ranks; tests/it/golden.rs runs one of each kind.
    let covered: BTreeSet<&str> =
        PROGRAMS.map(named).into_iter().chain(["Goal", "TimeIndependent", "MpiTrace", "Chakra"]).collect();
    let unknown = ron::from_str::<Shipped>("Unknown()").expect_err("there is no such program");
    let ron::Error::NoSuchEnumVariant { expected, .. } = unknown.code else { panic!("{unknown}") };
    assert_eq!(covered, expected.iter().copied().collect());
}
