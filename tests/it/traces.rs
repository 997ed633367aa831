//! Traces as a user writes, reads and compares them.

use crate::parsim;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

const SMALL: [&str; 4] = ["--set", "ranks=8", "--set", "program.n=32"];
const NEIGHBOUR: &str = "scenarios/gauss-jordan-neighbour.ron";

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

/// A recording of a small run, in a folder of its own.
fn recorded(scenario: &str) -> (TempDir, String) {
    let folder = folder();
    let file = folder.path().join("run.trace").display().to_string();
    parsim().args(["run", scenario, "--trace", &file]).args(SMALL).assert().success();
    (folder, file)
}

fn json(arguments: &[&str]) -> Value {
    let assert = parsim().args(arguments).args(["--format", "json"]).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).expect("the output is JSON")
}

/// The message on stderr, with exit code 2 and nothing on stdout.
fn refusal(arguments: &[&str]) -> String {
    let assert = parsim().args(arguments).assert().code(2).stdout("");
    let said = String::from_utf8(assert.get_output().stderr.clone()).expect("diagnostics are text");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn a_recording_and_its_scenario_have_the_same_critical_path() {
    let (_folder, file) = recorded(NEIGHBOUR);
    let read = json(&["critical-path", &file]);
    let played = json(&[&["critical-path", NEIGHBOUR][..], &SMALL].concat());
    for key in ["makespan_s", "critical_path_s", "average_parallelism", "mean_active", "path_by_phase_s"] {
        assert_eq!(read[key], played[key], "{key}");
    }
    assert_eq!(read["makespan_s"], read["critical_path_s"]);
    assert!(played["meta"]["scenario"].is_string() && read.get("meta").is_none());
}

/// Features that the random programs do not have: shared memories, noise, slow nodes, collectives, rollbacks.
#[test]
fn causes_explain_runs_of_every_kind() {
    for (scenario, set) in [
        ("cluster-fft", "seed=1"),
        ("cluster-jitter", "seed=1"),
        ("collective", "ranks=16"),
        ("master-worker", "seed=1"),
        ("loggops-collectives", "program.bytes=\"100 kB\""),
        ("peers/gauss-jordan", "machine=File(\"scenarios/machines/loggopsim-default.ron\")"),
        ("straggler", "program.n=32"),
        ("ising-time-warp", "program.attempts=60"),
    ] {
        let record = json(&["critical-path", &format!("scenarios/{scenario}.ron"), "--set", set, "--accounts"]);
        assert_eq!(record["makespan_s"], record["critical_path_s"], "{scenario}");
        // One rank is enough for these. The slow node of `straggler` is left out of account there.
        let runs_alone =
            ["cluster-fft", "cluster-jitter", "straggler", "ising-time-warp", "peers/gauss-jordan"].contains(&scenario);
        assert_eq!(runs_alone, record["speedup"].as_f64().is_some_and(|speedup| speedup > 0.0), "{scenario}");
        let parts = ["computation", "input_output", "communication", "system", "idle"];
        let rank_0 = parts.map(|part| record[format!("rank_{part}_s")][0].as_f64().expect(part));
        let loading = record["rank_loading_s"][0].as_f64().unwrap_or(0.0);
        assert_eq!(scenario.starts_with("cluster"), loading > 0.0, "{scenario}");
        let makespan = record["makespan_s"].as_f64().expect("a number");
        assert!((rank_0.iter().sum::<f64>() + loading - makespan).abs() < 1e-9 * makespan, "{scenario}: {rank_0:?}");
    }
}

/// A load that ends while the processor deals with a message holds its rank until that is done.
#[test]
fn causes_explain_ranks_that_go_on_when_their_processors_are_free() {
    let folder = folder();
    let scenario = folder.path().join("scenario.ron");
    let text = r#"Scenario(machine: Machine(name: "m", nodes: Node(processor: Unspecified, memory: "1 GiB", router: Hardware,
        levels: [Level(name: "node", members: 3,
            memory: Shared(bandwidth: "7 ns/B", latency: "255 ns", discipline: ProcessorSharing))],
        interface: Interface(overhead: "123 ns", gap_per_byte: "2 ns/B", progress: Offloaded)),
        network: Network(topology: Line(nodes: 1), routing: DimensionOrder,
            switching: StoreAndForward(packet: "187 B"), links: Link(per_byte: "5 ns/B", latency: "56 ns")),
        sends: Buffered), ranks: 3, partition: Whole, placement: Packed(ranks_per_node: 3),
        program: Phases(steps: [Compute(bytes: "(rank+1)*16 B", seconds: "149 * 1e-9"),
            Compute(bytes: "19 if rank == 0 else 50 B"), Exchange(with: Line, bytes: "18 B")]), seed: 1)"#;
    fs::write(&scenario, text).expect("a file");
    let record = json(&["critical-path", scenario.to_str().expect("a path")]);
    assert_eq!(record["makespan_s"], record["critical_path_s"]);
}

