//! Errors of deserialisation.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Unexpected};

use super::fault::SourceFault;
use super::spelling::excerpt;
use super::tree::Tree;
use crate::programs::expression;

type NameList = &'static [&'static str];

/// The reason why a value cannot be deserialised, with the address of the value.
#[derive(Debug)]
pub(super) struct ReadError(Box<Details>);

#[derive(Debug)]
struct Details {
    fault: SourceFault,
    /// The bytes of the text at fault, unless the whole text is.
    part: Option<Range<usize>>,
    /// The address of the value in its tree.
    address: Option<usize>,
    is_custom: bool,
}

impl ReadError {
    /// Creates an error for a value that fails no check of a type.
    fn plain(message: &str) -> Self {
        Self(Box::new(Details { fault: SourceFault::new(message), part: None, address: None, is_custom: false }))
    }

    /// Creates an error for a value that is not of the expected kind.
    pub fn misfit(tree: &Tree, expected: &dyn de::Expected) -> Self {
        de::Error::invalid_type(Unexpected::Other(&tree.words()), expected)
    }

    /// Attributes the error to a value, unless it is already attributed to one further inside.
    pub fn at(mut self, tree: &Tree) -> Self {
        let Details { fault, part, address, .. } = &mut *self.0;
        if address.is_none() {
            *address = Some(tree.address());
            fault.place = Some(part.take().map_or_else(|| tree.usual_place(), |part| tree.part(part)));
        }
        self
    }

    /// Returns `true` if the error comes from a check that a type performs.
    pub fn is_custom(&self) -> bool {
        self.0.is_custom
    }

    /// Returns the fault, with the path of the value in the tree below `root`.
    pub fn into_fault(self, root: &Tree) -> SourceFault {
        let path = self.0.address.and_then(|address| root.path_to(address));
        self.0.fault.on(&path.unwrap_or_default())
    }
}

/// Converts a message to a fault, with the bytes of the text that the message is about.
pub(super) fn fault_of_message(message: &str) -> (SourceFault, Option<Range<usize>>) {
    match expression::ExpressionFault::from_text(message) {
        Some(fault) => (SourceFault::new(&fault.message).help(&fault.help), Some(fault.span.range())),
        None => (with_unit(SourceFault::new(message)), None),
    }
}

/// Units in other common notations, with the notation accepted here.
const UNITS: [(&str, &str); 20] = [
    ("kbps", "kbit/s"),
    ("kb/s", "kbit/s` or `kB/s"),
    ("mbps", "Mbit/s"),
    ("mb/s", "Mbit/s` or `MB/s"),
    ("gbps", "Gbit/s"),
    ("gb/s", "Gbit/s` or `GB/s"),
    ("gbytes/s", "GB/s"),
    ("b", "B"),
    ("byte", "B"),
    ("bytes", "B"),
    ("kb", "kB` or `KiB"),
    ("mb", "MB` or `MiB"),
    ("gb", "GB` or `GiB"),
    ("usec", "us"),
    ("µs", "us"),
    ("μs", "us"),
    ("msec", "ms"),
    ("nsec", "ns"),
    ("sec", "s"),
    ("seconds", "s"),
];

/// Adds the unit that was probably meant to the fault of an unknown unit.
fn with_unit(fault: SourceFault) -> SourceFault {
    let given = fault.message.strip_prefix('`').and_then(|rest| rest.split_once("` is not a unit of"));
    let Some((given, _)) = given else { return fault };
    let lower = given.to_lowercase();
    let rate = lower.strip_suffix("flops").or_else(|| lower.strip_suffix("flop")).map(|prefix| {
        let prefix = if prefix == "k" { prefix.to_owned() } else { prefix.to_uppercase() };
        format!("{prefix}flop/s")
    });
    let meant = rate.or_else(|| UNITS.iter().find(|(name, _)| *name == lower).map(|(_, ours)| (*ours).to_owned()));
    let is_asked = |meant: &String| {
        let first = meant.split('`').next().unwrap_or_default();
        let known = fault.message.rsplit_once('(').map_or("", |(_, known)| known);
        known.split([',', ';', ')']).any(|unit| unit.trim() == first)
    };
    match meant.filter(is_asked) {
        Some(meant) => fault.help(&format!("did you mean `{meant}`?")),
        None => fault,
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.fault.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let (fault, part) = fault_of_message(&message.to_string());
        Self(Box::new(Details { fault, part, address: None, is_custom: true }))
    }

    fn invalid_type(unexpected: Unexpected, expected: &dyn de::Expected) -> Self {
        Self::plain(&format!("expected {expected}, found {unexpected}"))
    }

    fn invalid_value(unexpected: Unexpected, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::plain(&format!("expected {expected}, found {length} values"))
    }

    fn unknown_variant(variant: &str, _: NameList) -> Self {
        Self::plain(&format!("unknown variant `{}`", excerpt(variant)))
    }

    fn unknown_field(field: &str, _: NameList) -> Self {
        Self::plain(&format!("unknown field `{}`", excerpt(field)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::plain(&format!("field `{field}` is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_others_are_understood_as_meant() {
        for (given, meant) in [("Gbps", "`Gbit/s`"), ("KB", "`kB` or `KiB`"), ("GFLOPS", "`Gflop/s`"), ("usec", "`us`")]
        {
            let known = "(B, kB, MB; kbit/s, Gbit/s; Mflop/s, Gflop/s; ns, us, ms)";
            let (fault, _) = fault_of_message(&format!("`{given}` is not a unit of what is wanted {known}"));
            assert_eq!(fault.help, Some(format!("did you mean {meant}?")));
        }
        for none in ["`parsec` is not a unit of a time (ns, us)", "`b` is not a unit of a time (ns, us)"] {
            assert_eq!(fault_of_message(none).0.help, None);
        }
    }
}
