//! A validation from the command line: a scenario, a file of measurements, and models to judge for comparison.

use super::super::numbers::number;
use clap::Args;
use parsim_study::experiment::validation::{AdHocTable, Tolerance, Validation};
use parsim_study::experiment::{Setting, StudyError, files};
use std::path::PathBuf;

/// Options to judge any scenario by any file of measurements, without a folder.
#[derive(Debug, Args)]
pub struct OwnCase {
    /// A scenario to judge by the measurements of `--data`, instead of the cases in folders.
    #[arg(long, value_name = "FILE.ron", requires = "data", conflicts_with = "cases")]
    scenario: Option<PathBuf>,
    /// The measurements, a CSV file with columns of axes, the reference, and other predictions; `true` in a column
    /// `calibrates` marks a point that calibrated the parameters and does not count.
    #[arg(long, value_name = "FILE.csv", requires = "scenario")]
    data: Option<PathBuf>,
    /// The key of the simulated quantity.
    #[arg(long, default_value = "makespan_s", requires = "scenario")]
    simulated: String,
    /// The column of `--data` by which the simulated quantity is judged.
    #[arg(long, default_value = "measured_s", requires = "scenario")]
    reference: String,
    /// Models to judge for comparison: columns of `--data`, or keys of the run's output.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',', requires = "scenario")]
    models: Vec<String>,
    /// Points with this value calibrated the parameters and do not count.
    #[arg(long, value_name = "AXIS=VALUE", requires = "scenario")]
    calibration: Option<String>,
    /// The tolerated mean absolute error.
    #[arg(long, value_name = "PERCENT", requires = "scenario", value_parser = percent)]
    mean_percent: Option<f64>,
    /// The tolerated largest absolute error.
    #[arg(long, value_name = "PERCENT", requires = "scenario", value_parser = percent)]
    max_percent: Option<f64>,
}

/// Parses a tolerance in percent.
fn percent(text: &str) -> Result<f64, String> {
    number(text, |percent| Tolerance::is_good(*percent), "percents from 0 on")
}

impl OwnCase {
    /// Returns the files that the options name, and those of the scenario with the values `set`.
    pub fn files(&self, set: &[Setting]) -> Vec<PathBuf> {
        self.scenario.iter().flat_map(|file| files(file, set)).chain(self.data.clone()).collect()
    }

    /// Returns the case that the options describe, if any.
    pub fn validation(&self) -> Result<Option<Validation>, StudyError> {
        let (Some(scenario), Some(data)) = (&self.scenario, &self.data) else { return Ok(None) };
        let own = AdHocTable {
            scenario,
            data,
            simulated: &self.simulated,
            reference: &self.reference,
            models: &self.models,
            calibration: self.calibration.as_deref(),
            tolerated: (self.mean_percent, self.max_percent),
        };
        own.validation().map(Some)
    }
}
