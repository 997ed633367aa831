//! Calls that change a scenario, and the way of their output to its reader.

use super::{Row, answers, called, formatted, printed, rows, values};
use crate::documentation::Desk;
use parsim::cli::CommandLine;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const NEIGHBOUR: &str = "scenarios/gauss-jordan-neighbour.ron";

/// A scenario file, what is added to a call of `sweep` with it, and what its rows have under a key.
const CHANGES: &[(&str, &[&str], &str, &str)] = &[
    ("scenarios/ring-shift.ron", &["--over", "p=2,4"], "p", "[2,4]"),
    ("scenarios/ring-shift.ron", &["--over", "p=4,2"], "p", "[4,2]"),
    (NEIGHBOUR, &["--over", "n=8,16", "--over", "p=1,2"], "n", "[8,8,16,16]"),
    (NEIGHBOUR, &["--over", "n=8,16", "--over", "p=1,2"], "p", "[1,2,1,2]"),
    ("scenarios/ping.ron", &["--over", "bytes=100,200", "--over", "hops=1"], "bytes", "[100,200]"),
    ("scenarios/ping.ron", &["--over", "bytes=100B,200", "--over", "hops=1"], "bytes", "[100,200]"),
    ("scenarios/ring-shift.ron", &["--over", "p=2", "--over", "program.rounds=1,2"], "program.rounds", "[1,2]"),
    (
        "scenarios/ring-shift.ron",
        &["--over", "p=2", "--over", "machine.sends=Buffered,UntilDelivered"],
        "machine.sends",
        "[\"Buffered\",\"UntilDelivered\"]",
    ),
    ("scenarios/ring-shift.ron", &["--over", "p=2", "--over", "seed=3,4"], "seed", "[3,4]"),
    ("scenarios/ring-shift.ron", &["--over", "p=2,4", "--set", "program.rounds=3"], "messages", "[6,12]"),
];

#[test]
fn axes_and_settings_change_the_cases() {
    let desk = Desk::new();
    for (scenario, changes, key, expected) in CHANGES {
        let rows = rows(&desk, &[&["sweep", scenario][..], changes].concat());
        let expected: Vec<Value> = serde_json::from_str(expected).expect("a list of values");
        assert_eq!(values(&rows, key), expected.iter().collect::<Vec<_>>(), "{scenario} {changes:?}");
    }
}

#[test]
fn swept_values_come_first_under_their_short_names() {
    let desk = Desk::new();
    let rows =
        rows(&desk, &["sweep", NEIGHBOUR, "--over", "p=1,2", "--over", "n=8", "--over", "program.barrier=Never"]);
    let first: Vec<_> = rows[0].keys().take(3).map(String::as_str).collect();
    assert_eq!(first, ["n", "p", "program.barrier"], "declared axes keep their order, others follow");
    assert_eq!(rows[0].keys().nth(3).map(String::as_str), Some("makespan_s"));
}

#[test]
fn settings_reach_into_the_machine_file() {
    let desk = Desk::new();
    let makespan = |rate: &str| {
        let setting = format!("machine.network.links.per_byte=\"{rate}\"");
        let row: Vec<Row> = rows(&desk, &["run", "scenarios/ping.ron", "--set", "compare=[]", "--set", &setting]);
        row[0]["makespan_s"].as_f64().expect("a time")
    };
    assert!(makespan("2 us/B") > makespan("1 us/B"));
}

#[test]
fn a_seed_replaces_the_seed_and_the_axis_of_seeds() {
    let desk = Desk::new();
    let run = rows(&desk, &["run", "scenarios/ring-shift.ron", "--seed", "7"]);
    assert_eq!(run[0]["meta"]["seed"], json!(7));
    let ising = ["sweep", "scenarios/ising-time-warp.ron", "--over", "n=10", "--set", "program.attempts=100"];
    let swept = rows(&desk, &[&ising[..], &["--seed", "7"]].concat());
    assert!(values(&swept, "seed").iter().all(|seed| **seed == json!(7)));
    let repeated =
        ["run", "scenarios/straggler.ron", "--set", "machine.nodes.noise=Uniform(0.1)", "--set", "program.n=16"];
    let makespan = |seed| rows(&desk, &[&repeated[..], &["--seed", seed]].concat())[0]["makespan_s"].clone();
    assert_eq!(makespan("3"), makespan("3"));
    assert_ne!(makespan("3"), makespan("4"));
}

#[test]
fn a_run_plays_the_base_values_of_a_sweep() {
    let desk = Desk::new();
    let run = rows(&desk, &["run", "scenarios/ring-shift.ron"]);
    let swept = rows(&desk, &["sweep", "scenarios/ring-shift.ron", "--over", "p=16"]);
    for key in ["p", "makespan_s", "events", "meta"] {
        assert_eq!(run[0][key], swept[0][key], "{key}");
    }
}

