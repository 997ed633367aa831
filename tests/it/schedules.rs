//! Schedules from files on machines that are not LogGOPSim's.

use crate::{parsim, repository};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Nodes of four cores with one interface; links are as fast as that.
const MACHINE: &str = r#"Machine(
    name: "nodes of four cores",
    nodes: Node(
        processor: FlopRate("1 Gflop/s"), levels: [Level(name: "node", members: 4)], memory: "64 GiB", router: Hardware,
        interface: Interface(overhead: "1 us", gap_per_byte: "1 ns/B", copy_per_byte: "2 ns/B"),
    ),
    network: Network(
        topology: Complete(nodes: 64), routing: DimensionOrder, switching: CutThrough(packet: "64 KiB"), contention: Off,
        links: Link(per_byte: "1 ns/B", latency: "10 us"),
    ),
    sends: Buffered,
)"#;

/// Each of 64 ranks sends 1001 B to another one, and receives as much.
fn exchange(folder: &Path, partner: fn(u32) -> u32) {
    let of_rank = |rank: u32| {
        let other = partner(rank);
        format!("rank {rank} {{\na: send 1001b to {other}\nb: recv 1001b from {other}\nb requires a\n}}\n")
    };
    let ranks: String = (0..64).map(of_rank).collect();
    fs::write(folder.join("exchange.goal"), format!("num_ranks 64\n{ranks}")).expect("it can be written");
}

/// The simulated time of the exchange, in ns.
fn time(folder: &Path, placement: &str) -> f64 {
    let scenario = folder.join("exchange.ron");
    let text = format!(
        "Scenario(machine: {MACHINE}, ranks: 64, placement: {placement}, seed: 1, \
         program: Goal(file: \"exchange.goal\", unit: \"1 ns\"))"
    );
    fs::write(&scenario, text).expect("it can be written");
    let output = parsim().arg("run").arg(&scenario).args(["--format", "jsonl"]).assert().success();
    let row: Value = serde_json::from_slice(&output.get_output().stdout).expect("a row");
    (row["makespan_s"].as_f64().expect("a time") * 1e9).round()
}

/// A send takes 1 us of its processor. On its node the receiver copies for 1 + 2 us; on another one four ranks share an
/// interface, which takes 1 us a message at either end, and 10 us lie between.
#[test]
fn ranks_of_a_schedule_share_nodes() {
    let folder = tempfile::tempdir().expect("there is room");
    let is_exact = |placement: &str, expected: f64| {
        let time = time(folder.path(), placement);
        assert!((time - expected).abs() < 0.5, "{placement}: {time} ns instead of {expected}");
    };
    exchange(folder.path(), |rank| rank ^ 1);
    is_exact("Packed(ranks_per_node: 4)", 4000.0);
    is_exact("RowMajor", 13000.0);
    exchange(folder.path(), |rank| (rank + 32) % 64);
    is_exact("Packed(ranks_per_node: 4)", 16000.0);
    is_exact("RowMajor", 13000.0);
}

/// Chakra becomes a schedule on the way: written as GOAL with its relations it takes the same time on the same machine.
#[test]
fn schedules_are_exported_as_they_are() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("step.goal");
    let scenario = "scenarios/ml-step.ron";
    let export = |target: &str, place: &Path| {
        let mut command = parsim();
        command
            .args(["export", scenario, "--set", "axes=[]", "--unit", "1 ps", "--format", "jsonl", target])
            .arg(place);
        command.assert()
    };
    let makespan = |output: &[u8]| {
        let row: Value = serde_json::from_slice(output).expect("a row");
        row["makespan_s"].as_f64().expect("a time")
    };
    let exported = makespan(&export("--goal", &file).success().get_output().stdout);
    let program = format!("program=Goal(file: {file:?}, unit: \"1 ps\")");
    let mut command = parsim();
    let read =
        command.args(["run", scenario, "--set", "axes=[]", "--format", "jsonl", "--set", &program]).assert().success();
    assert!((makespan(&read.get_output().stdout) - exported).abs() < 1e-15);
    let note = String::from_utf8_lossy(&read.get_output().stderr).into_owned();
    assert!(note.contains("processors of a rank (`cpu`)"), "{note}");
    let mut command = parsim();
    command.args(["export", scenario, "--set", "axes=[]", "--time-independent"]).arg(folder.path().join("d"));
    let refused = String::from_utf8_lossy(&command.assert().failure().get_output().stderr).into_owned();
    assert!(refused.contains("the program is a schedule") && refused.contains("`--goal`"), "{refused}");
}

/// A wait for the first of several operations, and the wait for that operation which follows, are one call of a trace.
#[test]
fn waits_for_the_first_of_several_are_exported() {
    let folder = tempfile::tempdir().expect("there is room");
    let scenario = folder.path().join("any.ron");
    let program = r#"Scenario(
        machine: LogGOPS(L: "2 us", o: "1 us", g: "1 us", G: "1 ns/B", O: "0 ns/B", S: "64 KiB", processor: FlopRate("1 Gflop/s")),
        ranks: 2, placement: RowMajor, seed: 1,
        program: Phases(memory: "1 B", steps: [
            When(condition: "rank == 0", then: [
                Irecv(from: "1", tag: "1", request: "a"), Irecv(from: "1", tag: "2", request: "a"),
                Waitany(request: "a"), Waitany(request: "a"),
            ]),
            When(condition: "rank == 1", then: [
                Send(to: "0", bytes: "8 B", tag: "2"), Send(to: "0", bytes: "8 B", tag: "1"),
            ]),
        ]))"#;
    std::fs::write(&scenario, program).expect("there is room");
    let traces = folder.path().join("traces");
    parsim().arg("export").arg(&scenario).arg("--time-independent").arg(&traces).assert().success();
    let text = std::fs::read_to_string(traces.join("rank-0.txt")).expect("a trace");
    // The second receive is waited for at once, as it happens.
    let calls = "0 init\n0 irecv 1 1 8\n0 recv 1 2 8\n0 wait 1 0 1\n0 finalize\n";
    assert_eq!(text, calls);
}

/// A receive that has to wait for its processor, which is busy with another message, while its own has long come: its causes still
/// explain the makespan, and so they do on several processors of a rank.
#[test]
fn causes_explain_receives_that_wait_for_their_processor() {
    let folder = tempfile::tempdir().expect("there is room");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("there is room");
    write(
        "late.goal",
        "num_ranks 3\nrank 0 {\nl0: send 1000b to 2 tag 0 cpu 1\nl3: recv 8b from 2 tag 0 cpu 1\n}\nrank 1 {\n\
         l0: send 70000b to 2 tag 0 cpu 0\nl2: send 1b to 2 tag 1 cpu 1\n}\nrank 2 {\nl0: recv 70000b from 1 tag 0 cpu 0\n\
         l1: recv 1000b from 0 tag 0 cpu 1\nl1 requires l0\nl3: send 8b to 0 tag 0 cpu 1\nl3 requires l1\n\
         l7: recv 1b from 1 tag 1 cpu 0\n}\n",
    );
    let machine = repository("scenarios/machines/loggopsim-default.ron");
    let scenario = format!(
        "Scenario(machine: File(\"{}\"), ranks: 3, placement: RowMajor, seed: 1, program: Goal(file: \"late.goal\", unit: \"1 ns\"))",
        machine.display()
    );
    write("late.ron", &scenario);
    parsim().arg("critical-path").arg(folder.path().join("late.ron")).assert().success();
    parsim().args(["critical-path", "scenarios/ml-step.ron"]).assert().success();
}
