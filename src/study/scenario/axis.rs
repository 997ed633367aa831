//! Axes: the fields that a sweep varies.

use super::parameter::in_unit;
use super::source::{Tree, TreeValue};
use crate::programs::expression::Value;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The field that identifies a whole description, such as a machine, in the output.
const NAME: &str = "name";

/// A field that a sweep varies, with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The short name of the axis: its key in the output and in `--over`.
    pub name: String,
    /// The path of the field that the axis sets, such as `program.n`.
    pub path: String,
    /// The unit of the values, if they have one. Bare numbers are in this unit.
    #[serde(default)]
    pub unit: Option<String>,
    /// The values of the axis. Empty if `expression` computes them.
    #[serde(default)]
    pub values: Vec<AxisValue>,
    /// An expression over axes declared before this one, such as `"round(128 * sqrt(p))"`, instead of `values`.
    #[serde(default)]
    pub expression: Option<String>,
}

impl Axis {
    /// Creates an axis over the field at `path`, without values.
    #[must_use]
    pub fn over(name: &str, path: String) -> Self {
        Self { name: name.to_owned(), path, unit: None, values: Vec::new(), expression: None }
    }

    /// Returns `true` if the name can be a key of the output: it is an identifier, with `-` and `.` allowed inside, and
    /// needs no quoting in a shell or a table.
    #[must_use]
    pub fn has_good_name(&self) -> bool {
        let mut letters = self.name.chars();
        letters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
            && letters.all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
    }
}

/// A value of an axis: a number, or a text or a name as written in the scenario. A whole description, such as
/// `File("machines/…")`, is represented by its name.
#[derive(Clone, Debug)]
pub enum AxisValue {
    /// A whole number of 64 bits, with or without sign: a seed may need all of them.
    Whole(i128),
    /// A number.
    Real(f64),
    /// A text, such as a quantity with its unit, or the name of a variant.
    Text(String),
}

impl AxisValue {
    /// Parses a value from the command line or from the result of an expression.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if let Some(whole) = whole(text) {
            return Self::Whole(whole);
        }
        let digits = text.replace('_', "");
        if let Some(whole) = whole(&digits) {
            return Self::Whole(whole);
        }
        digits
            .parse()
            .ok()
            .filter(|real: &f64| real.is_finite())
            .map_or_else(|| Self::Text(text.to_owned()), Self::Real)
    }

    /// Returns the value of a scalar of the scenario, or `None` if `tree` is not a scalar.
    #[must_use]
    pub fn of_tree(tree: &Tree) -> Option<Self> {
        match &tree.node {
            TreeValue::Number(text) => Some(Self::parse(text)),
            TreeValue::Text(text) | TreeValue::Name(text) => Some(Self::Text(text.clone())),
            TreeValue::Bool(value) => Some(Self::Text(value.to_string())),
            TreeValue::Record { fields, .. } if fields.iter().any(|field| field.name.text == NAME) => {
                let field = fields.iter().find(|field| field.name.text == NAME);
                field.and_then(|field| Self::of_tree(&field.value))
            }
            TreeValue::Record { name: Some(name), .. } | TreeValue::Tuple { name: Some(name), .. } => {
                Some(Self::Text(name.text.clone()))
            }
            TreeValue::Option(Some(inner)) => Self::of_tree(inner),
            _ => None,
        }
    }

    /// Returns the number of a quantity in `unit`, converted if the quantity has another unit of the same kind; returns
    /// every other value unchanged.
    #[must_use]
    pub fn without_unit(self, unit: Option<&str>) -> Self {
        let (Self::Text(text), Some(unit)) = (&self, unit) else { return self };
        match text.strip_suffix(unit).map(|number| Self::parse(number.trim())) {
            Some(number @ (Self::Whole(_) | Self::Real(_))) => number,
            _ => in_unit(text, unit).map_or(self, |number| Self::parse(&number.to_string())),
        }
    }

    /// Returns the value as a number, or `None` if it is a text.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "expressions compute with f64")]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(whole) => Some(*whole as f64),
            Self::Real(real) => Some(*real),
            Self::Text(_) => None,
        }
    }

    /// Returns the value as a text, or `None` if it is a number.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Whole(_) | Self::Real(_) => None,
        }
    }

    /// Returns the value as an operand of an expression, or `None` if it is a text.
    #[must_use]
    pub fn as_value(&self) -> Option<Value> {
        let whole = |whole: i128| i64::try_from(whole).ok().map(Value::Whole);
        match self {
            Self::Whole(number) => whole(*number).or_else(|| self.number().map(Value::Real)),
            Self::Real(real) => Some(Value::Real(*real)),
            Self::Text(_) => None,
        }
    }

    /// Returns the text that sets a field to this value, with `unit` appended to a number.
    #[must_use]
    pub fn setting(&self, unit: Option<&str>) -> String {
        match (self, unit) {
            (Self::Text(text), _) => text.clone(),
            (number, Some(unit)) => format!("{number} {unit}"),
            (number, None) => number.to_string(),
        }
    }
}

