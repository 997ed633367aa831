//! `parsim tune`: the best values of discrete axes.

use super::calibration::CalibrationArguments;
use super::numbers::number;
use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_study::experiment::tuning::Tuning;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct TuneArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// Finds the best candidate for each value of this axis, instead of over all its values; may be repeated.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    each: Vec<String>,
    #[command(flatten)]
    calibration: CalibrationArguments,
    /// The relative margin by which a candidate must be slower than the best one without contention to be skipped.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = margin, conflicts_with = "all",
        allow_negative_numbers = true)]
    margin: f64,
    /// Runs every candidate.
    #[arg(long)]
    all: bool,
    /// Draws the candidates with their intervals as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    #[command(flatten)]
    store: StoreArguments,
}

/// Parses a relative margin.
fn margin(text: &str) -> Result<f64, String> {
    number(text, |share: &f64| share.is_finite() && *share >= 0.0, "a share of at least 0")
}

pub fn execute(arguments: &TuneArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let margin = (!arguments.all).then_some(arguments.margin);
    let mut tuning = Tuning::new(common.file(&arguments.cases.over), &arguments.each, margin);
    let plan = tuning.plan()?;
    drop(plan.unfold()?);
    let claims = common.claims(&plan).inputs(arguments.calibration.files());
    let _folders = common.check(&claims.output("--plot", arguments.plot.as_deref()))?;
    let jobs = arguments.cases.jobs;
    let predictor = arguments.store.with(|recall| arguments.calibration.predictor([&plan], jobs, recall))?;
    if let Some(predictor) = &predictor {
        tuning = tuning.calibrated(predictor)?;
    }
    if common.dump_config(&tuning.plan()?.unfold()?)? {
        return Ok(());
    }
    let store = arguments.store.open()?;
    let workers = arguments.cases.workers(&bar, arguments.store.recall(store.as_ref()));
    let tuned = tuning.tune(workers)?;
    super::store::finish(store.as_ref())?;
    common.output.print(
        tuned.answer().with_drawing(arguments.plot.as_deref(), || arguments.lettering.on(tuned.chart()).svg()),
    )?;
    Ok(tuned.check()?)
}
