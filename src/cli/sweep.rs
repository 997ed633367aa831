//! `parsim sweep`: runs every case of a scenario's axes on all cores, and writes the rows in the order of the axes.

use super::calibration::{CalibrationArguments, calibrated, references};
use super::notice::{is_quiet, note};
use super::progress::Bar;
use super::store::{StoreArguments, announce_without_store, finish};
use super::{CaseArguments, Failure, ScenarioArguments, overrides, pictures};
use clap::Args;
use parsim_study::answer::{Answer, AnswerShape};
use parsim_study::experiment::calibration::{CalibratedScenario, Predictor, VariedCases};
use parsim_study::experiment::{
    CurveAxis, References, Shard, StudyError, SweepEnd, SweepPart, SweptRows, TimeLines, Workers, calibrated_sweep,
    widest_keys,
};
use parsim_study::files::{AnswerOutput, OutputClaims};
use parsim_study::report::RowWriter;
use parsim_study::scenario::{Cases, Plan};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct SweepArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// Draws the times over an axis, and the values with which they are compared, as SVG; with traffic, the latencies.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    plot: Option<PathBuf>,
    /// The horizontal axis of the picture; the others distinguish its lines. The load of traffic by default, or the last
    /// axis with several values.
    #[arg(long, value_name = "NAME", requires = "plot")]
    axis: Option<String>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    #[command(flatten)]
    calibration: CalibrationArguments,
    #[command(flatten)]
    store: StoreArguments,
    /// Runs only one of N shards of the cases; K counts from 1. `auto` reads the shard from the job array of Slurm or
    /// LSF, `auto/N` also from that of PBS or HyperQueue.
    #[arg(long, value_name = "K/N|auto|auto/N", value_parser = overrides::shard)]
    shard: Option<Shard>,
}

pub fn execute(arguments: &SweepArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let plan = common.plan(&arguments.cases.over)?;
    let axis = arguments.plot.as_ref().map(|_| CurveAxis::to_draw(&plan, arguments.axis.as_deref())).transpose()?;
    let _folders = common.check(&arguments.claims(&plan))?;
    let predictor = arguments.predictor(&plan)?;
    let calibrated = calibrated(predictor.as_ref(), common.file(&arguments.cases.over))?;
    let plan = calibrated.as_ref().map_or(&plan, CalibratedScenario::plan);
    let cases = plan.unfold()?;
    if common.dump_config(&cases)? {
        return Ok(());
    }
    let references = references(calibrated.as_ref(), plan.scenario(), &common.scenario)?;
    let store = arguments.store.open()?;
    let _announced = store.is_none().then(announce_without_store);
    let workers = arguments.cases.workers(&bar, arguments.store.recall(store.as_ref()));
    let varied = calibrated.as_ref().map(CalibratedScenario::unfold).transpose()?;
    let part = SweepPart::of(&cases, arguments.shard)?;
    let sink = common.output.open(shape(&cases))?;
    // The picture and the store need all cases, also if nobody reads the rows.
    if axis.is_some() || store.is_some() {
        sink.outlive_reader();
    }
    let rows = written(sink, &cases, &part, varied.as_ref(), axis.as_ref(), &references, workers)?;
    finish(store.as_ref())?;
    let SweepEnd { times, failures, remarks, tally } = finish_rows(rows)?;
    if let (Some(file), Some(axis)) = (&arguments.plot, &axis) {
        draw((file, &arguments.lettering), plan, axis, &times)?;
    }
    // With selected values or a shard, measurements are left out on purpose.
    let is_whole = arguments.cases.over.is_empty() && arguments.shard.is_none();
    let of_calibration = calibrated.iter().flat_map(CalibratedScenario::notes);
    remarks.notes(is_whole).into_iter().chain(of_calibration).for_each(|text| note(Some(text)));
    note(store.as_ref().and_then(|_| tally.note()));
    let tally = store.map(|_| tally.words(&failures)).filter(|_| !is_quiet());
    if failures.count() == 0 {
        note(tally.as_ref());
    }
    Ok(failures.into_result_with(tally)?)
}

impl SweepArguments {
    fn claims(&self, plan: &Plan) -> OutputClaims {
        self.common.claims(plan).inputs(self.calibration.files()).output("--plot", self.plot.as_deref())
    }

    /// Calibrates the machine, if requested; faults of the cases come first.
    fn predictor(&self, plan: &Plan) -> Result<Option<Predictor>, StudyError> {
        drop(plan.unfold()?);
        self.store.with(|recall| self.calibration.predictor([plan], self.cases.jobs, recall))
    }
}

/// Returns the shape of the rows of these cases.
pub fn shape(cases: &Cases<'_>) -> AnswerShape {
    // The columns of CSV are written first, so rows with different keys are written at the end.
    if cases.may_change_keys() { AnswerShape::Mixed } else { AnswerShape::Many }
}

/// Runs the cases of `part` and writes their rows as they end; ends early if a row cannot be written, or the store
/// fails.
pub fn written<'a>(
    mut sink: AnswerOutput,
    cases: &Cases<'_>,
    part: &SweepPart,
    varied: Option<&VariedCases<'_>>,
    axis: Option<&'a CurveAxis>,
    references: &'a References,
    workers: Workers<'_>,
) -> Result<SweptRows<'a, AnswerOutput>, Failure> {
    sink.make_room(widest_keys(cases));
    let format = sink.format();
    let writer = RowWriter::new(sink, format);
    let mut rows = SweptRows::new(axis, writer, references);
    let mut written = Ok(());
    calibrated_sweep(cases, part, varied, references, workers, |turns| {
        written = turns.into_iter().try_for_each(|turn| rows.add(turn)).and_then(|()| rows.flush());
        written.is_ok() && workers.recall.is_sound()
    })?;
    written?;
    Ok(rows)
}

/// Finishes the output of these rows.
pub fn finish_rows(rows: SweptRows<'_, AnswerOutput>) -> Result<SweepEnd<'_>, Failure> {
    let (mut output, end) = rows.finish()?;
    output.add(&Answer::default().with_words(&end.remarks.errors()))?;
    let left_out = output.left_out();
    output.finish()?;
    note((!left_out.is_empty()).then(|| note_on_left_out(&left_out)));
    Ok(end)
}

/// Names the keys of rows that have no column.
fn note_on_left_out(keys: &[String]) -> String {
    let keys = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    format!("note: the first row has no {keys}, so the table has no such column: --format jsonl has the values")
}

fn draw(
    (file, lettering): (&Path, &pictures::LetteringArguments),
    plan: &Plan,
    axis: &CurveAxis,
    times: &TimeLines,
) -> Result<(), Failure> {
    if times.lines().is_empty() {
        note(Some(format_args!("{}: no case has a time to draw, so that the picture is not written", file.display())));
        return Ok(());
    }
    let chart = axis.chart(plan, times);
    if chart.is_blank() {
        let why =
            "no case has a time above 0, which the logarithmic axis could show, so that the picture is not written";
        note(Some(format_args!("{}: {why}", file.display())));
        return Ok(());
    }
    pictures::write(file, &lettering.on(chart).svg())
}
