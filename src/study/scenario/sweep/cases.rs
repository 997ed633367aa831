//! The cases of a plan, each generated on demand.

use super::conflict::FieldRoutes;
use super::formula::AxisFormula;
use super::planned::{PlannedAxis, PlannedValue, ValueOrigin, typed, typed_or_described};
use super::points::Points;
use super::{Case, Plan};
use crate::scenario::Scenario;
use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::named_topology::{self, complete_topology};
use crate::scenario::source::{Document, Faults, SourceFault, Tree};
use parsim_sim::network::Topology;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// The fields of a scenario that concern all its cases, and are part of none.
pub(in crate::scenario) const SHARED_FIELDS: [&str; 4] = ["axes", "zip", "filter", "compare"];
/// Maximum number of points of the axes: this many can be counted within minutes.
const MAX_POINTS: u64 = 1_000_000_000;
/// Maximum number of cases that are kept in memory at once.
const MAX_KEPT: usize = 100_000;
/// Maximum number of values of an axis whose trees are kept.
const MAX_RESOLVED: usize = 4096;
/// Maximum number of faults that are reported.
const MAX_FAULTS: usize = 50;

/// The cases of a plan. A point of the product of the axes becomes a case on demand, so a million cases take no more
/// memory than their axes.
#[derive(Debug)]
pub struct Cases<'p> {
    pub(super) plan: &'p Plan,
    /// The scenario without the fields that concern all cases.
    pub(super) base: Document,
    pub(super) points: Points,
    /// For each axis, the trees of its values if they do not depend on other axes.
    trees: Vec<Option<Vec<Tree>>>,
    formulas: Vec<Option<AxisFormula>>,
    filter: Option<AxisFormula>,
    pub(super) routes: FieldRoutes,
    /// The axes in the order in which their values are set: containing fields before contained ones.
    pub(super) order: Vec<usize>,
    /// The result of the inspection, once it has been made.
    pub(super) inspection: OnceLock<Inspection>,
}

/// Information about the cases before any of them is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The number of cases, or `None` if a filter would have to be evaluated at too many points.
    pub cases: Option<u64>,
    /// The number of points of the axes, including those that the filter excludes.
    pub points: u64,
    /// The number of cases that were checked: all of them, or a sample spread along the axes.
    pub checked: u64,
    /// `true` if all cases were checked.
    pub is_complete: bool,
}

/// The value of an axis at a point: its index, or the value itself if it is computed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AxisPart {
    Numbered(usize),
    Computed(String),
}

/// The values of all axes at a point.
type PointValues<'c> = Vec<Cow<'c, AxisValue>>;
/// The index of an axis, and the value that it has instead of that at a point.
type ReplacedValue = (usize, PlannedValue);

impl Cases<'_> {
    /// Returns the name of each axis with its values; an axis whose values are computed has none.
    pub fn axis_values(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &AxisValue>)> {
        let axes = self.plan.axes.iter();
        axes.map(|planned| (planned.axis.name.as_str(), planned.values.iter().map(|value| &value.shown)))
    }
}

impl Plan {
    /// Returns the cases along the axes.
    ///
    /// # Errors
    /// All faults of the axes: two axes over one field, invalid values, invalid expressions, too many points.
    pub fn unfold(&self) -> Result<Cases<'_>, Faults> {
        let base = self.document.without(&SHARED_FIELDS);
        let routes = FieldRoutes::of(&self.axes, &base);
        let mut cases = Cases {
            plan: self,
            points: self.points()?,
            trees: vec![None; self.axes.len()],
            formulas: Vec::new(),
            filter: None,
            order: routes.order(),
            inspection: OnceLock::new(),
            routes,
            base,
        };
        let mut faults = cases.routes.faults(&self.axes, self.changes(), &cases.base);
        faults.extend(self.axes.iter().filter_map(Self::shared_field_fault));
        match self.formulas() {
            Ok((formulas, filter)) => (cases.formulas, cases.filter) = (formulas, filter),
            Err(fault) => faults.push(fault),
        }
        if faults.is_empty() {
            faults.extend(cases.resolve());
        }
        if faults.is_empty() { Ok(cases) } else { Err(cases.base.faults(faults)) }
    }

    /// Returns all cases at once, for commands that compare them.
    ///
    /// # Errors
    /// All faults of the first case that has any, or more cases than are kept in memory.
    pub fn cases(&self) -> Result<Vec<Case>, Faults> {
        let cases = self.unfold()?;
        cases.held_points()?.into_iter().map(|point| cases.case(point)).collect()
    }

    /// Returns the parsed expressions of the computed axes, and the parsed filter.
    pub(super) fn formulas(&self) -> Result<(Vec<Option<AxisFormula>>, Option<AxisFormula>), SourceFault> {
        let Self { document, scenario, axes, .. } = self;
        let formulas = (0..axes.len()).map(|axis| self.formula(axis).transpose()).collect::<Result<_, _>>()?;
        let parse = |text: &String| AxisFormula::condition(text, "filter".to_owned(), axes, document);
        Ok((formulas, scenario.filter.as_ref().map(parse).transpose()?))
    }

    fn points(&self) -> Result<Points, Faults> {
        let points = Points::of(&self.axes, &self.scenario.zip);
        points.filter(|points| points.count() <= MAX_POINTS).ok_or_else(|| {
            let fault = SourceFault::new(&format!("the axes have more than {MAX_POINTS} points"));
            self.document.faults(vec![fault.help("give fewer values, or zip axes")])
        })
    }

    /// Returns a fault if the axis varies a field that concerns all cases.
    fn shared_field_fault(planned: &PlannedAxis) -> Option<SourceFault> {
        let path = &planned.axis.path;
        let field = path.split('.').next().filter(|field| SHARED_FIELDS.contains(field))?;
        let message =
            format!("the axis `{}` varies `{path}`, but `{field}` is the same for all cases", planned.axis.name);
        let fault = planned.fault(&message);
        Some(fault.on(path).help("vary the machine, the program or another field of a case"))
    }
}

