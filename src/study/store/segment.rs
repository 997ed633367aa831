//! The file of one process: a header, then records, which are only ever appended.

use super::error::StoreError;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The version of the format of segments, payloads included.
pub const VERSION: u16 = 1;
/// The bytes of a header.
pub const HEADER_BYTES: usize = 16;
/// End of the names of segments.
pub const SUFFIX: &str = "segment";
/// The begin of a header.
const MAGIC: [u8; 14] = *b"parsim-results";
/// The most time for which records may be lost with the power.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A segment that this process writes.
pub struct Segment {
    path: PathBuf,
    file: File,
    length: u64,
    synced: Instant,
}

impl Segment {
    /// A new segment in `folder`, of a name that no other process has.
    ///
    /// # Errors
    /// That it cannot be written.
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

    /// Writes `record` at the end, and returns where it begins. A segment that takes no whole record takes no other.
    ///
    /// # Errors
    /// That it cannot be written.
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

    /// Waits until all records would outlast a power cut.
    ///
    /// # Errors
    /// That they cannot be written.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.synced = Instant::now();
        self.file.sync_data().map_err(StoreError::unwritable(&self.path))
    }
}

/// The header of a segment.
pub fn header() -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    header[MAGIC.len()..].copy_from_slice(&VERSION.to_le_bytes());
    header
}

/// Checks the header of the segment at `path`.
///
/// # Errors
/// Another file, or another version.
pub fn check_header(path: &Path, header: &[u8; HEADER_BYTES]) -> Result<(), StoreError> {
    let (magic, version) = header.split_at(MAGIC.len());
    let version = u16::from_le_bytes([version[0], version[1]]);
    match version {
        _ if magic != MAGIC => Err(StoreError::Foreign { path: path.to_owned() }),
        VERSION => Ok(()),
        _ => Err(StoreError::Version { path: path.to_owned(), version }),
    }
}

/// Returns whether `begin`, shorter than a header, is the begin of one.
pub fn begins_header(begin: &[u8]) -> bool {
    header().starts_with(begin)
}

/// Host, process and a random number: the first two for readers, the last because a process number comes again.
fn name() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{}-{}-{random:016x}", host(), std::process::id())
}

/// The name of this computer, as far as it is fit for the name of a file.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    let fit = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
    let name: String = name.unwrap_or_default().chars().filter(fit).take(40).collect();
    if name.is_empty() { "host".to_owned() } else { name }
}
