//! Values of expressions.

use std::cmp::Ordering;
use std::fmt;

/// A value: an integer, a finite real number, or a truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Whole(i64),
    /// A real number; never infinite or NaN.
    Real(f64),
    /// `true` or `false`.
    Truth(bool),
}

/// The smallest real number above all integers.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;
/// The magnitude, 2^53, up to which every integer is exactly representable as a real number.
pub const EXACT: f64 = 9_007_199_254_740_992.0;

impl Value {
    /// Converts a number that is stored as a real one; the result is an integer if the number is one.
    #[must_use]
    pub fn of_number(number: f64) -> Self {
        match whole(number) {
            Some(whole) if number.abs() <= EXACT => Self::Whole(whole),
            _ => Self::Real(number),
        }
    }

    /// Returns the number if the value is of the variant `Whole`.
    #[inline]
    pub(super) const fn if_whole(self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value as an integer if it equals one, as `6 / 2` and `sqrt(4)` do.
    #[must_use]
    pub fn as_whole(self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(number),
            Self::Real(number) => whole(number),
            Self::Truth(_) => None,
        }
    }

    /// Returns the value as a real number, unless it is a truth value.
    #[must_use]
    pub fn as_real(self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(real(number)),
            Self::Real(number) => Some(number),
            Self::Truth(_) => None,
        }
    }

    /// Returns the order of two numbers, exact also between an integer and a real number, or `None` for truth values.
    #[must_use]
    pub fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => Some(one.cmp(&other)),
            (Self::Real(one), Self::Real(other)) => one.partial_cmp(&other),
            (Self::Whole(one), Self::Real(other)) => order(one, other),
            (Self::Real(one), Self::Whole(other)) => order(other, one).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// Converts a real number to an integer if it equals one.
#[expect(clippy::cast_possible_truncation, reason = "checked to be whole and inside")]
pub(super) fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && (-BEYOND..BEYOND).contains(&number)).then_some(number as i64)
}

/// Converts an integer to the nearest real number.
#[expect(clippy::cast_precision_loss, reason = "mixed arithmetic is that of real numbers")]
pub(super) const fn real(number: i64) -> f64 {
    number as f64
}

fn order(one: i64, other: f64) -> Option<Ordering> {
    match whole(other.floor()) {
        Some(floor) => Some(one.cmp(&floor).then(if other.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })),
        None => 0.0.partial_cmp(&other),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) if number.abs() >= 1e16 => write!(f, "{number:e}"),
            Self::Real(number) => number.fmt(f),
            Self::Truth(truth) => truth.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_real_numbers_are_ordered_exactly() {
        let big = 9_007_199_254_740_993;
        for (one, other, expected) in [
            (3, 3.0, Ordering::Equal),
            (3, 3.5, Ordering::Less),
            (4, 3.5, Ordering::Greater),
            (-3, -3.5, Ordering::Greater),
            (-4, -3.5, Ordering::Less),
            (big, EXACT, Ordering::Greater),
            (i64::MAX, BEYOND, Ordering::Less),
            (i64::MIN, -BEYOND, Ordering::Equal),
            (i64::MIN, -1e300, Ordering::Greater),
        ] {
            assert_eq!(Value::Whole(one).order(Value::Real(other)), Some(expected), "{one} {other}");
            assert_eq!(Value::Real(other).order(Value::Whole(one)), Some(expected.reverse()), "{other} {one}");
        }
    }
}
