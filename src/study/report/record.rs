//! A flat object of output: keys in order, values that are numbers, texts or nothing.

use serde_json::{Map, Value, json};

/// The version of the keys and their meaning.
const SCHEMA: u32 = 1;
/// The digits of the id that `meta.scenario` has, the name and the length that ids once had.
const SCENARIO_DIGITS: usize = 16;
/// The key of the metadata.
const META: &str = "meta";
/// The key of what a failed case failed of.
const ERROR: &str = "error";

/// One flat object of output.
///
/// Keys with a dimension end in its unit (`makespan_s`); counts, ratios and names have no suffix.
/// A value that does not exist is `null`, never absent and never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    values: Map<String, Value>,
    summary: usize,
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
    fn settings(&self) -> Map<String, Value> {
        self.set.iter().map(|(path, text)| (path.clone(), text.as_str().into())).collect()
    }
}

impl Record {
    /// Adds a key.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.values.insert(key.to_owned(), value.into());
    }

    /// Adds all keys of another record.
    pub fn append(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// Adds the metadata; what comes from no scenario has neither its hash nor a seed.
    pub fn put_metadata<'m>(&mut self, metadata: impl Into<Option<&'m Metadata>>) {
        let metadata = metadata.into();
        let value = json!({
            "id": metadata.map(|metadata| &metadata.id),
            "results": metadata.map(|metadata| metadata.results),
            "schema": SCHEMA,
            "parsim": env!("CARGO_PKG_VERSION"),
            "scenario": metadata.and_then(|metadata| metadata.id.get(..SCENARIO_DIGITS)),
            "seed": metadata.map(|metadata| metadata.seed),
            "generator": metadata.map(|metadata| metadata.generator),
            "set": metadata.map_or_else(Map::new, Metadata::settings),
        });
        self.values.insert(META.to_owned(), value);
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Marks the end of the keys that a human-readable table shows.
    pub fn end_summary(&mut self) {
        self.summary = self.values.len();
    }

    /// The keys that a human-readable table shows.
    #[must_use]
    pub fn summary_keys(&self) -> Vec<String> {
        let shown = if self.summary == 0 { self.values.len() } else { self.summary };
        let columns = self.values.iter().take(shown).filter(|(_, value)| !value.is_object());
        columns.map(|(key, _)| key.clone()).collect()
    }

    /// The object as JSON on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        Value::Object(self.values.clone()).to_string()
    }

    /// Keys and values as CSV shows them; metadata becomes columns such as `meta.seed`.
    pub(super) fn flat(&self) -> Vec<(String, String)> {
        let mut cells = Vec::new();
        for (key, value) in &self.values {
            match value {
                Value::Object(inner) => flatten(key, inner, &mut cells),
                _ => cells.push((key.clone(), cell(value))),
            }
        }
        cells
    }

    /// Adds what the case failed of, on one line, or that it did not; it stands before the metadata.
    pub fn put_error(&mut self, error: Option<&str>) {
        let metadata = self.values.shift_remove(META);
        let line = error.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        self.put(ERROR, line);
        self.values.extend(metadata.map(|metadata| (META.to_owned(), metadata)));
    }

    /// The record with all keys of `other` in their order, those that it has not as `null`.
    #[must_use]
    pub fn completed(mut self, other: &Self) -> Self {
        let mut values = Map::new();
        let own = [ERROR, META];
        for key in other.values.keys().filter(|key| !own.contains(&key.as_str())) {
            values.insert(key.clone(), self.values.shift_remove(key).unwrap_or_default());
        }
        values.extend(self.values);
        Self { values, summary: other.summary }
    }
}

fn flatten(path: &str, object: &Map<String, Value>, cells: &mut Vec<(String, String)>) {
    for (name, value) in object {
        let path = format!("{path}.{name}");
        match value {
            Value::Object(inner) => flatten(&path, inner, cells),
            _ => cells.push((path, cell(value))),
        }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
