//! Counts as real numbers.

/// Converts a count to the nearest real number: exactly below 2^53.
#[expect(clippy::cast_precision_loss, reason = "the nearest real number is meant")]
#[must_use]
pub const fn real(count: u64) -> f64 {
    count as f64
}
