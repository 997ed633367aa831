//! The rows of the tables: their axis values, measurements and roles.

use super::condition::RowCondition;
use super::description::CalibrationTable;
use crate::experiment::StudyError;
use crate::scenario::source::{Document, SourceFault};
use crate::scenario::table::{Conversion, LABEL_REPETITIONS, Row, Table, conversion, position, repeated};
use crate::scenario::{AxisValue, Plan};
use std::collections::HashSet;
use std::path::Path;

/// A row of a table of measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    /// The index of the table.
    pub table: usize,
    /// The values on the axes.
    pub axes: Vec<(String, AxisValue)>,
    /// The values of the labels, the other columns before the reference.
    pub labels: Vec<(String, AxisValue)>,
    /// The measured value, in the unit of the simulated quantity; `None` for a measurement that could be made.
    pub reference: Option<f64>,
    /// `true` if the row calibrates.
    pub trains: bool,
    /// `true` if the row sets the width of intervals and takes no part in the fit.
    pub sets_intervals: bool,
    /// `true` if the same measurement, in the same line of the same file, calibrates as a row of another table.
    pub calibrates_elsewhere: bool,
    /// The place of the row, such as `line 3`.
    pub place: String,
}

impl MeasuredRow {
    /// Returns `true` if the measurement judges the fit, because no row with it calibrates.
    #[must_use]
    pub const fn judges(&self) -> bool {
        !self.trains && !self.calibrates_elsewhere
    }

    /// Returns the value in a column before the reference.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<&AxisValue> {
        self.columns().find(|(name, _)| name == column).map(|(_, value)| value)
    }

    /// Returns the columns before the reference: labels, then axes.
    pub fn columns(&self) -> impl Iterator<Item = &(String, AxisValue)> {
        self.labels.iter().chain(&self.axes)
    }
}

/// Reads the rows of a table, number `index` of the case in `folder`.
///
/// # Errors
/// Returns an error for a file that cannot be read or has other columns, or a condition that cannot be parsed or
/// evaluated.
pub fn rows(
    table: &CalibrationTable,
    index: usize,
    folder: &Path,
    document: &Document,
) -> Result<Vec<MeasuredRow>, StudyError> {
    let data = Table::load(&folder.join(&table.data))?;
    let at_reference =
        |fault: SourceFault| StudyError::from(fault).within(document, &format!("tables.{index}"), "reference");
    let reference = data.column_of(&table.reference).map_err(at_reference)?;
    let place = data.columns().iter().position(|name| *name == reference).unwrap_or_default();
    let columns = &data.columns()[..place];
    for label in &table.labels {
        if !columns.contains(label) {
            let message = format!("there is no column `{label}` before `{reference}`");
            return Err(at_reference(data.failure(&message)));
        }
    }
    data.need_values(columns.iter())?;
    data.need_numbers([&reference])?;
    data.need_different_points(columns).map_err(|fault| fault.help(LABEL_REPETITIONS))?;
    let unit = conversion(&reference, &table.simulated).map_err(|message| at_reference(data.failure(&message)))?;
    let condition = |field: &'static str, text: &Option<String>| {
        let read = |text: &String| {
            RowCondition::read(text, columns).map_err(|(message, help)| {
                document.faults(vec![document.fault_at(&format!("tables.{index}.{field}"), &message, Some(&help))])
            })
        };
        Ok::<_, StudyError>(FieldCondition { field, condition: text.as_ref().map(read).transpose()? })
    };
    let (train, intervals) = (condition("train", &table.train)?, condition("intervals", &table.intervals)?);
    let reading = RowReading { data: &data, table, index, reference: &reference, columns, unit, train, intervals };
    let rows: Vec<MeasuredRow> = data.rows.iter().map(|row| reading.row(row)).collect::<Result<_, _>>()?;
    if table.intervals.is_some() && rows.iter().all(|row| !row.sets_intervals) {
        let help = "select rows with a measurement, or leave it out";
        let fault = document.fault_at(&format!("tables.{index}.intervals"), "it selects no row", Some(help));
        return Err(document.faults(vec![fault]).into());
    }
    Ok(rows)
}

