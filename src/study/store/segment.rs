//! The file of one process: a header, then records, which are only ever appended.

use super::error::StoreError;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The format version of segments, including payloads.
pub const VERSION: u16 = 1;
/// The size of a header in bytes.
pub const HEADER_BYTES: usize = 16;
/// The file name extension of segments.
pub const SUFFIX: &str = "segment";
/// The bytes that begin a header.
const MAGIC: [u8; 14] = *b"parsim-results";
/// The maximum time over which records may be lost in a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A segment that this process writes.
pub struct Segment {
    path: PathBuf,
    file: File,
    length: u64,
    synced: Instant,
}

impl Segment {
    /// Creates a segment in `folder`, with a name that no other process uses.
    ///
    /// # Errors
    /// Returns an error if the segment cannot be created.
    pub fn create(folder: &Path) -> Result<Self, StoreError> {
        loop {
            let path = folder.join(format!("{}.{SUFFIX}", name()));
            match File::options().append(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path, file, length: 0, synced: Instant::now() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::unwritable(path)(error)),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if the segment has no complete record.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Removes the file of a segment without a complete record, which a full disk leaves behind.
    pub fn discard(self) {
        fs::remove_file(self.path).ok();
    }

    /// Writes `record` at the end, and returns its offset. After an error, the segment must not be used again, as it
    /// may end with a partial record.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn append(&mut self, record: &[u8]) -> Result<u64, StoreError> {
        let begin = if self.length == 0 { HEADER_BYTES as u64 } else { self.length };
        let written = if self.length == 0 {
            self.file.write_all(&[&header(), record].concat())
        } else {
            self.file.write_all(record)
        };
        written.map_err(StoreError::unwritable(&self.path))?;
        self.length = begin + record.len() as u64;
        if self.synced.elapsed() > SYNC_EVERY { self.sync() } else { Ok(()) }.map(|()| begin)
    }

    /// Waits until all records would survive a power cut.
    ///
    /// # Errors
    /// Returns an error if the records cannot be written.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.synced = Instant::now();
        self.file.sync_data().map_err(StoreError::unwritable(&self.path))
    }
}

/// Returns the header of a segment.
pub fn header() -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    header[MAGIC.len()..].copy_from_slice(&VERSION.to_le_bytes());
    header
}

/// Checks the header of the segment at `path`.
///
/// # Errors
/// Returns an error for a file that is not a segment, or another version.
pub fn check_header(path: &Path, header: &[u8; HEADER_BYTES]) -> Result<(), StoreError> {
    let (magic, version) = header.split_at(MAGIC.len());
    let version = u16::from_le_bytes([version[0], version[1]]);
    match version {
        _ if magic != MAGIC => Err(StoreError::Foreign { path: path.to_owned() }),
        VERSION => Ok(()),
        _ => Err(StoreError::Version { path: path.to_owned(), version }),
    }
}

/// Returns `true` if `begin`, shorter than a header, is the beginning of one.
pub fn begins_header(begin: &[u8]) -> bool {
    header().starts_with(begin)
}

/// Returns a name from the host, the process and a random number. The first two inform readers; the last is needed
/// because process numbers are reused.
fn name() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{}-{}-{random:016x}", host(), std::process::id())
}

/// Returns the name of this computer, reduced to characters that are safe in a file name.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    let fit = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
    let name: String = name.unwrap_or_default().chars().filter(fit).take(40).collect();
    if name.is_empty() { "host".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_without_a_record_can_be_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let mut segment = Segment::create(folder.path()).unwrap();
        // A file that is open for reading accepts no bytes, like one on a full disk.
        segment.file = File::open(segment.path()).unwrap();
        assert!(segment.append(b"record").is_err() && segment.is_empty());
        segment.discard();
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
