//! The best point of a calibration, and what is asked of it.

use super::description::CalibrationCase;
use super::fitting::Fitting;
use super::rows::MeasuredRow;
use super::{Calibrated, FittedChoice, TriedChoice, combination, cross_validation, everywhere, mean_error};
use crate::analysis::student_quantile;
use crate::experiment::{Level, StudyError};
use crate::model::fit::{Identifiability, Minimum};
use std::cell::Cell;

/// The least standard deviation of a residual: what picoseconds leave of times.
const LEAST_DEVIATION: f64 = 1e-9;

/// The best point of the best choice.
pub struct Found<'a> {
    pub case: &'a CalibrationCase,
    pub fit: &'a Fitting<'a>,
    pub best: &'a Minimum,
}

impl Found<'_> {
    /// The standard deviation of a residual, and the quantile of Student's t for the data.
    pub fn deviation(&self) -> (f64, f64) {
        let freedom = self.best.residuals.len().saturating_sub(self.best.point.len()).max(1);
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let observed = (self.best.cost() / freedom as f64).sqrt();
        // A model that fits worse than the noise is not known better than it fits.
        let is_stated = self.case.tables.iter().all(|table| table.noise.is_some());
        let deviation = if is_stated { observed.max(1.0) } else { observed };
        (deviation.max(LEAST_DEVIATION), student_quantile(freedom))
    }

    /// The root mean square of the residuals in units of the noise, if that is stated.
    fn misfit(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let count = self.best.residuals.len() as f64;
        self.case.tables.iter().all(|table| table.noise.is_some()).then(|| (self.best.cost() / count).sqrt())
    }

    /// Derivatives by the parts of the ranges in the place of those by coordinates.
    pub fn by_parts(&self, mut slopes: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for ((slopes, unknown), at) in slopes.iter_mut().zip(self.fit.unknowns).zip(&self.best.point) {
            let factor = unknown.slope_by_part(*at) / unknown.slope(*at);
            for slope in slopes.iter_mut() {
                *slope *= factor;
            }
        }
        slopes
    }

    pub fn answer(&self, choices: Vec<TriedChoice>) -> Result<Calibrated, StudyError> {
        let (deviation, quantile) = self.deviation();
        let slopes = self.by_parts(self.best.slopes.clone());
        let identified = Identifiability::of(&slopes, deviation, quantile);
        let told = combination::told(self, &identified)?;
        let settings = self.fit.assigned(&self.best.point);
        let machine = self.fit.simulated.base(0, &settings)?.scenario.machine_ron();
        let evaluations = self.fit.spent.get();
        let left_out = cross_validation::leave_out(self)?;
        let is_predicted = |row: &MeasuredRow| row.reference.is_some() || self.case.intervals.level.is_some();
        let values = self.values_of(&self.best.point, is_predicted)?;
        let level = self.case.intervals.level.and_then(Level::of_percent);
        let intervals = level.map(|level| self.intervals(level, &values, &identified, &left_out)).transpose()?;
        Ok(Calibrated {
            case: self.case.clone(),
            values,
            parameters: self.parameters(&identified, &told, quantile * deviation)?,
            combinations: told.iter().map(|one| self.combination(one, &identified, quantile)).collect(),
            left_out,
            intervals,
            candidates: self.candidates(&identified, deviation)?,
            evaluations,
            has_converged: choices.iter().all(|one| one.has_converged),
            misfit: self.misfit(),
            choices,
            machine,
            rows: self.fit.rows.to_vec(),
            identified,
        })
    }

    /// The simulated values of some rows.
    fn values_of(
        &self,
        point: &[f64],
        is_wanted: impl Fn(&MeasuredRow) -> bool,
    ) -> Result<Vec<Option<f64>>, StudyError> {
        let rows = self.fit.rows;
        let wanted: Vec<usize> = (0..rows.len()).filter(|row| is_wanted(&rows[*row])).collect();
        let mut values = vec![None; rows.len()];
        for (row, value) in wanted.iter().zip(self.fit.values(point, &wanted)?) {
            values[*row] = Some(value);
        }
        Ok(values)
    }

    pub fn choices(&self, fitted: &[FittedChoice]) -> Result<Vec<TriedChoice>, StudyError> {
        let of = |one: &FittedChoice| {
            let errors = one.minimum.as_ref().map(|minimum| {
                let choice =
                    one.settings.iter().map(|(path, text)| everywhere(path, text, self.fit.simulated)).collect();
                let fit = Fitting { choice, training: Vec::new(), spent: Cell::new(0), ..*self.fit };
                let found = Found { case: self.case, fit: &fit, best: minimum };
                let values = found.values_of(&minimum.point, |row| row.reference.is_some())?;
                let errors = [true, false].map(|trains| mean_error(self.fit.rows, &values, |row| row.trains == trains));
                Ok::<_, StudyError>(errors)
            });
            let [train_error, held_out_error] = errors.transpose()?.unwrap_or_default();
            let cost = one.minimum.as_ref().map_or(f64::INFINITY, Minimum::cost);
            let (deviation, quantile) = self.deviation();
            Ok(TriedChoice {
                settings: one.settings.clone(),
                train_error,
                held_out_error,
                has_converged: one.minimum.as_ref().is_some_and(|minimum| minimum.has_converged),
                is_as_good: cost - self.best.cost() <= (quantile * deviation).powi(2),
            })
        };
        fitted.iter().map(of).collect()
    }

    /// What each measurement that could be made would tell: half the logarithm of the determinant of the information with
    /// it over that without (D-optimality).
    fn candidates(&self, identified: &Identifiability, deviation: f64) -> Result<Vec<(usize, f64)>, StudyError> {
        let rows = self.fit.rows;
        let possible: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].reference.is_none()).collect();
        if possible.is_empty() {
            return Ok(Vec::new());
        }
        let slopes = self.by_parts(self.fit.slopes_of(&self.best.point, &possible)?);
        let gain = |place: usize| {
            let weights: Vec<f64> = slopes.iter().map(|slopes| slopes[place]).collect();
            0.5 * (identified.deviation(&weights) / deviation).powi(2).ln_1p()
        };
        let mut told: Vec<_> = possible.iter().enumerate().map(|(place, row)| (*row, gain(place))).collect();
        told.sort_by(|one, other| other.1.total_cmp(&one.1));
        Ok(told)
    }
}
