//! One file on its way to its place.

use super::under_way::{self, Temporary};
use super::{FileError, flushed, unwritable};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// The ending of the names of unfinished files.
const UNFINISHED: &str = ".part";
/// The bytes that are written at once: rows of a million cases are hundreds of megabytes.
const BUFFER_BYTES: usize = 1 << 16;
/// As many links as systems follow.
const LONGEST_CHAIN: usize = 40;

/// A file that is written beside its place and takes it when it is complete; pipes and devices are written directly.
pub struct OutputFile {
    path: PathBuf,
    sink: BufWriter<File>,
    replacement: Option<Replacement>,
}

/// The unfinished file, and the place that it is going to take.
struct Replacement {
    unfinished: TempPath,
    destination: PathBuf,
    /// Keeps an interrupt from leaving it behind.
    temporary: Temporary,
}

impl OutputFile {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let (file, replacement) = match destination(path) {
            WriteTarget::Direct => (OpenOptions::new().append(true).open(path), None),
            WriteTarget::File(place) => match begin(&place) {
                Ok((file, unfinished)) => {
                    let temporary = under_way::temporary(&unfinished);
                    (Ok(file), Some(Replacement { unfinished, destination: place, temporary }))
                }
                Err(error) => (Err(error), None),
            },
        };
        let file = file.map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), sink: BufWriter::with_capacity(BUFFER_BYTES, file), replacement })
    }

    /// Leaves the file unfinished where it is; its name, unless a pipe or device was written.
    #[must_use]
    pub fn leave(self) -> Option<PathBuf> {
        self.replacement.and_then(|replacement| replacement.unfinished.keep().ok())
    }

    /// Keeps the unfinished file if an interrupt ends the run: it holds complete lines.
    pub fn keep_when_interrupted(&self) {
        if let Some(replacement) = &self.replacement {
            replacement.temporary.keep();
        }
    }

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn commit(mut self) -> Result<(), FileError> {
        flushed(&self.path, &mut self.sink)?;
        let Some(Replacement { unfinished, destination, temporary }) = self.replacement else { return Ok(()) };
        // Some file systems tell only now that they are full.
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

/// True for the name of what a shell has opened, such as `/dev/stdout`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// The destination of output under a name.
pub(super) enum WriteTarget {
    /// Into what is there: a pipe or a device.
    Direct,
    /// Into the place of a file, of which links have been followed.
    File(PathBuf),
}

/// Follows the links of `path`.
pub(super) fn destination(path: &Path) -> WriteTarget {
    let mut place = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        // A file that a shell has opened, such as `/dev/stdout`, is no name, even if it leads to one.
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

/// A new file in the folder of `place`, with the rights of the file that it is going to replace.
fn begin(place: &Path) -> io::Result<(File, TempPath)> {
    let older = match fs::metadata(place) {
        // The folder's rights would do for a rename, but a file that may not be written stays.
        Ok(_) => Some(OpenOptions::new().append(true).open(place)?.metadata()?.permissions()),
        Err(_) => None,
    };
    let name = place.file_name().ok_or_else(|| io::Error::other("this is no name of a file"))?;
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

/// The folder in which a file is.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
