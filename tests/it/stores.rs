//! Stores of results: nothing is lost, nothing doubled, and no byte of a sweep depends on where its results come from.

use crate::documentation::Desk;
use crate::parsim;
use assert_cmd::Command;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{self, Stdio};
use std::thread::sleep;
use std::time::Duration;

const RING: &str = "scenarios/ring-shift.ron";
const LIMIT: &str = "limits=Limits(events: 2000)";

fn command(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = parsim();
    command.current_dir(desk.path()).env("NO_COLOR", "1").args(arguments);
    command
}

/// The exit code of a call, and what it prints on stdout and stderr.
pub fn called(desk: &Desk, arguments: &[&str]) -> (i32, String, String) {
    let output = command(desk, arguments).output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("the output is text");
    (output.status.code().expect("nobody kills it"), text(output.stdout), text(output.stderr))
}

/// The last line on stderr of a call with this exit code.
pub fn last_words(desk: &Desk, code: i32, arguments: &[&str]) -> String {
    let (exit, _, words) = called(desk, arguments);
    assert_eq!(exit, code, "{arguments:?}: {words}");
    words.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_sweep_runs_what_its_store_lacks() {
    let desk = Desk::new();
    let with = |more: &[&str]| last_words(&desk, 0, &[&["sweep", RING, "--store", "kept"], more].concat());
    assert_eq!(with(&["--over", "p=2,4"]), "parsim: 2 run, 0 found, 0 failed");
    assert_eq!(with(&["--over", "p=2,4,8"]), "parsim: 1 run, 2 found, 0 failed");
    // All three are compared with the one run on one rank, which the first of them makes.
    let sweep =
        ["sweep", "scenarios/gauss-jordan-neighbour.ron", "--store", "kept", "--over", "n=32", "--over", "p=2,4,8"];
    assert_eq!(last_words(&desk, 0, &sweep), "parsim: 3 run, 0 found, 0 failed");
    let compared = [&sweep[..], &["--set", "compare=[OneRank]", "--jobs", "1"]].concat();
    assert_eq!(last_words(&desk, 0, &compared), "parsim: 1 run, 2 found, 0 failed");
    assert_eq!(last_words(&desk, 0, &compared), "parsim: 0 run, 3 found, 0 failed");
    assert_eq!(with(&["--over", "p=2,4", "--set", "repeat=2"]), "parsim: 2 run, 0 found, 0 failed");
    let plain = called(&desk, &["run", RING, "--set", "repeat=2", "--format", "jsonl"]);
    let kept = ["run", RING, "--set", "repeat=2", "--format", "jsonl", "--store", "kept"];
    assert_eq!([called(&desk, &kept), called(&desk, &kept)], [plain.clone(), plain]);
}

/// The names of the segments of a store.
fn segments(desk: &Desk, store: &str) -> Vec<String> {
    let entries = fs::read_dir(desk.path().join(store)).expect("there is a store");
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().expect("a name is text")).collect();
    names.sort();
    names
}

/// A command finds again what it has run, and says the same.
#[test]
fn every_command_that_runs_cases_reads_its_store() {
    let desk = Desk::new();
    let commands: [&[&str]; 7] = [
        &["run", RING],
        &["bottleneck", "scenarios/gauss-jordan-neighbour.ron", "--over", "n=32", "--over", "p=1,4"],
        &["fit", "scenarios/ping.ron", "--model", "hockney", "--value", "message_s", "--over", "hops=1"],
        &["laws", "--data", "scenarios/gauss-jordan-neighbour.ron", "--over", "n=32", "--over", "p=1,4"],
        &["laws", "held-efficiency", "scenarios/floyd.ron", "--efficiency", "0.5", "--p", "2,4"],
        &["saturation", "scenarios/traffic-64.ron", "--over", "topology=mesh2d", "--over", "pattern=Tornado"],
        &["validate", "collectives"],
    ];
    for (number, command) in commands.iter().enumerate() {
        let store = format!("kept-{number}");
        let kept = [command, &["--store", store.as_str()][..]].concat();
        let plain = called(&desk, command);
        assert_eq!((plain.0, called(&desk, &kept)), (0, plain.clone()), "{command:?}");
        let written = segments(&desk, &store);
        assert_eq!(called(&desk, &kept), plain);
        assert!(!written.is_empty() && written == segments(&desk, &store), "{command:?}");
    }
    let report = ["report", RING, "--over", "p=2,4", "--store", "kept-0", "-o"];
    let page = |file| fs::read_to_string(desk.path().join(file)).unwrap();
    last_words(&desk, 0, &[&report[..], &["first.html"]].concat());
    let written = segments(&desk, "kept-0");
    last_words(&desk, 0, &[&report[..], &["second.html"]].concat());
    assert_eq!((page("first.html"), written), (page("second.html"), segments(&desk, "kept-0")));
}

