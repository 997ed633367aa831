//! The columns of records that people see, and their cells.

use super::record::Record;
use super::table::{TextTable, digits, time};
use serde_json::Value;

/// The mean of all seeds, which stands for the run of the first one.
const MEAN: &str = "makespan_mean_s";
/// Keys that are shown with the mean, or say less than it.
const WITH_MEAN: [&str; 2] = ["makespan_s", "makespan_interval95_s"];

/// The columns of the summary that any row has a value in. Of repeated runs the mean is shown with its interval.
#[must_use]
pub fn columns(rows: &[Record]) -> Vec<String> {
    let mut columns = rows.first().map(Record::summary_keys).unwrap_or_default();
    columns.retain(|column| rows.iter().any(|row| row.get(column).is_some_and(|value| !value.is_null())));
    if columns.iter().any(|column| column == MEAN) {
        columns.retain(|column| !WITH_MEAN.contains(&column.as_str()));
    }
    columns
}

/// The columns of a table whose rows come one by one after `first`: any of them may have a value later.
#[must_use]
pub fn streamed(first: &Record) -> Vec<String> {
    let mut columns = first.summary_keys();
    if columns.iter().any(|column| column == MEAN) {
        columns.retain(|column| !WITH_MEAN.contains(&column.as_str()));
    }
    columns
}

/// The name of `column` for people: times stand with their units.
#[must_use]
pub fn heading(column: &str) -> &str {
    if is_time(column) { column.trim_end_matches("_s") } else { column }
}

/// True for the key of a time in seconds.
fn is_time(column: &str) -> bool {
    column.ends_with("_s") && !column.ends_with("_per_s")
}

/// The value of `column` for people.
#[must_use]
pub fn number(column: &str, value: f64) -> String {
    if is_time(column) { time(value) } else { digits(value) }
}

/// The human-readable content of `column` in `row`.
#[must_use]
pub fn cell(row: &Record, column: &str) -> String {
    let shown = row.get(column).map_or_else(String::new, |value| shown(column, value));
    match row.get(WITH_MEAN[1]).and_then(Value::as_f64) {
        Some(half_width) if column == MEAN => format!("{shown} ± {}", number(column, half_width)),
        _ => shown,
    }
}

/// The keys, the times and what they are set beside; the other formats have the components too.
#[must_use]
pub fn table(rows: &[Record]) -> TextTable {
    let columns = columns(rows);
    let mut table = TextTable::new(columns.iter().map(|column| heading(column)));
    for row in rows {
        table.row(columns.iter().map(|column| cell(row, column)));
    }
    table
}

fn shown(column: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => self::number(column, number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_stands_with_its_interval_and_nothing_has_no_column() {
        let mut row = Record::default();
        row.put("p", 4);
        row.put("makespan_s", 0.25);
        row.put("makespan_mean_s", 0.5);
        row.put("makespan_interval95_s", 0.125);
        row.put("measured_s", Value::Null);
        row.end_summary();
        assert_eq!(columns(std::slice::from_ref(&row)), ["p", "makespan_mean_s"]);
        assert_eq!(cell(&row, "makespan_mean_s"), "500.0 ms ± 125.0 ms");
    }
}
