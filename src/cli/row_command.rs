//! The interface of commands that answer with rows, for validations.

use parsim_study::answer::Record;
use parsim_study::experiment::{Recall, StudyError};
use parsim_study::files::OutputClaims;

/// A command that answers with rows.
pub trait RowCommand {
    /// Returns the claims of the files that the command would write.
    fn claims(&self) -> OutputClaims;

    /// Returns whether the command line has a separate store.
    fn has_store(&self) -> bool {
        false
    }

    /// Returns the rows of the answer; results of runs are looked up in `recall`.
    fn records(&self, recall: Recall<'_>) -> Result<Vec<Record>, StudyError>;
}