#[test]
fn tracing_changes_nothing_and_repeats() {
    let (_first, one) = recorded(NEIGHBOUR);
    let (_second, other) = recorded(NEIGHBOUR);
    assert_eq!(fs::read(one).unwrap(), fs::read(other).unwrap());
    let run = |more: &[&str]| {
        let assert = parsim().args(["run", NEIGHBOUR, "--format", "json"]).args(SMALL).args(more).assert().success();
        assert.get_output().stdout.clone()
    };
    assert_eq!(run(&[]), run(&["--trace", "/dev/null"]));
}

/// The events of a recording, written as a table, have the same critical path.
#[test]
fn events_are_written_as_they_are_read() {
    let (folder, file) = recorded(NEIGHBOUR);
    let table = folder.path().join("events.csv").display().to_string();
    let recording = json(&["critical-path", &file, "--events", &table]);
    let written = fs::read_to_string(&table).unwrap();
    let lines: Vec<_> = written.lines().collect();
    assert_eq!(lines.len() as u64, recording["events"].as_u64().unwrap() + 1);
    // Without what the analysis has added.
    let columns = 7;
    let own: Vec<_> = lines.iter().map(|line| line.split(',').take(columns).collect::<Vec<_>>().join(",")).collect();
    fs::write(&table, own.join("\n")).unwrap();
    let read = json(&["critical-path", &table]);
    let length = |record: &Value| record["critical_path_s"].as_f64().unwrap();
    assert!((length(&read) - length(&recording)).abs() < 1e-9);
}

#[test]
fn pictures_and_the_export_are_written() {
    let (folder, file) = recorded(NEIGHBOUR);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let files = ["diagram.svg", "profile.svg", "histogram.svg", "trace.json"].map(path);
    let options = ["--space-time", "--profile", "--histogram", "--perfetto"];
    let mut command = parsim();
    command.args(["critical-path", &file, "--from", "10 ms", "--ranks", "0-2,7", "--accounts"]);
    for (option, file) in options.iter().zip(&files) {
        command.args([option, file.as_str()]);
    }
    command.assert().success();
    for file in &files[..3] {
        assert!(fs::read_to_string(file).unwrap().ends_with("</svg>\n"), "{file}");
    }
    let export: Value = serde_json::from_str(&fs::read_to_string(&files[3]).unwrap()).unwrap();
    let entries = export["traceEvents"].as_array().unwrap();
    let count = |phase: &str| entries.iter().filter(|entry| entry["ph"] == phase).count();
    assert!(count("X") > 100 && count("s") > 0);
    assert_eq!(count("s"), count("f"));
}

