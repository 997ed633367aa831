//! Counts with their nouns.

use std::fmt;

/// Formats a count with its noun: `1 link`, `2 links`.
#[must_use]
pub fn counted(count: impl fmt::Display, what: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_plural() {
        assert_eq!([counted(0, "link"), counted(1, "link"), counted(2, "link")], ["0 links", "1 link", "2 links"]);
    }
}
