//! The blocks of a text one at a time, so that a large file is never in memory as a whole.

use std::io::{self, Read};

/// The bytes that some editors put before a text.
pub const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A text that is read block by block: each part ends with the bracket that closes a block, the last one with the text.
pub struct TextBlocks<R> {
    source: R,
    /// Bytes that are read at once, at least.
    chunk: usize,
    buffer: Vec<u8>,
    /// The part at hand begins here,
    begin: usize,
    /// and ends here.
    end: usize,
    has_ended: bool,
    scan: ScannedText,
    /// Lines before the part,
    lines: usize,
    /// and bytes before it in its first line.
    columns: usize,
}

/// The text that a byte belongs to while the end of a block is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScannedText {
    Statements,
    /// Behind `//`.
    Line,
    /// Behind `/*`.
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
            scan: ScannedText::Statements,
            lines: 0,
            columns: 0,
        }
    }

    /// The next part, and whether it is the last one.
    ///
    /// # Errors
    /// That the text cannot be read.
    pub fn next(&mut self) -> io::Result<(&[u8], bool)> {
        self.pass();
        while !self.find_end() && !self.has_ended {
            self.read_on()?;
        }
        Ok((&self.buffer[self.begin..self.end], self.has_ended && self.end == self.buffer.len()))
    }

    /// The line and the column of a byte of the part at hand, from 1.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let part = &self.buffer[self.begin..self.end];
        let (lines, columns) = behind(&part[..at.min(part.len())], self.lines, self.columns);
        let mark =
            if self.lines + lines == 0 && part.starts_with(&BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        (lines + 1, columns.saturating_sub(mark) + 1)
    }

    /// Leaves the part at hand behind.
    fn pass(&mut self) {
        (self.lines, self.columns) = behind(&self.buffer[self.begin..self.end], self.lines, self.columns);
        self.begin = self.end;
    }

    /// Moves the end behind the bracket that closes the block, or behind all that has been read.
    fn find_end(&mut self) -> bool {
        while let Some(rest) = self.buffer.get(self.end..).filter(|rest| !rest.is_empty()) {
            let stops = |byte: &u8| match self.scan {
                ScannedText::Statements => matches!(byte, b'}' | b'/'),
                ScannedText::Line => *byte == b'\n',
                ScannedText::Comment => *byte == b'*',
            };
            let Some(length) = rest.iter().position(stops) else {
                self.end = self.buffer.len();
                return false;
            };
            let next = rest.get(length + 1);
            // The byte behind a slash or a star tells its meaning.
            if next.is_none() && rest[length] != b'}' && self.scan != ScannedText::Line && !self.has_ended {
                self.end += length;
                return false;
            }
            let (scan, passed) = match (self.scan, rest[length], next) {
                (ScannedText::Statements, b'}', _) | (ScannedText::Line, ..) => (ScannedText::Statements, 1),
                (ScannedText::Statements, _, Some(b'/')) => (ScannedText::Line, 2),
                (ScannedText::Statements, _, Some(b'*')) => (ScannedText::Comment, 2),
                (ScannedText::Comment, _, Some(b'/')) => (ScannedText::Statements, 2),
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
        // A long block is copied a few times only.
        let more = self.chunk.max(before);
        self.buffer.reserve(more);
        self.source.by_ref().take(more as u64).read_to_end(&mut self.buffer)?;
        self.has_ended = self.buffer.len() == before;
        Ok(())
    }
}

/// The lines and the columns behind these bytes.
fn behind(bytes: &[u8], lines: usize, columns: usize) -> (usize, usize) {
    let last = bytes.iter().rposition(|byte| *byte == b'\n');
    match last {
        None => (lines, columns + bytes.len()),
        Some(last) => (lines + bytes[..last].split(|byte| *byte == b'\n').count(), bytes.len() - last - 1),
    }
}