impl Cases<'_> {
    /// Returns the number of points of the axes, including those that the filter excludes.
    #[must_use]
    pub const fn point_count(&self) -> u64 {
        self.points.count()
    }

    /// Returns the points by number. The last axis varies fastest.
    #[must_use]
    pub const fn points(&self) -> std::ops::Range<u64> {
        0..self.points.count()
    }

    /// Returns `true` if rows of different cases may have different keys.
    #[must_use]
    pub fn may_change_keys(&self) -> bool {
        self.plan.axes.iter().any(PlannedAxis::may_change_keys)
    }

    /// Returns `true` if every point is a case, because there is no filter.
    #[must_use]
    pub const fn is_whole_product(&self) -> bool {
        self.filter.is_none()
    }

    /// Returns `true` if the point is a case, that is, if the filter is true there.
    ///
    /// # Errors
    /// An expression has no value at the point.
    pub fn holds(&self, point: u64) -> Result<bool, Faults> {
        let Some(filter) = &self.filter else { return Ok(true) };
        self.values(point)
            .and_then(|values| filter.holds(&values, &self.plan.document))
            .map_err(|fault| self.one(fault))
    }

    /// Returns the points that are cases.
    ///
    /// # Errors
    /// An expression has no value at a point, or more cases than are kept in memory.
    pub fn held_points(&self) -> Result<Vec<u64>, Faults> {
        let mut held = Vec::new();
        for point in self.points() {
            if !self.holds(point)? {
                continue;
            }
            if held.len() >= MAX_KEPT {
                let fault =
                    SourceFault::new(&format!("there are more than {MAX_KEPT} cases, too many to keep at once"));
                return Err(self.one(fault.help("give fewer values, or use `sweep`")));
            }
            held.push(point);
        }
        Ok(held)
    }

    /// Returns the number of cases, or `None` if a filter would have to be evaluated at more than `most` points.
    ///
    /// # Errors
    /// An expression has no value at one of the points.
    pub fn count_within(&self, most: u64) -> Result<Option<u64>, Faults> {
        if self.is_whole_product() {
            return Ok(Some(self.point_count()));
        }
        if self.point_count() > most {
            return Ok(None);
        }
        let mut count = 0;
        for point in self.points() {
            count += u64::from(self.holds(point)?);
        }
        Ok(Some(count))
    }

    /// Returns the number of cases.
    ///
    /// # Errors
    /// An expression has no value at one of the points.
    pub fn count(&self) -> Result<u64, Faults> {
        self.count_within(u64::MAX).map(|count| count.unwrap_or(self.point_count()))
    }

    /// Returns the values of the axes at a point, by name. From the first axis on whose expression has no value, they
    /// are `None`.
    #[must_use]
    pub fn keys(&self, point: u64) -> Vec<(String, Option<AxisValue>)> {
        let (known, _) = self.known_values(point, None);
        let values = known.into_iter().map(|value| Some(value.into_owned())).chain(std::iter::repeat(None));
        self.plan.axes.iter().map(|planned| planned.axis.name.clone()).zip(values).collect()
    }

    /// Returns the case at a point.
    ///
    /// # Errors
    /// All faults of the case.
    pub fn case(&self, point: u64) -> Result<Case, Faults> {
        let document = self.document(point)?;
        let scenario = Arc::new(named_topology::read(&document)?.check(&document)?);
        Ok(Case { scenario, keys: self.keys(point), settings: self.plan.settings.clone() })
    }

    /// Returns the case at a point with another value of an axis, which those that are computed from it follow.
    ///
    /// # Errors
    /// All faults of the case.
    pub fn case_with(&self, point: u64, name: &str, value: &AxisValue) -> Result<Case, Faults> {
        let planned = self.plan.axes.iter().position(|planned| planned.axis.name == name);
        let replaced = planned.map(|axis| (axis, typed_or_described(&self.plan.axes[axis].axis, &[], value)));
        let (values, fault) = self.known_values(point, replaced.as_ref());
        fault.map_or(Ok(()), |fault| Err(self.one(fault)))?;
        let document = self.document_with(point, &values, replaced.as_ref())?;
        let scenario = Arc::new(named_topology::read(&document)?.check(&document)?);
        Ok(Case { scenario, keys: self.keys(point), settings: self.plan.settings.clone() })
    }

    /// Returns the scenario at a point, without checking it.
    pub(super) fn read(&self, point: u64) -> Result<Scenario, Faults> {
        named_topology::read(&self.document(point)?)
    }

    /// Returns the values of some axes at a point, as keys for lookup.
    pub(super) fn parts(&self, axes: &[usize], point: u64) -> Result<Vec<AxisPart>, SourceFault> {
        let part = |axis: &usize| {
            Ok(if self.plan.axes[*axis].is_computed() {
                AxisPart::Computed(self.value(*axis, point)?.to_string())
            } else {
                AxisPart::Numbered(self.points.number(*axis, point))
            })
        };
        axes.iter().map(part).collect()
    }

    /// Returns `true` if a topology is given by name only, so that its size follows from other fields.
    pub(super) fn has_named_topology(&self) -> bool {
        let values = self.plan.axes.iter().flat_map(|planned| &planned.values);
        named_topology::is_bare(&self.base) || values.into_iter().any(|value| names_topology(&value.shown))
    }

    /// Returns the scenario document with the values of a point applied.
    pub(super) fn document(&self, point: u64) -> Result<Document, Faults> {
        let values = self.values(point).map_err(|fault| self.one(fault))?;
        self.document_with(point, &values, None)
    }

    /// Returns the scenario document with given values of all axes at a point, one of which may be replaced.
    fn document_with(
        &self,
        point: u64,
        values: &PointValues<'_>,
        replaced: Option<&ReplacedValue>,
    ) -> Result<Document, Faults> {
        let mut document = self.base.clone();
        for &axis in &self.order {
            let set = match replaced.filter(|(other, _)| *other == axis) {
                Some((_, value)) => self.plan.apply_value(&mut document, &self.plan.axes[axis].axis, value),
                None => self.set(axis, point, &values[axis], &mut document),
            };
            set.map_err(|fault| document.faults(vec![fault]))?;
        }
        Ok(document)
    }

    pub(super) fn set(
        &self,
        axis: usize,
        point: u64,
        value: &AxisValue,
        document: &mut Document,
    ) -> Result<(), SourceFault> {
        let planned = &self.plan.axes[axis];
        let number = self.points.number(axis, point);
        match &self.trees[axis] {
            Some(trees) => document.set_tree(&planned.axis.path, trees[number].clone()),
            None if planned.is_computed() => {
                let expression = self.plan.document.get(&format!("axes.{axis}.expression"));
                let origin = ValueOrigin::declared_at(expression.map(|tree| tree.place));
                self.plan.apply_value(document, &planned.axis, &typed(&planned.axis, &value.to_string(), origin))
            }
            None => self.plan.apply_value(document, &planned.axis, &planned.values[number]),
        }
    }

    /// Returns the values of all axes at a point.
    fn values(&self, point: u64) -> Result<PointValues<'_>, SourceFault> {
        let (values, fault) = self.known_values(point, None);
        fault.map_or(Ok(values), Err)
    }

    /// Returns the value of an axis at a point.
    pub(super) fn value(&self, axis: usize, point: u64) -> Result<Cow<'_, AxisValue>, SourceFault> {
        match &self.formulas[axis] {
            None => Ok(Cow::Borrowed(&self.plan.axes[axis].values[self.points.number(axis, point)].shown)),
            Some(_) => Ok(self.values(point)?.swap_remove(axis)),
        }
    }

    /// Returns the values of the axes up to the first expression that has no value, and the fault of this expression.
    fn known_values<'c>(
        &'c self,
        point: u64,
        replaced: Option<&'c ReplacedValue>,
    ) -> (PointValues<'c>, Option<SourceFault>) {
        let mut values = PointValues::new();
        for (index, (planned, formula)) in self.plan.axes.iter().zip(&self.formulas).enumerate() {
            if let Some((_, value)) = replaced.filter(|(axis, _)| *axis == index) {
                values.push(Cow::Borrowed(&value.shown));
                continue;
            }
            values.push(match formula {
                None => Cow::Borrowed(&planned.values[self.points.number(index, point)].shown),
                Some(formula) => match formula.number(&values, &self.plan.document) {
                    Ok(computed) => {
                        Cow::Owned(typed(&planned.axis, &computed.to_string(), ValueOrigin::Declared(None)).shown)
                    }
                    Err(fault) => return (values, Some(fault)),
                },
            });
        }
        (values, None)
    }

    fn one(&self, fault: SourceFault) -> Faults {
        self.plan.document.faults(vec![fault])
    }

    /// Resolves the values of axes once, where they do not depend on other axes. The trees of very long axes are only
    /// checked, not kept.
    fn resolve(&mut self) -> Vec<SourceFault> {
        let mut faults = Vec::new();
        for (index, planned) in self.plan.axes.iter().enumerate() {
            if planned.is_computed() || self.routes.around(index).next().is_some() {
                continue;
            }
            if planned.values.len() > MAX_RESOLVED {
                faults.extend(self.plan.invalid_values(&self.base, planned, MAX_FAULTS - faults.len()));
                continue;
            }
            let tree = |value: &PlannedValue| self.plan.tree(&mut self.base, planned, value);
            let (trees, wrong): (Vec<_>, Vec<_>) = planned.values.iter().map(tree).partition(Result::is_ok);
            faults.extend(wrong.into_iter().filter_map(Result::err).take(MAX_FAULTS - faults.len()));
            self.trees[index] = Some(trees.into_iter().filter_map(Result::ok).collect());
        }
        self.base.share_sources();
        faults
    }
}

