//! A recorded run as a stream of bytes, written while the run is run and read back as events.
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
pub const MAGIC: &[u8] = b"parsim-trace 6\n";

/// First bytes of recordings of all versions. Versions 1 to 6 can be read: version 1 had no transfers, version 2 none
/// that alternate, version 3 no loads, version 4 no ranks that are ready, version 5 no origin.
const KIND: &[u8] = b"parsim-trace ";
const READABLE: [u8; 6] = [b'1', b'2', b'3', b'4', b'5', b'6'];

/// Returns whether a file with these first bytes is a recording, of any version.
#[must_use]
pub fn is_recording(first: &[u8]) -> bool {
    first.starts_with(KIND)
}

/// Header of every recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The version of parsim that wrote it, with its commit if that was known; empty of recordings that do not tell.
    pub origin: String,
    /// The program, in words.
    pub program: String,
    /// The machine, in words.
    pub machine: String,
    /// The node of each rank.
    pub nodes: Vec<u32>,
}

/// Interval of a rank, from the end of its last interval to `end`.
///
/// It makes an event for the time in which its processor worked for the communication and one for the time in which it
/// computed for other ranks, if there is any, and one for the rest, unless the rank was idle.
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
    /// The time in which its processor worked for the communication.
    pub system: SimDuration,
    /// The time in which its processor computed for other ranks while it could have computed.
    pub ready: SimDuration,
    /// True if the work for the communication is also booked for another rank on the processor, which it is counted with.
    pub is_shared: bool,
    /// The event that ended it, unless the activity itself did.
    pub cause: Option<Cause>,
}

impl Interval<'_> {
    /// The number of events that it makes.
    fn events(&self) -> u64 {
        [self.system > SimDuration::ZERO, self.ready > SimDuration::ZERO, self.activity != Activity::Idle]
            .map(u64::from)
            .iter()
            .sum()
    }
}

/// Cause of the end of a wait: an event of the recording, after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The event.
    pub event: EventId,
    /// The time from the event to its effect.
    pub delay: SimDuration,
    /// On what way it took effect.
    pub means: Means,
}

/// On what way one event causes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A message came; the event is its sending.
    Message {
        /// Its length.
        bytes: u64,
    },
    /// A send was complete; the event is its beginning, or the receive that the sender waited for.
    Sending,
    /// Bytes had moved through what the cores of a node share; the event is the beginning of that.
    Memory,
    /// The last one came to a barrier; the event is that.
    Release,
}

/// The marks of the records.
mod mark {
    pub const END: u8 = 0;
    pub const PHASE: u8 = 1;
    pub const INTERVAL: u8 = 2;
    /// Intervals with causes: this and the number of the means.
    pub const CAUSED: u8 = 3;
    pub const TRANSFER: u8 = 7;
    /// A transfer whose packets share the wire with others, or are on another channel than the first.
    pub const ALTERNATING: u8 = 8;
    /// The time for which the rank of the interval that follows was ready, and whether the work of its processor for the
    /// communication is counted with another rank.
    pub const READY: u8 = 9;
}

/// Time at which each channel is free after the transfers recorded so far, by the vertices that it joins and its
/// number.
type FreeTimes = FxHashMap<(u32, u32, u32), SimTime>;

impl Means {
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
