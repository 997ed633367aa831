//! The reasons why an experiment has no result.

use crate::scenario::source::{Faults, SourceFault, Sources};
use crate::store::StoreError;
use parsim_sim::simulation::SimulationError;
use std::fmt;

/// The reason why an experiment has no result, or no whole one.
#[derive(Clone, Debug)]
pub enum StudyError {
    /// The scenario or another input file is bad.
    Faults(Faults),
    /// A request for something that does not exist.
    Request(String),
    /// An argument of the experiment, by its name, asks for what does not exist: its value, and what would be right.
    Argument(&'static str, String),
    /// Runs came to no end.
    Failed(String),
    /// parsim itself is at fault in some of them.
    Defect(String),
}

impl StudyError {
    /// A filter leaves no case.
    #[must_use]
    pub fn no_case() -> Self {
        Self::Request("the filter leaves no case".to_owned())
    }

    /// The same error with the place at which it arose; faults have places of their own.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        let with = |message: String| format!("{place}: {message}");
        match self {
            Self::Request(message) => Self::Request(with(message)),
            Self::Failed(message) => Self::Failed(with(message)),
            Self::Defect(message) => Self::Defect(with(message)),
            Self::Faults(_) | Self::Argument(..) => self,
        }
    }
}

/// Several messages as one: each begins a line, as the command begins its own.
#[must_use]
pub fn one_a_line(messages: &[String]) -> String {
    messages.join("\nparsim: ")
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faults(faults) => f.write_str(&faults.render(false)),
            Self::Argument(name, message) => write!(f, "{name} {message}"),
            Self::Request(message) | Self::Failed(message) | Self::Defect(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for StudyError {}

impl From<Faults> for StudyError {
    fn from(faults: Faults) -> Self {
        Self::Faults(faults)
    }
}

impl From<SourceFault> for StudyError {
    fn from(fault: SourceFault) -> Self {
        Self::Faults(Faults::new(Sources::default(), vec![fault]))
    }
}

impl From<StoreError> for StudyError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<SimulationError> for StudyError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::NothingToRecord { .. } | SimulationError::Rejected(_) => Self::Request(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}
