//! One scenario becomes many cases.

use super::axis::{Axis, AxisValue};
use super::named_topology::{self, complete_topology};
use super::source::{Document, Fault, Faults, Node, Tree};
use super::{CheckedScenario, Scenario};
use crate::network::Topology;
use crate::program::expression::{self, Formula, Value};

/// An axis replaced or added from outside: `--over name=v1,v2,…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The name of a declared axis, or the path of a field.
    pub name: String,
    /// The values as text.
    pub values: Vec<String>,
}

/// One case: the scenario with its base values replaced by one point of the axes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The value of each axis by its short name.
    pub keys: Vec<(String, Option<AxisValue>)>,
    /// The scenario to play.
    pub scenario: CheckedScenario,
}

/// A scenario unfolded: its cases, in the order of the axes.
#[derive(Clone, Debug)]
pub struct Plan {
    document: Document,
    scenario: Scenario,
    axes: Vec<PlannedAxis>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedAxis {
    pub axis: Axis,
    pub values: Vec<PlannedValue>,
}

/// A value and what stands for it in the scenario.
#[derive(Clone, Debug)]
pub(super) struct PlannedValue {
    pub shown: AxisValue,
    setting: Setting,
}

#[derive(Clone, Debug)]
enum Setting {
    Tree(Tree),
    Text {
        text: String,
        /// Where it was given, for diagnostics.
        option: &'static str,
    },
}

/// Where values that the scenario itself gives to an axis are from.
const DECLARED: &str = "axis";

/// A point of the axes: for each axis its value.
type Point = Vec<PlannedValue>;

impl Plan {
    /// Reads the scenario of `document` and applies `overrides` to its axes.
    ///
    /// # Errors
    /// All faults of the scenario and of its axes.
    pub fn new(document: Document, overrides: &[Override]) -> Result<Self, Faults> {
        let scenario = named_topology::read(&document)?;
        let mut plan = Self { axes: Vec::new(), document, scenario };
        let mut faults = plan.read_axes();
        for replacement in overrides {
            faults.extend(plan.apply(replacement).err());
        }
        faults.extend(plan.check_zips());
        if faults.is_empty() { Ok(plan) } else { Err(plan.document.faults(faults)) }
    }

    /// The base values as one case.
    ///
    /// # Errors
    /// All faults of the case.
    pub fn base(&self) -> Result<Case, Faults> {
        let scenario = self.scenario.clone().check(&self.document)?;
        let shown = |planned: &PlannedAxis| {
            let value = self.document.get(&planned.axis.path).and_then(AxisValue::of_tree);
            (planned.axis.name.clone(), value.map(|value| value.without_unit(planned.axis.unit.as_deref())))
        };
        Ok(Case { keys: self.axes.iter().map(shown).collect(), scenario })
    }

    /// All cases: the product of the axes, zipped where declared so, filtered.
    ///
    /// # Errors
    /// All faults of the first case that has any.
    pub fn cases(&self) -> Result<Vec<Case>, Faults> {
        let mut cases = Vec::new();
        for point in self.points() {
            cases.extend(self.case(point)?);
        }
        Ok(cases)
    }

    /// The axes, the added ones included, in their order.
    pub fn axes(&self) -> impl DoubleEndedIterator<Item = &Axis> + ExactSizeIterator {
        self.axes.iter().map(|planned| &planned.axis)
    }

    /// The values of the axis `name` in their order, each once, as people read them; empty if all are numbers.
    #[must_use]
    pub fn categories(&self, name: &str) -> Vec<String> {
        let values = self.axis(name).map_or(&[][..], |planned| &planned.values);
        let mut names: Vec<String> = Vec::new();
        for value in values.iter().map(|value| value.shown.to_string()) {
            if !names.contains(&value) {
                names.push(value);
            }
        }
        if values.iter().all(|value| value.shown.number().is_some()) { Vec::new() } else { names }
    }

    pub(super) fn planned(&self) -> impl Iterator<Item = &PlannedAxis> {
        self.axes.iter()
    }

    /// Whether two different axes advance together.
    pub(super) fn are_zipped(&self, one: &str, other: &str) -> bool {
        let joins = |zip: &&Vec<String>| [one, other].iter().all(|name| zip.iter().any(|zipped| zipped == name));
        one != other && self.scenario.zip.iter().any(|zip| joins(&zip))
    }

