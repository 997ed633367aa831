//! Measurements that calibrated, recognised among those with which a scenario is compared.

use super::predictor::Predictor;
use crate::experiment::path_word;
use crate::programs::digest_of_file;
use crate::scenario::{Comparison, Measurements, Scenario};
use std::path::Path;

/// Relative difference up to which two measurements are the same one, written in different units.
const SAME: f64 = 1e-9;

impl Predictor {
    /// Returns that measurements with which a scenario is compared are data of the calibration, if they are.
    pub(super) fn shared_measurements(&self, scenario: &Scenario) -> Option<String> {
        let files = scenario.compare.iter().filter_map(|comparison| match comparison {
            Comparison::Measured(file) => Some(file.as_str()),
            _ => None,
        });
        let shared = files.filter_map(|file| self.shared_with(file)).collect::<Vec<_>>().join(" and ");
        (!shared.is_empty()).then(|| {
            format!(
                "The calibration has {shared}: errors of rows that calibrated are those of a fit and judge no prediction; `parsim calibrate {}` says which rows these are.",
                path_word(Path::new(&self.case))
            )
        })
    }

    /// Returns which measurements of a file are data of the calibration. Files of other names, formats, units and rows
    /// are recognised by their values: a few may be equal by chance, more than half are not.
    fn shared_with(&self, file: &str) -> Option<String> {
        let hash = digest_of_file(Path::new(file)).ok()?;
        if self.inputs.iter().any(|(_, of_input)| *of_input == hash) {
            return Some(format!("measurements of {file}"));
        }
        let values: Vec<f64> = Measurements::load(Path::new(file)).ok()?.values().collect();
        let calibrates = |value: &&f64| self.calibrating.iter().any(|own| (*value / own - 1.0).abs() < SAME);
        let shared = values.iter().filter(calibrates).count();
        let all = values.len();
        (2 * shared > all).then(|| format!("{shared} of the {all} measurements of {file}, by their values"))
    }
}
