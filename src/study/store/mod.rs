//! A store of results: a folder in which the result of a run is found again by the id of its case.
//!
//! Every process appends whole records with checksums to a segment of its own, so that any number of them, on any
//! number of computers, share a folder without locks. A process that is killed loses the case under way; a power cut
//! those of the last second. Readers index all segments, and skip payloads until they are asked for. A record that is not what was
//! written is told of and counts as missing, wherever it lies.

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
use index::{Flaw, Index, RecordPlace};
use record::{ResultKind, record};
use segment::{SUFFIX, Segment};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// State of a case in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Missing,
    /// A run that came to its end.
    Found,
    /// A run that failed.
    Failed,
}

impl State {
    /// Its name as a value of output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Found => "found",
            Self::Failed => "failed",
        }
    }
}

/// A store of results, as it was when it was opened, and what this process has added to it.
pub struct Store {
    folder: PathBuf,
    index: Index,
    /// The flaws that have not been told yet.
    flaws: Mutex<Vec<Flaw>>,
    /// Records that were too long to be checked at first, and were found to be damaged.
    damaged: Mutex<BTreeSet<(u32, u64)>>,
    files: Files,
    own: RwLock<Own>,
}

/// The segment of this process.
struct Own {
    segments: Vec<PathBuf>,
    /// The one that takes records, the last of the list.
    open: Option<Segment>,
    places: HashMap<CaseId, RecordPlace>,
    /// The first reason why the store can no longer be used.
    fault: Option<StoreError>,
}

impl Store {
    /// Opens the store in `folder`, which is made if it does not exist.
    ///
    /// # Errors
    /// A folder that cannot be made or read; a segment that is none, or of another version.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::unwritable(folder))?;
        Self::read(folder)
    }

    /// Opens the store in `folder` as [`open`](Self::open) does, but does not make it; where there is none, it is empty.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(folder: &Path) -> Result<Self, StoreError> {
        let segments = segments(folder).map_err(StoreError::unreadable(folder))?;
        let (index, flaws) = Index::of(&segments)?;
        let own = Own { segments, open: None, places: HashMap::new(), fault: None };
        Ok(Self {
            folder: folder.to_owned(),
            index,
            flaws: Mutex::new(flaws),
            damaged: Mutex::default(),
            files: Files::default(),
            own: RwLock::new(own),
        })
    }

    /// The records that were found not to be whole, in a sentence each, once: their cases are missing.
    pub fn warnings(&self) -> Vec<String> {
        take(&mut *lock(&self.flaws)).into_iter().map(|flaw| format!("warning: {flaw}")).collect()
    }

    /// The state of a case.
    pub fn state(&self, id: CaseId) -> State {
        let sound = self.places(id).find(|place| self.is_sound(*place));
        match sound.map(|place| place.kind) {
            None => State::Missing,
            Some(ResultKind::Trace) => State::Found,
            Some(ResultKind::Failure) => State::Failed,
        }
    }

    /// The result of a run, if it is known.
    ///
    /// # Errors
    /// Files that cannot be read.
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

    /// Keeps the result of a run, unless it is known or another try may have another: a limit of wall time, a defect.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn append(&self, id: CaseId, result: &RunResult) -> Result<(), StoreError> {
        let Some((kind, payload)) = payload::encoded(result) else { return Ok(()) };
        if self.places(id).any(|place| place.kind <= kind && self.is_sound(place)) {
            return Ok(());
        }
        let added = self.own_mut().append(&self.folder, id, kind, &payload);
        added.map_err(|fault| self.note(fault))
    }

    /// Fails if the store could not be read or written before.
    ///
    /// # Errors
    /// The first reason.
    pub fn check(&self) -> Result<(), StoreError> {
        self.own().fault.clone().map_or(Ok(()), Err)
    }

    /// Waits until all results would outlast a power cut.
    ///
    /// # Errors
    /// The first reason why they do not.
    pub fn finish(&self) -> Result<(), StoreError> {
        self.check()?;
        self.own_mut().open.as_mut().map_or(Ok(()), Segment::sync)
    }

    /// All records of a case, the best first.
    fn places(&self, id: CaseId) -> impl Iterator<Item = RecordPlace> {
        let (own, others) = (self.own().places.get(&id).copied(), self.index.places(id));
        let before = own.map_or(0, |own| others.partition_point(|place| *place < own));
        let (before, after) = others.split_at(before);
        before.iter().copied().chain(own).chain(after.iter().copied())
    }

    /// Returns whether the record at `place` is what was written.
    fn is_sound(&self, place: RecordPlace) -> bool {
        place.is_checked || self.payload(place).map_err(|fault| self.note(fault)).is_ok_and(|payload| payload.is_some())
    }

    /// The payload of the record at `place`; `None` if it is damaged, which is told.
    fn payload(&self, place: RecordPlace) -> Result<Option<Vec<u8>>, StoreError> {
        if !place.is_checked && lock(&self.damaged).contains(&(place.segment, place.offset)) {
            return Ok(None);
        }
        let read = self.files.record(place, || self.path(place));
        let payload = read.map_err(|error| StoreError::unreadable(self.path(place))(error))?;
        if payload.is_none() && lock(&self.damaged).insert((place.segment, place.offset)) {
            lock(&self.flaws).push(Flaw { path: self.path(place), offset: place.offset, is_last: false });
        }
        Ok(payload)
    }

    /// The segment of a place.
    fn path(&self, place: RecordPlace) -> PathBuf {
        self.own().segments[place.segment as usize].clone()
    }

    /// Keeps the first fault.
    fn note(&self, fault: StoreError) -> StoreError {
        self.own_mut().fault.get_or_insert(fault).clone()
    }

    fn own(&self) -> RwLockReadGuard<'_, Own> {
        self.own.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn own_mut(&self) -> RwLockWriteGuard<'_, Own> {
        self.own.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Own {
    fn append(&mut self, folder: &Path, id: CaseId, kind: ResultKind, payload: &[u8]) -> Result<(), StoreError> {
        let mut segment = match self.open.take() {
            Some(segment) => segment,
            None => self.begin(folder)?,
        };
        let offset = segment.append(&record(kind, id, payload))?;
        // A segment that has taken a part of a record stays closed: that part must be its last.
        self.open = Some(segment);
        let number = u32::try_from(self.segments.len() - 1).expect("there are fewer than 2^32 files");
        self.places.insert(id, RecordPlace { id, kind, segment: number, offset, is_checked: true });
        Ok(())
    }

    fn begin(&mut self, folder: &Path) -> Result<Segment, StoreError> {
        let segment = Segment::create(folder)?;
        self.segments.push(segment.path().to_owned());
        Ok(segment)
    }
}

/// The segments in `folder`; none if it does not exist.
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
