//! Sweeps: the unfolding of one scenario into many cases.

mod blame;
mod cases;
mod column_fields;
mod conflict;
mod costs;
mod exemplars;
mod followers;
mod formula;
mod ids;
mod inspection;
mod names;
mod over;
mod planned;
mod points;
mod ranges;
mod repeats;
mod resolved;

pub(super) use cases::SHARED_FIELDS;
pub use cases::{Cases, Inspection};
pub use column_fields::ColumnFields;
pub use costs::{CaseCost, CaseCosts};
pub use exemplars::{Exemplars, Similarity};
pub use ids::Ids;
pub use over::{Override, assigned};

use super::axis::{Axis, AxisValue};
use super::named_topology;
use super::parameter::common_unit;
use super::source::{Document, Faults, Place, SourceFault, Tree, TreeValue};
use super::{CheckedScenario, Scenario};
use conflict::FieldRoutes;
use formula::AxisFormula;
pub(super) use names::unknown_value;
use parsim_sim::units::{escaped, nearest};
use planned::{AxisSetting, OVER, ValueOrigin, declared, description, typed};
use planned::{PlannedAxis, PlannedValue, typed_or_described};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A case: the scenario with its base values replaced by those of one point of the axes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The value of each axis, by its short name.
    pub keys: Vec<(String, Option<AxisValue>)>,
    /// The scenario to run. Cases that do not differ in any relevant way may share one.
    pub scenario: Arc<CheckedScenario>,
    /// The changes of `--set` and the units of the axes.
    pub settings: Settings,
}

impl Case {
    /// Returns the scenario of the case.
    #[must_use]
    pub fn into_scenario(self) -> CheckedScenario {
        Arc::unwrap_or_clone(self.scenario)
    }
}

/// The changes and the units that all cases of a plan have in common, which no value of theirs says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The changes of `--set`, by path and text.
    pub set: Arc<[(String, String)]>,
    /// The units of the axes, by name, whose numbers are neither bytes nor seconds.
    pub units: Arc<[(String, String)]>,
}

impl Settings {
    /// Returns the settings of a description without axes.
    #[must_use]
    pub fn without_axes(set: &[(String, String)]) -> Self {
        Self { set: set.into(), ..Self::default() }
    }
}

/// The units of plain numbers in outputs, which are not named there.
const PLAIN_UNITS: [&str; 2] = ["B", "s"];

/// A scenario with its axes, ready to be unfolded into cases.
#[derive(Clone, Debug)]
pub struct Plan {
    document: Document,
    scenario: Scenario,
    axes: Vec<PlannedAxis>,
    settings: Settings,
}

/// The conventional name of the number of ranks.
const PROCESSORS: &str = "p";
/// The path of the number of ranks.
const RANKS: &str = "ranks";
/// Maximum number of axes of a scenario.
const MAX_AXES: usize = 1000;
/// Maximum number of faults of axes that are reported.
const MAX_FAULTS: usize = 50;

impl Plan {
    /// Reads the scenario of `document` and applies `overrides` to its axes.
    ///
    /// # Errors
    /// All faults of the scenario and of its axes.
    pub fn new(mut document: Document, overrides: &[Override]) -> Result<Self, Faults> {
        ranges::unfold(&mut document).map_err(|faults| document.faults(faults))?;
        let scenario = named_topology::read(&document)?;
        let mut plan = Self { axes: Vec::new(), settings: Settings::default(), document, scenario };
        let mut faults = plan.read_axes();
        faults.extend(names::phase_faults(&plan.document, plan.scenario.program.named_phases()));
        let mut given = HashSet::new();
        for replacement in overrides {
            faults.extend((!given.insert(&replacement.name)).then(|| given_twice(replacement)));
            faults.extend(plan.replace(replacement).err());
        }
        faults.extend(plan.check_zips());
        let alone = plan.axes.iter().filter(|planned| !plan.is_zipped(&planned.axis.name));
        faults.extend(alone.filter_map(repeats::fault));
        plan.settings.units = plan.units();
        if faults.is_empty() { Ok(plan) } else { Err(plan.document.faults(faults)) }
    }

    /// Returns the base values as one case.
    ///
    /// # Errors
    /// All faults of the case.
    pub fn base(&self) -> Result<Case, Faults> {
        let doubles = FieldRoutes::of(&self.axes, &self.document).duplicates(&self.axes);
        if !doubles.is_empty() {
            return Err(self.document.faults(doubles));
        }
        self.formulas().map_err(|fault| self.document.faults(vec![fault]))?;
        let scenario = Arc::new(self.scenario.clone().check(&self.document)?);
        let keys = self.base_keys(&scenario);
        Ok(Case { keys, scenario, settings: self.settings.clone() })
    }

