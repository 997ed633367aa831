//! The file of a fit, which predicts other scenarios without another calibration.

use super::Calibrated;
use super::inputs::inputs;
use super::predictor::Predictor;
use crate::experiment::path_word;
use crate::programs::{digest_of_file, digest_of_text};
use crate::report::counted;
use crate::scenario::source::{Document, Faults, SourceFault};
use crate::scenario::{RESULTS, as_ron};
use std::path::{Path, PathBuf};

impl Calibrated {
    /// Returns the fit as a file, with its origin in comments; the case was read from `document`, whose file is `case`.
    /// Returns `None` if the fit has not converged, or if the case has no intervals.
    #[must_use]
    pub fn fit_file(&self, document: &Document, case: &Path) -> Option<String> {
        let mut kept = self.predictor.clone()?;
        kept.inputs = inputs(&self.case, document, case);
        kept.checksum = kept.sum();
        Some(self.origin(case) + &as_ron(&kept) + "\n")
    }
}

impl Predictor {
    /// Returns whether a document is a fit.
    #[must_use]
    pub fn is_in(document: &Document) -> bool {
        document.root().name() == Some("Fit")
    }

    /// Reads a fit from a document, whose file is `file`, and checks it.
    ///
    /// # Errors
    /// Returns the faults of the document, or the fault that the fit belongs to other versions of simulated values, or
    /// that its file was changed.
    pub fn of(document: &Document, file: &Path) -> Result<Self, Faults> {
        if let Some(fault) = other_version(document) {
            return Err(document.faults(vec![fault]));
        }
        let mut fit: Self = document.read()?;
        let faults = fit.faults(document);
        if !faults.is_empty() {
            return Err(document.faults(faults));
        }
        file.clone_into(&mut fit.file);
        fit.found_case = fit.find_case(file);
        fit.outdated = fit.found_case.as_deref().and_then(|case| fit.changes(case));
        Ok(fit)
    }

    /// Returns the file of the case: as the fit names it, relative to its own folder or to the current one, or beside
    /// the fit, which may have been moved together with its case.
    fn find_case(&self, fit: &Path) -> Option<PathBuf> {
        let (folder, case) = (fit.parent().unwrap_or(Path::new("")), Path::new(&self.case));
        let beside = folder.join(case.file_name()?);
        [folder.join(case), case.to_owned(), beside].into_iter().find(|path| path.is_file())
    }

    /// Returns which files of the case, whose own file is `case`, have other contents than when it was fitted. Files
    /// that no longer exist are not compared.
    fn changes(&self, case: &Path) -> Option<String> {
        let folder = case.parent().unwrap_or(Path::new(""));
        let is_changed =
            |(name, hash): &&(String, String)| digest_of_file(&folder.join(name)).is_ok_and(|now| now != *hash);
        let changed = self.inputs.iter().filter(is_changed).map(|(name, _)| folder.join(name).display().to_string());
        let changed: Vec<_> = changed.collect();
        let have = if changed.len() == 1 { "has" } else { "have" };
        (!changed.is_empty()).then(|| {
            format!("{} {have} changed since the fit, which {} repeats.", changed.join(", "), again(&self.case))
        })
    }

    /// Returns the hash of all values but the hash itself.
    fn sum(&self) -> String {
        let mut others = self.clone();
        others.checksum.clear();
        digest_of_text(as_ron(&others).as_bytes())
    }

    /// Returns `true` if the fit was read from a file, and no case was fitted.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        !self.checksum.is_empty()
    }

    /// Returns sentences about files of the case that have changed since the fit.
    pub fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        self.outdated.iter().map(|words| format!("note: {words}"))
    }

    /// Describes the fit.
    #[must_use]
    pub fn verdict(&self) -> String {
        let parameters = counted(self.parameters.len(), "parameter");
        format!("a fit of {}, {parameters}, {} for its intervals", self.case, counted(self.conformal.count(), "error"))
    }

    fn faults(&self, document: &Document) -> Vec<SourceFault> {
        let fault = |at: &str, message: &str, help: &str| document.fault_at(at, message, Some(help));
        let again = format!("repeat {}", again(&self.case));
        let changed = (self.checksum != self.sum()).then(|| {
            let help = format!("{again}, or give other values by `--set`, which replaces calibrated ones");
            fault("checksum", "the file was changed after the fit: it does not have these values", &help)
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
        let is_point = |point: &Vec<String>| point.len() == count;
        let allowed = (!self.allowed.iter().flatten().all(is_point)).then(|| {
            let shape = format!("expected a value of each of the {} in every point", counted(count, "parameter"));
            fault("allowed", &shape, &again)
        });
        let mut errors = self.conformal.kinds.values().flatten().chain([&self.conformal.growth]);
        let is_negative = errors.any(|error| error.is_nan() || *error < 0.0);
        let conformal = is_negative.then(|| fault("conformal", "errors and their growth are at least 0", &again));
        let scales = scales.map(|(at, _)| fault(at, "expected a number above 0", &again));
        scales.chain(covariance).chain(allowed).chain(conformal).chain(changed).collect()
    }
}

/// Returns the command that fits a case again.
fn again(case: &str) -> String {
    format!("`parsim calibrate {} --fit-out FILE`", path_word(Path::new(case)))
}

/// Returns the fault that a fit belongs to another version of simulated values, in which it may have other fields.
fn other_version(document: &Document) -> Option<SourceFault> {
    let version: u32 = document.read_at("results").ok().filter(|version| *version != RESULTS)?;
    let case: String = document.read_at("case").unwrap_or_else(|_| "CASE".to_owned());
    let words = format!("fitted to the simulated values of version {version}, not of version {RESULTS}");
    Some(document.fault_at("results", &words, Some(&format!("repeat {}", again(&case)))))
}
