//! The commands with their options, and the exit codes.

use super::{answers, called};
use crate::documentation::Desk;
use clap::CommandFactory;
use parsim::cli::CommandLine;
use std::collections::BTreeSet;

/// The options of every command; those of a law are below its name.
const OPTIONS: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "set",
            "seed",
            "format",
            "dump-config",
            "heat-map",
            "trace",
            "transfers",
            "work",
            "histogram",
            "published",
            "sources",
            "accounts",
            "calibration",
            "interval",
            "store",
            "retry-failed",
        ],
    ),
    (
        "sweep",
        &[
            "set",
            "seed",
            "format",
            "dump-config",
            "over",
            "jobs",
            "plot",
            "calibration",
            "interval",
            "store",
            "shard",
            "retry-failed",
        ],
    ),
    ("plan", &["set", "seed", "format", "dump-config", "over", "shard", "store"]),
    ("merge", &["set", "seed", "format", "dump-config", "over", "jobs", "store", "partial"]),
    ("saturation", &["set", "seed", "format", "dump-config", "over", "jobs", "resolution", "plot"]),
    ("bottleneck", &["set", "seed", "format", "dump-config", "over", "jobs", "source", "axis", "plot"]),
    (
        "critical-path",
        &[
            "set",
            "seed",
            "format",
            "events",
            "path",
            "accounts",
            "space-time",
            "from",
            "until",
            "ranks",
            "profile",
            "histogram",
            "animation",
            "perfetto",
        ],
    ),
    ("compare", &["set", "set-first", "set-second", "seed", "format"]),
    (
        "optimum",
        &["set", "seed", "format", "dump-config", "efficiency", "tolerance", "most-cores", "most-nodes", "by", "plot"],
    ),
    (
        "validate",
        &[
            "scenario",
            "data",
            "simulated",
            "reference",
            "models",
            "calibration",
            "mean-percent",
            "max-percent",
            "set",
            "format",
            "jobs",
        ],
    ),
    ("report", &["out", "set", "seed", "over", "jobs", "calibration", "interval"]),
    ("check", &[]),
    (
        "laws",
        &["data", "time", "processors", "sequential-s", "weak", "work", "constant-s", "components", "plot", "format"],
    ),
    (
        "fit",
        &[
            "model",
            "value",
            "residuals",
            "bytes",
            "hops",
            "messages",
            "overhead",
            "break-bytes",
            "parameters",
            "terms",
            "strong-scaling",
            "at",
            "up-to",
            "points",
            "ron",
            "like",
            "extra-p",
            "format",
        ],
    ),
    ("calibrate", &["runs", "seed", "machine-out", "fit-out", "interval", "jobs", "format", "output"]),
    ("identify", &["runs", "seed", "jobs", "format", "output", "plot"]),
    (
        "tune",
        &[
            "set",
            "seed",
            "over",
            "each",
            "calibration",
            "interval",
            "margin",
            "all",
            "plot",
            "store",
            "jobs",
            "format",
            "output",
        ],
    ),
    ("sensitivity", &["set", "seed", "format", "dump-config", "step", "exact", "only", "plot", "of"]),
    (
        "explain",
        &["set", "seed", "format", "dump-config", "from", "to", "number", "longest-wait", "step", "phase", "rank"],
    ),
    ("script", &["engine", "store", "minutes", "blocks", "set", "seed", "over", "jobs", "retry-failed", "output"]),
    ("export", &["set", "seed", "format", "dump-config", "goal", "unit", "time-independent"]),
    ("topology", &["nodes", "scenario", "set", "format", "svg"]),
    ("schema", &["format"]),
    ("completions", &[]),
    ("man", &["out"]),
];

/// Commands that print no rows.
const WORDS: &[&[&str]] = &[
    &["report", "scenarios/ping.ron", "--out", "page.html"],
    &["check", "scenarios/ping.ron", "scenarios/machines/router-network.ron"],
    &["sensitivity", "scenarios/ping.ron"],
    &["calibrate", "validation/cs-rr-281/constants.ron", "--runs", "30", "--machine-out", "calibrated.ron"],
    &["schema", "machine"],
    &["schema", "machine", "--format", "markdown"],
    &["completions", "bash"],
    &["man", "--out", "man1"],
    &["merge", "--help"],
    &["script", "scenarios/ping.ron", "--engine", "slurm", "--store", "kept"],
    &["--help"],
    &["--version"],
];

#[test]
fn every_command_keeps_its_options() {
    let line = CommandLine::command();
    for (name, options) in OPTIONS {
        let command = line.find_subcommand(name).unwrap_or_else(|| panic!("there is no command {name}"));
        let known: BTreeSet<_> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        let gone: Vec<_> = options.iter().filter(|option| !known.contains(**option)).collect();
        assert!(gone.is_empty(), "{name} has lost {gone:?}");
    }
}

