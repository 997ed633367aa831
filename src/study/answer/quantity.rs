//! A quantity: its key, its unit, its value and its role in an answer.

use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The key of a quantity. Nearly all keys are literals, which are not copied for each of a million rows.
pub type Key = Cow<'static, str>;

/// One quantity of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The key in the output. The key of a quantity with a dimension ends in its unit.
    pub key: Key,
    /// The unit.
    pub unit: Unit,
    /// The value.
    pub value: QuantityValue,
    /// The role in the answer.
    pub role: Role,
}

/// The role of a quantity in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A chosen value, that of an axis.
    Axis,
    /// A simulated quantity that is compared with others; the mean of repeated runs.
    Simulated,
    /// Any other statistic of repeated runs.
    Spread,
    /// A value of the first of repeated runs, beside means of all.
    FirstSeed,
    /// A prediction of the simulated quantity.
    Predicted,
    /// A measurement of the simulated quantity.
    Measured,
    /// The relative error of the simulated quantity against its measurement.
    Residual,
    /// Any other relative error.
    Error,
    /// The reason why the run failed.
    Failure,
    /// Any other quantity.
    #[default]
    Detail,
}

/// The unit of a quantity, which is the suffix of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `_s`
    Seconds,
    /// `_ns`
    Nanoseconds,
    /// `_ps`
    Picoseconds,
    /// `_bytes`
    Bytes,
    /// `_per_s`, a rate of what the key names
    PerSecond,
    /// `_cycles` of a processor
    Cycles,
    /// A count, a ratio or a name, without suffix.
    One,
}

impl Unit {
    /// Returns the unit of a key, and the key without the suffix of its unit.
    #[must_use]
    pub fn of_key(key: &str) -> (Self, &str) {
        // The key is compared by bytes, because a million rows have thirty keys each.
        let (unit, ending) = match key.as_bytes() {
            // An error against a time, or of one, is a ratio.
            [b'e', b'r', b'r', b'o', b'r', b'_', ..] => (Self::One, ""),
            [.., b'_', b'p', b'e', b'r', b'_', b's'] => (Self::PerSecond, "_per_s"),
            [.., b'_', b's'] => (Self::Seconds, "_s"),
            [.., b'_', b'n', b's'] => (Self::Nanoseconds, "_ns"),
            [.., b'_', b'p', b's'] => (Self::Picoseconds, "_ps"),
            [.., b'_', b'b', b'y', b't', b'e', b's'] => (Self::Bytes, "_bytes"),
            [.., b'_', b'c', b'y', b'c', b'l', b'e', b's'] => (Self::Cycles, "_cycles"),
            _ => (Self::One, ""),
        };
        (unit, &key[..key.len() - ending.len()])
    }

    /// Returns a key without the suffix of this unit, if it has that suffix.
    #[must_use]
    pub fn strip(self, key: &str) -> &str {
        let (unit, name) = Self::of_key(key);
        if unit == self { name } else { key }
    }
}

impl Quantity {
    /// Creates a quantity whose unit follows from its key.
    #[must_use]
    pub fn new(key: impl Into<Key>, value: impl Into<QuantityValue>) -> Self {
        let key = key.into();
        let (unit, _) = Unit::of_key(&key);
        Self { key, unit, value: value.into(), role: Role::default() }
    }

    /// Sets the role.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Returns the value in seconds if the quantity is a time.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        self.value.number().filter(|_| self.unit == Unit::Seconds)
    }

    /// Returns the key of a time without its unit, or the key of anything else.
    #[must_use]
    pub fn name(&self) -> &str {
        Unit::Seconds.strip(&self.key)
    }
}

/// The value of a quantity.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum QuantityValue {
    /// There is no value.
    #[default]
    Missing,
    /// A Boolean value.
    Flag(bool),
    /// An integer.
    Whole(i128),
    /// A finite number.
    Real(f64),
    /// A name or a sentence.
    Text(String),
    /// A list, such as one value per rank.
    List(Vec<Self>),
    /// Named values.
    Group(Vec<(String, Self)>),
}

impl QuantityValue {
    /// Returns the value as a number, if it is one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a count beyond 2^53 is rounded")]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Real(number) => Some(*number),
            Self::Whole(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// Returns `true` if there is no value.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns `true` for a number.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(self, Self::Whole(_) | Self::Real(_))
    }
}

/// Writes a text as it is, a missing value as an empty text, and anything else as JSON.
impl fmt::Display for QuantityValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Text(text) => f.write_str(text),
            other => f.write_str(&serde_json::to_string(other).map_err(|_| fmt::Error)?),
        }
    }
}

impl Serialize for QuantityValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_unit(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            // Integers of 64 bits are serialised faster.
            Self::Whole(number) => match i64::try_from(*number) {
                Ok(number) => serializer.serialize_i64(number),
                Err(_) => serializer.serialize_i128(*number),
            },
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Group(values) => serializer.collect_map(values.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl From<f64> for QuantityValue {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Real(number) } else { Self::Missing }
    }
}

impl From<&str> for QuantityValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for QuantityValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for QuantityValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<usize> for QuantityValue {
    fn from(number: usize) -> Self {
        Self::Whole(i128::try_from(number).unwrap_or(i128::MAX))
    }
}

impl From<i128> for QuantityValue {
    fn from(number: i128) -> Self {
        Self::Whole(number)
    }
}

macro_rules! from_whole {
    ($($whole:ty),*) => { $(impl From<$whole> for QuantityValue {
        fn from(number: $whole) -> Self {
            Self::Whole(number.into())
        }
    })* };
}

from_whole!(u8, u16, u32, u64, i32, i64);

impl<T: Into<Self>> From<Option<T>> for QuantityValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for QuantityValue {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_its_unit_and_a_time_stands_without_it() {
        for (key, unit, name) in [
            ("makespan_s", Unit::Seconds, "makespan"),
            ("per_byte_s", Unit::Seconds, "per_byte"),
            ("flop_per_s", Unit::PerSecond, "flop_per_s"),
            ("time_ps", Unit::Picoseconds, "time_ps"),
            ("bytes", Unit::One, "bytes"),
            ("speedup", Unit::One, "speedup"),
            ("error_against_predicted_message_s", Unit::One, "error_against_predicted_message_s"),
        ] {
            let quantity = Quantity::new(key, 1.5);
            assert_eq!((quantity.unit, quantity.name()), (unit, name), "{key}");
            assert_eq!(quantity.seconds().is_some(), unit == Unit::Seconds);
        }
    }

    #[test]
    fn values_are_written_as_json_has_them() {
        let json = |value: QuantityValue| serde_json::to_string(&value).unwrap();
        assert_eq!(json(f64::NAN.into()), "null");
        assert_eq!([json(1.0.into()), json(u64::MAX.into()), json((-3).into())], ["1.0", "18446744073709551615", "-3"]);
        assert_eq!(json(vec![0.5, 1.0].into()), "[0.5,1.0]");
        assert_eq!(json(QuantityValue::Group(vec![("a".to_owned(), "b\"".into())])), r#"{"a":"b\""}"#);
        assert_eq!(QuantityValue::from("b\"").to_string(), "b\"");
    }
}
