//! The files that a command will write, checked before its work starts.

use super::output_file::{OutputFile, WriteTarget, destination, folder_of};
use super::{FileError, InterruptRegistration, make_folder, on_interrupt};
use std::fs;
use std::path::{Path, PathBuf};

/// The output files of a command, with the options that name them, its output folders, and the files that it reads.
#[derive(Default)]
pub struct OutputClaims {
    inputs: Vec<PathBuf>,
    outputs: Vec<(&'static str, PathBuf)>,
    folders: Vec<PathBuf>,
    fault: Option<String>,
}

impl OutputClaims {
    /// Adds an output file, if `path` is given.
    #[must_use]
    pub fn output(mut self, option: &'static str, path: Option<&Path>) -> Self {
        self.outputs.extend(path.map(|path| (option, path.to_owned())));
        self
    }

    /// Adds an output folder, if `path` is given.
    #[must_use]
    pub fn folder(mut self, path: Option<&Path>) -> Self {
        self.folders.extend(path.map(Path::to_owned));
        self
    }

    /// Adds a fault in the name of an output, if there is one.
    #[must_use]
    pub fn fault(self, fault: Option<String>) -> Self {
        Self { fault: self.fault.or(fault), ..self }
    }

    /// Adds input files.
    #[must_use]
    pub fn inputs(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.inputs.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Returns whether the command writes any file.
    #[must_use]
    pub const fn writes(&self) -> bool {
        !self.outputs.is_empty() || !self.folders.is_empty()
    }

    /// Creates missing folders and checks that every output can be written. Folders that are still empty when the result
    /// is dropped are removed.
    ///
    /// # Errors
    /// An output with an invalid name, an output that is also an input or another output, a folder that cannot be
    /// created, or a file that cannot be written.
    pub fn check(&self) -> Result<ClaimedFolders, FileError> {
        let mut created = ClaimedFolders::default();
        let mut taken: Vec<(FileIdentity, &str)> = Vec::new();
        for (option, path) in &self.outputs {
            let shown = path.display();
            if path.as_os_str() == "-" {
                let help = "give a file name, or `./-` for a file called `-`";
                return Err(FileError::InvalidPath(format!(
                    "{option} -: only data can go to the standard output: {help}"
                )));
            }
            let WriteTarget::File(place) = destination(path) else { continue };
            let own = FileIdentity::of(&place);
            if self.inputs.iter().any(|input| is_read(input, &place, own.as_ref())) {
                let message = format!("{option} {shown}: this file is read by the command: choose another file");
                return Err(FileError::InvalidPath(message));
            }
            created.create(folder_of(&place))?;
            let own = FileIdentity::of(&place);
            if let Some((_, other)) = taken.iter().find(|(taken, _)| Some(taken) == own.as_ref()) {
                let message = format!("{option} {shown}: {other} writes to the same file: give each its own file");
                return Err(FileError::InvalidPath(message));
            }
            taken.extend(own.map(|own| (own, *option)));
            drop(OutputFile::open(path)?);
        }
        self.folders.iter().try_for_each(|folder| created.create(folder))?;
        self.fault.clone().map_or(Ok(created), |fault| Err(FileError::InvalidPath(fault)))
    }
}

/// The folders that were created for outputs. Those that are still empty are removed when the value is dropped, or by an
/// interrupt.
#[derive(Default)]
#[must_use]
pub struct ClaimedFolders(Vec<CreatedFolders>);

struct CreatedFolders {
    /// A folder and those of its ancestors that were missing.
    paths: Vec<PathBuf>,
    _on_interrupt: InterruptRegistration,
}

impl ClaimedFolders {
    /// Creates a folder and its missing ancestors.
    fn create(&mut self, folder: &Path) -> Result<(), FileError> {
        let missing = folder.ancestors().take_while(|one| !one.as_os_str().is_empty() && !one.exists());
        let paths: Vec<_> = missing.map(Path::to_owned).collect();
        make_folder(folder)?;
        let left = paths.clone();
        self.0.push(CreatedFolders { paths, _on_interrupt: on_interrupt(move || remove_empty(&left)) });
        Ok(())
    }
}

impl Drop for ClaimedFolders {
    fn drop(&mut self) {
        self.0.iter().rev().for_each(|created| remove_empty(&created.paths));
    }
}

/// Removes the folders that are empty; a folder stands before its ancestors.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        drop(fs::remove_dir(folder));
    }
}

/// Returns `true` if the existing file `place` is `input`, or is in the folder `input`, all of whose files are read.
fn is_read(input: &Path, place: &Path, own: Option<&FileIdentity>) -> bool {
    let is_within = input.is_dir() && place.exists() && FileIdentity::of(input) == FileIdentity::of(folder_of(place));
    is_within || FileIdentity::of(input).is_some_and(|input| Some(&input) == own)
}

/// The identity of a file, which is equal for all of its names.
#[derive(PartialEq, Eq)]
enum FileIdentity {
    /// An existing file, identified by device and inode, so that hard links are equal.
    #[cfg(unix)]
    Node(u64, u64),
    /// A file identified by its canonical path.
    Place(PathBuf),
}

impl FileIdentity {
    /// Returns the identity of a file, or `None` if its folder does not exist.
    fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if let Ok(found) = fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return Some(Self::Node(found.dev(), found.ino()));
        }
        if let Ok(place) = fs::canonicalize(path) {
            return Some(Self::Place(place));
        }
        Some(Self::Place(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?)))
    }
}
