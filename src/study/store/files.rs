//! Open segments, and the records that are read from them.

use super::index::RecordPlace;
use super::record::{HEAD_BYTES, Head};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// The maximum number of open segments, as a process may be limited to 1024 files.
const MAX_OPEN: usize = 128;
/// Number of bytes read first for a record; most records have no more.
const READ_BYTES: usize = 1024;
/// The size of a window, and of further reads from a long record, in bytes.
const WINDOW_BYTES: usize = 1 << 18;
/// The bytes of a window before the record for which it is read, for threads that are slightly behind.
const BEHIND_BYTES: u64 = 1 << 16;

/// A cache of open segments, each in the slot of its number.
pub struct Files([RwLock<Option<Arc<OpenFile>>>; MAX_OPEN]);

/// An open segment.
struct OpenFile {
    segment: u32,
    file: File,
    window: RwLock<SegmentWindow>,
}

/// A part of a segment that has been read in one piece, as records that are requested in sequence are often adjacent.
#[derive(Default)]
struct SegmentWindow {
    begin: u64,
    bytes: Vec<u8>,
}

impl Default for Files {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RwLock::default()))
    }
}

impl Files {
    /// Returns the payload of the record at `place`, in the segment `path`; `None` if the record is damaged.
    ///
    /// # Errors
    /// Returns an error for a segment that cannot be read.
    pub fn record(&self, place: RecordPlace, path: impl FnOnce() -> PathBuf) -> io::Result<Option<Vec<u8>>> {
        let open = self.open(place.segment, path)?;
        // The index checks only short records, which are likely to fit into the window.
        if place.is_checked
            && let Some(payload) = open.in_window(place)?
        {
            return Ok(Some(payload));
        }
        let mut record = [0; READ_BYTES];
        let count = read_at(&open.file, &mut record, place.offset)?;
        let Some((head, begin)) = head_of(place, &record[..count]) else { return Ok(None) };
        let mut payload = begin[..begin.len().min(usize::try_from(head.length).unwrap_or(usize::MAX))].to_vec();
        let rest = head.length - payload.len() as u64;
        if rest > 0 {
            read_rest(&open.file, place.offset + count as u64, rest, &mut payload)?;
        }
        Ok(head.fits(&payload).then_some(payload))
    }

    /// Opens the segment with this number at `path`, unless it is open. Threads share open segments.
    fn open(&self, segment: u32, path: impl FnOnce() -> PathBuf) -> io::Result<Arc<OpenFile>> {
        let slot = &self.0[segment as usize % MAX_OPEN];
        let known = slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(open) = known.filter(|open| open.segment == segment) {
            return Ok(open);
        }
        let open = Arc::new(OpenFile { segment, file: File::open(path())?, window: RwLock::default() });
        *slot.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&open));
        Ok(open)
    }
}

impl OpenFile {
    /// Returns the payload of the record at `place`, if the current window or the next one contains it completely.
    fn in_window(&self, place: RecordPlace) -> io::Result<Option<Vec<u8>>> {
        if let Some(payload) = self.window.read().unwrap_or_else(PoisonError::into_inner).record(place) {
            return Ok(Some(payload));
        }
        let mut window = self.window.write().unwrap_or_else(PoisonError::into_inner);
        if window.is_near(place.offset) {
            window.read(&self.file, place.offset)?;
        } else {
            // Requests that are scattered do not fill the window; their records are read individually.
            *window = SegmentWindow { begin: place.offset, bytes: Vec::new() };
        }
        Ok(window.record(place))
    }
}

impl SegmentWindow {
    /// Returns the payload of the record at `place`, if the window contains it completely and it is undamaged.
    fn record(&self, place: RecordPlace) -> Option<Vec<u8>> {
        let begin = usize::try_from(place.offset.checked_sub(self.begin)?).ok()?;
        let (head, behind) = head_of(place, self.bytes.get(begin..)?)?;
        let payload = behind.get(..usize::try_from(head.length).ok()?)?;
        head.fits(payload).then(|| payload.to_vec())
    }

    /// Returns `true` if the window, or its position if it is empty, is close to `offset`.
    fn is_near(&self, offset: u64) -> bool {
        let (width, end) = (WINDOW_BYTES as u64, self.begin + self.bytes.len() as u64);
        (self.begin.saturating_sub(width)..=end + width).contains(&offset)
    }

    /// Reads the window around `offset`.
    fn read(&mut self, file: &File, offset: u64) -> io::Result<()> {
        self.begin = offset.saturating_sub(BEHIND_BYTES);
        self.bytes.resize(WINDOW_BYTES, 0);
        let read = read_at(file, &mut self.bytes, self.begin);
        self.bytes.truncate(*read.as_ref().unwrap_or(&0));
        read.map(drop)
    }
}

/// Returns the head of the record at `place`, if `bytes` begin with it, and the bytes after it.
fn head_of(place: RecordPlace, bytes: &[u8]) -> Option<(Head, &[u8])> {
    let head = Head::read(bytes.first_chunk()?).filter(|head| head.id == place.id)?;
    Some((head, &bytes[HEAD_BYTES..]))
}

/// Appends up to `count` bytes from `offset` to `bytes`, as many as the file has. A damaged length may be huge, so
/// memory is not reserved in advance.
fn read_rest(file: &File, offset: u64, count: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let (mut offset, end) = (offset, offset.saturating_add(count));
    let mut part = vec![0; WINDOW_BYTES];
    while offset < end {
        let most = usize::try_from(end - offset).map_or(part.len(), |left| left.min(part.len()));
        let count = read_at(file, &mut part[..most], offset)?;
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&part[..count]);
        offset += count as u64;
    }
    Ok(())
}

/// Reads the bytes at `offset`, or fewer at the end of the file, and returns their number.
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
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
fn read_some_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_some_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// Reads by seeking, since other systems have no threads.
#[cfg(not(any(unix, windows)))]
fn read_some_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(bytes)
}
