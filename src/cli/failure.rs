//! Failures of commands.

use super::notice::{self, say};
use parsim_sim::simulation::SimulationError;
use parsim_study::experiment::{StudyError, one_a_line};
use parsim_study::files::FileError;
use parsim_study::scenario::source::{Faults, SourceFault, Sources};
use std::io;

/// A failure, which knows how to be shown and which exit code it is.
#[derive(Debug)]
pub enum Failure {
    /// The scenario or another input file is bad.
    Faults(Faults),
    /// The command line asks for something that does not exist.
    Usage(String),
    /// Some simulations failed; what went wrong has been said.
    Simulation(String),
    /// parsim itself is at fault in some cases; which ones has been said.
    Defect(String),
    /// A validation is out of its tolerance; which one has been said.
    OutOfTolerance,
    /// The output could not be written.
    Output(io::Error),
    /// Files could not be written; which ones and why.
    Unwritable(String),
}

impl Failure {
    /// Tells the user, on stderr.
    pub fn report(&self) {
        match self {
            Self::Faults(faults) => notice::write(faults.render(notice::has_colours())),
            Self::Usage(message) | Self::Simulation(message) | Self::Defect(message) | Self::Unwritable(message) => {
                say(Some(message));
            }
            Self::OutOfTolerance => say(Some("the validation is out of tolerance")),
            Self::Output(error) if is_closed(error) => {}
            Self::Output(error) => say(Some(format_args!("the output cannot be written: {error}"))),
        }
    }

    /// The exit code. Output that nobody wants to read any more is no failure.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Output(error) if is_closed(error) => 0,
            Self::Simulation(_) | Self::Output(_) | Self::Unwritable(_) => 1,
            Self::Faults(_) | Self::Usage(_) => 2,
            Self::OutOfTolerance => 3,
            Self::Defect(_) => 101,
        }
    }
}

/// The results of several files, each of which has been written or not: so that one that cannot be written does not cost the others.
///
/// # Errors
/// All that failed, one line each; the first failure that is not about a file ends it.
pub fn each<E: Into<Failure>>(results: impl IntoIterator<Item = Result<(), E>>) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for result in results {
        match result.map_err(E::into) {
            Err(Failure::Unwritable(message)) => failed.push(message),
            other => other?,
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Unwritable(one_a_line(&failed))) }
}

fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::Faults(faults)
    }
}

impl From<SourceFault> for Failure {
    fn from(fault: SourceFault) -> Self {
        Self::Faults(Faults::new(Sources::default(), vec![fault]))
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Refused(message) => Self::Usage(message),
            FileError::Unwritable(message) => Self::Unwritable(message),
            FileError::Io(error) => Self::Output(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        StudyError::from(error).into()
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Faults(faults) => Self::Faults(faults),
            StudyError::Request(message) => Self::Usage(message),
            StudyError::Argument(name, message) => Self::Usage(format!("--{name} {message}")),
            StudyError::Failed(message) => Self::Simulation(message),
            StudyError::Defect(message) => Self::Defect(message),
        }
    }
}
