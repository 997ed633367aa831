//! Access to files and folders.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The advice for a file that cannot be read.
pub const RELATIVE: &str =
    "a path in a file is relative to the folder of the file, and one on the command line to the current folder";

/// Opens a regular file. Anything else is rejected, because reading it may block forever.
pub fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Returns the files in a folder, sorted by name.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<_> = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// The byte order mark that some editors write before a text.
pub const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Returns a text without its byte order mark, if it has one.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(text)
}
