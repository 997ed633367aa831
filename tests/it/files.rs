//! Files that commands write: complete or not there, whatever ends the run; never in the place of what is read.

use crate::parsim;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SCENARIO: &str = "scenarios/ring-shift.ron";

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A copy of a scenario with everything in one file, in a folder of its own.
fn copied(name: &str) -> (TempDir, PathBuf) {
    let folder = folder();
    // Pictures are called so; what is read may be, too.
    let file = folder.path().join("scenario.svg");
    let resolved = parsim().args(["run", name, "--dump-config"]).assert().success();
    fs::write(&file, &resolved.get_output().stdout).unwrap();
    (folder, file)
}

fn said(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn no_output_takes_the_place_of_what_is_read() {
    let (folder, scenario) = copied(SCENARIO);
    let linked = |ending: &str| folder.path().join(format!("hard.{ending}")).to_str().unwrap().to_owned();
    let [hard, csv, html, json] = ["svg", "csv", "html", "json"].map(linked);
    for link in [&hard, &csv, &html, &json] {
        fs::hard_link(&scenario, link).unwrap();
    }
    let before = fs::read(&scenario).unwrap();
    let input = scenario.to_str().unwrap();
    for output in [input, &hard] {
        for arguments in [
            &["run", input, "-o", output][..],
            &["run", input, "--trace", output],
            &["run", input, "--heat-map", output],
            &["sweep", input, "--output", output],
            &["sweep", input, "--plot", output],
            &["report", input, "--out", &html],
            &["critical-path", input, "--events", &csv],
            &["critical-path", input, "--path", &csv],
            &["critical-path", input, "--perfetto", &json],
            &["critical-path", input, "--space-time", output],
            &["compare", input, SCENARIO, "-o", output],
            &["topology", "--scenario", input, "--svg", output],
            &["explain", input, "-o", output],
            &["sensitivity", input, "-o", output],
            &["fit", input, "--model", "hockney", "--ron", output],
            &["laws", "--data", input, "-o", output],
            &["laws", "--data", input, "--plot", output],
        ] {
            let assert = parsim().args(arguments).assert().code(2).stdout("");
            assert!(said(&assert).contains("this file is read by the command"), "{arguments:?}: {}", said(&assert));
            assert_eq!(fs::read(&scenario).unwrap(), before, "{arguments:?}");
        }
    }
    assert_eq!(names(folder.path()), ["hard.csv", "hard.html", "hard.json", "hard.svg", "scenario.svg"]);
}

#[test]
fn no_output_takes_the_place_of_measurements_or_of_a_program() {
    let (folder, scenario) = copied("scenarios/goal-halo-exchange.ron");
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (input, measured, goal) = (scenario.to_str().unwrap(), at("m.csv"), at("p.goal"));
    fs::copy("scenarios/programs/halo-exchange.goal", &goal).unwrap();
    fs::write(&measured, "ranks,measured_s\n4,1e-5\n").unwrap();
    let set = [&format!("program.file={goal}"), &format!("compare=[Measured({measured:?})]")];
    let before = (fs::read(&measured).unwrap(), fs::read(&goal).unwrap());
    for arguments in [
        &["run", "--trace", &goal][..],
        &["critical-path", "--path", &measured],
        &["critical-path", "--events", &measured],
        &["critical-path", "-o", &goal, "--format", "json"],
        &["compare", input, "-o", &measured],
        &["export", "--goal", &goal],
    ] {
        let set = ["--set", set[0], "--set", set[1]];
        let assert = parsim().arg(arguments[0]).arg(input).args(&arguments[1..]).args(set).assert().code(2).stdout("");
        assert!(said(&assert).contains("this file is read by the command"), "{arguments:?}: {}", said(&assert));
        assert_eq!((fs::read(&measured).unwrap(), fs::read(&goal).unwrap()), before, "{arguments:?}");
    }
}

#[test]
fn a_command_that_writes_nothing_leaves_no_folder() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (picture, traces) = (at("new/x.json"), at("traces"));
    parsim().args(["critical-path", SCENARIO, "--set", "ranks=0", "--perfetto", &picture]).assert().code(2);
    let limit = ["--set", "limits=Limits(simulated: \"1 us\")"];
    parsim().args(["export", SCENARIO, "--time-independent", &traces]).args(limit).assert().failure();
    assert!(names(folder.path()).is_empty());
}

