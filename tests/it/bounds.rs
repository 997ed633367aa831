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
const CASES: [(&str, &[&str]); 12] = [
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
];

#[test]
fn the_memory_of_a_run_is_known_before_it() {
    let mut wrong = Vec::new();
    for (scenario, settings) in CASES {
        let (code, text, log) = run(scenario, settings);
        assert_eq!(code, 0, "{scenario} {settings:?}: {text}");
        let (estimate, peak) = (told(&log, "memory_bytes"), told(&log, "peak_memory_kib") * 1024.0);
        if !(0.3..=2.0).contains(&(estimate / peak)) {
            wrong.push(format!("{scenario} {settings:?}: {estimate:.2e} bytes are estimated, {peak:.2e} were taken"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A run that is rejected for its certain events really has them.
#[test]
fn no_run_has_fewer_events_than_are_certain() {
    for (scenario, settings) in CASES {
        let (_, _, log) = run(scenario, settings);
        assert!(told(&log, "least_events") <= told(&log, "events"), "{scenario} {settings:?}: {log:?}");
    }
}

#[test]
fn a_run_beyond_a_limit_is_rejected_before_it() {
    let topology = "machine.network.topology";
    let hypercube = format!("{topology}=Hypercube(dimension: 24)");
    let columns = format!("{topology}.columns=10000019");
    let line = format!("{topology}=Line(nodes: 67108864)");
    let numerics = ["program=Summa(n: 100000, panel: 100, numerics: true)", "machine.nodes.memory=400 GB"];
    let memory = "limits=(memory: \"4 GiB\")";
    let cases: [(&str, &[&str], &str); 8] = [
        ("reduction", &["ranks=2", "partition=Whole", &hypercube, memory], "and `limits.memory` allows 4.3 GB"),
        ("ping", &["partition=Whole", &columns, memory], "and `limits.memory` allows 4.3 GB"),
        ("reduction", &["ranks=67108864", "program.n=67108864", &line, memory], "and `limits.memory` allows 4.3 GB"),
        ("program-numerics", &[numerics[0], numerics[1], memory], "and `limits.memory` allows 4.3 GB"),
        ("traffic-64", &["program.measured=1000 h", memory], "and `limits.memory` allows 4.3 GB"),
        ("gauss-jordan-naive", &["limits=(events: 1000)"], "events, and `limits.events` allows 1e3"),
        ("ping", &["repeat=4294967295"], "a mean over 4294967295 seeds"),
        ("traffic-64", &["program.offered=1.5"], "a load of 1.5 flits per node and cycle cannot be offered"),
    ];
    for (scenario, settings, wanted) in cases {
        let (code, text, _) = run(scenario, settings);
        assert!(code == 2 && text.contains(wanted), "{scenario} {settings:?}: exit {code}: {text}");
    }
}

#[test]
fn a_run_ends_at_its_limit_of_wall_time() {
    for (scenario, longer) in [("gauss-jordan-naive", "repeat=1000"), ("traffic-64", "program.measured=60 s")] {
        let (code, text, _) = run(scenario, &[longer, "limits=(wall: \"50 ms\", memory: \"1 TB\")"]);
        let wanted = "the run has reached its limit of 50 ms of wall time";
        assert!(code == 1 && text.contains(wanted), "{scenario}: exit {code}: {text}");
    }
}
