//! Files that are written: beside their place first, then renamed, so that an older file survives whatever fails.

mod claims;
mod output;
mod output_file;
mod under_way;

pub use claims::Claims;
pub use output::AnswerOutput;
pub use output_file::{OutputFile, folder_of, is_stream};
pub use under_way::{Announced, announce, end};

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Reason why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Its name is that of another file, or says what is not written.
    #[error("{0}")]
    Refused(String),
    /// It cannot be written.
    #[error("{0}")]
    Unwritable(String),
    /// The bytes cannot be given away.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Has `write` fill a file, which appears when it is complete.
///
/// # Errors
/// The error of `write`, or that the file cannot be written; then an older file of that name is as it was.
pub fn create(path: &Path, write: impl FnOnce(&mut OutputFile) -> io::Result<()>) -> Result<(), FileError> {
    fill(path, |sink| write(sink).map_err(|error| unwritable(path, &error)))
}

/// Does as [`create`], for what can fail in other ways, too, and returns something.
///
/// # Errors
/// The error of `write`, or that the file cannot be written; then an older file of that name is as it was.
pub fn fill<T, E: From<FileError>>(path: &Path, write: impl FnOnce(&mut OutputFile) -> Result<T, E>) -> Result<T, E> {
    let mut file = OutputFile::open(path)?;
    let value = write(&mut file)?;
    file.commit()?;
    Ok(value)
}

/// Makes a folder and those around it, as far as they are not there.
///
/// # Errors
/// That it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> FileError {
    FileError::Unwritable(format!("{}: {error}", path.display()))
}

/// Flushes `sink`, so that a full disk is noticed.
fn flushed(path: &Path, sink: &mut impl Write) -> Result<(), FileError> {
    sink.flush().map_err(|error| unwritable(path, &error))
}

#[cfg(test)]
mod tests;
