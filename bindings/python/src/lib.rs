//! parsim as a module of Python: scenarios from files or dicts, their runs and sweeps, results as tables of Arrow.

#![allow(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "comments on what Python sees are its texts of help"
)]
#![allow(unnameable_types, reason = "Python names them")]

mod command;
mod errors;
mod html;
mod path;
mod run;
mod scenario;
mod sweep;
mod table;
mod trees;
mod values;

use pyo3::prelude::*;

/// Scenarios of message-passing machines: run them, sweep over them, read the results as tables.
///
/// `run` plays the base values of a scenario, `sweep` its axes. A scenario is a file or a dict.
#[pymodule]
mod parsim {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::errors::{FailedCasesWarning, ScenarioError, SimulationError};
    #[pymodule_export]
    use super::path::CriticalPath;
    #[pymodule_export]
    use super::run::{Run, run};
    #[pymodule_export]
    use super::scenario::resolved;
    #[pymodule_export]
    use super::sweep::sweep;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::trees::read;
    #[pymodule_export]
    use super::values::to_ron;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The commit, if the build was told it: docs/release.md.
        module.add("__commit__", parsim_sim::COMMIT)?;
        module.add("__version__", parsim_sim::VERSION)
    }
}
