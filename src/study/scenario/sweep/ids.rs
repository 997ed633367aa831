//! The ids of all cases of a plan, computed from the values of the axes alone.

use super::Cases;
use super::cases::AxisPart;
use crate::programs::Shipped;
use crate::scenario::axis::AxisValue;
use crate::scenario::id::{CaseId, Covered, Sum, of_background, of_results};
use crate::scenario::source::{Document, Faults};
use crate::scenario::{Limits, MachineForm, named_topology};
use parsim_sim::machine::{Machine, Partition, Placement};
use parsim_sim::program::BackgroundTraffic;
use std::collections::HashMap;

/// The field of the seed.
const SEED: &str = "seed";

/// The ids of the cases. The contribution of each value of an axis to the id is computed only once.
pub struct Ids<'c> {
    cases: &'c Cases<'c>,
    base: CaseId,
    /// The groups of independent axes, or `None` if fields depend on each other and every scenario must be read.
    groups: Option<Vec<NestedAxes>>,
}

/// Axes whose fields are nested, so that their contribution to the id must be computed jointly.
struct NestedAxes {
    covered: Covered,
    axes: Vec<usize>,
    /// The covered part of the scenario that contains the fields, with its base values.
    part: Document,
    before: Sum,
    /// The sums of the covered part, by the values of the axes.
    known: HashMap<Vec<AxisPart>, Sum>,
    /// The last sum; slowly varying axes often have the same values again.
    last: Option<(Vec<AxisPart>, Sum)>,
}

/// Maximum number of sums that are kept for a group of nested axes.
const MAX_KNOWN: usize = 1 << 16;

impl<'c> Ids<'c> {
    /// Creates the ids of `cases`.
    ///
    /// # Errors
    /// The base values cannot be read.
    pub fn of(cases: &'c Cases<'c>) -> Result<Self, Faults> {
        let base = named_topology::read(&cases.base)?.id();
        let groups = if cases.has_named_topology() { None } else { Some(groups(cases)?) };
        Ok(Self { cases, base, groups })
    }

    /// Returns the seed of the case at a point, or `None` if it is not written as an integer.
    #[must_use]
    pub fn seed(&self, point: u64) -> Option<u64> {
        let axis = self.cases.plan.axes.iter().position(|planned| planned.axis.path == SEED);
        axis.map_or(Some(self.cases.plan.scenario.seed), |axis| whole(&*self.cases.value(axis, point).ok()?))
    }

    /// Returns the id of repetition `run` of the case with this id and this seed, or `None` if the seed overflows.
    #[must_use]
    pub fn of_repetition(id: CaseId, seed: u64, run: u32) -> Option<CaseId> {
        Some(Self::with_seed(id, seed, seed.checked_add(run.into())?))
    }

    /// Returns the id of the case with this id and this seed after a change of the seed to `other`.
    #[must_use]
    pub fn with_seed(id: CaseId, seed: u64, other: u64) -> CaseId {
        id.changed(Covered::Seed.sum(&seed), Covered::Seed.sum(&other))
    }

    /// Returns the id of the case at a point.
    ///
    /// # Errors
    /// The values cannot be read.
    pub fn at(&mut self, point: u64) -> Result<CaseId, Faults> {
        let Some(groups) = &mut self.groups else { return Ok(self.cases.read(point)?.id()) };
        let mut id = self.base;
        for group in groups {
            id = id.changed(group.before, group.sum(self.cases, point)?);
        }
        Ok(id)
    }
}

impl NestedAxes {
    /// Returns the sum of the covered part with the values of a point.
    fn sum(&mut self, cases: &Cases<'_>, point: u64) -> Result<Sum, Faults> {
        if let (Covered::Seed, Some(seed)) = (self.covered, self.seed(cases, point)) {
            return Ok(Covered::Seed.sum(&seed));
        }
        let key = cases.parts(&self.axes, point).map_err(|fault| cases.base.faults(vec![fault]))?;
        if let Some((last, sum)) = &self.last
            && *last == key
        {
            return Ok(*sum);
        }
        let sum = match self.known.get(&key) {
            Some(sum) => *sum,
            None => self.read(cases, point)?,
        };
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(key.clone(), sum);
        self.last = Some((key, sum));
        Ok(sum)
    }

