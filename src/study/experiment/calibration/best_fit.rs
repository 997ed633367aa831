//! The best minimum of a calibration, and quantities derived from it.

use super::description::CalibrationCase;
use super::fitting::Fitting;
use super::rows::MeasuredRow;
use crate::analysis::student_quantile;
use crate::experiment::StudyError;
use crate::model::fit::{Identifiability, Minimum};

/// The least standard deviation of a residual: times are rounded to picoseconds.
const LEAST_DEVIATION: f64 = 1e-9;

/// The best minimum of the best alternative.
pub struct BestFit<'a> {
    pub case: &'a CalibrationCase,
    pub fit: &'a Fitting<'a>,
    pub best: &'a Minimum,
}

/// The noise of residuals.
#[derive(Clone, Copy)]
pub struct ResidualNoise {
    /// The standard deviation of a residual.
    pub deviation: f64,
    /// The quantile of Student's t for the data: the number of deviations that noise explains.
    pub quantile: f64,
}

impl ResidualNoise {
    /// Returns the greatest change of the residuals that noise explains.
    pub fn limit(self) -> f64 {
        self.quantile * self.deviation
    }

    /// Returns the greatest change of the sum of squares that noise explains.
    pub fn explained(self) -> f64 {
        self.limit().powi(2)
    }
}

impl BestFit<'_> {
    /// Returns the noise of the residuals.
    pub fn noise(&self) -> ResidualNoise {
        let freedom = self.best.residuals.len().saturating_sub(self.best.point.len()).max(1);
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let observed = (self.best.cost() / freedom as f64).sqrt();
        // If the model fits worse than the noise explains, the misfit limits the accuracy.
        let deviation = if self.fit.noise_is_stated { observed.max(1.0) } else { observed };
        ResidualNoise { deviation: deviation.max(LEAST_DEVIATION), quantile: student_quantile(freedom) }
    }

    /// Returns `true` if the accuracy of the parameters is known: the noise is stated, or there are more rows than
    /// parameters.
    pub fn knows_noise(&self) -> bool {
        self.fit.noise_is_stated || self.best.residuals.len() > self.best.point.len()
    }

    /// Returns `true` if the residuals are no larger than rounding errors.
    pub fn is_exact(&self) -> bool {
        self.noise().deviation <= LEAST_DEVIATION
    }

    /// Returns the root mean square of the residuals in units of the noise, if the noise is stated.
    pub fn misfit(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let count = self.best.residuals.len() as f64;
        self.fit.noise_is_stated.then(|| (self.best.cost() / count).sqrt())
    }

    /// Converts derivatives at the best point with respect to coordinates into derivatives with respect to range
    /// fractions.
    pub fn by_parts(&self, slopes: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        self.fit.by_parts(&self.best.point, slopes)
    }

    /// Returns the simulated values of the wanted rows.
    pub fn values_of(
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

    /// Returns the gain of each measurement that could be made: half the logarithm of the determinant of the
    /// information matrix with the measurement over that without it (D-optimality).
    pub fn candidates(&self, identified: &Identifiability, deviation: f64) -> Result<Vec<(usize, f64)>, StudyError> {
        let rows = self.fit.rows;
        let possible: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].reference.is_none()).collect();
        if possible.is_empty() {
            return Ok(Vec::new());
        }
        let slopes = self.by_parts(self.fit.slopes_of(&self.best.point, &possible)?);
        let gain = |place: usize| {
            let weights: Vec<f64> = slopes.iter().map(|slopes| slopes[place]).collect();
            0.5 * (identified.covariance.deviation(&weights) / deviation).powi(2).ln_1p()
        };
        let mut gains: Vec<_> = possible.iter().enumerate().map(|(place, row)| (*row, gain(place))).collect();
        gains.sort_by(|left, right| right.1.total_cmp(&left.1));
        Ok(gains)
    }
}
