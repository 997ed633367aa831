//! Parts of a file that are looked up, in windows.

use super::{NODE, NUMBER};
use crate::programs::file::open;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Bytes that can be opened again and again.
pub trait ReopenableBytes: Send + Sync + 'static {
    type Opened: Read + Seek + 'static;

    /// Opens them.
    ///
    /// # Errors
    /// The reason for which they cannot be read.
    fn open(&self) -> io::Result<Self::Opened>;
}

/// A file.
#[derive(Debug)]
pub struct FileSource(pub PathBuf);

impl ReopenableBytes for FileSource {
    type Opened = File;

    fn open(&self) -> io::Result<File> {
        open(&self.0)
    }
}

/// The reason for which something cannot be looked up; none if it lies outside.
pub struct OutOfReach(pub Option<io::Error>);

impl From<io::Error> for OutOfReach {
    fn from(error: io::Error) -> Self {
        Self(Some(error))
    }
}

/// Windows on the parts of all ranks.
pub struct Windows<F> {
    file: io::Result<F>,
    /// Of each rank two on its nodes and one on the followers of these.
    of_ranks: Vec<RankWindows>,
    bytes: usize,
}

#[derive(Clone, Default)]
struct RankWindows {
    nodes: [FileWindow; 2],
    /// The one of the two that was used last.
    last: usize,
    followers: FileWindow,
}

#[derive(Clone, Default)]
struct FileWindow {
    begin: u64,
    bytes: Box<[u8]>,
}

/// The windows of all ranks take about so many bytes,
const TOGETHER: usize = 8 << 20;
/// and each of them from so many to so many.
const LEAST: usize = 512;
const MOST: usize = 1 << 14;

impl<F: Read + Seek> Windows<F> {
    pub fn new(file: io::Result<F>, ranks: usize) -> Self {
        let of_ranks = vec![RankWindows::default(); ranks];
        Self { file, of_ranks, bytes: Self::window_bytes(ranks) }
    }

    /// About how many bytes they take.
    pub fn memory(ranks: usize) -> u64 {
        (ranks * (3 * Self::window_bytes(ranks) + size_of::<RankWindows>())) as u64
    }

    fn window_bytes(ranks: usize) -> usize {
        (TOGETHER / (3 * ranks.max(1))).clamp(LEAST, MOST)
    }

    /// The node at a byte, in a list that ends at another one.
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

    /// The number at a byte, in a list that ends at another one.
    #[inline]
    pub fn follower(&mut self, rank: u32, at: u64, end: u64) -> Result<u32, OutOfReach> {
        let window = &mut self.of_ranks[rank as usize].followers;
        if window.place(at, NUMBER).is_none() {
            window.read(&mut self.file, at, end, self.bytes)?;
        }
        let place = window.place(at, NUMBER).ok_or(OutOfReach(None))?;
        window.bytes[place..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(OutOfReach(None))
    }

    /// The bytes from one on, as many as asked for.
    pub fn exactly<const N: usize>(&mut self, at: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        let file = opened(&mut self.file)?;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The length of the file.
    pub fn len(&mut self) -> io::Result<u64> {
        opened(&mut self.file)?.seek(SeekFrom::End(0))
    }
}

impl FileWindow {
    /// The place in the window of `length` bytes of the file, if they are in it.
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
