//! Conflicts between values for one field: two axes over the same field, or a `--set` on a field that an axis varies.

use super::planned::PlannedAxis;
use crate::scenario::source::{Document, SourceFault, is_within};
use std::collections::HashMap;

/// The path of a field as indices of children, from the root of the document on.
type FieldRoute = Vec<usize>;

/// The routes of the fields of all axes, or `None` for fields that the document omits. Routes do not depend on the
/// spelling of paths.
#[derive(Debug)]
pub(super) struct FieldRoutes(Vec<Option<FieldRoute>>);

impl FieldRoutes {
    pub fn of(axes: &[PlannedAxis], base: &Document) -> Self {
        Self(axes.iter().map(|planned| base.route(&planned.axis.path)).collect())
    }

    /// Returns the axes in the order in which their values are set: containing fields before contained ones, so that no
    /// value is lost.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.0.len()).collect();
        order.sort_by_key(|axis| self.0[*axis].as_ref().map_or(usize::MAX, Vec::len));
        order
    }

    /// Returns the axes whose field contains the field of axis `index`.
    pub fn around(&self, index: usize) -> impl Iterator<Item = usize> {
        let route = self.0[index].as_ref();
        let is_around = move |other: &Option<FieldRoute>| match (route, other) {
            (Some(route), Some(other)) => other.len() < route.len() && route.starts_with(other),
            _ => false,
        };
        (0..self.0.len()).filter(move |axis| is_around(&self.0[*axis]))
    }

    /// Returns a fault for every axis over a field that an earlier axis varies already.
    pub fn duplicates(&self, axes: &[PlannedAxis]) -> Vec<SourceFault> {
        let mut faults = Vec::new();
        let mut first = HashMap::new();
        for (index, route) in self.0.iter().enumerate() {
            let earlier = route.as_ref().map_or(index, |route| *first.entry(route).or_insert(index));
            if earlier != index {
                faults.push(twice(&axes[earlier], &axes[index]));
            }
        }
        faults
    }

    /// Returns the faults of axes over one field, and of `settings` on a field that an axis varies, itself or as part
    /// of a containing field.
    pub fn faults(&self, axes: &[PlannedAxis], settings: &[(String, String)], base: &Document) -> Vec<SourceFault> {
        let mut faults = self.duplicates(axes);
        for (path, value) in settings {
            faults.extend(self.axis_over(axes, path, base).map(|axis| lost(path, value, axis)));
        }
        faults
    }

    /// Returns the axis that varies the field at `path`, itself or as part of a containing field.
    pub fn axis_over<'a>(&self, axes: &'a [PlannedAxis], path: &str, base: &Document) -> Option<&'a PlannedAxis> {
        let route = base.route(path);
        let is_over = |index: &usize| match (&route, &self.0[*index]) {
            (Some(route), Some(other)) => route.starts_with(other),
            // The document leaves one of the two at its default.
            _ => is_within(path, &axes[*index].axis.path),
        };
        (0..axes.len()).find(is_over).map(|index| &axes[index]).filter(|axis| !axis.is_held(base))
    }
}

fn twice(first: &PlannedAxis, second: &PlannedAxis) -> SourceFault {
    let place = second.place;
    let (first, second) = (&first.axis, &second.axis);
    let message = format!("the axes `{}` and `{}` vary the same field, `{}`", first.name, second.name, second.path);
    SourceFault { place, ..SourceFault::new(&message) }
        .on(&second.path)
        .help(&format!("leave one of them out, or give `--over {}=…` alone", first.name))
}

fn lost(path: &str, value: &str, planned: &PlannedAxis) -> SourceFault {
    let axis = &planned.axis;
    let message =
        format!("`--set {path}={value}` would have no effect: the axis `{}` varies `{}`", axis.name, axis.path);
    let help = if path == axis.path {
        format!("give the values of the axis instead: `--over {}=…`", axis.name)
    } else {
        format!("a field has its own axis, which is set in every value of `{}`: `--over {path}={value}`", axis.name)
    };
    SourceFault::new(&message).on(path).help(&help)
}
