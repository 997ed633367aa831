//! Axes that follow others: computed from them, or zipped with them.

use super::{Axis, AxisFormula, AxisValue, Plan, PlannedAxis, PlannedValue, ValueOrigin, typed, typed_or_described};
use crate::scenario::named_topology;
use crate::scenario::source::{Document, Faults, SourceFault, is_within};
use std::borrow::Cow;
use std::collections::HashSet;

/// The axes that follow given ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Following {
    Computed,
    ComputedAndZipped,
}

impl Plan {
    /// Returns, for every axis, whether it is varied, advances together with a varied axis, or is computed from one.
    /// Expressions with faults, which are reported when the plan is unfolded, follow nothing.
    pub(super) fn with_followers(&self, is_varied: impl Fn(&Axis) -> bool) -> Vec<bool> {
        let mut varied: Vec<bool> = Vec::new();
        for (index, PlannedAxis { axis, .. }) in self.axes.iter().enumerate() {
            let is_zipped = |other: &Axis| is_varied(other) && self.are_zipped(&axis.name, &other.name);
            let formula = self.formula(index).and_then(Result::ok);
            let is_computed = formula.is_some_and(|formula| formula.inputs().any(|input| varied[input]));
            varied.push(is_varied(axis) || is_computed || self.axes().any(is_zipped));
        }
        varied
    }

    /// Returns the axes that follow given ones.
    pub fn following(&self, is_given: impl Fn(&Axis) -> bool) -> impl Iterator<Item = &Axis> {
        let follows = self.axes().zip(self.with_followers(&is_given));
        follows.filter(move |(axis, follows)| *follows && !is_given(axis)).map(|(axis, _)| axis)
    }

    /// Returns the axis `name` and those that follow it.
    pub fn with_its_followers(&self, name: &str) -> impl Iterator<Item = &Axis> {
        let follows = self.with_followers(|axis| axis.name == name);
        self.axes().zip(follows).filter(|(_, follows)| *follows).map(|(axis, _)| axis)
    }

