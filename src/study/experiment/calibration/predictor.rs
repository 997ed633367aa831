//! A calibrated model, applied to scenarios outside the tables of its case.

use super::AlternativeFits;
use super::best_fit::BestFit;
use super::cross_validation;
use super::description::{CalibrationCase, Loss};
use super::fitted_parameter::FittedParameter;
use super::prediction::{around, of_residual};
use crate::experiment::{IntervalLevel, Setting, StudyError, Workers};
use crate::model::fit::{Conformal, Identifiability};
use crate::scenario::source::Document;
use std::path::Path;

/// The best values of parameters, and the uncertainty of predictions with them.
pub struct Predictor {
    /// The alternatives of the case that fit best.
    choice: Vec<Setting>,
    parameters: Vec<NearbyParameter>,
    level: IntervalLevel,
    loss: Loss,
    /// The largest standard deviation of a measurement; 1 if none is stated.
    noise: f64,
    /// The standard deviation of a residual, in units of the noise.
    deviation: f64,
    identified: Identifiability,
    conformal: Conformal,
    /// The keys of the quantities that the case calibrates.
    simulated: Vec<String>,
}

/// A parameter with its best value and another one: close to it, or a bound if the data do not determine the parameter.
struct NearbyParameter {
    path: String,
    best: String,
    nearby: String,
    /// The range fraction of the best value.
    part: f64,
    /// `true` if the data determine the parameter separately.
    is_determined: bool,
    /// The range fraction of the other value less that of the best one.
    distance: f64,
}

impl NearbyParameter {
    /// Returns a parameter whose best value is at the coordinate `at`.
    fn of(unknown: &FittedParameter, at: f64, is_determined: bool) -> Self {
        // The slope at the best value says little about a whole range.
        let to = if is_determined { at + unknown.step(at) } else { unknown.farther_bound(at) };
        Self {
            path: unknown.path.clone(),
            best: unknown.text(unknown.value(at)),
            nearby: unknown.text(unknown.value(to)),
            part: unknown.part(at),
            is_determined,
            distance: unknown.part(to) - unknown.part(at),
        }
    }
}

/// The level of the intervals by which candidates are distinguished, in percent.
const LEVEL: u8 = 90;

impl Predictor {
    /// Calibrates the case in `file`, for intervals that are to contain 90 % of new measurements.
    ///
    /// # Errors
    /// Returns the faults of the case, or the errors of [`predictor`](CalibrationCase::predictor).
    ///
    /// # Panics
    /// Never: 90 is a valid level.
    pub fn load(file: &Path, workers: Workers<'_>) -> Result<Self, StudyError> {
        let document = Document::load(file)?;
        let level = IntervalLevel::of_percent(LEVEL).expect("it is a level");
        CalibrationCase::of(&document)?.predictor(&document, file, level, workers)
    }
}

impl CalibrationCase {
    /// Fits the parameters for predictions of other scenarios; the case was read from `document`, whose file is `file`.
    ///
    /// # Errors
    /// Returns the errors of [`calibrate`](Self::calibrate), or an error if the fit does not converge within its
    /// budget.
    pub fn predictor(
        &self,
        document: &Document,
        file: &Path,
        level: IntervalLevel,
        workers: Workers<'_>,
    ) -> Result<Predictor, StudyError> {
        self.with_fits(document, file, workers, |fits| self.predictor_of(fits, level))
    }

    fn predictor_of(&self, fits: &AlternativeFits<'_, '_>, level: IntervalLevel) -> Result<Predictor, StudyError> {
        let chosen = &fits.fitted[0];
        let Some(best) = chosen.minimum.as_ref().filter(|best| best.has_converged) else {
            let message = "the calibration has not ended within its evaluations: allow more in its case";
            return Err(StudyError::Failed(message.to_owned()));
        };
        let fit = (fits.open)(&chosen.settings, usize::MAX);
        let best_fit = BestFit { case: self, fit: &fit, best };
        let (deviation, quantile) = best_fit.deviation();
        let identified = Identifiability::of(&best_fit.by_parts(best.slopes.clone()), deviation, quantile);
        let left_out = cross_validation::leave_out(&best_fit)?;
        let values = best_fit.values_of(&best.point, |row| row.reference.is_some())?;
        let conformal = best_fit.intervals(level, &values, &identified, &left_out)?.conformal;
        let parameter = |(index, unknown): (usize, &FittedParameter)| {
            NearbyParameter::of(unknown, best.point[index], !identified.is_entangled(index))
        };
        Ok(Predictor {
            choice: chosen.settings.clone(),
            parameters: fit.unknowns.iter().enumerate().map(parameter).collect(),
            level,
            loss: self.loss,
            noise: fit.noise.iter().copied().fold(0.0, f64::max),
            deviation,
            identified,
            conformal,
            simulated: self.tables.iter().map(|table| table.simulated.clone()).collect(),
        })
    }
}

impl Predictor {
    /// Returns the best values, by path and text.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        let best = self.parameters.iter().map(|parameter| (parameter.path.clone(), parameter.best.clone()));
        self.choice.iter().cloned().chain(best)
    }

    /// Returns the keys of the quantities that the case calibrates other than `key`.
    ///
    /// # Errors
    /// Returns an error if the case has other quantities and its errors are absolute, as those do not apply to `key`.
    pub fn other_than(&self, key: &str) -> Result<Vec<String>, StudyError> {
        let mut others: Vec<String> = self.simulated.iter().filter(|other| *other != key).cloned().collect();
        others.sort();
        others.dedup();
        match (self.loss, others.first()) {
            (Loss::Absolute, Some(other)) => Err(StudyError::Request(format!(
                "the case has absolute errors of `{other}`, which say nothing of `{key}`: calibrate `{key}`, or with `loss: Relative`"
            ))),
            _ => Ok(others),
        }
    }

    /// Returns the paths of the parameters that the data do not determine.
    pub fn undetermined(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().filter(|parameter| !parameter.is_determined).map(|parameter| parameter.path.as_str())
    }

    /// Returns, for each parameter, its path and another value than the best one.
    pub fn variations(&self) -> impl Iterator<Item = Setting> {
        self.parameters.iter().map(|parameter| (parameter.path.clone(), parameter.nearby.clone()))
    }

    /// Returns the interval of a new measurement. The best values simulate `value`, and each of the
    /// [variations](Self::variations) alone simulates the corresponding element of `nearby`, which equals `value` if
    /// the scenario lacks the parameter. Returns `None` if too few errors are known.
    #[must_use]
    pub fn interval(&self, value: f64, nearby: &[f64]) -> Option<(f64, f64)> {
        let per_value = match self.loss {
            Loss::Relative => value.max(f64::MIN_POSITIVE).recip(),
            Loss::Absolute => 1.0,
        };
        let along = |(parameter, there): (&NearbyParameter, &f64)| {
            (there - value) / parameter.distance * per_value / self.noise
        };
        let along: Vec<f64> = self.parameters.iter().zip(nearby).map(along).collect();
        let parts: Vec<f64> = self.parameters.iter().map(|parameter| parameter.part).collect();
        let known = of_residual(self.loss, self.noise, self.identified.uncertainty(&along, &parts, self.deviation));
        let reach = known.interval(self.conformal.half_width("", 1.0, self.level.share())?);
        Some(around(self.loss, value, (reach, self.noise)))
    }
}
