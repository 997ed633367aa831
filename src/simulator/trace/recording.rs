//! Recordings: a run as a stream of bytes, written during the run and read back as events.
//!
//! `docs/trace-format.md` describes every byte.

mod reader;
mod writer;

pub use reader::{RankTimes, Recording, RecordingError};
pub use writer::RecordingWriter;

use super::accounts::Activity;
use super::events::EventId;
use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;

/// The first bytes of a recording; the number is the version of the format.
pub const MAGIC: &[u8] = b"parsim-trace 8\n";

/// The common first bytes of recordings of all versions. Versions 1 to 8 can be read. Version 1 has no transfers,
/// version 2 no alternating ones, version 3 no loads, version 4 no ready ranks, version 5 no origin, version 6 no times
/// of the communication work, version 7 no senders of messages that waited for a receive.
const KIND: &[u8] = b"parsim-trace ";
const READABLE: [u8; 8] = [b'1', b'2', b'3', b'4', b'5', b'6', b'7', b'8'];

/// Returns whether a file with these first bytes is a recording, of any version.
#[must_use]
pub fn is_recording(first: &[u8]) -> bool {
    first.starts_with(KIND)
}

/// The header of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The version of parsim that wrote the recording, with its commit if known; empty in recordings without this
    /// field.
    pub origin: String,
    /// The program, in words.
    pub program: String,
    /// The machine, in words.
    pub machine: String,
    /// The node of each rank.
    pub nodes: Vec<u32>,
}

/// An interval of a rank, from the end of its previous interval to `end`.
///
/// The interval results in up to three events: one for the time in which the processor worked for the communication,
/// one for the time in which it computed for other ranks, and one for the remaining time, unless the rank was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<'p> {
    /// The rank.
    pub rank: u32,
    /// The phase of the program.
    pub phase: &'p str,
    /// The activity.
    pub activity: Activity,
    /// The end of the interval.
    pub end: SimTime,
    /// The time in which the processor worked for the communication.
    pub system: SimDuration,
    /// The time in which the rank could have computed while its processor computed for other ranks.
    pub ready: SimDuration,
    /// `true` if the communication work is also booked for another rank on the processor, for which it is counted.
    pub is_shared: bool,
    /// The event that ended the interval, unless the activity itself ended.
    pub cause: Option<Cause>,
}

impl Interval<'_> {
    /// Returns the number of events that result from the interval.
    fn events(&self) -> u64 {
        [self.system > SimDuration::ZERO, self.ready > SimDuration::ZERO, self.activity != Activity::Idle]
            .map(u64::from)
            .iter()
            .sum()
    }
}

/// The cause of the end of a wait: an event of the recording, after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The event that is the cause.
    pub event: EventId,
    /// The time from that event to its effect.
    pub delay: SimDuration,
    /// The means by which the event takes effect.
    pub means: CauseKind,
}

/// The means by which one event causes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// A message arrived; the cause is the event of its sending, or the receive for which its data waited.
    Message {
        /// The length of the message.
        bytes: u64,
        /// The rank that has sent it, if its sending is not the cause.
        sender: Option<u32>,
    },
    /// A send completed; the cause is its start, or the receive for which the sender waited.
    Sending,
    /// Bytes have moved through a resource that the cores of a node share; the cause is the start of that transfer.
    Memory,
    /// The last rank reached a barrier; the cause is its arrival.
    Release,
}

/// The first byte of each record.
mod mark {
    pub const END: u8 = 0;
    pub const PHASE: u8 = 1;
    pub const INTERVAL: u8 = 2;
    /// The first mark of intervals with causes, to which the number of the means is added.
    pub const CAUSED: u8 = 3;
    pub const TRANSFER: u8 = 7;
    /// A transfer whose packets share the wire with others, or are not on channel 0.
    pub const ALTERNATING: u8 = 8;
    /// The time for which the rank of the next interval was ready, and whether the communication work of its processor
    /// is counted for another rank.
    pub const READY: u8 = 9;
    /// The times at which the processor works for the communication in the next interval.
    pub const BUSY: u8 = 10;
    /// The sender of the message that ends the next interval, if its sending is not the cause.
    pub const SENDER: u8 = 11;
}

/// The time at which each channel is free after the transfers recorded so far, by the vertices that it joins and its
/// number.
type FreeTimes = FxHashMap<(u32, u32, u32), SimTime>;

impl CauseKind {
    const fn number(self) -> u8 {
        match self {
            Self::Message { .. } => 0,
            Self::Sending => 1,
            Self::Memory => 2,
            Self::Release => 3,
        }
    }
}

#[cfg(test)]
mod tests;
