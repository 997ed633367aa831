//! Errors of predictions relative to measurements.

/// Signed relative errors, `(predicted − measured) / measured`, of a set of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals(Vec<f64>);

impl Residuals {
    /// Returns the relative error of one prediction.
    #[must_use]
    pub fn error(predicted: f64, measured: f64) -> f64 {
        (predicted - measured) / measured
    }

    /// Returns the mean of the absolute errors; `None` without cells.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tables have few cells")]
    pub fn mean_absolute(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|error| error.abs()).sum();
        (!self.0.is_empty()).then(|| sum / self.0.len() as f64)
    }

    /// Returns the mean of the signed errors, which is positive if predictions are too large; `None` without cells.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tables have few cells")]
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// Returns the symmetric mean absolute percentage error as a ratio, the mean of 2 |P − M| / (|P| + |M|), for
    /// measurements M of at least 0; `None` without cells. If M is 0, that is 2, or 0 if P is 0, too.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tables have few cells")]
    pub fn symmetric_mean_absolute(&self) -> Option<f64> {
        let symmetric = |error: &f64| match error {
            error if error.is_nan() => 0.0,
            error if error.is_infinite() => 2.0,
            error => 2.0 * error.abs() / ((1.0 + error).abs() + 1.0),
        };
        let sum: f64 = self.0.iter().map(symmetric).sum();
        (!self.0.is_empty()).then(|| sum / self.0.len() as f64)
    }

    /// Returns the largest absolute error; `None` without cells.
    #[must_use]
    pub fn max_absolute(&self) -> Option<f64> {
        self.0.iter().map(|error| error.abs()).reduce(f64::max)
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// Returns the root mean square, in the unit of the errors; `None` without errors.
#[must_use]
pub fn root_mean_square(errors: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = errors.fold((0.0, 0.0), |(count, sum), error| (count + 1.0, sum + error * error));
    (count > 0.0).then(|| f64::sqrt(sum / count))
}

impl FromIterator<f64> for Residuals {
    fn from_iter<I: IntoIterator<Item = f64>>(errors: I) -> Self {
        Self(errors.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_two_cells() {
        let residuals: Residuals = [Residuals::error(1.0, 2.0), Residuals::error(3.0, 2.0)].into_iter().collect();
        assert_eq!(residuals.mean(), Some(0.0));
        assert_eq!(residuals.mean_absolute(), Some(0.5));
        // 2 · 1 / 3 and 2 · 1 / 5.
        assert!((residuals.symmetric_mean_absolute().unwrap() - f64::midpoint(2.0 / 3.0, 0.4)).abs() < 1e-12);
        let of_zero: Residuals = [Residuals::error(1.0, 0.0), Residuals::error(0.0, 0.0)].into_iter().collect();
        assert_eq!(of_zero.symmetric_mean_absolute(), Some(1.0));
        assert_eq!(root_mean_square([3.0, -4.0].into_iter()), Some(12.5_f64.sqrt()));
        assert_eq!(root_mean_square(std::iter::empty()), None);
    }
}
