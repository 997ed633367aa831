//! Errors of predictions against measurements.

/// Signed relative errors, `(predicted − measured) / measured`, of a set of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals(Vec<f64>);

impl Residuals {
    /// The relative error of one prediction.
    #[must_use]
    pub fn error(predicted: f64, measured: f64) -> f64 {
        (predicted - measured) / measured
    }

    /// The mean of the absolute errors; `None` without cells.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tables have few cells")]
    pub fn mean_absolute(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|error| error.abs()).sum();
        (!self.0.is_empty()).then(|| sum / self.0.len() as f64)
    }

    /// The largest absolute error; `None` without cells.
    #[must_use]
    pub fn max_absolute(&self) -> Option<f64> {
        self.0.iter().map(|error| error.abs()).reduce(f64::max)
    }

    /// The number of cells.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<f64> for Residuals {
    fn from_iter<I: IntoIterator<Item = f64>>(errors: I) -> Self {
        Self(errors.into_iter().collect())
    }
}
