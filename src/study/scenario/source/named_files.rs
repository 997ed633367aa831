//! The files that a document may name: those of the system, or a set of texts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The files that a document may name: those of the system unless it is given a set of texts by their paths, as where there is no file
/// system.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles(Option<Arc<BTreeMap<PathBuf, String>>>);

impl NamedFiles {
    /// Returns whether files are read from the system.
    pub(super) const fn are_of_system(&self) -> bool {
        self.0.is_none()
    }

    /// The text with this path, if there is one in the set.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.0.as_ref()?.get(&straight(path)).map(String::as_str)
    }

    /// The only path of a file.
    pub(super) fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match &self.0 {
            None => path.canonicalize(),
            Some(texts) => {
                let path = straight(path);
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

/// The path without detours through parents of folders.
pub(super) fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match (part, straight.components().next_back()) {
            (Component::ParentDir, Some(Component::Normal(_))) => _ = straight.pop(),
            _ => straight.push(part),
        }
    }
    straight
}
