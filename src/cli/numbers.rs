//! Parsers for options that are numbers. Their messages say which numbers are right.

use std::fmt::Display;
use std::str::FromStr;

/// Parses a number for which `is_good` holds; `right` describes such numbers.
pub fn number<T: FromStr>(text: &str, is_good: impl Fn(&T) -> bool, right: &str) -> Result<T, String> {
    text.parse().ok().filter(is_good).ok_or_else(|| format!("give {right}"))
}

/// Returns a parser of whole numbers from `least` on.
pub fn from<T: WholeNumber>(least: T) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    let right = format!("a whole number from {least} on, below 2^{}", 8 * size_of::<T>());
    move |text| number(text, |number: &T| *number >= least, &right)
}

/// Returns a parser of whole numbers within bounds, both included.
pub fn within<T: WholeNumber>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    let right = format!("a whole number from {least} to {most}");
    move |text| number(text, |number: &T| (least..=most).contains(number), &right)
}

/// An unsigned whole number, or one that is not zero.
pub trait WholeNumber: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static {}

impl<T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static> WholeNumber for T {}

pub fn positive(text: &str) -> Result<f64, String> {
    number(text, |value: &f64| value.is_finite() && *value > 0.0, "a number above 0")
}

pub fn between(text: &str) -> Result<f64, String> {
    number(text, |value| *value > 0.0 && *value < 1.0, "a number above 0 and below 1")
}

/// Parses a share that may be 0, but not 1.
pub fn share(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..1.0).contains(value), "a share from 0 to below 1")
}

/// Parses a finite number of at least 0.
pub fn amount(text: &str) -> Result<f64, String> {
    number(text, |value: &f64| value.is_finite() && *value >= 0.0, "a number of at least 0")
}

#[cfg(test)]
mod tests {
    use super::super::CommandLine;
    use super::*;
    use clap::{Command, CommandFactory, Parser};
    use std::num::NonZero;

    #[test]
    fn a_wrong_number_is_told_what_is_right() {
        let right = "give a whole number from 1 on, below 2^32";
        for text in ["0", "-1", "1.5", "4294967296", "many", ""] {
            assert_eq!(from(1u32)(text), Err(right.to_owned()));
            assert_eq!(from(NonZero::<u32>::MIN)(text), Err(right.to_owned()));
        }
        assert_eq!((from(1u32)("4294967295"), from(0u64)("0")), (Ok(u32::MAX), Ok(0)));
        assert_eq!(within(1u8, 2)("3"), Err("give a whole number from 1 to 2".to_owned()));
        assert_eq!(amount("inf"), Err("give a number of at least 0".to_owned()));
    }

    /// Returns the words with which every option of the commands is called with a value that none of them has.
    fn calls(command: &Command, before: &[String]) -> Vec<Vec<String>> {
        let words = [before, &[command.get_name().to_owned()]].concat();
        let options = command.get_arguments().filter(|option| option.get_action().takes_values());
        let longs = options.filter_map(|option| option.get_long());
        let own = longs.map(|long| [&words[..], &[format!("--{long}"), "\u{1}".to_owned()]].concat());
        let inner = command.get_subcommands().flat_map(|inner| calls(inner, &words));
        own.chain(inner).collect()
    }

    #[test]
    fn no_option_speaks_of_digits() {
        let calls = calls(&CommandLine::command(), &[]);
        let told = |call: &Vec<String>| CommandLine::try_parse_from(call).err().map(|error| error.to_string());
        let told: Vec<_> = calls.iter().filter_map(told).collect();
        assert!(told.iter().filter(|text| text.contains(": give a whole number from ")).count() > 10, "{told:?}");
        for text in &told {
            let is_raw = ["digit", "float", " not in "].iter().any(|raw| text.contains(raw));
            assert!(!is_raw, "{text}");
        }
    }
}
