//! The files that a document may name: those of the file system, or a given set of texts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The files that a document may name: those of the file system by default, or a set of texts by path, for environments
/// without a file system.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles(Option<Arc<BTreeMap<PathBuf, String>>>);

impl NamedFiles {
    /// Returns `true` if files are read from the file system.
    pub(super) const fn are_of_system(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the text with this path, if the set contains it.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.0.as_ref()?.get(&normalised(path)).map(String::as_str)
    }

    /// Returns the canonical path of a file.
    pub(super) fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match &self.0 {
            None => path.canonicalize(),
            Some(texts) => {
                let path = normalised(path);
                if texts.contains_key(&path) { Ok(path) } else { Err(io::ErrorKind::NotFound.into()) }
            }
        }
    }
}

impl FromIterator<(PathBuf, String)> for NamedFiles {
    fn from_iter<T: IntoIterator<Item = (PathBuf, String)>>(texts: T) -> Self {
        Self(Some(Arc::new(texts.into_iter().collect())))
    }
}

/// Returns the path without `..` steps that undo the step before them.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match (part, straight.components().next_back()) {
            (Component::ParentDir, Some(Component::Normal(_))) => _ = straight.pop(),
            _ => straight.push(part),
        }
    }
    straight
}
