//! A store of results: a folder in which the result of a run is found again by the id of its case.
//!
//! Every process appends whole records with checksums to a segment of its own, so that any number of them, on any
//! number of computers, share a folder without locks. A process that is killed loses the case under way; a power cut
//! those of the last second. Readers index all segments, and skip payloads until they are asked for. A record that is not what was
//! written is told of and counts as missing, wherever it lies.

mod error;
mod index;
mod payload;
mod record;
mod segment;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use payload::RunResult;

use crate::scenario::CaseId;
use index::{Flaw, Index, Place};
use record::{HEAD_BYTES, Head, Kind, record};
use segment::{SUFFIX, Segment};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    own: Mutex<Own>,
}

/// The segment of this process.
struct Own {
    segments: Vec<PathBuf>,
    /// The one that takes records, the last of the list.
    open: Option<Segment>,
    places: HashMap<CaseId, Place>,
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
            own: Mutex::new(own),
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
            Some(Kind::Trace) => State::Found,
            Some(Kind::Failure) => State::Failed,
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
        let added = self.own().append(&self.folder, id, kind, &payload);
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
        self.own().open.as_mut().map_or(Ok(()), Segment::sync)
    }

    /// All records of a case, the best first.
    fn places(&self, id: CaseId) -> impl Iterator<Item = Place> {
        let (own, others) = (self.own().places.get(&id).copied(), self.index.places(id));
        let before = own.map_or(0, |own| others.partition_point(|place| *place < own));
        let (before, after) = others.split_at(before);
        before.iter().copied().chain(own).chain(after.iter().copied())
    }

    /// Returns whether the record at `place` is what was written.
    fn is_sound(&self, place: Place) -> bool {
        place.is_checked || self.payload(place).map_err(|fault| self.note(fault)).is_ok_and(|payload| payload.is_some())
    }

    /// The payload of the record at `place`; `None` if it is damaged, which is told.
    fn payload(&self, place: Place) -> Result<Option<Vec<u8>>, StoreError> {
        if lock(&self.damaged).contains(&(place.segment, place.offset)) {
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
    fn path(&self, place: Place) -> PathBuf {
        self.own().segments[place.segment as usize].clone()
    }

    /// Keeps the first fault.
    fn note(&self, fault: StoreError) -> StoreError {
        self.own().fault.get_or_insert(fault).clone()
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        lock(&self.own)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Own {
    fn append(&mut self, folder: &Path, id: CaseId, kind: Kind, payload: &[u8]) -> Result<(), StoreError> {
        let mut segment = match self.open.take() {
            Some(segment) => segment,
            None => self.begin(folder)?,
        };
        let offset = segment.append(&record(kind, id, payload))?;
        // A segment that has taken a part of a record stays closed: that part must be its last.
        self.open = Some(segment);
        let number = u32::try_from(self.segments.len() - 1).expect("there are fewer than 2^32 files");
        self.places.insert(id, Place { id, kind, segment: number, offset, is_checked: true });
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

/// The most segments that are held open: processes may have 1024 files.
const MOST_OPEN: usize = 128;

/// The bytes of a record that are read at once: most have no more.
const READ_BYTES: usize = 1024;

/// Segments that are held open for the next record, each in the slot of its number.
struct Files([Mutex<Option<(u32, File)>>; MOST_OPEN]);

impl Default for Files {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Files {
    /// The payload of the record at `place`, in the segment `path`; `None` if it is damaged.
    fn record(&self, place: Place, path: impl FnOnce() -> PathBuf) -> io::Result<Option<Vec<u8>>> {
        let mut slot = lock(&self.0[place.segment as usize % MOST_OPEN]);
        let (_, file) = match slot.take().filter(|(segment, _)| *segment == place.segment) {
            Some(open) => slot.insert(open),
            None => slot.insert((place.segment, File::open(path())?)),
        };
        let mut record = [0; READ_BYTES];
        let count = read_at(file, &mut record, place.offset)?;
        let head = record[..count].first_chunk().and_then(Head::read);
        let Some(head) = head.filter(|head| head.id == place.id) else { return Ok(None) };
        let begin = &record[HEAD_BYTES..count];
        let mut payload = begin[..begin.len().min(usize::try_from(head.length).unwrap_or(usize::MAX))].to_vec();
        let rest = head.length - payload.len() as u64;
        if rest > 0 {
            file.seek(SeekFrom::Start(place.offset + count as u64))?;
            file.take(rest).read_to_end(&mut payload)?;
        }
        Ok(head.fits(&payload).then_some(payload))
    }
}

/// Reads the bytes at `offset`, fewer where the file ends before; returns how many.
fn read_at(file: &mut File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match read_some_at(file, &mut bytes[count..], offset + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

#[cfg(unix)]
fn read_some_at(file: &mut File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_some_at(file: &mut File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    file.read(bytes)
}
