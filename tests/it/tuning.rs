//! Tuning: what is chosen is what a sweep of everything shows to be best, with less work, and whatever the number of threads.

use crate::{parsim, repository};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A fat tree of nodes with interfaces, whose links are shared by flows.
const CLUSTER: &str = r#"Scenario(
    machine: Machine(
        name: "a cluster",
        nodes: Node(
            processor: FlopRate("10 Gflop/s"),
            memory: "64 GiB",
            router: Hardware,
            interface: Interface(overhead: "0.5 us", gap: "0.2 us", gap_per_byte: "10 GB/s", progress: AfterArrival),
        ),
        network: Network(
            topology: Torus2d(rows: 4, columns: 4),
            routing: DimensionOrder,
            switching: CutThrough(packet: "4 KiB"),
            links: Link(per_byte: "10 GB/s", latency: "0.3 us"),
            contention: FairFlows,
        ),
        sends: Eager(up_to: "64 KiB"),
    ),
    ranks: 16,
    placement: RowMajor,
    program: Collective(operation: AllReduce(algorithm: Ring), bytes: "1 KiB"),
    axes: [
        Axis(name: "algorithm", path: "program.operation.algorithm", values: [
            "Ring", "RecursiveDoubling", "Bine", "Rabenseifner", "BineReduceScatterAllGather", "NonOverlapping",
            "SegmentedRing(segment: \"1 KiB\")", "SegmentedRing(segment: \"4 KiB\")", "SegmentedRing(segment: \"16 KiB\")",
            "RecursiveMultiplying(radix: 4)", "Auto(OpenMpi)", "Auto(Mpich)",
        ]),
        Axis(name: "bytes", path: "program.bytes", unit: "B", values: [8, 65536, 4194304]),
        Axis(name: "placement", path: "placement", values: [RowMajor, Snake]),
    ],
    seed: 1,
)"#;

fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = parsim().args(arguments).args(["--format", "jsonl"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is one object")).collect()
}

/// A scenario in a folder of its own.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("scenario.ron");
    fs::write(&path, text).expect("there is room");
    let path = path.display().to_string();
    (folder, path)
}

/// Values of an axis of `--each` alone hold everything that could be tuned, which is said before any run.
#[test]
fn values_that_leave_nothing_to_tune_are_rejected() {
    let (_folder, path) = file(CLUSTER);
    let said = |over: &str| {
        let output = parsim().args(["tune", &path, "--each", "bytes", "--over", over]).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = said("bytes=8,16");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("nothing is tuned") && error.contains("--over algorithm=V1,V2"), "{error}");
    assert_eq!(said("algorithm=Ring,Bine").0, Some(0));
}

/// Two candidates whose times are drawn from one distribution are told apart in a tenth of all groups of seeds at most,
/// however often they are compared. 28 of 200 is two standard deviations above that.
#[test]
fn equally_good_candidates_are_seldom_told_apart() {
    let drawn = r#"program: Phases(parameters: {"b": 0}, steps: [Draw(name: "x", from: Normal(mean: "1", deviation: "0.1")),
        Draw(name: "y", from: Normal(mean: "1", deviation: "0.1")), Compute(seconds: "x if b == 0 else y")]),
        axes: [Axis(name: "b", path: "program.parameters.b", values: [0, 1])], seed: 1,)"#;
    let (machine, _) = CLUSTER.split_once("ranks: 16").expect("a cluster has ranks");
    let (_folder, path) = file(&format!("{machine}ranks: 1, placement: RowMajor, {drawn}"));
    for repeat in ["repeat=2", "repeat=64"] {
        let seeds = ["--over", "seed=1000:200000:1000", "--each", "seed", "--set", repeat];
        let rows = rows(&[&["tune", &path, "--over", "b=0,1"], &seeds[..]].concat());
        let worse = rows.iter().filter(|row| row["standing"] == "worse").count();
        assert!(rows.len() == 400 && worse <= 28, "{repeat}: {worse} of {}", rows.len());
    }
}

#[test]
fn what_is_chosen_is_what_a_sweep_shows_to_be_best() {
    let (_folder, path) = file(CLUSTER);
    let swept = rows(&["sweep", &path]);
    let tuned = rows(&["tune", &path, "--each", "bytes"]);
    assert_eq!(tuned.len(), swept.len());
    let left_out = tuned.iter().filter(|row| row["standing"] == "left out").count();
    assert!(left_out >= 4, "{left_out} are left out");
    for bytes in [8, 65536, 4_194_304] {
        let time = |row: &Value| row["makespan_s"].as_f64();
        let best = swept.iter().filter(|row| row["bytes"] == bytes).filter_map(time).min_by(f64::total_cmp);
        let of_it: Vec<_> = tuned.iter().filter(|row| row["bytes"] == bytes).collect();
        let chosen: Vec<_> = of_it.iter().filter(|row| row["chosen"] == true).collect();
        assert_eq!(chosen.len(), 1);
        assert_eq!(time(chosen[0]), best, "{bytes} B");
        assert!(of_it.iter().filter_map(|row| time(row)).is_sorted(), "{bytes} B");
        for row in of_it {
            let (with, without) = (time(row), row["no_contention_s"].as_f64().expect("each has a bound"));
            assert!(with.is_none_or(|with| without <= with * 1.000_001), "{row}");
            assert_eq!(row["runs"], u64::from(with.is_some()), "{row}");
        }
    }
}

