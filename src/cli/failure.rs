//! The failures of commands, with their messages and exit codes.

use super::notice::{self, say};
use parsim_sim::simulation::SimulationError;
use parsim_study::experiment::StudyError;
use parsim_study::files::FileError;
use parsim_study::scenario::source::{Faults, SourceFault, Sources};
use std::io;

/// The failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// The scenario or another input file has faults.
    Faults(Faults),
    /// The command line requests something that is impossible.
    Usage(String),
    /// Some simulations failed, with a message for each.
    Simulation(Vec<String>),
    /// Some cases revealed a defect of parsim, with a message for each that failed.
    Defect(Vec<String>),
    /// A validation is out of tolerance; it has been reported.
    OutOfTolerance,
    /// The output could not be written.
    Output(io::Error),
    /// Some files could not be written, with the reasons.
    Unwritable(Vec<String>),
}

impl Failure {
    /// Reports the failure to the user on stderr.
    pub fn report(&self) {
        match self {
            Self::Faults(faults) => notice::write(faults.render(notice::has_colours())),
            Self::Usage(message) => say(Some(message)),
            Self::Simulation(messages) | Self::Defect(messages) | Self::Unwritable(messages) => {
                for message in messages {
                    say(Some(message));
                }
            }
            Self::OutOfTolerance => say(Some("the validation is out of tolerance")),
            Self::Output(error) if is_closed(error) => {}
            Self::Output(error) => say(Some(format_args!("the output cannot be written: {error}"))),
        }
    }

    /// Returns the exit code. A closed output pipe is not a failure.
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

/// Combines the results of writing several files, so that a file that cannot be written does not prevent the others.
///
/// # Errors
/// All files that cannot be written, one line each; the first failure of another kind ends the iteration.
pub fn each<E: Into<Failure>>(results: impl IntoIterator<Item = Result<(), E>>) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for result in results {
        match result.map_err(E::into) {
            Err(Failure::Unwritable(messages)) => failed.extend(messages),
            other => other?,
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Unwritable(failed)) }
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
            FileError::InvalidPath(message) => Self::Usage(message),
            FileError::Unwritable(message) => Self::Unwritable(vec![message]),
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
            StudyError::Failed(messages) => Self::Simulation(messages),
            StudyError::Defect(messages) => Self::Defect(messages),
        }
    }
}
