//! `--store`: a folder of results, in which every case is looked up before it is run.

use super::notice::say;
use clap::Args;
use parsim_study::experiment::{Recall, StudyError};
use parsim_study::store::Store;
use std::path::PathBuf;

/// Arguments of commands that keep results.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArguments {
    /// Keeps the results in this folder and runs only what it lacks; any number of processes may share it.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Runs again what failed before.
    #[arg(long, requires = "store")]
    retry_failed: bool,
}

impl StoreArguments {
    /// Returns whether a store is given.
    pub const fn is_given(&self) -> bool {
        self.store.is_some()
    }

    /// Does `work` that looks results up in the store, if one is given, and waits until new ones are kept for good.
    pub fn with<T>(&self, work: impl FnOnce(Recall<'_>) -> Result<T, StudyError>) -> Result<T, StudyError> {
        let store = self.open()?;
        let done = work(self.recall(store.as_ref()));
        finish(store.as_ref())?;
        done
    }

    /// Opens the store, if one is given.
    pub fn open(&self) -> Result<Option<Store>, StudyError> {
        let store = self.store.as_deref().map(Store::open).transpose()?;
        Ok(store.inspect(warn))
    }

    /// Looks results up in `store`, if there is one.
    pub fn recall<'s>(&self, store: Option<&'s Store>) -> Recall<'s> {
        store.map_or_else(Recall::default, |store| Recall::from(store, self.retry_failed))
    }
}

/// Says which records of `store` are not whole.
pub fn warn(store: &Store) {
    store.warnings().for_each(|text| say(Some(text)));
}

/// Waits until the results of this process are kept for good.
pub fn finish(store: Option<&Store>) -> Result<(), StudyError> {
    Ok(store.map_or(Ok(()), Store::finish)?)
}
