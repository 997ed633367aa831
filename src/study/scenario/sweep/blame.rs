//! The value of an axis that causes a fault of a case.

use super::Cases;
use super::planned::PlannedAxis;
use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::named_topology;
use crate::scenario::source::{Document, Faults, SourceFault, Tree, is_within};

/// The maximum number of other values of an axis that are tried in place of one that may cause a fault.
const MAX_TRIED: usize = 16;

impl Cases<'_> {
    /// Places each fault of the case at a point at the value of an axis, if the case would not have it with the base
    /// value of that axis. A fault at the only value of an axis is placed at a value of another axis if the case would
    /// not have it with another value of that one: of one number of ranks and several placements, the placement is to
    /// blame.
    pub(super) fn blamed(&self, point: u64, mut faults: Faults) -> Faults {
        let Ok(document) = self.document(point) else { return faults };
        for fault in &mut faults.list {
            let cause = match self.plan.axes.iter().find(|planned| is_within(&fault.path, &planned.axis.path)) {
                Some(own) if own.values.len() == 1 => self.alternative(&document, fault),
                Some(_) => None,
                None => self.cause(&document, fault),
            };
            if let Some((axis, tree)) = cause.and_then(|axis| Some((axis, document.get(&axis.path)?))) {
                fault.place = Some(tree.place);
                if let Some(value) = AxisValue::of_tree(tree) {
                    fault.message = format!("{} = {value}: {}", axis.name, fault.message);
                }
                let consequence = std::mem::replace(&mut fault.path, axis.path.clone());
                if !consequence.is_empty() {
                    fault.message = format!("{} ({consequence})", fault.message);
                }
            }
        }
        faults
    }

    /// Returns the axis without whose value the case would not have the fault.
    fn cause(&self, document: &Document, fault: &SourceFault) -> Option<&Axis> {
        // A part of the faulty value is a more likely cause than something else.
        let (parts, others): (Vec<_>, Vec<_>) = self.plan.axes().partition(|axis| is_within(&axis.path, &fault.path));
        let is_cause =
            |axis: &&Axis| self.base.get(&axis.path).is_some_and(|base| is_cured(document, axis, base.clone(), fault));
        parts.into_iter().chain(others).find(is_cause)
    }

    /// Returns the axis that has another value with which the case would not have the fault.
    fn alternative(&self, document: &Document, fault: &SourceFault) -> Option<&Axis> {
        let has_cure = |planned: &&PlannedAxis| {
            let axis = &planned.axis;
            let mut trees = planned.values.iter().take(MAX_TRIED);
            planned.values.len() > 1
                && trees.any(|value| {
                    let tree = value.tree(axis, &mut document.clone());
                    tree.is_ok_and(|tree| is_cured(document, axis, tree, fault))
                })
        };
        self.plan.axes.iter().find(has_cure).map(|planned| &planned.axis)
    }
}

/// Returns `true` if the case has no such fault with `tree` as the value of `axis`.
fn is_cured(document: &Document, axis: &Axis, tree: Tree, fault: &SourceFault) -> bool {
    let mut other = document.clone();
    if other.set_tree(&axis.path, tree).is_err() {
        return false;
    }
    let checked = named_topology::read(&other).and_then(|scenario| scenario.check(&other));
    checked.err().is_none_or(|faults| faults.list.iter().all(|one| one.path != fault.path))
}
