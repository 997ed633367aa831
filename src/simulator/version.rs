//! The version of parsim, for outputs that tell their origin.
//!
//! Rows tell the version alone: rows of one scenario are the same bytes for as long as results are, whatever was changed besides.

use std::sync::LazyLock;

/// The version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that it was built from; `None` of a build that was not told, by the variable `PARSIM_COMMIT`.
pub const COMMIT: Option<&str> = option_env!("PARSIM_COMMIT");

/// The version and, if it is known, the commit in brackets: `0.1.0 (1a2b3c4d5e6f)`.
#[must_use]
pub fn version() -> &'static str {
    static WORDS: LazyLock<String> =
        LazyLock::new(|| COMMIT.map_or_else(|| VERSION.to_owned(), |commit| format!("{VERSION} ({commit})")));
    &WORDS
}
