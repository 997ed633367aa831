//! The fit of the parameters to the training rows.

use super::description::Loss;
use super::fitted_parameter::{CoordinateInterval, FittedParameter};
use super::rows::MeasuredRow;
use super::simulated::{Assignment, Simulated};
use crate::experiment::StudyError;
use crate::model::fit::{LeastSquares, Minimum};
use std::cell::Cell;

/// A least-squares problem: parameters that are fitted to rows.
pub struct Fitting<'a> {
    pub simulated: &'a Simulated<'a>,
    pub rows: &'a [MeasuredRow],
    /// The indices of the training rows.
    pub training: Vec<usize>,
    pub unknowns: &'a [FittedParameter],
    pub loss: Loss,
    /// The standard deviation of a measurement, by table; 1 if it is not known.
    pub noise: &'a [f64],
    /// `true` if the standard deviations of all tables are stated.
    pub noise_is_stated: bool,
    /// The values of fields that are not fitted.
    pub choice: Vec<Assignment>,
    /// Number of evaluations of the training rows so far.
    pub spent: Cell<usize>,
    pub budget: usize,
    /// The seed of the starting points.
    pub seed: u64,
    /// The coordinates of the scenarios' own values, if one descent starts there.
    pub own: Option<&'a [f64]>,
}

/// A point with its residuals.
pub struct EvaluatedPoint {
    pub point: Vec<f64>,
    pub residuals: Vec<f64>,
    /// The sum of squares of the residuals.
    pub cost: f64,
}

impl EvaluatedPoint {
    pub fn new(point: Vec<f64>, residuals: Vec<f64>) -> Self {
        Self { cost: sum_of_squares(&residuals), point, residuals }
    }
}

pub fn sum_of_squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

