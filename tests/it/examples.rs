//! The examples run, and print what they promise.

use crate::repository;
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
