//! A validation of one table without a folder: a scenario, a file of measurements, and models to judge with it.

use super::{MeasuredTable, Tolerance, ToleranceKind, Validation};
use crate::experiment::StudyError;
use crate::scenario::{AxisValue, assigned};
use std::path::Path;

/// A scenario that is judged by a file of measurements.
#[derive(Clone, Copy, Debug)]
pub struct AdHocTable<'o> {
    /// The scenario.
    pub scenario: &'o Path,
    /// The measurements.
    pub data: &'o Path,
    /// The key of the simulated quantity.
    pub simulated: &'o str,
    /// The column of the reference.
    pub reference: &'o str,
    /// Further columns, or keys of the run's output, that are judged.
    pub models: &'o [String],
    /// The points that calibrated the parameters, as `AXIS=VALUE`.
    pub calibration: Option<&'o str>,
    /// The tolerances of the mean and of the largest absolute error, in percent.
    pub tolerated: (Option<f64>, Option<f64>),
}

impl AdHocTable<'_> {
    /// Returns a validation case with this table only.
    ///
    /// # Errors
    /// Returns an error for a model that is the simulated quantity or is given twice, or for a malformed calibration.
    pub fn validation(&self) -> Result<Validation, StudyError> {
        self.check_models()?;
        Ok(Validation {
            title: format!("{} against {}", self.scenario.display(), self.data.display()),
            calibrated_on: self.calibration.map(str::to_owned).into_iter().collect(),
            tables: vec![self.table()?],
            totals: Vec::new(),
            choices: Vec::new(),
        })
    }

    fn check_models(&self) -> Result<(), StudyError> {
        let models = self.models;
        if models.iter().any(|model| model == self.simulated) {
            let message = format!("--models: `{}` is the simulated quantity, which is judged anyway", self.simulated);
            return Err(StudyError::Request(message));
        }
        match (1..models.len()).find(|index| models[..*index].contains(&models[*index])) {
            Some(index) => {
                Err(StudyError::Request(format!("--models has `{}` twice: name each model once", models[index])))
            }
            None => Ok(()),
        }
    }

    fn table(&self) -> Result<MeasuredTable, StudyError> {
        let kind = ToleranceKind::Acceptance("given on the command line".to_owned());
        let (mean_percent, max_percent) = self.tolerated;
        let is_judged = mean_percent.is_some() || max_percent.is_some();
        Ok(MeasuredTable {
            name: self.data.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned()),
            scenario: Some(self.scenario.to_owned()),
            command: None,
            long: false,
            labels: Vec::new(),
            data: Some(self.data.to_owned()),
            over: Vec::new(),
            set: Vec::new(),
            simulated: self.simulated.to_owned(),
            reference: self.reference.to_owned(),
            predictions: self.models.to_vec(),
            mean_over: None,
            calibration: self.calibration.map(axis_value).transpose()?,
            calibrated: false,
            calibration_tolerance: None,
            fit_point_to_point: false,
            tolerance: is_judged.then_some(Tolerance { mean_percent, max_percent, kind }),
            baselines: Vec::new(),
            no_baseline: Some("none can be given on the command line".to_owned()),
            leave_out: None,
        })
    }
}

fn axis_value(text: &str) -> Result<(String, AxisValue), StudyError> {
    let fault = || StudyError::Argument("calibration", format!("{text}: write axis=value"));
    let (name, value) = assigned(text).ok_or_else(fault)?;
    Ok((name.to_owned(), AxisValue::parse(value)))
}
