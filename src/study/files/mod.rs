//! Output files. A file is written next to its final place and then renamed, so that an older file survives any
//! failure.

mod claims;
mod in_progress;
mod output;
mod output_file;

pub use claims::{ClaimedFolders, OutputClaims};
pub use in_progress::{InterruptRegistration, end, on_interrupt, yield_to_interrupt};
pub use output::AnswerOutput;
pub use output_file::{OutputFile, folder_of, is_stream};

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The reason why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path is invalid, or is that of another file of the same command.
    #[error("{0}")]
    InvalidPath(String),
    /// The file cannot be written.
    #[error("{0}")]
    Unwritable(String),
    /// The bytes cannot be passed on.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Creates a file with the content that `write` produces. The file appears when it is complete.
///
/// # Errors
/// The error of `write`, or an error of the file system. An older file with this path is then unchanged.
pub fn create(path: &Path, write: impl FnOnce(&mut OutputFile) -> io::Result<()>) -> Result<(), FileError> {
    create_with(path, |sink| write(sink).map_err(|error| unwritable(path, &error)))
}

/// Works as [`create`] for a `write` that returns a value and has its own type of errors.
///
/// # Errors
/// The error of `write`, or an error of the file system. An older file with this path is then unchanged.
pub fn create_with<T, E: From<FileError>>(
    path: &Path,
    write: impl FnOnce(&mut OutputFile) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = OutputFile::open(path)?;
    let value = write(&mut file)?;
    file.commit()?;
    Ok(value)
}

/// Creates a folder and its missing ancestors.
///
/// # Errors
/// An error of the file system.
pub fn make_folder(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> FileError {
    FileError::Unwritable(format!("{}: {error}", path.display()))
}

/// Flushes `sink`, so that a full disk is reported.
fn flushed(path: &Path, sink: &mut impl Write) -> Result<(), FileError> {
    sink.flush().map_err(|error| unwritable(path, &error))
}

#[cfg(test)]
mod tests;
