//! The text of a regular file or of the standard input, and the errors of reading it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::scenario::source::standard_input::standard_input;

/// Maximum size of a file, in bytes.
pub(super) const LARGEST: u64 = 4 << 20;

/// The reason why a file has no text.
pub(super) enum UnreadableFile {
    Missing,
    NotText { readable: String, at: usize },
    Other(String),
}

pub(super) fn read(path: &Path) -> Result<String, UnreadableFile> {
    let file = open_regular(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > LARGEST {
        return Err(too_large(&format!("{size} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    text_of(bytes)
}

pub(super) fn read_standard() -> Result<String, UnreadableFile> {
    text_of(standard_input(LARGEST + 1).map_err(unreadable)?)
}

fn text_of(bytes: Vec<u8>) -> Result<String, UnreadableFile> {
    if bytes.len() as u64 > LARGEST {
        return Err(too_large("more"));
    }
    String::from_utf8(bytes).map_err(not_text)
}

/// Opens a regular file for reading. Folders, devices, pipes and sockets are rejected, because opening or reading one
/// of these may block forever.
///
/// # Errors
/// As for [`File::open`], and [`io::ErrorKind::InvalidInput`] for anything but a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let regular = |metadata: fs::Metadata| match special(&metadata) {
        None => Ok(()),
        Some(what) => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a regular file"))),
    };
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    // The path may have been replaced by another file since the first check.
    regular(file.metadata()?)?;
    Ok(file)
}

/// Returns the kind of a file that is not a regular one.
fn special(metadata: &fs::Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return is_of_processes(metadata).then_some("a file of the system's processes");
    }
    if kind.is_dir() {
        return Some("a directory");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    Some("a device")
}

/// Returns `true` for files below `/proc`, where even reading a regular file may block forever.
#[cfg(unix)]
fn is_of_processes(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc").is_ok_and(|proc| proc.dev() == metadata.dev() && Path::new("/proc/self").exists())
}

#[cfg(not(unix))]
const fn is_of_processes(_: &fs::Metadata) -> bool {
    false
}

fn too_large(size: &str) -> UnreadableFile {
    UnreadableFile::Other(format!("it has {size}; the limit is {LARGEST} bytes (4 MiB)"))
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn unreadable(error: io::Error) -> UnreadableFile {
    match error.kind() {
        io::ErrorKind::NotFound => UnreadableFile::Missing,
        _ => UnreadableFile::Other(error.to_string()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn not_text(error: std::string::FromUtf8Error) -> UnreadableFile {
    let readable = String::from_utf8_lossy(error.as_bytes()).into_owned();
    UnreadableFile::NotText { readable, at: error.utf8_error().valid_up_to() }
}
