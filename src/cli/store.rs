//! `--store`: a folder of results, in which every case is looked up before it is run.

use super::Failure;
use super::notice::say;
use clap::Args;
use parsim_study::experiment::{Recall, StudyError};
use parsim_study::store::Store;
use std::path::PathBuf;

/// Arguments of commands that keep results.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// Keeps the results in this folder and runs only what it lacks; any number of processes may share it.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Runs again what failed before.
    #[arg(long, requires = "store")]
    retry_failed: bool,
}

impl StoreArguments {
    /// Opens the store, if one is given.
    pub fn open(&self) -> Result<Option<Store>, Failure> {
        let store = self.store.as_deref().map(Store::open).transpose().map_err(StudyError::from)?;
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
pub fn finish(store: Option<&Store>) -> Result<(), Failure> {
    Ok(store.map_or(Ok(()), Store::finish).map_err(StudyError::from)?)
}
