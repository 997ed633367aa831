//! Validation of simulations and models against published measurements.

mod ad_hoc_table;
mod baseline;
mod cell;
mod choice;
mod conflicts;
mod description;
mod fit;
mod folders;
mod leave_out;
mod mean;
mod point_command;
mod points;
mod summary;
mod table_runner;
mod text;

pub use ad_hoc_table::AdHocTable;
pub use baseline::BestBaseline;
pub use cell::Cell;
pub use description::{
    Alternative, Baseline, ClosedForm, LeaveOut, MeasuredChoice, MeasuredTable, TableSource, Tolerance, ToleranceKind,
    Total, Validation,
};
pub use folders::{folders, note_on_long};
pub use point_command::{Command, Commands};
pub use summary::Summary;

use super::{Setting, StudyError, Workers};
use crate::answer::{Answer, AnswerShape};
use crate::scenario::source::Document;
use choice::{JudgedChoice, judged_choices};
use conflicts::UndoneValue;
use fit::PointToPointFit;
use std::path::Path;
use summary::summaries;
use table_runner::TableRunner;
use text::text;

/// The file name of a validation case in its folder.
pub const CASE: &str = "case.ron";

/// The settings for running the tables of a validation.
#[derive(Clone, Copy)]
pub struct ValidationRun<'a> {
    /// Base values for every scenario, to try an alternative.
    pub set: &'a [Setting],
    /// The settings for running cases.
    pub workers: Workers<'a>,
    /// The commands that tables may run.
    pub commands: &'a dyn Commands,
}

/// The result of a validation.
pub struct ValidationResult {
    validation: Validation,
    /// The cells of all tables.
    pub cells: Vec<Cell>,
    /// The errors of each table and of each total.
    pub summaries: Vec<Summary>,
    choices: Vec<JudgedChoice>,
    fits: Vec<PointToPointFit>,
    notes: Vec<String>,
}

/// Reports that the judged system is not the measured one, if machine or program are changed.
#[must_use]
pub fn note_on_alternatives(settings: &[Setting]) -> Option<String> {
    const DESCRIPTION: [&str; 5] = ["machine", "program", "ranks", "placement", "partition"];
    let describes = |(path, _): &&Setting| DESCRIPTION.contains(&path.split('.').next().unwrap_or(""));
    let changed: Vec<_> = settings.iter().filter(describes).map(|(path, value)| format!("{path}={value}")).collect();
    (!changed.is_empty()).then(|| {
        let list = changed.join(", ");
        format!("note: the errors are those of alternatives, with {list}, not of the systems that the scenarios' files describe")
    })
}

/// Describes the tables of a case, whose file is in `folder`, without running anything.
///
/// # Errors
/// Returns the faults of the case, of its scenarios and of its data.
pub fn inspect(document: &Document, folder: &Path, commands: &dyn Commands) -> Result<String, StudyError> {
    let validation = Validation::of(document)?;
    let judging = ValidationRun { set: &[], workers: Workers::default(), commands };
    let case = TableRunner::new(folder, judging);
    let count = |(index, table)| {
        let at = format!("tables.{index}");
        case.points(table).map_err(|error| error.within(document, &at, "data"))?;
        let undone = case.undone_value(table).map_err(|error| error.within(document, &at, "scenario"))?;
        if let Some(UndoneValue { at: field, message }) = undone {
            return Err(StudyError::Request(message).within(document, &at, &field));
        }
        let table = &case.along_axes(table).map_err(|error| error.within(document, &at, "scenario"))?;
        match case.count(table).map_err(|error| error.within(document, &at, "scenario"))? {
            0 => Err(table.nothing_compared().within(document, &at, "")),
            count => Ok(count),
        }
    };
    let counts: Vec<_> = validation.tables.iter().enumerate().map(count).collect::<Result<_, _>>()?;
    case.check_choices(&validation).map_err(|error| error.within(document, "choices", ""))?;
    let (tables, cells): (usize, usize) = (counts.len(), counts.iter().sum());
    let long = validation.tables.iter().filter(|table| table.long).count();
    let long = if long == 0 { String::new() } else { format!(", {long} of them long") };
    Ok(format!("a validation, {tables} tables{long}, {cells} cells"))
}

impl Validation {
    /// Runs and judges the tables of the validation, whose file is in `folder`.
    ///
    /// # Errors
    /// Returns the errors of the runs, or an error for tables whose data do not match.
    pub fn judge(&self, folder: &Path, judging: ValidationRun<'_>) -> Result<ValidationResult, StudyError> {
        let mut validation = self.clone();
        let mut cells = Vec::new();
        let case = TableRunner::new(folder, judging);
        case.check_choices(&validation)?;
        for table in &mut validation.tables {
            if let Some(UndoneValue { message, .. }) = case.undone_value(table)? {
                return Err(StudyError::Request(message));
            }
            *table = case.along_axes(table)?;
            let played = case.cells(table)?;
            if played.is_empty() {
                return Err(table.nothing_compared());
            }
            // For repeated runs, the mean is judged, which has a different key.
            if let Some((key, _)) = played.first().and_then(|cell| cell.judged.first()) {
                table.simulated.clone_from(key);
            }
            cells.extend(played);
        }
        check_tolerances(&validation, &cells)?;
        check_exceptions(&validation, &cells)?;
        let summaries = summaries(&validation, &cells);
        let choices = judged_choices(&validation, &cells);
        let fits = validation.tables.iter().filter_map(|table| PointToPointFit::of(table, &cells)).collect();
        Ok(ValidationResult { summaries, choices, fits, notes: case.notes.take(), validation, cells })
    }
}

/// Rejects a tolerance that applies to no cell.
fn check_tolerances(validation: &Validation, cells: &[Cell]) -> Result<(), StudyError> {
    for table in &validation.tables {
        let has = |calibrates: bool| cells.iter().any(|cell| cell.table == table.name && cell.calibrates == calibrates);
        let (name, help) = match (&table.tolerance, &table.calibration_tolerance) {
            (Some(_), _) if !has(false) => ("tolerance", "every cell calibrated the parameters"),
            (_, Some(_)) if !has(true) => ("calibration_tolerance", "no cell calibrated the parameters"),
            _ => continue,
        };
        let message = format!("table `{}`: there is nothing that its {name} could be held against: {help}", table.name);
        return Err(StudyError::Request(message));
    }
    Ok(())
}

/// Rejects a cell to leave out of a total that does not exist.
fn check_exceptions(validation: &Validation, cells: &[Cell]) -> Result<(), StudyError> {
    for Total { name, without, .. } in &validation.totals {
        let Some((table, axis, value)) = without else { continue };
        if !cells.iter().any(|cell| cell.table == *table && cell.at(axis) == Some(value)) {
            let message =
                format!("total `{name}`: `without` names no cell: table `{table}` has none at {axis} = {value}");
            return Err(StudyError::Request(message));
        }
    }
    Ok(())
}

impl ValidationResult {
    /// Returns `true` if all errors are within their tolerances.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.summaries.iter().all(Summary::is_within)
    }

    /// Returns the cells, the summaries, the choices and the fits.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let Self { validation, cells, summaries, choices, fits, notes } = self;
        let records = cells.iter().map(Cell::record).chain(summaries.iter().map(Summary::record));
        let records = records.chain(choices.iter().map(JudgedChoice::record));
        Answer {
            shape: AnswerShape::Mixed,
            records: records.chain(fits.iter().map(PointToPointFit::record)).collect(),
            words: text(validation, cells, summaries, choices, fits),
            notes: notes.clone(),
            figures: Vec::new(),
        }
    }
}
