//! `parsim sweep`: every case of a scenario's axes, on all cores, in the order of the axes.

use super::curves::{CurveAxis, TimeLines, write_chart};
use super::notice::note;
use super::outcome::{Outcome, SIMULATED_ERROR};
use super::output::Output;
use super::references::{Met, References, note_on_withheld};
use super::remarks::Remarks;
use super::rows::{RowWriter, failed_row};
use super::running::{CaseError, Failures, Keys, Turn, guarded, run_each};
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_study::analysis::Residuals;
use parsim_study::report::figures;
use parsim_study::report::latency_load::latency_load;
use parsim_study::report::plot::LineChart;
use parsim_study::report::{Format, Record};
use parsim_study::scenario::{Case, Cases, Plan};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::io;
use std::path::PathBuf;

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
    let common = &arguments.common;
    let plan = common.plan(&arguments.cases.over)?;
    let cases = plan.unfold()?;
    if common.dump_config {
        return dump(&cases, common);
    }
    let inspection = cases.inspect(|_| ())?;
    if inspection.cases == Some(0) {
        return Err(no_case());
    }
    let references = References::load(plan.scenario(), &common.scenario)?;
    let plot =
        arguments.plot.as_ref().map(|file| CurveAxis::to_draw(&plan, None).map(|axis| (file, axis))).transpose()?;
    common.claims(&plan).output("--plot", arguments.plot.as_deref()).check()?;
    let mut sweep = Sweep {
        axis: plot.as_ref().map(|(_, axis)| axis),
        is_text: common.output.format() == Format::Text,
        writer: RowWriter::new(common.output.many()?, common.output.format()),
        times: TimeLines::default(),
        rows: Vec::new(),
        failures: Failures::default(),
        withheld: 0,
        remarks: Remarks::default(),
        alone: OnceCell::new(),
        references: &references,
        met: Met::none(&references),
    };
    let count = inspection.cases.unwrap_or(inspection.points);
    let make = |point| made(&cases, point);
    let mut output = Ok(());
    run_each(in_turn(&cases), count, make, arguments.cases.jobs, &references, |turn| {
        output = sweep.add(turn);
        output.is_ok()
    })?;
    output?;
    let Sweep { writer, times, rows, failures, withheld, remarks, met, alone, .. } = sweep;
    let mut output = writer.finish()?;
    output.words(errors(&rows))?;
    output.finish()?;
    if let Some((file, axis)) = &plot {
        if times.lines().is_empty() {
            note(Some(format_args!("{}: no case has a time to be drawn: the picture is not written", file.display())));
        } else {
            write_chart(file, &chart(&plan, axis, &times))?;
        }
    }
    note(note_on_withheld(withheld));
    remarks.say();
    note(alone.into_inner().flatten());
    note(met.note_on_columns());
    // Who names values does not mean all that were measured.
    note(met.note().filter(|_| arguments.cases.over.is_empty()));
    failures.into_result()
}

/// Results of the cases of a sweep so far.
struct Sweep<'a> {
    /// The axis of the picture, if there is to be one.
    axis: Option<&'a CurveAxis>,
    is_text: bool,
    writer: RowWriter<Output>,
    times: TimeLines,
    /// The rows, which text is summarised from.
    rows: Vec<Record>,
    failures: Failures,
    /// Number of cases with measurements or predictions of another machine or program.
    withheld: usize,
    remarks: Remarks,
    /// The note on runs on one rank, once a case has been seen.
    alone: OnceCell<Option<String>>,
    references: &'a References,
    met: Met<'a>,
}

impl Sweep<'_> {
    /// Adds a case that has had its turn, and writes its row.
    fn add(&mut self, turn: Turn<'_>) -> io::Result<()> {
        let row = match turn {
            Turn::Played(case, result) => match *result {
                Ok(outcome) => self.good(&case, &outcome),
                Err(error) => self.failed(&case.keys, Some(&case), &error.into()),
            },
            Turn::Unplayed(keys, error) => self.failed(&keys, None, &error),
        }?;
        self.rows.extend(self.is_text.then_some(row));
        Ok(())
    }

    fn good(&mut self, case: &Case, outcome: &Outcome) -> io::Result<Record> {
        self.met.add(&case.keys);
        self.alone.get_or_init(|| self.references.note_on_one_rank(case));
        self.withheld += usize::from(outcome.is_withheld());
        self.remarks.see(&case.scenario);
        if let Some(axis) = self.axis {
            self.times.add_outcome(axis, case, outcome);
        }
        self.writer.good(outcome.record())
    }

    fn failed(&mut self, keys: &Keys, case: Option<&Case>, error: &CaseError) -> io::Result<Record> {
        self.met.add(keys);
        self.failures.add(keys, error);
        self.writer.failed(failed_row(keys, case, error))
    }
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

/// The points that are cases, in their order; one at which that is unknown has its turn, too.
fn in_turn<'c>(cases: &'c Cases<'_>) -> impl Iterator<Item = u64> + Send + 'c {
    cases.points().filter(|point| cases.holds(*point).unwrap_or(true))
}

/// The case of a point.
fn made(cases: &Cases<'_>, point: u64) -> Result<Cow<'static, Case>, (Keys, CaseError)> {
    let error = match guarded(|| Ok(cases.holds(point).and_then(|_| cases.case(point)))) {
        Ok(Ok(case)) => return Ok(Cow::Owned(case)),
        Ok(Err(faults)) => CaseError::Faulty(Box::new(faults)),
        Err(defect) => defect.into(),
    };
    Err((cases.keys(point), error))
}

/// Writes the resolved scenarios of all cases.
pub fn dump(cases: &Cases<'_>, common: &ScenarioArguments) -> Result<(), Failure> {
    let mut output = common.output.raw()?;
    for point in cases.points() {
        if cases.holds(point)? {
            output.words(format_args!("{}\n", cases.case(point)?.scenario.to_ron()))?;
        }
    }
    output.finish()
}

pub fn no_case() -> Failure {
    Failure::Usage("the filter leaves no case".to_owned())
}

/// The cases of `plan` and what they are compared with; `None` if they were only to be printed.
pub fn prepared(common: &ScenarioArguments, plan: &Plan) -> Result<Option<(Vec<Case>, References)>, Failure> {
    if common.dump_config {
        dump(&plan.unfold()?, common)?;
        return Ok(None);
    }
    let cases = plan.cases()?;
    if cases.is_empty() {
        return Err(no_case());
    }
    let references = References::load(plan.scenario(), &common.scenario)?;
    Ok(Some((cases, references)))
}

/// The errors against the measurements, in a sentence, if there are any.
fn errors(rows: &[Record]) -> String {
    let errors = rows.iter().filter_map(|row| row.get(SIMULATED_ERROR).and_then(Value::as_f64));
    let residuals: Residuals = errors.collect();
    match (residuals.mean_absolute(), residuals.max_absolute()) {
        (Some(mean), Some(max)) => {
            let (mean, max) = (100.0 * mean, 100.0 * max);
            format!("\nabsolute error over {} measured cells: mean {mean:.2} %, max {max:.2} %\n", residuals.count())
        }
        _ => String::new(),
    }
}