/// Returns the whole number that a text is, if it has 64 bits.
fn whole(text: &str) -> Option<i128> {
    text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<u64>().map(i128::from)).ok()
}

/// Numbers are equal if their values are, whether written as integers or not: some programs write `4.0` for a count.
impl PartialEq for AxisValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            _ => self.number().zip(other.number()).is_some_and(|(one, other)| one.total_cmp(&other).is_eq()),
        }
    }
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(f),
            Self::Real(real) => real.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Serialize for AxisValue {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(whole) => match (i64::try_from(*whole), u64::try_from(*whole)) {
                (Ok(whole), _) => sink.serialize_i64(whole),
                (_, Ok(whole)) => sink.serialize_u64(whole),
                _ => sink.serialize_i128(*whole),
            },
            Self::Real(real) => sink.serialize_f64(*real),
            Self::Text(text) => sink.serialize_str(text),
        }
    }
}

impl schemars::JsonSchema for AxisValue {
    fn schema_name() -> Cow<'static, str> {
        "AxisValue".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["number", "string", "boolean", "object"],
            "properties": { NAME: { "type": "string" } },
            "required": [NAME],
            "description": "a number, a text, a name, or a description that says its `name`, such as `File(\"machines/…\")`; other values with parentheses as text, such as \"Ring(nodes: 8)\"",
        })
    }
}

impl<'de> Deserialize<'de> for AxisValue {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl<'de> Visitor<'de> for Scalar {
            type Value = AxisValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, a name, or a description that says its `name`; other values with parentheses as text")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<AxisValue, E> {
                Ok(AxisValue::Whole(value.into()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<AxisValue, E> {
                Ok(AxisValue::Whole(value.into()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<AxisValue, E> {
                Ok(AxisValue::Real(value))
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<AxisValue, E> {
                Ok(AxisValue::Text(value.to_string()))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<AxisValue, E> {
                Ok(AxisValue::Text(value.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AxisValue, A::Error> {
                let mut name = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key == NAME {
                        name = Some(AxisValue::Text(map.next_value()?));
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                name.ok_or_else(|| A::Error::missing_field(NAME))
            }
        }
        source.deserialize_any(Scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_its_unit_is_a_number() {
        let text = |text: &str| AxisValue::Text(text.to_owned());
        assert_eq!(text("240 B").without_unit(Some("B")), AxisValue::Whole(240));
        assert_eq!(text("0.5 us").without_unit(Some("us")), AxisValue::Real(0.5));
        assert_eq!(text("240 kB").without_unit(Some("B")), AxisValue::Whole(240_000));
        assert_eq!(text("2 us").without_unit(Some("B")), text("2 us"));
        assert_eq!(AxisValue::parse("240").setting(Some("B")), "240 B");
        assert_eq!(AxisValue::parse("row-major"), text("row-major"));
        assert_eq!(AxisValue::parse("18446744073709551615").to_string(), "18446744073709551615");
    }
}