/// Machines on which links carry more than trains of packets on one channel: flits of several packets in turn, and
/// packets on links of the nodes into their routers.
const FABRICS: [[&str; 2]; 2] = [
    ["--set", r#"machine=File("scenarios/machines/router-network.ron")"#],
    ["--set", r#"machine.network.end_links=Some(Link(per_byte: "0.3 us/B", start: "0 us", buffers: Packets(2)))"#],
];

/// Slices of one track follow each other or lie within each other; here they follow.
#[test]
fn slices_of_the_export_do_not_overlap() {
    let mut names = Vec::new();
    for fabric in [&[][..], &FABRICS[0], &FABRICS[1]] {
        let folder = folder();
        let exported = folder.path().join("trace.json");
        let mut command = parsim();
        command.args(["critical-path", "scenarios/gauss-jordan-naive.ron"]).args(SMALL).args(fabric);
        command.arg("--perfetto").arg(&exported).assert().success();
        let export: Value = serde_json::from_str(&fs::read_to_string(&exported).unwrap()).unwrap();
        let entries = export["traceEvents"].as_array().unwrap();
        let mut ends = std::collections::BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry["ph"] == "X") {
            let track = (entry["pid"].as_u64(), entry["tid"].as_u64());
            let (begin, length) = (entry["ts"].as_f64().unwrap(), entry["dur"].as_f64().unwrap());
            let end = ends.insert(track, begin + length).unwrap_or(0.0);
            assert!(begin >= end - 1e-6, "{entry}");
        }
        assert!(ends.len() > 9);
        let tracks = entries.iter().filter(|entry| entry["name"] == "thread_name");
        names.extend(tracks.map(|entry| entry["args"]["name"].as_str().unwrap().to_owned()));
    }
    assert!(names.iter().any(|name| name.starts_with("0 → 1, virtual channel 1, ")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("router → 1, ")), "{names:?}");
}

/// The composition by link of what is recorded to a file is that of the scenario, and has every part of the makespan.
#[test]
fn messages_are_taken_apart_by_link_on_every_fabric() {
    for (fabric, on_path) in FABRICS.iter().zip(["0-1", "1-router"]) {
        let folder = folder();
        let file = folder.path().join("run.trace").display().to_string();
        parsim().args(["run", NEIGHBOUR, "--trace", &file, "--transfers"]).args(SMALL).args(fabric).assert().success();
        let read = json(&["critical-path", &file]);
        let played = json(&[&["critical-path", NEIGHBOUR][..], &SMALL, fabric].concat());
        assert_eq!(read["path_by_link_s"], played["path_by_link_s"]);
        let parts = read["path_by_link_s"].as_object().unwrap();
        assert!(parts.contains_key(on_path), "{parts:?}");
        let sum: f64 = parts.values().map(|part| part.as_f64().unwrap()).sum();
        let makespan = read["makespan_s"].as_f64().unwrap();
        assert!((sum - makespan).abs() < 1e-9 * makespan, "{parts:?}");
        // The stages of the messages sum to the time of the messages, and those on links to that of the links.
        let stages = read["path_by_message_stage_s"].as_object().unwrap();
        let seconds = |value: &Value| value.as_f64().unwrap();
        let of_links = parts.iter().filter(|(name, _)| name.contains('-')).map(|(_, part)| seconds(part)).sum::<f64>();
        let is_near = |one: f64, other: f64| (one - other).abs() < 1e-9 * makespan;
        let of_messages = seconds(&read["path_by_kind_s"]["message"]);
        assert!(is_near(stages.values().map(seconds).sum(), of_messages), "{stages:?}");
        assert!(is_near(seconds(&stages["on links"]), of_links), "{stages:?} {parts:?}");
    }
}

/// The path as a list goes from the beginning to the end, and takes a message from its node over links to the other one.
#[test]
fn the_path_is_listed_with_the_ways_of_its_messages() {
    let folder = folder();
    let listed = folder.path().join("path.csv");
    for fabric in [&[][..], &FABRICS[0], &FABRICS[1]] {
        let mut command = parsim();
        command.args(["critical-path", NEIGHBOUR]).args(SMALL).args(fabric).args(["--format", "json", "--path"]);
        let assert = command.arg(&listed).assert().success();
        let record: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the output is JSON");
        let mut lines = csv::Reader::from_path(&listed).unwrap();
        let lines: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
        let time = |line: &csv::StringRecord, column: usize| line[column].parse::<f64>().unwrap();
        assert_eq!(&lines[0][0], "0");
        assert!(lines.windows(2).all(|pair| pair[0][1] == pair[1][0]));
        assert_eq!(Some(time(&lines[lines.len() - 1], 1)), record["makespan_s"].as_f64());
        let places: Vec<_> = lines.iter().filter(|line| &line[2] == "message").map(|line| &line[5]).collect();
        assert!(places[0].starts_with("node ") && places[places.len() - 1].starts_with("node "), "{places:?}");
        assert!(places.iter().any(|place| place.contains('-')), "{places:?}");
    }
}

#[test]
fn two_runs_are_compared() {
    let neighbour = recorded(NEIGHBOUR);
    let comparison = json(&[&["compare", "scenarios/gauss-jordan-naive.ron", NEIGHBOUR][..], &SMALL].concat());
    let value = |key: &str| comparison[key].as_f64().expect(key);
    let difference = value("b_makespan_s") - value("a_makespan_s");
    assert!(difference != 0.0 && (value("difference_makespan_s") - difference).abs() < 1e-12);
    let overhead = 8.0 * value("a_makespan_s") - value("a_sequential_s");
    assert!((value("a_overhead_s") - overhead).abs() < 1e-9 * overhead);
    assert!((value("a_speedup") / 8.0 - value("a_efficiency")).abs() < 1e-12);
    assert!(value("b_speedup") <= value("b_average_parallelism"));
    // A trace tells nothing about one processor.
    let traces = json(&["compare", &neighbour.1, &neighbour.1]);
    assert_eq!(traces["a_speedup"], Value::Null);
    assert_eq!(traces["difference_makespan_s"].as_f64(), Some(0.0));
}

#[test]
fn what_is_no_trace_is_refused() {
    let (folder, file) = recorded(NEIGHBOUR);
    let bytes = fs::read(&file).unwrap();
    let cut = folder.path().join("cut.trace").display().to_string();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refusal(&["critical-path", &cut]).contains("before its end mark"));
    assert!(refusal(&["critical-path", &file, "--seed", "2"]).contains("is a recorded trace"));
    let ranks = ["critical-path", &file, "--ranks", "9", "--space-time", "never-written.svg"];
    assert!(refusal(&ranks).contains("from 0 to 7"));
    let table = folder.path().join("events.csv").display().to_string();
    let head = "id,process,clock,service_s,antecedents\n";
    fs::write(&table, format!("{head}1,0,2,1,\n2,1,1,1,1:0.5\n")).unwrap();
    assert!(refusal(&["critical-path", &table]).contains("event 1 of process 0"));
    fs::write(&table, format!("{head}1,0,2,x,\n")).unwrap();
    assert!(refusal(&["critical-path", &table]).contains("line 2, column `service_s`"));
    assert!(refusal(&["critical-path", "no-such.trace"]).contains("no-such.trace"));
    assert!(refusal(&["compare", &file, "no-such.csv"]).contains("no-such.csv"));
}