    /// Returns the value of every axis in the base values, in the unit of the axis. Defaults are those of the resolved
    /// `scenario`.
    fn base_keys(&self, scenario: &CheckedScenario) -> Vec<(String, Option<AxisValue>)> {
        let resolved = OnceCell::new();
        let default = |path: &str| {
            let resolved = resolved.get_or_init(|| Document::from_text("resolved", &scenario.to_ron()).ok());
            resolved.as_ref().and_then(|document| document.get(path)).and_then(AxisValue::of_tree)
        };
        let key = |PlannedAxis { axis, .. }: &PlannedAxis| {
            let written = self.document.get(&axis.path);
            let value = written.map_or_else(|| default(&axis.path), AxisValue::of_tree);
            (axis.name.clone(), value.map(|value| value.without_unit(axis.unit.as_deref())))
        };
        self.axes.iter().map(key).collect()
    }

    /// Returns the axes in order, including those added by overrides.
    pub fn axes(&self) -> impl DoubleEndedIterator<Item = &Axis> + ExactSizeIterator {
        self.axes.iter().map(|planned| &planned.axis)
    }

    /// Returns the unit in which the values of the axis `name` are numbers: its own, or that of its first value if all
    /// are quantities of one kind, as from the command line.
    #[must_use]
    pub fn unit_along(&self, name: &str) -> Option<String> {
        let planned = self.axis(name)?;
        let texts: Option<Vec<&str>> = planned.values.iter().map(|value| value.shown.text()).collect();
        planned.axis.unit.clone().or_else(|| common_unit(texts?.into_iter()))
    }

    /// Returns the distinct values of the axis `name` in order, as displayed, or nothing if all values are numbers.
    #[must_use]
    pub fn categories(&self, name: &str) -> Vec<String> {
        let values = self.axis(name).map_or(&[][..], |planned| &planned.values);
        let mut known = HashSet::new();
        let names = values.iter().map(|value| value.shown.to_string()).filter(|value| known.insert(value.clone()));
        if values.iter().all(|value| value.shown.number().is_some()) { Vec::new() } else { names.collect() }
    }

    /// Returns `true` if two different axes advance together.
    pub(super) fn are_zipped(&self, first: &str, second: &str) -> bool {
        let joins = |zip: &&Vec<String>| [first, second].iter().all(|name| zip.iter().any(|zipped| zipped == name));
        first != second && self.scenario.zip.iter().any(|zip| joins(&zip))
    }

    /// Returns the first axis that advances together with the axis `name`.
    #[must_use]
    pub fn zipped_with(&self, name: &str) -> Option<&Axis> {
        self.axes().find(|axis| self.are_zipped(&axis.name, name))
    }

    /// Returns `true` if the axis advances together with others.
    fn is_zipped(&self, name: &str) -> bool {
        self.scenario.zip.iter().flatten().any(|zipped| zipped == name)
    }

    /// Returns the plan with every axis that is not varied held at its base value. Axes that advance together with a
    /// varied axis, or are computed from one, are varied, too.
    #[must_use]
    pub fn holding(mut self, is_varied: impl Fn(&str) -> bool) -> Self {
        let varied = self.with_followers(|axis| is_varied(&axis.name));
        let held = |(axis, is_varied): (&Axis, bool)| (!is_varied).then(|| axis.name.clone());
        let held: Vec<String> = self.axes().zip(varied).filter_map(held).collect();
        let paths: Vec<String> =
            self.axes().filter(|axis| !held.contains(&axis.name)).map(|axis| format!("{}.", axis.path)).collect();
        let document = &self.document;
        // An axis is dropped if its field is omitted, because there is no value to hold, or if its field is part of a
        // varied one, because each value of that one has its own.
        let is_part = |path: &str| paths.iter().any(|whole| path.starts_with(whole));
        self.axes.retain_mut(|planned| {
            !held.contains(&planned.axis.name) || !is_part(&planned.axis.path) && planned.hold(document)
        });
        self
    }

    /// Returns `true` if the axis `name` may have several values: those of an expression are not known here.
    #[must_use]
    pub fn may_vary(&self, name: &str) -> bool {
        self.axis(name).is_some_and(|planned| planned.values.len() != 1)
    }

