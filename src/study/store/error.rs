//! The reasons why a store cannot be used.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The reason why a store cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
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
    /// A file is no segment of a store.
    #[error("{}: this is no segment of a store of parsim: move it to another folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another version of parsim has written the file.
    #[error(
        "{}: the segment has version {version} of its format, and this parsim reads version {}: use the parsim that wrote it, or another folder",
        path.display(),
        super::segment::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// A record is whole, but holds something else than this version of parsim writes.
    #[error(
        "{}: the record at byte {offset} is whole, but no result of this parsim: move the file to another folder, and its cases are run again",
        path.display()
    )]
    Undecoded {
        /// The file.
        path: PathBuf,
        /// The begin of the record.
        offset: u64,
    },
}

impl StoreError {
    /// `path` cannot be read.
    pub(super) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Unreadable { path, error: Arc::new(error) }
    }

    /// `path` cannot be written.
    pub(super) fn unwritable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Unwritable { path, error: Arc::new(error) }
    }
}
