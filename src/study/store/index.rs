//! Places of the records in all segments.

use super::error::StoreError;
use super::record::{HEAD_BYTES, Head, Kind, MARK};
use super::segment::{HEADER_BYTES, begins_header, check_header};
use crate::scenario::CaseId;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The bytes that are read at once: most records are shorter, and skipping one then costs no call of the system.
const BUFFER_BYTES: usize = 1 << 16;

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub id: CaseId,
    /// Traces come before failures: a result is worth more.
    pub kind: Kind,
    pub segment: u32,
    pub offset: u64,
}

/// The places of records, in order of their ids.
#[derive(Default)]
pub struct Index(Vec<Place>);

/// The end of a segment whose last record is not whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Torn {
    pub path: PathBuf,
    pub offset: u64,
}

impl Index {
    /// The index of these segments, and the ends of those that are torn.
    ///
    /// # Errors
    /// A segment that cannot be read, or is damaged in its middle.
    pub fn of(segments: &[PathBuf]) -> Result<(Self, Vec<Torn>), StoreError> {
        let (mut places, mut torn) = (Vec::new(), Vec::new());
        for (number, path) in (0..).zip(segments) {
            let mut scan = Scan::open(path).map_err(StoreError::unreadable(path))?;
            let offset = scan.records(number, &mut places)?;
            torn.extend(offset.map(|offset| Torn { path: path.clone(), offset }));
        }
        places.sort_unstable();
        places.shrink_to_fit();
        Ok((Self(places), torn))
    }

    /// All records with this id, the best first.
    pub fn places(&self, id: CaseId) -> &[Place] {
        let begin = self.0.partition_point(|place| place.id < id);
        let count = self.0[begin..].iter().take_while(|place| place.id == id).count();
        &self.0[begin..begin + count]
    }
}

/// A segment that is read from its begin to its end, as long as it was when it was opened.
struct Scan<'p> {
    path: &'p Path,
    file: BufReader<File>,
    offset: u64,
    end: u64,
}

impl<'p> Scan<'p> {
    fn open(path: &'p Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        Ok(Self { path, file: BufReader::with_capacity(BUFFER_BYTES, file), offset: 0, end })
    }

    /// Adds the places of all whole records, and returns where one begins that is not, at the end of the segment.
    fn records(&mut self, segment: u32, places: &mut Vec<Place>) -> Result<Option<u64>, StoreError> {
        if !self.header()? {
            return Ok((self.end > 0).then_some(0));
        }
        let mut last = None;
        while let Some(head) = self.head()? {
            let end = self.offset.saturating_add(head.record_bytes());
            if end > self.end {
                break;
            }
            places.push(Place { id: head.id, kind: head.kind, segment, offset: self.offset });
            last = Some((self.offset, head));
            self.skip_to(end)?;
        }
        self.without_torn(last, places)
    }

    /// Reads the header. Returns whether there is one: a segment may end in it.
    fn header(&mut self) -> Result<bool, StoreError> {
        let Some(header) = self.bytes::<HEADER_BYTES>()? else {
            let mut begin = Vec::new();
            self.file.read_to_end(&mut begin).map_err(StoreError::unreadable(self.path))?;
            let is_begin = begins_header(&begin);
            return if is_begin { Ok(false) } else { Err(StoreError::Foreign { path: self.path.to_owned() }) };
        };
        check_header(self.path, &header)?;
        self.offset = HEADER_BYTES as u64;
        Ok(true)
    }

    /// The head of the record that begins here, if there is a whole one.
    fn head(&mut self) -> Result<Option<Head>, StoreError> {
        let Some(bytes) = self.bytes::<HEAD_BYTES>()? else { return Ok(None) };
        let head = Head::read(&bytes);
        self.seek(self.offset)?;
        if head.is_none() && self.has_another_head()? {
            return Err(StoreError::Damaged { path: self.path.to_owned(), offset: self.offset });
        }
        Ok(head)
    }

    /// Takes the last record away if its payload is not what was written, and returns where the segment is torn.
    fn without_torn(&mut self, last: Option<(u64, Head)>, places: &mut Vec<Place>) -> Result<Option<u64>, StoreError> {
        if let Some((offset, head)) = last {
            self.seek(offset + HEAD_BYTES as u64)?;
            let mut payload = Vec::new();
            let read = (&mut self.file).take(head.length).read_to_end(&mut payload);
            read.map_err(StoreError::unreadable(self.path))?;
            if !head.fits(&payload) {
                places.pop();
                return Ok(Some(offset));
            }
        }
        Ok((self.offset < self.end).then_some(self.offset))
    }

    /// Returns whether the head of a record lies anywhere behind this place.
    fn has_another_head(&mut self) -> Result<bool, StoreError> {
        self.seek(self.offset + 1)?;
        let found = self.find_head().map_err(StoreError::unreadable(self.path))?;
        self.seek(self.offset)?;
        Ok(found)
    }

    fn find_head(&mut self) -> io::Result<bool> {
        let mut rest = Vec::new();
        self.file.read_to_end(&mut rest)?;
        let mut heads = rest.windows(HEAD_BYTES).filter(|bytes| bytes.starts_with(&MARK));
        Ok(heads.any(|bytes| bytes.try_into().is_ok_and(|bytes| Head::read(bytes).is_some())))
    }

    /// The next bytes, if the segment has as many.
    fn bytes<const COUNT: usize>(&mut self) -> Result<Option<[u8; COUNT]>, StoreError> {
        if self.end.saturating_sub(self.offset) < COUNT as u64 {
            return Ok(None);
        }
        let mut bytes = [0; COUNT];
        self.file.read_exact(&mut bytes).map_err(StoreError::unreadable(self.path))?;
        Ok(Some(bytes))
    }

    fn skip_to(&mut self, offset: u64) -> Result<(), StoreError> {
        self.offset = offset;
        self.seek(offset)
    }

    /// Goes to a place; one that has been read already costs no call of the system.
    fn seek(&mut self, offset: u64) -> Result<(), StoreError> {
        let sought =
            self.file.stream_position().and_then(|now| match i64::try_from(i128::from(offset) - i128::from(now)) {
                Ok(by) => self.file.seek_relative(by),
                Err(_) => self.file.seek(SeekFrom::Start(offset)).map(drop),
            });
        sought.map_err(StoreError::unreadable(self.path))
    }
}
