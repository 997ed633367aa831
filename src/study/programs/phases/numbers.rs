//! Parameters of a program: numbers that are exact if they are whole.

use crate::programs::expression::EXACT;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// A number whose whole value is exact.
struct ExactNumber(f64);

struct ExactNumberVisitor;

impl Visitor<'_> for ExactNumberVisitor {
    type Value = ExactNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<ExactNumber, E> {
        Ok(ExactNumber(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ExactNumber, E> {
        exact(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<ExactNumber, E> {
        exact(number.into())
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "numbers that would be rounded are rejected"
)]
fn exact<E: Error>(number: i128) -> Result<ExactNumber, E> {
    let real = number as f64;
    if number.abs() <= EXACT as i128 {
        return Ok(ExactNumber(real));
    }
    Err(E::custom(format!("parameters are exact up to 2^53, and {number} is beyond: write {real:e} for a real number")))
}

impl<'de> Deserialize<'de> for ExactNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactNumberVisitor)
    }
}

/// Deserialises numbers by name.
///
/// # Errors
/// Returns an error for a whole number that would be rounded.
pub(super) fn exact_numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let numbers = BTreeMap::<String, ExactNumber>::deserialize(deserializer)?;
    Ok(numbers.into_iter().map(|(name, ExactNumber(number))| (name, number)).collect())
}
