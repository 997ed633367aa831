//! What is asked: a scenario from a file or a dict, with other values.

use crate::errors::raised;
use crate::values::{to_ron, typed};
use parsim_study::experiment::{References, ScenarioFile, StudyError};
use parsim_study::scenario::source::Document;
use parsim_study::scenario::{Override, Plan};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;

/// The resolved scenario, every value that its run uses, defaults included: what `parsim run --dump-config` prints.
#[pyfunction]
#[pyo3(signature = (scenario, /, *, set=None, seed=None, folder=None))]
pub fn resolved(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
    folder: Option<PathBuf>,
) -> PyResult<String> {
    let (plan, _) = Question::of(scenario, set, None, seed, folder)?.plan(py)?;
    plan.base().map(|case| plan.to_ron(&case)).map_err(|faults| raised(py, faults.into()))
}

/// The name by which faults call a scenario that is no file.
const DICT: &str = "scenario";

/// A scenario, with the values that replace its own.
pub struct Question {
    file: ScenarioFile,
    /// The scenario as a text, if it is no file.
    text: Option<String>,
}

impl Question {
    /// Reads the arguments of a call.
    pub fn of(
        scenario: &Bound<'_, PyAny>,
        set: Option<&Bound<'_, PyDict>>,
        over: Option<&Bound<'_, PyDict>>,
        seed: Option<u64>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (path, text) = if scenario.is_instance_of::<PyDict>() {
            (folder.unwrap_or_default().join(DICT), Some(to_ron(scenario)?))
        } else if folder.is_some() {
            return Err(PyValueError::new_err(
                "folder: it is that of a dict; what a file names is relative to the file",
            ));
        } else {
            let path = scenario.extract::<PathBuf>();
            (path.map_err(|_| PyTypeError::new_err("a scenario is the path of a file, or a dict"))?, None)
        };
        let set = set.map(settings).transpose()?.unwrap_or_default();
        let over = over.map(axes).transpose()?.unwrap_or_default();
        Ok(Self { file: ScenarioFile { path, set, seed, over, ..ScenarioFile::default() }, text })
    }

    /// The scenario, checked, and what it is compared with; other threads of Python run meanwhile.
    pub fn plan(&self, py: Python<'_>) -> PyResult<(Plan, References)> {
        py.detach(|| self.planned()).map_err(|error| raised(py, error))
    }

    fn planned(&self) -> Result<(Plan, References), StudyError> {
        let path = &self.file.path;
        let document = match &self.text {
            None => Document::load(path),
            Some(text) => Document::from_values(path, text.clone()),
        };
        let plan = self.file.plan_of(document.clone()?)?;
        let references = References::of(document, plan.scenario())?;
        Ok((plan, references))
    }
}

/// Paths and their values.
fn settings(set: &Bound<'_, PyDict>) -> PyResult<Vec<(String, String)>> {
    set.iter().map(|(path, value)| Ok((path.extract()?, typed(&value)?))).collect()
}

/// Axes and their values.
fn axes(over: &Bound<'_, PyDict>) -> PyResult<Vec<Override>> {
    let axis = |(name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = name.extract::<String>()?;
        let no_list = || PyTypeError::new_err(format!("over: the values of `{name}` are a list"));
        if values.is_instance_of::<PyString>() || values.is_instance_of::<PyDict>() {
            return Err(no_list());
        }
        let values = values.try_iter().map_err(|_| no_list())?.map(|value| typed(&value?)).collect::<PyResult<_>>()?;
        Ok(Override { name, values })
    };
    over.iter().map(axis).collect()
}
