//! Faults and failures as exceptions.

use parsim_study::experiment::StudyError;
use parsim_study::scenario::source::{FaultEntry, Faults};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    parsim,
    ScenarioError,
    PyValueError,
    "What is wrong with a scenario, or with what is asked of it.\n\nThe text shows every fault with its place. `file`, `line`, \
     `column`, `path`, `message` and `help` are those of the first fault; `faults` has all of them as dicts with these keys."
);
create_exception!(
    parsim,
    SimulationError,
    PyRuntimeError,
    "A run came to no end: a deadlock, a limit, a defect of parsim."
);
create_exception!(
    parsim,
    FailedCasesWarning,
    PyUserWarning,
    "Some cases of a sweep failed: their rows have an `error`."
);

/// The keys of a fault.
const KEYS: [&str; 6] = ["file", "line", "column", "path", "message", "help"];

/// The exception of an error.
pub fn raised(py: Python<'_>, error: StudyError) -> PyErr {
    match error {
        StudyError::Faults(faults) => of_faults(py, &faults),
        StudyError::Request(message) => of_request(py, message),
        StudyError::Argument(name, message) => of_request(py, format!("{name}: {message}")),
        StudyError::Failed(messages) | StudyError::Defect(messages) => SimulationError::new_err(messages.join("\n")),
    }
}

fn of_request(py: Python<'_>, message: String) -> PyErr {
    let entry =
        FaultEntry { file: None, line: None, column: None, path: String::new(), message: message.clone(), help: None };
    with_entries(py, ScenarioError::new_err(message), &[entry])
}

fn of_faults(py: Python<'_>, faults: &Faults) -> PyErr {
    with_entries(py, ScenarioError::new_err(faults.render(false)), &faults.entries())
}

/// The exception with the faults as its attributes, or the reason why it cannot have them.
fn with_entries(py: Python<'_>, error: PyErr, entries: &[FaultEntry]) -> PyErr {
    let attach = || {
        let all = entries.iter().map(|entry| dict(py, entry)).collect::<PyResult<Vec<_>>>()?;
        let value = error.value(py);
        if let Some(first) = all.first() {
            KEYS.iter().try_for_each(|key| value.setattr(*key, first.get_item(key)?))?;
        }
        value.setattr("faults", all)
    };
    attach().err().unwrap_or(error)
}

fn dict<'py>(py: Python<'py>, entry: &FaultEntry) -> PyResult<Bound<'py, PyDict>> {
    let FaultEntry { file, line, column, path, message, help } = entry;
    let dict = PyDict::new(py);
    dict.set_item("file", file)?;
    dict.set_item("line", line)?;
    dict.set_item("column", column)?;
    dict.set_item("path", path)?;
    dict.set_item("message", message)?;
    dict.set_item("help", help)?;
    Ok(dict)
}
