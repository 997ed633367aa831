//! The circle: a LogGOPS machine, messages on it, the machine that is fitted to their times.

use crate::parsim;
use parsim::load_machine;
use parsim::machine::{Machine, Sends};
use parsim::units::SimDuration;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// So many random machines, unless `PARSIM_CIRCLE_MACHINES` says how many.
const MACHINES: u32 = 24;
/// The messages whose sends show S: two, with a computation between them, to ranks that are late.
const LATE: [&str; 6] = ["--over", "in_a_row=2", "--over", "delay_s=0.1", "--over", "late_s=0.1"];

/// Times in ps, times per byte in ps/B.
#[derive(Clone, Debug)]
struct Constants {
    latency: u64,
    overhead: u64,
    gap: u64,
    gap_per_byte: u64,
    overhead_per_byte: u64,
    eager_up_to: u64,
}

impl Constants {
    fn random() -> impl Strategy<Value = Self> {
        let time = || 100_000u64..20_000_000;
        (time(), time(), time(), 200u64..20_000, prop_oneof![Just(0), 200u64..20_000], 1u64..1_000_000).prop_map(
            |(latency, overhead, gap, gap_per_byte, overhead_per_byte, eager_up_to)| Self {
                latency,
                overhead,
                gap,
                gap_per_byte,
                overhead_per_byte,
                eager_up_to,
            },
        )
    }

    fn to_ron(&self) -> String {
        let Self { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager_up_to } = self;
        format!(
            "LogGOPS(L: \"{latency} ps\", o: \"{overhead} ps\", g: \"{gap} ps\", G: \"{gap_per_byte} ps/B\", \
             O: \"{overhead_per_byte} ps/B\", S: \"{eager_up_to} B\")"
        )
    }

    /// The constants of a machine; what a MiB takes stands for the time of a byte.
    fn of(machine: &Machine) -> Self {
        let interface = machine.nodes.interface.as_ref().expect("LogGOPS has interfaces");
        let mean = |mebibyte: SimDuration| mebibyte.ps() >> 20;
        let Sends::Eager { up_to } = machine.sends else { panic!("LogGOPS has eager sends") };
        Self {
            latency: machine.network.links.latency.ps(),
            overhead: interface.overhead.ps(),
            gap: interface.gap.ps(),
            gap_per_byte: mean(interface.gap_per_byte.time(1 << 20)),
            overhead_per_byte: mean(interface.overhead_per_byte.time(1 << 20)),
            eager_up_to: up_to.count(),
        }
    }

    /// Returns whether an interface keeps messages of one byte, and of the other lengths, apart for longer than the processor does, clearly
    /// enough to be seen.
    fn interface_counts(&self) -> [bool; 2] {
        let interface = |length: u64| self.gap + length * self.gap_per_byte;
        let processor = |length: u64| self.overhead + length * self.overhead_per_byte;
        [0, 3].map(|length| 100 * interface(length) > 102 * processor(length))
    }
}

