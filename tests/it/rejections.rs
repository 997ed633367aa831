//! A program in Rust is rejected for the same reasons as a scenario file, with the same words.

use crate::{parsim, repository};
use parsim::engine::Discipline;
use parsim::fault::{Fault, Rejection};
use parsim::machine::{Allocation, NodeOverride, Placement};
use parsim::network::switching::Wormhole;
use parsim::network::{Buffers, Contention, RoundRobinOver, Routing, Switching, Topology};
use parsim::node::{Level, Module, Noise, RouterTurn, Shared};
use parsim::program::Program;
use parsim::programs::{Compute, LinkRate, Ping, RingShift, ShiftOrder};
use parsim::scenario::Plan;
use parsim::scenario::source::Document;
use parsim::simulation::Estimate;
use parsim::simulation::SimulationError;
use parsim::simulation::limits::most_memory;
use parsim::units::{Bytes, PerByte, SimDuration};
use parsim::{Machine, Process, Simulation, load_machine};

/// The parts of a run in Rust.
struct Setting {
    machine: Machine,
    ranks: u32,
    placement: Placement,
}

impl Setting {
    /// Four ranks on 64 nodes whose routers are clocked.
    fn good() -> Self {
        let machine = load_machine(repository("scenarios/machines/router-network.ron")).expect("a good machine");
        Self { machine, ranks: 4, placement: Placement::RowMajor }
    }

    fn wormhole(&mut self) -> &mut Wormhole {
        let Switching::Wormhole(mode) = &mut self.machine.network.switching else { unreachable!("it has routers") };
        mode
    }

