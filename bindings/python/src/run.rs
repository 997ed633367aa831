//! `run`: the base values of a scenario.

use crate::errors::raised;
use crate::html;
use crate::path::CriticalPath;
use crate::scenario::Question;
use crate::table::Table;
use parsim_sim::simulation::Detail;
use parsim_sim::trace::Recording;
use parsim_study::experiment::topology::drawing;
use parsim_study::experiment::{Outcome, Recall, StudyError, run_recorded};
use parsim_study::report::{HeatMap, tables};
use parsim_study::store::Store;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Runs the base values of a scenario.
///
/// scenario: the path of a file, or a dict (`to_ron` says what it means).
/// set: base values by their paths: {"program.n": 512}. A str stands for what one would write behind `=` on the command line.
/// seed: the seed, in the place of that of the scenario.
/// store: a folder of results; what it has is not run again.
/// folder: what the files that a dict names are relative to; the current folder unless given.
#[pyfunction]
#[pyo3(signature = (scenario, /, *, set=None, seed=None, store=None, folder=None))]
pub fn run(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
    store: Option<PathBuf>,
    folder: Option<PathBuf>,
) -> PyResult<Run> {
    let (plan, references) = Question::of(scenario, set, None, seed, folder)?.plan(py)?;
    let outcome = py.detach(|| {
        let store = store.map(|folder| Store::open(&folder)).transpose()?;
        let recall = store.as_ref().map_or_else(Recall::default, |store| Recall::from(store, false));
        let outcome = Outcome::of(&plan.base()?, &references, recall);
        store.map_or(Ok(()), |store| store.finish())?;
        Ok(outcome?)
    });
    let outcome = outcome.map_err(|error| raised(py, error))?;
    Ok(Run { outcome, recording: OnceLock::new() })
}

/// A run: times, accounts of the ranks, loads of the links, the critical path.
#[pyclass(frozen, module = "parsim")]
pub struct Run {
    outcome: Outcome,
    /// The run again, with its causes, once they are asked for.
    recording: OnceLock<Arc<Recording>>,
}

/// The most ranks of a space-time diagram in a notebook.
const MAX_DRAWN: u32 = 128;

#[pymethods]
impl Run {
    /// The simulated time from the beginning to the end of the last rank, in seconds.
    #[getter]
    fn makespan_s(&self) -> f64 {
        self.outcome.trace.makespan.seconds()
    }

    /// The record that `parsim run --format json` prints.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.outcome.record().to_json())
    }

    /// Remarks on the run, each a sentence.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.outcome.answer().notes
    }

    /// The time of every rank in every phase, by activity, in seconds.
    fn accounts(&self) -> PyResult<Table> {
        Table::of(&tables::accounts(&self.outcome.trace))
    }

    /// What every direction of every link carried.
    fn links(&self) -> PyResult<Table> {
        Table::of(&tables::links(&self.outcome.trace))
    }

    /// The critical path: what kept the run from ending earlier. The first call runs the scenario again, and records it.
    fn critical_path(&self, py: Python<'_>) -> PyResult<CriticalPath> {
        CriticalPath::of(self.recording(py)?, &self.outcome)
    }

    /// The ranks against the time, with the critical path, as SVG. The first call runs the scenario again, and records it.
    fn space_time(&self, py: Python<'_>) -> PyResult<String> {
        self.critical_path(py)?.space_time(py)
    }

    /// The network with the utilization of every link, as SVG.
    fn heat_map(&self, py: Python<'_>) -> PyResult<String> {
        let topology = &self.outcome.case().scenario.layout().topology;
        let drawing = drawing(&self.title(), topology).map_err(|error| raised(py, error))?;
        Ok(HeatMap::new(drawing, &self.outcome.trace).to_string())
    }

    fn __str__(&self) -> String {
        self.outcome.report().to_string()
    }

    fn __repr__(&self) -> String {
        format!("<parsim.Run: {}, {} s>", self.title(), self.makespan_s())
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        let record = self.outcome.record();
        let pairs: Vec<_> = record.summary().map(|one| (one.key.to_string(), one.value.to_string())).collect();
        let mut page = html::pairs(&self.title(), &pairs);
        let is_drawn = self.outcome.case().scenario.ranks <= MAX_DRAWN;
        // A run that cannot be drawn has its table.
        if let Some(Ok(picture)) = is_drawn.then(|| self.space_time(py)) {
            page += &picture;
        }
        page
    }
}

impl Run {
    fn title(&self) -> String {
        self.outcome.report().title
    }

    fn recording(&self, py: Python<'_>) -> PyResult<Arc<Recording>> {
        if let Some(recording) = self.recording.get() {
            return Ok(Arc::clone(recording));
        }
        let recorded = py.detach(|| {
            let mut bytes = Vec::new();
            run_recorded(&self.outcome.case().scenario, Detail::LINKS, Box::new(&mut bytes))?;
            Recording::read(&bytes[..]).map_err(StudyError::failed)
        });
        let recording = Arc::new(recorded.map_err(|error| raised(py, error))?);
        Ok(Arc::clone(self.recording.get_or_init(|| recording)))
    }
}

/// A record as Python's own values.
pub fn dict<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyDict>> {
    Ok(py.import("json")?.call_method1("loads", (json,))?.cast_into()?)
}
