//! The numeric columns of a calibration beside the scenarios that it predicts: how far these lie outside, and where they
//! lie on the axis along which errors grow.

use super::best_fit::BestFit;
use crate::scenario::{AxisValue, Plan};
use serde::{Deserialize, Serialize};

/// A numeric column of the tables, with the values for which errors are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Column")]
pub struct CalibratedColumn {
    /// The name of the column.
    pub name: String,
    /// The path of the field that the column sets; `None` for a label, and if the tables differ.
    path: Option<String>,
    /// The unit of the values.
    unit: Option<String>,
    /// The least value of the rows that calibrate parameters or intervals.
    from: f64,
    /// The greatest of these values.
    pub to: f64,
}

impl CalibratedColumn {
    /// Returns the value of a case of `plan`, which has these keys; `None` if the scenario does not have the field.
    fn value(&self, plan: &Plan, keys: &[(String, Option<AxisValue>)]) -> Option<f64> {
        plan.number_along(&self.name, self.unit.as_deref(), keys).filter(|_| self.is_in(plan))
    }

    /// Returns `true` if the column is an axis or a field of a scenario.
    fn is_in(&self, plan: &Plan) -> bool {
        self.path.is_some() && self.path == plan.field_along(&self.name).map(|(path, _)| path)
    }

    /// Returns the position of a case on the axis along which errors grow. A scenario without the field has the errors of
    /// the greatest value.
    pub fn extent(&self, plan: &Plan, keys: &[(String, Option<AxisValue>)]) -> f64 {
        self.value(plan, keys).filter(|value| *value > 0.0).unwrap_or(self.to)
    }

    /// Returns a caution if cases of `plan` lie outside of the calibrated values.
    pub fn caution_on_extrapolation(&self, plan: &Plan, is_growing: bool) -> Option<String> {
        let values = if self.is_in(plan) { plan.numbers_along(&self.name, self.unit.as_deref()) } else { Vec::new() };
        let is_outside = |value: &f64| !(self.from..=self.to).contains(value);
        let outside: Vec<f64> = values.into_iter().filter(is_outside).collect();
        let (least, greatest) = (outside.iter().copied().reduce(f64::min)?, outside.into_iter().reduce(f64::max)?);
        let range = if least < greatest { format!("{least} to {greatest}") } else { least.to_string() };
        let (name, remedy) =
            (&self.name, if is_growing { "" } else { "; `growing` in its case widens them as errors have grown" });
        Some(format!(
            "{name} = {range} lies outside of the calibrated {} to {}, where errors may be larger than the intervals{remedy}.",
            self.from, self.to
        ))
    }

    /// Returns that the intervals of a scenario without this column, along which errors grow, do not follow it.
    pub fn caution_on_absence(&self, plan: &Plan) -> Option<String> {
        let (name, greatest) = (&self.name, self.to);
        (!self.is_in(plan)).then(|| {
            format!(
                "The scenario has no {name}, with which errors grow: its intervals are those of {name} = {greatest}."
            )
        })
    }
}

impl BestFit<'_> {
    /// Returns the numeric columns of the tables.
    pub(super) fn calibrated_columns(&self) -> Vec<CalibratedColumn> {
        let known = self.fit.rows.iter().filter(|row| row.reference.is_some() && (row.trains || row.sets_intervals));
        let mut columns: Vec<CalibratedColumn> = Vec::new();
        for (row, (name, value)) in known.flat_map(|row| row.columns().map(move |column| (row, column))) {
            let Some(value) = value.number() else { continue };
            let field = self.fit.simulated.field_along(row.table, name);
            let (path, unit) = field.map_or((None, None), |(path, unit)| (Some(path), unit));
            match columns.iter_mut().find(|column| column.name == *name) {
                Some(column) => {
                    (column.from, column.to) = (column.from.min(value), column.to.max(value));
                    let is_same = (&column.path, &column.unit) == (&path, &unit);
                    column.path = path.filter(|_| is_same);
                }
                None => columns.push(CalibratedColumn { name: name.clone(), path, unit, from: value, to: value }),
            }
        }
        columns
    }
}