    /// Returns the plan after changes to the fields at `changed` in its base values: axes that are computed from changed
    /// ones get their value, too, unless they are changed themselves. Axes that are zipped with them keep theirs.
    ///
    /// # Errors
    /// An expression has no value, or a value does not fit its field.
    pub fn following_base<'c>(mut self, changed: impl Iterator<Item = &'c str>) -> Result<Self, Faults> {
        let changed: Vec<&str> = changed.collect();
        let is_changed = |planned: &&PlannedAxis| {
            let path = &planned.axis.path;
            changed.iter().any(|whole| is_within(path, whole)) && self.document.get(path).is_some()
        };
        let changed = self.axes.iter().filter(is_changed);
        let changed: Vec<_> = changed.map(|planned| (planned.axis.clone(), self.base_value(planned))).collect();
        let failed = |fault| self.document.faults(vec![fault]);
        let followers = self.followers(&changed, Following::Computed).map_err(failed)?;
        if !followers.is_empty() {
            let mut document = self.document.clone();
            self.apply_point(&mut document, &followers).map_err(failed)?;
            self.scenario = named_topology::read(&document)?;
            self.document = document;
        }
        Ok(self)
    }

    /// Returns the given values of axes, or of fields given by path, in their order, followed by those of the axes that
    /// follow them.
    ///
    /// # Errors
    /// An unknown axis, an expression without value, or a zipped axis without exactly one value beside the given ones.
    pub(in crate::scenario) fn point<'v>(
        &self,
        given: impl Iterator<Item = (&'v str, &'v AxisValue)>,
    ) -> Result<Vec<(Axis, PlannedValue)>, SourceFault> {
        let mut values = given.map(|(name, value)| self.value_along(name, value)).collect::<Result<Vec<_>, _>>()?;
        values.extend(self.followers(&values, Following::ComputedAndZipped)?);
        Ok(values)
    }

    /// Returns the value along the axis `name`, or along the field with this path.
    fn value_along(&self, name: &str, value: &AxisValue) -> Result<(Axis, PlannedValue), SourceFault> {
        let (axis, declared) = self.axis_along(name)?;
        let value = typed_or_described(&axis, declared, value);
        Ok((axis, value))
    }

    /// Returns the axis `name`, or that along the field with this path, with its declared values.
    fn axis_along(&self, name: &str) -> Result<(Axis, &[PlannedValue]), SourceFault> {
        let of_path = || self.axes.iter().find(|planned| planned.axis.path == name);
        match self.axis(name).or_else(of_path) {
            Some(planned) => Ok((planned.axis.clone(), &planned.values)),
            None => Ok((self.free_axis(name)?, &[])),
        }
    }

    /// Checks that `name` is an axis or the path of a field.
    ///
    /// # Errors
    /// The fault that it is neither.
    pub fn check_axis(&self, name: &str) -> Result<(), SourceFault> {
        self.axis_along(name).map(|_| ())
    }

    /// Returns a value of the axis `name`, or of the field with this path, in the form in which cases show it.
    #[must_use]
    pub fn shown_along(&self, name: &str, value: &AxisValue) -> AxisValue {
        self.value_along(name, value).map_or_else(|_| value.clone(), |(_, value)| value.shown)
    }

    /// Returns the path and the unit of the axis `name`, or of the field with this path; `None` if there is none.
    #[must_use]
    pub fn field_along(&self, name: &str) -> Option<(String, Option<String>)> {
        let (axis, _) = self.axis_along(name).ok()?;
        Some((axis.path, self.unit_along(&axis.name)))
    }

    /// Returns the number in `unit` that a case with these keys has in the field at `path`; `None` if it is none, or if an
    /// axis sets it as part of a containing field.
    #[must_use]
    pub fn number_at(&self, path: &str, unit: Option<&str>, keys: &[(String, Option<AxisValue>)]) -> Option<f64> {
        let axis = self.axes().find(|axis| axis.path == path);
        let key = axis.and_then(|axis| keys.iter().find(|(name, _)| *name == axis.name));
        let own = axis.and_then(|axis| self.unit_along(&axis.name));
        let value = match key {
            Some((_, value)) => value.clone()?,
            None if axis.is_none() && self.axis_over(path).is_some() => return None,
            None => self.document.get(path).and_then(AxisValue::of_tree)?,
        };
        // A number of an axis is one in the unit of the axis.
        let quantity = own.map_or_else(|| value.clone(), |own| AxisValue::Text(value.setting(Some(&own))));
        quantity.without_unit(unit).number()
    }

    /// Sets the values of a point in `document`, those of whole descriptions before those of their fields.
    pub(in crate::scenario) fn apply_point(
        &self,
        document: &mut Document,
        point: &[(Axis, PlannedValue)],
    ) -> Result<(), SourceFault> {
        let mut point: Vec<_> = point.iter().collect();
        point.sort_by_key(|(axis, _)| axis.path.matches('.').count());
        point.into_iter().try_for_each(|(axis, value)| self.apply_value(document, axis, value))
    }

    /// Returns the names of the axes with values from which the axis `name` is computed, or its own if it is not.
    #[must_use]
    pub fn sources_of(&self, name: &str) -> Vec<String> {
        let Some(index) = self.axes.iter().position(|planned| planned.axis.name == name) else { return Vec::new() };
        match self.formula(index) {
            Some(Ok(formula)) => {
                formula.inputs().flat_map(|input| self.sources_of(&self.axes[input].axis.name)).collect()
            }
            _ => vec![name.to_owned()],
        }
    }

    /// Returns the other axes whose values are determined along the axis `name`, where all further axes have one value:
    /// those that are computed, those that are zipped with it, and, if it is computed itself, the last axis from which
    /// it is computed.
    #[must_use]
    pub fn determined_along(&self, name: &str) -> Vec<String> {
        let source = self.source(name);
        let is_determined = |PlannedAxis { axis, .. }: &&PlannedAxis| {
            let is_zipped =
                |source: &PlannedAxis| has_distinct_values(source) && self.are_zipped(&axis.name, &source.axis.name);
            axis.name != name
                && (axis.expression.is_some()
                    || source.is_some_and(|source| source.axis.name == axis.name || is_zipped(source)))
        };
        self.axes.iter().filter(is_determined).map(|planned| planned.axis.name.clone()).collect()
    }

    /// Returns `axis`, or an axis that is zipped with it and represents both better: one without repeated values, and of
    /// these one of numbers.
    #[must_use]
    pub fn distinct_along<'p>(&'p self, axis: &'p Axis) -> &'p Axis {
        let zipped = self.axes().filter(|other| self.are_zipped(&other.name, &axis.name));
        let rank = |axis: &&Axis| {
            let planned = self.axis(&axis.name).filter(|planned| has_distinct_values(planned));
            planned.map(|planned| planned.values.iter().all(|value| value.shown.number().is_some()))
        };
        zipped.chain([axis]).max_by_key(rank).unwrap_or(axis)
    }

    /// Returns the axis `name`, or the last axis with several values from which it is computed.
    fn source(&self, name: &str) -> Option<&PlannedAxis> {
        let mut index = self.axes.iter().position(|planned| planned.axis.name == name)?;
        while let Some(formula) = self.formula(index) {
            index = formula.ok()?.inputs().filter(|input| self.may_vary(&self.axes[*input].axis.name)).max()?;
        }
        self.axes.get(index)
    }

    /// Returns the axes that follow those with the given values, with their values.
    ///
    /// # Errors
    /// An expression has no value, or a zipped axis has not exactly one value beside the given ones.
    fn followers(
        &self,
        given: &[(Axis, PlannedValue)],
        following: Following,
    ) -> Result<Vec<(Axis, PlannedValue)>, SourceFault> {
        let mut followers = Vec::new();
        let (mut values, mut moved) = (Vec::new(), Vec::new());
        for (index, planned) in self.axes.iter().enumerate() {
            let is_given = |(axis, _): &&(Axis, PlannedValue)| axis.path == planned.axis.path;
            let mut value = given.iter().find(is_given).map(|(_, value)| value.clone());
            if value.is_none() {
                value = self.computed(index, &values, &moved)?;
                if value.is_none() && following == Following::ComputedAndZipped {
                    value = self.zipped(planned, given)?;
                }
                followers.extend(value.clone().map(|value| (planned.axis.clone(), value)));
            }
            moved.push(value.is_some());
            values.push(Cow::Owned(value.unwrap_or_else(|| self.base_value(planned)).shown));
        }
        Ok(followers)
    }

    /// Returns the value of an axis that is computed from an axis that has `moved`, given the `values` of those before.
    fn computed(
        &self,
        index: usize,
        values: &[Cow<'_, AxisValue>],
        moved: &[bool],
    ) -> Result<Option<PlannedValue>, SourceFault> {
        let Some(formula) = self.formula(index).transpose()? else { return Ok(None) };
        if !formula.inputs().any(|input| moved[input]) {
            return Ok(None);
        }
        let number = formula.number(values, &self.document)?;
        Ok(Some(typed(&self.axes[index].axis, &number.to_string(), ValueOrigin::Declared(None))))
    }

    /// Returns the value of an axis at the places where the axes that it is zipped with have the given values.
    fn zipped(
        &self,
        planned: &PlannedAxis,
        given: &[(Axis, PlannedValue)],
    ) -> Result<Option<PlannedValue>, SourceFault> {
        let name = &planned.axis.name;
        let beside: Vec<_> = given.iter().filter(|(axis, _)| self.are_zipped(&axis.name, name)).collect();
        if beside.is_empty() {
            return Ok(None);
        }
        let has = |place: usize| {
            let is_at = |(axis, value): &&(Axis, PlannedValue)| {
                let values = self.axis(&axis.name).map_or(&[][..], |other| &other.values);
                values.get(place).is_some_and(|other| other.shown == value.shown)
            };
            beside.iter().all(is_at)
        };
        let mut places = planned.values.iter().enumerate().filter(|(place, _)| has(*place)).map(|(_, value)| value);
        let first = places.next();
        let described = || {
            let texts: Vec<_> = beside.iter().map(|(axis, value)| format!("{} = {}", axis.name, value.shown)).collect();
            texts.join(", ")
        };
        let problem = match first {
            None => "no value",
            Some(first) if places.any(|other| other.shown != first.shown) => "several values",
            Some(first) => return Ok(Some(first.clone())),
        };
        let message = format!("the axis `{name}`, which is zipped with others, has {problem} for {}", described());
        Err(SourceFault::new(&message).help(&format!("give `{name}`, too")))
    }

    /// Returns the parsed expression of an axis, if it is computed.
    pub(super) fn formula(&self, index: usize) -> Option<Result<AxisFormula, SourceFault>> {
        let at = format!("axes.{index}.expression");
        let (expression, axes) = (self.axes[index].axis.expression.as_ref()?, self.axes.split_at(index));
        Some(AxisFormula::computed(expression, at, axes, &self.document))
    }
}

