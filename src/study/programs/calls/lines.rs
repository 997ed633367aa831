//! The lines of a rank, read from files in windows.

use crate::programs::file::{open, without_mark};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A contiguous range of lines that belong to one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The index of the file.
    pub file: u32,
    /// The number of the first line, counted from 1.
    pub line: u32,
    /// The index of the first byte.
    pub start: u64,
    /// The index of the byte after the last.
    pub end: u64,
}

/// Minimum size of a window, in bytes.
pub const MIN_WINDOW: usize = 4 << 10;
/// Maximum size of a window, in bytes, unless a line is longer.
const MAX_WINDOW: usize = 256 << 10;
/// Total size of the windows of all ranks, in bytes.
const ALL_WINDOWS: usize = 64 << 20;
/// Maximum length of a line, in bytes.
const LONGEST_LINE: usize = 64 << 20;

/// Returns the size of a window if windows are open for `ranks` ranks.
pub fn window_bytes(ranks: usize) -> usize {
    (ALL_WINDOWS / ranks.max(1)).clamp(MIN_WINDOW, MAX_WINDOW)
}

/// The lines of some extents, in order.
#[derive(Debug)]
pub struct Lines {
    files: Arc<[PathBuf]>,
    extents: Arc<[Extent]>,
    /// The index of the extent after the current one.
    next: usize,
    /// The part of the current extent that has not been read.
    current: Extent,
    /// A part of a file.
    window: Vec<u8>,
    /// The position of the window in its file.
    begin: u64,
    /// The file of the window.
    file: Option<u32>,
    /// Number of bytes that are read at a time.
    bytes: usize,
    /// `true` if the last line has no line ending.
    is_open: bool,
}

/// The place of a line: its file and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlace {
    pub file: u32,
    pub line: u32,
}

impl Lines {
    pub fn new(files: Arc<[PathBuf]>, extents: Arc<[Extent]>, bytes: usize) -> Self {
        let current = Extent { file: 0, line: 0, start: 0, end: 0 };
        Self { files, extents, next: 0, current, window: Vec::new(), begin: 0, file: None, bytes, is_open: false }
    }

    /// Advances to the next line; returns its place, and its range in [`text`](Self::text).
    pub fn advance(&mut self) -> io::Result<Option<(LinePlace, Range<usize>)>> {
        while self.current.start == self.current.end {
            let Some(next) = self.extents.get(self.next) else { return Ok(None) };
            self.next += 1;
            self.current = *next;
        }
        let mut known = 0;
        loop {
            let held = self.held();
            let rest = self.current.end - self.current.start;
            let is_all = (held.len() as u64) >= rest;
            let line = &self.window[held.clone()];
            let newline = line[known..].iter().position(|byte| *byte == b'\n');
            if newline.is_some() || is_all {
                let length = newline.map_or(line.len(), |newline| known + newline);
                let place = LinePlace { file: self.current.file, line: self.current.line };
                self.is_open = newline.is_none();
                self.current.line = self.current.line.saturating_add(1);
                self.current.start += (length + usize::from(newline.is_some())) as u64;
                return Ok(Some((place, held.start..held.start + length)));
            }
            known = held.len();
            self.refill(held)?;
        }
    }

    /// Returns `true` if the last line has no line ending, as in a truncated file.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the position in the file after the last line and its line ending.
    pub const fn position(&self) -> u64 {
        self.current.start
    }

    /// Returns the line at a range of the window, without its carriage return; the first line of a file without the
    /// byte order mark.
    pub fn text(&self, range: Range<usize>) -> &[u8] {
        let is_first = self.begin == 0 && range.start == 0;
        let line = &self.window[range];
        let line = if is_first { without_mark(line) } else { line };
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Returns the part of the window that belongs to the rest of the current extent.
    fn held(&self) -> Range<usize> {
        let Extent { file, start, end, .. } = self.current;
        let held_to = self.begin + self.window.len() as u64;
        if self.file != Some(file) || start < self.begin || start >= held_to {
            return 0..0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "both are within the window")]
        let [from, to] = [start, end.min(held_to)].map(|at| (at - self.begin) as usize);
        from..to
    }

    /// Reads the bytes of the extent that follow those in the window.
    fn refill(&mut self, held: Range<usize>) -> io::Result<()> {
        if held.len() >= LONGEST_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than 64 MiB"));
        }
        self.window.copy_within(held.clone(), 0);
        self.window.truncate(held.len());
        let begin = self.current.start;
        let at = begin + held.len() as u64;
        let wanted = self.bytes.max(held.len());
        let mut file = open(&self.files[self.current.file as usize])?;
        file.seek(SeekFrom::Start(at))?;
        let read = file.take(wanted as u64).read_to_end(&mut self.window)?;
        (self.begin, self.file) = (begin, Some(self.current.file));
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than it was"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_those_of_the_extents_whatever_the_window() {
        let mut file = tempfile::NamedTempFile::new().expect("there is room");
        file.write_all(b"\xef\xbb\xbf0 a\n1 bb\r\n\n0 ccc\n1 d").expect("there is room");
        let extent = |line, start, end| Extent { file: 0, line, start, end };
        let extents: Arc<[Extent]> = [extent(1, 0, 7), extent(2, 7, 14), extent(5, 20, 23)].into();
        for bytes in [1, 2, 3, 100] {
            let mut lines = Lines::new([file.path().to_owned()].into(), Arc::clone(&extents), bytes);
            let mut found = Vec::new();
            while let Some((place, range)) = lines.advance().expect("it is read") {
                found.push((place.line, String::from_utf8_lossy(lines.text(range)).into_owned()));
            }
            let expected = [(1, "0 a"), (2, "1 bb"), (3, ""), (5, "1 d")].map(|(line, text)| (line, text.to_owned()));
            assert_eq!(found, expected, "{bytes}");
        }
    }
}
