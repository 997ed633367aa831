//! Fields that columns of data set.

use super::conflict::FieldRoutes;
use super::{Axis, Plan, PlannedAxis};

/// The fields that columns of data set, and those of the axes that follow these columns. They are set last.
#[derive(Debug)]
pub struct ColumnFields<'p> {
    plan: &'p Plan,
    /// The axes of the columns, then those that follow.
    axes: Vec<PlannedAxis>,
    routes: FieldRoutes,
    columns: Vec<String>,
}

impl Plan {
    /// Returns the fields that columns of data set: an axis, or the path of a field, each; other columns set nothing.
    #[must_use]
    pub fn column_fields(&self, columns: &[&String]) -> ColumnFields<'_> {
        let declared = |name: &str| self.axis(name).map(|planned| planned.axis.clone());
        let of_column = |name: &&String| declared(name).or_else(|| self.free_axis(name).ok());
        let given: Vec<Axis> = columns.iter().filter_map(of_column).collect();
        let followers = self.following(|axis| given.iter().any(|given| given.path == axis.path));
        let planned = |axis: &Axis| PlannedAxis { axis: axis.clone(), values: Vec::new(), place: None };
        let axes: Vec<_> = given.iter().chain(followers).map(planned).collect();
        let columns = columns.iter().map(|&name| name.clone()).collect();
        ColumnFields { plan: self, routes: FieldRoutes::of(&axes, &self.document), axes, columns }
    }
}

impl ColumnFields<'_> {
    /// Returns in words what gives every row its value of the field at `path`, itself or as part of a containing field.
    #[must_use]
    pub fn setter_of(&self, path: &str) -> Option<String> {
        let name = &self.routes.axis_over(&self.axes, path, &self.plan.document)?.axis.name;
        let is_column = self.columns.contains(name);
        Some(if is_column {
            format!("the column `{name}`")
        } else {
            format!("the axis `{name}`, which follows columns,")
        })
    }
}
