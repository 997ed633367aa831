//! Access to parts of a file through windows.

use super::{NODE, NUMBER};
use crate::programs::file::open;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Bytes that can be opened repeatedly.
pub trait ReopenableBytes: Send + Sync + 'static {
    type Opened: Read + Seek + 'static;

    /// Opens the bytes.
    ///
    /// # Errors
    /// The bytes cannot be read.
    fn open(&self) -> io::Result<Self::Opened>;
}

/// A file as a source of bytes.
#[derive(Debug)]
pub struct FileSource(pub PathBuf);

impl ReopenableBytes for FileSource {
    type Opened = File;

    fn open(&self) -> io::Result<File> {
        open(&self.0)
    }
}

/// The reason why data cannot be read; `None` if it is outside of its list.
pub struct OutOfReach(pub Option<io::Error>);

impl From<io::Error> for OutOfReach {
    fn from(error: io::Error) -> Self {
        Self(Some(error))
    }
}

/// The windows on the parts of all ranks.
pub struct Windows<F> {
    file: io::Result<F>,
    /// For each rank two windows on its nodes, and one on the followers of its nodes.
    of_ranks: Vec<RankWindows>,
    bytes: usize,
}

#[derive(Clone, Default)]
struct RankWindows {
    nodes: [FileWindow; 2],
    /// The index of the window on nodes that was used last.
    last: usize,
    followers: FileWindow,
}

#[derive(Clone, Default)]
struct FileWindow {
    begin: u64,
    bytes: Box<[u8]>,
}

/// Approximate total size of the windows of all ranks, in bytes.
const TOGETHER: usize = 8 << 20;
/// Minimum size of a window, in bytes.
const MIN: usize = 512;
/// Maximum size of a window, in bytes.
const MAX: usize = 1 << 14;

impl<F: Read + Seek> Windows<F> {
    pub fn new(file: io::Result<F>, ranks: usize) -> Self {
        let of_ranks = vec![RankWindows::default(); ranks];
        Self { file, of_ranks, bytes: Self::window_bytes(ranks) }
    }

    /// Returns the approximate memory of the windows, in bytes.
    pub fn memory(ranks: usize) -> u64 {
        (ranks * (3 * Self::window_bytes(ranks) + size_of::<RankWindows>())) as u64
    }

    fn window_bytes(ranks: usize) -> usize {
        (TOGETHER / (3 * ranks.max(1))).clamp(MIN, MAX)
    }

    /// Returns the node at byte `at`, in a list that ends at byte `end`.
    #[inline]
    pub fn node(&mut self, rank: u32, at: u64, end: u64) -> Result<&[u8; NODE], OutOfReach> {
        let windows = &mut self.of_ranks[rank as usize];
        if windows.nodes[windows.last].place(at, NODE as u64).is_none() {
            windows.last ^= 1;
            if windows.nodes[windows.last].place(at, NODE as u64).is_none() {
                windows.nodes[windows.last].read(&mut self.file, at, end, self.bytes)?;
            }
        }
        let window = &windows.nodes[windows.last];
        let place = window.place(at, NODE as u64).ok_or(OutOfReach(None))?;
        window.bytes[place..].first_chunk().ok_or(OutOfReach(None))
    }

    /// Returns the number at byte `at`, in a list that ends at byte `end`.
    #[inline]
    pub fn follower(&mut self, rank: u32, at: u64, end: u64) -> Result<u32, OutOfReach> {
        let window = &mut self.of_ranks[rank as usize].followers;
        if window.place(at, NUMBER).is_none() {
            window.read(&mut self.file, at, end, self.bytes)?;
        }
        let place = window.place(at, NUMBER).ok_or(OutOfReach(None))?;
        window.bytes[place..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(OutOfReach(None))
    }

    /// Reads exactly `N` bytes at byte `at`.
    pub fn exactly<const N: usize>(&mut self, at: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        let file = opened(&mut self.file)?;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the length of the file.
    pub fn len(&mut self) -> io::Result<u64> {
        opened(&mut self.file)?.seek(SeekFrom::End(0))
    }
}

impl FileWindow {
    /// Returns the position in the window of `length` bytes at byte `at` of the file, if the window contains them.
    #[inline]
    fn place(&self, at: u64, length: u64) -> Option<usize> {
        let place = at.checked_sub(self.begin)?;
        let is_inside = place + length <= self.bytes.len() as u64;
        if is_inside { usize::try_from(place).ok() } else { None }
    }

    #[cold]
    fn read<F: Read + Seek>(
        &mut self,
        file: &mut io::Result<F>,
        at: u64,
        end: u64,
        most: usize,
    ) -> Result<(), OutOfReach> {
        let length = end.checked_sub(at).map(|length| usize::try_from(length).map_or(most, |length| length.min(most)));
        let length = length.ok_or(OutOfReach(None))?;
        if self.bytes.len() != length {
            self.bytes = vec![0; length].into();
        }
        let file = opened(file)?;
        self.begin = at;
        file.seek(SeekFrom::Start(at))?;
        Ok(file.read_exact(&mut self.bytes)?)
    }
}

fn opened<F>(file: &mut io::Result<F>) -> io::Result<&mut F> {
    file.as_mut().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}