    fn faults(&self, program: &dyn Program) -> Vec<Fault> {
        let allocation = Allocation::new(&self.machine, self.ranks).placement(self.placement.clone());
        match Simulation::on(&allocation).and_then(|simulation| simulation.run(program)) {
            Ok(_) => Vec::new(),
            Err(SimulationError::Rejected(Rejection(faults))) => faults,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The faults of the same run described in RON.
fn faults_in_ron(program: &str, settings: &[(&str, &str)]) -> Vec<Fault> {
    let name = repository("scenarios/test.ron");
    let text = format!(
        "Scenario(machine: File(\"machines/router-network.ron\"), ranks: 4, placement: RowMajor, \
         program: {program}, seed: 1)"
    );
    let mut document = Document::from_text(&name.display().to_string(), &text).expect("a sound text");
    for (path, value) in settings {
        document.set(path, value).expect("a field that can be set");
    }
    let case = Plan::new(document, &[]).and_then(|plan| plan.base());
    let list = case.map_or_else(|faults| faults.list, |_| Vec::new());
    list.into_iter().map(|fault| Fault::new(&fault.path, fault.message, fault.help.unwrap_or_default())).collect()
}

/// Asserts that one fault is found in Rust and in RON, with the same words, and that it is `message`.
fn assert_rejected(
    (name, program): (&str, &dyn Program),
    settings: &[(&str, &str)],
    change: impl Fn(&mut Setting),
    message: &str,
) {
    let mut setting = Setting::good();
    change(&mut setting);
    let in_rust = setting.faults(program);
    assert_eq!(in_rust, faults_in_ron(name, settings), "{settings:?}");
    let messages: Vec<_> = in_rust.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
    assert_eq!(messages, [message], "{settings:?}");
    assert!(in_rust.iter().all(|fault| !fault.help.is_empty()));
}

const SHIFT: &str = "RingShift(bytes: \"8 B\", rounds: 1, order: Concurrent)";

/// Asserts that four ranks of a program that is good are rejected.
fn assert_machine_rejected(settings: &[(&str, &str)], change: impl Fn(&mut Setting), message: &str) {
    let shift = RingShift { bytes: Bytes::new(8), rounds: 1, order: ShiftOrder::Concurrent };
    assert_rejected((SHIFT, &shift), settings, change, message);
}

#[test]
fn the_setting_is_good() {
    assert_machine_accepted(&[], |_| {});
}

fn assert_machine_accepted(settings: &[(&str, &str)], change: impl Fn(&mut Setting)) {
    let mut setting = Setting::good();
    change(&mut setting);
    let shift = RingShift { bytes: Bytes::new(8), rounds: 1, order: ShiftOrder::Concurrent };
    assert_eq!((setting.faults(&shift), faults_in_ron(SHIFT, settings)), (Vec::new(), Vec::new()));
}

#[test]
fn a_faulty_network_is_rejected_with_the_same_words() {
    const TOPOLOGY: &str = "machine.network.topology";
    assert_machine_rejected(
        &[(TOPOLOGY, "Mesh2d(rows: 0, columns: 8)")],
        |run| run.machine.network.topology = Topology::Mesh2d { rows: 0, columns: 8 },
        "machine.network.topology.rows: `rows` is 0: it must be at least 1",
    );
    assert_machine_rejected(
        &[(TOPOLOGY, "BinaryTree(levels: 2)"), ("ranks", "5")],
        |run| {
            run.machine.network.topology = Topology::BinaryTree { levels: 2 };
            run.ranks = 5;
        },
        "ranks: 5 ranks do not fit on the 3 nodes of the machine: `RowMajor` places one on each",
    );
    assert_machine_rejected(
        &[("machine.network.switching.packet", "0 B")],
        |run| run.wormhole().packet = Bytes::new(0),
        "machine.network.switching.packet: packets of 0 B cannot be sent",
    );
    assert_machine_rejected(
        &[("machine.network.switching.flit", "0 B")],
        |run| run.wormhole().flit = Bytes::new(0),
        "machine.network.switching: a flit takes no time",
    );
    assert_machine_rejected(
        &[("machine.network.switching.buffer", "0")],
        |run| run.wormhole().buffer = 0,
        "machine.network.switching: no flit could ever be sent",
    );
    assert_machine_rejected(
        &[("machine.network.contention", "RoundRobin(Flows)")],
        |run| run.machine.network.contention = Contention::RoundRobin(RoundRobinOver::Flows),
        "machine.network.contention: the arbiters of a wormhole router choose between flits",
    );
    assert_machine_rejected(
        &[("machine.network.links.per_byte", "None")],
        |run| run.machine.network.links.per_byte = None,
        "machine.network.links: a link needs a byte rate",
    );
    assert_machine_rejected(
        &[("machine.network.links.buffers", "Packets(0)")],
        |run| run.machine.network.links.buffers = Buffers::Packets(0),
        "machine.network.links.buffers: no packet could ever be sent",
    );
}

#[test]
fn faulty_nodes_are_rejected_with_the_same_words() {
    const OVERRIDES: &str = "machine.overrides";
    let slow = |nodes: &[u32], factor| vec![NodeOverride::NodeSpeed { nodes: nodes.to_vec(), factor }];
    assert_machine_rejected(
        &[(OVERRIDES, "[NodeSpeed(nodes: [99], factor: 0.5)]")],
        |run| run.machine.overrides = slow(&[99], 0.5),
        "machine.overrides.0.nodes: node 99 does not exist: the machine has 64 nodes",
    );
    assert_machine_rejected(
        &[(OVERRIDES, "[NodeSpeed(nodes: [0], factor: 0.0)]")],
        |run| run.machine.overrides = slow(&[0], 0.0),
        "machine.overrides.0.factor: a speed factor of 0 is out of range",
    );
    assert_machine_rejected(
        &[(OVERRIDES, "[NodeSpeed(nodes: [1, 2, 1], factor: 0.5)]")],
        |run| run.machine.overrides = slow(&[1, 2, 1], 0.5),
        "machine.overrides.0.nodes: node 1 is overridden twice",
    );
    assert_machine_rejected(
        &[(OVERRIDES, "[NodeSpeed(nodes: [0, 3], factor: 0.5), NodeSpeed(nodes: [3], factor: 0.5)]")],
        |run| run.machine.overrides = [slow(&[0, 3], 0.5), slow(&[3], 0.5)].concat(),
        "machine.overrides.1.nodes: node 3 is overridden twice",
    );
    assert_machine_rejected(
        &[("machine.host.node", "4000")],
        |run| run.machine.host.node = 4000,
        "machine.host.node: the host is connected to node 4000, but 4 nodes are in use",
    );
    assert_machine_rejected(
        &[("machine.nodes.noise", "Uniform(1.5)")],
        |run| run.machine.nodes.noise = Noise::Uniform(1.5),
        "machine.nodes.noise: a noise of 1.5 is out of range",
    );
    assert_machine_rejected(
        &[("machine.nodes.levels", "[Level(name: \"node\", members: 0)]")],
        |run| run.machine.nodes.levels = vec![Level { name: "node".into(), members: 0, memory: None, interface: None }],
        "machine.nodes.levels.0.members: the level `node` has no members",
    );
    let memory = Shared::new(PerByte::new(SimDuration::from_ps(100)), Discipline::FirstComeFirstServed);
    let limited = memory.clone().per_core(PerByte::new(SimDuration::from_ps(200)));
    assert_machine_rejected(
        &[(
            "machine.nodes.levels",
            "[Level(name: \"node\", members: 2, memory: Shared(bandwidth: \"10 GB/s\", per_core: \"5 GB/s\", discipline: FirstComeFirstServed))]",
        )],
        |run| run.machine.nodes.levels = vec![Level::new("node", 2).memory(limited.clone())],
        "machine.nodes.levels.0.memory.per_core: users that pass one at a time do not share the bandwidth, so that a limit has no meaning",
    );
    let region = Level { name: "region".into(), members: 2, memory: Some(memory), interface: None };
    assert_machine_rejected(
        &[(
            "machine.levels",
            "[Level(name: \"region\", members: 2, memory: Shared(bandwidth: \"10 GB/s\", discipline: FirstComeFirstServed))]",
        )],
        |run| run.machine.levels = vec![region.clone()],
        "machine.levels.0.memory: nodes do not share memory: the memory of `region` would not be used",
    );
}

/// Rows, titles and keys would not show a name of nothing.
#[test]
fn empty_names_are_rejected_where_they_stand() {
    let ranks = "1.0";
    let compute = format!("Compute(seconds: \"{ranks}\")");
    for (program, settings, said) in [
        (format!("Phases(steps: [Phase(name: \"\", steps: [{compute}])])"), vec![], "program.steps.0.name: the phase"),
        (format!("Phases(steps: [Phase(name: \" \", steps: [{compute}])])"), vec![], "program.steps.0.name: the phase"),
        (
            format!("Phases(communicators: {{\"\": (color: \"0\")}}, steps: [{compute}])"),
            vec![],
            "program.communicators: the communicator",
        ),
        (
            format!("Phases(functions: {{\"\": (steps: [{compute}])}}, steps: [{compute}])"),
            vec![],
            "program.functions: the function",
        ),
        (format!("Phases(parameters: {{\"\": 1.0}}, steps: [{compute}])"), vec![], "program.parameters: the parameter"),
        ("Phases(steps: [Let(name: \"\", value: \"1\")])".to_owned(), vec![], "program.steps.0.name: the variable"),
        ("Phases(steps: [Wait(request: \"\")])".to_owned(), vec![], "program.steps.0.request: the request"),
        (SHIFT.to_owned(), vec![("machine.name", "\"\"")], "machine.name: the machine"),
        (
            SHIFT.to_owned(),
            vec![("machine.levels", "[Level(name: \"\", members: 8)]")],
            "machine.levels.0.name: the level",
        ),
    ] {
        let faults = faults_in_ron(&program, &settings);
        let said = format!("{said} has an empty name");
        assert!(faults.iter().any(|fault| fault.to_string().starts_with(&said)), "{said}: {faults:?}");
    }
}

/// A machine whose processors have no speed runs no program that computes by operations, as `check` says before a run.
#[test]
fn computations_without_a_processor_are_rejected() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("s.ron");
    let machine = "LogGOPS(L: \"1 us\", o: \"1 us\", g: \"1 us\", G: \"1 ns/B\", O: \"0 ns/B\", S: \"1 KiB\")";
    let programs = [
        (
            "Floyd(n: 8, decomposition: Rows)",
            "the program computes, and the machine does not describe the speed of its processors",
        ),
        (
            "Phases(steps: [Compute(flops: \"10\")])",
            "cannot compute: the machine does not describe the speed of its processors",
        ),
        ("Phases(steps: [Compute(seconds: \"1e-6\")])", ""),
        ("Phases(steps: [When(condition: \"p > 5\", then: [Compute(flops: \"10\")])])", ""),
    ];
    for (program, said) in programs {
        let text = format!("Scenario(machine: {machine}, ranks: 2, placement: RowMajor, program: {program}, seed: 1)");
        std::fs::write(&file, text).expect("it can be written");
        let checked = parsim().arg("check").arg(&file).output().expect("it runs");
        let words = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert_eq!(checked.status.success(), said.is_empty(), "{program}: {words}");
        assert!(words.contains(said), "{program}: {words}");
    }
}

/// Fields of software routers are no part of a machine with hardware routers.
#[test]
fn software_of_hardware_routers_is_rejected_with_the_same_words() {
    assert_machine_rejected(
        &[("machine.nodes.routing", "Routing(per_packet: \"3 us\")")],
        |run| run.machine.nodes.routing.per_packet = SimDuration::from_us(3),
        "machine.nodes.routing: hardware routers take no processor time",
    );
    assert_machine_rejected(
        &[("machine.nodes.router_turn", "AtOnce")],
        |run| run.machine.nodes.router_turn = Some(RouterTurn::AtOnce),
        "machine.nodes.router_turn: hardware routers do not wait for a processor",
    );
}

#[test]
fn ranks_without_a_place_are_rejected_with_the_same_words() {
    assert_machine_rejected(&[("ranks", "0")], |run| run.ranks = 0, "ranks: a program needs at least one rank");
    assert_machine_rejected(
        &[("ranks", "1000")],
        |run| run.ranks = 1000,
        "ranks: 1000 ranks do not fit on the 64 nodes of the machine: `RowMajor` places one on each",
    );
    assert_machine_rejected(
        &[("placement", "Packed(ranks_per_node: 0)")],
        |run| run.placement = Placement::Packed { ranks_per_node: 0 },
        "placement.ranks_per_node: no rank would be placed",
    );
    assert_machine_rejected(
        &[("placement", "Explicit([0, 0, 1, 100])")],
        |run| run.placement = Placement::Explicit(vec![0, 0, 1, 100]),
        "placement.3: node 100 does not exist: 4 nodes are in use",
    );
}

/// A host that nobody describes is with any rank; one that is described lies where it lies.
#[test]
fn a_host_that_is_described_needs_a_rank() {
    let elsewhere = ("placement", "Explicit([3, 2, 1, 3])");
    let place = |run: &mut Setting| run.placement = Placement::Explicit(vec![3, 2, 1, 3]);
    assert_machine_accepted(&[elsewhere], place);
    assert_machine_rejected(
        &[elsewhere, ("machine.host.input", "(start: \"1 us\")")],
        |run| {
            place(run);
            run.machine.host.input.start = SimDuration::from_us(1);
        },
        "machine.host.node: the host is connected to node 0, which has no rank",
    );
}

/// No run has the seed of another.
#[test]
fn seeds_beyond_the_largest_are_rejected() {
    let last = u64::MAX.to_string();
    assert!(faults_in_ron(SHIFT, &[("seed", &last)]).is_empty());
    let faults = faults_in_ron(SHIFT, &[("seed", &last), ("repeat", "2")]);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!((faults[0].path.as_str(), faults[0].message.contains("too large for 2 runs")), ("seed", true));
}

#[test]
fn a_program_that_does_not_fit_is_rejected_with_the_same_words() {
    let ping = Ping { bytes: Bytes::new(8) };
    let alone = |run: &mut Setting| run.ranks = 1;
    assert_rejected(("Ping(bytes: \"8 B\")", &ping), &[("ranks", "1")], alone, "ranks: a ping needs two ranks");
    let message = "machine.network.links: the links have no protocol to take rates from";
    assert_rejected(("LinkRate()", &LinkRate {}), &[], |_| {}, message);
    assert_rejected(
        ("Ping(bytes: \"8 B\")", &ping),
        &[("machine.nodes.memory", "7 B")],
        |run| run.machine.nodes.memory = Bytes::new(7),
        "program: the program does not fit: node 0 with rank 0 needs 8 B, but has 7 B of memory",
    );
    let idle = Compute { module: Module::Rsub, iterations: 0, rows: 1 };
    assert_rejected(
        ("Compute(module: Rsub, iterations: 0)", &idle),
        &[],
        |_| {},
        "program.iterations: nothing would be computed",
    );
}

/// An `async fn` has no faults of its own; the machine that it runs on may.
#[test]
fn the_machine_of_an_async_fn_is_checked() {
    async fn nothing(_: Process) {}
    let mut setting = Setting::good();
    assert_eq!(setting.faults(&nothing), []);
    setting.wormhole().lanes = 0;
    assert_eq!(setting.faults(&nothing).len(), 1);
}

/// Adaptive routing on 16 × 8 nodes turns more often than on the row of 127 nodes that is a part of them, and needs more classes.
#[test]
fn routers_are_checked_in_the_shape_in_use() {
    let settings = |ranks: &'static str| {
        [
            ("machine.network.topology.rows", "16"),
            ("machine.network.switching.lanes", "4"),
            ("machine.network.routing", "MinimalAdaptive"),
            ("ranks", ranks),
        ]
    };
    let change = |run: &mut Setting, ranks| {
        run.machine.network.topology = Topology::Mesh2d { rows: 16, columns: 8 };
        run.machine.network.routing = Routing::MinimalAdaptive;
        run.wormhole().lanes = 4;
        run.ranks = ranks;
    };
    let message = "machine.network.switching: 160 virtual channels enter a router";
    assert_machine_rejected(&settings("128"), |run| change(run, 128), message);
    assert_machine_accepted(&settings("127"), |run| change(run, 127));
}

/// A machine that does not fit into the memory of this computer is rejected before it is laid out.
#[test]
fn a_machine_that_is_too_large_for_this_computer_is_rejected() {
    async fn nothing(_: Process) {}
    let mut setting = Setting::good();
    setting.machine.network.topology = Topology::Torus2d { rows: 16384, columns: 8192 };
    let needed = Estimate::idle(&setting.machine, &setting.machine.network.topology, 4).memory_bytes;
    assert!(needed > 10_000_000_000, "{needed}");
    if most_memory().is_none_or(|available| available > needed) {
        return;
    }
    let in_rust = setting.faults(&nothing);
    let in_ron = faults_in_ron(SHIFT, &[("machine.network.topology", "Torus2d(rows: 16384, columns: 8192)")]);
    for faults in [in_rust, in_ron] {
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].path, "machine.network.topology");
        assert!(faults[0].message.starts_with("the run would need about"), "{faults:?}");
    }
}

