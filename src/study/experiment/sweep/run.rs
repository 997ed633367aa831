//! Sweeps: every case of a scenario's axes, in axis order.

use super::planning::SweepPart;
use super::stored_case_index::PerThreadCaseIndex;
use crate::analysis::Residuals;
use crate::answer::Role;
use crate::experiment::calibration::VariedCases;
use crate::experiment::cases::references::{FormulaValues, MatchedPoints, References, note_on_withheld};
use crate::experiment::cases::stopping::{note_on_imprecise, note_on_undelivered};
use crate::experiment::cases::workers::{CaseResult, CaseRunner, Keys, Workers, case_at, run_each};
use crate::experiment::{Outcome, Remarks, StudyError};
use crate::scenario::source::Faults;
use crate::scenario::{Cases, CheckedScenario, Inspection};
use std::collections::HashMap;
use std::sync::Arc;

/// Runs every case of `part` and passes the results to `receive` in axis order, in batches of cases that were computed
/// together. Stops early when `receive` returns `false`. A case whose values turn out not to fit is passed on as
/// failed.
///
/// # Errors
/// Returns an error for faults that all cases share, if a filter leaves no case, or if threads cannot be started.
pub fn sweep<'c>(
    cases: &'c Cases<'_>,
    part: &'c SweepPart,
    references: &'c References,
    workers: Workers<'c>,
    receive: impl FnMut(Vec<CaseResult<'c>>) -> bool,
) -> Result<(), StudyError> {
    calibrated_sweep(cases, part, None, references, workers, receive)
}

/// Runs cases as [`sweep`] does. If the machine is calibrated, makespans get the intervals of `varied`, the same cases
/// with other values of its parameters.
///
/// # Errors
/// Returns the errors of [`sweep`].
pub fn calibrated_sweep<'c>(
    cases: &'c Cases<'_>,
    part: &'c SweepPart,
    varied: Option<&'c VariedCases<'_>>,
    references: &'c References,
    workers: Workers<'c>,
    receive: impl FnMut(Vec<CaseResult<'c>>) -> bool,
) -> Result<(), StudyError> {
    let found = workers.recall.store().and_then(|store| PerThreadCaseIndex::of(cases, references, store));
    let Inspection { cases: count, points, .. } = inspected(cases, found.as_ref())?;
    if count == Some(0) {
        return Err(StudyError::no_case());
    }
    let turn = |point, runner: &CaseRunner<'_>| {
        let finish = |outcome| match varied {
            Some(varied) => varied.with_interval(point, outcome, workers.recall),
            None => Ok(outcome),
        };
        match found.as_ref().and_then(|found| found.with(|found| found.outcome(point))) {
            Some(outcome) if varied.is_none() => CaseResult::Stored(Box::new(outcome)),
            Some(outcome) => runner.finish_found(outcome, finish),
            None => case_at(cases, point)
                .map_or_else(|(keys, error)| CaseResult::Invalid(keys, error), |case| runner.run_and(case, finish)),
        }
    };
    let count = part.size(count.unwrap_or(points));
    run_each(part.points(cases), count, turn, workers, references, receive)
}

/// Inspects the cases; those that a store has are known to be valid.
///
/// # Errors
/// Returns all faults of the first case that has any.
pub fn inspected(cases: &Cases<'_>, found: Option<&PerThreadCaseIndex<'_>>) -> Result<Inspection, Faults> {
    let is_found = |found: &PerThreadCaseIndex<'_>, point| found.with(|found| found.state(point)).is_some();
    cases.inspection_except(|point| found.is_some_and(|found| is_found(found, point)))
}

/// Remarks on the cases of a sweep, gathered while rows are written.
pub struct SweepRemarks<'r> {
    references: &'r References,
    /// Number of cases with withheld measurements or predictions.
    withheld: usize,
    /// Number of cases that reached the greatest number of runs before the requested precision.
    imprecise: usize,
    /// Number of cases that ended with packets of the measured time in flight.
    undelivered: usize,
    remarks: Remarks,
    /// The note on runs on one rank, set by the first case without one.
    alone: Option<String>,
    met: MatchedPoints<'r>,
    formulas: FormulaValues<'r>,
    errors: Vec<f64>,
    /// The scenarios already seen, by address; the rows of many cases share one.
    seen: HashMap<usize, Arc<CheckedScenario>>,
}

/// The maximum number of scenarios that are remembered as seen.
const MAX_SEEN: usize = 1000;

impl<'r> SweepRemarks<'r> {
    /// Returns remarks on no cases yet.
    #[must_use]
    pub fn new(references: &'r References) -> Self {
        let (met, remarks, errors) = (MatchedPoints::none(references), Remarks::default(), Vec::new());
        Self {
            references,
            withheld: 0,
            imprecise: 0,
            undelivered: 0,
            remarks,
            alone: None,
            met,
            formulas: FormulaValues::none(references),
            errors,
            seen: HashMap::new(),
        }
    }

    /// Adds a case that has an outcome.
    pub fn see(&mut self, outcome: &Outcome) {
        let case = outcome.case();
        self.met.add(&case.keys);
        self.formulas.add(case);
        if self.alone.is_none() && outcome.compared_value("one_rank_s").is_none() {
            self.alone = self.references.note_on_one_rank(case);
        }
        self.withheld += usize::from(outcome.is_withheld());
        self.imprecise += usize::from(outcome.is_imprecise());
        self.undelivered += usize::from(outcome.leaves_packets());
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        // Keeping the scenario alive ensures that no other one has its address.
        if self.seen.insert(Arc::as_ptr(&case.scenario).addr(), Arc::clone(&case.scenario)).is_none() {
            self.remarks.see(&case.scenario);
        }
        let residuals = outcome.quantities().iter().filter(|quantity| quantity.role == Role::Residual);
        self.errors.extend(residuals.filter_map(|error| error.value.number()));
    }

    /// Adds a case without an outcome.
    pub fn see_failed(&mut self, keys: &Keys) {
        self.met.add(keys);
    }

    /// Summarises the errors against measurements; empty if there are none.
    #[must_use]
    pub fn errors(&self) -> String {
        let residuals: Residuals = self.errors.iter().copied().collect();
        let Some((mean, max)) = residuals.mean_absolute().zip(residuals.max_absolute()) else { return String::new() };
        let (mean, max) = (100.0 * mean, 100.0 * max);
        format!("\nabsolute error over {} measured cells: mean {mean:.2} %, max {max:.2} %\n", residuals.count())
    }

    /// Returns all remarks, each in a sentence; with `all_points`, including measured points without a case.
    #[must_use]
    pub fn notes(self, all_points: bool) -> Vec<String> {
        let points = self.met.note().filter(|_| all_points);
        let withheld = note_on_withheld(self.withheld).into_iter();
        let cautions = withheld.chain(note_on_imprecise(self.imprecise)).chain(note_on_undelivered(self.undelivered));
        let cases = cautions.chain(self.remarks.all());
        let measured =
            self.met.note_on_columns().into_iter().chain(points).chain(self.references.notes_on_repetitions());
        cases.chain(self.alone).chain(self.formulas.notes()).chain(measured).collect()
    }
}
