//! Why a value cannot be read, in words for people.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Unexpected};

use super::fault::Fault;
use super::number::figure;
use super::place::Place;
use super::reading::Spot;
use super::spelling::{advice, excerpt};
use super::tree::{Node, Tree};
use crate::programs::expression;

type Names = &'static [&'static str];

/// Why a value cannot be read, and where.
#[derive(Debug)]
pub(super) struct ReadError(Box<Details>);

#[derive(Debug)]
struct Details {
    trouble: Trouble,
    help: Option<String>,
    spot: Option<Spot>,
    place: Option<Place>,
    /// The bytes of the text that are meant, if not all of it.
    part: Option<Range<usize>>,
}

#[derive(Debug)]
enum Trouble {
    Message(String),
    Expected { expected: String, found: String },
    Missing(&'static str),
}

impl ReadError {
    fn new(trouble: Trouble) -> Self {
        Self(Box::new(Details { trouble, help: None, spot: None, place: None, part: None }))
    }

    /// The error at a spot, unless it already stands further inside.
    pub fn at(mut self, spot: Spot) -> Self {
        self.0.spot.get_or_insert(spot);
        self
    }

    /// The error at another spot.
    pub fn moved(mut self, spot: Spot) -> Self {
        self.0.spot = Some(spot);
        self
    }

    /// The error shown at a place that is not the usual one of its value.
    pub fn placed(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// The error with advice.
    pub fn helped(mut self, help: &str) -> Self {
        self.0.help = Some(help.to_owned());
        self
    }

    pub fn spot(&self) -> Option<Spot> {
        self.0.spot
    }

    pub fn absent_field(&self) -> Option<&'static str> {
        match self.0.trouble {
            Trouble::Missing(field) => Some(field),
            _ => None,
        }
    }

    /// The fault of the value it stands at.
    pub fn into_fault(self, tree: &Tree) -> Fault {
        let part = self.0.part.map(|part| tree.part(part));
        let place = self.0.place.or(part).unwrap_or_else(|| Self::usual_place(tree));
        let (message, help) = match self.0.trouble {
            Trouble::Message(message) => (message, None),
            Trouble::Missing(field) => (missing(field, tree), Some(addition(field))),
            Trouble::Expected { expected, found } => {
                let found = if matches!(tree.node, Node::Number(_)) { tree.words() } else { found };
                let help = quotes(&expected, tree).map(str::to_owned);
                (format!("expected {}, found {found}", wanted(&expected)), help)
            }
        };
        let fault = Fault::new(&message).at(place);
        match self.0.help.filter(|help| !help.is_empty()).or(help) {
            Some(help) => fault.help(&help),
            None => fault,
        }
    }

    fn usual_place(tree: &Tree) -> Place {
        let inner = matches!(tree.node, Node::Record { .. } | Node::Tuple { .. } | Node::List(_) | Node::Map(_));
        if inner { tree.opening() } else { tree.place }
    }
}

/// The advice for a missing field.
pub(super) fn addition(field: &str) -> String {
    format!("add `{field}: …`")
}

fn missing(field: &str, tree: &Tree) -> String {
    match tree.name() {
        Some(name) => format!("field `{field}` is missing in `{}`", excerpt(name)),
        None => format!("field `{field}` is missing"),
    }
}

/// Advice where a value has quotes too many or too few.
fn quotes(expected: &str, tree: &Tree) -> Option<&'static str> {
    match &tree.node {
        Node::Text(text) if figure(text).is_some() && is_number(expected) => Some("numbers stand without quotes"),
        Node::Name(_) if expected == "a string" => Some("text stands in quotes"),
        Node::Option(Some(_)) => Some("leave `Some` out"),
        _ => None,
    }
}

fn is_number(expected: &str) -> bool {
    range(expected).is_some() || matches!(expected, "f32" | "f64")
}

/// What serde says it expected, in words for people.
fn wanted(expected: &str) -> String {
    let words = match expected {
        "a string" | "a borrowed string" | "str" => "text in quotes",
        "f32" | "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list `[…]`",
        "a map" => "a map `{…}`",
        "unit" => "`()`",
        _ => return range(expected).or_else(|| named(expected)).unwrap_or_else(|| expected.to_owned()),
    };
    words.to_owned()
}

