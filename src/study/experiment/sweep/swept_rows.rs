//! The rows of a sweep, written as cases complete, and the information gathered along the way.

use super::planning::SweepPart;
use super::run::{SweepRemarks, sweep};
use crate::answer::{QuantityValue, Record};
use crate::experiment::cases::outcome::Outcome;
use crate::experiment::cases::recall::RunCounts;
use crate::experiment::cases::references::References;
use crate::experiment::cases::workers::{CaseResult, Failures, Keys, Workers, failed_row};
use crate::experiment::error::{CaseError, StudyError};
use crate::experiment::pictures::curves::{CurveAxis, TimeLines};
use crate::report::{Format, RowSink, RowWriter, Writer, widest};
use crate::scenario::{Case, Cases};
use std::io::{self, Write};

/// Returns the value of each axis that takes most room in a table.
#[must_use]
pub fn widest_keys(cases: &Cases<'_>) -> Record {
    let mut record = Record::default();
    for (name, values) in cases.axis_values() {
        if let Some(quantity) = widest(name, values.map(QuantityValue::from)) {
            record.add(quantity);
        }
    }
    record
}

/// The rows of a sweep so far.
pub struct SweptRows<'r, S> {
    /// The axis of the figure, if one is drawn.
    axis: Option<&'r CurveAxis>,
    writer: RowWriter<S>,
    end: SweepEnd<'r>,
}

/// The information about a sweep after all rows have been written.
pub struct SweepEnd<'r> {
    /// The times along the axis of the figure.
    pub times: TimeLines,
    /// The failed cases.
    pub failures: Failures,
    /// Remarks on the cases.
    pub remarks: SweepRemarks<'r>,
    /// The numbers of cases and runs with a result.
    pub tally: ResultTally,
}

impl<'r, S: RowSink> SweptRows<'r, S> {
    /// Starts a sweep whose cases are compared with `references`; `axis` is that of the figure.
    #[must_use]
    pub fn new(axis: Option<&'r CurveAxis>, writer: RowWriter<S>, references: &'r References) -> Self {
        let (times, failures) = (TimeLines::default(), Failures::default());
        let end = SweepEnd { times, failures, remarks: SweepRemarks::new(references), tally: ResultTally::default() };
        Self { axis, writer, end }
    }

    /// Adds a processed case and writes its row.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn add(&mut self, turn: CaseResult<'_>) -> io::Result<()> {
        match turn {
            CaseResult::Run(case, result) => match *result {
                Ok(outcome) => self.good(outcome),
                Err(error) => self.failed(&case.keys, Some(&case), &error),
            },
            CaseResult::Stored(outcome) => self.good(*outcome),
            CaseResult::Invalid(keys, error) => self.failed(&keys, None, &error),
        }
    }

    /// Flushes all rows that need not be held back.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Writes the remaining rows and returns the sink.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn finish(self) -> io::Result<(S, SweepEnd<'r>)> {
        Ok((self.writer.finish()?, self.end))
    }

    fn good(&mut self, outcome: Outcome) -> io::Result<()> {
        self.end.tally.add(outcome.runs());
        self.end.remarks.see(&outcome);
        if let Some(axis) = self.axis {
            self.end.times.add_outcome(axis, outcome.case(), &outcome);
        }
        self.writer.good(outcome.into_record())
    }

    fn failed(&mut self, keys: &Keys, case: Option<&Case>, error: &CaseError) -> io::Result<()> {
        self.end.remarks.see_failed(keys);
        self.end.failures.add(keys, error);
        self.writer.failed(failed_row(keys, case, error))
    }
}

/// Runs all cases and writes their rows to `sink` as they end, as `parsim sweep` does. A failed case has a row with the
/// key `error`, and is among the [`failures`](SweepEnd::failures).
///
/// ```
/// use parsim_study::experiment::{References, Workers, write_sweep};
/// use parsim_study::prelude::*;
/// use parsim_study::programs::{RingShift, ShiftOrder};
/// use parsim_study::report::Format;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shift = RingShift { bytes: Bytes::from_kib(1), rounds: 10, order: ShiftOrder::Concurrent };
/// let scenario = Scenario::new(machines::ideal_torus(), 4, Shipped::RingShift(shift));
/// let document = Document::from_text("ring shift", &scenario.to_ron())?;
/// let plan = Plan::new(document.clone(), &[Override::new("ranks", &["4", "16"])])?;
/// let references = References::of(Ok(document), plan.scenario())?;
/// let mut csv = Vec::new();
/// let end = write_sweep(&plan.unfold()?, &references, Workers::default(), Format::Csv, &mut csv)?;
/// assert_eq!((end.failures.count(), String::from_utf8(csv)?.lines().count()), (0, 3));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns the errors of [`sweep`]; a row that cannot be written ends the sweep with [`StudyError::Failed`].
pub fn write_sweep<'r>(
    cases: &Cases<'_>,
    references: &'r References,
    workers: Workers<'_>,
    format: Format,
    sink: impl Write,
) -> Result<SweepEnd<'r>, StudyError> {
    // The columns of CSV are written first, so rows with different keys are written at the end.
    let mut writer =
        if cases.may_change_keys() { Writer::mixed(sink, format, None) } else { Writer::many(sink, format) };
    writer.make_room(widest_keys(cases));
    let mut rows = SweptRows::new(None, RowWriter::new(writer, format), references);
    let mut written = Ok(());
    sweep(cases, &SweepPart::default(), references, workers, |turns| {
        written = turns.into_iter().try_for_each(|turn| rows.add(turn)).and_then(|()| rows.flush());
        written.is_ok() && workers.recall.is_sound()
    })?;
    let finished = written.and_then(|()| rows.finish()).and_then(|(writer, end)| writer.finish().map(|()| end));
    finished.map_err(|error| StudyError::failed(format_args!("a row cannot be written: {error}")))
}

/// Numbers of cases and runs with a result, by origin.
#[derive(Clone, Copy, Default)]
pub struct ResultTally {
    cases: RunCounts,
    /// The runs of the cases, including repetitions and runs on one rank.
    runs: RunCounts,
}

impl ResultTally {
    /// Summarises the cases, including the failed ones.
    #[must_use]
    pub fn words(self, failures: &Failures) -> String {
        let RunCounts { made, found } = self.cases;
        format!("{made} run, {found} found, {} failed", failures.count())
    }

    /// Reports the number of runs if it differs from that of the cases.
    #[must_use]
    pub fn note(self) -> Option<String> {
        let RunCounts { made, found } = self.runs;
        let among = "repetitions and runs on one rank among them";
        (self.runs != self.cases).then(|| format!("note: {made} simulations were run, {found} found, {among}"))
    }

    /// Adds a case that needed these runs.
    fn add(&mut self, runs: RunCounts) {
        let is_found = runs.made == 0;
        self.cases = self.cases + RunCounts { made: u64::from(!is_found), found: u64::from(is_found) };
        self.runs = self.runs + runs;
    }
}
