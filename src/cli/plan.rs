//! `parsim plan`: the cases of a scenario with their ids and estimated costs, without running them.

use super::calibration::{CalibrationArguments, calibrated};
use super::notice::note;
use super::store::warn;
use super::{Failure, ScenarioArguments, overrides};
use clap::Args;
use parsim_study::answer::AnswerShape;
use parsim_study::experiment::calibration::CalibratedScenario;
use parsim_study::experiment::{PlannedCases, Recall, References, Shard, StudyError};
use parsim_study::report::RowSink;
use parsim_study::scenario::{Override, Plan};
use parsim_study::store::Store;
use std::path::{Path, PathBuf};

/// Number of cases that the human-readable table shows.
const MAX_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Replaces the values of an axis, or adds an axis over the field with that path; may be repeated.
    #[arg(long, value_name = "NAME=V1,V2,…")]
    over: Vec<Override>,
    /// Lists only the cases of one of N shards; K counts from 1.
    #[arg(long, value_name = "K/N|auto|auto/N", value_parser = overrides::shard)]
    shard: Option<Shard>,
    #[command(flatten)]
    calibration: CalibrationArguments,
    /// Reports for each case whether this store of results has it: `found`, `failed` or `missing`.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

pub fn execute(arguments: &PlanArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&arguments.over)?;
    drop(plan.unfold()?);
    let _folders = common.check(&common.claims(&plan).inputs(arguments.calibration.files()))?;
    let known = arguments.store.as_deref().map(|folder| known(folder, &plan, &common.scenario)).transpose()?;
    let known = known.as_ref().map(|(store, references)| (store, references));
    let recall = known.map_or(Recall::NONE, |(store, _)| Recall::from(store, false));
    let predictor = arguments.calibration.predictor([&plan], None, recall)?;
    let calibrated = calibrated(predictor.as_ref(), common.file(&arguments.over))?;
    let plan = calibrated.as_ref().map_or(&plan, CalibratedScenario::plan);
    let cases = plan.unfold()?;
    if common.dump_config(&cases)? {
        return Ok(());
    }
    let varied = calibrated.as_ref().map(CalibratedScenario::unfold).transpose()?;
    let mut output = common.output.open(AnswerShape::Many)?;
    let mut planned = PlannedCases::of(&cases, varied.as_ref(), arguments.shard, known)?;
    if common.output.is_text() {
        output.words(planned.table(MAX_SHOWN)?)?;
    } else {
        planned.list(|record| Ok::<_, Failure>(output.row(record)?))?;
    }
    output.finish()?;
    calibrated.iter().flat_map(CalibratedScenario::notes).for_each(|text| note(Some(text)));
    Ok(())
}

/// Reads the store in `folder`, and loads the references of the cases of `plan`, whose scenario is at `path`.
fn known(folder: &Path, plan: &Plan, path: &Path) -> Result<(Store, References), Failure> {
    let store = Store::read(folder).map_err(StudyError::from)?;
    warn(&store);
    Ok((store, References::load(plan.scenario(), path)?))
}
