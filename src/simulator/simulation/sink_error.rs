//! Errors of a sink, kept in errors that can be cloned and compared.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// The I/O error of a sink. Two are equal if they have the same kind and message.
#[derive(Clone, Debug)]
pub struct SinkError(Arc<io::Error>);

impl Deref for SinkError {
    type Target = io::Error;
    fn deref(&self) -> &io::Error {
        &self.0
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for SinkError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

impl From<io::Error> for SinkError {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}