/// Placements refer to levels by their names, so that exchanged names are another case.
#[test]
fn a_store_tells_levels_with_exchanged_names_apart() {
    let desk = Desk::new();
    let makespan = |[inner, outer]: [&str; 2], store: &[&str]| {
        let level = |name: &str, bandwidth: &str| {
            format!(
                "Level(name: \"{name}\", members: 2, memory: Shared(bandwidth: \"{bandwidth}\", \
                 discipline: FirstComeFirstServed))"
            )
        };
        let levels = [level(inner, "10 GB/s"), level(outer, "1 GB/s"), level("node", "1 GB/s")].join(", ");
        let scenario = format!(
            "Scenario(machine: Machine(name: \"m\", nodes: Node(processor: FlopRate(\"10 Gflop/s\"), router: Hardware, \
             memory: \"1 GiB\", levels: [{levels}], sending: Sending(per_packet: \"1 us\", overlap: true), \
             receiving: Receiving(per_packet: \"1 us\")), network: Network(topology: Complete(nodes: 2), \
             routing: DimensionOrder, switching: StoreAndForward(packet: \"64 KiB\"), \
             links: Link(per_byte: \"1 GB/s\")), sends: UntilDelivered), ranks: 8, \
             placement: Cyclic(ranks_per_node: 8, over: \"tile\"), \
             program: RingShift(bytes: \"1 MB\", rounds: 4, order: EvenSendFirst), seed: 1)"
        );
        fs::write(desk.path().join("levels.ron"), scenario).unwrap();
        let (code, out, err) = called(&desk, &[&["run", "levels.ron", "--format", "json"], store].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["makespan_s"].to_string()
    };
    let names = [["tile", "socket"], ["socket", "tile"]];
    let [one, other] = names.map(|names| makespan(names, &[]));
    assert_ne!(one, other);
    assert_eq!(names.map(|names| makespan(names, &["--store", "levels"])), [one, other]);
}

#[test]
fn a_table_has_no_runs_to_keep() {
    let desk = Desk::new();
    desk.write("t.csv", "p,time_s\n1,8\n2,5\n4,3\n");
    for more in [["--store", "s"], ["--over", "p=1"], ["--set", "ranks=2"], ["--seed", "2"], ["--jobs", "1"]] {
        let words = called(&desk, &[&["laws", "--data", "t.csv"], &more[..]].concat());
        assert!(words.0 == 2 && words.2.contains(": t.csv is a table, for which nothing is run"), "{words:?}");
    }
}

#[test]
fn failures_are_kept_until_they_are_retried() {
    let desk = Desk::new();
    let sweep = ["sweep", RING, "--set", LIMIT, "--format", "jsonl"];
    let kept = [&sweep[..], &["--store", "kept"]].concat();
    let undisturbed = called(&desk, &sweep);
    assert_eq!(last_words(&desk, 1, &kept), "parsim: 2 run, 0 found, 2 failed");
    let (code, rows, words) = called(&desk, &kept);
    assert_eq!((code, &rows), (undisturbed.0, &undisturbed.1));
    assert_eq!(words, format!("{}parsim: 0 run, 2 found, 2 failed\n", undisturbed.2));
    assert_eq!(last_words(&desk, 1, &[&kept[..], &["--retry-failed"]].concat()), "parsim: 0 run, 2 found, 2 failed");
    let (_, plan, _) =
        called(&desk, &["plan", RING, "--set", LIMIT, "--store", "kept", "--over", "p=2,8,3", "--format", "csv"]);
    let states: Vec<_> = plan.lines().skip(1).filter_map(|row| row.split(',').nth(1)).collect();
    assert_eq!(states, ["found", "failed", "missing"]);
    let counted = called(&desk, &["plan", RING, "--set", LIMIT, "--store", "kept", "--over", "p=2,8,3"]).1;
    assert!(counted.ends_with("\n3 cases: 1 found, 1 failed, 1 missing\n"), "{counted}");
    let merge = ["merge", RING, "--set", LIMIT, "--store", "kept", "--format", "jsonl"];
    assert!(last_words(&desk, 1, &merge).starts_with("parsim: 0 missing, 2 failed: "));
    assert_eq!(called(&desk, &[&merge[..], &["--partial"]].concat()).1, undisturbed.1);
}

#[test]
fn shards_are_merged_to_the_bytes_of_a_sweep() {
    let desk = Desk::new();
    let shard = |shard| called(&desk, &["sweep", RING, "--store", "kept", "--shard", shard, "--format", "jsonl"]).1;
    let first = shard("1/2");
    let merge = |more: &[&str]| called(&desk, &[&["merge", RING, "--store", "kept"], more].concat());
    let (code, rows, words) = merge(&["-o", "all.jsonl"]);
    assert_eq!((code, rows.as_str(), words.lines().count()), (1, "", 3));
    assert!(words.starts_with("parsim: missing ") && words.contains(": p = "), "{words}");
    assert!(!desk.path().join("all.jsonl").exists());
    let (code, rows, _) = merge(&["--partial", "--format", "jsonl"]);
    assert_eq!((code, rows), (0, first.clone()));
    let second = shard("2/2");
    assert_eq!((first.lines().count(), second.lines().count()), (2, 2));
    for format in ["jsonl", "json", "csv", "text"] {
        let sweep = called(&desk, &["sweep", RING, "--format", format]);
        assert_eq!(merge(&["--format", format]), sweep, "{format}");
    }
}

/// Of a million missing cases the first ones are named.
#[test]
fn an_empty_store_is_told_in_a_few_lines() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("no results")).unwrap();
    let cases = [RING, "--over", "p=2", "--over", "seed=1..2000"];
    let merge = |store, more: &[&str]| called(&desk, &[&["merge"], &cases[..], &["--store", store], more].concat());
    let (code, rows, words) = merge("no results", &[]);
    assert_eq!((code, rows.as_str(), words.lines().count()), (1, "", 12), "{words}");
    assert!(words.contains("seed = 10\n") && words.contains("parsim: … and 1990 more, which `parsim plan "), "{words}");
    let again = "parsim sweep scenarios/ring-shift.ron --over p=2 --over seed=1..2000 --store 'no results'";
    assert!(words.contains(&format!("parsim: 2000 missing, 0 failed: `{again}` runs")), "{words}");
    assert_eq!(merge("no results", &["--partial", "--format", "jsonl"]).1, "");
    let shard = [&["sweep"], &cases[..], &["--store", "kept", "--shard", "2/3", "--format", "jsonl"]].concat();
    let shard = called(&desk, &shard).1;
    assert_eq!(merge("kept", &["--partial", "--format", "jsonl"]).1, shard);
    assert_eq!(shard.lines().count(), 667);
}

