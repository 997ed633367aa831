//! Segments that are held open, and records that are read from them.

use super::index::RecordPlace;
use super::record::{HEAD_BYTES, Head};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// The most segments that are held open: processes may have 1024 files.
const MOST_OPEN: usize = 128;
/// The bytes of a record that are read at once: most have no more.
const READ_BYTES: usize = 1024;
/// The bytes of a window, and those of the rest of a long record that are read at once.
const WINDOW_BYTES: usize = 1 << 18;
/// The bytes of a window before the record for which it is read: another thread may be a little behind.
const BEHIND_BYTES: u64 = 1 << 16;

/// Segments that are held open for the next record, each in the slot of its number.
pub struct Files([RwLock<Option<Arc<OpenFile>>>; MOST_OPEN]);

/// A segment that is held open.
struct OpenFile {
    segment: u32,
    file: File,
    window: RwLock<SegmentWindow>,
}

/// A part of a segment that has been read at once: records that are asked for in a row often lie so.
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
    /// The payload of the record at `place`, in the segment `path`; `None` if it is damaged.
    ///
    /// # Errors
    /// A segment that cannot be read.
    pub fn record(&self, place: RecordPlace, path: impl FnOnce() -> PathBuf) -> io::Result<Option<Vec<u8>>> {
        let open = self.open(place.segment, path)?;
        // Only short records are checked when they are indexed.
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

    /// The segment of that number, which lies at `path`. Threads read it at once.
    fn open(&self, segment: u32, path: impl FnOnce() -> PathBuf) -> io::Result<Arc<OpenFile>> {
        let slot = &self.0[segment as usize % MOST_OPEN];
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
    /// The payload of the record at `place`, if it lies whole in the window, or in the next one.
    fn in_window(&self, place: RecordPlace) -> io::Result<Option<Vec<u8>>> {
        if let Some(payload) = self.window.read().unwrap_or_else(PoisonError::into_inner).record(place) {
            return Ok(Some(payload));
        }
        let mut window = self.window.write().unwrap_or_else(PoisonError::into_inner);
        if window.is_near(place.offset) {
            window.read(&self.file, place.offset)?;
        } else {
            // Records that are asked for here and there are read alone.
            *window = SegmentWindow { begin: place.offset, bytes: Vec::new() };
        }
        Ok(window.record(place))
    }
}

impl SegmentWindow {
    /// The payload of the record at `place`, if all of it is here and sound.
    fn record(&self, place: RecordPlace) -> Option<Vec<u8>> {
        let begin = usize::try_from(place.offset.checked_sub(self.begin)?).ok()?;
        let (head, behind) = head_of(place, self.bytes.get(begin..)?)?;
        let payload = behind.get(..usize::try_from(head.length).ok()?)?;
        head.fits(payload).then(|| payload.to_vec())
    }

    /// Returns whether the window, or its place where it is empty, is not far from there.
    fn is_near(&self, offset: u64) -> bool {
        let (width, end) = (WINDOW_BYTES as u64, self.begin + self.bytes.len() as u64);
        (self.begin.saturating_sub(width)..=end + width).contains(&offset)
    }

    /// Reads the window in which `offset` lies.
    fn read(&mut self, file: &File, offset: u64) -> io::Result<()> {
        self.begin = offset.saturating_sub(BEHIND_BYTES);
        self.bytes.resize(WINDOW_BYTES, 0);
        let read = read_at(file, &mut self.bytes, self.begin);
        self.bytes.truncate(*read.as_ref().unwrap_or(&0));
        read.map(drop)
    }
}

/// The head of the record at `place`, if it begins these bytes, and what stands behind it.
fn head_of(place: RecordPlace, bytes: &[u8]) -> Option<(Head, &[u8])> {
    let head = Head::read(bytes.first_chunk()?).filter(|head| head.id == place.id)?;
    Some((head, &bytes[HEAD_BYTES..]))
}

/// Adds `count` bytes from `offset` on to `bytes`, or what the file has of them: its end may be damage, so that no room is made before.
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

/// Reads the bytes at `offset`, fewer where the file ends before; returns how many.
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

/// Other systems have no threads.
#[cfg(not(any(unix, windows)))]
fn read_some_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(bytes)
}
