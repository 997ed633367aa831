//! A validation from the command line: a scenario, a file of measurements and models to judge beside it.

use crate::cli::Failure;
use clap::Args;
use parsim_study::experiment::validation::{MeasuredTable, Tolerance, ToleranceKind, Validation};
use parsim_study::scenario::AxisValue;
use parsim_study::scenario::source::Document;
use std::path::{Path, PathBuf};

/// Judges any scenario by any file of measurements, without a folder.
#[derive(Debug, Args)]
pub struct OwnCase {
    /// A scenario to judge by the measurements of `--data`, instead of the cases in folders.
    #[arg(long, value_name = "FILE.ron", requires = "data", conflicts_with = "cases")]
    scenario: Option<PathBuf>,
    /// The measurements, a CSV file: columns of axes, the reference, other predictions; `true` in a column
    /// `calibrates` marks a point that calibrated the parameters and does not count.
    #[arg(long, value_name = "FILE.csv", requires = "scenario")]
    data: Option<PathBuf>,
    /// The key of the simulated quantity.
    #[arg(long, default_value = "makespan_s", requires = "scenario")]
    simulated: String,
    /// The column of `--data` that it is judged by.
    #[arg(long, default_value = "measured_s", requires = "scenario")]
    reference: String,
    /// Models to judge beside it: columns of `--data`, or keys of the run's output.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',', requires = "scenario")]
    models: Vec<String>,
    /// The points with this value calibrated the parameters and do not count.
    #[arg(long, value_name = "AXIS=VALUE", requires = "scenario")]
    calibration: Option<String>,
    /// The tolerated mean absolute error.
    #[arg(long, value_name = "PERCENT", requires = "scenario", value_parser = percent)]
    mean_percent: Option<f64>,
    /// The tolerated largest absolute error.
    #[arg(long, value_name = "PERCENT", requires = "scenario", value_parser = percent)]
    max_percent: Option<f64>,
}

/// A tolerance.
fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|percent: &f64| Tolerance::is_good(*percent));
    percent.ok_or_else(|| "give percents from 0 on".to_owned())
}

impl OwnCase {
    /// The files that the options name, and those of the scenario.
    pub fn files(&self) -> Vec<PathBuf> {
        let scenario = self.scenario.iter().filter_map(|file| Document::load(file).ok());
        scenario.flat_map(|document| document.files()).chain(self.data.clone()).collect()
    }

    /// The case that the options describe, if they describe one.
    pub fn validation(&self) -> Result<Option<Validation>, Failure> {
        let (Some(scenario), Some(data)) = (&self.scenario, &self.data) else { return Ok(None) };
        if self.models.contains(&self.simulated) {
            let message = format!("--models: `{}` is what is simulated, which is judged anyway", self.simulated);
            return Err(Failure::Usage(message));
        }
        if let Some(index) = (1..self.models.len()).find(|index| self.models[..*index].contains(&self.models[*index])) {
            return Err(Failure::Usage(format!("--models has `{}` twice: name each model once", self.models[index])));
        }
        let kind = ToleranceKind::Acceptance("given on the command line".to_owned());
        let tolerance = Tolerance { mean_percent: self.mean_percent, max_percent: self.max_percent, kind };
        let is_judged = self.mean_percent.is_some() || self.max_percent.is_some();
        let calibration = self.calibration.as_deref().map(axis_value).transpose()?;
        let name = |path: &Path| path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let table = MeasuredTable {
            name: name(data),
            scenario: Some(scenario.clone()),
            command: None,
            long: false,
            labels: Vec::new(),
            data: Some(data.clone()),
            over: Vec::new(),
            set: Vec::new(),
            simulated: self.simulated.clone(),
            reference: self.reference.clone(),
            predictions: self.models.clone(),
            mean_over: None,
            calibration,
            calibrated: false,
            calibration_tolerance: None,
            fit_point_to_point: false,
            tolerance: is_judged.then_some(tolerance),
            baselines: Vec::new(),
            no_baseline: Some("none can be given on the command line".to_owned()),
            leave_out: None,
        };
        Ok(Some(Validation {
            title: format!("{} against {}", scenario.display(), data.display()),
            calibrated_on: self.calibration.iter().cloned().collect(),
            tables: vec![table],
            totals: Vec::new(),
            choices: Vec::new(),
        }))
    }
}

fn axis_value(text: &str) -> Result<(String, AxisValue), Failure> {
    let parts = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) =
        parts.ok_or_else(|| Failure::Usage(format!("`--calibration {text}`: write --calibration axis=value")))?;
    Ok((name.to_owned(), AxisValue::parse(value)))
}