/// An override applies where its node or link is in use, and is left out of account where a smaller part of the machine
/// is.
#[test]
fn overrides_outside_the_part_in_use_are_left_out() {
    let slow = |nodes: &[u32]| vec![NodeOverride::NodeSpeed { nodes: nodes.to_vec(), factor: 0.5 }];
    assert_machine_accepted(&[("machine.overrides", "[NodeSpeed(nodes: [40], factor: 0.5)]")], |run| {
        run.machine.overrides = slow(&[40]);
    });
    let failed = |ends: &str| format!("[LinkFailed(from: 0, to: {ends})]");
    let up_down = ("machine.network.routing", "UpDown");
    let faults = |ends: &str| {
        let settings = [up_down, ("machine.network.overrides", &failed(ends))];
        faults_in_ron(SHIFT, &settings).into_iter().map(|fault| fault.message).collect::<Vec<_>>()
    };
    // Node 8 is below node 0 on 8 × 8 nodes; on 2 × 2 it is node 2.
    assert_eq!((faults("8"), faults("2")), (vec![], vec![]));
    assert_eq!(faults("3"), ["there is no link between 0 and 3 in the 2 × 2 mesh in use"]);
    assert_eq!(faults("9"), ["there is no link between 0 and 9 in the 2 × 2 mesh in use"]);
}

