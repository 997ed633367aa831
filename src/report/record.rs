//! A flat object of output: keys in order, values that are numbers, texts or nothing.

use serde_json::{Map, Value, json};

/// The version of the keys and their meaning.
const SCHEMA: u32 = 1;

/// One flat object of output.
///
/// Keys with a dimension end in its unit (`makespan_s`); counts, ratios and names have no suffix.
/// What does not exist is `null`, never absent and never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    values: Map<String, Value>,
    summary: usize,
}

/// Where a record comes from; stands under the one key `meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The hash of the resolved scenario.
    pub scenario_hash: u64,
    /// The seed of its random streams.
    pub seed: u64,
    /// The generator of its random numbers.
    pub generator: &'static str,
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
            "schema": SCHEMA,
            "parsim": env!("CARGO_PKG_VERSION"),
            "scenario": metadata.map(|metadata| format!("{:016x}", metadata.scenario_hash)),
            "seed": metadata.map(|metadata| metadata.seed),
            "generator": metadata.map(|metadata| metadata.generator),
        });
        self.values.insert("meta".to_owned(), value);
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Marks the end of the keys that a table for people shows.
    pub fn end_summary(&mut self) {
        self.summary = self.values.len();
    }

    /// The keys that a table for people shows.
    #[must_use]
    pub fn summary_keys(&self) -> Vec<String> {
        let shown = if self.summary == 0 { self.values.len() } else { self.summary };
        self.values.keys().take(shown).cloned().collect()
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
                Value::Object(inner) => {
                    cells.extend(inner.iter().map(|(name, value)| (format!("{key}.{name}"), cell(value))));
                }
                _ => cells.push((key.clone(), cell(value))),
            }
        }
        cells
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
