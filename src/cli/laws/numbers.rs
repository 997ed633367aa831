//! Parsers for the numbers of `parsim laws`.

use super::super::numbers::number;
use parsim_study::experiment::StudyError;

/// The largest number up to which `f64` represents every integer, 2^53.
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0;

pub(super) fn count(text: &str) -> Result<f64, String> {
    number(
        text,
        |value: &f64| {
            value.is_infinite() && *value > 0.0 || (1.0..=LARGEST_COUNT).contains(value) && value.fract() == 0.0
        },
        "a whole number of processors from 1 to 2^53, or inf",
    )
}

/// Checks that a list has no value twice.
///
/// # Errors
/// The first value that is repeated.
pub(super) fn distinct(option: &str, values: &[f64]) -> Result<(), StudyError> {
    match (0..values.len()).find(|index| values[..*index].contains(&values[*index])) {
        Some(index) => Err(StudyError::Request(format!("{option} has {} twice: give each value once", values[index]))),
        None => Ok(()),
    }
}

pub(super) fn time(text: &str) -> Result<f64, String> {
    number(text, |value: &f64| value.is_finite() && *value >= 0.0, "a time in seconds of at least 0")
}

pub(super) fn fraction(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(value), "a number from 0 to 1")
}

pub(super) fn links(text: &str) -> Result<f64, String> {
    whole(text, "a number of links of at least 1")
}

pub(super) fn packets(text: &str) -> Result<f64, String> {
    whole(text, "a number of packets of at least 1")
}

fn whole(text: &str, right: &str) -> Result<f64, String> {
    number(text, |value: &u32| *value > 0, right).map(f64::from)
}