    /// Returns `true` if the scenario has a field at `path`, given or at its default. A part that is left out as a whole
    /// has no fields, since one of them alone does not describe it.
    #[must_use]
    pub fn has_field(&self, path: &str) -> bool {
        let has_parent = path.rsplit_once('.').is_none_or(|(parent, _)| self.document.get(parent).is_some());
        self.document.get(path).is_some() || has_parent && is_left_out(&self.document, path)
    }

    /// Returns the axis that varies the field at `path`, itself or as part of a containing field.
    #[must_use]
    pub fn axis_over(&self, path: &str) -> Option<&Axis> {
        let routes = FieldRoutes::of(&self.axes, &self.document);
        routes.axis_over(&self.axes, path, &self.document).map(|planned| &planned.axis)
    }

    /// Returns the value that the base values have for an axis.
    pub(super) fn base_value(&self, planned: &PlannedAxis) -> PlannedValue {
        let value = self.document.get(&planned.axis.path).and_then(AxisValue::of_tree);
        typed_or_described(&planned.axis, &[], &value.unwrap_or_else(|| AxisValue::Text(String::new())))
    }

    /// Returns the files from which the scenario is read, and those with which it is compared.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.document.files()
    }

    /// Returns the document with every override applied.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the plan with the changes that `--set` has made to its document, by path and text. Axes must not undo
    /// them.
    #[must_use]
    pub fn with_settings(mut self, set: Vec<(String, String)>) -> Self {
        self.settings.set = set.into();
        self
    }

    /// Returns the units of the axes whose numbers are neither bytes nor seconds.
    fn units(&self) -> Arc<[(String, String)]> {
        let unit = |axis: &Axis| Some((axis.name.clone(), axis.unit.clone()?));
        self.axes().filter_map(unit).filter(|(_, unit)| !PLAIN_UNITS.contains(&unit.as_str())).collect()
    }

    /// Returns the changes of `--set`, by path and text.
    pub(super) fn changes(&self) -> &[(String, String)] {
        &self.settings.set
    }

    /// Returns the scenario with its base values, as described by the document.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn read_axes(&mut self) -> Vec<SourceFault> {
        let Self { document, scenario, axes, .. } = self;
        let trees = document.get("axes").map(Tree::items).unwrap_or_default();
        let mut names = HashSet::new();
        let mut faults = Vec::new();
        for (index, (axis, tree)) in scenario.axes.iter().zip(trees).enumerate() {
            if faults.len() >= MAX_FAULTS {
                break;
            }
            if index == MAX_AXES {
                faults.push(document.fault_at("axes", &format!("there are more than {MAX_AXES} axes"), None));
                break;
            }
            faults.extend(axis_faults(document, axis, index, !names.insert(axis.name.as_str())));
            faults.extend(names::fault(document, axis, index, scenario));
            let trees = tree.field("values").map(Tree::items).unwrap_or_default();
            let may_be_variant = document.get(&axis.path).is_none_or(Tree::is_variant);
            let values = axis.values.iter().zip(trees).map(|(value, tree)| declared(axis, value, tree, may_be_variant));
            let values: Vec<_> = values.collect();
            faults.extend(names::namesake(document, &values, index));
            axes.push(PlannedAxis { values, axis: axis.clone(), place: Some(tree.place) });
        }
        faults
    }

    /// Gives an axis the values of an override. The axis is added if it is not declared.
    fn replace(&mut self, replacement: &Override) -> Result<(), SourceFault> {
        let name = &replacement.name;
        if replacement.values.is_empty() {
            return Err(SourceFault::new(&format!("`{OVER} {name}` has no values")).help("give at least one value"));
        }
        let index = match self.axes.iter().position(|planned| planned.axis.name == *name) {
            Some(index) => index,
            None => self.add_axis(name)?,
        };
        let PlannedAxis { axis, values, .. } = &mut self.axes[index];
        axis.expression = None;
        let declared = std::mem::take(values);
        let planned =
            |text: &String| description(&declared, text).unwrap_or_else(|| typed(axis, text, ValueOrigin::Over));
        let mut texts = Vec::new();
        for text in &replacement.values {
            match ranges::expand(text) {
                None => texts.push(text.clone()),
                Some(Ok(range)) => texts.extend(range),
                Some(Err(message)) => {
                    return Err(SourceFault::new(&format!("{OVER} {name}: {message}")).help(ranges::FORM));
                }
            }
        }
        *values = texts.iter().map(planned).collect();
        Ok(())
    }

    fn add_axis(&mut self, name: &str) -> Result<usize, SourceFault> {
        let axis = self.free_axis(name)?;
        if let Some(message) = names::clash(name, &self.scenario) {
            let help = format!("give the path of the field: `{OVER} {}=…`", axis.path);
            return Err(SourceFault::new(&message).help(&help));
        }
        self.axes.push(PlannedAxis { axis, values: Vec::new(), place: None });
        Ok(self.axes.len() - 1)
    }

    /// Creates an axis over the field with the path `name`, which may be omitted in the document, or over the only
    /// field with that name.
    pub(super) fn free_axis(&self, name: &str) -> Result<Axis, SourceFault> {
        match self.path_of(name) {
            Err(_) if is_left_out(&self.document, name) => Ok(Axis::over(name, name.to_owned())),
            path => Ok(Axis::over(name, path?)),
        }
    }

    fn path_of(&self, name: &str) -> Result<String, SourceFault> {
        if self.document.get(name).is_some() {
            return Ok(name.to_owned());
        }
        let mut paths = self.document.paths_of(name);
        if name == PROCESSORS && paths.is_empty() {
            return Ok(RANKS.to_owned());
        }
        if paths.len() > 1 {
            let message = format!("`{name}` is ambiguous: it may be any of the fields {}", paths.join(", "));
            return Err(SourceFault::new(&message).help("give the path of one of them"));
        }
        paths.pop().ok_or_else(|| {
            let names: Vec<_> = self.axes.iter().map(|planned| planned.axis.name.as_str()).collect();
            let message = format!("`{name}` is neither an axis nor the path of a field");
            let axes = if names.is_empty() {
                "there are no axes".to_owned()
            } else {
                format!("the axes are: {}", names.join(", "))
            };
            let near = || nearest(name, names.iter().copied()).map(|meant| format!("did you mean `{meant}`?"));
            let help = meant_path(&self.document, name).or_else(near);
            let help = help.unwrap_or_else(|| format!("{axes}; a path has the form `program.n`"));
            SourceFault::new(&message).help(&help)
        })
    }

    fn check_zips(&self) -> Vec<SourceFault> {
        let (mut faults, mut known) = (Vec::new(), HashSet::new());
        for (index, zip) in self.scenario.zip.iter().enumerate() {
            let at = format!("zip.{index}");
            let mut fault = |message: &str, help| faults.push(self.document.fault_at(&at, message, Some(help)));
            for name in zip {
                match self.axis(name) {
                    None => fault(&format!("there is no axis `{name}`"), "name declared axes"),
                    Some(_) if !known.insert(name) => {
                        fault(&format!("the axis `{name}` is zipped twice"), "name all axes of a group in one list");
                    }
                    Some(planned) if planned.is_computed() => {
                        let message = format!("the axis `{name}` is computed, and cannot be zipped");
                        fault(&message, "leave it out: it follows the axes of its expression");
                    }
                    Some(_) => {}
                }
            }
            if zip.len() < 2 {
                fault("a group of fewer than two axes zips nothing", "name two axes at least, or leave the group out");
            }
            if zip.iter().filter_map(|name| self.axis(name)).any(PlannedAxis::is_computed) {
                continue;
            }
            faults.extend(self.unequal_zip(zip, &at));
        }
        faults
    }

    /// Returns a fault if the axes of the group at `at` have different numbers of values.
    fn unequal_zip(&self, zip: &[String], at: &str) -> Option<SourceFault> {
        let axes: Vec<_> = zip.iter().filter_map(|name| self.axis(name)).collect();
        let counts: Vec<_> = axes.iter().map(|one| format!("{} of `{}`", one.values.len(), one.axis.name)).collect();
        let (first, others) = axes.split_first()?;
        others.iter().any(|other| other.values.len() != first.values.len()).then(|| {
            let message = format!("zipped axes have different numbers of values: {}", counts.join(", "));
            // Filters compare numbers.
            let number = |one: &&PlannedAxis| Some((one.axis.name.clone(), one.values.first()?.shown.number()?));
            let example = axes.iter().find_map(number);
            let such_as = example.map(|(name, value)| format!(", such as `--set \"filter={name} == {value}\"`"));
            let help = format!(
                "give all of them, with the same number of values; to keep only some points, give a filter over the axes \
                 instead{}",
                such_as.unwrap_or_default()
            );
            self.document.fault_at(at, &message, Some(&help))
        })
    }

    fn axis(&self, name: &str) -> Option<&PlannedAxis> {
        self.axes.iter().find(|planned| planned.axis.name == name)
    }

    /// Returns the base values with some axes, or fields given by path, set to given values. Axes that are computed from
    /// them, or advance together with them, follow. The keys are those of `point`.
    ///
    /// # Errors
    /// An unknown axis, or all faults of the case.
    pub fn at(&self, point: &[(String, AxisValue)]) -> Result<Case, Faults> {
        let failed = |fault| self.document.faults(vec![fault]);
        let mut document = self.document.clone();
        let values = self.point(point.iter().map(|(name, value)| (name.as_str(), value))).map_err(failed)?;
        self.apply_point(&mut document, &values).map_err(failed)?;
        let keys = point.iter().zip(&values).map(|((name, _), (_, value))| (name.clone(), Some(value.shown.clone())));
        let keys = keys.collect();
        let varied: Vec<_> =
            values.into_iter().map(|(axis, _)| PlannedAxis { axis, values: Vec::new(), place: None }).collect();
        let lost = FieldRoutes::of(&varied, &self.document).faults(&varied, self.changes(), &self.document);
        if !lost.is_empty() {
            return Err(self.document.faults(lost));
        }
        let scenario = Arc::new(named_topology::read(&document)?.check(&document)?);
        Ok(Case { keys, scenario, settings: self.settings.clone() })
    }
}

