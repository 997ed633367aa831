//! The command `parsim`.

use std::process::ExitCode;

fn main() -> ExitCode {
    parsim::cli::command(std::env::args_os()).into()
}
