//! `parsim sweep`: every case of a scenario's axes, on all cores, in the order of the axes.

use super::notice::note;
use super::output::Output;
use super::progress::Bar;
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_study::answer::{Answer, AnswerShape, Record};
use parsim_study::experiment::{
    CaseError, CurveAxis, Failures, Keys, Outcome, References, SweepRemarks, TimeLines, Turn, failed_row, sweep,
};
use parsim_study::report::latency_load::latency_load;
use parsim_study::report::plot::LineChart;
use parsim_study::report::{RowWriter, figures};
use parsim_study::scenario::{Case, Plan};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct SweepArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// Draws the times over the last axis, and what they are compared with, as SVG; with traffic, the
    /// latencies over the load.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    plot: Option<PathBuf>,
}

pub fn execute(arguments: &SweepArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let plan = common.plan(&arguments.cases.over)?;
    let cases = plan.unfold()?;
    if common.dumps(&cases)? {
        return Ok(());
    }
    let references = References::load(plan.scenario(), &common.scenario)?;
    let axis = arguments.plot.as_ref().map(|_| CurveAxis::to_draw(&plan, None)).transpose()?;
    common.claims(&plan).output("--plot", arguments.plot.as_deref()).check()?;
    let writer = RowWriter::new(common.output.open(AnswerShape::Many)?, common.output.format());
    let mut rows = Rows::new(axis.as_ref(), writer, &references);
    let mut written = Ok(());
    sweep(&cases, &references, arguments.cases.workers(&bar), |turn| {
        written = rows.add(turn);
        written.is_ok()
    })?;
    written?;
    let Rows { writer, times, failures, remarks, .. } = rows;
    let mut output = writer.finish()?;
    output.add(&Answer::default().with_words(&remarks.errors()))?;
    output.finish()?;
    if let (Some(file), Some(axis)) = (&arguments.plot, &axis) {
        draw(file, &plan, axis, &times)?;
    }
    // Who names values does not mean all that were measured.
    remarks.notes(arguments.cases.over.is_empty()).into_iter().for_each(|text| note(Some(text)));
    Ok(failures.into_result()?)
}

/// Rows of the cases of a sweep so far.
struct Rows<'a> {
    /// The axis of the picture, if there is to be one.
    axis: Option<&'a CurveAxis>,
    writer: RowWriter<Output>,
    times: TimeLines,
    failures: Failures,
    remarks: SweepRemarks<'a>,
}

impl<'a> Rows<'a> {
    fn new(axis: Option<&'a CurveAxis>, writer: RowWriter<Output>, references: &'a References) -> Self {
        let (times, failures) = (TimeLines::default(), Failures::default());
        Self { axis, writer, times, failures, remarks: SweepRemarks::new(references) }
    }

    /// Adds a case that has had its turn, and writes its row.
    fn add(&mut self, turn: Turn<'_>) -> io::Result<()> {
        match turn {
            Turn::Played(case, result) => match *result {
                Ok(outcome) => self.good(&case, &outcome),
                Err(error) => self.failed(&case.keys, Some(&case), &error.into()),
            },
            Turn::Unplayed(keys, error) => self.failed(&keys, None, &error),
        }
    }

    fn good(&mut self, case: &Case, outcome: &Outcome) -> io::Result<()> {
        let record: Record = outcome.record();
        self.remarks.see(case, outcome, &record);
        if let Some(axis) = self.axis {
            self.times.add_outcome(axis, case, outcome);
        }
        self.writer.good(record)
    }

    fn failed(&mut self, keys: &Keys, case: Option<&Case>, error: &CaseError) -> io::Result<()> {
        self.remarks.see_failed(keys);
        self.failures.add(keys, error);
        self.writer.failed(failed_row(keys, case, error))
    }
}

fn draw(file: &Path, plan: &Plan, axis: &CurveAxis, times: &TimeLines) -> Result<(), Failure> {
    if times.lines().is_empty() {
        note(Some(format_args!("{}: no case has a time to be drawn: the picture is not written", file.display())));
        return Ok(());
    }
    pictures::write(file, &chart(plan, axis, times).svg())
}

/// The times over the last axis; with traffic the latencies over the load.
fn chart(plan: &Plan, axis: &CurveAxis, times: &TimeLines) -> LineChart {
    let program = plan.scenario().program.name();
    if plan.scenario().program.is_traffic() {
        latency_load(program, &axis.along.label, times.lines())
    } else {
        figures::times(program, &axis.along, times.lines()).1
    }
}
