//! A store of results: a folder in which the result of a run is looked up by the id of its case.
//!
//! Every process appends whole records with checksums to a separate segment, so that any number of processes, on any
//! number of computers, can share a folder without locks. A process that is killed loses the case in progress, and a
//! power cut those of the last second. Readers index all segments, and skip payloads until they are requested. A
//! damaged record is reported and counts as missing, wherever it is.

mod error;
mod files;
mod index;
mod payload;
mod record;
mod segment;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use payload::RunResult;

use crate::scenario::CaseId;
use files::Files;
use index::{Damage, Index, RecordPlace};
use record::{ResultKind, record};
use segment::{SUFFIX, Segment};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The state of a case in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The store has no result.
    Missing,
    /// The store has the result of a completed run.
    Found,
    /// The store has a failure.
    Failed,
}

impl State {
    /// Returns the name of the state in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Found => "found",
            Self::Failed => "failed",
        }
    }
}

/// A store of results: its contents when it was opened, and the records that this process has added.
pub struct Store {
    folder: PathBuf,
    index: Index,
    /// The flaws that have not been reported yet.
    flaws: Mutex<Vec<Damage>>,
    /// Records that were too long to be checked by the index and turned out to be damaged, by segment and offset.
    damaged: Mutex<BTreeSet<(u32, u64)>>,
    files: Files,
    own: RwLock<OwnRecords>,
}

/// The segments and records of this process.
struct OwnRecords {
    segments: Vec<PathBuf>,
    /// The segment that takes new records, the last one in `segments`.
    open: Option<Segment>,
    places: HashMap<CaseId, RecordPlace>,
    /// The first reason why the store can no longer be used.
    fault: Option<StoreError>,
}

