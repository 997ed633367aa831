//! The request for a calibrated machine.

use crate::experiment::{IntervalLevel, path_word};
use std::path::PathBuf;

/// A file that calibrates a machine, and the level of the intervals of predictions with it.
#[derive(Clone, Debug)]
pub struct CalibrationRequest {
    /// A case, which is fitted first, or a fit that is kept.
    pub file: PathBuf,
    /// The level; by default that of the fit or of the case, or 90 %.
    pub level: Option<IntervalLevel>,
}

impl CalibrationRequest {
    /// Returns the shell words of the request.
    #[must_use]
    pub fn shell_words(&self) -> String {
        let level = self.level.map_or_else(String::new, |level| format!(" --interval {}", level.percent()));
        format!("--calibration {}{level}", path_word(&self.file))
    }
}
