//! `--calibration`: a machine that is calibrated before it is used.

use super::progress::Bar;
use clap::Args;
use parsim_study::experiment::calibration::{CalibratedScenario, CalibrationCase, CalibrationRequest, Predictor};
use parsim_study::experiment::{IntervalLevel, Recall, References, ScenarioFile, StudyError, Workers};
use parsim_study::scenario::source::Faults;
use parsim_study::scenario::{Plan, Scenario};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Options of commands that use a calibrated machine.
#[derive(Clone, Debug, Args)]
pub struct CalibrationArguments {
    /// Uses the values that are fitted by this case, or kept in this fit (`calibrate --fit-out`), and adds to every
    /// makespan the interval that should contain a new measurement.
    #[arg(long, value_name = "FILE.ron")]
    calibration: Option<PathBuf>,
    /// Percentage of new measurements that the intervals should contain; by default that of the case or fit, or 90.
    #[arg(long, value_name = "PERCENT", requires = "calibration")]
    interval: Option<IntervalLevel>,
}

impl CalibrationArguments {
    /// Returns the request, if there is one.
    pub fn request(&self) -> Option<CalibrationRequest> {
        self.calibration.clone().map(|file| CalibrationRequest { file, level: self.interval })
    }

    /// Returns the files of the calibration, if there is one.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.calibration.iter().flat_map(|case| CalibrationCase::files_of(case))
    }

    /// Calibrates the machine of `plans` on `jobs` threads, if requested; results are looked up in `recall`. Faults of
    /// the scenarios and their outputs should be found before, because a calibration takes long.
    pub fn predictor<'p>(
        &self,
        plans: impl IntoIterator<Item = &'p Plan>,
        jobs: Option<NonZero<usize>>,
        recall: Recall<'_>,
    ) -> Result<Option<Predictor>, StudyError> {
        let bar = Bar::of_passes();
        let load = |request| Predictor::load(&request, plans.into_iter(), Workers { jobs, progress: &bar, recall });
        self.request().map(load).transpose()
    }
}

/// Returns the sweep of `file` with the values of a calibration, if there is one.
pub fn calibrated(
    predictor: Option<&Predictor>,
    file: ScenarioFile,
) -> Result<Option<CalibratedScenario<'_>>, StudyError> {
    predictor.map(|known| CalibratedScenario::new(known, file, ScenarioFile::plan)).transpose()
}

/// Reads the measurements that a scenario lists, whose file is at `path`; with calibrated values, they apply to these.
pub fn references(
    calibrated: Option<&CalibratedScenario<'_>>,
    scenario: &Scenario,
    path: &Path,
) -> Result<References, Faults> {
    calibrated.map_or_else(|| References::load(scenario, path), CalibratedScenario::references)
}
