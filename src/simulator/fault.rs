//! Faults: errors in a description, with advice on how to correct them.
//!
//! Each part of a description finds its own faults. The owner of the part prefixes the path of the field, so that a
//! program in Rust and a scenario file are rejected with the same words; a scenario file adds the position in the text.

use std::fmt;
use std::ops::Range;

/// One error in a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path of the field, such as `network.links.buffers`, with elements of lists as in `steps.0`. Empty if the
    /// fault concerns the whole description.
    pub path: String,
    /// A sentence that states the fault.
    pub message: String,
    /// Advice on the correct input.
    pub help: String,
    /// The byte range within the text of the field that is at fault, if not the whole text.
    pub part: Option<Range<usize>>,
}

impl Fault {
    /// Creates a fault of the field at `path`.
    #[must_use]
    pub fn new(path: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into(), help: help.into(), part: None }
    }

    /// Creates the fault of an empty name, which output would not show; `None` if `name` is not empty. `of` is what has
    /// the name.
    #[must_use]
    pub fn of_empty_name(path: &str, of: &str, name: &str) -> Option<Self> {
        name.trim().is_empty().then(|| Self::new(path, format!("the {of} has an empty name"), "give it a name"))
    }

    /// Returns the same fault as seen from the owner of the faulty part, which is in the field `parent`.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        let separator = if self.path.is_empty() || parent.is_empty() { "" } else { "." };
        self.path = format!("{parent}{separator}{}", self.path);
        self
    }
}

/// Converts an error of the whole description, for which no advice is known.
impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::new("", message, "change the program")
    }
}

/// Returns the `faults` of a part that is in the field `parent`, as seen from its owner.
pub fn within<'p>(parent: &'p str, faults: impl IntoIterator<Item = Fault> + 'p) -> impl Iterator<Item = Fault> + 'p {
    faults.into_iter().map(move |fault| fault.within(parent))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{} ({})", self.path, self.message, self.help)
    }
}

impl std::error::Error for Fault {}

/// The faults for which a description is rejected; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(pub Vec<Fault>);

impl Rejection {
    /// Returns `Ok` if there are no faults.
    ///
    /// # Errors
    /// Returns the faults, if there are any.
    pub fn unless_empty(faults: Vec<Fault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self(faults)) }
    }
}

impl fmt::Display for Rejection {
    /// Writes all faults on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}