/// A call of every command that has `--jobs`, without the option.
#[test]
fn the_number_of_jobs_changes_no_byte_of_any_command() {
    let desk = answers::desk();
    let commands = <CommandLine as clap::CommandFactory>::command();
    let has_jobs = |name: &str| {
        let command = commands.find_subcommand(name).expect("a command");
        command.get_arguments().any(|argument| argument.get_long() == Some("jobs"))
    };
    // These run something for a scenario in the place of a table alone.
    let reads_tables = |name: &str| ["laws", "fit"].contains(&name);
    let runs_cases = |name: &str| has_jobs(name) && !reads_tables(name);
    let mut seen = 0;
    for answer in answers::ANSWERS.iter().filter(|answer| runs_cases(answer.arguments[0])) {
        let with = |jobs| formatted(&desk, &[answer.arguments, &["--jobs", jobs]].concat(), "csv");
        assert_eq!(with("1"), with("4"), "{:?}", answer.arguments);
        seen += 1;
    }
    assert!(seen >= 4, "{seen} commands have --jobs");
}

#[test]
fn a_resolved_scenario_is_the_same_scenario() {
    let desk = Desk::new();
    // Measurements keep their paths, which are relative to the folder of the scenario.
    std::fs::create_dir(desk.path().join("copies")).expect("a folder can be made");
    let copy = "copies/resolved.ron";
    for scenario in ["ring-shift", "gauss-jordan-neighbour", "ping", "master-worker", "traffic-64"] {
        let file = format!("scenarios/{scenario}.ron");
        let resolved = printed(&desk, &["run", &file, "--dump-config"]);
        desk.write(copy, &resolved);
        assert_eq!(printed(&desk, &["run", copy, "--dump-config"]), resolved, "{scenario}");
        printed(&desk, &["check", copy]);
        if ["ring-shift", "ping", "master-worker"].contains(&scenario) {
            let (again, row) = (&rows(&desk, &["run", copy])[0], &rows(&desk, &["run", &file])[0]);
            let results =
                |row: &Row| row.clone().into_iter().skip_while(|(key, _)| key != "makespan_s").collect::<Row>();
            assert_eq!(results(again), results(row), "{scenario}");
        }
    }
    let changed = printed(&desk, &["run", NEIGHBOUR, "--set", "program.n=24", "--dump-config"]);
    assert!(changed.contains("n: 24"), "settings are resolved, too");
}

#[test]
fn a_check_counts_the_cases_and_estimates_what_they_cost() {
    let desk = Desk::new();
    let said = printed(&desk, &["check", "scenarios/ring-shift.ron"]);
    assert!(said.contains("4 cases") && said.contains("8e3 events") && said.contains("MB"), "{said}");
}

/// More rows than a pipe holds.
const LONG_SWEEP: [&str; 10] = [
    "sweep",
    "scenarios/ping.ron",
    "--over",
    "bytes=1",
    "--over",
    "hops=1",
    "--over",
    "seed=1..400",
    "--format",
    "jsonl",
];

/// Whoever reads the first line only is served quietly, and gets all files.
#[test]
fn a_reader_who_leaves_early_hears_nothing_and_loses_no_file() {
    let desk = Desk::new();
    let with_files = [&LONG_SWEEP[..], &["--plot", "long.svg", "--store", "runs"]].concat();
    for arguments in [&["schema"][..], &LONG_SWEEP, &["check", "scenarios/ping.ron"], &with_files] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
        command.args(arguments).current_dir(desk.path()).env_remove("RUST_LOG");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("parsim can be called");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
        let output = child.wait_with_output().expect("parsim ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_quiet = said.is_empty() || said.contains("400 run, 0 found, 0 failed");
        assert!(!first.is_empty() && output.status.success() && is_quiet, "{arguments:?}: {said}");
    }
    assert!(desk.path().join("long.svg").exists());
    let again = called(&desk, &[&LONG_SWEEP[..], &["--store", "runs"]].concat()).assert().success();
    let said = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(said.contains("0 run, 400 found, 0 failed"), "{said}");
}

/// The exit code of a validation is its verdict on all cases, also for a reader of the first line only.
#[test]
fn a_verdict_does_not_depend_on_its_reader() {
    let desk = Desk::new();
    let points = (1..20).flat_map(|bytes| (1..20).map(move |hops| format!("{bytes},{hops},1.0\n")));
    let measured = format!("bytes,hops,measured_s\n{}", points.collect::<String>());
    std::fs::write(desk.path().join("data.csv"), measured).expect("it can be written");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
    command.args(["validate", "--scenario", "scenarios/ping.ron", "--data", "data.csv", "--max-percent", "1"]);
    command.args(["--format", "jsonl"]).current_dir(desk.path()).env_remove("RUST_LOG");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("parsim can be called");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    let output = child.wait_with_output().expect("parsim ends");
    assert!(!first.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_story_of_the_tool_goes_to_stderr() {
    let desk = Desk::new();
    let quiet = printed(&desk, &["run", "scenarios/ring-shift.ron", "--format", "jsonl"]);
    for options in [&["-v"][..], &["-vv", "--log-format", "json"]] {
        let arguments = [&["run", "scenarios/ring-shift.ron", "--format", "jsonl"][..], options].concat();
        let told = called(&desk, &arguments).assert().success().stdout(quiet.clone());
        assert!(!told.get_output().stderr.is_empty(), "{options:?}");
    }
}
