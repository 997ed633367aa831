//! The folders of validation cases.

use super::CASE;
use crate::experiment::StudyError;
use std::path::{Path, PathBuf};

/// Returns the folders of the named cases, given as folders or as names below `validation`; all cases there if none is
/// named.
///
/// # Errors
/// Returns an error for a name without a case, or a folder that cannot be listed.
pub fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>, StudyError> {
    let root = Path::new("validation");
    if named.is_empty() {
        let entries = std::fs::read_dir(root)
            .map_err(|error| StudyError::Request(format!("`validation` cannot be listed: {error}; name a folder")))?;
        let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        folders.retain(|folder| folder.join(CASE).is_file());
        folders.sort();
        return Ok(folders);
    }
    let find = |name: &PathBuf| {
        let candidates = [name.clone(), root.join(name)];
        let found = candidates.into_iter().find(|folder| folder.join(CASE).is_file());
        found.ok_or_else(|| StudyError::Request(format!("there is no validation case `{}`", name.display())))
    };
    named.iter().map(find).collect()
}

/// Reports the tables that are left out, if there are any.
#[must_use]
pub fn note_on_long(folder: &Path, tables: &[String]) -> Option<String> {
    let (folder, list) = (folder.display(), tables.join("; "));
    (!tables.is_empty()).then(|| format!("{folder}: these tables take long and are run only with --all: {list}"))
}
