//! The human-readable columns of records, and their cells.

use super::table::{TextTable, digits, time};
use crate::answer::{Quantity, QuantityValue, Record, Role, Unit};
use std::collections::HashSet;

/// The mean makespan of all seeds, which replaces that of the first seed.
const MEAN: &str = "makespan_mean_s";
/// The makespan of the first seed, which its mean replaces.
const FIRST: &str = "makespan_s";
/// The part of a key that marks half the 95 % interval of the mean whose key lacks it, or has `mean` in its place.
const HALF_WIDTH: &str = "_interval95";
/// The magnitude of a ratio, and of an interval relative to its value, that is rounding of floating-point numbers.
const ROUNDING: f64 = 1e-12;
/// The part of a key that marks a mean over the seeds of anything but the makespan.
const OVER_SEEDS: &str = "_over_seeds";

/// Returns the columns of the summary in which any row has a value. For repeated runs, the mean is shown with its
/// interval.
#[must_use]
pub fn columns(rows: &[Record]) -> Vec<&Quantity> {
    let mut columns = rows.first().map(streamed_columns).unwrap_or_default();
    let mut known: HashSet<&str> = columns.iter().map(|column| &*column.key).collect();
    // Only some rows may have something to be compared with.
    let others = rows.iter().skip(1).flat_map(streamed_columns);
    columns.extend(others.filter(|column| known.insert(&*column.key)));
    columns.retain(|column| rows.iter().any(|row| row.get(&column.key).is_some_and(|value| !value.is_missing())));
    columns
}

/// Returns the columns of a table whose rows are written one at a time after `first`; any column may have a value
/// later.
#[must_use]
pub fn streamed_columns(first: &Record) -> Vec<&Quantity> {
    let mut columns: Vec<_> = first.summary().collect();
    let has_mean = columns.iter().any(|column| column.key == MEAN);
    let half_widths: Vec<_> = columns.iter().filter_map(|column| half_width_of(&column.key)).collect();
    let is_beside = |key: &str| (has_mean && key == FIRST) || half_widths.iter().any(|half_width| half_width == key);
    columns.retain(|column| !is_beside(&column.key));
    columns
}

/// Returns the key of half the interval of a mean over the seeds; `None` for other keys.
fn half_width_of(key: &str) -> Option<String> {
    match key {
        MEAN => Some(key.replace("_mean", HALF_WIDTH)),
        _ if key.contains(HALF_WIDTH) => None,
        _ => key.contains(OVER_SEEDS).then(|| key.replace(OVER_SEEDS, &format!("{OVER_SEEDS}{HALF_WIDTH}"))),
    }
}

/// Returns the headings of columns: their names, and of an axis that is called by the path of its field only the name of
/// the field, unless another column has the same one. Values of the first seed beside means say so, and axes whose unit
/// `row` names have it.
#[must_use]
pub fn headings<'q>(columns: &[&'q Quantity], row: &Record) -> Vec<String> {
    let field = |column: &&'q Quantity| match column.name().rsplit_once('.') {
        Some((_, field)) if column.role == Role::Axis && field.parse::<u32>().is_err() => field,
        _ => column.name(),
    };
    let fields: Vec<&str> = columns.iter().map(field).collect();
    let is_alone = |name: &str| fields.iter().filter(|other| **other == name).count() == 1;
    let named = columns.iter().zip(&fields);
    let heading = |(column, field): (&&Quantity, &&str)| {
        if let Some(name) = heading_of_error(column) {
            return name;
        }
        let name = if is_alone(field) { *field } else { column.name() };
        match (column.role, row.unit_of_axis(&column.key)) {
            (Role::FirstSeed, _) => format!("{name} (first seed)"),
            (Role::Axis, Some(unit)) => format!("{name} [{unit}]"),
            _ => name.to_owned(),
        }
    };
    named.map(heading).collect()
}

/// Returns the heading of a relative error, which is shown in per cent; `None` for other columns.
pub fn heading_of_error(column: &Quantity) -> Option<String> {
    // The key of an error against a time ends in that time's unit.
    let name = column.key.strip_suffix("_s").unwrap_or(&column.key);
    is_error(column).then(|| format!("{name} [%]"))
}

const fn is_error(column: &Quantity) -> bool {
    matches!(column.role, Role::Residual | Role::Error)
}

/// Returns half the width of an interval around `value`; rounding is 0.
#[must_use]
pub fn half_width(value: f64, half: f64) -> f64 {
    if half.abs() <= ROUNDING * value.abs() { 0.0 } else { half }
}

/// Returns a ratio without what is rounding of floating-point numbers.
#[must_use]
pub fn without_rounding(ratio: f64) -> f64 {
    if ratio.abs() < ROUNDING { 0.0 } else { ratio }
}

/// Formats a number in `unit` for human readers; times are written with their units.
#[must_use]
pub fn number(unit: Unit, value: f64) -> String {
    if unit == Unit::Seconds { time(value) } else { digits(value) }
}

