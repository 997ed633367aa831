//! The cost of real computations on the simulating computer, for estimates.

/// The bytes of a floating-point number.
pub const WORD: u64 = size_of::<f64>() as u64;

/// The cost on the simulating computer of a program that really computes, including the check against a sequential
/// computation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numerics {
    /// Bytes of memory in use at once.
    pub bytes: f64,
    /// Floating-point operations.
    pub operations: f64,
}

impl Numerics {
    /// Returns the cost of `copies` copies of `numbers` numbers each and of `operations` operations; zero unless the
    /// program `computes`.
    #[must_use]
    pub fn of(computes: bool, copies: f64, numbers: f64, operations: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a word is short")]
        let word = WORD as f64;
        if computes { Self { bytes: copies * numbers * word, operations } } else { Self::default() }
    }
}
