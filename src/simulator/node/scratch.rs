//! Memory that an operation gets for a call and gives back, and what it costs when it is fresh.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Cost of the buffers that a collective operation allocates for a call, where the allocator has given their memory back to the
/// operating system since the last one: pages are cleared and mapped at the first touch, and the interface gets to know them.
///
/// The rules are those of glibc (`mallopt(3)`: `M_MMAP_THRESHOLD`, `M_TRIM_THRESHOLD`, both dynamic): a buffer of `kept` or more is
/// mapped anew in every call; smaller ones stay with the process, unless several, each of them or the largest above `trimmed`,
/// are together at least twice as large as the largest one. It is paid at the beginning of the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScratchMemory {
    /// The least buffer that does not stay with the process; 32 MiB, as in glibc on machines of 64 bits, unless given.
    #[serde(default = "kept")]
    pub kept: Bytes,
    /// The largest buffer of several that stay whatever they add up to; 128 KiB, as in glibc, unless given.
    #[serde(default = "trimmed")]
    pub trimmed: Bytes,
    /// Time of each byte of fresh buffers.
    pub per_byte: PerByte,
    /// Time of each piece of them that is sent, or received into, as a message whose data leave on request: its registration
    /// with the interface. Nothing unless given.
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
    /// The length of the largest.
    largest: u64,
    /// The length of all of them.
    total: u64,
    /// The pieces of them that are messages: their numbers by length.
    pieces: Vec<(u64, u64)>,
}

impl Scratch {
    /// Buffers of these lengths.
    #[must_use]
    pub fn of(buffers: &[u64]) -> Self {
        Self {
            largest: buffers.iter().copied().max().unwrap_or(0),
            total: buffers.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)),
            pieces: Vec::new(),
        }
    }

    /// The same, of which so many pieces of a length are messages.
    #[must_use]
    pub fn with(mut self, count: u64, bytes: u64) -> Self {
        self.pieces.push((count, bytes));
        self
    }

    /// The same, of which halves, quarters and so on are messages, so many times: those of halving steps.
    #[must_use]
    pub fn halving(self, times: u64, bytes: u64, steps: u32) -> Self {
        (1..=steps).fold(self, |scratch, step| scratch.with(times, bytes >> step))
    }
}

impl ScratchMemory {
    /// The time of the buffers of a call, where messages above `announced` bytes leave on request, if any do.
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
        let memory = ScratchMemory {
            kept: kept(),
            trimmed: trimmed(),
            per_byte: PerByte::new(SimDuration::from_ps(2)),
            per_message: SimDuration::from_ps(5),
        };
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