#[test]
fn more_repetitions_run_only_what_is_new() {
    let desk = Desk::new();
    let sweep = |store: &[&str], repeat: &str| {
        let cases = [
            "--over",
            "p=4",
            "--over",
            "noise=Uniform(0.2)",
            "--over",
            "speed=1.0,0.5",
            "--set",
            "program.n=16",
            "--set",
            repeat,
        ];
        called(&desk, &[&["sweep", "scenarios/straggler.ron"], &cases[..], &["--format", "csv"], store].concat())
    };
    let kept = |repeat| {
        let (code, rows, words) = sweep(&["--store", "kept"], repeat);
        assert_eq!((code, &rows), (0, &sweep(&[], repeat).1));
        words
    };
    assert_eq!(kept("repeat=1"), "parsim: 2 run, 0 found, 0 failed\n");
    let until = "repeat=Until(relative_half_width: 0.5, at_least: 4, at_most: 6)";
    for (repeat, [cases_run, cases_found, made, found]) in
        [("repeat=3", [2, 0, 4, 2]), ("repeat=2", [0, 2, 0, 4]), (until, [2, 0, 2, 6])]
    {
        let words = kept(repeat);
        assert!(
            words.contains(&format!("parsim: note: {made} simulations were run, {found} found, ")),
            "{repeat}: {words}"
        );
        assert!(words.ends_with(&format!("parsim: {cases_run} run, {cases_found} found, 0 failed\n")), "{words}");
    }
}