#[test]
fn open_loop_traffic_has_nothing_to_record() {
    let assert = parsim().args(["critical-path", "scenarios/traffic-64.ron"]).assert().code(2).stdout("");
    let said = String::from_utf8(assert.get_output().stderr.clone()).expect("diagnostics are text");
    assert!(said.contains("no processes whose activities could be recorded"), "{said}");
}

/// A send that waits for its receive, because it is synchronous or long, has waited for what the receiver computed, though the receiver goes on
/// with others at the same instant.
#[test]
fn a_sender_that_waits_has_waited_for_the_receiver() {
    let machine = crate::repository("scenarios/machines/loggopsim-default.ron");
    for (call, count) in [("MPI_Ssend", 8), ("MPI_Send", 100_000)] {
        let folder = folder();
        let init =
            "# collprof 0.9 output file\n# host: n\n# Init clockdiff: 0.000000\n\nMPI_Init:-:1:2:1000000.000000\n";
        let sender = format!(
            "{call}:1000000.000000:7000:{count}:2,1,1:1:7:0,0,2:1000001.000000\n\
             MPI_Recv:1001001.000000:7000:8:2,1,1:1:7:0,0,2:9999:1001002.000000\n"
        );
        let receiver = format!(
            "MPI_Recv:1000300.000000:7000:{count}:2,1,1:0:7:0,1,2:9999:1000301.000000\n\
             MPI_Isend:1000301.000000:7000:8:2,1,1:0:7:0,1,2:100:1000302.000000\n\
             MPI_Waitall:1000302.000000:1:100:0:1000303.000000\n"
        );
        for (rank, calls) in [sender, receiver].iter().enumerate() {
            let finalize = "# Finalize clockdiff: 0.000000\nMPI_Finalize:1001003.000000:-\n";
            fs::write(folder.path().join(format!("t-{rank}.txt")), format!("{init}{calls}{finalize}")).unwrap();
        }
        let scenario = folder.path().join("x.ron");
        let program = "MpiTrace(folder: \".\", format: Liballprof)";
        let text =
            format!("Scenario(machine: File({machine:?}), ranks: 2, placement: RowMajor, program: {program}, seed: 1)");
        fs::write(&scenario, text).unwrap();
        let path = folder.path().join("path.csv");
        parsim().arg("critical-path").arg(&scenario).arg("--path").arg(&path).assert().success();
        let path = fs::read_to_string(path).unwrap();
        assert_eq!(path.lines().nth(1), Some("0,0.0003,computing,compute,1,"), "{call}: {path}");
    }
}
