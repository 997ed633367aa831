//! Expressions of a scenario whose value differs from that of version 0.1.

use super::source::{Document, Faults};
use super::sweep::{Cases, Plan, spread};
use super::{AxisValue, CheckedScenario};
use crate::programs::expression::{Changes, FormerExpression, Value};
use crate::programs::note_changes;

/// Maximum number of points of the axes that are examined, spread evenly over all points.
const POINTS: u64 = 5_000;

/// A search for expressions with a changed value, in the programs of the cases that it is given and along the axes.
#[derive(Debug, Default)]
pub struct ChangedValues(Changes);

impl ChangedValues {
    /// Examines the expressions that a dry run of the scenario's program evaluates.
    pub fn examine(&mut self, scenario: &CheckedScenario) {
        if !self.0.is_over() {
            let machine = &scenario.machine;
            note_changes(&scenario.program, machine, &scenario.layout(), scenario.streams(), &mut self.0);
        }
    }

    /// Examines the computed axes and the filter, over the values of the axes.
    pub fn examine_axes(&mut self, plan: &Plan, cases: &Cases<'_>) {
        let suspects = self.of_axes(plan);
        let points = cases.point_count();
        let step = if points <= POINTS { 1 } else { spread(points) };
        for seen in 0..if suspects.is_empty() { 0 } else { points.min(POINTS) } {
            let keys = cases.keys(seen * step % points);
            for (path, former) in &suspects {
                self.0.compare(path, former, |name| value(&keys, name));
            }
            self.0.spend(keys.len() as u64);
            if self.0.is_over() {
                return;
            }
        }
    }

    fn of_axes(&mut self, plan: &Plan) -> Vec<(String, FormerExpression)> {
        let scenario = plan.scenario();
        let computed = (0..).zip(&scenario.axes).filter_map(|(index, axis): (usize, _)| {
            axis.expression.as_ref().map(|expression| (format!("axes.{index}.expression"), expression))
        });
        let filter = scenario.filter.as_ref().map(|filter| ("filter".to_owned(), filter));
        let suspect = |(path, text): (String, &String)| self.0.suspect(&path, text).map(|former| (path, former));
        computed.chain(filter).filter_map(suspect).collect()
    }

    /// Returns the findings with their places in `document`, or `None` if there are none.
    #[must_use]
    pub fn notes(&self, document: &Document) -> Option<Faults> {
        let note = |(path, change): (&str, &str)| document.fault_at(path, &format!("note: {change}"), None);
        let notes: Vec<_> = self.0.found().map(note).collect();
        (!notes.is_empty()).then(|| document.faults(notes))
    }
}

fn value(keys: &[(String, Option<AxisValue>)], name: &str) -> Option<Value> {
    keys.iter().find(|(known, _)| known == name)?.1.as_ref()?.as_value()
}
