//! Linear least squares with confidence intervals, residuals and leave-one-out errors.

use super::least_squares::{Qr, dot};
use crate::analysis::{Residuals, root_mean_square, student_quantile};
use std::iter::zip;

/// The distance of a leverage from one below which its point determines a coefficient alone.
const LEVERAGE_TOLERANCE: f64 = 1e-9;

/// The residuals whose sum of squares is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// Residuals in the unit of the values, for errors of equal size.
    Absolute,
    /// Residuals divided by the values, which must be positive, for errors in percent over several orders of magnitude.
    Relative,
}

impl Weighting {
    pub(super) fn weight(self, value: f64) -> f64 {
        match self {
            Self::Absolute => 1.0,
            Self::Relative => value.recip(),
        }
    }
}

/// The quality of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// The number of points.
    pub points: usize,
    /// R² corrected for the number of coefficients, `1 − (1 − R²) (n − 1) / (n − k)`; `None` if all values are equal or
    /// if there are as many coefficients as points.
    pub r_squared_adjusted: Option<f64>,
    /// The symmetric mean absolute percentage error, as a ratio.
    pub smape: f64,
    /// The root mean square of the residuals, in the unit of the values.
    pub root_mean_square: f64,
    /// The largest relative residual.
    pub largest_error: f64,
    /// The root mean square of the relative errors of each point, predicted from all others, without the points that
    /// determine a coefficient alone; `None` if all do.
    pub leave_one_out: Option<f64>,
    /// The indices of the points that determine a coefficient alone, in ascending order.
    pub decisive: Vec<usize>,
}

/// A linear model fitted to points.
#[derive(Clone, Debug)]
pub struct Regression {
    /// The coefficients, one for each column.
    pub coefficients: Vec<f64>,
    /// Half the widths of the 95 % confidence intervals of the coefficients by Student's t; `None` with as many
    /// coefficients as points.
    pub intervals: Option<Vec<f64>>,
    /// The value of the model at each point.
    pub fitted: Vec<f64>,
    /// The quality of the fit.
    pub quality: Quality,
    weighting: Weighting,
    /// The variance of a residual of weight one; `None` with as many coefficients as points.
    variance: Option<f64>,
    /// (Aᵀ W² A)⁻¹
    spread: Vec<Vec<f64>>,
}

/// The solution of the weighted problem, with the numbers needed to rate a hypothesis.
struct Solution {
    coefficients: Vec<f64>,
    /// The weighted residuals.
    residuals: Vec<f64>,
    /// The weight of each point's value in its own fit.
    leverages: Vec<f64>,
    qr: Qr,
}

impl Solution {
    /// Solves the weighted problem for the values less their `known` parts. Returns `None` if the weighted columns are
    /// dependent or outnumber the points.
    fn of(columns: &[Vec<f64>], known: &[f64], values: &[f64], weighting: Weighting) -> Option<Self> {
        let weights: Vec<_> = values.iter().map(|value| weighting.weight(*value)).collect();
        let weighted = |vector: &[f64]| -> Vec<f64> { zip(&weights, vector).map(|(weight, x)| weight * x).collect() };
        let a: Vec<_> = columns.iter().map(|column| weighted(column)).collect();
        let b = weighted(&zip(values, known).map(|(value, known)| value - known).collect::<Vec<_>>());
        let qr = Qr::of(&a)?;
        let coefficients = qr.solve(&b);
        let residuals = b.iter().enumerate().map(|(row, b)| b - at(&a, row, &coefficients)).collect();
        Some(Self { residuals, leverages: qr.leverages(), coefficients, qr })
    }

    /// Returns the weighted residual of each point with respect to the fit to all others; `None` for a point that
    /// determines a coefficient alone.
    fn left_out(&self) -> impl Iterator<Item = Option<f64>> {
        let of = |(residual, leverage): (&f64, &f64)| {
            let rest = 1.0 - leverage;
            (rest > LEVERAGE_TOLERANCE).then(|| residual / rest)
        };
        self.residuals.iter().zip(&self.leverages).map(of)
    }
}

impl Regression {
    /// Fits the coefficients that minimise the sum of squared weighted deviations of `columns` from `values`.
    ///
    /// Returns `None` if the points do not determine the coefficients, or if residuals are relative and a value is not
    /// positive.
    #[must_use]
    pub fn of(columns: &[Vec<f64>], values: &[f64], weighting: Weighting) -> Option<Self> {
        Self::beyond(&vec![0.0; values.len()], columns, values, weighting)
    }

