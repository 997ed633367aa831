//! The text of a regular file, or of the standard input, and the reasons why there is none.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::scenario::source::standard_input::standard_input;

/// The most bytes of a file.
pub(super) const LARGEST: u64 = 1 << 20;

/// Reason why a file has no text.
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

/// Opens a file to be read, unless it is a folder, a device, a pipe or a socket: opening or reading one of these may
/// wait for ever.
///
/// # Errors
/// As [`File::open`], and [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let regular = |metadata: fs::Metadata| match special(&metadata) {
        None => Ok(()),
        Some(what) => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, and a regular file is wanted")))
        }
    };
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    // Another file may have taken its place since.
    regular(file.metadata()?)?;
    Ok(file)
}

/// The kind of a file that is not a regular one.
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

/// True of what lies in `/proc`, where reading a regular file may wait for ever, too.
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
    UnreadableFile::Other(format!("it holds {size}, and the limit is {LARGEST} bytes (1 MiB)"))
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
