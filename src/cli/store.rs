//! `--store`: a folder of results, in which every case is looked up before it is run.

use super::notice::{note, say};
use clap::Args;
use parsim_study::experiment::{Recall, StudyError};
use parsim_study::files::{InterruptRegistration, on_interrupt};
use parsim_study::scenario::source::is_standard_input;
use parsim_study::store::Store;
use std::path::{Path, PathBuf};

/// Options of commands that keep results.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArguments {
    /// Keeps the results in this folder and runs only missing cases; any number of processes may share the folder.
    #[arg(long, value_name = "DIR", value_parser = folder)]
    store: Option<PathBuf>,
    /// Runs failed cases again.
    #[arg(long, requires = "store")]
    retry_failed: bool,
}

impl StoreArguments {
    /// Returns whether a store is given.
    pub const fn is_given(&self) -> bool {
        self.store.is_some()
    }

    /// Runs `work` with the store, if one is given, and waits until new results are written permanently.
    pub fn with<T>(&self, work: impl FnOnce(Recall<'_>) -> Result<T, StudyError>) -> Result<T, StudyError> {
        let store = self.open()?;
        let done = work(self.recall(store.as_ref()));
        finish(store.as_ref())?;
        done
    }

    /// Opens the store, if one is given.
    pub fn open(&self) -> Result<Option<OpenStore>, StudyError> {
        self.store.as_deref().map(OpenStore::new).transpose()
    }

    /// Returns a look-up of results in `store`, if there is one.
    pub fn recall<'s>(&self, store: Option<&'s OpenStore>) -> Recall<'s> {
        store.map(|open| &open.store).map_or_else(Recall::default, |store| Recall::from(store, self.retry_failed))
    }
}

/// Parses the name of a folder.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if is_standard_input(&path) { Err("a store is a folder: give its name".to_owned()) } else { Ok(path) }
}

/// Announces, for as long as the result lives, how to resume after an interrupt if no store is given.
pub fn announce_without_store() -> InterruptRegistration {
    let words = "interrupted: with `--store DIR`, the same command resumes with the unfinished cases";
    on_interrupt(move || note(Some(words)))
}

/// A store that accepts results. While it lives, an interrupt prints how to resume.
pub struct OpenStore {
    store: Store,
    _announced: InterruptRegistration,
}

impl OpenStore {
    fn new(folder: &Path) -> Result<Self, StudyError> {
        let store = Store::open(folder)?;
        warn(&store);
        let words =
            format!("interrupted: {} has the finished cases; the same command runs the others", folder.display());
        Ok(Self { store, _announced: on_interrupt(move || note(Some(words))) })
    }
}

/// Opens the existing store in `folder` for reading.
pub fn read(folder: &Path) -> Result<Store, StudyError> {
    if !folder.is_dir() {
        return Err(StudyError::Request(format!("--store {}: there is no such folder", folder.display())));
    }
    let store = Store::read(folder)?;
    warn(&store);
    Ok(store)
}

/// Reports incomplete records of `store` that have not been reported yet.
pub fn warn(store: &Store) {
    store.warnings().into_iter().for_each(|text| say(Some(text)));
}

/// Waits until the results of this process are written permanently.
pub fn finish(store: Option<&OpenStore>) -> Result<(), StudyError> {
    let Some(OpenStore { store, .. }) = store else { return Ok(()) };
    warn(store);
    Ok(store.finish()?)
}