    /// Fits the coefficients like [`of`](Self::of), where `known` parts of the values need no coefficient. Weights and
    /// errors are those of the whole values.
    pub(super) fn beyond(known: &[f64], columns: &[Vec<f64>], values: &[f64], weighting: Weighting) -> Option<Self> {
        if weighting == Weighting::Relative && values.iter().any(|value| *value <= 0.0) {
            return None;
        }
        let solution = Solution::of(columns, known, values, weighting)?;
        let (points, count) = (values.len(), columns.len());
        #[expect(clippy::cast_precision_loss, reason = "nobody fits 2^52 points")]
        let freedom = (points - count) as f64;
        let variance = (points > count).then(|| dot(&solution.residuals, &solution.residuals) / freedom);
        let spread = solution.qr.spread();
        let quantile = student_quantile(points - count);
        let interval = |index: usize| variance.map(|variance| quantile * (variance * spread[index][index]).sqrt());
        let coefficients = solution.coefficients.clone();
        let fitted: Vec<_> = (0..points).map(|row| known[row] + at(columns, row, &coefficients)).collect();
        Some(Self {
            intervals: (0..count).map(interval).collect(),
            quality: quality(&solution, values, &fitted, weighting, freedom),
            coefficients,
            fitted,
            weighting,
            variance,
            spread,
        })
    }

    /// Returns the errors by which hypotheses are compared. Returns `None` if there is no such fit.
    pub(super) fn leave_one_out(columns: &[Vec<f64>], values: &[f64], weighting: Weighting) -> Option<LeftOut> {
        let solution = Solution::of(columns, &vec![0.0; values.len()], values, weighting)?;
        Some(LeftOut::of(&solution, values, weighting))
    }

    /// Returns the value of the model at the point with these column values, and half the width of the 95 % prediction
    /// interval of a new observation there. The latter is `None` with as many coefficients as points.
    #[must_use]
    pub fn predict(&self, row: &[f64]) -> (f64, Option<f64>) {
        let value = row.iter().zip(&self.coefficients).map(|(x, coefficient)| x * coefficient).sum();
        (value, self.half_width(row, self.weighting.weight(value).powi(-2)))
    }

    /// Returns half the width of the 95 % confidence interval of the coefficients' sum with these weights; `None` with
    /// as many coefficients as points.
    pub(super) fn interval_of(&self, weights: &[f64]) -> Option<f64> {
        self.half_width(weights, 0.0)
    }

    /// Returns half the width of the interval of a weighted sum of the coefficients and of noise, whose variance is a
    /// multiple of that of a residual of weight one.
    fn half_width(&self, weights: &[f64], noise: f64) -> Option<f64> {
        let of_model: f64 = zip(weights, &self.spread).map(|(x, spread)| x * dot(spread, weights)).sum();
        let quantile = student_quantile(self.fitted.len() - self.coefficients.len());
        self.variance.map(|variance| quantile * (variance * (of_model + noise)).sqrt())
    }
}

fn at(columns: &[Vec<f64>], row: usize, coefficients: &[f64]) -> f64 {
    columns.iter().zip(coefficients).map(|(column, coefficient)| column[row] * coefficient).sum()
}

/// The errors of points predicted from all others.
pub(super) struct LeftOut {
    /// The root mean square of the relative errors; `None` if every point determines a coefficient alone.
    pub(super) error: Option<f64>,
    /// The points that determine a coefficient alone, which have no such error.
    pub(super) decisive: Vec<usize>,
}

impl LeftOut {
    fn of(solution: &Solution, values: &[f64], weighting: Weighting) -> Self {
        let errors: Vec<_> = solution.left_out().collect();
        let relative = |(error, value): (&Option<f64>, &f64)| Some((*error)? / weighting.weight(*value) / value);
        let decisive = (0..errors.len()).filter(|index| errors[*index].is_none()).collect();
        Self { error: root_mean_square(errors.iter().zip(values).filter_map(relative)), decisive }
    }
}

fn quality(solution: &Solution, values: &[f64], fitted: &[f64], weighting: Weighting, freedom: f64) -> Quality {
    let pairs = || fitted.iter().zip(values);
    let residuals: Residuals = pairs().map(|(fitted, value)| Residuals::error(*fitted, *value)).collect();
    #[expect(clippy::cast_precision_loss, reason = "nobody fits 2^52 points")]
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let total: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let left: f64 = pairs().map(|(fitted, value)| (fitted - value).powi(2)).sum();
    let left_out = LeftOut::of(solution, values, weighting);
    Quality {
        points: values.len(),
        r_squared_adjusted: (total > 0.0 && freedom > 0.0)
            .then(|| 1.0 - left / total * (count - 1.0) / freedom)
            .filter(|r_squared| r_squared.is_finite()),
        smape: residuals.symmetric_mean_absolute().unwrap_or(0.0),
        root_mean_square: root_mean_square(pairs().map(|(fitted, value)| fitted - value)).unwrap_or(0.0),
        largest_error: residuals.max_absolute().unwrap_or(0.0),
        leave_one_out: left_out.error,
        decisive: left_out.decisive,
    }
}
