//! A record: the quantities of one point, in the order of output, and their origin.

use super::quantity::{Key, Quantity, QuantityValue, Role};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// The version of the keys and their meaning.
const SCHEMA: u32 = 1;
/// The number of digits of the id in `meta.scenario`, which has the name and the length of earlier ids.
const SCENARIO_DIGITS: usize = 16;
/// The key of the metadata.
const META: &str = "meta";
/// The key of the changes by `--set` within the metadata.
const SET: &str = "set";
/// The key of the units of axes within the metadata.
const UNITS: &str = "units";
/// The key of the reason why a case failed.
const ERROR: &str = "error";

/// The quantities of one point.
///
/// The key of a quantity with a dimension ends in its unit (`makespan_s`). Counts, ratios and names have no suffix. A
/// value that does not exist is [`QuantityValue::Missing`] (`null`), never absent and never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    quantities: Vec<Quantity>,
    /// The union of the marks of all keys. If the mark of a key is not included, the key is not in the record and no
    /// comparison is needed.
    marks: u128,
    /// The number of quantities that a human-readable table shows, or 0 for all.
    summary: usize,
    /// The reason why the case failed, if the record has such a column.
    error: Option<Quantity>,
    origin: Origin,
}

/// The origin of a record, if it is part of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Origin {
    #[default]
    Omitted,
    NoScenario,
    Scenario(Metadata),
}

/// The origin of a record, written under the key `meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The id of the case, written as 32 hexadecimal digits.
    pub id: u128,
    /// The version of the results.
    pub results: u32,
    /// The seed of the random streams.
    pub seed: u64,
    /// The name of the random number generator.
    pub generator: &'static str,
    /// The path and the text of every `--set`.
    pub set: Arc<[(String, String)]>,
    /// The units of the axes, by key, whose numbers are neither bytes nor seconds. They are written if there are any.
    pub units: Arc<[(String, String)]>,
}

