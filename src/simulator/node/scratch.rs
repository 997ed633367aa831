//! Temporary memory of collective operations, and its cost when it is freshly mapped.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Cost of the buffers that collective operations allocate for a call if the allocator has returned their memory to the
/// operating system since the previous call. Pages are then cleared and mapped at the first touch, and buffers are
/// registered with the interface.
///
/// The rules are those of glibc (`mallopt(3)`: `M_MMAP_THRESHOLD`, `M_TRIM_THRESHOLD`, both dynamic). A buffer of
/// `kept` or more is mapped anew in every call. Smaller buffers stay with the process, unless the largest of them
/// exceeds `trimmed` and all of them together are at least twice as large as the largest. The cost is paid at the
/// beginning of the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScratchMemory {
    /// The smallest buffer that does not stay with the process; 32 MiB unless given, as in glibc on 64-bit machines.
    #[serde(default = "kept")]
    pub kept: Bytes,
    /// The largest buffer up to which several buffers stay with the process, whatever their total; 128 KiB unless
    /// given, as in glibc.
    #[serde(default = "trimmed")]
    pub trimmed: Bytes,
    /// Time of each byte of freshly mapped buffers.
    pub per_byte: PerByte,
    /// Time of each piece of freshly mapped buffers that is sent from, or received into, as a message whose data leave
    /// on request: the registration of the piece with the interface. Zero unless given.
    #[serde(default)]
    pub per_message: SimDuration,
}

const fn kept() -> Bytes {
    Bytes::new(32 << 20)
}

const fn trimmed() -> Bytes {
    Bytes::new(128 << 10)
}

/// The buffers of a call on one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// Length of the largest buffer in bytes.
    largest: u64,
    /// Total length in bytes.
    total: u64,
    /// Pieces of the buffers that are sent or received as messages: pairs of number and length in bytes.
    pieces: Vec<(u64, u64)>,
}

impl Scratch {
    /// Creates buffers of these lengths.
    #[must_use]
    pub fn of(buffers: &[u64]) -> Self {
        Self {
            largest: buffers.iter().copied().max().unwrap_or(0),
            total: buffers.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)),
            pieces: Vec::new(),
        }
    }

    /// Adds `count` messages of `bytes` bytes that use pieces of the buffers.
    #[must_use]
    pub fn with(mut self, count: u64, bytes: u64) -> Self {
        self.pieces.push((count, bytes));
        self
    }

    /// Adds the messages of `steps` halving steps: `times` messages of a half, a quarter and so on of `bytes`.
    #[must_use]
    pub fn halving(self, times: u64, bytes: u64, steps: u32) -> Self {
        (1..=steps).fold(self, |scratch, step| scratch.with(times, bytes >> step))
    }
}

impl ScratchMemory {
    /// Creates buffers whose freshly mapped bytes take `per_byte` each, with the thresholds of glibc.
    #[must_use]
    pub const fn new(per_byte: PerByte) -> Self {
        Self { kept: kept(), trimmed: trimmed(), per_byte, per_message: SimDuration::ZERO }
    }

    /// Returns the time of the buffers of a call. Messages above `announced` bytes leave on request, if given.
    #[must_use]
    pub fn time(&self, scratch: &Scratch, announced: Option<Bytes>) -> SimDuration {
        let Scratch { largest, total, .. } = *scratch;
        let is_trimmed = largest > self.trimmed.count() && total >= largest.saturating_mul(2);
        if largest < self.kept.count() && !is_trimmed {
            return SimDuration::ZERO;
        }
        let is_registered = |bytes: u64| announced.is_some_and(|announced| bytes > announced.count());
        let registered = scratch.pieces.iter().filter(|(_, bytes)| is_registered(*bytes)).map(|(count, _)| *count);
        self.per_byte.time(total) + self.per_message * registered.sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(buffers: &[u64], pieces: u64) -> u64 {
        let registration = SimDuration::from_ps(5);
        let memory =
            ScratchMemory { per_message: registration, ..ScratchMemory::new(PerByte::new(SimDuration::from_ps(2))) };
        let scratch = Scratch::of(buffers).with(pieces, 4097).with(pieces, 4096);
        memory.time(&scratch, Some(Bytes::new(4096))).ps()
    }

    #[test]
    fn one_buffer_is_kept_up_to_a_length_and_two_equal_ones_up_to_another() {
        let mib = 1 << 20;
        assert_eq!(time(&[32 * mib - 1], 3), 0);
        assert_eq!(time(&[32 * mib], 3), 64 * mib + 15);
        assert_eq!(time(&[mib, mib], 3), 4 * mib + 15);
        assert_eq!(time(&[mib, mib / 2], 3), 0);
        assert_eq!(time(&[mib / 8, mib / 8], 3), 0);
        assert_eq!(time(&[], 0), 0);
    }
}
