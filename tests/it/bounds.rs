//! The cost of a run is known before it, and bounded: memory by estimate, time by the clock.

use crate::parsim;
use serde_json::Value;

/// Exit code, standard error, and lines of the log, of `parsim run` with these settings.
fn run(scenario: &str, settings: &[&str]) -> (i32, String, Vec<Value>) {
    let mut command = parsim();
    command.args(["-v", "--log-format", "json", "run", &format!("scenarios/{scenario}.ron"), "--set", "axes=[]"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    let output = command.output().expect("parsim can be called");
    let text = String::from_utf8(output.stderr).expect("messages are text");
    let log = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (output.status.code().expect("parsim is not killed"), text, log)
}

/// The value that the log has of a case under `key`.
fn told(log: &[Value], key: &str) -> f64 {
    let value = log.iter().find_map(|line| line["fields"][key].as_f64());
    value.unwrap_or_else(|| panic!("no {key} in {log:?}"))
}

/// Machines of every switching, programs with many ranks, traffic in and beyond the steady state, and real numbers.
const CASES: [(&str, &[&str]); 34] = [
    ("ping", &[]),
    ("reduction", &["ranks=2", "partition=Whole", "machine.network.topology=Hypercube(dimension: 14)"]),
    ("ping", &["partition=Whole", "machine.network.topology=Mesh2d(rows: 300, columns: 300)", "placement=RowMajor"]),
    (
        "ping",
        &[
            "partition=Whole",
            "machine.network.topology=Torus2d(rows: 200, columns: 200)",
            "machine.network.links.buffers=Packets(2)",
            "placement=RowMajor",
        ],
    ),
    (
        "reduction",
        &[
            "ranks=2",
            "partition=Whole",
            "machine.network.topology=Mesh2d(rows: 100, columns: 200)",
            "machine.network.switching=Wormhole(packet: \"120 B\", lanes: 4)",
            "machine.network.links.start=0 us",
        ],
    ),
    ("reduction", &["ranks=2", "partition=Whole", "machine.network.topology=Complete(nodes: 700)"]),
    ("reduction", &["ranks=16384", "program.n=65536", "machine.network.topology=Hypercube(dimension: 14)"]),
    ("ring-shift", &["ranks=16384", "machine.network.topology=Mesh2d(rows: 128, columns: 128)"]),
    ("stencil", &["ranks=256", "machine.network.topology=Mesh2d(rows: 16, columns: 16)"]),
    ("traffic-64", &["program.measured=2 ms"]),
    ("traffic-64", &["program.measured=1 ms", "program.offered=0.9", "program.drain=1 s"]),
    ("program-numerics", &["program=Summa(n: 300, panel: 30, numerics: true)"]),
    ("stencil", &["ranks=4096", "machine.network.topology=Mesh2d(rows: 64, columns: 64)", MANY_PHASES]),
    ("stencil", &["ranks=1024", "machine.network.topology=Mesh2d(rows: 32, columns: 32)", ALL_GATHER]),
    ("stencil", &["ranks=256", "machine.network.topology=Mesh2d(rows: 16, columns: 16)", ALL_TO_ALL]),
    (
        "stencil",
        &[
            "ranks=256",
            "machine.network.topology=Torus2d(rows: 16, columns: 16)",
            "machine.network.routing=ShortestPath(Lowest)",
            ALL_TO_ALL,
        ],
    ),
    ("ising-time-warp", &["program.attempts=200", "program.sub_lattice=64"]),
    ("gauss-jordan-naive", &["program.n=64"]),
    ("cluster-hpl", &["zip=[]", "compare=[]"]),
    ("stencil", &[TORUS, "ranks=512", "program=Collective(operation: AllToAll(algorithm: Linear), bytes: \"8 B\")"]),
    ("stencil", &[TORUS, "ranks=216", "program=Collective(operation: AllToAll(algorithm: Linear), bytes: \"20 kB\")"]),
    ("stencil", &[COMPLETE, "ranks=400", ALL_TO_ALL]),
    ("stencil", &[COMPLETE, "ranks=4", BROADCAST_IN_SEGMENTS]),
    ("stencil", &[COMPLETE, "ranks=16", "machine.sends=Buffered", BROADCAST_IN_SEGMENTS]),
    ("stencil", &[COMPLETE, "ranks=16", REDUCE_IN_SEGMENTS]),
    (
        "traffic-64",
        &[
            "program.measured=80 us",
            "program.settle=true",
            "machine.network.topology=Torus2d(rows: 64, columns: 64)",
            "ranks=4096",
        ],
    ),
    (
        "stencil",
        &[
            COMPLETE,
            "ranks=300",
            "program=Collective(operation: AllToAll(algorithm: Scattered(batch: 64)), bytes: \"8 B\")",
        ],
    ),
    ("stencil", &[TORUS, "ranks=256", "program=Fft2d(n: 2048, all_to_all: Linear)"]),
    ("stencil", &[TORUS, "ranks=2", "program=Ping(bytes: \"400 MB\")"]),
    ("stencil", &[TORUS, "ranks=2", "machine.nodes.receiving.per_packet=2 us", "program=Ping(bytes: \"400 MB\")"]),
    ("stencil", &[TORUS, "ranks=2", "machine.sends=Buffered", SENDS]),
    ("stencil", &[TORUS, "ranks=2", SENDS]),
    ("wormhole-mesh", &["machine.network.switching.buffer=1000000"]),
    (
        "background-traffic",
        &["machine.network.topology=Torus2d(rows: 64, columns: 64)", "background.nodes=[]", "program.repetitions=1"],
    ),
];

/// Packets that the network of these machines takes at once.
const TORUS: &str = "machine=Like(File(\"scenarios/machines/small-cluster.ron\"), {\"network.topology\": Torus3d(layers: 8, \
    rows: 8, columns: 8), \"network.switching.packet\": \"1 KiB\", \"nodes.levels\": []})";
const COMPLETE: &str = "machine=Like(File(\"scenarios/machines/small-cluster.ron\"), {\"network.topology\": \
    Complete(nodes: 400), \"nodes.levels\": []})";
/// Messages that are taken as they come, where a send waits; where it does not, they lie about.
const SENDS: &str = "program=Phases(steps: [When(condition: \"rank == 0\", then: [Repeat(times: \"60000\", steps: \
    [Send(to: \"1\", bytes: \"10 kB\")])], otherwise: [Repeat(times: \"60000\", steps: [Receive(from: \"0\")])])])";

const BROADCAST_IN_SEGMENTS: &str =
    "program=Collective(operation: Broadcast(algorithm: Pipeline(segment: \"1 B\")), bytes: \"99999 B\")";
const REDUCE_IN_SEGMENTS: &str =
    "program=Collective(operation: Reduce(algorithm: Binary(segment: \"1 B\")), bytes: \"19999 B\")";

const MANY_PHASES: &str = "program=Phases(steps: [Repeat(times: \"3\", steps: [Phase(name: \"a\", steps: [Compute(flops: \
    \"9\"), Exchange(with: Grid, bytes: \"80 B\")]), Phase(name: \"b\", steps: [Compute(flops: \"9\")]), Phase(name: \
    \"c\", steps: [Exchange(with: Ring, bytes: \"8 B\")]), Phase(name: \"d\", steps: [Compute(flops: \"9\")])])])";
const ALL_GATHER: &str =
    "program=Phases(steps: [Collective(operation: AllGather(algorithm: RecursiveDoubling), bytes: \"8 B\")])";
const ALL_TO_ALL: &str = "program=Collective(operation: AllToAll(algorithm: Pairwise), bytes: \"8 B\")";

/// The memory is estimated well, and a run that is rejected for its certain events really has them.
#[test]
fn the_memory_and_the_least_events_of_a_run_are_known_before_it() {
    let mut wrong = Vec::new();
    for (scenario, settings) in CASES {
        let (code, text, log) = run(scenario, settings);
        assert_eq!(code, 0, "{scenario} {settings:?}: {text}");
        let (estimate, peak) = (told(&log, "memory_bytes"), told(&log, "peak_memory_kib") * 1024.0);
        if !(0.3..=2.0).contains(&(estimate / peak)) {
            wrong.push(format!("{scenario} {settings:?}: {estimate:.2e} bytes are estimated, {peak:.2e} were taken"));
        }
        let (least, events) = (told(&log, "least_events"), told(&log, "events"));
        if least > events {
            wrong.push(format!("{scenario} {settings:?}: {least} events are certain, {events} are run"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Operations that send few messages, or none, or as flows without packets, are not rejected for messages that others
/// send.
#[test]
fn no_collective_has_fewer_events_than_are_certain() {
    let operations = [
        ("AllReduce", "Ring", "8 B"),
        ("Broadcast", "Binomial", "100 kB"),
        ("Barrier", "Ideal", "8 B"),
        ("Barrier", "Dissemination", "100 kB"),
        ("Barrier", "Linear", "100 kB"),
        ("AllGather", "BineAdjacent", "0 B"),
        ("AllGather", "Linear", "8 B"),
        ("AllGather", "Auto(OpenMpi)", "8 B"),
        ("AllGather", "Hierarchical(group: Ranks(16), gather: Linear, between: Ring, broadcast: Binomial)", "8 B"),
        ("ReduceScatter", "LinearNonBlocking", "8 B"),
        ("AllToAll", "Torus", "8 B"),
    ];
    for machine in ["loggopsim-default", "hopper", "small-cluster"] {
        let on = format!("machine=File(\"scenarios/machines/{machine}.ron\")");
        for ((operation, algorithm, bytes), ranks) in operations.into_iter().flat_map(|one| [(one, 1), (one, 16)]) {
            let program = format!(
                "program=Collective(operation: {operation}(algorithm: {algorithm}), bytes: \"{bytes}\", repetitions: 20)"
            );
            let (code, text, log) = run("loggops-collectives", &[&on, &format!("ranks={ranks}"), &program]);
            assert_eq!(code, 0, "{machine} {program}: {text}");
            let (least, events) = (told(&log, "least_events"), told(&log, "events"));
            assert!(least <= events, "{machine} {ranks} ranks {program}: {least} events are certain, {events} are run");
        }
    }
}

/// A single rank sends no packets, so that a limit of events does not reject it.
#[test]
fn a_limit_of_events_admits_a_run_without_events() {
    let program = "program=Collective(operation: AllReduce(algorithm: Ring), bytes: \"8 B\", repetitions: 100000)";
    let (code, text, _) = run("loggops-collectives", &["ranks=1", program, "limits=(events: 1000)"]);
    assert_eq!(code, 0, "{text}");
}

/// Messages that share links as flows cost time with the square of their number in flight; this run takes some seconds.
#[test]
fn flows_of_many_ranks_are_estimated_within_an_order_of_magnitude() {
    let settings = [
        "axes=[]",
        "ranks=2048",
        "machine=File(\"scenarios/machines/trestles.ron\")",
        "machine.network.contention=FairFlows",
        "placement=Packed(ranks_per_node: 32)",
    ];
    let mut command = parsim();
    command.args(["plan", "scenarios/steps-stencil-3d.ron", "--format", "jsonl"]);
    command.args(settings.map(|setting| ["--set", setting]).concat());
    let row: Value = serde_json::from_slice(&command.output().expect("parsim can be called").stdout).expect("a row");
    let seconds = row["estimated_cpu_s"].as_f64().expect("it is estimated");
    assert!((0.5..50.0).contains(&seconds), "{row}");
}

/// Background traffic lasts as long as the program, so that the number of its messages is not known before the run.
#[test]
fn the_events_of_background_traffic_are_not_forecast() {
    let mut command = parsim();
    command.args(["plan", "scenarios/background-traffic.ron", "--format", "jsonl", "--set", "axes=[]"]);
    let output = command.output().expect("parsim can be called");
    let row: Value = serde_json::from_slice(&output.stdout).expect("a row is an object");
    assert!(row["estimated_events"].is_null() && row["estimated_cpu_s"].is_null(), "{row}");
}

#[test]
fn a_run_beyond_a_limit_is_rejected_before_it() {
    let topology = "machine.network.topology";
    let hypercube = format!("{topology}=Hypercube(dimension: 24)");
    let columns = format!("{topology}.columns=10000019");
    let line = format!("{topology}=Line(nodes: 67108864)");
    let numerics = ["program=Summa(n: 100000, panel: 100, numerics: true)", "machine.nodes.memory=400 GB"];
    let memory = "limits=(memory: \"4 GiB\")";
    let often = "program=Collective(operation: AllReduce(algorithm: RecursiveDoubling), bytes: \"64 B\", \
        repetitions: 1000000000)";
    let cases: [(&str, &[&str], &str); 9] = [
        ("reduction", &["ranks=2", "partition=Whole", &hypercube, memory], "and `limits.memory` allows 4.3 GB"),
        ("ping", &["partition=Whole", &columns, memory], "and `limits.memory` allows 4.3 GB"),
        ("reduction", &["ranks=67108864", "program.n=67108864", &line, memory], "and `limits.memory` allows 4.3 GB"),
        ("program-numerics", &[numerics[0], numerics[1], memory], "and `limits.memory` allows 4.3 GB"),
        ("traffic-64", &["program.measured=1000 h", memory], "and `limits.memory` allows 4.3 GB"),
        ("gauss-jordan-naive", &["limits=(events: 1000)"], "events, and `limits.events` allows 1000"),
        ("stencil", &["ranks=64", often], "events, and `limits.events` allows 1e11"),
        ("ping", &["repeat=4294967295"], "a mean over 4294967295 seeds"),
        ("traffic-64", &["program.offered=1.5"], "a load of 1.5 flits per node and cycle cannot be offered"),
    ];
    for (scenario, settings, wanted) in cases {
        let (code, text, _) = run(scenario, settings);
        assert!(code == 2 && text.contains(wanted), "{scenario} {settings:?}: exit {code}: {text}");
    }
}

/// Computations count as messages do, whether a loop ends or not.
#[test]
fn programs_without_end_are_estimated_honestly_and_end_at_the_limit_of_events() {
    let compute = "program=Phases(steps: [Repeat(times: \"1000000000000\", steps: [Compute(flops: \"10\")])])";
    let (code, text, _) = run("stencil", &["ranks=4", compute]);
    let wanted = "the run would take more than 4e12 events, and `limits.events` allows 1e11";
    assert!(code == 2 && text.contains(wanted), "exit {code}: {text}");
    let differing =
        "program=Phases(steps: [Repeat(times: \"1000000000000\", index: \"i\", steps: [Compute(flops: \"i + 1\")])])";
    let answering = "program=Phases(steps: [While(condition: \"rank >= 0\", steps: [When(condition: \"rank == 0\", then: [\
        Send(to: \"1\", bytes: \"8 B\"), Receive(from: \"1\")], otherwise: [Receive(from: \"0\"), Send(to: \"0\", bytes: \"8 B\")])])])";
    for (program, forecast) in [(differing, Some(4e12)), (answering, None)] {
        let ranks = if forecast.is_some() { "ranks=4" } else { "ranks=2" };
        let limits = "limits=(events: 100000, simulated: \"5000 h\")";
        let mut command = parsim();
        command.args(["plan", "scenarios/stencil.ron", "--format", "jsonl", "--set", "axes=[]", "--set", ranks]);
        let output = command.args(["--set", program]).output().expect("parsim can be called");
        let row: Value = serde_json::from_slice(&output.stdout).expect("a row is an object");
        assert_eq!(row["estimated_events"].as_f64(), forecast, "{row}");
        let (code, text, _) = run("stencil", &[ranks, program, limits]);
        let wanted = "the run has reached its limit of 100000 events";
        assert!(code == 1 && text.contains(wanted), "{program}: exit {code}: {text}");
    }
}

#[test]
fn a_run_ends_at_its_limit_of_wall_time() {
    for (scenario, longer) in [("gauss-jordan-naive", "repeat=1000"), ("traffic-64", "program.measured=60 s")] {
        let (code, text, _) = run(scenario, &[longer, "limits=(wall: \"50 ms\", memory: \"10 TB\")"]);
        let wanted = "the run has reached its limit of 50 ms of wall time";
        assert!(code == 1 && text.contains(wanted), "{scenario}: exit {code}: {text}");
    }
}
