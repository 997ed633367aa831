//! Errors of stores.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The reason why a store cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or the folder cannot be read.
    #[error("{}: the store cannot be read: {error}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: Arc<io::Error>,
    },
    /// A file or the folder cannot be written.
    #[error("{}: the store cannot be written: {error}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: Arc<io::Error>,
    },
    /// A file is not a segment of a store.
    #[error("{}: this is not a segment of a parsim store: move it to another folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by another version of parsim.
    #[error(
        "{}: the segment has version {version} of its format, and this parsim reads version {}: use the parsim that wrote it, or another folder",
        path.display(),
        super::segment::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The format version of the file.
        version: u16,
    },
    /// A record is undamaged, but its content is not what this version of parsim writes.
    #[error(
        "{}: the record at byte {offset} is intact, but not a result of this parsim: move the file to another folder, and its cases are run again",
        path.display()
    )]
    Undecoded {
        /// The file.
        path: PathBuf,
        /// The offset of the record in the file, in bytes.
        offset: u64,
    },
}

impl StoreError {
    /// Returns a converter for errors when reading `path`.
    pub(super) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Unreadable { path, error: Arc::new(error) }
    }

    /// Returns a converter for errors when writing `path`.
    pub(super) fn unwritable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Unwritable { path, error: Arc::new(error) }
    }
}
