//! The command `parsim`.

use clap::Parser;
use parsim::cli::{CommandLine, execute};
use std::process::ExitCode;

fn main() -> ExitCode {
    match execute(CommandLine::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}
