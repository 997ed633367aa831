//! Files that commands write.

use super::Failure;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Has `write` fill a new file.
///
/// # Errors
/// What `write` says, or that the file cannot be written; then no part of it is left.
pub fn create(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    fill(path, |sink| write(sink).map_err(|error| unwritable(path, &error)))
}

/// As [`create`], for what can fail in other ways, too, and gives something.
pub fn fill<T>(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>) -> Result<T, Failure> {
    let mut sink = BufWriter::new(File::create(path).map_err(|error| unwritable(path, &error))?);
    let filled = write(&mut sink).and_then(|value| match sink.flush() {
        Ok(()) => Ok(value),
        Err(error) => Err(unwritable(path, &error)),
    });
    // Pipes and devices stay.
    if filled.is_err() && fs::symlink_metadata(path).is_ok_and(|file| file.is_file()) {
        // What went wrong first is what is told.
        fs::remove_file(path).ok();
    }
    filled
}

/// Makes a folder and those around it, as far as they are not there.
///
/// # Errors
/// That it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

/// Makes the folder in which a file is going to be, so that long work does not end without a place for its result.
///
/// # Errors
/// As [`make_folder`].
pub fn make_folder_of(path: &Path) -> Result<(), Failure> {
    path.parent().map_or(Ok(()), make_folder)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/file");
        make_folder_of(&file).unwrap();
        create(&file, |sink| sink.write_all(b"all")).unwrap();
        make_folder_of(Path::new("file")).unwrap();
        assert!(matches!(make_folder_of(&file.join("c")), Err(Failure::Usage(_))));
    }

    #[test]
    fn a_file_is_complete_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        create(&file, |sink| sink.write_all(b"all")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"all");
        let half = |sink: &mut BufWriter<File>| {
            sink.write_all(b"half").and_then(|()| sink.flush()).and(Err(io::Error::other("the disk is full")))
        };
        assert!(matches!(create(&file, half), Err(Failure::Usage(message)) if message.ends_with("the disk is full")));
        assert!(!file.exists());
        assert!(create(folder.path(), |_| Ok(())).is_err() && folder.path().is_dir());
    }
}