impl Fitting<'_> {
    /// Returns the values of all fields at a point.
    #[must_use]
    pub fn assigned(&self, point: &[f64]) -> Vec<Assignment> {
        let fitted = self.unknowns.iter().zip(point).map(|(unknown, at)| Assignment {
            path: unknown.path.clone(),
            text: unknown.text(unknown.value(*at)),
            tables: unknown.tables.clone(),
        });
        self.choice.iter().cloned().chain(fitted).collect()
    }

    /// Returns the simulated values of rows at a point.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn values(&self, point: &[f64], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        self.simulated.values(&self.assigned(point), rows)
    }

    /// Returns the residual of a row with a simulated value, in standard deviations. A row without a reference is treated
    /// as if the reference were 1.
    #[must_use]
    pub fn residual(&self, row: usize, value: f64) -> f64 {
        let MeasuredRow { reference, table, .. } = &self.rows[row];
        let reference = reference.unwrap_or(1.0);
        let deviation = match self.loss {
            // A value of 0 has no logarithm.
            Loss::Relative => (value.max(f64::MIN_POSITIVE) / reference).ln(),
            Loss::Absolute => value - reference,
        };
        deviation / self.noise[*table]
    }

    /// Returns the residuals of the training rows; `None` once the budget is spent.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn residuals(&self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        if self.spent.get() >= self.budget {
            return Ok(None);
        }
        self.spent.set(self.spent.get() + 1);
        self.residuals_of(point, &self.training).map(Some)
    }

    /// Returns the residuals of some rows, regardless of the budget.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn residuals_of(&self, point: &[f64], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        let values = self.values(point, rows)?;
        Ok(rows.iter().zip(values).map(|(row, value)| self.residual(*row, value)).collect())
    }

    /// Returns the derivatives of the residuals of `rows` with respect to each coordinate. By the chain rule, they
    /// follow from the derivatives of the simulated values with respect to the parameters, in which most simulated
    /// values are linear.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn slopes_of(&self, point: &[f64], rows: &[usize]) -> Result<Vec<Vec<f64>>, StudyError> {
        let here = self.values(point, rows)?;
        let along = |index: usize| {
            let (unknown, at) = (&self.unknowns[index], point[index]);
            let to = at + unknown.step(at);
            let scale = unknown.slope(at) / (unknown.value(to) - unknown.value(at));
            let changes = self.changes(&with_coordinate(point, index, to), rows, &here)?;
            Ok(changes.into_iter().map(|change| change * scale).collect())
        };
        (0..point.len()).map(along).collect()
    }

    /// Returns the changes of the residuals of `rows` with a coordinate at either end of an interval: the slope at
    /// `point` says little about a whole interval.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn changes_at_ends(
        &self,
        point: &[f64],
        index: usize,
        (low, high): CoordinateInterval,
        rows: &[usize],
    ) -> Result<Vec<[f64; 2]>, StudyError> {
        let here = self.values(point, rows)?;
        let [low, high] = [low, high].map(|end| self.changes(&with_coordinate(point, index, end), rows, &here));
        Ok(low?.into_iter().zip(high?).map(|(low, high)| [low, high]).collect())
    }

    /// Returns the changes of the residuals of `rows` from `point` to another one.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn changes_to(&self, to: &[f64], point: &[f64], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        self.changes(to, rows, &self.values(point, rows)?)
    }

    /// Returns the changes of the residuals of `rows`, whose simulated values are `here`, at another point; they are
    /// linear in the simulated values.
    fn changes(&self, moved: &[f64], rows: &[usize], here: &[f64]) -> Result<Vec<f64>, StudyError> {
        let there = self.values(moved, rows)?;
        let values = rows.iter().zip(there.iter().zip(here));
        Ok(values.map(|(row, (there, here))| (there - here) * self.slope_of_residual(*row, *here)).collect())
    }

    /// Returns the derivative of the residual of a row with respect to its simulated value.
    fn slope_of_residual(&self, row: usize, value: f64) -> f64 {
        let deviation = match self.loss {
            Loss::Relative => value.max(f64::MIN_POSITIVE).recip(),
            Loss::Absolute => 1.0,
        };
        deviation / self.noise[self.rows[row].table]
    }

    /// Returns the same fit with a separate budget.
    #[must_use]
    pub fn within(&self, budget: usize) -> Self {
        Fitting { training: self.training.clone(), choice: self.choice.clone(), spent: Cell::new(0), budget, ..*self }
    }

    /// Returns `true` if the residuals are larger than the stated noise explains: their sum of squares exceeds its
    /// expectation by three standard deviations.
    #[must_use]
    pub fn is_implausible(&self, minimum: &Minimum) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let freedom = minimum.residuals.len().saturating_sub(minimum.point.len()) as f64;
        self.noise_is_stated && minimum.cost() > freedom + 3.0 * (2.0 * freedom).sqrt()
    }

    /// Converts derivatives with respect to coordinates into derivatives with respect to range fractions.
    #[must_use]
    pub fn by_parts(&self, point: &[f64], mut slopes: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for ((slopes, unknown), at) in slopes.iter_mut().zip(self.unknowns).zip(point) {
            let factor = unknown.slope_by_part(*at) / unknown.slope(*at);
            for slope in slopes.iter_mut() {
                *slope *= factor;
            }
        }
        slopes
    }
}

/// Returns a point with another value of one coordinate.
fn with_coordinate(point: &[f64], index: usize, to: f64) -> Vec<f64> {
    let mut moved = point.to_vec();
    moved[index] = to;
    moved
}

impl LeastSquares for Fitting<'_> {
    type Error = StudyError;

    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        self.residuals(point)
    }

    fn jacobian(&mut self, point: &[f64], _: &[f64]) -> Result<Option<Vec<Vec<f64>>>, StudyError> {
        if self.spent.get() + point.len() > self.budget {
            return Ok(None);
        }
        self.spent.set(self.spent.get() + point.len());
        self.slopes_of(point, &self.training).map(Some)
    }
}
