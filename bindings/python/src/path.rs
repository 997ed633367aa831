//! The critical path of a run.

use crate::run::dict;
use crate::table::Table;
use parsim_sim::trace::Recording;
use parsim_study::analysis;
use parsim_study::answer::Record;
use parsim_study::experiment::{Outcome, metadata, recording_title};
use parsim_study::report::critical_path::CriticalPathReport;
use parsim_study::report::space_time::{DiagramWindow, SpaceTime};
use parsim_study::report::tables;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The critical path of a run: what kept it from ending earlier.
#[pyclass(frozen, module = "parsim")]
pub struct CriticalPath {
    recording: Arc<Recording>,
    title: String,
    record: Record,
    words: String,
}

impl CriticalPath {
    /// The path of what has been recorded of the run with this outcome.
    pub fn of(recording: Arc<Recording>, outcome: &Outcome) -> PyResult<Self> {
        let (case, title) = (outcome.case(), recording_title(&recording));
        let origin = metadata(&case.scenario, &case.settings);
        let path = found(&recording)?;
        let mut answer = CriticalPathReport::new(title.clone(), &path, Some(&recording)).answer(None, Some(&origin));
        let record = answer.records.swap_remove(0);
        Ok(Self { title, record, words: answer.words, recording })
    }
}

fn found(recording: &Recording) -> PyResult<analysis::CriticalPath<'_>> {
    analysis::CriticalPath::of(&recording.events).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

#[pymethods]
impl CriticalPath {
    /// The record that `parsim critical-path --format json` prints.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.record.to_json())
    }

    /// Every piece of the path in the order of time: `from_s`, `to_s`, `kind`, `phase`, `process` and `place`.
    fn pieces(&self) -> PyResult<Table> {
        Table::of(&tables::path_pieces(&found(&self.recording)?, Some(&self.recording)))
    }

    /// The ranks against the time, with the critical path, as SVG.
    pub fn space_time(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let path = found(&self.recording)?;
            Ok(SpaceTime::new(&path, &self.title, DiagramWindow::whole(&path)).svg())
        })
    }

    fn __str__(&self) -> String {
        self.words.clone()
    }

    fn __repr__(&self) -> String {
        format!("<parsim.CriticalPath: {}>", self.title)
    }

    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.space_time(py)
    }
}
