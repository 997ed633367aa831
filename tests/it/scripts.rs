//! Scripts for engines: whatever runs them, and however often they are killed, the merged rows are those of a sweep.

use crate::documentation::Desk;
use crate::stores::{called, last_words};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const FOLDER: &str = "a store, it's \"mine\"; $(false)";
const SWEEP: [&str; 7] =
    ["scenarios/ring-shift.ron", "--over", "p=2,4,8", "--over", "seed=1..30", "--set", "machine.name=\"it's $HOME\""];

fn script(desk: &Desk, engine: &str) -> String {
    let arguments = [&["script"], &SWEEP[..], &["--store", FOLDER, "--engine", engine, "-o", "run.sh"]].concat();
    last_words(desk, 0, &arguments);
    fs::read_to_string(desk.path().join("run.sh")).expect("it has been written")
}

/// The script with blocks as short as if the cases were long.
fn cut(desk: &Desk, text: &str, blocks: u32) {
    let cut = text.replace("auto/1 ", &format!("auto/{blocks} ")).replace("\"$1\"/1 ", &format!("\"$1\"/{blocks} "));
    let cut = cut.replace("auto/1\n", &format!("auto/{blocks}\n")).replace("seq 1 ", &format!("seq {blocks} "));
    let cut = cut
        .replace("--array 1-1 ", &format!("--array 1-{blocks} "))
        .replace("--shard 1/1 ", &format!("--shard auto/{blocks} "));
    assert_ne!(cut, text);
    desk.write("run.sh", &cut);
}

fn shell(folder: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.current_dir(folder).arg("run.sh").stdin(Stdio::null());
    shell
}

/// The rows of the store are those of an undisturbed sweep.
fn assert_merged(desk: &Desk) {
    let undisturbed = called(desk, &[&["sweep"], &SWEEP[..], &["--format", "jsonl"]].concat());
    let merged = called(desk, &[&["merge"], &SWEEP[..], &["--store", FOLDER, "--format", "jsonl"]].concat());
    assert_eq!(undisturbed.0, 0);
    assert!(merged == undisturbed, "{merged:?}");
}

#[test]
fn elements_of_arrays_run_all_cases() {
    for (engine, variable) in [("slurm", "SLURM_ARRAY_TASK_ID"), ("pbs", "PBS_ARRAY_INDEX")] {
        let desk = Desk::new();
        let text = script(&desk, engine);
        cut(&desk, &text, 3);
        for element in ["1", "2", "3"] {
            let done = shell(desk.path()).env(variable, element).output().expect("a shell starts");
            assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
        }
        assert_merged(&desk);
    }
}

/// A program of this name that is found first.
fn fake(desk: &Desk, name: &str, text: &str) -> String {
    desk.write(name, text);
    fs::set_permissions(desk.path().join(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    format!("{}:{}", desk.path().display(), std::env::var("PATH").unwrap_or_default())
}

/// `HyperQueue` as its manual has it: the words after `--` are run with `HQ_TASK_ID`.
#[test]
fn hyperqueue_is_given_an_array() {
    let desk = Desk::new();
    cut(&desk, &script(&desk, "hq"), 3);
    let hq = "#!/bin/sh\n[ \"$4 $5\" = '--array 1-3' ] || exit 9\nwhile [ \"$1\" != -- ]; do shift; done; shift\n\
              for HQ_TASK_ID in 1 2 3; do export HQ_TASK_ID; \"$@\" > /dev/null || exit; done\n";
    let path = fake(&desk, "hq", hq);
    let done = shell(desk.path()).env("PATH", path).output().expect("a shell starts");
    assert!(done.status.success(), "{done:?}");
    assert_merged(&desk);
}

/// Runs the script on two processors, kills it with all that it has started at many moments, and runs it again.
fn killed_and_run_again(desk: &Desk, path: &str) {
    let mut kills = 0;
    loop {
        let mut run = shell(desk.path());
        run.env("JOBS", "2").env("PATH", path).process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = run.spawn().expect("a shell starts");
        sleep(Duration::from_millis(20 + 13 * kills));
        if run.try_wait().expect("it is ours").is_some_and(|status| status.success()) {
            break;
        }
        let group = format!("-{}", run.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        kills += u64::from(!run.wait().expect("it ends").success());
    }
    assert!(kills > 0, "it was done before it was killed");
}

#[test]
fn plain_processes_may_be_killed() {
    let desk = Desk::new();
    cut(&desk, &script(&desk, "parallel"), 8);
    let path = fake(&desk, "parallel", "#!/bin/sh\nexit 1\n");
    killed_and_run_again(&desk, &path);
    assert_merged(&desk);
}

/// Runs only where GNU parallel is installed.
#[test]
fn gnu_parallel_runs_the_blocks() {
    let path = std::env::var("PATH").unwrap_or_default();
    let version = Command::new("parallel").arg("--version").output();
    if !version.is_ok_and(|version| version.stdout.starts_with(b"GNU")) {
        return;
    }
    let desk = Desk::new();
    cut(&desk, &script(&desk, "parallel"), 8);
    killed_and_run_again(&desk, &path);
    assert_merged(&desk);
}

#[test]
fn blocks_take_minutes_and_are_no_more_than_arrays_hold() {
    let desk = Desk::new();
    let blocks = |more: &[&str]| {
        let case = ["script", "scenarios/gauss-jordan-naive.ron", "--engine", "slurm", "--store", "s"];
        let (code, text, words) = called(&desk, &[&case, more].concat());
        assert_eq!(code, 0, "{words}");
        let array = text.lines().find_map(|line| line.strip_prefix("#SBATCH --array=1-")).expect("an array");
        assert!(text.contains(&format!("--shard auto/{array} ")));
        array.parse::<u64>().expect("a number")
    };
    let long = ["--over", "n=512", "--over", "seed=1..10000"];
    let (half_hours, minutes) = (blocks(&long), blocks(&[&long[..], &["--minutes", "1"]].concat()));
    assert!(half_hours > 1 && minutes > 10 * half_hours, "{half_hours} {minutes}");
    assert_eq!(blocks(&["--minutes", "1", "--over", "n=512", "--over", "seed=1..50000"]), 1000);
    let four = blocks(&[&long[..], &["--jobs", "4"]].concat());
    assert!(four < half_hours, "{four} {half_hours}");
}