/// Commands that change ranks or nodes of a scenario with overrides check what they run.
#[test]
fn commands_run_with_overrides_outside_the_part_in_use() {
    let straggler = repository("scenarios/straggler.ron");
    let sweep = ["--over", "p=1,2,4", "--over", "noise=Quiet", "--over", "speed=0.5", "--set", "program.n=16"];
    parsim().arg("sweep").arg(&straggler).args(sweep).assert().success();
    let sensitivity = ["--set", "ranks=2", "--set", "program.n=16"];
    parsim().arg("sensitivity").arg(&straggler).args(sensitivity).assert().success();
    // The program reports no operations: a fault of usage, found after the first run.
    parsim().arg("optimum").arg(&straggler).assert().code(2);
    let cluster = repository("scenarios/cluster-hpl.ron");
    let overrides = "machine.overrides=[NodeSpeed(nodes: [3], factor: 0.5)]";
    let search = ["--by", "simulation", "--most-nodes", "4", "--most-cores", "2", "--set", overrides];
    parsim().arg("optimum").arg(cluster).args(search).assert().success();
    // One rank of the same program lies where its host is, however the others are placed.
    let shift = repository("scenarios/ring-shift.ron");
    let alone = ["--set", "ranks=4", "--set", "placement=Explicit([3, 2, 1, 0])", "--set", "compare=[OneRank]"];
    parsim().arg("run").arg(shift).args(alone).assert().success();
    // One rank does not stand in four rows: there is no such run, which is said, and nothing else is lost.
    for name in ["lu", "finite-difference"] {
        let scenario = repository(&format!("scenarios/{name}.ron"));
        let alone = ["--set", "compare=[OneRank]", "--set", "axes=[]"];
        let ran = parsim().arg("run").arg(scenario).args(alone).assert().success();
        let said = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
        assert!(said.contains("there is no time on one rank"), "{name}: {said}");
    }
    // A part of one node has no links, but those of its ends.
    let cluster = repository("scenarios/shipped-clusters.ron");
    let one = ["--set", "axes=[]", "--set", "ranks=1", "--set", "machine.network.topology=Complete(nodes: 4)"];
    let flows = [
        "--set",
        "machine.network.contention=FairFlows",
        "--set",
        "machine.network.end_links=Link(per_byte: \"1 ns/B\")",
    ];
    parsim().arg("run").arg(cluster).args(one).args(flows).assert().success();
}
