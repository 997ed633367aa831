//! Values that a table gives to fields, and that its points or axes replace.

use super::description::{Baseline, MeasuredTable};
use super::points::PublishedPoint;
use crate::experiment::Setting;
use crate::scenario::Plan;
use crate::scenario::source::is_within;

/// A value that is never used.
pub struct UndoneValue {
    /// The place of the value in the table.
    pub at: String,
    /// The reason.
    pub message: String,
}

impl MeasuredTable {
    /// Returns `true` if the points of data replace the axes of the scenario.
    pub(super) const fn is_of_points(&self) -> bool {
        self.data.is_some() && self.mean_over.is_none()
    }

    /// Returns the first value of a field that every case replaces, if there is one. `plan` has the base values without
    /// those of baselines and fits.
    pub(super) fn undone_value(&self, plan: &Plan, points: &[PublishedPoint]) -> Option<UndoneValue> {
        let columns: Vec<_> = points.first().into_iter().flat_map(|point| &point.axes).map(|(name, _)| name).collect();
        let columns = plan.column_fields(&columns);
        let of_axis = |path: &str| plan.axis_over(path).map(|axis| format!("the axis `{}`", axis.name));
        let setter = |path: &str| if self.is_of_points() { columns.setter_of(path) } else { of_axis(path) };
        self.given_values().into_iter().find_map(|(at, giver, path)| {
            let by = setter(path)?;
            let table = &self.name;
            let message =
                format!("table `{table}`: {giver} gives `{path}` a value that is never used: {by} gives others");
            Some(UndoneValue { at, message })
        })
    }

    /// Returns a value of `--set` that those of `leave_out` replace, if there is one.
    pub(super) fn setting_without_effect(&self, settings: &[Setting]) -> Option<UndoneValue> {
        let fitted = &self.leave_out.as_ref()?.path;
        let (path, value) = settings.iter().find(|(path, _)| is_within(path, fitted))?;
        let (at, table) = ("leave_out.path".to_owned(), &self.name);
        let message =
            format!("table `{table}`: `--set {path}={value}` would have no effect: `leave_out` fits `{fitted}`");
        Some(UndoneValue { at, message })
    }

    /// Returns the fields that the table gives values to: the place of each value, what gives it, and the path.
    fn given_values(&self) -> Vec<(String, String, &str)> {
        let mut given: Vec<(String, String, &str)> = Vec::new();
        for (index, (path, _)) in self.set.iter().enumerate() {
            given.push((format!("set.{index}"), "`set`".to_owned(), path));
        }
        for (index, baseline) in self.baselines.iter().enumerate() {
            let Baseline::Alternative(other) = baseline else { continue };
            for (place, (path, _)) in other.set.iter().enumerate() {
                let at = format!("baselines.{index}.set.{place}");
                given.push((at, format!("the baseline `{}`", other.name), path));
            }
        }
        given.extend(
            self.leave_out.iter().map(|fit| ("leave_out.path".to_owned(), "`leave_out`".to_owned(), &*fit.path)),
        );
        given
    }
}
