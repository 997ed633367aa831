//! Why a value cannot be deserialised.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Unexpected};

use super::fault::SourceFault;
use super::spelling::excerpt;
use super::tree::Tree;
use crate::programs::expression;

type NameList = &'static [&'static str];

/// Why a value cannot be deserialised, and which.
#[derive(Debug)]
pub(super) struct ReadError(Box<Details>);

#[derive(Debug)]
struct Details {
    fault: SourceFault,
    /// The bytes of the text that are meant, if not all of it.
    part: Option<Range<usize>>,
    /// The address of the value.
    address: Option<usize>,
    is_custom: bool,
}

impl ReadError {
    /// The error of a value that no type would check by itself.
    fn plain(message: &str) -> Self {
        Self(Box::new(Details { fault: SourceFault::new(message), part: None, address: None, is_custom: false }))
    }

    /// The error of a value that is not of the kind that is asked for.
    pub fn misfit(tree: &Tree, expected: &dyn de::Expected) -> Self {
        de::Error::invalid_type(Unexpected::Other(&tree.words()), expected)
    }

    /// The error of a value, unless it already stands further inside.
    pub fn at(mut self, tree: &Tree) -> Self {
        let Details { fault, part, address, .. } = &mut *self.0;
        if address.is_none() {
            *address = Some(tree.address());
            fault.place = Some(part.take().map_or_else(|| tree.usual_place(), |part| tree.part(part)));
        }
        self
    }

    /// True if a type has found it by a check of its own.
    pub fn is_custom(&self) -> bool {
        self.0.is_custom
    }

    /// The fault, in a tree with this root.
    pub fn into_fault(self, root: &Tree) -> SourceFault {
        let path = self.0.address.and_then(|address| root.path_to(address));
        self.0.fault.on(&path.unwrap_or_default())
    }
}

/// The fault of a message, and the bytes of the text that it is about.
pub(super) fn in_words(message: &str) -> (SourceFault, Option<Range<usize>>) {
    match expression::ExpressionFault::from_text(message) {
        Some(fault) => (SourceFault::new(&fault.message).help(&fault.help), Some(fault.span.range())),
        None => (SourceFault::new(message), None),
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
        let (fault, part) = in_words(&message.to_string());
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
