//! What a program knows to be wrong with itself.

/// A fault that can be told before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFault {
    /// The field of the program, such as `operation`; steps within steps as `steps.0.steps.1`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl ProgramFault {
    /// A fault of the field at `path`.
    #[must_use]
    pub fn new(path: &str, message: String, help: &str) -> Self {
        Self { path: path.to_owned(), message, help: help.to_owned() }
    }
}
