//! The fit of the parameters to the rows that calibrate.

use super::description::Loss;
use super::rows::MeasuredRow;
use super::simulated::{Assignment, Simulated};
use super::unknown::Unknown;
use crate::experiment::StudyError;
use crate::model::fit::{LeastSquares, Minimum, minimise};
use parsim_sim::engine::Streams;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use std::cell::Cell;

/// Points that are tried before the descent begins at the best of them.
const MOST_STARTS: usize = 8;
/// Evaluations of the budget for each of them.
const BUDGET_OF_A_START: usize = 8;
/// Starting points from which a descent begins.
const DESCENTS: usize = 3;

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

    /// The minima that the budget reaches, the best one first; none if it does not reach the first slopes. And what was spent.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn minima(mut self, seed: u64, own: Option<Vec<f64>>) -> Result<(Vec<Minimum>, usize), StudyError> {
        let mut starts = Vec::new();
        for start in self.starts(seed, own) {
            let Some(residuals) = self.residuals(&start)? else { break };
            let cost: f64 = residuals.iter().map(|residual| residual * residual).sum();
            starts.push((cost, start, residuals));
        }
        starts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut minima: Vec<Minimum> = Vec::new();
        for (place, (_, start, residuals)) in starts.into_iter().enumerate() {
            if place >= DESCENTS && !minima.first().is_some_and(|best| self.is_implausible(best)) {
                break;
            }
            let Some(found) = minimise(&mut self, &start, residuals)? else { continue };
            let worse = minima.iter().position(|one| found.cost() < one.cost());
            minima.insert(worse.unwrap_or(minima.len()), found);
        }
        Ok((minima, self.spent.get()))
    }

    /// Returns whether residuals are larger than the stated noise explains: three standard deviations of their sum of squares.
    #[must_use]
    pub fn is_implausible(&self, minimum: &Minimum) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let freedom = minimum.residuals.len().saturating_sub(minimum.point.len()) as f64;
        self.noise_is_stated && minimum.cost() > freedom + 3.0 * (2.0 * freedom).sqrt()
    }

    /// The minimum that is reached from a point, `None` if the budget does not reach the first slopes.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn from(&mut self, point: &[f64]) -> Result<Option<Minimum>, StudyError> {
        match self.residuals(point)? {
            Some(residuals) => minimise(self, point, residuals),
            None => Ok(None),
        }
    }

    /// The scenario's own values, the middle of all ranges, and points at random, one in each slice of every range.
    fn starts(&self, seed: u64, own: Option<Vec<f64>>) -> Vec<Vec<f64>> {
        let size = self.unknowns.len();
        let count = (self.budget / BUDGET_OF_A_START).clamp(1, MOST_STARTS);
        let mut random = Streams::new(seed).stream("calibration", 0);
        let mut points = vec![vec![0.0; size]; count];
        for coordinate in 0..size {
            let mut slices: Vec<usize> = (0..count).collect();
            slices.shuffle(&mut random);
            for (point, slice) in points.iter_mut().zip(slices) {
                let within: f64 = random.random();
                #[expect(clippy::cast_precision_loss, reason = "there are a few starts")]
                let at = (slice as f64 + within) / count as f64;
                point[coordinate] = at;
            }
        }
        own.into_iter().chain([vec![0.5; size]]).chain(points).take(count).collect()
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