/// Returns the rows of a table with their values as the cases of its scenario show them: `10 us` and `10` are one value of
/// an axis in microseconds.
///
/// # Errors
/// Two rows are the same point, though written with different units.
pub fn along_axes(mut rows: Vec<MeasuredRow>, scenario: &Path) -> Result<Vec<MeasuredRow>, StudyError> {
    // Faults of the scenario are reported when it is loaded to be run.
    let Ok(plan) = Document::load(scenario).and_then(|document| Plan::new(document, &[])) else { return Ok(rows) };
    for row in &mut rows {
        row.axes.iter_mut().for_each(|(name, value)| *value = plan.shown_along(name, value));
    }
    let points = rows.iter().map(|row| (position(row.columns().map(|(name, value)| (name, value))), &row.place));
    match repeated(points) {
        Some(what) => Err(StudyError::Request(what)),
        None => Ok(rows),
    }
}

/// Returns the measurements that calibrate parameters or intervals.
pub fn calibrating(rows: &[MeasuredRow]) -> Vec<f64> {
    rows.iter().filter(|row| row.trains || row.sets_intervals).filter_map(|row| row.reference).collect()
}

/// Marks the rows of all `tables` whose measurements calibrate as rows of other tables.
pub fn mark_shared(rows: &mut [MeasuredRow], tables: &[CalibrationTable]) {
    let measurement = |row: &MeasuredRow| {
        let table = &tables[row.table];
        (table.data.clone(), table.reference.clone(), row.place.clone())
    };
    let calibrating: HashSet<_> = rows.iter().filter(|row| row.trains).map(measurement).collect();
    for row in rows.iter_mut().filter(|row| !row.trains) {
        row.calibrates_elsewhere = calibrating.contains(&measurement(row));
    }
}

/// The properties that all rows of a table share.
struct RowReading<'t> {
    data: &'t Table,
    table: &'t CalibrationTable,
    index: usize,
    reference: &'t str,
    columns: &'t [String],
    unit: Conversion,
    train: FieldCondition,
    intervals: FieldCondition,
}

/// The condition of a field, if it is given.
struct FieldCondition {
    field: &'static str,
    condition: Option<RowCondition>,
}

impl RowReading<'_> {
    fn row(&self, row: &Row) -> Result<MeasuredRow, SourceFault> {
        let reference = row.number(self.reference).map(|value| self.unit.of(value));
        if reference.is_some_and(|value| value <= 0.0) {
            return Err(self.data.fault_in(row, self.reference, "a reference is above 0"));
        }
        let sets_intervals = self.holds(&self.intervals, row)?.unwrap_or(false) && reference.is_some();
        let trains = self.holds(&self.train, row)?.unwrap_or(true) && reference.is_some() && !sets_intervals;
        let known = self.columns.iter().filter_map(|name| Some((name.clone(), row.value(name)?.clone())));
        let (labels, axes) = known.partition(|(name, _)| self.table.labels.contains(name));
        let (place, calibrates_elsewhere) = (row.place.clone(), false);
        let table = self.index;
        Ok(MeasuredRow { table, axes, labels, reference, trains, sets_intervals, calibrates_elsewhere, place })
    }

    /// Returns whether a condition is true in a row; `None` if there is no condition.
    fn holds(&self, condition: &FieldCondition, row: &Row) -> Result<Option<bool>, SourceFault> {
        let holds = condition.condition.as_ref().map(|condition| condition.holds(|name| row.value(name)));
        holds.transpose().map_err(|reason| self.data.fault_at(row, &format!("`{}`: {reason}", condition.field)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_the_unit_of_its_axis_is_the_number() {
        let row = |value: AxisValue, hops: i128, line: usize| MeasuredRow {
            table: 0,
            axes: vec![("bytes".to_owned(), value), ("hops".to_owned(), AxisValue::Whole(hops))],
            labels: Vec::new(),
            reference: Some(1.0),
            trains: true,
            sets_intervals: false,
            calibrates_elsewhere: false,
            place: format!("line {line}"),
        };
        let text = |text: &str| AxisValue::Text(text.to_owned());
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ping.ron");
        let rows = vec![row(text("1 kB"), 1, 2), row(AxisValue::Whole(1000), 2, 3)];
        let rows = along_axes(rows, &scenario).unwrap();
        assert_eq!(rows[0].value("bytes"), rows[1].value("bytes"));
        let twice = vec![row(text("8 B"), 1, 2), row(AxisValue::Whole(8), 1, 3)];
        let said = along_axes(twice, &scenario).unwrap_err().to_string();
        assert_eq!(said, "line 3: the point bytes = 8, hops = 1 is given twice, also at line 2");
    }
}