#[test]
fn every_command_is_in_the_tables() {
    let answers = answers::ANSWERS.iter().map(|answer| answer.arguments[0]);
    let called: BTreeSet<_> = answers.chain(WORDS.iter().map(|words| words[0])).collect();
    for command in CommandLine::command().get_subcommands() {
        let name = command.get_name();
        assert!(OPTIONS.iter().any(|(known, _)| *known == name), "OPTIONS has no row for {name}");
        assert!(called.contains(name), "neither ANSWERS nor WORDS calls {name}");
    }
}

#[test]
fn words_go_to_stdout_where_they_are_the_answer() {
    let desk = Desk::new();
    for words in WORDS {
        let good = called(&desk, words).assert().success().stderr("");
        let writes_files = matches!(words[0], "report" | "man");
        assert_eq!(good.get_output().stdout.is_empty(), writes_files, "{words:?}");
    }
    for file in ["page.html", "man1/parsim.1", "man1/parsim-run.1"] {
        assert!(desk.path().join(file).metadata().is_ok_and(|file| file.len() > 0), "{file}");
    }
}

/// Calls by their exit code, and a word of what stderr says.
const EXITS: &[(i32, &[&str], &str)] = &[
    (1, &["run", "scenarios/ring-shift.ron", "--set", "program.order=ReceiveFirst"], "wait"),
    (
        1,
        &["run", "scenarios/ring-shift.ron", "--set", "limits=Limits(simulated: \"1 us\", events: 1000)"],
        "limit of 1 us of simulated time",
    ),
    (
        1,
        &["run", "scenarios/ring-shift.ron", "--set", "limits=Limits(simulated: \"1 h\", events: 1000)"],
        "limit of 1000 events",
    ),
    (2, &[], "Usage"),
    (2, &["play"], "play"),
    (2, &["run"], "SCENARIO"),
    (2, &["run", "scenarios/ring-shift.ron", "--fast"], "--fast"),
    (2, &["run", "scenarios/ring-shift.ron", "--format", "xml"], "xml"),
    (2, &["run", "scenarios/nowhere.ron"], "nowhere.ron"),
    (2, &["run", "scenarios/ring-shift.ron", "--set", "program.order=Sideways"], "Sideways"),
    (2, &["run", "scenarios/ring-shift.ron", "--set", "program.ordr=Concurrent"], "ordr"),
    (2, &["run", "scenarios/ring-shift.ron", "--set", "ranks=0"], "rank"),
    (2, &["sweep", "scenarios/ring-shift.ron", "--over", "q=1,2"], "`q`"),
    (2, &["check", "docs/columns.md"], "columns.md"),
    (2, &["validate", "no-such-case"], "no-such-case"),
    (2, &["fit", "nowhere.jsonl", "--model", "hockney"], "nowhere.jsonl"),
    (2, &["laws", "amdahl", "--serial-fraction", "2", "--p", "4"], "2"),
    (2, &["topology", "moebius", "--nodes", "4"], "moebius"),
    (2, &["schema", "nothing"], "nothing"),
];

#[test]
fn failures_have_their_exit_code_and_print_no_data() {
    let desk = Desk::new();
    for (code, arguments, word) in EXITS {
        let output = called(&desk, arguments).output().expect("parsim can be called");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {said}");
        assert!(said.contains(word) && output.stdout.is_empty(), "{arguments:?}: {said}");
    }
}

/// The rows of a validation are its data, whatever it finds.
#[test]
fn a_validation_out_of_tolerance_is_3() {
    let desk = Desk::new();
    let data = "validation/cs-rr-281/table4-neighbour.csv";
    let arguments = ["validate", "--scenario", "scenarios/gauss-jordan-neighbour.ron", "--data", data];
    let judged = |percent| called(&desk, &[&arguments[..], &["--mean-percent", percent]].concat()).output();
    let (wide, narrow) = (judged("50").expect("a call"), judged("0.01").expect("a call"));
    assert_eq!((wide.status.code(), narrow.status.code()), (Some(0), Some(3)));
    assert!(!narrow.stdout.is_empty() && String::from_utf8_lossy(&narrow.stderr).contains("tolerance"));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_1() {
    let desk = Desk::new();
    for arguments in [&["run", "scenarios/ring-shift.ron"][..], &["schema"], &["topology", "ring", "--nodes", "8"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has a full device");
        let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("parsim"))
            .args(arguments)
            .current_dir(desk.path())
            .stdout(full)
            .output()
            .expect("parsim can be called");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("cannot be written"), "{arguments:?}: {said}");
    }
}
