//! Files that commands write: beside their place first, then renamed, so that an older file survives whatever fails.

mod claims;
mod output_file;

pub use claims::Claims;
pub use output_file::{OutputFile, folder_of, is_stream};

use super::Failure;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Has `write` fill a file, which appears when it is complete.
///
/// # Errors
/// The error of `write`, or that the file cannot be written; then an older file of that name is as it was.
pub fn create(path: &Path, write: impl FnOnce(&mut OutputFile) -> io::Result<()>) -> Result<(), Failure> {
    fill(path, |sink| write(sink).map_err(|error| unwritable(path, &error)))
}

/// Does as [`create`], for what can fail in other ways, too, and returns something.
pub fn fill<T>(path: &Path, write: impl FnOnce(&mut OutputFile) -> Result<T, Failure>) -> Result<T, Failure> {
    let mut file = OutputFile::open(path)?;
    let value = write(&mut file)?;
    file.commit()?;
    Ok(value)
}

/// Writes several files, so that one that cannot be written does not cost the others.
///
/// # Errors
/// All that failed, one line each; the first failure that is not about a file ends it.
pub fn each(results: impl IntoIterator<Item = Result<(), Failure>>) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for result in results {
        match result {
            Err(Failure::Unwritable(message)) => failed.push(message),
            other => other?,
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Unwritable(failed.join("\nparsim: "))) }
}

/// Makes a folder and those around it, as far as they are not there.
///
/// # Errors
/// That it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Unwritable(format!("{}: {error}", path.display()))
}

/// Flushes `sink`, so that a full disk is noticed.
fn flushed(path: &Path, sink: &mut impl Write) -> Result<(), Failure> {
    sink.flush().map_err(|error| unwritable(path, &error))
}

#[cfg(test)]
mod tests;
