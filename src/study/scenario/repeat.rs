//! The number of runs of a case, each with a different seed.

use parsim_sim::fault::Fault;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The maximum number of seeds of a case; a mean over more of them is no more precise in practice.
const MAX_SEEDS: u32 = 1_000_000;

/// The number of runs of a case: fixed, or determined by the precision of the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repeat {
    /// A fixed number of runs.
    Times(u32),
    /// Runs until the mean makespan is sufficiently precise.
    Until(Until),
}

/// The required precision of the mean makespan. It is checked after `at_least` runs, and again each time the number of
/// runs has grown by half.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The maximum half width of the 95 % confidence interval of the mean makespan, relative to the mean.
    pub relative_half_width: f64,
    /// The minimum number of runs, at least 2.
    pub at_least: u32,
    /// The maximum number of runs, after which the case ends whatever the interval.
    pub at_most: u32,
}

impl Repeat {
    /// Returns the minimum number of runs.
    #[must_use]
    pub const fn least(self) -> u32 {
        match self {
            Self::Times(times) => times,
            Self::Until(until) => until.at_least,
        }
    }

    /// Returns the maximum number of runs.
    #[must_use]
    pub const fn most(self) -> u32 {
        match self {
            Self::Times(times) => times,
            Self::Until(until) => until.at_most,
        }
    }

    /// Returns the required precision, or `None` if the number of runs is fixed.
    #[must_use]
    pub const fn until(self) -> Option<Until> {
        match self {
            Self::Times(_) => None,
            Self::Until(until) => Some(until),
        }
    }

    /// Returns the faults of the number of runs.
    pub(super) fn faults(self) -> Vec<Fault> {
        let mut faults = self.until().map_or_else(Vec::new, Until::faults);
        let most = self.most();
        if most == 0 {
            faults.push(Fault::new("repeat", "nothing would be run", "give a number from 1 on"));
        } else if most > MAX_SEEDS {
            let message = format!("a mean over {most} seeds would be no better than one over fewer");
            faults.push(Fault::new("repeat", message, format!("give a number from 1 to {MAX_SEEDS}")));
        }
        faults
    }
}

impl Default for Repeat {
    fn default() -> Self {
        Self::Times(1)
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(times) => times.fmt(f),
            Self::Until(Until { at_least, at_most, .. }) => write!(f, "{at_least} to {at_most}"),
        }
    }
}

impl Until {
    /// Returns the number of runs after which the precision is checked next, given the number of runs so far.
    #[must_use]
    pub fn next_check(self, runs: u32) -> u32 {
        if runs < self.at_least { self.at_least } else { runs.saturating_add(runs.div_ceil(2)).min(self.at_most) }
    }

    fn faults(self) -> Vec<Fault> {
        let Self { relative_half_width, at_least, at_most } = self;
        let mut faults = Vec::new();
        if !(relative_half_width > 0.0 && relative_half_width.is_finite()) {
            let help = "give a part of the mean, such as 0.01";
            faults.push(Fault::new("repeat.relative_half_width", "no interval can be this narrow", help));
        }
        if at_least < 2 {
            faults.push(Fault::new("repeat.at_least", "one run has no interval", "give a number from 2 on"));
        }
        if at_most < at_least {
            let message = format!("at most {at_most} runs are fewer than at least {at_least}");
            faults.push(Fault::new("repeat.at_most", message, format!("give a number from {at_least} on")));
        }
        faults
    }
}

impl Serialize for Repeat {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Times(times) => times.serialize(sink),
            Self::Until(until) => until.serialize(sink),
        }
    }
}

/// The schema accepts a number or a record called `Until`.
impl schemars::JsonSchema for Repeat {
    fn schema_name() -> Cow<'static, str> {
        "Repeat".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = Until::json_schema(generator);
        schema.insert("type".to_owned(), ["integer", "object"].as_slice().into());
        schema.insert("minimum".to_owned(), 0.into());
        schema.insert("maximum".to_owned(), u32::MAX.into());
        let text = "a number of runs, or Until(relative_half_width: 0.01, at_least: 10, at_most: 1000)";
        schema.insert("description".to_owned(), text.into());
        schema
    }
}

impl<'de> Deserialize<'de> for Repeat {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct NumberOrUntil;
        impl<'de> Visitor<'de> for NumberOrUntil {
            type Value = Repeat;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of runs, or Until(relative_half_width: 0.01, at_least: 10, at_most: 1000)")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Repeat, E> {
                u32::try_from(value).map(Repeat::Times).map_err(|_| E::custom("this is more than 4294967295"))
            }
            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Repeat, A::Error> {
                Until::deserialize(MapAccessDeserializer::new(fields)).map(Repeat::Until)
            }
        }
        source.deserialize_struct("Until", &["relative_half_width", "at_least", "at_most"], NumberOrUntil)
    }
}
