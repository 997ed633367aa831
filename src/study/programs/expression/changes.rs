//! Expressions whose value differs from that of earlier versions, by path.

use super::{FormerExpression, Value};
use std::collections::BTreeMap;

/// Maximum number of changes that are reported.
const MAX: usize = 20;
/// The work that the search may take, in units of about one microsecond.
const WORK: u64 = 100_000;
/// Number of bytes of an expression that are parsed or evaluated in a unit of work.
const BYTES: u64 = 16;

/// The changes found so far. The search is bounded in work and in findings.
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
    /// Returns the expression `text` at `path` if its value may have changed and no change has been found for it yet.
    pub fn suspect(&mut self, path: &str, text: &str) -> Option<FormerExpression> {
        self.spend(1 + text.len() as u64 / BYTES);
        if self.is_over() || self.found.contains_key(path) { None } else { FormerExpression::of(text) }
    }

    /// Compares the current and the former value of the expression at `path`, given the values of the names.
    pub fn compare(&mut self, path: &str, former: &FormerExpression, value: impl Fn(&str) -> Option<Value>) {
        if self.is_over() || self.found.contains_key(path) {
            return;
        }
        self.spend(1 + former.size() as u64 / BYTES);
        if let Some(change) = former.change(value) {
            self.found.insert(path.to_owned(), change);
        }
    }

    /// Subtracts `work` from the remaining work.
    pub const fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }

    /// Returns the remaining work.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Returns `true` if the search has reached its limit on findings or on work.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left == 0 || self.found.len() >= MAX
    }

    /// Returns the changes: for each the path and a description.
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
        assert_eq!(changes.found().count(), MAX);
        let mut changes = Changes::default();
        let former = FormerExpression::of("1 / x").unwrap();
        for _ in 0..WORK {
            changes.compare("path", &former, |_| Some(Value::Whole(1)));
        }
        assert!(changes.is_over() && changes.found().next().is_none());
    }
}
