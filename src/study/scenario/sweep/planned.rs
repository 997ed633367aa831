//! The values of an axis, and what stands for each in the scenario.

use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::source::{Document, SourceFault, Tree, TreeValue};
use std::borrow::Cow;

/// An axis with its values, or with none if they are computed.
#[derive(Clone, Debug)]
pub struct PlannedAxis {
    pub axis: Axis,
    pub values: Vec<PlannedValue>,
}

/// A value and what stands for it in the scenario.
#[derive(Clone, Debug)]
pub struct PlannedValue {
    pub shown: AxisValue,
    pub setting: AxisSetting,
}

/// As small as it can be: there may be a million.
#[derive(Clone, Debug)]
pub enum AxisSetting {
    Tree(Box<Tree>),
    Text {
        /// None where it is the value as it is shown, in the unit of its axis.
        text: Option<Box<str>>,
        /// The option or word by which diagnostics name its origin.
        option: &'static str,
    },
}

/// The origin of values that the scenario itself gives to an axis.
pub(super) const DECLARED: &str = "axis";
/// The origin of values from the command line.
pub(super) const OVER: &str = "--over";

/// The value of a held axis whose field has parts.
const HELD: &str = "as in the scenario";

impl PlannedAxis {
    pub const fn is_computed(&self) -> bool {
        self.axis.expression.is_some()
    }

    /// Leaves the axis nothing but the value that its field has in `document`; false if it has none.
    pub fn hold(&mut self, document: &Document) -> bool {
        let Some(tree) = document.get(&self.axis.path) else { return false };
        let shown = AxisValue::of_tree(tree).map(|value| value.without_unit(self.axis.unit.as_deref()));
        let shown = shown.unwrap_or_else(|| AxisValue::Text(HELD.to_owned()));
        self.axis.expression = None;
        self.values = vec![PlannedValue { shown, setting: AxisSetting::Tree(Box::new(tree.clone())) }];
        true
    }

    /// Returns whether the axis has nothing but the value that its field has in `document`.
    pub fn is_held(&self, document: &Document) -> bool {
        let [PlannedValue { setting: AxisSetting::Tree(tree), .. }] = &self.values[..] else { return false };
        document.get(&self.axis.path) == Some(tree)
    }
}

impl PlannedValue {
    /// The tree that takes the place of this value of `axis` in `document`.
    pub fn tree(&self, axis: &Axis, document: &mut Document) -> Result<Tree, SourceFault> {
        match &self.setting {
            AxisSetting::Tree(tree) => Ok((**tree).clone()),
            AxisSetting::Text { text, option } => {
                document.meaning_along(option, &axis.name, &axis.path, &self.text(text.as_deref(), axis))
            }
        }
    }

    /// The text behind the number that the command line has, empty if it is a whole one alone; none for anything else.
    pub fn behind_number(&self, axis: &Axis) -> Option<&str> {
        let AxisSetting::Text { text: None, .. } = self.setting else { return None };
        match (&self.shown, &axis.unit) {
            (AxisValue::Whole(_), None) => Some(""),
            (AxisValue::Text(text), None) => {
                let (number, unit) = text.split_once(' ')?;
                let is_decimal = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                (is_decimal && number.parse::<f64>().is_ok()).then_some(unit)
            }
            _ => None,
        }
    }

    /// The text of this value of `axis`, if it has no parts.
    pub fn scalar(&self, axis: &Axis) -> Option<Cow<'_, str>> {
        match &self.setting {
            AxisSetting::Text { text, .. } => Some(self.text(text.as_deref(), axis)),
            AxisSetting::Tree(tree) => match &tree.node {
                TreeValue::Number(text) | TreeValue::Text(text) | TreeValue::Name(text) => Some(text.as_str().into()),
                _ => None,
            },
        }
    }

    fn text<'t>(&self, own: Option<&'t str>, axis: &Axis) -> Cow<'t, str> {
        own.map_or_else(|| self.shown.setting(axis.unit.as_deref()).into(), Cow::Borrowed)
    }
}

/// A value as it stands in the scenario; a bare number gets the unit of its axis, and a text in the
/// place of a variant means what it means on the command line: `"Ring(nodes: 64)"`.
pub(super) fn declared(axis: &Axis, value: &AxisValue, tree: &Tree, may_be_variant: bool) -> PlannedValue {
    let shown = value.clone().without_unit(axis.unit.as_deref());
    match (value.number(), &axis.unit) {
        (Some(_), Some(_)) => written(axis, value, shown, DECLARED),
        (None, _) if may_be_variant && matches!(tree.node, TreeValue::Text(_)) => written(axis, value, shown, DECLARED),
        _ => PlannedValue { shown, setting: AxisSetting::Tree(Box::new(tree.clone())) },
    }
}

/// The declared description that is called `name`: on the command line a machine of the axis goes by its name.
pub(super) fn description(declared: &[PlannedValue], name: &str) -> Option<PlannedValue> {
    let is_meant = |value: &&PlannedValue| {
        matches!(&value.setting, AxisSetting::Tree(tree) if matches!(tree.node, TreeValue::Record { .. }))
            && value.shown == AxisValue::Text(name.to_owned())
    };
    declared.iter().find(is_meant).cloned()
}

/// A value of an axis as it is shown: one of the `declared` descriptions by its name, or else as text.
pub fn typed_or_described(axis: &Axis, declared: &[PlannedValue], value: &AxisValue) -> PlannedValue {
    let text = value.to_string();
    description(declared, &text).unwrap_or_else(|| typed(axis, &text, DECLARED))
}

/// A value of an axis as text; `option` names its source.
pub(super) fn typed(axis: &Axis, value: &str, option: &'static str) -> PlannedValue {
    let value = AxisValue::parse(value);
    let shown = value.clone().without_unit(axis.unit.as_deref());
    written(axis, &value, shown, option)
}

/// A value that is set as text, and how it is shown.
fn written(axis: &Axis, value: &AxisValue, shown: AxisValue, option: &'static str) -> PlannedValue {
    let text = axis.unit.as_deref().and_then(|unit| {
        let text = value.setting(Some(unit));
        (text != shown.setting(Some(unit))).then(|| text.into_boxed_str())
    });
    PlannedValue { shown, setting: AxisSetting::Text { text, option } }
}
