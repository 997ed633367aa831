//! The cost of real numbers, for forecasts.

use super::dense::WORD;

/// The cost to this computer of a program that really computes, the check against a sequential computation included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numerics {
    /// Bytes of memory at once.
    pub bytes: f64,
    /// Floating-point operations.
    pub operations: f64,
}

impl Numerics {
    /// `copies` of `numbers` numbers each, and so many operations; nothing unless the program `computes`.
    pub(super) fn of(computes: bool, copies: f64, numbers: f64, operations: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a word is short")]
        let word = WORD as f64;
        if computes { Self { bytes: copies * numbers * word, operations } } else { Self::default() }
    }
}

/// A number of rows, for forecasts only.
#[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
pub(super) const fn real(count: u64) -> f64 {
    count as f64
}
