//! The frame of a record: the head before the payload, with checksums of both.

use crate::scenario::CaseId;
use xxhash_rust::xxh3::xxh3_64;

/// The bytes that begin every record.
pub const MARK: [u8; 4] = [0xf5, b'r', b'e', b'c'];
/// The size of a head in bytes.
pub const HEAD_BYTES: usize = 48;

/// The kind of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResultKind {
    /// A completed run.
    Trace,
    /// A failed run.
    Failure,
}

impl ResultKind {
    const fn number(self) -> u32 {
        match self {
            Self::Trace => 1,
            Self::Failure => 2,
        }
    }

    fn of(number: u32) -> Option<Self> {
        [Self::Trace, Self::Failure].into_iter().find(|kind| kind.number() == number)
    }
}

/// The head of a record: mark, kind, length, id, checksum of the payload, checksum of the preceding fields;
/// little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub kind: ResultKind,
    pub id: CaseId,
    /// The length of the payload in bytes.
    pub length: u64,
    checksum: u64,
}

impl Head {
    /// Parses a head; `None` if the bytes are not a head.
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (covered, own) = bytes.split_at(HEAD_BYTES - 8);
        if covered[..4] != MARK || own != xxh3_64(covered).to_le_bytes() {
            return None;
        }
        let kind = ResultKind::of(u32::from_le_bytes(covered[4..8].try_into().ok()?))?;
        let length = u64::from_le_bytes(covered[8..16].try_into().ok()?);
        let id = CaseId::from_bytes(covered[16..32].try_into().ok()?);
        let checksum = u64::from_le_bytes(covered[32..40].try_into().ok()?);
        Some(Self { kind, id, length, checksum })
    }

    /// Returns the size of the whole record in bytes.
    pub const fn record_bytes(self) -> u64 {
        self.length.saturating_add(HEAD_BYTES as u64)
    }

    /// Returns `true` if `payload` has the length and the checksum of this head.
    pub fn fits(self, payload: &[u8]) -> bool {
        self.length == payload.len() as u64 && self.checksum == xxh3_64(payload)
    }
}

/// Returns the bytes of a record of the result `payload`, to be written at once.
pub fn record(kind: ResultKind, id: CaseId, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + payload.len());
    bytes.extend(MARK);
    bytes.extend(kind.number().to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(id.to_bytes());
    bytes.extend(xxh3_64(payload).to_le_bytes());
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes.extend(payload);
    bytes
}
