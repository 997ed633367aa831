//! Exemplars: cases that represent others. Many properties of a case are the same for all seeds, or for all message
//! sizes.

use super::cases::AxisPart;
use super::planned::PlannedAxis;
use super::{Case, Cases};
use crate::scenario::CheckedScenario;
use crate::scenario::axis::AxisValue;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of exemplars that are kept.
const MAX_KEPT: usize = 1000;
/// The field of the seed.
const SEED: &str = "seed";
/// The field of the placement, the only one through which the seed has an influence before a run.
const PLACEMENT: &str = "placement";
/// Prefix of the fields of the program, whose sizes and counts do not affect the layout.
const PROGRAM: &str = "program.";
/// Prefix of the fields of the network, whose quantities do not affect the layout.
const NETWORK: &str = "machine.network.";

/// The properties that a case and its exemplar have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// All fields but the seed.
    AllButSeed,
    /// The kind of the program, the nodes and the layout of the ranks. Sizes, counts and rates may differ.
    Layout,
}

/// The exemplars of the cases of a sweep.
pub struct Exemplars<'c> {
    cases: &'c Cases<'c>,
    /// The axes on which the exemplars depend.
    axes: Vec<usize>,
    known: HashMap<Vec<AxisPart>, Exemplar>,
    last: Option<(Vec<AxisPart>, Exemplar)>,
}

/// The scenario of an exemplar, or `None` if it cannot be run.
type Exemplar = Option<Arc<CheckedScenario>>;

impl<'c> Exemplars<'c> {
    /// Creates the exemplars of `cases`, which have the properties of `similarity` in common with them.
    #[must_use]
    pub fn of(cases: &'c Cases<'c>, similarity: Similarity) -> Self {
        let planned = &cases.plan.axes;
        let may_be_random = cases.plan.scenario.placement.is_random()
            || planned.iter().any(|planned| planned.axis.path.starts_with(PLACEMENT));
        let is_free = |planned: &PlannedAxis| match similarity {
            _ if planned.axis.path == SEED => !may_be_random,
            Similarity::AllButSeed => false,
            Similarity::Layout => is_size(planned),
        };
        let axes = (0..planned.len()).filter(|axis| !is_free(&planned[*axis])).collect();
        Self { cases, axes, known: HashMap::new(), last: None }
    }

    /// Returns the case at a point, with its own keys and the scenario of its exemplar, or `None` if that cannot be
    /// run.
    pub fn at(&mut self, point: u64) -> Option<Case> {
        let scenario = self.scenario(point)?;
        Some(Case { keys: self.cases.keys(point), scenario, settings: self.cases.plan.settings.clone() })
    }

    /// Returns the scenario of the exemplar of the case at a point, or `None` if that cannot be run.
    pub fn scenario(&mut self, point: u64) -> Option<Arc<CheckedScenario>> {
        let key = self.cases.parts(&self.axes, point).ok()?;
        match &self.last {
            Some((last, exemplar)) if *last == key => exemplar.clone(),
            _ => self.exemplar(point, key),
        }
    }

    /// Returns the exemplar of the cases with the values `key`; `point` is one of these cases.
    fn exemplar(&mut self, point: u64, key: Vec<AxisPart>) -> Exemplar {
        let known = self.known.get(&key).cloned();
        let exemplar = known.unwrap_or_else(|| {
            let exemplar = self.cases.case(point).ok().map(|case| case.scenario);
            if self.known.len() >= MAX_KEPT {
                self.known.clear();
            }
            self.known.insert(key.clone(), exemplar.clone());
            exemplar
        });
        self.last = Some((key, exemplar.clone()));
        exemplar
    }
}

/// Returns `true` if the axis varies numbers or quantities of the program, or quantities of the network, which do not
/// affect the layout.
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
