//! Tables, which all commands read in the same way: CSV, the output of a sweep, or Extra-P's JSON Lines.
//!
//! An empty cell, or `null`, denotes an absent value. Any other cell that is not of the kind that its column requires
//! is an error with file, line and column.

mod forms;
mod unit;

pub use unit::{Conversion, conversion, in_seconds};

use super::AxisValue;
use super::source::{NamedFiles, STANDARD_INPUT, SourceFault, is_standard_input, open_regular, standard_input};
use parsim_sim::units::Bytes;
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Stems of the names of time columns, without the unit, in order of preference.
const TIMES: [&str; 4] = ["makespan_mean", "makespan", "measured", "time"];
/// The name of a column of times in seconds in the files of Extra-P.
const TIME: &str = "time";
/// The byte order mark that some programs write before UTF-8 text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns a size in bytes, from a text with a unit or from a number of units of `unit` bytes.
fn size(value: &AxisValue, unit: u64) -> Option<AxisValue> {
    match value {
        AxisValue::Text(text) => Some(AxisValue::Whole(text.parse::<Bytes>().ok()?.count().into())),
        AxisValue::Whole(number) => number.checked_mul(unit.into()).map(AxisValue::Whole),
        #[expect(clippy::cast_precision_loss, reason = "units of sizes are far below 2^53 bytes")]
        AxisValue::Real(number) => Some(AxisValue::Real(number * unit as f64)),
    }
}

/// Returns `true` for a line without content: it is empty or a comment.
fn is_skipped(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// Returns the values of columns in words, equal numbers in the same ones.
pub fn position<'v>(values: impl Iterator<Item = (&'v String, &'v AxisValue)>) -> String {
    let value = |value: &AxisValue| value.number().map_or_else(|| value.to_string(), |number| number.to_string());
    values.map(|(name, of)| format!("{name} = {}", value(of))).collect::<Vec<_>>().join(", ")
}

/// Describes the first of some points with their places that is given twice.
pub fn repeated<'p>(points: impl Iterator<Item = (String, &'p String)>) -> Option<String> {
    let mut seen = HashMap::new();
    for (point, place) in points {
        let at = if point.is_empty() { String::new() } else { format!(" {point}") };
        if let Some(other) = seen.insert(point, place) {
            return Some(format!("{place}: the point{at} is given twice, also at {other}"));
        }
    }
    None
}

/// Returns the units that the rows of a sweep give for the numbers of their axes.
fn units(columns: &[String], rows: &[Row]) -> Result<Vec<(String, String)>, String> {
    let axes = columns.iter().filter_map(|column| Some((column, column.strip_prefix(forms::UNITS)?)));
    axes.filter_map(|(column, axis)| Some((axis, unit_of(axis, column, rows)?)))
        .map(|(axis, unit)| Ok((axis.to_owned(), unit?)))
        .collect()
}

/// Returns the unit that `column` gives for the numbers of an axis, which must be the same in all rows of runs.
fn unit_of(axis: &str, column: &str, rows: &[Row]) -> Option<Result<String, String>> {
    let is_run = |row: &&Row| row.value(axis).is_some() && row.value("error").is_none();
    let mut units = rows.iter().filter(is_run).map(|row| row.value(column).map(ToString::to_string));
    let unit = units.next()?;
    if units.any(|other| other != unit) {
        return Some(Err(format!("rows differ in the unit of `{axis}` (`{column}`): give the rows of one sweep")));
    }
    unit.map(Ok)
}

fn in_two_units(one: &str, other: &str) -> String {
    format!("`{one}` and `{other}` are one quantity in two units: give one of them")
}

/// The advice on a repeated measurement where columns may be labels.
pub const LABEL_REPETITIONS: &str = "if it was measured several times, number its rows in a column before the reference, and name that column in `labels`";

/// A row: its cells in the order of the columns. Absent values have no cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place of the row, such as `line 3`.
    pub place: String,
    /// The values with the names of their columns.
    pub cells: Vec<(String, AxisValue)>,
}

impl Row {
    /// Returns the value in a column, if there is one.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<&AxisValue> {
        self.cells.iter().find(|(name, _)| name == column).map(|(_, value)| value)
    }

    /// Returns the number in a column, if there is one.
    #[must_use]
    pub fn number(&self, column: &str) -> Option<f64> {
        self.value(column)?.number()
    }
}

/// A table and its origin.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    columns: Vec<String>,
    /// The units of bare numbers, by column, where they are known.
    units: Vec<(String, String)>,
    /// The rows, at least one.
    pub rows: Vec<Row>,
}

