//! `parsim merge`: the rows of a sweep from a store, without running any case.

use super::calibration::{CalibrationArguments, calibrated, references};
use super::store::{read, warn};
use super::sweep::{finish_rows, shape, written};
use super::{CaseArguments, Failure, ScenarioArguments};
use crate::cli::notice::{note, say};
use crate::cli::progress::Bar;
use clap::Args;
use parsim_study::experiment::calibration::CalibratedScenario;
use parsim_study::experiment::{Recall, StudyError, SweepPart, Unfinished, unfinished};
use std::mem::take;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct MergeArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    #[command(flatten)]
    calibration: CalibrationArguments,
    /// The folder of the results.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Writes the available rows, including failed ones, even if cases are missing.
    #[arg(long)]
    partial: bool,
}

pub fn execute(arguments: &MergeArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let plan = common.plan(&arguments.cases.over)?;
    drop(plan.unfold()?);
    let _folders = common.check(&common.claims(&plan).inputs(arguments.calibration.files()))?;
    let store = (!common.dump_config).then(|| read(&arguments.store)).transpose()?;
    let recall = store.as_ref().map_or(Recall::NONE, |store| Recall::from(store, false));
    let predictor = arguments.calibration.predictor([&plan], arguments.cases.jobs, recall)?;
    let calibrated = calibrated(predictor.as_ref(), common.file(&arguments.cases.over))?;
    let plan = calibrated.as_ref().map_or(&plan, CalibratedScenario::plan);
    let cases = plan.unfold()?;
    let (Some(store), false) = (&store, common.dump_config(&cases)?) else { return Ok(()) };
    let references = references(calibrated.as_ref(), plan.scenario(), &common.scenario)?;
    let varied = calibrated.as_ref().map(CalibratedScenario::unfold).transpose()?;
    let workers = arguments.cases.workers(&bar, Recall::from(store, false));
    let mut unfinished = unfinished(&cases, varied.as_ref(), &references, store, workers, arguments.partial)?;
    warn(store);
    arguments.list(&unfinished);
    if unfinished.count() > 0 && !arguments.partial {
        return Err(Failure::Simulation(vec![arguments.summary(&unfinished)]));
    }
    let part = SweepPart::without(take(&mut unfinished.missing_points));
    let sink = common.output.open(shape(&cases))?;
    let rows = written(sink, &cases, &part, varied.as_ref(), None, &references, workers)?;
    store.check().map_err(StudyError::from)?;
    finish_rows(rows)?;
    calibrated.iter().flat_map(CalibratedScenario::notes).for_each(|text| note(Some(text)));
    note((unfinished.count() > 0).then(|| arguments.summary(&unfinished)));
    Ok(())
}

impl MergeArguments {
    fn list(&self, unfinished: &Unfinished) {
        unfinished.named.iter().for_each(|case| say(Some(case)));
        let rest = unfinished.count() - unfinished.named.len() as u64;
        let more = || format!("… and {rest} more, which `parsim plan {} --format csv` lists", self.words());
        say((rest > 0).then(more));
    }

    /// Returns the shell words that select the cases and the store.
    fn words(&self) -> String {
        self.common
            .file(&self.cases.over)
            .shell_words(self.calibration.request().map(|request| request.shell_words()), &self.store)
    }

    fn summary(&self, unfinished: &Unfinished) -> String {
        let Unfinished { missing, failed, .. } = unfinished;
        format!(
            "{missing} missing, {failed} failed: `parsim sweep {}` runs the missing cases, and with --retry-failed also the \
             failed ones",
            self.words()
        )
    }
}
