//! Commands that answer with rows, as a validation asks them.

use parsim_study::answer::Record;
use parsim_study::experiment::{Recall, StudyError};
use parsim_study::files::Claims;

/// A command that answers with rows.
pub trait RowCommand {
    /// The files that it would write.
    fn claims(&self) -> Claims;

    /// Returns whether it is given a store of its own.
    fn has_store(&self) -> bool {
        false
    }

    /// The rows of its answer; results of runs are looked up in `recall`.
    fn records(&self, recall: Recall<'_>) -> Result<Vec<Record>, StudyError>;
}
