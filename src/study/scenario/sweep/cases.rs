//! The cases of a plan, each made when it is asked for.

use super::conflict::FieldRoutes;
use super::formula::AxisFormula;
use super::planned::{DECLARED, PlannedAxis, PlannedValue, typed};
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

/// The fields of a scenario that are about all its cases, and belong to none.
pub(in crate::scenario) const OF_ALL_CASES: [&str; 4] = ["axes", "zip", "filter", "compare"];
/// The most points of the axes that are planned: as many as can be counted in minutes.
const MOST_POINTS: u64 = 1_000_000_000;
/// The most cases that are kept in memory together.
const MOST_KEPT: usize = 100_000;
/// The most values of an axis whose meanings are kept.
const MOST_RESOLVED: usize = 4096;
/// The most faults that are reported.
const MOST_FAULTS: usize = 50;

/// The cases of a plan: a point of the product of its axes becomes a case when it is asked for, so that
/// a million cases take no more memory than their axes.
#[derive(Debug)]
pub struct Cases<'p> {
    pub(super) plan: &'p Plan,
    /// The scenario without what is about all its cases.
    pub(super) base: Document,
    pub(super) points: Points,
    /// For each axis the trees of its values, where they do not depend on other axes.
    trees: Vec<Option<Vec<Tree>>>,
    formulas: Vec<Option<AxisFormula>>,
    filter: Option<AxisFormula>,
    pub(super) routes: FieldRoutes,
    /// The axes in the order in which their values are set: the whole before its parts.
    pub(super) order: Vec<usize>,
    /// The findings of a look at them.
    pub(super) inspection: OnceLock<Inspection>,
}

/// Knowledge of the cases before any of them is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The number of cases; `None` if there is a filter over more points than are looked at.
    pub cases: Option<u64>,
    /// The number of points of the axes, whether the filter holds there or not.
    pub points: u64,
    /// The number of cases that were checked: all of them, or some from everywhere along the axes.
    pub checked: u64,
    /// True if all cases were checked.
    pub is_complete: bool,
}

/// A value of an axis: its number, or itself if it is computed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AxisPart {
    Numbered(usize),
    Computed(String),
}

/// The values of all axes at a point.
type PointValues<'c> = Vec<Cow<'c, AxisValue>>;

impl Plan {
    /// The cases along the axes.
    ///
    /// # Errors
    /// All faults of the axes: two over one field, a value that is none, an expression that is none, too many points.
    pub fn unfold(&self) -> Result<Cases<'_>, Faults> {
        let base = self.document.without(&OF_ALL_CASES);
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
        let mut faults = cases.routes.faults(&self.axes, self.settings(), &cases.base);
        faults.extend(self.axes.iter().filter_map(Self::of_all_cases));
        match self.formulas() {
            Ok((formulas, filter)) => (cases.formulas, cases.filter) = (formulas, filter),
            Err(fault) => faults.push(fault),
        }
        if faults.is_empty() {
            faults.extend(cases.resolve());
        }
        if faults.is_empty() { Ok(cases) } else { Err(cases.base.faults(faults)) }
    }

    /// All cases at once, for commands that set them side by side.
    ///
    /// # Errors
    /// All faults of the first case that has any; more cases than are kept in memory.
    pub fn cases(&self) -> Result<Vec<Case>, Faults> {
        let cases = self.unfold()?;
        let mut kept = Vec::new();
        for point in cases.points() {
            if kept.len() > MOST_KEPT {
                let fault =
                    SourceFault::new(&format!("there are more than {MOST_KEPT} cases, which are too many at once"));
                return Err(cases.base.faults(vec![fault.help("give fewer values, or use `sweep`")]));
            }
            if cases.holds(point)? {
                kept.push(cases.case(point)?);
            }
        }
        Ok(kept)
    }

    /// The expressions of the axes that are computed, and the filter.
    pub(super) fn formulas(&self) -> Result<(Vec<Option<AxisFormula>>, Option<AxisFormula>), SourceFault> {
        let Self { document, scenario, axes, .. } = self;
        let computed = |(index, planned): (usize, &PlannedAxis)| {
            let at = || format!("axes.{index}.expression");
            let parse = |text: &String| AxisFormula::computed(text, at(), axes.split_at(index), document);
            planned.axis.expression.as_ref().map(parse).transpose()
        };
        let formulas = axes.iter().enumerate().map(computed).collect::<Result<_, _>>()?;
        let parse = |text: &String| AxisFormula::condition(text, "filter".to_owned(), axes, document);
        Ok((formulas, scenario.filter.as_ref().map(parse).transpose()?))
    }

    fn points(&self) -> Result<Points, Faults> {
        let points = Points::of(&self.axes, &self.scenario.zip);
        points.filter(|points| points.count() <= MOST_POINTS).ok_or_else(|| {
            let fault = SourceFault::new(&format!("the axes have more than {MOST_POINTS} points"));
            self.document.faults(vec![fault.help("give fewer values, or zip axes")])
        })
    }

    /// An axis over what is about all cases can vary nothing.
    fn of_all_cases(planned: &PlannedAxis) -> Option<SourceFault> {
        let path = &planned.axis.path;
        let field = path.split('.').next().filter(|field| OF_ALL_CASES.contains(field))?;
        let message = format!("the axis `{}` varies `{path}`, but `{field}` is one for all cases", planned.axis.name);
        Some(SourceFault::new(&message).on(path).help("vary the machine, the program or another field of a case"))
    }
}

