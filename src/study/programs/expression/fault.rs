//! Faults of expressions: the span in the text, a message and advice.

use parsim_sim::fault;
use parsim_sim::units::nearest;
use std::fmt;
use std::ops::Range;

/// A span of bytes in the text of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSpan {
    start: u16,
    end: u16,
}

impl TextSpan {
    /// Creates the span of a range in a text that does not exceed the maximum length.
    pub(super) fn of(range: Range<usize>) -> Self {
        let short = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        Self { start: short(range.start), end: short(range.end) }
    }

    /// Returns the span from the start of this one to the end of `other`.
    pub(super) const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }

    /// Returns the span as a range of bytes.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start.into()..self.end.into()
    }

    /// Returns the part of `text` in this span.
    #[must_use]
    pub fn of_text(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or(text)
    }
}

/// A fault of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionFault {
    /// The span of the fault in the text.
    pub span: TextSpan,
    /// The fault, in a sentence.
    pub message: String,
    /// Advice on the correct input.
    pub help: String,
}

const HELP: &str = "\nhelp: ";
const PART: &str = "\nat bytes ";

/// A hint to the documentation of all operators and functions, for the help of a fault.
pub const REFERENCE: &str = "docs/expressions.md lists all operators and functions";

impl ExpressionFault {
    pub(super) fn new(span: TextSpan, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }

    /// Encodes the fault as a single text, to be carried by an error type that supports only texts.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}{HELP}{}{PART}{}..{}", self.message, self.help, self.span.start, self.span.end)
    }

    /// Decodes the output of [`to_text`](Self::to_text).
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (text, part) = text.rsplit_once(PART)?;
        let (start, end) = part.split_once("..")?;
        let (message, help) = text.split_once(HELP)?;
        Some(Self::new(TextSpan { start: start.parse().ok()?, end: end.parse().ok()? }, message, help))
    }

    /// Returns the fault of the expression in the field at `path`.
    #[must_use]
    pub fn at(self, path: &str) -> fault::Fault {
        fault::Fault { part: Some(self.span.range()), ..fault::Fault::new(path, self.message, self.help) }
    }

    /// Creates a fault of the whole of `text`.
    pub fn whole(text: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(TextSpan::of(0..text.len()), message, help)
    }

    /// Creates the fault of a name that is not among the known ones.
    pub fn unknown<'k>(name: &str, span: TextSpan, known: impl IntoIterator<Item = &'k str>) -> Self {
        let known: Vec<_> = known.into_iter().collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`? known here: {}", known.join(", ")),
            None if known.is_empty() => "no name is known here".to_owned(),
            None => format!("known here: {}", known.join(", ")),
        };
        Self::new(span, format!("there is no `{name}` here"), help)
    }
}

/// Formats the message without its place.
impl fmt::Display for ExpressionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
