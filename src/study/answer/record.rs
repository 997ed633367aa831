//! A record: the quantities of one point, in the order of output, and their origin.

use super::quantity::{Quantity, Role, Value};
use serde::{Serialize, Serializer};

/// The version of the keys and their meaning.
const SCHEMA: u32 = 1;
/// The digits of the id that `meta.scenario` has, the name and the length that ids once had.
const SCENARIO_DIGITS: usize = 16;
/// The key of the metadata.
const META: &str = "meta";
/// The key of what a failed case failed of.
const ERROR: &str = "error";

/// The quantities of one point.
///
/// Keys with a dimension end in its unit (`makespan_s`); counts, ratios and names have no suffix.
/// A value that does not exist is [`Value::Missing`] (`null`), never absent and never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    quantities: Vec<Quantity>,
    /// Number of quantities that a human-readable table shows, or 0 for all.
    summary: usize,
    /// The reason why the case failed, if that is a column.
    error: Option<Quantity>,
    /// The origin, as the value of its key.
    origin: Option<Value>,
}

/// Origin of a record; stands under the one key `meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The id of the case.
    pub id: String,
    /// The version of the results.
    pub results: u32,
    /// The seed of its random streams.
    pub seed: u64,
    /// The generator of its random numbers.
    pub generator: &'static str,
    /// The path and the text of every `--set`.
    pub set: Vec<(String, String)>,
}

impl Metadata {
    /// The metadata as a value; what comes from no scenario has neither its hash nor a seed.
    fn value(metadata: Option<&Self>) -> Value {
        let settings = metadata.map_or(&[][..], |metadata| &metadata.set);
        let settings = settings.iter().map(|(path, text)| (path.clone(), Value::from(text.as_str())));
        let entries = [
            ("id", metadata.map(|metadata| metadata.id.as_str()).into()),
            ("results", metadata.map(|metadata| metadata.results).into()),
            ("schema", SCHEMA.into()),
            ("parsim", env!("CARGO_PKG_VERSION").into()),
            ("scenario", metadata.and_then(|metadata| metadata.id.get(..SCENARIO_DIGITS)).into()),
            ("seed", metadata.map(|metadata| metadata.seed).into()),
            ("generator", metadata.map(|metadata| metadata.generator).into()),
            ("set", Value::Group(settings.collect())),
        ];
        Value::Group(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

impl Record {
    /// Adds a quantity whose key says its unit.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.add(Quantity::new(key, value));
    }

    /// Adds a quantity in a role.
    pub fn put_as(&mut self, role: Role, key: &str, value: impl Into<Value>) {
        self.add(Quantity::new(key, value).with_role(role));
    }

    /// Adds a quantity, in the place of one with its key if there is one.
    pub fn add(&mut self, quantity: Quantity) {
        match self.quantities.iter_mut().find(|known| known.key == quantity.key) {
            Some(known) => *known = quantity,
            None => self.quantities.push(quantity),
        }
    }

    /// Adds all quantities of another record.
    pub fn append(&mut self, other: Self) {
        other.quantities.into_iter().for_each(|quantity| self.add(quantity));
    }

    /// Adds the metadata, which stand behind everything else.
    pub fn put_metadata<'m>(&mut self, metadata: impl Into<Option<&'m Metadata>>) {
        self.origin = Some(Metadata::value(metadata.into()));
    }

    /// Adds what the case failed of, on one line, or that it did not; it stands before the metadata.
    pub fn put_error(&mut self, error: Option<&str>) {
        let line = error.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        self.error = Some(Quantity::new(ERROR, line).with_role(Role::Failure));
    }

    /// The reason why the case failed, if it has.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.error.as_ref()?.value {
            Value::Text(error) => Some(error),
            _ => None,
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.quantity(key).map(|quantity| &quantity.value)
    }

    /// The value of a key, if it is a number.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(Value::number)
    }

    /// The quantity with a key.
    #[must_use]
    pub fn quantity(&self, key: &str) -> Option<&Quantity> {
        self.quantities.iter().chain(&self.error).find(|quantity| quantity.key == key)
    }

    /// The quantities in their order.
    #[must_use]
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// Marks the end of the quantities that a human-readable table shows.
    pub const fn end_summary(&mut self) {
        self.summary = self.quantities.len();
    }

    /// The quantities that a human-readable table shows.
    pub fn summary(&self) -> impl Iterator<Item = &Quantity> {
        let (shown, error) = match self.summary {
            0 => (self.quantities.len(), self.error.as_ref()),
            shown => (shown, None),
        };
        let is_flat = |quantity: &&Quantity| !matches!(quantity.value, Value::Group(_));
        self.quantities.iter().take(shown).filter(is_flat).chain(error)
    }

    /// The object as JSON on one line.
    ///
    /// # Panics
    /// Never: every value can be written.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("values can be written")
    }

    /// Keys and values as CSV shows them; metadata becomes columns such as `meta.seed`.
    #[must_use]
    pub fn flat(&self) -> Vec<(String, String)> {
        self.cells().into_iter().map(|(key, value)| (key, value.to_string())).collect()
    }

    /// Keys and values in the columns of [`flat`](Self::flat).
    #[must_use]
    pub fn cells(&self) -> Vec<(String, &Value)> {
        let mut cells = Vec::new();
        self.entries().for_each(|(key, value)| flatten(key.to_owned(), value, &mut cells));
        cells
    }

    /// Calls `see` with the keys and values in the columns of [`flat`](Self::flat), in their order.
    pub fn each_cell(&self, see: &mut dyn FnMut(&str, &Value)) {
        for (key, value) in self.entries() {
            match value {
                Value::Group(inner) => each_below(&mut key.to_owned(), inner, see),
                _ => see(key, value),
            }
        }
    }

    /// A record that takes as many quantities without growing.
    #[must_use]
    pub fn with_capacity(quantities: usize) -> Self {
        Self { quantities: Vec::with_capacity(quantities), ..Self::default() }
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        let quantities = self.quantities.iter().chain(&self.error);
        quantities.map(|one| (one.key.as_str(), &one.value)).chain(self.origin.as_ref().map(|origin| (META, origin)))
    }

    /// The record with all keys of `other` in their order, without a value where it has none.
    #[must_use]
    pub fn completed(mut self, other: &Self) -> Self {
        let own = |known: &Quantity| {
            let index = self.quantities.iter().position(|one| one.key == known.key);
            index.map_or_else(
                || Quantity { value: Value::Missing, ..known.clone() },
                |index| self.quantities.remove(index),
            )
        };
        let mut quantities: Vec<_> = other.quantities.iter().map(own).collect();
        quantities.append(&mut self.quantities);
        Self { quantities, summary: other.summary, ..self }
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries())
    }
}

fn each_below(path: &mut String, inner: &[(String, Value)], see: &mut dyn FnMut(&str, &Value)) {
    let length = path.len();
    for (name, value) in inner {
        path.push('.');
        path.push_str(name);
        match value {
            Value::Group(inner) => each_below(path, inner, see),
            _ => see(path, value),
        }
        path.truncate(length);
    }
}

fn flatten<'v>(path: String, value: &'v Value, cells: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Group(inner) => {
            for (name, value) in inner {
                flatten(format!("{path}.{name}"), value, cells);
            }
        }
        _ => cells.push((path, value)),
    }
}