impl Table {
    /// Reads a file, or the standard input if the path is `-`: as JSON if the text begins with `{` or `[`, otherwise as
    /// CSV.
    ///
    /// # Errors
    /// The file cannot be read, has no rows or names a column twice. The message names file and line.
    pub fn load(path: &Path) -> Result<Self, SourceFault> {
        let name = if is_standard_input(path) { STANDARD_INPUT.to_owned() } else { path.display().to_string() };
        let text = read(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => SourceFault::new(&format!("there is no file `{name}`")),
            _ => SourceFault::new(&format!("{name}: {error}")),
        })?;
        Self::parse(&name, &text)
    }

    /// Reads a table from one of `files`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn load_among(files: &NamedFiles, path: &Path) -> Result<Self, SourceFault> {
        match files.text(path) {
            Some(text) => Self::parse(&path.display().to_string(), text),
            None => Self::load(path),
        }
    }

    /// Reads a table from `text`; faults refer to it as `name`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn parse(name: &str, text: &str) -> Result<Self, SourceFault> {
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        if text.lines().all(is_skipped) {
            return Err(
                SourceFault::new(&format!("{name}: it is empty")).help("begin with a line that names the columns")
            );
        }
        let is_json = text.trim_start().starts_with(['{', '[']);
        let read = if is_json { forms::json(text) } else { forms::csv(text) };
        let (columns, rows) = read.map_err(|error| SourceFault::new(&format!("{name}: {error}")))?;
        if rows.is_empty() {
            return Err(SourceFault::new(&format!("{name}: there are no rows")));
        }
        let units = units(&columns, &rows).map_err(|what| SourceFault::new(&format!("{name}: {what}")))?;
        Ok(Self { name: name.to_owned(), columns, units, rows })
    }

    /// Returns the names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the column of the quantity `name`, or of a time if `name` is `None`. A time is converted to seconds, and
    /// its column is renamed accordingly.
    ///
    /// # Errors
    /// There is no such column, or some of its cells are not numbers.
    pub fn quantity(&mut self, name: Option<&str>) -> Result<String, SourceFault> {
        let name = match name {
            Some(name) => self.column(name)?,
            None => self.only_time()?,
        };
        self.need_numbers([&name])?;
        self.in_seconds(&name)
    }

    /// Returns the first column with the name of a time. No other column may have this time in another unit.
    fn only_time(&self) -> Result<String, SourceFault> {
        let none = "none of the columns is a time, such as makespan_s, measured_ms, time_s, time: name one";
        let time = self.time().ok_or_else(|| self.failure(none))?;
        let is_same = |column: &&String| **column != time && in_seconds(column) == in_seconds(&time);
        match self.columns.iter().find(is_same) {
            None => Ok(time),
            Some(other) => Err(self.failure(&in_two_units(&time, other))),
        }
    }

    /// Returns the first column with the name of a time.
    fn time(&self) -> Option<String> {
        let stems = TIMES.iter().find_map(|stem| {
            self.columns.iter().find(|column| unit::time(column).is_some_and(|(own, _)| own == *stem))
        });
        stems.or_else(|| self.columns.iter().find(|column| *column == TIME)).cloned()
    }

    /// Converts a column of times to seconds and returns its new name.
    fn in_seconds(&mut self, column: &str) -> Result<String, SourceFault> {
        let name = in_seconds(column);
        if name == column {
            return Ok(name);
        }
        let unit = conversion(column, &name).map_err(|what| self.failure(&what))?;
        if self.columns.contains(&name) {
            return Err(self.failure(&in_two_units(column, &name)));
        }
        for own in self.columns.iter_mut().filter(|own| *own == column) {
            own.clone_from(&name);
        }
        for (own, value) in self.rows.iter_mut().flat_map(|row| &mut row.cells).filter(|(own, _)| own == column) {
            own.clone_from(&name);
            *value = value.number().map_or_else(|| value.clone(), |number| AxisValue::Real(unit.of(number)));
        }
        Ok(name)
    }

    /// Converts the sizes in a column to numbers of bytes: texts such as `4 KiB`, or bare numbers if the unit of the
    /// column is known. Other cells stay unchanged.
    pub fn read_sizes(&mut self, column: &str) {
        let unit = self.units.iter().find(|(own, _)| own == column);
        let unit = unit.and_then(|(_, unit)| format!("1 {unit}").parse::<Bytes>().ok()).map_or(1, Bytes::count);
        for (_, value) in self.rows.iter_mut().flat_map(|row| &mut row.cells).filter(|(own, _)| own == column) {
            if let Some(bytes) = size(value, unit) {
                *value = bytes;
            }
        }
    }

    /// Returns the column called `name`.
    ///
    /// # Errors
    /// There is no such column.
    pub fn column(&self, name: &str) -> Result<String, SourceFault> {
        let column = self.columns.iter().find(|column| *column == name);
        column.cloned().ok_or_else(|| self.failure(&format!("there is no column `{name}`")))
    }

    /// Returns the column called `name`, or else the only column of the same time in another unit.
    ///
    /// # Errors
    /// There is no such column.
    pub fn column_of(&self, name: &str) -> Result<String, SourceFault> {
        let is_same = |column: &&String| unit::time(column).is_some() && in_seconds(column) == in_seconds(name);
        let mut same = self.columns.iter().filter(is_same);
        match (self.column(name), same.next(), same.next()) {
            (Err(_), Some(only), None) => Ok(only.clone()),
            (found, ..) => found,
        }
    }

    /// Returns the columns before `quantity` and before every time: the quantities that were varied.
    pub fn axes(&self, quantity: &str) -> impl Iterator<Item = &String> {
        let quantity = quantity.to_owned();
        let is_time =
            |column: &String| *column == TIME || unit::time(column).is_some_and(|(stem, _)| TIMES.contains(&stem));
        self.columns.iter().take_while(move |column| **column != quantity && !is_time(column))
    }

    /// Checks that all cells of these columns are finite numbers or empty.
    ///
    /// # Errors
    /// The first cell that is not a finite number.
    pub fn need_numbers<'c>(&self, columns: impl IntoIterator<Item = &'c String>) -> Result<(), SourceFault> {
        for column in columns {
            for row in &self.rows {
                if let Some(AxisValue::Text(text)) = row.value(column) {
                    let what = format!("`{text}` is no finite number");
                    return Err(self
                        .fault_in(row, column, &what)
                        .help("write a number such as 10.13, or 1.2e-6; in JSON without quotes"));
                }
            }
        }
        Ok(())
    }

    /// Checks that no cell of these columns is empty.
    ///
    /// # Errors
    /// The first empty cell.
    pub fn need_values<'c>(&self, columns: impl IntoIterator<Item = &'c String>) -> Result<(), SourceFault> {
        columns.into_iter().try_for_each(|column| self.rows.iter().try_for_each(|row| self.need_value(row, column)))
    }

    /// Checks that a cell is not empty.
    ///
    /// # Errors
    /// The cell is empty.
    pub fn need_value(&self, row: &Row, column: &str) -> Result<(), SourceFault> {
        let help = "give a value, or leave the row out";
        let empty = || self.fault_in(row, column, "the cell is empty").help(help);
        row.value(column).map(drop).ok_or_else(empty)
    }

    /// Checks that no two rows have the same values in all of these columns.
    ///
    /// # Errors
    /// The first row that repeats the point of an earlier row.
    pub fn need_different_points(&self, columns: &[String]) -> Result<(), SourceFault> {
        let absent = AxisValue::Text(String::new());
        let points = self.rows.iter().map(|row| {
            let values = columns.iter().map(|name| (name, row.value(name).unwrap_or(&absent)));
            (position(values), &row.place)
        });
        repeated(points).map_or(Ok(()), |what| Err(SourceFault::new(&format!("{}: {what}", self.name))))
    }

    /// Creates a fault of a row.
    #[must_use]
    pub fn fault_at(&self, row: &Row, what: &str) -> SourceFault {
        SourceFault::new(&format!("{}: {}: {what}", self.name, row.place))
    }

    /// Creates a fault of a cell.
    #[must_use]
    pub fn fault_in(&self, row: &Row, column: &str, what: &str) -> SourceFault {
        SourceFault::new(&format!("{}: {}, column `{column}`: {what}", self.name, row.place))
    }

    /// Creates a fault of all rows together.
    #[must_use]
    pub fn fault_of_rows(&self, what: &str) -> SourceFault {
        SourceFault::new(&format!("{}: {what}", self.name))
    }

    /// Creates the fault of a column that would be overwritten by another value of an answer.
    #[must_use]
    pub fn fault_of_name(&self, column: &str) -> SourceFault {
        let what = "another value of the answer has this name";
        SourceFault::new(&format!("{}: column `{column}`: {what}", self.name))
            .help("give the column, or the axis that it comes from, another name")
    }

    /// Creates a fault of the whole table.
    #[must_use]
    pub fn failure(&self, what: &str) -> SourceFault {
        let fault = SourceFault::new(&format!("{}: {what}; its columns are: {}", self.name, self.columns.join(", ")));
        match self.columns.as_slice() {
            [only] if only.contains([';', '\t']) => {
                fault.help("separate columns by commas, and write decimals with a point")
            }
            _ => fault,
        }
    }

    /// Returns a note about the rows without a number in `column`, or `None` if there are none.
    #[must_use]
    pub fn unused(&self, column: &str) -> Option<String> {
        const SHOWN: usize = 5;
        let places: Vec<_> =
            self.rows.iter().filter(|row| row.number(column).is_none()).map(|row| row.place.as_str()).collect();
        let more = places.len().checked_sub(SHOWN).filter(|more| *more > 0);
        let shown = places.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
        let count = places.len();
        (count > 0).then(|| {
            format!(
                "{}: {count} of {} rows have no `{column}` and are not used: {shown}{more}",
                self.name,
                self.rows.len()
            )
        })
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    if is_standard_input(path) {
        let text = String::from_utf8(standard_input(u64::MAX)?);
        return text.map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error));
    }
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
