//! Prediction intervals and their keys.

use crate::answer::{Record, Role, Unit};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The nominal coverage of prediction intervals, in whole percents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(into = "u8", try_from = "u8")]
#[schemars(with = "u8")]
pub struct IntervalLevel(u8);

impl IntervalLevel {
    /// The least and the greatest level, in percent.
    pub const BOUNDS: (u8, u8) = (50, 99);

    /// Returns the level of `percent` percent, from 50 to 99.
    #[must_use]
    pub fn of_percent(percent: u8) -> Option<Self> {
        (Self::BOUNDS.0..=Self::BOUNDS.1).contains(&percent).then_some(Self(percent))
    }

    /// Returns the level in percent.
    #[must_use]
    pub const fn percent(self) -> u8 {
        self.0
    }

    /// Returns the level as a fraction.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// Returns which levels there are, in words.
    fn expected() -> String {
        format!("give whole percents from {} to {}", Self::BOUNDS.0, Self::BOUNDS.1)
    }

    /// Adds the interval of the quantity `key` to `record`: `makespan_low90_s` and `makespan_high90_s` for
    /// `makespan_s`. Without an interval, the values are missing.
    pub fn put(self, record: &mut Record, key: &str, interval: Option<(f64, f64)>) {
        let (unit, name) = Unit::of_key(key);
        let ending = if unit == Unit::One { "" } else { key.strip_prefix(name).unwrap_or_default() };
        let (low, high) = interval.unzip();
        for (end, value) in [("low", low), ("high", high)] {
            record.put_as(Role::Spread, format!("{name}_{end}{}{ending}", self.0), value);
        }
    }
}

impl Default for IntervalLevel {
    /// Returns 90 %.
    fn default() -> Self {
        Self(90)
    }
}

/// The interval that is expected to contain a new measurement of a quantity.
#[derive(Clone, Copy, Debug)]
pub struct PredictionInterval {
    /// The nominal coverage.
    pub level: IntervalLevel,
    /// The ends, in the unit of the quantity; `None` if too few errors are known.
    pub ends: Option<(f64, f64)>,
}

impl FromStr for IntervalLevel {
    type Err = String;

    /// Reads a whole number of percent.
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u8>().map_or_else(|_| Err(Self::expected()), Self::try_from)
    }
}

impl TryFrom<u8> for IntervalLevel {
    type Error = String;

    fn try_from(percent: u8) -> Result<Self, String> {
        Self::of_percent(percent).ok_or_else(Self::expected)
    }
}

impl From<IntervalLevel> for u8 {
    fn from(level: IntervalLevel) -> Self {
        level.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_in_their_unit() {
        let mut record = Record::default();
        let level = IntervalLevel::of_percent(90).unwrap();
        level.put(&mut record, "makespan_s", Some((1.0, 2.0)));
        level.put(&mut record, "speedup", None);
        let keys: Vec<_> = record.quantities().iter().map(|one| &*one.key).collect();
        assert_eq!(keys, ["makespan_low90_s", "makespan_high90_s", "speedup_low90", "speedup_high90"]);
        assert_eq!([49, 100].map(IntervalLevel::of_percent), [None; 2]);
    }
}
