//! The numeric columns of a calibration beside the scenarios that it predicts: how far these lie outside, and where they
//! lie on the axis along which errors grow.

use super::best_fit::BestFit;
use super::rows::MeasuredRow;
use crate::experiment::cases::workers::Keys;
use crate::scenario::{AxisValue, Plan, common_unit};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A numeric column of the tables, with the values for which errors are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Column")]
pub struct CalibratedColumn {
    /// The name of the column.
    pub(super) name: String,
    /// The path of the field that the column sets; `None` for a label, and if the tables differ.
    path: Option<String>,
    /// The unit of the values.
    unit: Option<String>,
    /// The least value of the rows that calibrate parameters or intervals.
    from: f64,
    /// The greatest of these values.
    to: f64,
}

impl CalibratedColumn {
    /// Returns the value of a case of `plan` with these keys; `None` if it has no such field, or no number there.
    fn value(&self, plan: &Plan, keys: &[(String, Option<AxisValue>)]) -> Option<f64> {
        plan.number_at(self.path.as_deref()?, self.unit.as_deref(), keys)
    }

    /// Returns the position of a case on the axis along which errors grow. A scenario without the field has the errors of
    /// the greatest value.
    pub(super) fn extent(&self, plan: &Plan, keys: &[(String, Option<AxisValue>)]) -> f64 {
        extent_of(self.value(plan, keys).or(Some(self.to)))
    }

    /// Returns a caution if some of the cases of `plan`, with these keys, lie outside of the calibrated values; `is_lone`
    /// if no column is given along which errors grow.
    pub(super) fn caution_on_extrapolation(&self, plan: &Plan, cases: &[Keys], is_lone: bool) -> Option<String> {
        let values: Vec<f64> = cases.iter().filter_map(|keys| self.value(plan, keys)).collect();
        let below = range(values.iter().copied().filter(|value| *value < self.from));
        let above = range(values.iter().copied().filter(|value| *value > self.to));
        let remedy =
            if is_lone && above.is_some() { "; `growing` in its case widens them as errors have grown" } else { "" };
        let outside = below.into_iter().chain(above).collect::<Vec<_>>().join(" and ");
        let calibrated = range([self.from, self.to].into_iter())?;
        (!outside.is_empty()).then(|| {
            format!(
                "{} = {outside} lies outside of the calibrated {calibrated}, where errors may be larger than the intervals{remedy}.",
                self.name
            )
        })
    }

    /// Returns that the intervals of a scenario without this column, along which errors grow, do not follow it.
    pub(super) fn caution_on_absence(&self, plan: &Plan) -> Option<String> {
        let is_there = self.path.as_ref().is_some_and(|path| plan.has_field(path));
        let (name, greatest) = (&self.name, self.to);
        (!is_there).then(|| {
            format!(
                "The scenario has no {name}, with which errors grow: its intervals are those of {name} = {greatest}."
            )
        })
    }
}

/// Formats the range of some numbers; `None` if there are none.
fn range(values: impl Iterator<Item = f64>) -> Option<String> {
    let (least, greatest) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| (least.min(value), greatest.max(value)));
    match least.total_cmp(&greatest) {
        std::cmp::Ordering::Less => Some(format!("{least} to {greatest}")),
        std::cmp::Ordering::Equal => Some(least.to_string()),
        std::cmp::Ordering::Greater => None,
    }
}

/// Returns the extent of a value along which errors grow: only values above 0 have one of their own.
fn extent_of(value: Option<f64>) -> f64 {
    value.filter(|value| *value > 0.0).unwrap_or(1.0)
}

impl BestFit<'_> {
    /// Returns the position of a row on the axis along which errors grow.
    pub(super) fn extent(&self, row: &MeasuredRow) -> f64 {
        let growing = self.case.intervals.growing.as_ref();
        extent_of(growing.and_then(|name| number(row.value(name)?, self.field_of(row, name).1.as_deref())))
    }

    /// Returns the numeric columns of the tables.
    pub(super) fn calibrated_columns(&self) -> Vec<CalibratedColumn> {
        let known = self.fit.rows.iter().filter(|row| row.reference.is_some() && (row.trains || row.sets_intervals));
        let (mut columns, mut fields) = (Vec::<CalibratedColumn>::new(), HashMap::new());
        for (row, (name, value)) in known.flat_map(|row| row.columns().map(move |column| (row, column))) {
            let field = fields.entry((row.table, name)).or_insert_with(|| self.field_of(row, name));
            let (path, unit) = field.clone();
            let Some(value) = number(value, unit.as_deref()) else { continue };
            match columns.iter_mut().find(|column| column.name == *name) {
                Some(column) => {
                    (column.from, column.to) = (column.from.min(value), column.to.max(value));
                    column.path =
                        column.path.take().filter(|known| (Some(known), &column.unit) == (path.as_ref(), &unit));
                }
                None => columns.push(CalibratedColumn { name: name.clone(), path, unit, from: value, to: value }),
            }
        }
        columns
    }

    /// Returns the path of the field that a column of a row sets, if it does, and the unit of its numbers, if they have one:
    /// that of the axis, or of the first value of the table.
    fn field_of(&self, row: &MeasuredRow, column: &str) -> (Option<String>, Option<String>) {
        let is_axis = row.axes.iter().any(|(name, _)| name == column);
        let field = self.fit.simulated.field_along(row.table, column).filter(|_| is_axis);
        let (path, unit) = field.map_or((None, None), |(path, unit)| (Some(path), unit));
        let first = self.fit.rows.iter().find(|other| other.table == row.table);
        let own = || common_unit(first?.value(column)?.text().into_iter());
        (path, unit.or_else(own))
    }
}

fn number(value: &AxisValue, unit: Option<&str>) -> Option<f64> {
    value.clone().without_unit(unit).number()
}
