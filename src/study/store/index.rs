//! An index of the records in all segments.

use super::error::StoreError;
use super::record::{HEAD_BYTES, Head, MARK, ResultKind};
use super::segment::{HEADER_BYTES, begins_header, check_header};
use crate::scenario::CaseId;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::mem::take;
use std::path::{Path, PathBuf};

/// The size of the read buffer in bytes. Most records are shorter, so that skipping one needs no system call.
const BUFFER_BYTES: usize = 1 << 16;

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordPlace {
    pub id: CaseId,
    /// The kind of the result; traces sort before failures because a result is worth more.
    pub kind: ResultKind,
    pub segment: u32,
    pub offset: u64,
    /// `true` if the payload was checked when its segment was indexed; long ones are not.
    pub is_checked: bool,
}

/// The places of records, ordered by id.
#[derive(Default)]
pub struct Index {
    places: Vec<RecordPlace>,
    /// The first place of each group of ids that begin with the same bits, and the end; ids are uniformly distributed.
    groups: Vec<u32>,
    /// The number of bits that define a group.
    bits: u32,
}

/// The target number of places per group.
const GROUP: usize = 2;

/// A part of a segment that is damaged or incomplete; the case of the record that begins there counts as missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub path: PathBuf,
    pub offset: u64,
    /// `true` if no intact record follows, because the process that wrote the segment was killed or the power was cut.
    pub is_last: bool,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, offset, is_last } = self;
        let path = path.display();
        if *is_last {
            write!(f, "{path}: the last record, at byte {offset}, is incomplete: its case counts as missing")
        } else {
            write!(
                f,
                "{path}: the record at byte {offset} is damaged: its case counts as missing, unless another record has it"
            )
        }
    }
}

impl Index {
    /// Indexes these segments, and returns their flaws.
    ///
    /// # Errors
    /// Returns an error for a segment that cannot be read, or a file that is not a segment.
    pub fn of(segments: &[PathBuf]) -> Result<(Self, Vec<Damage>), StoreError> {
        let (mut places, mut flaws) = (Vec::new(), Vec::new());
        for (number, path) in (0..).zip(segments) {
            let mut scan = SegmentScan::open(path).map_err(StoreError::unreadable(path))?;
            scan.records(number, &mut places)?;
            flaws.append(&mut scan.flaws);
        }
        places.sort_unstable();
        places.shrink_to_fit();
        Ok((Self::sorted(places), flaws))
    }

    fn sorted(places: Vec<RecordPlace>) -> Self {
        let bits = (places.len() / GROUP).max(1).ilog2();
        let mut groups = vec![0; (1 << bits) + 1];
        for place in &places {
            groups[1 + group(place.id, bits)] += 1;
        }
        for index in 1..groups.len() {
            groups[index] += groups[index - 1];
        }
        Self { places, groups, bits }
    }

    /// Returns all records with this id, the best first.
    pub fn places(&self, id: CaseId) -> &[RecordPlace] {
        let group = group(id, self.bits);
        let Some([begin, end]) = self.groups.get(group..group + 2) else { return &[] };
        let group = &self.places[*begin as usize..*end as usize];
        let begin = group.partition_point(|place| place.id < id);
        let count = group[begin..].iter().take_while(|place| place.id == id).count();
        &group[begin..begin + count]
    }
}

/// Returns the number formed by the first bits of an id.
fn group(id: CaseId, bits: u32) -> usize {
    usize::try_from(id.first_bits().checked_shr(u64::BITS - bits).unwrap_or(0)).unwrap_or(0)
}

/// A sequential scan of a segment, up to its length at the start of the scan.
struct SegmentScan<'p> {
    path: &'p Path,
    file: BufReader<File>,
    /// The position in the file; asking the file for it would cost a system call.
    position: u64,
    offset: u64,
    end: u64,
    /// The payload of the record being checked.
    payload: Vec<u8>,
    flaws: Vec<Damage>,
}

impl<'p> SegmentScan<'p> {
    fn open(path: &'p Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        let file = BufReader::with_capacity(BUFFER_BYTES, file);
        Ok(Self { path, file, position: 0, offset: 0, end, payload: Vec::new(), flaws: Vec::new() })
    }

    /// Adds the places of all intact records, and a flaw for everything between them.
    fn records(&mut self, segment: u32, places: &mut Vec<RecordPlace>) -> Result<(), StoreError> {
        if !self.header()? {
            self.flaws.extend((self.end > 0).then(|| self.flaw(0, true)));
            return Ok(());
        }
        // The start of the damaged part that ends here, if there is one.
        let mut unsound = None;
        while self.offset < self.end {
            let offset = self.offset;
            match self.record()? {
                ScannedItem::Sound { head, is_checked } => {
                    self.flaws.extend(unsound.take().map(|begin| self.flaw(begin, false)));
                    places.push(RecordPlace { id: head.id, kind: head.kind, segment, offset, is_checked });
                }
                ScannedItem::Damaged => unsound = unsound.or(Some(offset)),
            }
        }
        self.flaws.extend(unsound.map(|begin| self.flaw(begin, true)));
        Ok(())
    }

