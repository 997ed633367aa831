//! Cases that stand for others: what is asked of a case is often the same for all seeds, or for all sizes of its messages.

use super::cases::AxisPart;
use super::planned::PlannedAxis;
use super::{Case, Cases};
use crate::scenario::CheckedScenario;
use crate::scenario::axis::AxisValue;
use parsim_sim::machine::Placement;
use std::collections::HashMap;
use std::sync::Arc;

/// The most exemplars that are kept.
const MOST_KEPT: usize = 1000;
/// The field of the seed, and the fields on which the seed has an influence before a run: those of a random placement.
const SEED: &str = "seed";
const PLACEMENT: &str = "placement";
/// The fields whose sizes and counts no layout depends on.
const PROGRAM: &str = "program.";
const NETWORK: &str = "machine.network.";

/// The part that a case and its exemplar have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// All but the seed.
    AllButSeed,
    /// The kind of the program, the nodes and the layout of the ranks; sizes, counts and rates may differ.
    Layout,
}

/// Exemplars of the cases of a sweep.
pub struct Exemplars<'c> {
    cases: &'c Cases<'c>,
    /// The axes on which they depend.
    axes: Vec<usize>,
    known: HashMap<Vec<AxisPart>, Exemplar>,
    last: Option<(Vec<AxisPart>, Exemplar)>,
}

/// The scenario of an exemplar; none if it cannot be run.
type Exemplar = Option<Arc<CheckedScenario>>;

impl<'c> Exemplars<'c> {
    /// Those of `cases`, like them in that.
    #[must_use]
    pub fn of(cases: &'c Cases<'c>, likeness: Likeness) -> Self {
        let planned = &cases.plan.axes;
        let may_be_random = cases.plan.scenario.placement == Placement::Random
            || planned.iter().any(|planned| planned.axis.path.starts_with(PLACEMENT));
        let is_free = |planned: &PlannedAxis| match likeness {
            _ if planned.axis.path == SEED => !may_be_random,
            Likeness::AllButSeed => false,
            Likeness::Layout => is_size(planned),
        };
        let axes = (0..planned.len()).filter(|axis| !is_free(&planned[*axis])).collect();
        Self { cases, axes, known: HashMap::new(), last: None }
    }

    /// The case at a point, with its own keys and the scenario of its exemplar; none if that cannot be run.
    pub fn at(&mut self, point: u64) -> Option<Case> {
        let scenario = self.scenario(point)?;
        Some(Case { keys: self.cases.keys(point), scenario, settings: self.cases.plan.settings.clone() })
    }

    /// The scenario of the exemplar of the case at a point; none if that cannot be run.
    pub fn scenario(&mut self, point: u64) -> Option<Arc<CheckedScenario>> {
        let key = self.cases.parts(&self.axes, point).ok()?;
        match &self.last {
            Some((last, exemplar)) if *last == key => exemplar.clone(),
            _ => self.exemplar(point, key),
        }
    }

    /// The exemplar of the cases with these parts, of which `point` is one.
    fn exemplar(&mut self, point: u64, key: Vec<AxisPart>) -> Exemplar {
        let known = self.known.get(&key).cloned();
        let exemplar = known.unwrap_or_else(|| {
            let exemplar = self.cases.case(point).ok().map(|case| case.scenario);
            if self.known.len() >= MOST_KEPT {
                self.known.clear();
            }
            self.known.insert(key.clone(), exemplar.clone());
            exemplar
        });
        self.last = Some((key, exemplar.clone()));
        exemplar
    }
}

/// Returns whether the axis varies a number of the program, or a quantity of it or of the network, on which no layout depends.
fn is_size(planned: &PlannedAxis) -> bool {
    let (path, has_unit) = (&planned.axis.path, planned.axis.unit.is_some());
    let is_number = |value: &AxisValue| value.number().is_some();
    let is_quantity = |value: &AxisValue| match value {
        AxisValue::Text(text) => text.starts_with(|first: char| first.is_ascii_digit()) && text.contains(' '),
        AxisValue::Whole(_) | AxisValue::Real(_) => has_unit,
    };
    let mut values = planned.values.iter().map(|value| &value.shown);
    if path.starts_with(PROGRAM) {
        values.all(|value| is_number(value) || is_quantity(value))
    } else {
        path.starts_with(NETWORK) && !planned.is_computed() && values.all(is_quantity)
    }
}