#[test]
fn threads_and_bounds_do_not_change_what_is_chosen() {
    let (_folder, path) = file(CLUSTER);
    let one = rows(&["tune", &path, "--each", "bytes", "--jobs", "1"]);
    assert_eq!(one, rows(&["tune", &path, "--each", "bytes", "--jobs", "3"]));
    let chosen = |rows: &[Value]| {
        rows.iter().filter(|row| row["chosen"] == true).map(|row| row["meta"]["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&one), chosen(&rows(&["tune", &path, "--each", "bytes", "--all"])));
}

#[test]
fn repetitions_go_to_those_that_may_be_best() {
    let jitter = ["tune", "scenarios/cluster-jitter.ron", "--over", "mode=FreeRunning,Overlapped,BulkSynchronous"];
    let rows = rows(
        &[&jitter[..], &["--over", "noise=LogNormal(0.01),LogNormal(0.1)", "--each", "noise", "--set", "repeat=16"]]
            .concat(),
    );
    for row in &rows {
        let runs = row["runs"].as_u64().unwrap();
        assert!(row["standing"] != "worse" || runs < 16 || row["excess"].as_f64().unwrap() > 0.0, "{row}");
        let (low, mean, high) = (row["low90_s"].as_f64(), row["makespan_s"].as_f64(), row["high90_s"].as_f64());
        assert!(low <= mean && mean <= high, "{row}");
    }
    let runs: u64 = rows.iter().map(|row| row["runs"].as_u64().unwrap()).sum();
    assert!(runs < 16 * rows.len() as u64, "{runs}");
}

/// A best candidate that is precise after two runs still gets the seeds of its rivals, so that they can be compared.
#[test]
fn repetition_until_a_precision_tells_clear_differences_apart() {
    let noises = "noise=LogNormal(0.05),LogNormal(0.9)";
    let rows = rows(&[
        "tune",
        "scenarios/cluster-jitter.ron",
        "--over",
        "mode=BulkSynchronous",
        "--over",
        noises,
        "--set",
        "repeat=Until(relative_half_width: 0.01, at_least: 2, at_most: 32)",
    ]);
    let standing: Vec<_> = rows.iter().map(|row| row["standing"].as_str().unwrap()).collect();
    assert_eq!(standing, ["chosen", "worse"], "{rows:?}");
    assert!(rows.iter().all(|row| row["runs"].as_u64() < Some(32)), "{rows:?}");
}

/// Writes a calibration of two constants by pings into a folder. The data have the columns `run` (a label), `bytes`, `hops`
/// and `measured_us`.
fn ping_case(folder: &Path, data: &str) -> String {
    fs::write(folder.join("data.csv"), data).expect("it can be written");
    let scenario = repository("scenarios/ping.ron").display().to_string();
    let text = format!(
        "Calibration(tables: [Table(name: \"pings\", scenario: {scenario:?}, data: \"data.csv\", labels: [\"run\"], \
         simulated: \"message_s\", reference: \"measured_us\", noise: 0.02)], parameters: [\
         Parameter(path: \"machine.nodes.sending.per_packet\", from: \"5 us\", to: \"200 us\"), \
         Parameter(path: \"machine.network.links.per_byte\", from: \"0.1 us/B\", to: \"9 us/B\")])"
    );
    let case = folder.join("case.ron");
    fs::write(&case, text).expect("it can be written");
    case.display().to_string()
}

#[test]
fn a_calibration_says_how_sure_a_choice_is() {
    let folder = tempfile::tempdir().expect("there is room");
    let picture = folder.path().join("tuned.svg");
    let times = [61.5, 68.1, 99.2, 137.0, 172.2, 70.1, 82.4, 134.1, 191.9, 262.0, 99.8, 126.0, 240.0];
    let lengths = [1, 8, 40, 80, 120].into_iter().cycle().zip([1, 2, 5].into_iter().flat_map(|hops| [hops; 5]));
    let row = |(index, ((bytes, hops), time))| format!("{index},{bytes},{hops},{time}\n");
    let data: String = lengths.zip(times).enumerate().map(row).collect();
    let case = ping_case(folder.path(), &format!("run,bytes,hops,measured_us\n{data}"));
    let ping = ["tune", "scenarios/ping.ron", "--over", "hops=1,2,3", "--set", "program.bytes=40 B"];
    let more = ["--calibration", &case, "--plot", picture.to_str().unwrap()];
    let rows = rows(&[&ping[..], &more].concat());
    let chosen: Vec<_> = rows.iter().map(|row| row["hops"].as_u64().unwrap()).collect();
    assert_eq!(chosen, [1, 2, 3]);
    for row in &rows {
        let (low, mean, high) = (row["low90_s"].as_f64(), row["makespan_s"].as_f64(), row["high90_s"].as_f64());
        assert!(low < mean && mean < high, "{row}");
        assert!(row["meta"]["set"]["machine.network.links.per_byte"].is_string(), "{row}");
    }
    roxmltree::Document::parse(&fs::read_to_string(&picture).unwrap()).expect("it is well-formed");
    // The case calibrates another quantity than the one that candidates are judged by.
    let output = parsim().args(ping).args(&more[..2]).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("The intervals have the relative errors of message_s"), "{words}");
}

/// Messages of one byte tell only the sum of two constants, whose difference matters much for long messages.
#[test]
fn intervals_stay_within_the_bounds_of_what_is_not_determined() {
    let folder = tempfile::tempdir().expect("there is room");
    let data = "run,bytes,hops,measured_us\n0,1,1,62.1\n1,1,1,59.7\n2,1,1,61.5\n3,1,1,60.3\n4,1,1,62.7\n5,1,1,59.1\n\
                6,1,1,60.9\n7,1,1,62.1\n8,1,1,59.7\n9,1,1,61.5\n";
    let case = ping_case(folder.path(), data);
    let tune = ["tune", "scenarios/ping.ron", "--over", "hops=1,2", "--set", "program.bytes=4104 B"];
    let more = ["--set", "machine.network.links.start=0 us", "--calibration", &case];
    let run = ["run", "scenarios/ping.ron", "--set", "program.bytes=4104 B", "--set"];
    for row in rows(&[&tune[..], &more].concat()) {
        // A run with the calibration has the same interval as the candidate.
        let hops = format!("placement.hops={}", row["hops"]);
        let alone = &rows(&[&run[..], &[&hops], &more].concat())[0];
        for (one, other) in
            [("low90_s", "makespan_low90_s"), ("makespan_s", "makespan_s"), ("high90_s", "makespan_high90_s")]
        {
            assert_eq!(row[one], alone[other], "{row} {alone}");
        }
        let (low, mean, high) = (row["low90_s"].as_f64(), row["makespan_s"].as_f64(), row["high90_s"].as_f64());
        let (low, mean, high) = (low.unwrap(), mean.unwrap(), high.unwrap());
        // With 9 us/B, the bytes of a message would take 37 ms on a link.
        assert!(0.0 < low && low < mean && mean < high && high < 0.1, "{row}");
    }
    let output = parsim().args(tune).args(more).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let named = "machine.network.links.per_byte, machine.nodes.sending.per_packet are not determined";
    assert!(words.contains(named), "{words}");
}

#[test]
fn a_best_time_of_0_has_no_percentage() {
    let arguments = ["tune", "scenarios/ping.ron", "--set", "axes=[]", "--over", "program.bytes=0 B,1 B"];
    let machine = ["--set", "machine=File(\"scenarios/machines/ideal-torus.ron\")", "--set", "ranks=2"];
    let start = ["--set", "machine.nodes.sending.per_packet=0 us"];
    let words = String::from_utf8(parsim().args(arguments).args(machine).args(start).output().expect("it runs").stdout);
    let words = words.expect("words are text");
    assert!(words.contains("us longer") && !words.contains("inf"), "{words}");
}

#[test]
fn questions_without_an_answer_are_rejected() {
    let said = |arguments: &[&str]| {
        let output = parsim().args(arguments).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let shift = "scenarios/ring-shift.ron";
    let (code, words) = said(&["tune", shift, "--each", "q"]);
    assert!(code == Some(2) && words.contains("there is no such axis; the axes are: "), "{words}");
    let (code, words) = said(&["tune", shift, "--margin", "-1"]);
    assert!(code == Some(2) && words.contains("give a share of at least 0"), "{words}");
    let loggops = "scenarios/loggops-collectives.ron";
    let (code, words) = said(&["tune", loggops, "--calibration", "validation/cs-rr-281/constants.ron"]);
    assert!(code == Some(2) && words.contains("none of its fields"), "{words}");
    // One candidate that cannot be run hinders no other one; where none can be, there is no answer.
    let halving =
        ["tune", "scenarios/collective-algorithms.ron", "--set", "ranks=48", "--set", "program.bytes=8 B", "--over"];
    let (code, words) = said(&[&halving[..], &["algorithm=Ring,BineReduceScatterAllGather"]].concat());
    assert_eq!(code, Some(0), "{words}");
    assert!(repository(shift).exists());
}
