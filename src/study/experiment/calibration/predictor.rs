//! A calibrated model for scenarios that no table of its case has.

use super::AlternativeFits;
use super::cross_validation;
use super::description::{CalibrationCase, Loss};
use super::found::FoundMinimum;
use super::prediction::around;
use crate::experiment::{IntervalLevel, Setting, StudyError, Workers};
use crate::model::fit::{Conformal, Identifiability};
use crate::scenario::source::Document;
use std::path::Path;

/// Best values of parameters, and how far predictions with them can be trusted.
pub struct Predictor {
    /// The alternatives of the case that fit best.
    choice: Vec<Setting>,
    parameters: Vec<NearbyParameter>,
    level: IntervalLevel,
    loss: Loss,
    /// The largest standard deviation of a measurement; 1 where none is stated.
    noise: f64,
    /// The standard deviation of a residual, in units of the noise.
    deviation: f64,
    identified: Identifiability,
    conformal: Conformal,
    /// The keys of what the case calibrates.
    simulated: Vec<String>,
}

/// A parameter with its best value, and one close to it.
struct NearbyParameter {
    path: String,
    best: String,
    nearby: String,
    /// The derivative by the part of its range, for a difference of 1 between the simulated values.
    scale: f64,
}

/// The level of the intervals that tell candidates apart, in percent.
const LEVEL: u8 = 90;

impl Predictor {
    /// The machine that the case in `file` calibrates, whose times have the intervals that are to contain 90 % of new
    /// measurements.
    ///
    /// # Errors
    /// Faults of the case; those of [`predictor`](CalibrationCase::predictor).
    ///
    /// # Panics
    /// Never: 90 is a level.
    pub fn load(file: &Path, workers: Workers<'_>) -> Result<Self, StudyError> {
        let document = Document::load(file)?;
        let level = IntervalLevel::of_percent(LEVEL).expect("it is a level");
        CalibrationCase::of(&document)?.predictor(&document, file, level, workers)
    }
}

impl CalibrationCase {
    /// Fits the parameters, to predict scenarios with them; the case was read from `document`, whose file is `file`.
    ///
    /// # Errors
    /// Those of [`calibrate`](Self::calibrate); a fit that does not end within its evaluations.
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
        let found = FoundMinimum { case: self, fit: &fit, best };
        let (deviation, quantile) = found.deviation();
        let identified = Identifiability::of(&found.by_parts(best.slopes.clone()), deviation, quantile);
        let left_out = cross_validation::leave_out(&found)?;
        let values = found.values_of(&best.point, |row| row.reference.is_some())?;
        let conformal = found.intervals(level, &values, &identified, &left_out)?.conformal;
        let parameter = |(unknown, at): (&super::unknown::Unknown, &f64)| {
            let (here, there) = (unknown.value(*at), unknown.value(at + unknown.step(*at)));
            NearbyParameter {
                path: unknown.path.clone(),
                best: unknown.text(here),
                nearby: unknown.text(there),
                scale: unknown.slope_by_part(*at) / (there - here),
            }
        };
        Ok(Predictor {
            choice: chosen.settings.clone(),
            parameters: fit.unknowns.iter().zip(&best.point).map(parameter).collect(),
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
    /// The best values, by path and text.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        let best = self.parameters.iter().map(|one| (one.path.clone(), one.best.clone()));
        self.choice.iter().cloned().chain(best)
    }

    /// The keys of what the case calibrates but for `key`: its errors are those of other quantities.
    ///
    /// # Errors
    /// In words, where these errors are differences, which say nothing of another quantity.
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

    /// For each parameter its path and a value close to the best one.
    pub fn variations(&self) -> impl Iterator<Item = Setting> {
        self.parameters.iter().map(|one| (one.path.clone(), one.nearby.clone()))
    }

    /// The interval of a new measurement where the best values simulate `value`, and the [variations](Self::variations), each
    /// on its own, `nearby`: the same value where a scenario lacks the parameter. `None` if too few errors are known.
    #[must_use]
    pub fn interval(&self, value: f64, nearby: &[f64]) -> Option<(f64, f64)> {
        let per_value = match self.loss {
            Loss::Relative => value.max(f64::MIN_POSITIVE).recip(),
            Loss::Absolute => 1.0,
        };
        let along = |(one, there): (&NearbyParameter, &f64)| (there - value) * one.scale * per_value / self.noise;
        let along: Vec<f64> = self.parameters.iter().zip(nearby).map(along).collect();
        let expected = self.deviation.hypot(self.identified.deviation(&along));
        let half = self.conformal.half_width("", 1.0, self.level.share())? * expected * self.noise;
        Some(around(self.loss, value, half))
    }
}
