//! The examples run, and print what they promise.

use crate::repository;
use std::process::Command;

#[test]
fn a_users_own_program_runs() {
    // Through cargo, so that no stale build is tested.
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "own_program"])
        .current_dir(repository(""))
        .output()
        .expect("cargo can be called");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_users_own_program_is_short() {
    let program = std::fs::read_to_string(repository("examples/own_program.rs")).expect("the example is there");
    assert!(program.lines().count() <= 40);
}
