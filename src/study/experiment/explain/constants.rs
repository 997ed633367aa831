//! The constants behind itemised costs: their values and source locations.

use crate::report::TextTable;
use crate::scenario::AxisValue;
use crate::scenario::source::Document;
use std::fmt;

/// The constants of a text table. They are listed once each below the table, which refers to them by number.
pub struct Constants<'d> {
    document: &'d Document,
    paths: Vec<String>,
}

impl<'d> Constants<'d> {
    /// Returns an empty list.
    pub const fn new(document: &'d Document) -> Self {
        Self { document, paths: Vec::new() }
    }

    /// Adds a constant and returns its value and number; empty texts without a constant.
    pub fn note(&mut self, path: Option<&str>) -> [String; 2] {
        let Some(path) = path else { return Default::default() };
        let index = self.paths.iter().position(|known| known == path).unwrap_or_else(|| {
            self.paths.push(path.to_owned());
            self.paths.len() - 1
        });
        [value(self.document, path).unwrap_or_default(), (index + 1).to_string()]
    }
}

impl fmt::Display for Constants<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.paths.is_empty() {
            return Ok(());
        }
        let mut table = TextTable::new(["", "constant", "source"]);
        for (path, number) in self.paths.iter().zip(1..) {
            table.row([format!("{number}"), path.clone(), source(self.document, path).unwrap_or_default()]);
        }
        write!(f, "{table}")
    }
}

/// Returns the source location of a constant: file and line.
pub fn source(document: &Document, path: &str) -> Option<String> {
    let entry = document.faults(vec![document.fault_at(path, "", None)]).entries().into_iter().next()?;
    document.get(path)?;
    Some(format!("{}:{}", entry.file?, entry.line?))
}

/// Returns the value of a constant as written in the document; `None` if there are several values at `path`.
pub fn value(document: &Document, path: &str) -> Option<String> {
    let [(_, leaf)] = document.leaves(path)[..] else { return None };
    AxisValue::of_tree(leaf).map(|value| value.to_string())
}
