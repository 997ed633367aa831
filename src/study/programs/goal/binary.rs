//! The binary form of a schedule, as written by LogGOPSim's `txt2bin`: little-endian, without padding.
//!
//! A file begins with a u64 magic number. Offsets are relative to its end. It is followed by u32 ranks, u8 cpus, u8
//! nics, and for each rank the u64 begin and u64 end of its part. A part contains u32 nodes, u32 roots, the roots, the
//! nodes of 39 bytes each, and the followers of all nodes. The file is read in windows: once to check it, and again
//! during the run.

mod check;
mod windows;

pub use windows::{FileSource, ReopenableBytes};

use crate::programs::schedule::{Bounds, NodeKind, OperationPlace, Operations, ScheduleNode, StoredSchedule};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use windows::{OutOfReach, Windows};

/// The first bytes of a binary schedule.
pub const MAGIC: [u8; 8] = 4223u64.to_le_bytes();

/// Size of the file before offset 0, in bytes.
const HEAD: u64 = MAGIC.len() as u64;
/// Size of the head of the table of ranks, in bytes.
const TABLE: u64 = 6;
/// Size of an entry of the table of ranks, in bytes.
const ENTRY: usize = 16;
/// Size of the head of a part, in bytes.
const PART: usize = 8;
/// Size of a node, in bytes.
const NODE: usize = 39;
/// Size of a number in a list, in bytes.
const NUMBER: u64 = 4;

/// A fault of a file, with the byte at which it occurs.
#[derive(Debug, PartialEq, Eq)]
pub struct BinaryFault {
    pub at: u64,
    pub message: String,
}

/// A checked binary schedule, whose operations stay in its file.
#[derive(Debug)]
pub struct BinarySchedule<S> {
    source: S,
    parts: Vec<Part>,
    bounds: Bounds,
}

/// The part of a rank: the location of its operations in the file.
#[derive(Clone, Debug)]
struct Part {
    count: u32,
    takes_any: bool,
    /// The operations without dependencies.
    roots: Box<[u32]>,
    nodes: u64,
    followers: u64,
    end: u64,
}

impl<S: ReopenableBytes> BinarySchedule<S> {
    /// Checks the schedule in a file that begins with [`MAGIC`].
    ///
    /// # Errors
    /// The first fault of the file.
    pub fn check(source: S) -> Result<Self, BinaryFault> {
        let (parts, bounds) = check::check(&source)?;
        Ok(Self { source, parts, bounds })
    }
}

impl<S: ReopenableBytes> StoredSchedule for BinarySchedule<S> {
    fn ranks(&self) -> u32 {
        u32::try_from(self.parts.len()).expect("the ranks of a file are counted in 32 bits")
    }

    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn memory(&self) -> u64 {
        let roots: usize = self.parts.iter().map(|part| size_of_val(&*part.roots)).sum();
        roots as u64 + Windows::<S::Opened>::memory(self.parts.len())
    }

    fn open(self: Arc<Self>) -> Box<dyn Operations> {
        let windows = Windows::new(self.source.open(), self.parts.len());
        Box::new(OpenSchedule { schedule: self, windows, fault: None })
    }
}

/// A binary schedule that is open for access to its operations.
struct OpenSchedule<S: ReopenableBytes> {
    schedule: Arc<BinarySchedule<S>>,
    windows: Windows<S::Opened>,
    fault: Option<String>,
}

impl<S: ReopenableBytes> Operations for OpenSchedule<S> {
    fn ranks(&self) -> u32 {
        self.schedule.ranks()
    }

    fn count(&self, rank: u32) -> u32 {
        self.schedule.parts[rank as usize].count
    }

    fn matches_any(&self, rank: u32) -> bool {
        self.schedule.parts[rank as usize].takes_any
    }

    fn roots(&self, rank: u32) -> Vec<u32> {
        self.schedule.parts[rank as usize].roots.to_vec()
    }