/// Returns `true` if no value of the axis occurs twice.
fn has_distinct_values(planned: &PlannedAxis) -> bool {
    let mut known = HashSet::new();
    planned.values.iter().all(|value| known.insert(value.shown.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::Override;
    use super::*;

    /// The numbers of processors of a node and of nodes advance together; ranks are their product, and `n` follows them.
    fn plan(over: &[Override]) -> Plan {
        let mut document = Document::load("../../scenarios/real-lu.ron").unwrap();
        let axes = r#"[
            Axis(name: "q", path: "placement.ranks_per_node", values: [1, 16, 1]),
            Axis(name: "p", path: "machine.network.topology.nodes", values: [1, 1, 4]),
            Axis(name: "ranks", path: "ranks", expression: "q * p"),
            Axis(name: "n", path: "program.n", expression: "64 * ranks"),
        ]"#;
        document.set("axes", axes).unwrap();
        Plan::new(document, over).unwrap()
    }

    fn at(point: &[(&str, i128)]) -> Result<(u32, u32), String> {
        let point: Vec<_> = point.iter().map(|(name, value)| ((*name).to_owned(), AxisValue::Whole(*value))).collect();
        let case = plan(&[]).at(&point).map_err(|faults| faults.list[0].message.clone())?;
        let resolved = Document::from_text("resolved", &case.scenario.to_ron()).unwrap();
        let n = AxisValue::of_tree(resolved.get("program.n").unwrap()).and_then(|n| n.number());
        let n = n.map(|n| n.to_string().parse().unwrap()).unwrap();
        Ok((case.scenario.ranks, n))
    }

    #[test]
    fn computed_axes_follow_those_that_are_given() {
        assert_eq!(at(&[]), Ok((16, 2000)));
        assert_eq!(at(&[("q", 2), ("p", 4)]), Ok((8, 512)));
        assert_eq!(at(&[("ranks", 8)]), Ok((8, 512)));
        assert_eq!(at(&[("program.n", 128)]), Ok((16, 128)));
        assert_eq!(at(&[("q", 2), ("p", 4), ("n", 640)]), Ok((8, 640)));
    }

    /// The numbers of fields are those of the axes over them, also of computed ones, and otherwise those of the scenario.
    #[test]
    fn numbers_of_cases_are_those_of_their_fields() {
        let plan = plan(&[]);
        let cases = plan.unfold().unwrap();
        let numbers = |path: &str| {
            let points = cases.held_points().unwrap().into_iter();
            points.map(|point| plan.number_at(path, None, &cases.keys(point))).collect::<Vec<_>>()
        };
        assert!(numbers("ranks").contains(&Some(16.0)) && numbers("program.n").contains(&Some(1024.0)));
        assert_eq!(plan.number_at("ranks", None, &[]), Some(16.0));
        assert_eq!(plan.number_at("program", None, &[]), None);
        let ping = Plan::new(Document::load("../../scenarios/ping.ron").unwrap(), &[]).unwrap();
        let long = [("bytes".to_owned(), Some(AxisValue::Whole(2000)))];
        assert_eq!(ping.number_at("program.bytes", Some("kB"), &long), Some(2.0));
        assert_eq!(ping.number_at("program.bytes", None, &long), None);
    }

    #[test]
    fn zipped_axes_follow_if_they_have_one_value() {
        assert_eq!(at(&[("p", 4)]), Ok((4, 256)));
        assert_eq!(at(&[("machine.network.topology.nodes", 4)]), Ok((4, 256)));
        assert_eq!(at(&[("q", 16)]), Ok((16, 1024)));
        let faults = [at(&[("p", 3)]), at(&[("q", 1)])].map(Result::unwrap_err);
        assert_eq!(faults[0], "the axis `q`, which is zipped with others, has no value for p = 3");
        assert_eq!(faults[1], "the axis `p`, which is zipped with others, has several values for q = 1");
    }

    #[test]
    fn an_axis_advances_with_one_group_of_others() {
        let faults = |zip: &str| {
            let mut document = Document::load("../../scenarios/real-lu.ron").unwrap();
            document.set("zip", zip).unwrap();
            Plan::new(document, &[]).unwrap_err().list.iter().map(|fault| fault.message.clone()).collect::<Vec<_>>()
        };
        let is_said = |zip: &str, said: &str| faults(zip).iter().any(|fault| fault == said);
        assert!(is_said(r#"[["q", "p"], ["p", "n"]]"#, "the axis `p` is zipped twice"));
        assert!(is_said(r#"[["q", "p", "p"]]"#, "the axis `p` is zipped twice"));
        assert!(is_said(r#"[["q", "p"], ["n"]]"#, "a group of fewer than two axes zips nothing"));
        assert!(is_said(r#"[["ranks", "p"]]"#, "the axis `ranks` is computed, and cannot be zipped"));
    }

    #[test]
    fn a_plan_that_holds_axes_varies_those_that_follow_varied_ones() {
        let over = [Override::new("q", &["1", "4"]), Override::new("p", &["4", "4"])];
        let cases = |varied: &str| {
            let cases = plan(&over).holding(|name| name == varied).cases().unwrap();
            cases.iter().map(|case| case.scenario.ranks).collect::<Vec<_>>()
        };
        assert_eq!(cases("q"), [4, 16]);
        assert_eq!(cases("none"), [16]);
    }
}
