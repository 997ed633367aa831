//! The value of an axis that causes a fault of a case.

use super::Cases;
use crate::scenario::axis::Axis;
use crate::scenario::named_topology;
use crate::scenario::source::{Document, Faults, SourceFault, is_within};

impl Cases<'_> {
    /// Places each fault of the case at a point at the value of an axis, if the case would not have it with the base
    /// value of that axis.
    pub(super) fn blamed(&self, point: u64, mut faults: Faults) -> Faults {
        let Ok(document) = self.document(point) else { return faults };
        for fault in &mut faults.list {
            if self.plan.axes().any(|axis| is_within(&fault.path, &axis.path)) {
                continue;
            }
            // A part of the faulty value is a more likely cause than something else.
            let (parts, others): (Vec<_>, Vec<_>) =
                self.plan.axes().partition(|axis| is_within(&axis.path, &fault.path));
            let cause = parts.into_iter().chain(others).find(|axis| self.is_cause(&document, axis, fault));
            if let Some((axis, tree)) = cause.and_then(|axis| Some((axis, document.get(&axis.path)?))) {
                fault.place = Some(tree.place);
                let consequence = std::mem::replace(&mut fault.path, axis.path.clone());
                if !consequence.is_empty() {
                    fault.message = format!("{} ({consequence})", fault.message);
                }
            }
        }
        faults
    }

    fn is_cause(&self, document: &Document, axis: &Axis, fault: &SourceFault) -> bool {
        let Some(base) = self.base.get(&axis.path) else { return false };
        let mut other = document.clone();
        if other.set_tree(&axis.path, base.clone()).is_err() {
            return false;
        }
        let checked = named_topology::read(&other).and_then(|scenario| scenario.check(&other));
        checked.err().is_none_or(|faults| faults.list.iter().all(|one| one.path != fault.path))
    }
}
