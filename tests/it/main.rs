//! Promises of parsim, seen from outside: one binary, one module for each kind of promise.

mod architecture;
mod background;
mod bounds;
mod calibration;
mod clusters;
mod collectives;
mod columns;
mod command_line;
mod communicators;
mod contract;
mod coverage;
mod detours;
mod diagnostics;
mod documentation;
mod everywhere;
mod examples;
mod explanations;
mod expressions;
mod files;
mod followers;
mod generated;
mod golden;
mod honest_output;
mod hostile;
mod laws;
mod library_collectives;
mod loads;
mod loggops;
mod lost_values;
mod machines;
mod matching;
mod mutations;
mod neighbours;
mod networks;
mod nonblocking;
mod numerics;
mod oracle;
mod placements;
mod predictions;
mod queueing;
mod rejections;
mod routers;
mod schedules;
#[cfg(unix)]
mod scripts;
mod short_messages;
mod simulators;
mod steps;
mod stores;
mod traces;
mod transfers;
mod tuning;
mod validations;

use assert_cmd::Command;
use parsim::{Machine, load_machine};
use std::path::{Path, PathBuf};

/// A path of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The command `parsim`, called in the root of the repository.
fn parsim() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("parsim"));
    command.current_dir(repository("")).env_remove("RUST_LOG");
    command
}

/// The machine of CS-RR-281.
fn t800() -> Machine {
    load_machine(repository("scenarios/machines/parsytec-supercluster-t800.ron")).expect("the machine is good")
}
