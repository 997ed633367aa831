//! `--calibration`: a machine that is calibrated before it is used.

use super::progress::Bar;
use super::store::StoreArguments;
use clap::Args;
use parsim_study::experiment::calibration::{CalibrationCase, Predictor};
use parsim_study::experiment::{IntervalLevel, StudyError, Workers};
use std::num::NonZero;
use std::path::PathBuf;

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
    /// Returns the files of the calibration, if there is one.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.calibration.iter().flat_map(|case| CalibrationCase::files_of(case))
    }

    /// Calibrates the machine on `jobs` threads, if requested; results are looked up in the store. Faults of the
    /// scenario and its outputs should be found before, because a calibration takes long.
    pub fn predictor(
        &self,
        jobs: Option<NonZero<usize>>,
        store: &StoreArguments,
    ) -> Result<Option<Predictor>, StudyError> {
        let Some(case) = &self.calibration else { return Ok(None) };
        let bar = Bar::of_passes();
        let predictor =
            store.with(|recall| Predictor::load(case, self.interval, Workers { jobs, progress: &bar, recall }))?;
        Ok(Some(predictor))
    }
}
