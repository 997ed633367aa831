//! Expressions that have another value than in earlier versions, by the paths at which they stand.

use super::{Former, Value};
use std::collections::BTreeMap;

/// Number of changes named.
const MOST: usize = 20;
/// The work that the search may take, about as many microseconds.
const WORK: u64 = 100_000;
/// Number of bytes of an expression that are read or computed for a unit of work.
const BYTES: u64 = 16;

/// Findings so far; the search is bounded, in work and in findings.
#[derive(Debug)]
pub struct Changes {
    found: BTreeMap<String, String>,
    left: u64,
}

impl Default for Changes {
    fn default() -> Self {
        Self { found: BTreeMap::new(), left: WORK }
    }
}

impl Changes {
    /// The expression `text` at `path`, if it may have changed and nothing is known of it yet.
    pub fn suspect(&mut self, path: &str, text: &str) -> Option<Former> {
        self.spend(1 + text.len() as u64 / BYTES);
        if self.is_over() || self.found.contains_key(path) { None } else { Former::of(text) }
    }

    /// Compares the values of the expression at `path` where the names have these values.
    pub fn compare(&mut self, path: &str, former: &Former, value: impl Fn(&str) -> Option<Value>) {
        if self.is_over() || self.found.contains_key(path) {
            return;
        }
        self.spend(1 + former.size() as u64 / BYTES);
        if let Some(change) = former.change(value) {
            self.found.insert(path.to_owned(), change);
        }
    }

    /// Takes this much of the work that is left.
    pub const fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }

    /// The work that is left.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// True if the search is over: it has found as much as it may, or done as much work.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left == 0 || self.found.len() >= MOST
    }

    /// The changes: path and words.
    pub fn found(&self) -> impl Iterator<Item = (&str, &str)> {
        self.found.iter().map(|(path, change)| (path.as_str(), change.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_bounded_in_findings_and_in_work() {
        let mut changes = Changes::default();
        for place in 0..100 {
            let path = place.to_string();
            if let Some(former) = changes.suspect(&path, "7 / 2") {
                changes.compare(&path, &former, |_| None);
            }
        }
        assert_eq!(changes.found().count(), MOST);
        let mut changes = Changes::default();
        let former = Former::of("1 / x").unwrap();
        for _ in 0..WORK {
            changes.compare("path", &former, |_| Some(Value::Whole(1)));
        }
        assert!(changes.is_over() && changes.found().next().is_none());
    }
}