    /// The value of an axis in the base values.
    pub(super) fn base_value(&self, planned: &PlannedAxis) -> PlannedValue {
        let value = self.document.get(&planned.axis.path).and_then(AxisValue::of_tree);
        typed_or_described(&planned.axis, &[], &value.unwrap_or_else(|| AxisValue::Text(String::new())))
    }

    /// The document with every override applied.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    fn read_axes(&mut self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (index, axis) in self.scenario.axes.iter().enumerate() {
            let at = |field: &str| format!("axes.{index}.{field}");
            if self.scenario.axes[..index].iter().any(|other| other.name == axis.name) {
                let message = format!("the axis `{}` is declared twice", axis.name);
                faults.push(self.document.fault_at(&at("name"), &message, Some("give it another name")));
            }
            if self.document.get(&axis.path).is_none() {
                let message = format!("there is no field `{}` in this scenario", axis.path);
                faults.push(self.document.fault_at(
                    &at("path"),
                    &message,
                    Some("give the path of a field, such as `program.n`"),
                ));
            }
            if axis.values.is_empty() == axis.expression.is_none() {
                let message = format!("the axis `{}` needs either values or an expression", axis.name);
                faults.push(self.document.fault_at(&format!("axes.{index}"), &message, Some("give one of the two")));
            }
            let trees = (0..axis.values.len()).filter_map(|value| self.document.get(&at(&format!("values.{value}"))));
            let is_variant = self.document.get(&axis.path).is_some_and(Tree::is_variant);
            let values =
                axis.values.iter().zip(trees).map(|(value, tree)| planned(axis, value, tree, is_variant)).collect();
            self.axes.push(PlannedAxis { axis: axis.clone(), values });
        }
        faults
    }

    fn apply(&mut self, replacement: &Override) -> Result<(), Fault> {
        let name = &replacement.name;
        let index = match self.axes.iter().position(|planned| planned.axis.name == *name) {
            Some(index) => index,
            None => self.add_axis(name)?,
        };
        let PlannedAxis { axis, values } = &mut self.axes[index];
        axis.expression = None;
        let declared = std::mem::take(values);
        let planned = |text: &String| description(&declared, text).unwrap_or_else(|| typed(axis, text, "--over"));
        *values = replacement.values.iter().map(planned).collect();
        Ok(())
    }

    /// An axis over the field with the path `name`, or over the only field that is called so.
    fn add_axis(&mut self, name: &str) -> Result<usize, Fault> {
        let axis = self.free_axis(name)?;
        self.axes.push(PlannedAxis { axis, values: Vec::new() });
        Ok(self.axes.len() - 1)
    }

    pub(super) fn free_axis(&self, name: &str) -> Result<Axis, Fault> {
        let path = self.path_of(name)?;
        Ok(Axis { name: name.to_owned(), path, unit: None, values: Vec::new(), expression: None })
    }

    fn path_of(&self, name: &str) -> Result<String, Fault> {
        if self.document.get(name).is_some() {
            return Ok(name.to_owned());
        }
        let mut paths = self.document.paths_of(name);
        if paths.len() > 1 {
            let message = format!("`{name}` may be any of the fields {}", paths.join(", "));
            return Err(Fault::new(&message).help("give the path of one of them"));
        }
        paths.pop().ok_or_else(|| {
            let names: Vec<_> = self.axes.iter().map(|planned| planned.axis.name.as_str()).collect();
            let message = format!("`{name}` is neither an axis nor the path of a field");
            let help = format!("the axes are: {}; a path is one such as `program.n`", names.join(", "));
            Fault::new(&message).help(&help)
        })
    }

    fn check_zips(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (index, zip) in self.scenario.zip.iter().enumerate() {
            let at = format!("zip.{index}");
            for name in zip.iter().filter(|name| self.axis(name).is_none()) {
                let message = format!("there is no axis `{name}`");
                faults.push(self.document.fault_at(&at, &message, Some("name declared axes")));
            }
            let mut lengths = zip.iter().filter_map(|name| self.axis(name)).map(|planned| planned.values.len());
            let first = lengths.next();
            if lengths.any(|length| Some(length) != first) {
                let message = "zipped axes have different numbers of values";
                faults.push(self.document.fault_at(&at, message, Some("give them equally many")));
            }
        }
        faults
    }

    fn axis(&self, name: &str) -> Option<&PlannedAxis> {
        self.axes.iter().find(|planned| planned.axis.name == name)
    }

    /// The index of the axis that leads the zip of axis `index`, itself if it is in none.
    fn leader(&self, index: usize) -> usize {
        let name = &self.axes[index].axis.name;
        let zip = self.scenario.zip.iter().find(|zip| zip.contains(name));
        let leads = |planned: &PlannedAxis| zip.is_some_and(|zip| zip.contains(&planned.axis.name));
        self.axes.iter().position(leads).unwrap_or(index)
    }

    /// For each axis the number of its value; the last axis varies fastest.
    fn points(&self) -> Vec<Vec<usize>> {
        let mut points = vec![Vec::new()];
        for (index, planned) in self.axes.iter().enumerate() {
            let leader = self.leader(index);
            let extend = |point: Vec<usize>| -> Vec<Vec<usize>> {
                let numbers = match () {
                    () if planned.axis.expression.is_some() => 0..1,
                    () if leader < index => point[leader]..point[leader] + 1,
                    () => 0..planned.values.len(),
                };
                numbers.map(|number| point.iter().copied().chain([number]).collect()).collect()
            };
            points = points.into_iter().flat_map(extend).collect();
        }
        points
    }

    /// The case of one point, unless the filter excludes it.
    fn case(&self, numbers: Vec<usize>) -> Result<Option<Case>, Faults> {
        let failed = |fault| self.document.faults(vec![fault]);
        let mut document = self.document.clone();
        let mut point: Point = Vec::new();
        for (planned, number) in self.axes.iter().zip(numbers) {
            let value = match &planned.axis.expression {
                None => planned.values[number].clone(),
                Some(expression) => {
                    let computed = self.compute(&planned.axis.name, expression, &point).map_err(failed)?;
                    typed(&planned.axis, &computed, DECLARED)
                }
            };
            self.apply_value(&mut document, &planned.axis, &value).map_err(failed)?;
            point.push(value);
        }
        if !self.passes_filter(&point).map_err(failed)? {
            return Ok(None);
        }
        let scenario = named_topology::read(&document)?.check(&document)?;
        let names = self.axes.iter().map(|planned| planned.axis.name.clone());
        let keys = names.zip(point.into_iter().map(|value| Some(value.shown))).collect();
        Ok(Some(Case { keys, scenario }))
    }

    /// The base values with some axes, or fields by their paths, at given values; the keys are those of `point`.
    ///
    /// # Errors
    /// An axis that there is not, and all faults of the case.
    pub fn at(&self, point: &[(String, AxisValue)]) -> Result<Case, Faults> {
        let failed = |fault| self.document.faults(vec![fault]);
        let mut document = self.document.clone();
        let mut keys = Vec::new();
        for (name, value) in point {
            let (axis, declared) = match self.axis(name) {
                Some(planned) => (planned.axis.clone(), &planned.values[..]),
                None => (self.free_axis(name).map_err(failed)?, &[][..]),
            };
            let value = typed_or_described(&axis, declared, value);
            self.apply_value(&mut document, &axis, &value).map_err(failed)?;
            keys.push((name.clone(), Some(value.shown)));
        }
        let scenario = named_topology::read(&document)?.check(&document)?;
        Ok(Case { keys, scenario })
    }

    pub(super) fn apply_value(&self, document: &mut Document, axis: &Axis, value: &PlannedValue) -> Result<(), Fault> {
        match &value.setting {
            Setting::Tree(tree) => document.set_tree(&axis.path, tree.clone()),
            Setting::Text { text, option } => document.set_along(option, &axis.name, &axis.path, text),
        }
        .and_then(|()| {
            let before = || self.document.read_at::<Topology>(&axis.path).ok();
            match &value.shown {
                AxisValue::Text(name) => complete_topology(document, &axis.path, name, before().as_ref()),
                _ => Ok(()),
            }
        })
    }

    fn passes_filter(&self, point: &[PlannedValue]) -> Result<bool, Fault> {
        let Some(filter) = &self.scenario.filter else { return Ok(true) };
        if let Value::Truth(passes) = self.evaluate("filter", filter, point)? {
            return Ok(passes);
        }
        let help = "compare something, such as `p <= n`";
        Err(self.document.fault_at("filter", "the filter is a number, not a condition", Some(help)))
    }

    pub(super) fn compute(&self, name: &str, expression: &str, point: &[PlannedValue]) -> Result<String, Fault> {
        let place = self.scenario.axes.iter().position(|axis| axis.name == name);
        let at = place.map_or(String::new(), |index| format!("axes.{index}.expression"));
        match self.evaluate(&at, expression, point)? {
            Value::Whole(whole) => Ok(whole.to_string()),
            Value::Real(real) => Ok(AxisValue::Real(real).to_string()),
            Value::Truth(_) => Err(self.document.fault_at(&at, "the expression is a condition, not a number", None)),
        }
    }

    fn evaluate(&self, at: &str, expression: &str, point: &[PlannedValue]) -> Result<Value, Fault> {
        let fault =
            |fault: expression::Fault| self.document.fault_within(at, fault.span.range(), &fault.message, &fault.help);
        let formula = Formula::read(expression).map_err(fault)?;
        let known = || self.axes.iter().zip(point).map(|(planned, value)| (planned.axis.name.as_str(), &value.shown));
        let number = |name: &str| known().find(|(known, _)| *known == name).and_then(|(_, value)| value.as_value());
        for (name, span) in formula.names().filter(|(name, _)| number(name).is_none()) {
            if self.axis(name).is_some() {
                let (message, help) = if known().any(|(known, _)| known == name) {
                    (format!("the axis `{name}` is no number"), "use axes of numbers")
                } else {
                    (format!("there is no axis `{name}` before this one"), "use axes declared before")
                };
                return Err(self.document.fault_within(at, span.range(), &message, help));
            }
            if !Formula::is_constant(name) {
                let names = known().map(|(name, _)| name);
                return Err(fault(expression::Fault::unknown(name, span, names)));
            }
        }
        formula.value(number).map_err(fault)
    }
}