fn given_twice(replacement: &Override) -> SourceFault {
    let name = &replacement.name;
    SourceFault::new(&format!("`{OVER} {name}=…` is given twice"))
        .help(&format!("give all values at once: `{OVER} {name}=v1,v2`"))
}

/// Returns `true` if `path` denotes a valid field of a scenario that this document leaves at its default.
fn is_left_out(document: &Document, path: &str) -> bool {
    !path.is_empty() && document.get(path).is_none() && unknown_field(document, path).is_none()
}

/// Returns the fault of `path`, which `document` does not have, if it denotes no field of a scenario.
fn unknown_field(document: &Document, path: &str) -> Option<SourceFault> {
    let mut probe = document.clone();
    let place = Place { file: 0, start: 0, end: 0 };
    if let Err(fault) = probe.set_tree(path, Tree { place, node: TreeValue::Unit }) {
        return Some(fault);
    }
    let is_unknown = |fault: &SourceFault| path.starts_with(&fault.path) && fault.message.starts_with("unknown field");
    probe.read::<Scenario>().err()?.list.into_iter().find(is_unknown)
}

/// Returns the advice for a path to no field, if it is similar to that of a field.
pub(super) fn meant_path(document: &Document, path: &str) -> Option<String> {
    unknown_field(document, path)?.help.filter(|help| help.starts_with("did you mean"))
}

