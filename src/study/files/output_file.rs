//! A single output file.

use super::in_progress::{self, TemporaryGuard};
use super::{FileError, flushed, unwritable};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// The suffix of the names of unfinished files.
const UNFINISHED: &str = ".part";
/// The size of the write buffer. The rows of a million cases are hundreds of megabytes.
const BUFFER_BYTES: usize = 1 << 16;
/// The longest chain of symbolic links that is followed, as in common systems.
const LONGEST_CHAIN: usize = 40;

/// A file that is written next to its final place and moved there when it is complete. Pipes and devices are written
/// directly.
pub struct OutputFile {
    path: PathBuf,
    sink: BufWriter<File>,
    replacement: Option<Replacement>,
}

/// The unfinished file and its destination.
struct Replacement {
    unfinished: TempPath,
    destination: PathBuf,
    /// The registration that removes the unfinished file on an interrupt.
    temporary: TemporaryGuard,
}

impl OutputFile {
    /// Opens the file `path` for writing.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let (file, replacement) = match destination(path) {
            WriteTarget::Direct => (OpenOptions::new().append(true).open(path), None),
            WriteTarget::File(place) => match in_progress::temporary(|| begin(&place)) {
                Ok((file, unfinished, temporary)) => {
                    (Ok(file), Some(Replacement { unfinished, destination: place, temporary }))
                }
                Err(error) => (Err(error), None),
            },
        };
        let file = file.map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), sink: BufWriter::with_capacity(BUFFER_BYTES, file), replacement })
    }

    /// Keeps the unfinished file at its temporary path, which is returned. Returns `None` for a pipe or device.
    #[must_use]
    pub fn keep_unfinished(self) -> Option<PathBuf> {
        self.replacement.and_then(|replacement| replacement.unfinished.keep().ok())
    }

    /// Keeps the unfinished file, which contains complete lines, if an interrupt ends the process.
    pub fn keep_when_interrupted(&self) {
        if let Some(replacement) = &self.replacement {
            replacement.temporary.keep();
        }
    }

    /// Removes what has been written to the unfinished file, so that it can be written again.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn restart(&mut self) -> io::Result<()> {
        self.sink.rewind()?;
        self.sink.get_ref().set_len(0)
    }

    /// Returns whether the file has its place only when it is complete; pipes and devices are written directly.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        self.replacement.is_some()
    }

    /// Completes the file and moves it to its final place.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn commit(mut self) -> Result<(), FileError> {
        flushed(&self.path, &mut self.sink)?;
        let Some(Replacement { unfinished, destination, temporary }) = self.replacement else { return Ok(()) };
        // Some file systems report only now that they are full.
        self.sink.get_ref().sync_data().map_err(|error| unwritable(&self.path, &error))?;
        unfinished.persist(destination).map_err(|error| unwritable(&self.path, &error.error))?;
        drop(temporary);
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Returns `true` for the path of an open file of the process, such as `/dev/stdout`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// The target of output to a path.
pub(super) enum WriteTarget {
    /// An existing pipe or device, which is written directly.
    Direct,
    /// A file at this path, after links have been followed.
    File(PathBuf),
}

/// Follows the symbolic links of `path`.
pub(super) fn destination(path: &Path) -> WriteTarget {
    let mut place = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        // The path of an open file, such as `/dev/stdout`, is not replaced by its target, even if it is a link.
        if is_stream(&place) {
            return WriteTarget::Direct;
        }
        let Ok(target) = fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    match fs::metadata(&place) {
        Ok(found) if !found.is_file() && !found.is_dir() => WriteTarget::Direct,
        _ => WriteTarget::File(place),
    }
}

/// Creates a temporary file in the folder of `place`, with the permissions of the file that it will replace.
fn begin(place: &Path) -> io::Result<(File, TempPath)> {
    let older = match fs::metadata(place) {
        // The permissions of the folder would allow the rename, but a file without write permission must not be
        // replaced.
        Ok(_) => Some(OpenOptions::new().append(true).open(place)?.metadata()?.permissions()),
        Err(_) => None,
    };
    let name = place.file_name().ok_or_else(|| io::Error::other("this is not a file name"))?;
    let prefix = format!(".{}.", name.to_string_lossy());
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(UNFINISHED);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (file, unfinished) = builder.tempfile_in(folder_of(place))?.into_parts();
    if let Some(permissions) = older {
        file.set_permissions(permissions)?;
    }
    Ok((file, unfinished))
}

/// Returns the folder of a file.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
