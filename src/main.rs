//! The command `parsim`.

use parsim::cli::{execute, interrupt, read_line};
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::install();
    match read_line().and_then(|line| line.map_or(Ok(()), execute)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}
