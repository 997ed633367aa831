//! The fit of the parameters to the rows that calibrate.

use super::description::Loss;
use super::rows::MeasuredRow;
use super::simulated::{Assignment, Simulated};
use super::unknown::Unknown;
use crate::experiment::StudyError;
use crate::model::fit::{LeastSquares, Minimum};
use std::cell::Cell;

/// Parameters that are fitted to rows.
pub struct Fitting<'a> {
    pub simulated: &'a Simulated<'a>,
    pub rows: &'a [MeasuredRow],
    /// The rows that calibrate.
    pub training: Vec<usize>,
    pub unknowns: &'a [Unknown],
    pub loss: Loss,
    /// By table, the standard deviation of a measurement; 1 where it is not known.
    pub noise: &'a [f64],
    /// True if it is known of all of them.
    pub noise_is_stated: bool,
    /// Values of fields that are not fitted.
    pub choice: Vec<Assignment>,
    /// Passes over the rows that calibrate, and the most that there may be.
    pub spent: Cell<usize>,
    pub budget: usize,
    /// Seed of the starting points.
    pub seed: u64,
    /// The scenario's own values, where one begins.
    pub own: Option<&'a [f64]>,
}

impl Fitting<'_> {
    /// The values of all fields at a point.
    #[must_use]
    pub fn assigned(&self, point: &[f64]) -> Vec<Assignment> {
        let fitted = self.unknowns.iter().zip(point).map(|(unknown, at)| Assignment {
            path: unknown.path.clone(),
            text: unknown.text(unknown.value(*at)),
            tables: unknown.tables.clone(),
        });
        self.choice.iter().cloned().chain(fitted).collect()
    }

    /// The simulated values of rows at a point.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn values(&self, point: &[f64], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        self.simulated.values(&self.assigned(point), rows)
    }

    /// The residual of a row with a simulated value, in standard deviations; from a reference of 1 where there is none.
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

    /// The residuals of the rows that calibrate; `None` once the budget is spent.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn residuals(&self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        if self.spent.get() >= self.budget {
            return Ok(None);
        }
        self.spent.set(self.spent.get() + 1);
        self.residuals_of(point, &self.training).map(Some)
    }

    /// The residuals of some rows, whatever was spent.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn residuals_of(&self, point: &[f64], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        let values = self.values(point, rows)?;
        Ok(rows.iter().zip(values).map(|(row, value)| self.residual(*row, value)).collect())
    }

    /// The derivatives of the residuals of `rows` by each coordinate: those of the simulated values by the parameters, which
    /// most of them are linear in, by the chain rule.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn slopes_of(&self, point: &[f64], rows: &[usize]) -> Result<Vec<Vec<f64>>, StudyError> {
        let here = self.values(point, rows)?;
        let along = |index: usize| {
            let (unknown, at) = (&self.unknowns[index], point[index]);
            let mut moved = point.to_vec();
            moved[index] += unknown.step(at);
            let there = self.values(&moved, rows)?;
            let scale = unknown.slope(at) / (unknown.value(moved[index]) - unknown.value(at));
            let values = rows.iter().zip(there.iter().zip(&here));
            Ok(values
                .map(|(row, (there, here))| (there - here) * scale * self.slope_of_residual(*row, *here))
                .collect())
        };
        (0..point.len()).map(along).collect()
    }

    /// The derivative of the residual of a row by its simulated value.
    fn slope_of_residual(&self, row: usize, value: f64) -> f64 {
        let deviation = match self.loss {
            Loss::Relative => value.max(f64::MIN_POSITIVE).recip(),
            Loss::Absolute => 1.0,
        };
        deviation / self.noise[self.rows[row].table]
    }

    /// The same fit with a budget of its own.
    #[must_use]
    pub fn within(&self, budget: usize) -> Self {
        Fitting { training: self.training.clone(), choice: self.choice.clone(), spent: Cell::new(0), budget, ..*self }
    }

    /// Returns whether residuals are larger than the stated noise explains: three standard deviations of their sum of squares.
    #[must_use]
    pub fn is_implausible(&self, minimum: &Minimum) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let freedom = minimum.residuals.len().saturating_sub(minimum.point.len()) as f64;
        self.noise_is_stated && minimum.cost() > freedom + 3.0 * (2.0 * freedom).sqrt()
    }

    /// Derivatives by the parts of the ranges in the place of those by coordinates.
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

impl LeastSquares for Fitting<'_> {
    type Error = StudyError;

    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        self.residuals(point)
    }

    fn slopes(&mut self, point: &[f64], _: &[f64]) -> Result<Option<Vec<Vec<f64>>>, StudyError> {
        if self.spent.get() + point.len() > self.budget {
            return Ok(None);
        }
        self.spent.set(self.spent.get() + point.len());
        self.slopes_of(point, &self.training).map(Some)
    }
}
