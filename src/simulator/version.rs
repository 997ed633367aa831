//! The version of parsim, for outputs that state their origin.
//!
//! Rows contain only the version, without the commit: the rows of a scenario keep the same bytes as long as its
//! results do not change.

use std::sync::LazyLock;

/// The version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit from which the binary was built, given at build time by the variable `PARSIM_COMMIT`; `None` if that was
/// not set.
pub const COMMIT: Option<&str> = option_env!("PARSIM_COMMIT");

/// Returns the version and, if known, the commit in brackets: `0.1.0 (1a2b3c4d5e6f)`.
#[must_use]
pub fn version() -> &'static str {
    static WORDS: LazyLock<String> =
        LazyLock::new(|| COMMIT.map_or_else(|| VERSION.to_owned(), |commit| format!("{VERSION} ({commit})")));
    &WORDS
}
