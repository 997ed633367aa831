//! The command, called by the script that the wheel installs.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::panic;
use std::path::Path;

/// The exit code of a panic, as in the command that is a program of its own.
const DEFECT: u8 = 101;

/// Does what a command line says, and ends the interpreter with the command's exit code.
#[pyfunction]
#[pyo3(name = "_command", signature = ())]
pub fn command(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let words: Vec<OsString> = sys.getattr("argv")?.extract()?;
    if let Some(path) = words.first().and_then(|path| Path::new(path).canonicalize().ok()) {
        parsim::cli::call_by(path);
    }
    let code = py.detach(|| panic::catch_unwind(|| parsim::cli::command(words)).unwrap_or(DEFECT));
    sys.call_method1("exit", (code,)).map(drop)
}
