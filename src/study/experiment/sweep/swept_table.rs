//! The rows of a sweep as a table.

use super::planning::SweepPart;
use super::run::sweep;
use crate::experiment::cases::references::References;
use crate::experiment::cases::workers::{CaseResult, Failures, Workers};
use crate::experiment::{ScenarioFile, StudyError};
use crate::scenario::table::Table;

/// Runs all cases of `file` and returns their rows as a table.
///
/// # Errors
/// Returns the faults of the scenario, or one error for all failed cases.
pub fn swept_table(file: &ScenarioFile, workers: Workers<'_>) -> Result<Table, StudyError> {
    let plan = file.plan()?;
    let references = References::load(plan.scenario(), &file.path)?;
    let (mut rows, mut failures) = (String::new(), Failures::default());
    let mut add = |turn| match turn {
        CaseResult::Run(case, result) => match *result {
            Ok(outcome) => rows += &(outcome.into_record().to_json() + "\n"),
            Err(error) => failures.add(&case.keys, &error),
        },
        CaseResult::Stored(outcome) => rows += &(outcome.into_record().to_json() + "\n"),
        CaseResult::Invalid(keys, error) => failures.add(&keys, &error),
    };
    sweep(&plan.unfold()?, &SweepPart::default(), &references, workers, |turns| {
        turns.into_iter().for_each(&mut add);
        workers.recall.is_sound()
    })?;
    failures.into_result()?;
    Ok(Table::parse(&file.path.display().to_string(), &rows)?)
}