fn named(expected: &str) -> Option<String> {
    let rest = ["unit struct ", "tuple struct ", "struct "].iter().find_map(|kind| expected.strip_prefix(kind))?;
    let name = rest.split(' ').next().unwrap_or(rest);
    Some(if expected.starts_with("unit") { format!("`{name}`") } else { format!("`{name}(…)`") })
}

fn range(expected: &str) -> Option<String> {
    let nonzero = expected.strip_prefix("a nonzero ");
    let (from, to) = match nonzero.unwrap_or(expected) {
        "u8" => ("0", u8::MAX.to_string()),
        "u16" => ("0", u16::MAX.to_string()),
        "u32" => ("0", u32::MAX.to_string()),
        "u64" | "usize" => ("0", u64::MAX.to_string()),
        "u128" => ("0", u128::MAX.to_string()),
        "i8" => ("-128", i8::MAX.to_string()),
        "i16" => ("-32768", i16::MAX.to_string()),
        "i32" => ("-2147483648", i32::MAX.to_string()),
        "i64" | "isize" => ("-9223372036854775808", i64::MAX.to_string()),
        "i128" => return Some("a whole number".to_owned()),
        _ => return None,
    };
    let from = if nonzero.is_some() && from == "0" { "1" } else { from };
    Some(format!("a whole number from {from} to {to}"))
}

impl Tree {
    /// What stands here, in words.
    pub(super) fn words(&self) -> String {
        match &self.node {
            Node::Unit => "`()`".to_owned(),
            Node::Bool(value) => format!("`{value}`"),
            Node::Number(text) => format!("the number {}", excerpt(text)),
            Node::Text(text) => format!("the text \"{}\"", excerpt(text)),
            Node::Char(letter) => format!("the character '{}'", excerpt(&letter.to_string())),
            Node::List(_) => "a list `[…]`".to_owned(),
            Node::Map(_) => "a map `{…}`".to_owned(),
            Node::Option(None) => "`None`".to_owned(),
            Node::Option(Some(_)) => "`Some(…)`".to_owned(),
            Node::Record { name: Some(name), .. } | Node::Tuple { name: Some(name), .. } => {
                format!("`{}(…)`", excerpt(&name.text))
            }
            Node::Record { .. } => "a record `(name: …)`".to_owned(),
            Node::Tuple { .. } => "a tuple `(…)`".to_owned(),
            Node::Name(name) => format!("the name `{}`", excerpt(name)),
        }
    }
}

fn found(unexpected: &Unexpected) -> String {
    match unexpected {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(text) => format!("the text \"{}\"", excerpt(text)),
        Unexpected::Unit => "`()`".to_owned(),
        Unexpected::Option => "an option".to_owned(),
        Unexpected::Seq => "a list `[…]`".to_owned(),
        Unexpected::Map => "a record".to_owned(),
        Unexpected::Other(words) => (*words).to_owned(),
        other => other.to_string(),
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.trouble {
            Trouble::Message(message) => f.write_str(message),
            Trouble::Expected { expected, found } => write!(f, "expected {}, found {found}", wanted(expected)),
            Trouble::Missing(field) => write!(f, "field `{field}` is missing"),
        }
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        let Some(fault) = expression::Fault::from_text(&text) else { return Self::new(Trouble::Message(text)) };
        let mut error = Self::new(Trouble::Message(fault.message)).helped(&fault.help);
        error.0.part = Some(fault.span.range());
        error
    }

    fn invalid_type(unexpected: Unexpected, expected: &dyn de::Expected) -> Self {
        Self::new(Trouble::Expected { expected: expected.to_string(), found: found(&unexpected) })
    }

    fn invalid_value(unexpected: Unexpected, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::custom(format!("expected {expected}, found {length} values"))
    }

    fn unknown_variant(variant: &str, expected: Names) -> Self {
        let help = advice(variant, expected.iter().copied()).unwrap_or_default();
        Self::custom(format!("unknown variant `{}`", excerpt(variant))).helped(&help)
    }

    fn unknown_field(field: &str, expected: Names) -> Self {
        let help = advice(field, expected.iter().copied()).unwrap_or_default();
        Self::custom(format!("unknown field `{}`", excerpt(field))).helped(&help)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Trouble::Missing(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format!("field `{field}` is given twice"))
    }
}