/// Returns the human-readable content of the column `key` in `row`.
#[must_use]
pub fn cell(row: &Record, key: &str) -> String {
    let shown = row.quantity(key).map_or_else(String::new, displayed);
    match half_width_of(key).and_then(|key| row.quantity(&key)).filter(|half_width| !half_width.value.is_missing()) {
        Some(half) => format!("{shown} ± {}", displayed(&around(row.get(key), half))),
        None => shown,
    }
}

/// Returns half the width of an interval around `value`, where rounding is 0.
fn around(value: Option<&QuantityValue>, half: &Quantity) -> Quantity {
    let numbers = value.and_then(QuantityValue::number).zip(half.value.number());
    let shown = numbers.map_or_else(|| half.value.clone(), |(value, half)| half_width(value, half).into());
    Quantity { value: shown, ..half.clone() }
}

/// Returns a table of the keys, the times and the values they are compared with. Other formats have the components,
/// too.
#[must_use]
pub fn table(rows: &[Record]) -> TextTable {
    let columns = columns(rows);
    let none = Record::default();
    let mut table = TextTable::new(headings(&columns, rows.first().unwrap_or(&none)));
    for row in rows {
        table.row(columns.iter().map(|column| cell(row, &column.key)));
    }
    table
}

/// Returns a quantity for human readers.
pub fn displayed(quantity: &Quantity) -> String {
    match quantity.value {
        QuantityValue::Real(error) if is_error(quantity) => digits(100.0 * without_rounding(error)),
        QuantityValue::Real(value) => number(quantity.unit, value),
        ref other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_later_rows_are_shown() {
        let row = |p: u32, measured: Option<f64>| {
            let mut row = Record::default();
            row.put("p", p);
            row.put("makespan_s", 1.0);
            if let Some(measured) = measured {
                row.put("measured_s", measured);
            }
            row
        };
        let rows = [row(1, None), row(2, Some(2.0)), row(4, Some(3.0))];
        let keys: Vec<_> = columns(&rows).iter().map(|column| column.key.clone()).collect();
        assert_eq!(keys, ["p", "makespan_s", "measured_s"]);
    }

    #[test]
    fn errors_are_in_per_cent_and_rounding_is_0() {
        let mut row = Record::default();
        row.put("makespan_mean_s", 0.5);
        row.put("makespan_interval95_s", 1.3e-20);
        row.put_as(Role::Error, "error_against_predicted_full_s", -0.125);
        row.put_as(Role::Residual, "simulated_error", -1.591e-16);
        row.put("relative_residual", 1e-16);
        let shown = table(std::slice::from_ref(&row)).to_string();
        assert!(shown.contains("error_against_predicted_full [%]  simulated_error [%]"), "{shown}");
        let cells = ["error_against_predicted_full_s", "simulated_error", "makespan_mean_s", "relative_residual"];
        assert_eq!(cells.map(|key| cell(&row, key)), ["-12.50", "0", "500.0 ms ± 0 s", "1.000e-16"]);
    }

    #[test]
    fn a_path_is_headed_by_its_field_unless_another_one_ends_alike() {
        let headings = |paths: &[&str]| {
            let mut row = Record::default();
            for path in paths {
                row.put_as(Role::Axis, (*path).to_owned(), 1.0);
            }
            row.put("makespan_s", 1.0);
            super::headings(&columns(std::slice::from_ref(&row)), &row)
        };
        assert_eq!(headings(&["p", "machine.links.latency"]), ["p", "latency", "makespan"]);
        assert_eq!(headings(&["a.latency", "b.latency"]), ["a.latency", "b.latency", "makespan"]);
        assert_eq!(headings(&["program.p", "p", "sides.0"]), ["program.p", "p", "sides.0", "makespan"]);
    }

    #[test]
    fn a_mean_stands_with_its_interval_and_nothing_has_no_column() {
        let mut row = Record::default();
        row.put("p", 4);
        row.put("makespan_s", 0.25);
        row.put("makespan_mean_s", 0.5);
        row.put("makespan_interval95_s", 0.125);
        row.put("measured_s", QuantityValue::Missing);
        row.end_summary();
        let keys: Vec<_> = columns(std::slice::from_ref(&row)).iter().map(|column| &*column.key).collect();
        assert_eq!(keys, ["p", "makespan_mean_s"]);
        assert_eq!(cell(&row, "makespan_mean_s"), "500.0 ms ± 125.0 ms");
    }

    #[test]
    fn a_value_of_the_first_seed_says_so() {
        let mut row = Record::default();
        row.put("makespan_mean_s", 0.5);
        row.put_as(Role::FirstSeed, "message_s", 0.25);
        row.put("efficiency", 0.5);
        assert_eq!(
            headings(&columns(std::slice::from_ref(&row)), &row),
            ["makespan_mean", "message (first seed)", "efficiency"]
        );
    }
}
