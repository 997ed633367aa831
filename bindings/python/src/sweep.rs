//! `sweep`: every case of a scenario's axes.

use crate::errors::{FailedCasesWarning, raised};
use crate::scenario::Question;
use crate::table::Table;
use parsim_study::experiment::{Failures, Recall, References, StudyError, SweepEnd, SweepPart, SweptRows, Workers};
use parsim_study::report::{Columns, Format, RowWriter};
use parsim_study::scenario::Plan;
use parsim_study::store::Store;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CString;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs every case of a scenario's axes, on all cores, and returns a row for each, in the order of the axes.
///
/// scenario: the path of a file, or a dict (`to_ron` says what it means).
/// over: axes, or other values of the axes that there are: {"n": [128, 256]}.
/// set: base values by their paths: {"program.n": 512}. A str stands for what one would write behind `=` on the command line.
/// seed: the seed, in the place of that of the scenario.
/// jobs: the number of threads, one for each core unless given.
/// store: a folder of results; what it has is not run again.
/// folder: what the files that a dict names are relative to; the current folder unless given.
///
/// The columns are those of `parsim sweep`. A case that fails has an `error`, and a FailedCasesWarning says so.
#[pyfunction]
#[pyo3(signature = (scenario, /, *, over=None, set=None, seed=None, jobs=None, store=None, folder=None))]
#[expect(clippy::too_many_arguments, reason = "they are the options of the command, by their names")]
pub fn sweep(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    over: Option<&Bound<'_, PyDict>>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
    jobs: Option<NonZero<usize>>,
    store: Option<PathBuf>,
    folder: Option<PathBuf>,
) -> PyResult<Table> {
    let question = Question::of(scenario, set, over, seed, folder)?;
    let (plan, references) = question.plan(py)?;
    let is_whole = over.is_none_or(PyDictMethods::is_empty);
    let swept = py.detach(|| swept(&plan, &references, jobs, store, is_whole)).map_err(|error| raised(py, error))?;
    let Swept { columns, failures, notes, interrupt } = swept;
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    if let Err(error) = failures.into_result() {
        let text = CString::new(error.to_string().replace('\0', ""))?;
        PyErr::warn(py, &py.get_type::<FailedCasesWarning>(), &text, 1)?;
    }
    Table::new(columns, notes)
}

/// The rows of a sweep, and what else came of it.
struct Swept {
    columns: Columns,
    failures: Failures,
    notes: Vec<String>,
    /// The reason why it ended early.
    interrupt: Option<PyErr>,
}

fn swept(
    plan: &Plan,
    references: &References,
    jobs: Option<NonZero<usize>>,
    store: Option<PathBuf>,
    is_whole: bool,
) -> Result<Swept, StudyError> {
    let cases = plan.unfold()?;
    let store = store.map(|folder| Store::open(&folder)).transpose()?;
    let recall = store.as_ref().map_or_else(Recall::default, |store| Recall::from(store, false));
    let writer = RowWriter::new(Columns::default(), Format::Parquet);
    let (part, mut rows, mut signals) =
        (SweepPart::of(&cases, None)?, SweptRows::new(None, writer, references), Signals::default());
    let workers = Workers { jobs, recall, ..Workers::default() };
    parsim_study::experiment::sweep(&cases, &part, references, workers, |turns| {
        for turn in turns {
            rows.add(turn).expect("columns in memory take every row");
        }
        signals.allow() && recall.is_sound()
    })?;
    let (columns, SweepEnd { failures, remarks, .. }) = rows.finish().expect("columns in memory take every row");
    let mut notes = remarks.notes(is_whole);
    if let Some(store) = store {
        store.finish()?;
        notes.extend(store.warnings());
    }
    Ok(Swept { columns, failures, notes, interrupt: signals.interrupt })
}

/// Signals such as Ctrl-C, which only a thread that holds the interpreter sees.
struct Signals {
    looked: Instant,
    interrupt: Option<PyErr>,
}

impl Default for Signals {
    fn default() -> Self {
        Self { looked: Instant::now(), interrupt: None }
    }
}

impl Signals {
    const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

    /// False once a signal has come.
    fn allow(&mut self) -> bool {
        if self.interrupt.is_none() && self.looked.elapsed() >= Self::BETWEEN_LOOKS {
            self.looked = Instant::now();
            self.interrupt = Python::attach(|py| py.check_signals().err());
        }
        self.interrupt.is_none()
    }
}