/// Returns `true` if the field at `path` is a plain number, such as a parameter of a program. Numbers in steps are
/// expressions, which may have units.
fn is_without_unit(document: &Document, path: &str) -> bool {
    let is_number = |tree: &Tree| matches!(tree.node, TreeValue::Number(_));
    document.get(path).is_some_and(is_number) && !path.starts_with("program.steps.")
}

/// Returns the faults of the axis with index `index`.
fn axis_faults(document: &Document, axis: &Axis, index: usize, is_known: bool) -> Vec<SourceFault> {
    let Axis { name, path, .. } = axis;
    let mut faults = Vec::new();
    let mut fault = |field: &str, message: String, help: &str| {
        faults.push(document.fault_at(&format!("axes.{index}{field}"), &message, Some(help)));
    };
    if is_known {
        fault(".name", format!("the axis `{name}` is declared twice"), "give it another name");
    }
    if !axis.has_good_name() {
        let message = format!("the axis `{}` has a name that cannot be a key of the output", escaped(name));
        fault(".name", message, "begin with a letter or `_`; continue with letters, digits, `_`, `-` and `.`");
    }
    if document.get(path).is_none() && !is_left_out(document, path) {
        let meant = meant_path(document, path);
        let help = "give the path of a field, such as `program.n`; `--set axes=[]` leaves all axes out";
        let message = format!("the axis `{name}` varies `{path}`, and this scenario has no such field");
        fault(".path", message, meant.as_deref().unwrap_or(help));
    }
    if let Some(unit) = axis.unit.as_deref().filter(|_| is_without_unit(document, path)) {
        let message = format!("`{path}` is a number without a unit, and the axis `{name}` has the unit `{unit}`");
        fault(".unit", message, "leave `unit` out, and give values that are plain numbers");
    }
    if axis.values.is_empty() == axis.expression.is_none() {
        fault("", format!("the axis `{name}` needs either values or an expression"), "give one of the two");
    }
    faults
}
