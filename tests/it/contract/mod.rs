//! The contract with scripts: commands, options, keys, forms of output and exit codes.
//!
//! The tables in `answers` and `usage` only grow: a row, a key or an option that goes away breaks somebody's script.
//! A new command gets a row there; a new key gets one when it is meant to stay.

mod answers;
mod calls;
mod cases;
mod usage;

use crate::documentation::Desk;
use crate::parsim;
use assert_cmd::Command;
use serde_json::{Map, Value};

type Row = Map<String, Value>;

/// A call of the command in a folder where the files of the repository are.
fn called(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = parsim();
    command.current_dir(desk.path()).env("NO_COLOR", "1").args(arguments);
    command
}

/// Runs a good call, which prints nothing on stderr, and returns its output.
fn printed(desk: &Desk, arguments: &[&str]) -> String {
    let good = called(desk, arguments).assert().success().stderr("");
    String::from_utf8(good.get_output().stdout.clone()).expect("the output is text")
}

/// Runs a good call and returns its output in a form.
fn formatted(desk: &Desk, arguments: &[&str], format: &str) -> String {
    printed(desk, &[arguments, &["--format", format]].concat())
}

/// The rows of a call, as JSON Lines have them.
fn rows(desk: &Desk, arguments: &[&str]) -> Vec<Row> {
    let lines = formatted(desk, arguments, "jsonl");
    lines.lines().map(|line| serde_json::from_str(line).expect("a line is one object")).collect()
}

fn values<'r>(rows: &'r [Row], key: &str) -> Vec<&'r Value> {
    rows.iter().map(|row| &row[key]).collect()
}
