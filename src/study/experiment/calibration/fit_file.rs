//! The file of a fit, which predicts other scenarios without another calibration.

use super::Calibrated;
use super::predictor::Predictor;
use crate::report::counted;
use crate::scenario::source::{Document, Faults, SourceFault};
use crate::scenario::{RESULTS, as_ron};
use std::path::Path;

impl Calibrated {
    /// Returns the fit as a file, with its origin in comments; `case` is the file of the case. Returns `None` if the fit
    /// has not converged, or if the case has no intervals.
    #[must_use]
    pub fn fit_file(&self, case: &Path) -> Option<String> {
        self.predictor.as_ref().map(|fit| self.origin(case) + &as_ron(fit) + "\n")
    }
}

impl Predictor {
    /// Returns whether a document is a fit.
    #[must_use]
    pub fn is_in(document: &Document) -> bool {
        document.root().name() == Some("Fit")
    }

    /// Reads a fit and checks it.
    ///
    /// # Errors
    /// Returns the faults of the document, or the fault that the fit belongs to other versions of simulated values.
    pub fn of(document: &Document) -> Result<Self, Faults> {
        let fit: Self = document.read()?;
        let faults = fit.faults(document);
        if faults.is_empty() { Ok(fit) } else { Err(document.faults(faults)) }
    }

    /// Describes the fit.
    #[must_use]
    pub fn verdict(&self) -> String {
        let parameters = counted(self.parameters.len(), "parameter");
        format!("a fit of {}, {parameters}, {} for its intervals", self.case, counted(self.conformal.count(), "error"))
    }

    fn faults(&self, document: &Document) -> Vec<SourceFault> {
        let fault = |at: &str, message: &str, help: &str| document.fault_at(at, message, Some(help));
        let again = format!("repeat `parsim calibrate {} --fit-out FILE`", self.case);
        let other_version = (self.results != RESULTS).then(|| {
            let words = format!("fitted to the simulated values of version {}, not of version {RESULTS}", self.results);
            fault("results", &words, &again)
        });
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        let scales = [("noise", self.noise), ("deviation", self.deviation)];
        let scales = scales.into_iter().filter(|(_, value)| !is_positive(*value));
        let count = self.parameters.len();
        let has_shape = self.covariance.0.len() == count && self.covariance.0.iter().all(|row| row.len() == count);
        let covariance = (!has_shape).then(|| {
            let shape = format!("expected a row and a column for each of the {}", counted(count, "parameter"));
            fault("covariance", &shape, &again)
        });
        let mut errors = self.conformal.kinds.values().flatten().chain([&self.conformal.growth]);
        let is_negative = errors.any(|error| error.is_nan() || *error < 0.0);
        let conformal = is_negative.then(|| fault("conformal", "errors and their growth are at least 0", &again));
        let scales = scales.map(|(at, _)| fault(at, "expected a number above 0", &again));
        other_version.into_iter().chain(scales).chain(covariance).chain(conformal).collect()
    }
}