/// Metadata values by path, without those of `--set` and the units.
type OriginEntries = [(&'static str, QuantityValue); 7];

impl Origin {
    const fn metadata(&self) -> Option<&Metadata> {
        match self {
            Self::Omitted | Self::NoScenario => None,
            Self::Scenario(metadata) => Some(metadata),
        }
    }

    /// Returns the metadata, if the origin is part of the output. A record that does not come from a scenario has
    /// neither id nor seed.
    fn entries(&self) -> Option<OriginEntries> {
        if *self == Self::Omitted {
            return None;
        }
        let metadata = self.metadata();
        let id = metadata.map(|metadata| format!("{:032x}", metadata.id));
        let begin = QuantityValue::from(id.as_deref().and_then(|id| id.get(..SCENARIO_DIGITS)));
        Some([
            ("meta.id", id.into()),
            ("meta.results", metadata.map(|metadata| metadata.results).into()),
            ("meta.schema", SCHEMA.into()),
            ("meta.parsim", env!("CARGO_PKG_VERSION").into()),
            ("meta.scenario", begin),
            ("meta.seed", metadata.map(|metadata| metadata.seed).into()),
            ("meta.generator", metadata.map(|metadata| metadata.generator).into()),
        ])
    }

    /// Returns the changes by `--set`, and the units of axes if there are any, as values.
    fn groups(&self) -> Vec<(&'static str, QuantityValue)> {
        let metadata = self.metadata();
        let texts = |texts: &[(String, String)]| {
            QuantityValue::Group(
                texts.iter().map(|(name, text)| (name.clone(), QuantityValue::from(text.as_str()))).collect(),
            )
        };
        let set = metadata.map_or(&[][..], |metadata| &metadata.set);
        let units = metadata.map(|metadata| &*metadata.units).filter(|units| !units.is_empty());
        [(SET, texts(set))].into_iter().chain(units.map(|units| (UNITS, texts(units)))).collect()
    }
}

impl Record {
    /// Adds a quantity whose unit follows from its key.
    pub fn put(&mut self, key: impl Into<Key>, value: impl Into<QuantityValue>) {
        self.add(Quantity::new(key, value));
    }

    /// Adds a quantity with a role.
    pub fn put_as(&mut self, role: Role, key: impl Into<Key>, value: impl Into<QuantityValue>) {
        self.add(Quantity::new(key, value).with_role(role));
    }

    /// Adds a quantity, which replaces one with the same key.
    pub fn add(&mut self, quantity: Quantity) {
        let mark = mark(&quantity.key);
        let has_mark = self.marks & mark != 0;
        self.marks |= mark;
        match self.quantities.iter_mut().filter(|_| has_mark).find(|known| known.key == quantity.key) {
            Some(known) => *known = quantity,
            None => self.quantities.push(quantity),
        }
    }

    /// Adds all quantities of another record.
    pub fn append(&mut self, other: Self) {
        other.quantities.into_iter().for_each(|quantity| self.add(quantity));
    }

    /// Adds all quantities of another record, none of whose keys is known.
    ///
    /// # Errors
    /// Returns the first key that both records have.
    pub fn joined(mut self, other: Self) -> Result<Self, Key> {
        let is_known = |quantity: &&Quantity| self.quantity(&quantity.key).is_some();
        if let Some(lost) = other.quantities.iter().chain(&other.error).find(is_known) {
            return Err(lost.key.clone());
        }
        if other.summary > 0 {
            self.summary = self.quantities.len() + other.summary;
        }
        self.error = other.error.clone().or(self.error);
        self.append(other);
        Ok(self)
    }

    /// Sets the metadata, which are written after everything else.
    pub fn put_metadata(&mut self, metadata: impl Into<Option<Metadata>>) {
        self.origin = metadata.into().map_or(Origin::NoScenario, Origin::Scenario);
    }

    /// Sets the reason why the case failed, on one line, or `None` for success. It is written before the metadata.
    pub fn put_error(&mut self, error: Option<&str>) {
        let line = error.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        self.error = Some(Quantity::new(ERROR, line).with_role(Role::Failure));
    }

    /// Returns the unit of an axis whose numbers are neither bytes nor seconds.
    #[must_use]
    pub fn unit_of_axis(&self, key: &str) -> Option<&str> {
        let (_, unit) = self.origin.metadata()?.units.iter().find(|(name, _)| name == key)?;
        Some(unit)
    }

    /// Returns the reason why the case failed, if it did.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.error.as_ref()?.value {
            QuantityValue::Text(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&QuantityValue> {
        self.quantity(key).map(|quantity| &quantity.value)
    }

    /// Returns the value of a key, if it is a number.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(QuantityValue::number)
    }

    /// Returns the quantity with a key.
    #[must_use]
    pub fn quantity(&self, key: &str) -> Option<&Quantity> {
        self.quantities.iter().chain(&self.error).find(|quantity| quantity.key == key)
    }

    /// Returns the quantities in their order.
    #[must_use]
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// Returns the record with other values, which `value` returns for the quantities.
    #[must_use]
    pub fn with_values(mut self, value: impl Fn(&Quantity) -> QuantityValue) -> Self {
        self.quantities.iter_mut().for_each(|quantity| quantity.value = value(quantity));
        self
    }

    /// Ends the part of the quantities that a human-readable table shows.
    pub const fn end_summary(&mut self) {
        self.summary = self.quantities.len();
    }

    /// Returns the quantities that a human-readable table shows.
    pub fn summary(&self) -> impl Iterator<Item = &Quantity> {
        let (shown, error) = match self.summary {
            0 => (self.quantities.len(), self.error.as_ref()),
            shown => (shown, None),
        };
        let is_flat = |quantity: &&Quantity| !matches!(quantity.value, QuantityValue::Group(_));
        self.quantities.iter().take(shown).filter(is_flat).chain(error)
    }

    /// Returns the record as JSON on one line.
    ///
    /// # Panics
    /// Never: every value can be serialised.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("values can be written")
    }

    /// Returns keys and values as CSV columns. Metadata becomes columns such as `meta.seed`.
    #[must_use]
    pub fn flat(&self) -> Vec<(String, String)> {
        let mut cells = Vec::new();
        self.each_cell(&mut |key, value| cells.push((key.to_owned(), value.to_string())));
        cells
    }

    /// Calls `see` with keys and values of the columns of [`flat`](Self::flat), in order.
    pub fn each_cell(&self, see: &mut dyn FnMut(&str, &QuantityValue)) {
        for one in self.quantities.iter().chain(&self.error) {
            match &one.value {
                QuantityValue::Group(inner) => each_below(&mut one.key.clone().into_owned(), inner, see),
                value => see(&one.key, value),
            }
        }
        let Some(entries) = self.origin.entries() else { return };
        for (path, value) in &entries {
            see(path, value);
        }
        for (name, value) in &self.origin.groups() {
            each_at(&mut META.to_owned(), name, value, see);
        }
    }

    /// Creates a record with room for this number of quantities.
    #[must_use]
    pub fn with_capacity(quantities: usize) -> Self {
        Self { quantities: Vec::with_capacity(quantities), ..Self::default() }
    }

    /// Adds all keys of `other`, in their order, with missing values where the record has none.
    #[must_use]
    pub fn completed(mut self, other: &Self) -> Self {
        let own = |known: &Quantity| {
            let index = self.quantities.iter().position(|one| one.key == known.key);
            index.map_or_else(
                || Quantity { value: QuantityValue::Missing, ..known.clone() },
                |index| self.quantities.remove(index),
            )
        };
        let mut quantities: Vec<_> = other.quantities.iter().map(own).collect();
        quantities.append(&mut self.quantities);
        Self { quantities, marks: self.marks | other.marks, summary: other.summary, ..self }
    }
}

/// Returns a bit that few keys of a record share.
fn mark(key: &str) -> u128 {
    let key = key.as_bytes();
    let byte = |index: usize| key.get(index).map_or(0, |byte| usize::from(*byte));
    1 << ((key.len() + 3 * byte(0) + 7 * byte(key.len() / 2) + 31 * byte(4)) % 128)
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for one in self.quantities.iter().chain(&self.error) {
            map.serialize_entry(&*one.key, &one.value)?;
        }
        if self.origin != Origin::Omitted {
            map.serialize_entry(META, &self.origin)?;
        }
        map.end()
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (path, value) in self.entries().into_iter().flatten() {
            map.serialize_entry(&path[META.len() + 1..], &value)?;
        }
        for (name, value) in self.groups() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

fn each_below(path: &mut String, inner: &[(String, QuantityValue)], see: &mut dyn FnMut(&str, &QuantityValue)) {
    for (name, value) in inner {
        each_at(path, name, value, see);
    }
}

fn each_at(path: &mut String, name: &str, value: &QuantityValue, see: &mut dyn FnMut(&str, &QuantityValue)) {
    let length = path.len();
    path.push('.');
    path.push_str(name);
    match value {
        QuantityValue::Group(inner) => each_below(path, inner, see),
        _ => see(path, value),
    }
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(keys: &[&'static str]) -> Record {
        let mut record = Record::default();
        for key in keys {
            record.put(*key, 1);
        }
        record
    }

    #[test]
    fn joined_records_have_no_key_twice() {
        let keys = |record: &Record| record.quantities().iter().map(|one| one.key.to_string()).collect::<Vec<_>>();
        let mut other = record(&["b", "c"]);
        other.end_summary();
        other.put("d", 1);
        let joined = record(&["a"]).joined(other.clone()).unwrap();
        assert_eq!((keys(&joined).concat(), joined.summary().count()), ("abcd".to_owned(), 3));
        assert_eq!(record(&["a", "d"]).joined(other.clone()), Err("d".into()));
        other.put_error(None);
        assert_eq!(record(&["error"]).joined(other), Err("error".into()));
    }
}
