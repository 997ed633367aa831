//! `parsim sweep`: every case of a scenario's axes, on all cores, in the order of the axes.

use super::notice::{is_quiet, note};
use super::output::{Output, OutputArguments};
use super::progress::Bar;
use super::shard::shard;
use super::store::{StoreArguments, finish};
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_study::answer::{Answer, AnswerShape};
use parsim_study::experiment::{
    CaseError, CurveAxis, Failures, Keys, Outcome, Part, References, RunCounts, Shard, SweepRemarks, TimeLines, Turn,
    Workers, failed_row, sweep,
};
use parsim_study::report::latency_load::latency_load;
use parsim_study::report::plot::LineChart;
use parsim_study::report::{RowWriter, figures};
use parsim_study::scenario::{Case, Cases, Plan};
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
    #[command(flatten)]
    store: StoreArguments,
    /// Runs one of N shards of the cases alone; K counts from 1. `auto` asks the array of Slurm or LSF, `auto/N` also those
    /// of PBS and `HyperQueue`.
    #[arg(long, value_name = "K/N|auto|auto/N", value_parser = shard)]
    shard: Option<Shard>,
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
    let store = arguments.store.open()?;
    let workers = arguments.cases.workers(&bar, arguments.store.recall(store.as_ref()));
    let part = Part::of(&cases, arguments.shard)?;
    let rows = Rows::written(&common.output, &cases, &part, axis.as_ref(), &references, workers)?;
    finish(store.as_ref())?;
    let SweepEnd { times, failures, remarks, tally } = rows.finish()?;
    if let (Some(file), Some(axis)) = (&arguments.plot, &axis) {
        draw(file, &plan, axis, &times)?;
    }
    // A run of chosen values, or of a part, leaves measurements out on purpose.
    let is_whole = arguments.cases.over.is_empty() && arguments.shard.is_none();
    remarks.notes(is_whole).into_iter().for_each(|text| note(Some(text)));
    note(store.as_ref().and_then(|_| tally.note()));
    let tally = store.map(|_| tally.words(&failures)).filter(|_| !is_quiet());
    if failures.count() == 0 {
        note(tally.as_ref());
    }
    Ok(failures.into_result_with(tally)?)
}

/// Cases with a result, by its origin.
#[derive(Clone, Copy, Default)]
struct Tally {
    cases: RunCounts,
    /// Their runs, with the repetitions and those on one rank.
    runs: RunCounts,
}

impl Tally {
    /// The cases and the failed ones, in a sentence.
    fn words(self, failures: &Failures) -> String {
        let RunCounts { made, found } = self.cases;
        format!("{made} run, {found} found, {} failed", failures.count())
    }

    /// The runs, in a sentence, where they are others than the cases.
    fn note(self) -> Option<String> {
        let RunCounts { made, found } = self.runs;
        let among = "repetitions and runs on one rank among them";
        (self.runs != self.cases).then(|| format!("note: {made} simulations were run, {found} found, {among}"))
    }

    /// Adds a case.
    fn add(&mut self, runs: RunCounts) {
        let is_found = runs.made == 0;
        self.cases = self.cases + RunCounts { made: u64::from(!is_found), found: u64::from(is_found) };
        self.runs = self.runs + runs;
    }
}

/// Rows of the cases of a sweep so far.
pub struct Rows<'a> {
    /// The axis of the picture, if there is to be one.
    axis: Option<&'a CurveAxis>,
    writer: RowWriter<Output>,
    times: TimeLines,
    failures: Failures,
    remarks: SweepRemarks<'a>,
    tally: Tally,
}

/// Knowledge of a sweep when all rows have been written.
pub struct SweepEnd<'a> {
    times: TimeLines,
    failures: Failures,
    remarks: SweepRemarks<'a>,
    tally: Tally,
}

impl<'a> Rows<'a> {
    /// The rows of `part`, written as the cases end; ends early when they cannot be written, or a store fails.
    pub fn written(
        output: &OutputArguments,
        cases: &Cases<'_>,
        part: &Part,
        axis: Option<&'a CurveAxis>,
        references: &'a References,
        workers: Workers<'_>,
    ) -> Result<Self, Failure> {
        let writer = RowWriter::new(output.open(AnswerShape::Many)?, output.format());
        let mut rows = Self::new(axis, writer, references);
        let mut written = Ok(());
        sweep(cases, part, references, workers, |turns| {
            written = turns.into_iter().try_for_each(|turn| rows.add(turn)).and_then(|()| rows.writer.flush());
            written.is_ok() && workers.recall.is_sound()
        })?;
        written?;
        Ok(rows)
    }

    /// Ends the output.
    pub fn finish(self) -> Result<SweepEnd<'a>, Failure> {
        let Self { writer, times, failures, remarks, tally, .. } = self;
        let mut output = writer.finish()?;
        output.add(&Answer::default().with_words(&remarks.errors()))?;
        output.finish()?;
        Ok(SweepEnd { times, failures, remarks, tally })
    }

    fn new(axis: Option<&'a CurveAxis>, writer: RowWriter<Output>, references: &'a References) -> Self {
        let (times, failures) = (TimeLines::default(), Failures::default());
        Self { axis, writer, times, failures, remarks: SweepRemarks::new(references), tally: Tally::default() }
    }

    /// Adds a case that has had its turn, and writes its row.
    fn add(&mut self, turn: Turn<'_>) -> io::Result<()> {
        match turn {
            Turn::Played(case, result) => match *result {
                Ok(outcome) => self.good(outcome),
                Err(error) => self.failed(&case.keys, Some(&case), &error.into()),
            },
            Turn::Found(outcome) => self.good(*outcome),
            Turn::Unplayed(keys, error) => self.failed(&keys, None, &error),
        }
    }

    fn good(&mut self, outcome: Outcome) -> io::Result<()> {
        self.tally.add(outcome.runs());
        self.remarks.see(&outcome);
        if let Some(axis) = self.axis {
            self.times.add_outcome(axis, outcome.case(), &outcome);
        }
        self.writer.good(outcome.into_record())
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
