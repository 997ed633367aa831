//! Means over an axis of a table's scenario.

use super::description::MeasuredTable;
use super::points::PublishedPoint;
use crate::experiment::StudyError;
use crate::scenario::{Case, Plan};

impl MeasuredTable {
    /// Returns the axes that the mean removes: that of `mean_over` and those that follow it; none without a mean.
    ///
    /// # Errors
    /// There is no such axis, it is computed, or the data have columns by which no case can be found.
    pub(super) fn averaged_axes(&self, plan: &Plan, points: &[PublishedPoint]) -> Result<Vec<String>, StudyError> {
        let Some(name) = &self.mean_over else { return Ok(Vec::new()) };
        let failed = |what: String| Err(StudyError::Request(format!("table `{}`: {what}", self.name)));
        let names = || plan.axes().map(|axis| &*axis.name).collect::<Vec<_>>().join(", ");
        match plan.axes().find(|axis| axis.name == *name) {
            None => {
                let names = names();
                return failed(format!(
                    "`mean_over` names `{name}`, and the scenario has no such axis; its axes: {names}"
                ));
            }
            Some(axis) if axis.expression.is_some() => {
                return failed(format!("`mean_over` names `{name}`, which is computed: name an axis with values"));
            }
            Some(_) => {}
        }
        let averaged: Vec<String> = plan.with_its_followers(name).map(|axis| axis.name.clone()).collect();
        let columns = || points.first().into_iter().flat_map(|point| &point.axes).map(|(column, _)| column);
        if let Some(column) = columns().find(|column| averaged.contains(column)) {
            return failed(format!("the column `{column}` of the data varies along `{name}`, the axis of `mean_over`"));
        }
        if let Some(column) = columns().find(|column| plan.axes().all(|axis| axis.name != **column)) {
            return failed(format!(
                "the column `{column}` of the data is no axis, and with `mean_over` the points are found by the \
                 scenario's axes: {}",
                names()
            ));
        }
        Ok(averaged)
    }

    /// Reports the points of the data without a case, if cases are averaged.
    pub(super) fn note_on_unused_points(&self, points: &[PublishedPoint], cases: &[Case]) -> Option<String> {
        self.mean_over.as_ref()?;
        let unplayed = points.iter().filter(|point| !cases.iter().any(|case| point.agrees_with(&case.keys)));
        let places: Vec<_> = unplayed.map(|point| point.place.as_str()).collect();
        let count = places.len();
        (count > 0)
            .then(|| format!("table `{}`: {count} points of data have no case: {}", self.name, places.join(", ")))
    }
}
