//! Faults: what a description says that cannot be, and what would be right.
//!
//! Every part of a description finds its own faults. Whoever holds the part prefixes the path of its field, so that
//! a program in Rust and a scenario file are rejected with the same words; a file adds the place.

use std::fmt;
use std::ops::Range;

/// One thing that is wrong with a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field, such as `network.links.buffers`, counted elements as `steps.0`; empty for the whole.
    pub path: String,
    /// The fault, in a sentence.
    pub message: String,
    /// Advice on the right input.
    pub help: String,
    /// The bytes of the text in that field that are meant, if not all of it.
    pub part: Option<Range<usize>>,
}

impl Fault {
    /// A fault of the field at `path`.
    #[must_use]
    pub fn new(path: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into(), help: help.into(), part: None }
    }

    /// The same fault as seen by whoever holds the faulty part in the field at `parent`.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        let separator = if self.path.is_empty() || parent.is_empty() { "" } else { "." };
        self.path = format!("{parent}{separator}{}", self.path);
        self
    }
}

/// A fault of the whole, for which no advice is known.
impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::new("", message, "change the program")
    }
}

/// All `faults` of a part that stands in the field at `parent`.
pub fn within<'p>(parent: &'p str, faults: impl IntoIterator<Item = Fault> + 'p) -> impl Iterator<Item = Fault> + 'p {
    faults.into_iter().map(move |fault| fault.within(parent))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{} ({})", self.path, self.message, self.help)
    }
}

/// All faults for which a description is rejected; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(pub Vec<Fault>);

impl Rejection {
    /// `Ok` if there are no faults.
    ///
    /// # Errors
    /// The faults, if there are any.
    pub fn unless_empty(faults: Vec<Fault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self(faults)) }
    }
}

impl fmt::Display for Rejection {
    /// All faults on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}
