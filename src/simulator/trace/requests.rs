//! Requests of the processes of a run, which another simulator can replay.

use super::Phase;
use crate::units::SimDuration;

/// Tags from this one on are those of collective operations: a receive of any tag does not take their messages.
pub const RESERVED_TAGS: u32 = u32::MAX - 0xff;

/// The requests of every rank, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestLog {
    /// By rank.
    pub ranks: Vec<Vec<Request>>,
    /// Details that no request holds.
    pub unsaid: Unsaid,
}

/// Details of requests that moved their times and that a list of messages and computations has no place for, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsaid {
    /// Sends of data that their processes had sent before, which were not copied again.
    pub repeated_sends: usize,
    /// Computations whose rows let communication software in.
    pub divided_computations: usize,
    /// Forwardings of data, which computations do not keep waiting.
    pub forwardings: usize,
    /// Synchronous sends, which wait for their receives.
    pub synchronous_sends: usize,
}

/// A request of a process. Operations are numbered by their beginning, rank by rank from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Keeps the processor for some time.
    Work(SimDuration),
    /// Begins to send.
    Send {
        /// The receiver.
        to: u32,
        /// The length.
        bytes: u64,
        /// The tag.
        tag: u32,
    },
    /// Begins to receive.
    Receive {
        /// The sender; any if absent.
        from: Option<u32>,
        /// The tag; any if absent.
        tag: Option<u32>,
        /// The message that came, once it has.
        message: Option<ReceivedMessage>,
    },
    /// Goes on when these operations are complete.
    Wait(Vec<u32>),
    /// Waits until all ranks have come here, which costs nothing.
    FreeBarrier(Phase),
    /// Something that no list of messages can say.
    Other {
        /// The request, such as "a load from memory".
        what: &'static str,
        /// The phase in which it was asked.
        phase: Phase,
    },
}

/// A message that a receive has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Its sender.
    pub from: u32,
    /// Its tag.
    pub tag: u32,
    /// Its length.
    pub bytes: u64,
}