    /// Reads the covered part with the values of a point and returns its sum.
    fn read(&self, cases: &Cases<'_>, point: u64) -> Result<Sum, Faults> {
        let mut document = self.part.clone();
        for axis in &self.axes {
            let value = cases.value(*axis, point);
            let set = value.and_then(|value| cases.set(*axis, point, &value, &mut document));
            set.map_err(|fault| document.faults(vec![fault]))?;
        }
        sum(self.covered, &document)
    }

    /// Returns the seed if the only axis of this group gives it as an integer.
    fn seed(&self, cases: &Cases<'_>, point: u64) -> Option<u64> {
        match (&self.axes[..], self.covered) {
            ([axis], Covered::Seed) => whole(&*cases.value(*axis, point).ok()?),
            _ => None,
        }
    }
}

fn whole(value: &AxisValue) -> Option<u64> {
    match value {
        AxisValue::Whole(whole) => u64::try_from(*whole).ok(),
        AxisValue::Real(_) | AxisValue::Text(_) => None,
    }
}

/// Groups the axes that the ids cover: nested fields share a group, containing fields before contained ones.
fn groups(cases: &Cases<'_>) -> Result<Vec<NestedAxes>, Faults> {
    let mut groups: Vec<(usize, NestedAxes)> = Vec::new();
    for &axis in &cases.order {
        let Some(covered) = Covered::at(&cases.plan.axes[axis].axis.path) else { continue };
        let around: Vec<_> = cases.routes.around(axis).collect();
        if let Some((_, group)) = groups.iter_mut().find(|(first, _)| around.contains(first)) {
            group.axes.push(axis);
            continue;
        }
        let part = cases.base.only(covered.field());
        let before = sum(covered, &part)?;
        groups.push((axis, NestedAxes { covered, axes: vec![axis], part, before, known: HashMap::new(), last: None }));
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

/// Returns the sum over the covered part of `document`.
fn sum(covered: Covered, document: &Document) -> Result<Sum, Faults> {
    let field = covered.field();
    Ok(match covered {
        Covered::Machine => covered.sum(&Machine::from(document.read_at::<MachineForm>(field)?)),
        Covered::Ranks => covered.sum(&document.read_at::<u32>(field)?),
        Covered::Partition => covered.sum(&document.read_at::<Partition>(field)?),
        Covered::Placement => covered.sum(&document.read_at::<Placement>(field)?),
        Covered::Program => covered.sum(&document.read_at::<Shipped>(field)?),
        Covered::Background => of_background(document.read_at::<Option<BackgroundTraffic>>(field)?.as_ref()),
        Covered::Seed => covered.sum(&document.read_at::<u64>(field)?),
        Covered::Limits => covered.sum(&of_results(&document.read_at::<Limits>(field)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Plan, Scenario};

    /// Ids computed from axes are equal to those of scenarios read from scratch, for every shipped scenario.
    #[test]
    fn an_id_is_that_of_the_scenario_that_is_played() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let mut compared = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ron") {
                continue;
            }
            let plan = Plan::new(Document::load(&path).unwrap(), &[]).unwrap();
            let cases = plan.unfold().unwrap();
            let mut ids = Ids::of(&cases).unwrap();
            let mut seen = HashMap::new();
            for point in cases.points().step_by(usize::try_from(cases.point_count() / 40 + 1).unwrap()) {
                if cases.holds(point).unwrap() {
                    let id = ids.at(point).unwrap();
                    let scenario = cases.read(point).unwrap();
                    assert_eq!(id, scenario.id(), "{} {:?}", path.display(), cases.keys(point));
                    assert!(ids.seed(point).is_none_or(|seed| seed == scenario.seed));
                    let again = Scenario { seed: scenario.seed + 3, ..scenario.clone() };
                    assert_eq!(Ids::of_repetition(id, scenario.seed, 3), Some(again.id()));
                    let first = seen.entry(id).or_insert_with(|| scenario.clone());
                    assert_eq!(first.program, scenario.program, "one id of two cases");
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
