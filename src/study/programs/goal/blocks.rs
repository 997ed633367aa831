//! Reading of a text block by block, so that a large file is never held in memory as a whole.

use crate::programs::file::BYTE_ORDER_MARK;
use std::io::{self, Read};

/// A text that is read in parts. Each part ends with the bracket that closes a block, the last part with the text.
pub struct TextBlocks<R> {
    source: R,
    /// Minimum number of bytes that are read at once.
    chunk: usize,
    buffer: Vec<u8>,
    /// The start of the current part in the buffer.
    begin: usize,
    /// The end of the current part in the buffer.
    end: usize,
    has_ended: bool,
    scan: ScannerState,
    /// The number of lines before the current part.
    lines: usize,
    /// The number of bytes before the current part in its first line.
    columns: usize,
}

/// The kind of text at the current position of the search for the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScannerState {
    Statements,
    /// A comment that begins with `//`.
    Line,
    /// A comment that begins with `/*`.
    Comment,
}

impl<R: Read> TextBlocks<R> {
    pub const fn of(source: R, chunk: usize) -> Self {
        Self {
            source,
            chunk,
            buffer: Vec::new(),
            begin: 0,
            end: 0,
            has_ended: false,
            scan: ScannerState::Statements,
            lines: 0,
            columns: 0,
        }
    }

    /// Returns the next part, and `true` if it is the last one.
    ///
    /// # Errors
    /// The text cannot be read.
    pub fn next(&mut self) -> io::Result<(&[u8], bool)> {
        self.pass();
        while !self.find_end() && !self.has_ended {
            self.read_on()?;
        }
        Ok((&self.buffer[self.begin..self.end], self.has_ended && self.end == self.buffer.len()))
    }

    /// Returns the line and the column of a byte of the current part, counted from 1.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let part = &self.buffer[self.begin..self.end];
        let (lines, columns) = behind(&part[..at.min(part.len())], self.lines, self.columns);
        let mark =
            if self.lines + lines == 0 && part.starts_with(&BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        (lines + 1, columns.saturating_sub(mark) + 1)
    }

    /// Moves past the current part.
    fn pass(&mut self) {
        (self.lines, self.columns) = behind(&self.buffer[self.begin..self.end], self.lines, self.columns);
        self.begin = self.end;
    }

    /// Moves the end after the bracket that closes the block and returns `true`, or moves it after all bytes that have
    /// been read.
    fn find_end(&mut self) -> bool {
        while let Some(rest) = self.buffer.get(self.end..).filter(|rest| !rest.is_empty()) {
            let stops = |byte: &u8| match self.scan {
                ScannerState::Statements => matches!(byte, b'}' | b'/'),
                ScannerState::Line => *byte == b'\n',
                ScannerState::Comment => *byte == b'*',
            };
            let Some(length) = rest.iter().position(stops) else {
                self.end = self.buffer.len();
                return false;
            };
            let next = rest.get(length + 1);
            // The meaning of a slash or a star depends on the byte after it.
            if next.is_none() && rest[length] != b'}' && self.scan != ScannerState::Line && !self.has_ended {
                self.end += length;
                return false;
            }
            let (scan, passed) = match (self.scan, rest[length], next) {
                (ScannerState::Statements, b'}', _) | (ScannerState::Line, ..) => (ScannerState::Statements, 1),
                (ScannerState::Statements, _, Some(b'/')) => (ScannerState::Line, 2),
                (ScannerState::Statements, _, Some(b'*')) => (ScannerState::Comment, 2),
                (ScannerState::Comment, _, Some(b'/')) => (ScannerState::Statements, 2),
                (scan, ..) => (scan, 1),
            };
            let is_closed = rest[length] == b'}';
            (self.scan, self.end) = (scan, self.end + length + passed);
            if is_closed {
                return true;
            }
        }
        false
    }

    fn read_on(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.begin);
        (self.begin, self.end) = (0, self.end - self.begin);
        let before = self.buffer.len();
        // Doubling the buffer limits the number of times that a long block is copied.
        let more = self.chunk.max(before);
        self.buffer.reserve(more);
        self.source.by_ref().take(more as u64).read_to_end(&mut self.buffer)?;
        self.has_ended = self.buffer.len() == before;
        Ok(())
    }
}

/// Returns the numbers of lines and columns after some bytes, given those before them.
fn behind(bytes: &[u8], lines: usize, columns: usize) -> (usize, usize) {
    let last = bytes.iter().rposition(|byte| *byte == b'\n');
    match last {
        None => (lines, columns + bytes.len()),
        Some(last) => (lines + bytes[..last].split(|byte| *byte == b'\n').count(), bytes.len() - last - 1),
    }
}