    fn flaw(&self, offset: u64, is_last: bool) -> Damage {
        Damage { path: self.path.to_owned(), offset, is_last }
    }

    /// Reads the record that begins here, and moves on to the next one.
    fn record(&mut self) -> Result<ScannedItem, StoreError> {
        let Some(head) = self.bytes::<HEAD_BYTES>()?.as_ref().and_then(Head::read) else {
            self.go_to_head_after(self.offset)?;
            return Ok(ScannedItem::Damaged);
        };
        let end = self.offset.saturating_add(head.record_bytes());
        if end > self.end {
            self.offset = self.end;
            return Ok(ScannedItem::Damaged);
        }
        // A power cut damages the last record, so it is always checked.
        let is_checked = head.length <= BUFFER_BYTES as u64 || end == self.end;
        let is_sound = !is_checked || self.has_payload_of(head)?;
        self.offset = end;
        self.seek(end)?;
        Ok(if is_sound { ScannedItem::Sound { head, is_checked } } else { ScannedItem::Damaged })
    }

    /// Returns `true` if the payload of `head`, which begins here, is undamaged.
    fn has_payload_of(&mut self, head: Head) -> Result<bool, StoreError> {
        let mut payload = take(&mut self.payload);
        payload.clear();
        self.read(head.length, &mut payload)?;
        self.payload = payload;
        Ok(head.fits(&self.payload))
    }

    /// Reads the header. Returns `false` for a segment that ends within it.
    fn header(&mut self) -> Result<bool, StoreError> {
        let Some(header) = self.bytes::<HEADER_BYTES>()? else {
            let mut begin = Vec::new();
            self.read(HEADER_BYTES as u64, &mut begin)?;
            let is_begin = begins_header(&begin);
            return if is_begin { Ok(false) } else { Err(StoreError::Foreign { path: self.path.to_owned() }) };
        };
        check_header(self.path, &header)?;
        self.offset = HEADER_BYTES as u64;
        Ok(true)
    }

    /// Moves to the first head of a record after `offset`, or to the end.
    fn go_to_head_after(&mut self, offset: u64) -> Result<(), StoreError> {
        let (mut begin, mut bytes) = (offset + 1, Vec::new());
        self.offset = self.end;
        self.seek(begin)?;
        loop {
            let length = bytes.len();
            self.read(BUFFER_BYTES as u64, &mut bytes)?;
            if let Some(at) = first_head(&bytes) {
                self.offset = begin + at as u64;
                return self.seek(self.offset);
            }
            if bytes.len() == length {
                return Ok(());
            }
            // A head may begin among the last bytes.
            let done = bytes.len().saturating_sub(HEAD_BYTES - 1);
            bytes.drain(..done);
            begin += done as u64;
        }
    }

    /// Returns the next bytes, if the segment has enough of them.
    fn bytes<const COUNT: usize>(&mut self) -> Result<Option<[u8; COUNT]>, StoreError> {
        if self.end.saturating_sub(self.offset) < COUNT as u64 {
            return Ok(None);
        }
        let mut bytes = [0; COUNT];
        self.file.read_exact(&mut bytes).map_err(StoreError::unreadable(self.path))?;
        self.position += COUNT as u64;
        Ok(Some(bytes))
    }

    /// Appends at most `most` of the next bytes to `bytes`.
    fn read(&mut self, most: u64, bytes: &mut Vec<u8>) -> Result<(), StoreError> {
        let read = (&mut self.file).take(most).read_to_end(bytes);
        self.position += read.map_err(StoreError::unreadable(self.path))? as u64;
        Ok(())
    }

    /// Seeks to an offset; within the buffer, this needs no system call.
    fn seek(&mut self, offset: u64) -> Result<(), StoreError> {
        let sought = match i64::try_from(i128::from(offset) - i128::from(self.position)) {
            Ok(0) => Ok(()),
            Ok(by) => self.file.seek_relative(by),
            Err(_) => self.file.seek(SeekFrom::Start(offset)).map(drop),
        };
        self.position = offset;
        sought.map_err(StoreError::unreadable(self.path))
    }
}

/// The outcome of reading at an offset of a segment: a record, or damage.
enum ScannedItem {
    Sound { head: Head, is_checked: bool },
    Damaged,
}

/// Returns the offset of the first whole head in `bytes`.
fn first_head(bytes: &[u8]) -> Option<usize> {
    let is_head =
        |bytes: &[u8]| bytes.starts_with(&MARK) && bytes.try_into().is_ok_and(|bytes| Head::read(bytes).is_some());
    bytes.windows(HEAD_BYTES).position(is_head)
}