impl Store {
    /// Opens the store in `folder`, and creates the folder if it does not exist.
    ///
    /// # Errors
    /// Returns an error for a folder that cannot be created or read, or a segment that is foreign or of another
    /// version.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::unwritable(folder))?;
        Self::read(folder)
    }

    /// Opens the store in `folder` as [`open`](Self::open) does, but does not create the folder; without a folder, the
    /// store is empty.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn read(folder: &Path) -> Result<Self, StoreError> {
        let segments = segments(folder).map_err(StoreError::unreadable(folder))?;
        let (index, flaws) = Index::of(&segments)?;
        let own = OwnRecords { segments, open: None, places: HashMap::new(), fault: None };
        Ok(Self {
            folder: folder.to_owned(),
            index,
            flaws: Mutex::new(flaws),
            damaged: Mutex::default(),
            files: Files::default(),
            own: RwLock::new(own),
        })
    }

    /// Returns the damaged or incomplete records found so far, in a sentence each, and clears the list. Their cases are
    /// missing.
    pub fn warnings(&self) -> Vec<String> {
        take(&mut *lock(&self.flaws)).into_iter().map(|flaw| format!("warning: {flaw}")).collect()
    }

    /// Returns the state of a case.
    pub fn state(&self, id: CaseId) -> State {
        let sound = self.places(id).find(|place| self.is_sound(*place));
        match sound.map(|place| place.kind) {
            None => State::Missing,
            Some(ResultKind::Trace) => State::Found,
            Some(ResultKind::Failure) => State::Failed,
        }
    }

    /// Returns the result of a run, if it is known.
    ///
    /// # Errors
    /// Returns an error for files that cannot be read.
    pub fn get(&self, id: CaseId) -> Result<Option<RunResult>, StoreError> {
        for place in self.places(id) {
            if let Some(payload) = self.payload(place).map_err(|fault| self.note(fault))? {
                let undecoded = || StoreError::Undecoded { path: self.path(place), offset: place.offset };
                let result = payload::decoded(place.kind, &payload).ok_or_else(undecoded);
                return result.map(Some).map_err(|fault| self.note(fault));
            }
        }
        Ok(None)
    }

    /// Keeps the result of a run, unless it is known already. Failures that may not recur, such as a limit of wall time
    /// or a defect, are not kept.
    ///
    /// # Errors
    /// Returns an error if the result cannot be written.
    pub fn append(&self, id: CaseId, result: &RunResult) -> Result<(), StoreError> {
        let Some((kind, payload)) = payload::encoded(result) else { return Ok(()) };
        if self.places(id).any(|place| place.kind <= kind && self.is_sound(place)) {
            return Ok(());
        }
        let added = self.own_mut().append(&self.folder, id, kind, &payload);
        added.map_err(|fault| self.note(fault))
    }

    /// Checks that the store has been usable so far.
    ///
    /// # Errors
    /// Returns the first error of reading or writing.
    pub fn check(&self) -> Result<(), StoreError> {
        self.own().fault.clone().map_or(Ok(()), Err)
    }

    /// Waits until all results would survive a power cut.
    ///
    /// # Errors
    /// Returns the first error of the store.
    pub fn finish(&self) -> Result<(), StoreError> {
        self.check()?;
        self.own_mut().open.as_mut().map_or(Ok(()), Segment::sync)
    }

    /// Returns all records of a case, the best first.
    fn places(&self, id: CaseId) -> impl Iterator<Item = RecordPlace> {
        let (own, others) = (self.own().places.get(&id).copied(), self.index.places(id));
        let before = own.map_or(0, |own| others.partition_point(|place| *place < own));
        let (before, after) = others.split_at(before);
        before.iter().copied().chain(own).chain(after.iter().copied())
    }

    /// Returns `true` if the record at `place` is undamaged.
    fn is_sound(&self, place: RecordPlace) -> bool {
        place.is_checked || self.payload(place).map_err(|fault| self.note(fault)).is_ok_and(|payload| payload.is_some())
    }

    /// Returns the payload of the record at `place`; `None` if the record is damaged, which is then reported.
    fn payload(&self, place: RecordPlace) -> Result<Option<Vec<u8>>, StoreError> {
        if !place.is_checked && lock(&self.damaged).contains(&(place.segment, place.offset)) {
            return Ok(None);
        }
        let read = self.files.record(place, || self.path(place));
        let payload = read.map_err(|error| StoreError::unreadable(self.path(place))(error))?;
        if payload.is_none() && lock(&self.damaged).insert((place.segment, place.offset)) {
            lock(&self.flaws).push(Damage { path: self.path(place), offset: place.offset, is_last: false });
        }
        Ok(payload)
    }

    /// Returns the path of the segment of a record.
    fn path(&self, place: RecordPlace) -> PathBuf {
        self.own().segments[place.segment as usize].clone()
    }

    /// Records the first fault, and returns it.
    fn note(&self, fault: StoreError) -> StoreError {
        self.own_mut().fault.get_or_insert(fault).clone()
    }

    fn own(&self) -> RwLockReadGuard<'_, OwnRecords> {
        self.own.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn own_mut(&self) -> RwLockWriteGuard<'_, OwnRecords> {
        self.own.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OwnRecords {
    fn append(&mut self, folder: &Path, id: CaseId, kind: ResultKind, payload: &[u8]) -> Result<(), StoreError> {
        let mut segment = match self.open.take() {
            Some(segment) => segment,
            None => self.begin(folder)?,
        };
        let offset = match segment.append(&record(kind, id, payload)) {
            Ok(offset) => offset,
            Err(error) => {
                // A segment with a partial record stays closed, so that the partial record is its last one.
                self.close(segment);
                return Err(error);
            }
        };
        self.open = Some(segment);
        let number = u32::try_from(self.segments.len() - 1).expect("there are fewer than 2^32 files");
        self.places.insert(id, RecordPlace { id, kind, segment: number, offset, is_checked: true });
        Ok(())
    }

    /// Closes the last segment, and discards it if it has no complete record.
    fn close(&mut self, segment: Segment) {
        if segment.is_empty() {
            self.segments.pop();
            segment.discard();
        }
    }

    fn begin(&mut self, folder: &Path) -> Result<Segment, StoreError> {
        let segment = Segment::create(folder)?;
        self.segments.push(segment.path().to_owned());
        Ok(segment)
    }
}

/// Returns the segments in `folder`; none if it does not exist.
fn segments(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths: io::Result<Vec<_>> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut segments: Vec<_> =
        paths?.into_iter().filter(|path| path.extension().is_some_and(|suffix| suffix == SUFFIX)).collect();
    segments.sort();
    Ok(segments)
}
