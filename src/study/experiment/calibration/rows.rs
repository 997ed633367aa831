//! The rows of the tables: where they lie, what was measured, and whether they calibrate.

use super::condition::RowCondition;
use super::description::CalibrationTable;
use crate::experiment::StudyError;
use crate::scenario::AxisValue;
use crate::scenario::source::{Document, SourceFault};
use crate::scenario::table::{Conversion, Row, Table, conversion};
use std::path::Path;

/// A row of a table of measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    /// The index of the table.
    pub table: usize,
    /// Where it lies on the axes.
    pub axes: Vec<(String, AxisValue)>,
    /// The other columns before the reference.
    pub labels: Vec<(String, AxisValue)>,
    /// The measured value, in the unit of what is simulated; none for a measurement that could be made.
    pub reference: Option<f64>,
    /// Whether it calibrates.
    pub trains: bool,
    /// Its place, such as `line 3`.
    pub place: String,
}

impl MeasuredRow {
    /// The value in a column before the reference.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<&AxisValue> {
        self.columns().find(|(name, _)| name == column).map(|(_, value)| value)
    }

    /// The columns before the reference: labels, then axes.
    pub fn columns(&self) -> impl Iterator<Item = &(String, AxisValue)> {
        self.labels.iter().chain(&self.axes)
    }
}

/// The rows of a table, the `index`-th of a case that lies in `folder`.
///
/// # Errors
/// A file that cannot be read, or is no such table; a condition that cannot be read, or holds in no row.
pub fn rows(
    table: &CalibrationTable,
    index: usize,
    folder: &Path,
    document: &Document,
) -> Result<Vec<MeasuredRow>, StudyError> {
    let data = Table::load(&folder.join(&table.data))?;
    let reference = data.column_of(&table.reference)?;
    let place = data.columns().iter().position(|name| *name == reference).unwrap_or_default();
    let columns = &data.columns()[..place];
    for label in &table.labels {
        if !columns.contains(label) {
            return Err(data.failure(&format!("there is no column `{label}` before `{reference}`")).into());
        }
    }
    data.need_values(columns.iter())?;
    data.need_numbers([&reference])?;
    data.need_different_points(columns)?;
    let unit = conversion(&reference, &table.simulated).map_err(|what| data.failure(&what))?;
    let condition = table.train.as_ref().map(|text| {
        RowCondition::read(text, columns).map_err(|(message, help)| {
            document.faults(vec![document.fault_at(&format!("tables.{index}.train"), &message, Some(&help))])
        })
    });
    let reading = RowReading { data: &data, table, index, reference: &reference, columns, unit };
    let condition = condition.transpose()?;
    Ok(data.rows.iter().map(|row| reading.row(row, condition.as_ref())).collect::<Result<_, _>>()?)
}

/// What the rows of a table have in common.
struct RowReading<'t> {
    data: &'t Table,
    table: &'t CalibrationTable,
    index: usize,
    reference: &'t str,
    columns: &'t [String],
    unit: Conversion,
}

impl RowReading<'_> {
    fn row(&self, row: &Row, condition: Option<&RowCondition>) -> Result<MeasuredRow, SourceFault> {
        let reference = row.number(self.reference).map(|value| self.unit.of(value));
        if reference.is_some_and(|value| value <= 0.0) {
            return Err(self.data.fault_in(row, self.reference, "a reference is above 0"));
        }
        let holds = condition.map_or(Ok(true), |condition| condition.holds(|name| row.value(name)));
        let trains = holds.map_err(|what| self.data.fault_at(row, &format!("`train`: {what}")))?;
        let known = self.columns.iter().filter_map(|name| Some((name.clone(), row.value(name)?.clone())));
        let (labels, axes) = known.partition(|(name, _)| self.table.labels.contains(name));
        let trains = trains && reference.is_some();
        Ok(MeasuredRow { table: self.index, axes, labels, reference, trains, place: row.place.clone() })
    }
}
