//! The values of axes, and the settings of the scenario that they stand for.

use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::source::{Document, Place, SourceFault, Tree, TreeValue};
use std::borrow::Cow;

/// An axis with its values; there are none if they are computed.
#[derive(Clone, Debug)]
pub struct PlannedAxis {
    pub axis: Axis,
    pub values: Vec<PlannedValue>,
    /// The place of the axis in the scenario, if the scenario declares it.
    pub place: Option<Place>,
}

/// A value of an axis, with its setting in the scenario.
#[derive(Clone, Debug)]
pub struct PlannedValue {
    pub shown: AxisValue,
    pub setting: AxisSetting,
}

/// The setting that a value stands for. The type is compact because an axis may have a million values.
#[derive(Clone, Debug)]
pub enum AxisSetting {
    Tree(Box<Tree>),
    Text {
        /// The text to set, or `None` if it is the displayed value in the unit of its axis.
        text: Option<Box<str>>,
        /// The origin of the value in diagnostics.
        origin: ValueOrigin,
    },
}

/// The origin of a value of an axis.
#[derive(Clone, Debug)]
pub enum ValueOrigin {
    /// The command line.
    Over,
    /// The scenario, at a place if it is known.
    Declared(Option<Box<Place>>),
}

impl ValueOrigin {
    /// Returns the origin of a value that the scenario gives at a place.
    pub fn declared_at(place: Option<Place>) -> Self {
        Self::Declared(place.map(Box::new))
    }

    /// Returns the option or word that denotes the origin, and the place in a file.
    fn words(&self) -> (&'static str, Option<Place>) {
        match self {
            Self::Over => (OVER, None),
            Self::Declared(place) => (DECLARED, place.as_deref().copied()),
        }
    }
}

/// The word for values that the scenario gives to an axis.
const DECLARED: &str = "axis";
/// The option for values from the command line.
pub(super) const OVER: &str = "--over";

/// The displayed value of a held axis whose field is not a scalar.
const HELD: &str = "as in the scenario";

impl PlannedAxis {
    /// Creates a fault at the place of the axis, if the scenario declares it.
    pub fn fault(&self, message: &str) -> SourceFault {
        SourceFault { place: self.place, ..SourceFault::new(message) }
    }

    pub const fn is_computed(&self) -> bool {
        self.axis.expression.is_some()
    }

    /// Returns `true` if rows of different values may have different keys: a program, a machine or their variants report
    /// different values, and the number of seeds decides about statistics. A number changes no keys otherwise.
    pub fn may_change_keys(&self) -> bool {
        let root = self.axis.path.split('.').next().unwrap_or_default();
        let is_description = |value: &PlannedValue| {
            let is_quantity = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
            matches!(&value.shown, AxisValue::Text(text) if !is_quantity(text))
        };
        self.values.len() > 1
            && match root {
                "repeat" => true,
                "program" | "machine" | "background" => self.values.iter().any(is_description),
                _ => false,
            }
    }

    /// Returns the axis with its values, which may have been given on the command line.
    pub fn resolved(&self) -> Axis {
        let is_replaced =
            |value: &PlannedValue| matches!(&value.setting, AxisSetting::Text { origin: ValueOrigin::Over, .. });
        let mut axis = self.axis.clone();
        if self.values.iter().any(is_replaced) {
            axis.values = self.values.iter().map(|value| value.shown.clone()).collect();
        }
        axis
    }

    /// Reduces the axis to the value that its field has in `document`. Returns `false` if the field has none.
    pub fn hold(&mut self, document: &Document) -> bool {
        let Some(tree) = document.get(&self.axis.path) else { return false };
        let shown = AxisValue::of_tree(tree).map(|value| value.without_unit(self.axis.unit.as_deref()));
        let shown = shown.unwrap_or_else(|| AxisValue::Text(HELD.to_owned()));
        self.axis.expression = None;
        self.values = vec![PlannedValue { shown, setting: AxisSetting::Tree(Box::new(tree.clone())) }];
        true
    }