impl Plan {
    /// Returns at most `most` faults of values of an axis that are invalid in `base`.
    fn invalid_values(&self, base: &Document, planned: &PlannedAxis, most: usize) -> Vec<SourceFault> {
        let of_some = |values: &[&PlannedValue]| {
            // Each value adds its text to the document, so a clone is discarded after every chunk.
            let mut scratch = base.clone();
            values.iter().filter_map(|value| self.tree(&mut scratch, planned, value).err()).collect::<Vec<_>>()
        };
        // A field accepts either all plain numbers with a given unit or none, so checking the first of each unit
        // suffices.
        let mut known = HashSet::new();
        let matters = |value: &&PlannedValue| {
            value.unit_after_number(&planned.axis).is_none_or(|behind| known.insert(behind.to_owned()))
        };
        let values: Vec<_> = planned.values.iter().filter(matters).collect();
        values.chunks(MAX_RESOLVED).flat_map(of_some).take(most).collect()
    }

    /// Returns the tree that a value of an axis puts into `document`, given that no other axis affects it.
    fn tree(&self, document: &mut Document, planned: &PlannedAxis, value: &PlannedValue) -> Result<Tree, SourceFault> {
        let tree = value.tree(&planned.axis, document)?;
        if !names_topology(&value.shown) {
            return Ok(tree);
        }
        let mut scratch = document.clone();
        scratch.set_tree(&planned.axis.path, tree)?;
        self.complete(&mut scratch, &planned.axis, &value.shown)?;
        document.adopt(scratch, &planned.axis.path)
    }

    /// Sets an axis to a value. A topology given by name only is completed.
    pub(in crate::scenario) fn apply_value(
        &self,
        document: &mut Document,
        axis: &Axis,
        value: &PlannedValue,
    ) -> Result<(), SourceFault> {
        let tree = value.tree(axis, document)?;
        document.set_tree(&axis.path, tree)?;
        self.complete(document, axis, &value.shown)
    }

    fn complete(&self, document: &mut Document, axis: &Axis, shown: &AxisValue) -> Result<(), SourceFault> {
        if !names_topology(shown) {
            return Ok(());
        }
        let before = self.document.read_at::<Topology>(&axis.path).ok();
        complete_topology(document, &axis.path, &shown.to_string(), before.as_ref())
    }
}

fn names_topology(value: &AxisValue) -> bool {
    matches!(value, AxisValue::Text(name) if named_topology::known(name).is_some())
}
