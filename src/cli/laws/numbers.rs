//! Numbers on the command line of `parsim laws`, and the rows that one argument gives.

use super::Answer;
use parsim_study::report::Record;

pub(super) fn rows(counts: &[f64], record: impl Fn(f64) -> Record) -> Answer {
    Answer { rows: counts.iter().map(|p| record(*p)).collect(), words: String::new() }
}

fn number(text: &str, is_good: impl Fn(f64) -> bool, right: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value| is_good(*value)).ok_or_else(|| format!("give {right}"))
}

pub(super) fn count(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 1.0, "a number of processors from 1 on, or inf")
}

pub(super) fn time(text: &str) -> Result<f64, String> {
    number(text, |value| value.is_finite() && value >= 0.0, "seconds, from 0 on")
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value.is_finite() && value > 0.0, "a number above 0")
}

pub(super) fn fraction(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "a number from 0 to 1")
}
