//! The requests of the processes of a run, which another simulator can replay.

use super::Phase;
use crate::units::SimDuration;

/// The number of tags of collective operations, which are the largest ones.
const COLLECTIVE_TAGS: u32 = 1 << 20;
/// The first tag of collective operations; a receive of any tag does not match messages with these tags.
pub const RESERVED_TAGS: u32 = u32::MAX - (COLLECTIVE_TAGS - 1);

/// The requests of every rank, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestLog {
    /// The requests of each rank.
    pub ranks: Vec<Vec<Request>>,
    /// Details that the requests do not express.
    pub unsaid: UnexportedDetails,
}

/// The numbers of request details that affected the times but that a list of messages and computations cannot express.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnexportedDetails {
    /// Sends of data that the process had sent before, which are not copied again.
    pub repeated_sends: usize,
    /// Computations that let communication software run between their rows.
    pub divided_computations: usize,
    /// Forwardings of data, which do not wait for computations.
    pub forwardings: usize,
    /// Synchronous sends, which wait for their receives.
    pub synchronous_sends: usize,
}

/// A request of a process. The operations of a rank are numbered from 0 in the order in which they begin.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Occupies the processor for some time.
    Work(SimDuration),
    /// Begins a send.
    Send {
        /// The receiver.
        to: u32,
        /// The length in bytes.
        bytes: u64,
        /// The tag.
        tag: u32,
    },
    /// Begins a receive.
    Receive {
        /// The sender; any if absent.
        from: Option<u32>,
        /// The tag; any if absent.
        tag: Option<u32>,
        /// The received message, once it has arrived.
        message: Option<ReceivedMessage>,
    },
    /// Waits until these operations are complete.
    Wait(Vec<u32>),
    /// Waits until all ranks have reached this barrier, which costs nothing.
    FreeBarrier(Phase),
    /// A request that a list of messages cannot express.
    Other {
        /// The request in words, for example "a load from memory".
        what: &'static str,
        /// The phase of the request.
        phase: Phase,
    },
}

/// A received message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The sender.
    pub from: u32,
    /// The tag.
    pub tag: u32,
    /// The length in bytes.
    pub bytes: u64,
}
