//! The examples run, and print what they promise.

use crate::{parsim, repository};
use parsim::experiment::{References, Workers, write_sweep};
use parsim::prelude::{Document, Override, Plan};
use parsim::report::Format;
use std::process::Command;

#[test]
fn a_users_own_program_runs() {
    insta::assert_snapshot!(printed("own_program"));
}

#[test]
fn a_users_own_program_on_a_machine_of_its_own_runs() {
    // 15 rounds of 0.5 ms of computation, and 15 us of software for each of two packets sent and two received.
    insta::assert_snapshot!(printed("own_machine"));
}

#[test]
fn a_sweep_in_rust_writes_the_rows_of_the_command() {
    // Cases reach the limit of 1 us; the tables have their rows, too.
    let arguments =
        ["sweep", "scenarios/ping.ron", "--over", "bytes=64,256", "--over", "limits.simulated=1 us,100 s", "--format"];
    for (name, format) in [("csv", Format::Csv), ("json", Format::Json), ("jsonl", Format::Jsonl)] {
        let output = parsim().args(arguments).arg(name).output().expect("the command runs");
        let path = repository("scenarios/ping.ron");
        let axes = [Override::new("bytes", &["64", "256"]), Override::new("limits.simulated", &["1 us", "100 s"])];
        let plan = Plan::new(Document::load(&path).unwrap(), &axes).unwrap();
        let references = References::load(plan.scenario(), &path).unwrap();
        let mut rows = Vec::new();
        let end = write_sweep(&plan.unfold().unwrap(), &references, Workers::default(), format, &mut rows).unwrap();
        assert!(end.failures.count() > 0);
        assert_eq!(String::from_utf8(rows).unwrap(), String::from_utf8(output.stdout).unwrap());
    }
}

/// The output of an example, run outside of the repository.
fn printed(example: &str) -> String {
    let elsewhere = tempfile::tempdir().expect("a folder can be made");
    // Through cargo, so that no stale build is tested.
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", example, "--manifest-path"])
        .arg(repository("Cargo.toml"))
        .current_dir(elsewhere.path())
        .output()
        .expect("cargo can be called");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_program_and_a_machine_take_25_lines_and_begin_the_guide() {
    let read = |path| std::fs::read_to_string(repository(path)).expect("the file is there");
    let example = read("examples/own_machine.rs");
    assert!(example.lines().count() <= 25);
    assert!(read("docs/guide/machine-and-program.md").contains(&format!("```rust\n{example}```")));
}

#[test]
fn a_users_own_program_is_short() {
    let program = std::fs::read_to_string(repository("examples/own_program.rs")).expect("the example is there");
    assert!(program.lines().count() <= 40);
}