/// Rows of results that are found are made without their cases: whatever varies, they are those of the runs.
#[test]
fn what_is_found_is_told_as_what_is_run() {
    let desk = Desk::new();
    let sweeps: [&[&str]; 12] = [
        &[RING, "--over", "program.bytes=1 kB,2 kB", "--over", "p=2,4", "--over", "seed=1..3"],
        &[
            RING,
            "--over",
            "machine.network.links.per_byte=1 us/B,2 us/B",
            "--over",
            "machine.nodes.time_slice=0 s,1 ms",
        ],
        &[RING, "--over", "placement=RowMajor,Random", "--over", "seed=1,2", "--set", "repeat=2"],
        &[RING, "--over", "p=2,4", "--set", "compare=[OneRank]"],
        &[
            "scenarios/straggler.ron",
            "--over",
            "noise=Quiet,Uniform(0.2)",
            "--over",
            "speed=1.0",
            "--over",
            "p=1,4",
            "--over",
            "seed=1,5",
            "--set",
            "program.n=16",
            "--set",
            "repeat=3",
            "--set",
            "compare=[OneRank]",
        ],
        &[RING, "--over", "p=2,4,8", "--over", "program.order=SendFirst,EvenSendFirst", "--set", LIMIT],
        &["scenarios/gauss-jordan-neighbour.ron", "--over", "n=128", "--over", "p=1,4", "--over", "seed=1,2"],
        &[
            "scenarios/traffic-64.ron",
            "--over",
            "topology=ring,mesh2d",
            "--over",
            "offered_flits_per_node_cycle=0.1,0.2",
            "--over",
            "seed=1,2",
        ],
        &["scenarios/cluster-hpl.ron", "--over", "n=1000,2000", "--over", "seed=1,2"],
        &["scenarios/real-dot-product.ron", "--over", "seed=1,2"],
        &["scenarios/ping.ron", "--over", "bytes=1B,100B", "--over", "hops=1,2", "--over", "seed=1,2"],
        &[
            "scenarios/straggler.ron",
            "--over",
            "noise=Uniform(0.2)",
            "--over",
            "p=4",
            "--set",
            "program.n=16",
            "--set",
            "repeat=Until(relative_half_width: 0.02, at_least: 4, at_most: 20)",
        ],
    ];
    for (number, cases) in sweeps.iter().enumerate() {
        let store = format!("kept-{number}");
        let with = |command: &[&str]| called(&desk, &[command, cases, &["--format", "csv"]].concat());
        let plain = with(&["sweep"]);
        let (run, found) = (with(&["sweep", "--store", &store]), with(&["sweep", "--store", &store]));
        assert!(run.1 == plain.1 && found.1 == plain.1, "{cases:?}: {} {}", plain.2, found.2);
        let words =
            |text: &str| text.lines().filter(|line| !line.contains(" found, ")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!((words(&run.2), words(&found.2)), (words(&plain.2), words(&plain.2)), "{cases:?}");
        assert!(found.2.contains("parsim: 0 run, "), "{cases:?}: {}", found.2);
        let merged = with(&["merge", "--partial", "--store", &store]);
        assert_eq!((merged.0, &merged.1), (0, &plain.1), "{cases:?}: {}", merged.2);
        let planned = with(&["plan", "--store", &store]).1;
        assert!(!planned.contains("missing"), "{cases:?}: {planned}");
    }
}

/// A damaged record is named, its case is listed, run again and merged, and all others are found.
#[test]
fn a_damaged_record_is_run_again() {
    let desk = Desk::new();
    let cases = [RING, "--over", "p=2,4,8", "--format", "jsonl"];
    let with = |command: &[&str]| called(&desk, &[command, &cases, &["--store", "kept"]].concat());
    let undisturbed = with(&["sweep", "--jobs", "1"]).1;
    let file = desk.path().join("kept").join(&segments(&desk, "kept")[0]);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (code, rows, words) = with(&["merge"]);
    assert_eq!((code, rows.as_str()), (1, ""), "{words}");
    assert!(words.contains(".segment: the record at byte ") && words.contains(" is damaged: "), "{words}");
    assert!(words.contains("parsim: missing ") && words.contains("1 missing, 0 failed: "), "{words}");
    let (code, rows, words) = with(&["sweep"]);
    assert_eq!((code, &rows), (0, &undisturbed), "{words}");
    assert!(words.contains(" is damaged: ") && words.ends_with("parsim: 1 run, 2 found, 0 failed\n"), "{words}");
    assert_eq!(with(&["merge"]).1, undisturbed);
}

/// A sweep that may write files of so few bytes ends with 1, and has lost nothing of what it said it had.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let desk = Desk::new();
    let over = ["--over", "p=2,4,8,16", "--over", "seed=1..40", "--format", "jsonl"];
    let sweep = [&["sweep", RING], &over[..]].concat();
    let kept = [&sweep[..], &["--store", "kept"]].concat();
    // Blocks have 512 bytes; the signal would kill the process before the call fails.
    let limited = "trap '' XFSZ; ulimit -f 60; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    let shell = shell.current_dir(desk.path()).args(["-c", limited]).arg(assert_cmd::cargo::cargo_bin!("parsim"));
    let full = shell.args(&kept).output().expect("a shell starts");
    let words = String::from_utf8_lossy(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{words}");
    assert!(words.contains("the store cannot be written: "), "{words}");
    let (plain, again) = (called(&desk, &sweep), called(&desk, &kept));
    assert_eq!((again.0, &again.1), (0, &plain.1));
    let found =
        again.2.lines().last().and_then(|line| line.split(' ').nth(3)).and_then(|found| found.parse::<u32>().ok());
    assert!(found.is_some_and(|found| found > 10 && found < 160), "{}", again.2);
    assert!(plain.1.as_bytes().starts_with(&full.stdout), "rows before the end are those of the sweep");
}

#[cfg(unix)]
#[test]
fn an_interrupt_says_how_to_go_on() {
    let desk = Desk::new();
    let long = ["sweep", "scenarios/gauss-jordan-neighbour.ron", "--over", "seed=1..5000", "--store", "kept"];
    let mut sweep = process::Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
    sweep.current_dir(desk.path()).args(long).stdout(Stdio::null()).stderr(Stdio::piped());
    let sweep = sweep.spawn().expect("it starts");
    while !desk.path().join("kept").is_dir() || segments(&desk, "kept").is_empty() {
        sleep(Duration::from_millis(5));
    }
    let interrupted = process::Command::new("kill").args(["-INT", &sweep.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let ended = sweep.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{words}");
    assert!(words.contains("interrupted: kept has the finished cases; the same command runs the others"), "{words}");
}

/// Until the mean is known well: as many runs in every shard, by any number of threads, and found again.
#[test]
fn adaptive_repetition_does_not_depend_on_who_runs_it() {
    let desk = Desk::new();
    let noisy = [
        "scenarios/straggler.ron",
        "--over",
        "noise=Uniform(0.1),Uniform(0.4)",
        "--over",
        "p=4",
        "--set",
        "program.n=16",
    ];
    let until = ["--set", "repeat=Until(relative_half_width: 0.02, at_least: 4, at_most: 60)", "--format", "jsonl"];
    let cases = [&noisy[..], &until].concat();
    let with = |command: &[&str], more: &[&str]| called(&desk, &[command, &cases, more].concat());
    let one = with(&["sweep"], &["--jobs", "1"]);
    assert_eq!(one.0, 0, "{}", one.2);
    assert_eq!(with(&["sweep"], &["--jobs", "3"]), one);
    let counts: Vec<u64> = one
        .1
        .lines()
        .map(|row| row.split("\"repeats\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap())
        .collect();
    assert!(counts.iter().all(|count| (4..=60).contains(count)) && counts.iter().any(|count| *count > 4), "{counts:?}");
    for shard in ["1/2", "2/2"] {
        assert_eq!(with(&["sweep"], &["--store", "kept", "--shard", shard]).0, 0);
    }
    assert_eq!(with(&["merge"], &["--store", "kept"]).1, one.1);
    for wrong in [
        "Until(relative_half_width: 0, at_least: 2, at_most: 3)",
        "Until(relative_half_width: 1, at_least: 1, at_most: 3)",
        "Until(relative_half_width: 1, at_least: 4, at_most: 3)",
        "Unti(relative_half_width: 1, at_least: 2, at_most: 3)",
        "Until(relative_half_width: 1, at_least: 2)",
        "Until",
        "-1",
        "1.5",
    ] {
        let (code, _, words) = called(&desk, &["run", RING, "--set", &format!("repeat={wrong}")]);
        assert!(code == 2 && words.contains("repeat"), "{wrong}: {words}");
    }
}

/// A comparison shows what a change did: the noise that both runs of a seed have is no part of the interval.
#[test]
fn two_stores_are_compared_case_by_case() {
    let desk = Desk::new();
    let cases = [
        "scenarios/straggler.ron",
        "--over",
        "noise=Uniform(0.2),Uniform(0.4)",
        "--over",
        "speed=1.0",
        "--over",
        "p=4",
        "--set",
        "program.n=16",
        "--set",
        "repeat=3",
    ];
    let faster = ["--set", "machine.network.links.per_byte=1 us/B"];
    let sweep = |store: &str, more: &[&str]| {
        last_words(&desk, 0, &[&["sweep"], &cases[..], more, &["--store", store]].concat())
    };
    sweep("before", &[]);
    let compare = ["compare", "before", "after", "--scenario"];
    let compare = [&compare, &cases[..], &["--set-second", faster[1], "--format", "jsonl"]].concat();
    assert_eq!(called(&desk, &compare).0, 2);
    fs::create_dir(desk.path().join("after")).unwrap();
    let (code, _, words) = called(&desk, &compare);
    assert!(code == 1 && words.contains("noise = Uniform(0.2), p = 4: missing in the second store"), "{words}");
    sweep("after", &faster);
    let (code, rows, words) = called(&desk, &compare);
    assert_eq!(code, 0, "{words}");
    let rows: Vec<serde_json::Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!((rows.len(), &rows[2]["cases"]), (3, &serde_json::json!(2)));
    for row in &rows[..2] {
        let number = |key: &str| row[key].as_f64().unwrap();
        let difference = number("b_makespan_s") - number("a_makespan_s");
        assert!((number("difference_makespan_s") - difference).abs() < 1e-9 && row["a_id"] != row["b_id"], "{row}");
    }
    let text = called(&desk, &compare[..compare.len() - 2]).1;
    let percent =
        format!("the second takes {:.3} % of the time of the first", 100.0 * rows[2]["ratio"].as_f64().unwrap());
    assert!(text.contains(&percent) && text.ends_with("geometric mean of 2 cases\n"), "{text}");
    let (code, _, words) = called(&desk, &["compare", "before", "after"]);
    assert!(code == 2 && words.contains("name the scenario of its results with --scenario"), "{words}");
}

/// Parquet is a feature of the build; without it nothing is run, and the way to it is said.
#[test]
fn parquet_is_written_where_it_is_built_in() {
    let desk = Desk::new();
    last_words(&desk, 0, &["sweep", RING, "--store", "kept"]);
    for more in [&["--format", "parquet", "-o", "all"][..], &["-o", "all.parquet"]] {
        let (code, _, words) = called(&desk, &[&["merge", RING, "--store", "kept"], more].concat());
        if cfg!(feature = "parquet") {
            let file = fs::read(desk.path().join(more[more.len() - 1])).unwrap();
            assert!(code == 0 && file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{words}");
        } else {
            assert!(code == 2 && words.contains("--features parquet"), "{words}");
            assert!(!desk.path().join(more[more.len() - 1]).exists());
        }
    }
}

#[test]
fn what_is_no_store_is_told() {
    let desk = Desk::new();
    desk.write("file", "");
    let merge = |store| called(&desk, &["merge", RING, "--store", store]);
    assert_eq!(merge("nowhere").0, 2);
    let (code, _, words) = called(&desk, &["sweep", RING, "--store", "file"]);
    assert!(code == 1 && words.contains("the store cannot be written"), "{words}");
    fs::create_dir(desk.path().join("other")).unwrap();
    desk.write("other/x.segment", "a letter to somebody");
    assert!(merge("other").2.contains("x.segment: this is not a segment"));
    assert_eq!(
        last_words(&desk, 2, &["run", RING, "--store", "s", "--trace", "t"]),
        "For more information, try '--help'."
    );
}

/// Another process of a sweep, which runs alone.
fn worker(folder: &Path, arguments: &[&str]) -> process::Child {
    let mut worker = process::Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
    worker.current_dir(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    worker.spawn().expect("a worker starts")
}

/// Kills workers at many moments, starts them again until all shards are done, and merges: as many kills as
/// `PARSIM_KILLS` says, or 20 (`PARSIM_KILLS=1000 cargo test --test it -- stores::killed`).
#[test]
fn killed_workers_lose_nothing() {
    let most = env::var("PARSIM_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let seeds: Vec<_> = (1..=150).map(|seed: u32| seed.to_string()).collect();
    let over = format!("seed={}", seeds.join(","));
    let cases = ["scenarios/gauss-jordan-neighbour.ron", "--over", &over, "--over", "n=32", "--over", "p=4"];
    let desk = Desk::new();
    let undisturbed = called(&desk, &[&["sweep"], &cases[..], &["--format", "jsonl"]].concat()).1;
    let (mut kills, mut moment) = (0u64, 0u64);
    for round in 0.. {
        let store = format!("kept-{round}");
        let sweep = [&["sweep"], &cases[..], &["--store", &store, "--jobs", "2"]].concat();
        kills += until_done(desk.path(), &sweep, &mut moment);
        let (code, merged, words) =
            called(&desk, &[&["merge"], &cases[..], &["--store", &store, "--format", "jsonl"]].concat());
        assert_eq!(code, 0, "{words}");
        assert!(merged == undisturbed, "the rows differ");
        assert!(last_words(&desk, 0, &sweep).ends_with(" 0 run, 150 found, 0 failed"));
        if kills >= most {
            break;
        }
    }
}

/// Runs both shards at once, and kills and restarts them until both are done, each time after another moment; the number of kills.
/// The moments go on from round to round, so that some come before the end however fast a computer is.
fn until_done(folder: &Path, sweep: &[&str], moment: &mut u64) -> u64 {
    let mut open = vec!["1/2", "2/2"];
    let mut kills = 0;
    while !open.is_empty() {
        let workers: Vec<_> =
            open.iter().map(|shard| (*shard, worker(folder, &[sweep, &["--shard", shard]].concat()))).collect();
        // Moments that do not repeat: after the start, among the cases, towards the end.
        sleep(Duration::from_micros(5_000 + *moment * 7_919 % 60_000));
        *moment += 1;
        for (shard, mut worker) in workers {
            worker.kill().expect("a worker can be killed");
            let is_done = worker.wait().expect("a worker ends").success();
            open.retain(|open| !is_done || *open != shard);
            kills += u64::from(!is_done);
        }
    }
    kills
}