    /// Returns `true` if the only value of the axis is the one that its field has in `document`.
    pub fn is_held(&self, document: &Document) -> bool {
        let [PlannedValue { setting: AxisSetting::Tree(tree), .. }] = &self.values[..] else { return false };
        document.get(&self.axis.path) == Some(tree)
    }
}

impl PlannedValue {
    /// Returns the place of the value in a file, if the scenario gives it.
    pub fn place(&self) -> Option<Place> {
        match &self.setting {
            AxisSetting::Tree(tree) => Some(tree.place),
            AxisSetting::Text { origin, .. } => origin.words().1,
        }
    }

    /// Returns the tree that this value of `axis` puts into `document`.
    pub fn tree(&self, axis: &Axis, document: &mut Document) -> Result<Tree, SourceFault> {
        match &self.setting {
            AxisSetting::Tree(tree) => Ok((**tree).clone()),
            AxisSetting::Text { text, origin } => {
                document.meaning_along(origin.words(), &axis.name, &axis.path, &self.text(text.as_deref(), axis))
            }
        }
    }

    /// Returns the unit after a plain number from the command line, empty for an integer without unit; `None` for other
    /// values.
    pub fn unit_after_number(&self, axis: &Axis) -> Option<&str> {
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

    /// Returns the text of this value of `axis`, if it is a scalar.
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

/// Returns a value declared in the scenario. A bare number gets the unit of its axis. A text in the place of a variant,
/// such as `"Ring(nodes: 64)"`, is interpreted as on the command line.
pub(super) fn declared(axis: &Axis, value: &AxisValue, tree: &Tree, may_be_variant: bool) -> PlannedValue {
    let shown = value.clone().without_unit(axis.unit.as_deref());
    let origin = ValueOrigin::declared_at(Some(tree.place));
    match (value.number(), &axis.unit) {
        (Some(_), Some(_)) => written(axis, value, shown, origin),
        (None, _) if may_be_variant && matches!(tree.node, TreeValue::Text(_)) => written(axis, value, shown, origin),
        _ => PlannedValue { shown, setting: AxisSetting::Tree(Box::new(tree.clone())) },
    }
}

/// Returns the declared description called `name`: the command line refers to the machines of an axis by name.
pub(super) fn description(declared: &[PlannedValue], name: &str) -> Option<PlannedValue> {
    let is_meant = |value: &&PlannedValue| {
        matches!(&value.setting, AxisSetting::Tree(tree) if matches!(tree.node, TreeValue::Record { .. }))
            && value.shown == AxisValue::Text(name.to_owned())
    };
    declared.iter().find(is_meant).cloned()
}

/// Returns the value that `value` displays: one of the `declared` descriptions by name, or else a text.
pub fn typed_or_described(axis: &Axis, declared: &[PlannedValue], value: &AxisValue) -> PlannedValue {
    let text = value.to_string();
    description(declared, &text).unwrap_or_else(|| typed(axis, &text, ValueOrigin::Declared(None)))
}

/// Returns a value of an axis given as text.
pub(super) fn typed(axis: &Axis, value: &str, origin: ValueOrigin) -> PlannedValue {
    let value = AxisValue::parse(value);
    let shown = value.clone().without_unit(axis.unit.as_deref());
    written(axis, &value, shown, origin)
}

/// Returns a value that is set as text, with its displayed form.
fn written(axis: &Axis, value: &AxisValue, shown: AxisValue, origin: ValueOrigin) -> PlannedValue {
    let text = axis.unit.as_deref().and_then(|unit| {
        let text = value.setting(Some(unit));
        (text != shown.setting(Some(unit))).then(|| text.into_boxed_str())
    });
    PlannedValue { shown, setting: AxisSetting::Text { text, origin } }
}
