//! `parsim tune`: the best values of discrete axes.

use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_study::experiment::calibration::{CalibrationCase, Predictor};
use parsim_study::experiment::tuning::Tuning;
use parsim_study::experiment::{IntervalLevel, StudyError};
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
    /// Calibrates the machine by this case first, uses the fitted values, and adds to every time the interval that
    /// should contain 90 % of new measurements.
    #[arg(long, value_name = "CASE.ron")]
    calibration: Option<PathBuf>,
    /// The relative margin by which a candidate must be slower than the best one without contention to be skipped.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, conflicts_with = "all", allow_negative_numbers = true)]
    margin: f64,
    /// Runs every candidate.
    #[arg(long)]
    all: bool,
    /// Draws the candidates with their intervals as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    plot: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &TuneArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    if !arguments.margin.is_finite() || arguments.margin < 0.0 {
        return Err(StudyError::Argument("margin", format!("{}: give a share of at least 0", arguments.margin)).into());
    }
    let store = arguments.store.open()?;
    let workers = arguments.cases.workers(&bar, arguments.store.recall(store.as_ref()));
    let calibrated = |file| Predictor::load(file, IntervalLevel::default(), workers);
    let predictor = arguments.calibration.as_deref().map(calibrated).transpose()?;
    let margin = (!arguments.all).then_some(arguments.margin);
    let tuning = Tuning::new(common.file(&arguments.cases.over), &arguments.each, margin, predictor.as_ref())?;
    let plan = tuning.plan()?;
    if common.dump_config(&plan.unfold()?)? {
        return Ok(());
    }
    let calibration = arguments.calibration.iter().flat_map(|case| CalibrationCase::files_of(case));
    let claims = common.claims(&plan).inputs(calibration);
    let _folders = claims.output("--plot", arguments.plot.as_deref()).check()?;
    let tuned = tuning.tune(workers)?;
    super::store::finish(store.as_ref())?;
    common.output.print(tuned.answer().with_drawing(arguments.plot.as_deref(), || tuned.chart().svg()))?;
    Ok(tuned.check()?)
}
