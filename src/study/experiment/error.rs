//! Errors of experiments.

use crate::scenario::source::{Document, Faults, SourceFault, Sources};
use crate::store::StoreError;
use parsim_sim::simulation::SimulationError;
use std::fmt;

/// The reason why a case has no outcome.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaseError {
    /// The case cannot be run as described.
    Faulty(Box<Faults>),
    /// The run did not complete, or hit a defect in parsim.
    Failed(SimulationError),
}

impl CaseError {
    /// Returns `true` if parsim itself is at fault.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Failed(SimulationError::Defect(_)))
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faulty(faults) => f.write_str(faults.list.first().map_or("", |fault| &fault.message)),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CaseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Faulty(faults) => Some(&**faults),
            Self::Failed(error) => error.source(),
        }
    }
}

impl From<Faults> for CaseError {
    fn from(faults: Faults) -> Self {
        Self::Faulty(Box::new(faults))
    }
}

impl From<SimulationError> for CaseError {
    fn from(error: SimulationError) -> Self {
        Self::Failed(error)
    }
}

/// The reason why an experiment has no result, or only a partial one.
#[derive(Clone)]
pub enum StudyError {
    /// The scenario or another input file has faults.
    Faults(Faults),
    /// The request refers to something that does not exist or cannot be done.
    Request(String),
    /// An argument of the experiment is invalid: its name, and a message with its value and what would be right.
    Argument(&'static str, String),
    /// Some runs did not complete, with a message for each.
    Failed(Vec<String>),
    /// Some runs hit a defect in parsim itself, with a message for each that did not complete.
    Defect(Vec<String>),
}

impl StudyError {
    /// Returns the error that something did not complete, with one message.
    #[must_use]
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::Failed(vec![message.to_string()])
    }

    /// Returns the error that the filter leaves no case.
    #[must_use]
    pub fn no_case() -> Self {
        Self::Request("the filter leaves no case".to_owned())
    }

    /// Places a request, or faults without a place, at the `field` of the value at the path `at` of a case. Faults of
    /// other files carry their own places.
    #[must_use]
    pub fn within(self, case: &Document, at: &str, field: &str) -> Self {
        let path = if field.is_empty() { at.to_owned() } else { format!("{at}.{field}") };
        let placed = |fault: &SourceFault| case.fault_at(&path, &fault.message, fault.help.as_deref());
        match self {
            Self::Request(message) => Self::Faults(case.faults(vec![placed(&SourceFault::new(&message))])),
            Self::Faults(faults) if faults.list.iter().all(|fault| fault.place.is_none()) => {
                Self::Faults(case.faults(faults.list.iter().map(placed).collect()))
            }
            other => other,
        }
    }

    /// Prefixes the message with the place where the error arose; faults carry their own places.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        let with = |message: String| format!("{place}: {message}");
        match self {
            Self::Request(message) => Self::Request(with(message)),
            Self::Failed(messages) => Self::Failed(messages.into_iter().map(with).collect()),
            Self::Defect(messages) => Self::Defect(messages.into_iter().map(with).collect()),
            Self::Faults(_) | Self::Argument(..) => self,
        }
    }
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faults(faults) => f.write_str(&faults.render(false)),
            Self::Argument(name, message) => write!(f, "{name} {message}"),
            Self::Request(message) => f.write_str(message),
            Self::Failed(messages) | Self::Defect(messages) => f.write_str(&messages.join("\n")),
        }
    }
}

impl fmt::Debug for StudyError {
    /// Writes the same as `Display`, so that an error returned by `main` can be read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_string().trim_end())
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
        Self::failed(error)
    }
}

impl From<CaseError> for StudyError {
    fn from(error: CaseError) -> Self {
        match error {
            CaseError::Faulty(faults) => Self::Faults(*faults),
            CaseError::Failed(error) => error.into(),
        }
    }
}

impl From<SimulationError> for StudyError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::NothingToRecord { .. } | SimulationError::Rejected(_) => Self::Request(error.to_string()),
            SimulationError::Defect(_) => Self::Defect(vec![error.to_string()]),
            _ => Self::failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn the_faults_of_a_case_are_the_source_of_its_error() {
        let faults = Document::from_text("x.ron", "[1").unwrap_err();
        let error = CaseError::from(faults.clone());
        assert_eq!(error.source().unwrap().to_string(), faults.to_string());
        assert!(CaseError::from(SimulationError::Recalled("an error".to_owned())).source().is_none());
    }

    #[test]
    fn a_defect_stays_one() {
        let defect = CaseError::from(SimulationError::Defect("lost".to_owned()));
        assert!(matches!(StudyError::from(defect), StudyError::Defect(_)));
    }

    #[test]
    fn an_error_of_main_can_be_read() {
        let faults = Document::from_text("x.ron", "[1").unwrap_err();
        let shown = format!("{:?}", StudyError::from(faults.clone()));
        assert_eq!(shown, format!("{faults:?}"));
        assert_eq!(format!("{:?}", StudyError::no_case()), "the filter leaves no case");
    }
}