#[test]
fn no_output_takes_the_place_of_another() {
    let folder = folder();
    let file = folder.path().join("same.svg").display().to_string();
    let assert = parsim().args(["run", SCENARIO, "--trace", &file, "--heat-map", &file]).assert().code(2).stdout("");
    assert!(said(&assert).contains("--trace writes to the same file"), "{}", said(&assert));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_failed_run_leaves_the_older_file() {
    let folder = folder();
    let file = folder.path().join("keep");
    fs::write(&file, "older").unwrap();
    let path = file.to_str().unwrap();
    parsim().args(["run", SCENARIO, "--set", "limits=Limits(simulated: \"1 us\")", "--trace", path]).assert().code(1);
    parsim().args(["run", SCENARIO, "--set", "limits=Limits(simulated: \"1 us\")", "-o", path]).assert().code(1);
    assert_eq!((fs::read(&file).unwrap(), names(folder.path())), (b"older".to_vec(), vec!["keep".to_owned()]));
}

#[test]
fn folders_are_made_for_every_output() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (heat_map, trace, data) = (at("a/b.svg"), at("c/d/e"), at("f/g.json"));
    let run = ["run", SCENARIO, "--heat-map", &heat_map, "--trace", &trace, "--format", "json", "-o", &data];
    parsim().args(run).assert().success().stdout("");
    assert_eq!(names(folder.path()), ["a", "c", "f"]);
    let record: serde_json::Value = serde_json::from_slice(&fs::read(&data).unwrap()).unwrap();
    assert!(record["makespan_s"].is_number());
    let below = at("f/g.json/h");
    let assert = parsim().args(["run", SCENARIO, "--trace", &below]).assert().code(1).stdout("");
    assert!(said(&assert).contains("g.json"), "{}", said(&assert));
}

