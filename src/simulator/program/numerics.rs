//! The cost of real numbers, for forecasts.

/// The bytes of a number.
pub const WORD: u64 = size_of::<f64>() as u64;

/// The cost to this computer of a program that really computes, the check against a sequential computation included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numerics {
    /// Bytes of memory at once.
    pub bytes: f64,
    /// Floating-point operations.
    pub operations: f64,
}

impl Numerics {
    /// `copies` of `numbers` numbers each, and `operations` operations; nothing unless the program `computes`.
    #[must_use]
    pub fn of(computes: bool, copies: f64, numbers: f64, operations: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a word is short")]
        let word = WORD as f64;
        if computes { Self { bytes: copies * numbers * word, operations } } else { Self::default() }
    }
}