/// Random machines come back, each constant within 1 %: g and G where an interface ever keeps messages apart, and else nothing that
/// would.
#[test]
fn a_machine_is_found_by_messages_on_it() {
    let machines = std::env::var("PARSIM_CIRCLE_MACHINES").ok().and_then(|number| number.parse().ok());
    let config = ProptestConfig { cases: machines.unwrap_or(MACHINES), failure_persistence: None, ..<_>::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&Constants::random(), |given| {
        let found = Constants::of(&found(&given, folder.path()));
        let near = |one: u64, other: u64| 100 * one.abs_diff(other) <= other;
        let told = [
            (found.latency, given.latency),
            (found.overhead, given.overhead),
            (found.overhead_per_byte, given.overhead_per_byte),
            (found.eager_up_to, given.eager_up_to),
        ];
        prop_assert!(told.iter().all(|(one, other)| near(*one, *other)), "{given:?}\n{found:?}");
        let [short, long] = given.interface_counts();
        let is_slower = 100 * given.gap_per_byte > 102 * given.overhead_per_byte;
        prop_assert!(near(found.gap, given.gap) || !is_slower && !short, "{given:?}\n{found:?}");
        prop_assert!(near(found.gap_per_byte, given.gap_per_byte) || !is_slower && !long, "{given:?}\n{found:?}");
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// The machine that is fitted to messages on a machine; S between the lengths that stand closest to it.
fn found(given: &Constants, folder: &Path) -> Machine {
    let machine = format!("machine={}", given.to_ron());
    let sweep = |more: &[&str]| {
        let sweep = ["sweep", "scenarios/loggops-constants.ron", "--format", "jsonl", "--set", &machine];
        output(parsim().args(sweep).args(more))
    };
    let coarse = sweep(&[]);
    let first: Map<_, _> = serde_json::from_str(&fit(&coarse, &["--format", "jsonl"])).expect("an object");
    let bytes = ["--over".to_owned(), format!("bytes={}", between(&first))];
    let around_s = sweep(&[&LATE[..], &bytes.each_ref().map(String::as_str)].concat());
    let file = folder.join("fitted.ron");
    fit(&(coarse + &around_s), &["--ron", file.to_str().expect("a path")]);
    parsim().arg("check").arg(&file).assert().success();
    load_machine(&file).expect("a machine")
}

/// Lengths between those that are known to be on either side of S, 1 % apart.
fn between(fitted: &Map<String, Value>) -> String {
    let bound = |key: &str, otherwise| fitted[key].as_f64().unwrap_or(otherwise);
    let (least, below) = (bound("eager_at_least_bytes", 1.0), bound("eager_below_bytes", 2e6));
    let mut lengths = vec![least];
    while let Some(last) = lengths.last().copied().filter(|last| *last < below) {
        lengths.push((last * 1.01).floor().max(last + 1.0));
    }
    lengths.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

fn fit(data: &str, more: &[&str]) -> String {
    let columns = ["--messages", "in_a_row", "--delay", "delay_s", "--late", "late_s"];
    output(parsim().args(["fit", "-", "--model", "loggp"]).args(columns).args(more).write_stdin(data))
}

fn output(command: &mut assert_cmd::Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).expect("output is text")
}

/// Constants that messages alone do not tell are marked in the file, and its machine takes their time all the same.
#[test]
fn a_machine_fitted_to_messages_alone_says_what_is_not_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("fitted.ron");
    let data = "bytes,time_s\n1,5.5e-6\n1001,11.5e-6\n100001,605.5e-6\n";
    let arguments = ["fit", "-", "--model", "loggp", "--ron", file.to_str().expect("a path")];
    parsim().args(arguments).write_stdin(data).assert().success();
    let text = fs::read_to_string(&file).expect("the machine is written");
    for (name, value) in [("L", "5500 ns"), ("o", "0 ns"), ("G", "6 ns/B")] {
        assert!(text.contains(&format!("{name}: \"{value}\"")), "{text}");
    }
    assert_eq!(text.matches("not determined by the data").count(), 3, "{text}");
    assert!(text.contains("do not separate them"), "{text}");
    let run = [
        "run",
        "scenarios/ping.ron",
        "--format",
        "json",
        "--set",
        "program.bytes=1001 B",
        "--set",
        "placement=RowMajor",
    ];
    let machine = format!("machine=File({:?})", file.to_str().expect("a path"));
    let row = output(parsim().args(run).args(["--set", "axes=[]", "--set", "compare=[]", "--set", &machine]));
    let row: Map<_, _> = serde_json::from_str(&row).expect("an object");
    assert_eq!(row["message_s"].as_f64(), Some(11.5e-6));
}

/// A latency below zero belongs to no machine.
#[test]
fn no_machine_has_a_negative_constant() {
    let data = "bytes,time_s,system_s\n1,5e-6,4e-6\n1001,6e-6,4e-6\n2001,7e-6,4e-6\n";
    let arguments =
        ["fit", "-", "--model", "loggp", "--value", "time_s", "--overhead", "system_s", "--ron", "never.ron"];
    let failed = parsim().args(arguments).write_stdin(data).assert().failure();
    let words = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(words.contains("L = -3.000e-6 s is negative"), "{words}");
}

/// A constant of the model is an axis by its letter, in sweeps, and in plans, which tell cases apart without running them.
#[test]
fn constants_of_the_model_are_axes() {
    let rows = |command: &str| -> Vec<Map<String, Value>> {
        let one = ["--over", "p=4", "--over", "bytes=8", "--over", "L=1 us,2 us", "--format", "jsonl"];
        let lines = output(parsim().args([command, "scenarios/loggops-collectives.ron"]).args(one));
        lines.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
    };
    let (planned, swept) = (rows("plan"), rows("sweep"));
    assert_eq!(planned.len(), 2);
    for (planned, swept) in planned.iter().zip(&swept) {
        assert_eq!(planned["L"], swept["L"]);
        assert_eq!(planned["meta"]["id"], swept["meta"]["id"]);
    }
    assert_ne!(planned[0]["meta"]["id"], planned[1]["meta"]["id"]);
    let time = |row: &Map<String, Value>| row["makespan_s"].as_f64().expect("a time");
    assert!((time(&swept[1]) - time(&swept[0]) - 2e-6).abs() < 1e-12, "two messages, one after the other");
}

/// Both forms of a machine are in its schema.
#[test]
fn the_schema_of_machines_has_the_model() {
    let schema: Value = serde_json::from_str(&output(parsim().args(["schema", "machine"]))).expect("a schema");
    let text = schema.to_string();
    for field in ["LogGOPS", "\"S\"", "\"over\"", "\"nodes\""] {
        assert!(text.contains(field), "{field}");
    }
    let page = output(parsim().args(["schema", "machine", "--format", "markdown"]));
    assert!(page.contains("LogGOPS") && page.contains("largest message whose send completes"), "{page}");
}

/// The model has no number of nodes: the whole of it is as large as its ranks need.
#[test]
fn the_whole_machine_is_as_large_as_its_ranks_need() {
    let scenario = "scenarios/loggops-collectives.ron";
    let run = |set: &[&str]| {
        let text = output(parsim().args(["run", scenario, "--set", "ranks=8", "--format", "json"]).args(set));
        let row: Value = serde_json::from_str(&text).expect("a row");
        (row["makespan_s"].clone(), row["topology_in_use"].clone())
    };
    assert_eq!(run(&["--set", "partition=Whole"]), run(&[]));
}

/// The makespan of a program, and the time of its collective operation.
fn times(machine: &str, program: &str, ranks: u32) -> (Value, Value) {
    let scenario =
        format!("Scenario(machine: {machine}, ranks: {ranks}, placement: RowMajor, program: {program}, seed: 1)");
    let run = parsim().args(["run", "-", "--format", "json"]).write_stdin(scenario).output().expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let row: Value = serde_json::from_slice(&run.stdout).expect("a row");
    (row["makespan_s"].clone(), row["collective_s"].clone())
}

#[test]
fn a_receive_ends_when_its_processor_has_taken_the_message_in() {
    let machine = "LogGOPS(L: \"2500 ns\", o: \"1500 ns\", g: \"1000 ns\", G: \"6 ns/B\", O: \"1 ns/B\", S: \"65535 B\", processor: FlopRate(\"1 Gflop/s\"))";
    let operations = [("AllToAll(algorithm: Linear)", 3, 0), ("Scan(algorithm: LinearNonBlocking)", 5, 0)].into_iter();
    let roots = (0..4).map(|root| ("Gather(algorithm: Linear)", 4, root));
    let mut gathered = Vec::new();
    for (operation, ranks, root) in operations.chain(roots) {
        let program = format!("Collective(operation: {operation}, bytes: \"4 kB\", root: {root})");
        let (makespan, collective) = times(machine, &program, ranks);
        assert_eq!(collective, makespan, "{operation} on {ranks} ranks, root {root}");
        gathered.extend((ranks == 4).then_some(makespan));
    }
    assert!(gathered.iter().all(|time| *time == gathered[0]), "{gathered:?}");
}

#[test]
fn an_ideal_barrier_at_the_beginning_changes_nothing() {
    let machine = "LogGOPS(L: \"0 ns\", o: \"0 ns\", g: \"1 us\", G: \"6 ns/B\", O: \"0 ns/B\", S: \"100 B\", processor: FlopRate(\"1 Gflop/s\"))";
    let operation = "Collective(operation: AllReduce(algorithm: RecursiveMultiplying(radix: 2)), bytes: \"1000 B\")";
    let barrier = "Collective(operation: Barrier(algorithm: Ideal), bytes: \"0 B\")";
    let alone = times(machine, &format!("Phases(steps: [{operation}])"), 3);
    assert_eq!(times(machine, &format!("Phases(steps: [{barrier}, {operation}])"), 3), alone);
    assert_eq!(times(machine, operation, 3), (alone.0.clone(), alone.0));
}
