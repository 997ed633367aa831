//! The data of a page for its script.

use crate::report::animation::Animation;
use crate::report::panels::Panels;
use serde::Serialize;
use serde_json::{Map, Value};

/// All data for the script of a page, embedded in the page as JSON.
#[derive(Debug, Default, Serialize)]
pub struct PagePayload {
    charts: Vec<Value>,
    runs: Vec<Value>,
    /// The texts that can be saved, by the names of their files.
    files: Map<String, Value>,
}

impl PagePayload {
    /// Adds charts, and returns their number.
    pub fn chart(&mut self, panels: &Panels) -> usize {
        self.charts.push(value(panels));
        self.charts.len() - 1
    }

    /// Adds a run, and returns its number.
    pub fn run(&mut self, run: &Animation) -> usize {
        self.runs.push(value(run));
        self.runs.len() - 1
    }

    /// Adds a text that can be saved as `name`.
    pub fn file(&mut self, name: &str, text: String) {
        self.files.insert(name.to_owned(), Value::String(text));
    }

    /// Returns the data as JSON without the character `<`, because `</script` or `<!--` in a name would end the script
    /// element.
    pub fn json(&self) -> String {
        value(self).to_string().replace('<', "\\u003c")
    }
}

fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).expect("numbers and texts are JSON")
}