#[test]
fn what_o_writes_is_what_the_standard_output_gets() {
    let folder = folder();
    for format in ["text", "json", "jsonl", "csv"] {
        let file = folder.path().join(format);
        let arguments = ["sweep", SCENARIO, "--format", format];
        let printed = parsim().args(arguments).assert().success().get_output().stdout.clone();
        parsim().args(arguments).arg("-o").arg(&file).assert().success().stdout("");
        assert_eq!(fs::read(file).unwrap(), printed, "{format}");
        let named = folder.path().join(format!("rows.{format}"));
        parsim().args(["sweep", SCENARIO, "-o"]).arg(&named).assert().success().stdout("");
        assert_eq!(fs::read(named).unwrap(), printed, "the name asks for {format}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_picture_that_cannot_be_written_costs_nothing_else() {
    let folder = folder();
    let good = folder.path().join("good.svg");
    let arguments = ["critical-path", SCENARIO, "--format", "json", "--space-time", "/dev/full", "--profile"];
    let assert = parsim().args(arguments).arg(&good).assert().code(1);
    let record: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert!(record["critical_path_s"].is_number() && good.is_file());
    assert!(said(&assert).contains("/dev/full: No space left"), "{}", said(&assert));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_1() {
    for arguments in [&["--help"][..], &["--version"], &["run", SCENARIO], &["schema"], &["completions", "bash"]] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        command.current_dir(crate::repository("")).args(arguments).stdout(full).stderr(Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(1), "{arguments:?}");
    }
    parsim().args(["run", SCENARIO, "--trace", "/dev/full"]).assert().code(1);
    parsim().args(["run", SCENARIO, "-o", "/dev/full"]).assert().code(1);
}

#[test]
fn runs_that_write_one_file_do_not_mix() {
    let folder = folder();
    let file = folder.path().join("trace");
    let run = |n: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
        command.current_dir(crate::repository("")).args([
            "run",
            "scenarios/gauss-jordan-naive.ron",
            "--set",
            "ranks=16",
        ]);
        command.args(["--set", &format!("program.n={n}"), "--trace"]).arg(&file).stdout(Stdio::null());
        command
    };
    let alone = ["32", "48"].map(|n| {
        assert!(run(n).status().unwrap().success());
        fs::read(&file).unwrap()
    });
    for _ in 0..5 {
        let both = ["32", "48"].map(|n| run(n).spawn().unwrap());
        for mut child in both {
            assert!(child.wait().unwrap().success());
        }
        assert!(alone.contains(&fs::read(&file).unwrap()));
    }
    assert_eq!(names(folder.path()), ["trace"]);
}

#[cfg(unix)]
mod interrupted {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Child, ExitStatus};

    /// Cases of which the first are short and the last would take minutes.
    const CASES: [&str; 6] = ["--jobs", "1", "--over", "p=1,2,4", "--over", "n=32,33,34,3000"];

    fn spawn(arguments: &[&str]) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
        command.current_dir(crate::repository("")).args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn send(signal: &str, child: &Child) {
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    }

    /// The output of a sweep that is ended in its last case.
    fn sweep(signal: &str, format: &str, lines: usize) -> (String, ExitStatus) {
        let memory = ["--set", "machine.nodes.memory=4 GiB"];
        let scenario = ["sweep", "scenarios/gauss-jordan-naive.ron", "--format", format];
        let mut child = spawn(&[&scenario[..], &memory, &CASES].concat());
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        for _ in 0..lines {
            printed.read_line(&mut text).unwrap();
        }
        send(signal, &child);
        printed.read_to_string(&mut text).unwrap();
        (text, child.wait().unwrap())
    }

    #[test]
    fn a_sweep_leaves_every_finished_row() {
        for signal in ["-INT", "-TERM"] {
            let (text, status) = sweep(signal, "json", 4);
            assert_eq!(status.code(), Some(130));
            let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
            assert!(rows.len() >= 3, "{text}");
        }
        for (format, names) in [("jsonl", 0), ("csv", 1), ("text", 1)] {
            for signal in ["-INT", "-KILL"] {
                let (text, _) = sweep(signal, format, names + 3);
                assert!(text.ends_with('\n') && text.lines().count() >= names + 3, "{signal} {format}: {text}");
            }
        }
        let (text, _) = sweep("-KILL", "json", 4);
        let repaired = text.trim_end().trim_end_matches(',').to_owned() + "]";
        assert!(serde_json::from_str::<Vec<serde_json::Value>>(&repaired).unwrap().len() >= 3, "{text}");
    }

    /// A table whose axis may add columns is written again with the new ones, so that its rows need not wait either.
    #[test]
    fn a_file_has_the_rows_as_they_come() {
        let orders = ["--over", "program.broadcast.order=Descending,Ascending"];
        for (first, rows) in [("64", 2), ("20000", 0)] {
            let folder = folder();
            let (file, sizes) = (folder.path().join("rows.csv"), format!("n={first},20001"));
            let scenario =
                ["sweep", "scenarios/gauss-jordan-naive.ron", "--over", &sizes, "--over", "p=64", "--jobs=1"];
            let more = ["--set", "machine.nodes.memory=4 GiB", "-o", file.to_str().unwrap()];
            let mut child = spawn(&[&scenario[..], &orders, &more].concat());
            let lines = || {
                let part = names(folder.path()).into_iter().find(|name| name.starts_with(".rows.csv."))?;
                fs::read_to_string(folder.path().join(part)).ok().map(|text| text.lines().count())
            };
            // The line of names comes with the first row.
            while lines().is_none_or(|lines| rows > 0 && lines < rows + 1) {
                assert!(child.try_wait().unwrap().is_none(), "it ended before it was ended");
                std::thread::yield_now();
            }
            send("-TERM", &child);
            assert_eq!(child.wait().unwrap().code(), Some(130));
            let mut words = String::new();
            child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
            let (left, said) = match rows {
                0 => (None, format!("no row is finished, and {} is not written", file.display())),
                rows => (Some(rows + 1), "the finished rows are in".to_owned()),
            };
            assert!(lines() == left && words.contains(&said), "{words}");
        }
    }

    /// A file is either complete when a signal comes, or its finished rows are where the message says, or there is nothing
    /// but a message.
    #[test]
    fn an_interrupt_at_any_moment_names_what_it_leaves() {
        let scenario = ["sweep", "scenarios/ring-shift.ron", "--over", "p=2,4", "--over", "seed=1..20", "--jobs=1"];
        let mut ends = [0; 3];
        for moment in 0..60 {
            let folder = folder();
            let file = folder.path().join("new/rows.jsonl");
            let mut child = spawn(&[&scenario[..], &["-o", file.to_str().unwrap()]].concat());
            std::thread::sleep(std::time::Duration::from_micros(1500 * moment));
            send("-INT", &child);
            let mut words = String::new();
            child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
            // Before the handler is there, a signal ends the process at once.
            let Some(code) = child.wait().unwrap().code() else { continue };
            let left = if file.parent().unwrap().exists() { names(file.parent().unwrap()) } else { Vec::new() };
            let end = match left.as_slice() {
                [] => !words.contains("the finished rows are in"),
                [only] if only == "rows.jsonl" => fs::read_to_string(&file).unwrap().lines().count() == 40,
                [only] => words.contains(only) && words.contains("the finished rows are in"),
                _ => false,
            };
            assert!(end && matches!(code, 0 | 130), "{left:?}: {words}");
            ends[left.first().map_or(0, |name| if name == "rows.jsonl" { 2 } else { 1 })] += 1;
        }
        assert!(ends.iter().sum::<u32>() > 20, "{ends:?}");
    }

    #[test]
    fn a_run_leaves_the_older_file() {
        for (signal, left) in [("-INT", 1), ("-KILL", 2)] {
            let folder = folder();
            let file = folder.path().join("keep");
            fs::write(&file, "older").unwrap();
            let long = [
                "run",
                "scenarios/gauss-jordan-naive.ron",
                "--set",
                "program.n=3000",
                "--set",
                "machine.nodes.memory=4 GiB",
            ];
            let mut child = spawn(&[&long[..], &["--trace", file.to_str().unwrap()]].concat());
            let unfinished = |name: &String| name.starts_with(".keep.");
            let written = || {
                let name = names(folder.path()).into_iter().find(unfinished)?;
                fs::metadata(folder.path().join(name)).ok().filter(|part| part.len() > 0)
            };
            while written().is_none() {
                assert!(child.try_wait().unwrap().is_none(), "it ended before it was ended");
                std::thread::yield_now();
            }
            send(signal, &child);
            child.wait().unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"older");
            assert_eq!(names(folder.path()).len(), left, "{signal}");
        }
    }
}