    fn node(&mut self, rank: u32, number: u32) -> ScheduleNode {
        let part = &self.schedule.parts[rank as usize];
        let at = part.nodes + u64::from(number) * NODE as u64;
        let failure = match self.windows.node(rank, at, part.followers) {
            Ok(bytes) => match decode(bytes) {
                Some(node) if self.schedule.has(part, &node) => return node,
                _ => OutOfReach(None),
            },
            Err(failure) => failure,
        };
        self.fail(failure);
        ScheduleNode::new(NodeKind::Compute, 0)
    }

    fn follower(&mut self, rank: u32, place: u32) -> u32 {
        let part = &self.schedule.parts[rank as usize];
        let at = part.followers + u64::from(place) * NUMBER;
        let failure = match self.windows.follower(rank, at, part.end) {
            Ok(number) if number < part.count => return number,
            Ok(_) => OutOfReach(None),
            Err(failure) => failure,
        };
        self.fail(failure);
        0
    }

    fn fault(&self) -> Option<String> {
        self.fault.as_ref().map(|fault| format!("cannot read on in its schedule: {fault}"))
    }
}

impl<S: ReopenableBytes> OpenSchedule<S> {
    /// Records that data that was present when the file was checked can no longer be read.
    #[cold]
    fn fail(&mut self, OutOfReach(error): OutOfReach) {
        self.fault
            .get_or_insert_with(|| error.map_or_else(|| "the file has changed".to_owned(), |error| error.to_string()));
    }
}

impl<S> BinarySchedule<S> {
    /// Returns the same schedule with another source, which may lack its data.
    #[cfg(test)]
    pub fn with_source(&self, source: S) -> Self {
        Self { source, parts: self.parts.clone(), bounds: self.bounds }
    }

    /// Returns `true` if an operation of a part respects the bounds that were checked, as far as others rely on them.
    fn has(&self, part: &Part, node: &ScheduleNode) -> bool {
        let Bounds { highest, highest_peer, .. } = self.bounds;
        let room = (part.end - part.followers) / NUMBER;
        let fits = |first: u32, count: u32| count == 0 || u64::from(first) + u64::from(count) <= room;
        (node.kind != NodeKind::Send || node.peer <= highest_peer)
            && (node.cpu <= highest.cpu && node.nic <= highest.nic)
            && (fits(node.first, node.at_end) && fits(node.first_at_begin, node.at_begin))
    }
}

/// Returns the byte at which an operation is stored in a checked file, or `None` if the file is not binary.
pub fn place(file: &mut (impl Read + Seek), (rank, number): OperationPlace) -> Option<u64> {
    let mut bytes = |at: u64| {
        let mut bytes = [0; 8];
        file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes)).ok().map(|()| bytes)
    };
    if bytes(0)? != MAGIC {
        return None;
    }
    let part = HEAD.checked_add(u64::from_le_bytes(bytes(HEAD + TABLE + u64::from(rank) * ENTRY as u64)?))?;
    let roots = u32::from_le_bytes(*bytes(part)?.last_chunk()?);
    part.checked_add(PART as u64 + u64::from(roots) * NUMBER + u64::from(number) * NODE as u64)
}

/// Decodes an operation, or returns `None` if its kind is invalid.
#[inline]
fn decode(bytes: &[u8; NODE]) -> Option<ScheduleNode> {
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let kind = match bytes[4] {
        1 => NodeKind::Send,
        2 => NodeKind::Receive,
        3 => NodeKind::Compute,
        _ => return None,
    };
    Some(ScheduleNode {
        awaited: number(0),
        peer: number(5),
        size: u64::from(number(9)) | u64::from(number(13)) << 32,
        tag: number(17),
        cpu: bytes[21],
        nic: bytes[22],
        at_end: number(23),
        first: number(27),
        at_begin: number(31),
        first_at_begin: number(35),
        kind,
    })
}

fn fault(at: u64, message: impl Into<String>) -> BinaryFault {
    BinaryFault { at, message: message.into() }
}
