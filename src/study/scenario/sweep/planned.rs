//! The values of an axis, and what stands for each in the scenario.

use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::source::{Document, SourceFault, Tree, TreeValue};

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
    pub setting: Setting,
}

#[derive(Clone, Debug)]
pub enum Setting {
    Tree(Tree),
    Text {
        text: String,
        /// The option or word by which diagnostics name its origin.
        option: &'static str,
    },
}

/// The origin of values that the scenario itself gives to an axis.
pub(super) const DECLARED: &str = "axis";
/// The origin of values from the command line.
pub(super) const OVER: &str = "--over";

impl PlannedAxis {
    pub const fn is_computed(&self) -> bool {
        self.axis.expression.is_some()
    }
}

impl Setting {
    /// The tree that takes the place of the value of `axis` in `document`.
    pub fn tree(&self, axis: &Axis, document: &mut Document) -> Result<Tree, SourceFault> {
        match self {
            Self::Tree(tree) => Ok(tree.clone()),
            Self::Text { text, option } => document.meaning_along(option, &axis.name, &axis.path, text),
        }
    }
}

/// A value as it stands in the scenario; a bare number gets the unit of its axis, and a text in the
/// place of a variant means what it means on the command line: `"Ring(nodes: 64)"`.
pub(super) fn declared(axis: &Axis, value: &AxisValue, tree: &Tree, may_be_variant: bool) -> PlannedValue {
    let shown = value.clone().without_unit(axis.unit.as_deref());
    let setting = match (value.number(), &axis.unit) {
        (Some(_), Some(_)) => text(axis, value, DECLARED),
        (None, _) if may_be_variant && matches!(tree.node, TreeValue::Text(_)) => text(axis, value, DECLARED),
        _ => Setting::Tree(tree.clone()),
    };
    PlannedValue { shown, setting }
}

/// The declared description that is called `name`: on the command line a machine of the axis goes by its name.
pub(super) fn description(declared: &[PlannedValue], name: &str) -> Option<PlannedValue> {
    let is_meant = |value: &&PlannedValue| {
        matches!(&value.setting, Setting::Tree(tree) if matches!(tree.node, TreeValue::Record { .. }))
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
    let setting = text(axis, &value, option);
    PlannedValue { shown: value.without_unit(axis.unit.as_deref()), setting }
}

fn text(axis: &Axis, value: &AxisValue, option: &'static str) -> Setting {
    Setting::Text { text: value.setting(axis.unit.as_deref()), option }
}