/// A value as it stands in the scenario; a bare number gets the unit of its axis, and a text in the
/// place of a variant means what it means on the command line: `"Ring(nodes: 64)"`.
fn planned(axis: &Axis, value: &AxisValue, tree: &Tree, is_variant: bool) -> PlannedValue {
    let shown = value.clone().without_unit(axis.unit.as_deref());
    let setting = match (value.number(), &axis.unit) {
        (Some(_), Some(_)) => text(axis, value, DECLARED),
        (None, _) if is_variant && matches!(tree.node, Node::Text(_)) => text(axis, value, DECLARED),
        _ => Setting::Tree(tree.clone()),
    };
    PlannedValue { shown, setting }
}

/// The declared description that is called `name`: on the command line a machine of the axis goes by its name.
fn description(declared: &[PlannedValue], name: &str) -> Option<PlannedValue> {
    let is_meant = |value: &&PlannedValue| {
        matches!(&value.setting, Setting::Tree(tree) if matches!(tree.node, Node::Record { .. }))
            && value.shown == AxisValue::Text(name.to_owned())
    };
    declared.iter().find(is_meant).cloned()
}

/// A value of an axis as it is shown: one of the `declared` descriptions by its name, or else as text.
pub(super) fn typed_or_described(axis: &Axis, declared: &[PlannedValue], value: &AxisValue) -> PlannedValue {
    let text = value.to_string();
    description(declared, &text).unwrap_or_else(|| typed(axis, &text, DECLARED))
}

/// A value of an axis as text; `option` tells where it was given.
fn typed(axis: &Axis, value: &str, option: &'static str) -> PlannedValue {
    let value = AxisValue::parse(value);
    let setting = text(axis, &value, option);
    PlannedValue { shown: value.without_unit(axis.unit.as_deref()), setting }
}

fn text(axis: &Axis, value: &AxisValue, option: &'static str) -> Setting {
    Setting::Text { text: value.setting(axis.unit.as_deref()), option }
}