impl Cases<'_> {
    /// The number of points of the axes, filtered or not.
    #[must_use]
    pub const fn point_count(&self) -> u64 {
        self.points.count()
    }

    /// The points, each by its number, in the order of the axes: the last one varies fastest.
    #[must_use]
    pub const fn points(&self) -> std::ops::Range<u64> {
        0..self.points.count()
    }

    /// True if every point is a case.
    #[must_use]
    pub const fn is_whole_product(&self) -> bool {
        self.filter.is_none()
    }

    /// True if the point is a case: the filter holds there.
    ///
    /// # Errors
    /// An expression that has no value there.
    pub fn holds(&self, point: u64) -> Result<bool, Faults> {
        let Some(filter) = &self.filter else { return Ok(true) };
        self.values(point)
            .and_then(|values| filter.holds(&values, &self.plan.document))
            .map_err(|fault| self.one(fault))
    }

    /// The number of cases; `None` if that would take a look at more than `most` points.
    ///
    /// # Errors
    /// An expression that has no value at one of them.
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

    /// The number of cases.
    ///
    /// # Errors
    /// An expression that has no value at a point.
    pub fn count(&self) -> Result<u64, Faults> {
        self.count_within(u64::MAX).map(|count| count.unwrap_or(self.point_count()))
    }

    /// The values of the axes at a point, by their names; none where an expression has none.
    #[must_use]
    pub fn keys(&self, point: u64) -> Vec<(String, Option<AxisValue>)> {
        let (known, _) = self.known_values(point);
        let values = known.into_iter().map(|value| Some(value.into_owned())).chain(std::iter::repeat(None));
        self.plan.axes.iter().map(|planned| planned.axis.name.clone()).zip(values).collect()
    }

    /// The case at a point.
    ///
    /// # Errors
    /// All faults of the case.
    pub fn case(&self, point: u64) -> Result<Case, Faults> {
        let document = self.document(point)?;
        let scenario = Arc::new(named_topology::read(&document)?.check(&document)?);
        Ok(Case { scenario, keys: self.keys(point), settings: self.plan.settings.clone() })
    }

    /// The scenario at a point as it is described.
    pub(super) fn read(&self, point: u64) -> Result<Scenario, Faults> {
        named_topology::read(&self.document(point)?)
    }

    /// The parts of axes in a point.
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

    /// True if a topology is given by its name, so that its size follows from other fields.
    pub(super) fn has_named_topology(&self) -> bool {
        let values = self.plan.axes.iter().flat_map(|planned| &planned.values);
        named_topology::is_bare(&self.base) || values.into_iter().any(|value| names_topology(&value.shown))
    }

    /// The scenario with the values of a point in their places.
    fn document(&self, point: u64) -> Result<Document, Faults> {
        let mut document = self.base.clone();
        let values = self.values(point).map_err(|fault| self.one(fault))?;
        for &axis in &self.order {
            self.set(axis, point, &values[axis], &mut document).map_err(|fault| document.faults(vec![fault]))?;
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
                self.plan.apply_value(document, &planned.axis, &typed(&planned.axis, &value.to_string(), DECLARED))
            }
            None => self.plan.apply_value(document, &planned.axis, &planned.values[number]),
        }
    }

    /// The values of all axes at a point.
    fn values(&self, point: u64) -> Result<PointValues<'_>, SourceFault> {
        let (values, fault) = self.known_values(point);
        fault.map_or(Ok(values), Err)
    }

    /// The value of an axis at a point.
    pub(super) fn value(&self, axis: usize, point: u64) -> Result<Cow<'_, AxisValue>, SourceFault> {
        match &self.formulas[axis] {
            None => Ok(Cow::Borrowed(&self.plan.axes[axis].values[self.points.number(axis, point)].shown)),
            Some(_) => Ok(self.values(point)?.swap_remove(axis)),
        }
    }

    /// The values of the axes, up to the first expression that has none.
    fn known_values(&self, point: u64) -> (PointValues<'_>, Option<SourceFault>) {
        let mut values = PointValues::new();
        for (index, (planned, formula)) in self.plan.axes.iter().zip(&self.formulas).enumerate() {
            values.push(match formula {
                None => Cow::Borrowed(&planned.values[self.points.number(index, point)].shown),
                Some(formula) => match formula.number(&values, &self.plan.document) {
                    Ok(computed) => Cow::Owned(typed(&planned.axis, &computed.to_string(), DECLARED).shown),
                    Err(fault) => return (values, Some(fault)),
                },
            });
        }
        (values, None)
    }

    fn one(&self, fault: SourceFault) -> Faults {
        self.plan.document.faults(vec![fault])
    }

    /// Works out once what the values of axes stand for, where that does not depend on other axes. The meanings of very many values
    /// are not kept.
    fn resolve(&mut self) -> Vec<SourceFault> {
        let mut faults = Vec::new();
        for (index, planned) in self.plan.axes.iter().enumerate() {
            if planned.is_computed() || self.routes.around(index).next().is_some() {
                continue;
            }
            if planned.values.len() > MOST_RESOLVED {
                faults.extend(self.plan.unmeant(&self.base, planned, MOST_FAULTS - faults.len()));
                continue;
            }
            let tree = |value: &PlannedValue| self.plan.tree(&mut self.base, planned, value);
            let (trees, wrong): (Vec<_>, Vec<_>) = planned.values.iter().map(tree).partition(Result::is_ok);
            faults.extend(wrong.into_iter().filter_map(Result::err).take(MOST_FAULTS - faults.len()));
            self.trees[index] = Some(trees.into_iter().filter_map(Result::ok).collect());
        }
        self.base.share_sources();
        faults
    }
}

impl Plan {
    /// The faults, `most` at most, of values of an axis that mean nothing in `base`.
    fn unmeant(&self, base: &Document, planned: &PlannedAxis, most: usize) -> Vec<SourceFault> {
        let of_some = |values: &[&PlannedValue]| {
            // Every value adds its text to the document.
            let mut scratch = base.clone();
            values.iter().filter_map(|value| self.tree(&mut scratch, planned, value).err()).collect::<Vec<_>>()
        };
        // A number is one whatever it is: the first of a unit tells whether the field takes any.
        let mut known = HashSet::new();
        let matters = |value: &&PlannedValue| {
            value.behind_number(&planned.axis).is_none_or(|behind| known.insert(behind.to_owned()))
        };
        let values: Vec<_> = planned.values.iter().filter(matters).collect();
        values.chunks(MOST_RESOLVED).flat_map(of_some).take(most).collect()
    }

    /// The tree that takes the place of the value of an axis in `document`, where no other axis changes it.
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

    /// Sets an axis to a value; a topology by its bare name is completed.
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
