//! The log of the activities of every rank, and of the concurrent work of its processor for the communication.

use super::{Activity, Phase};
use crate::units::{SimDuration, SimTime};

/// A loop of a computation: its name, its number of iterations, and their time on an otherwise idle processor.
pub type Loop = (&'static str, u64, SimDuration);

/// The activity log of a run.
#[derive(Clone, Debug, Default)]
pub struct ActivityLog {
    /// The activities of the ranks. The entries of a rank are in order of time, without gaps until its program has
    /// ended; activities that take no time are omitted.
    pub entries: Vec<LogEntry>,
    /// The services of the communication software.
    pub services: Vec<Service>,
    /// The messages and packets at network interfaces.
    pub passages: Vec<Passage>,
}

/// The work of a message transport since its log was last cleared.
#[derive(Clone, Debug, Default)]
pub struct CommunicationLog {
    /// The services of processors for the communication.
    pub services: Vec<Service>,
    /// The messages and packets at network interfaces.
    pub passages: Vec<Passage>,
    /// The intervals that are booked as system time. Those of a processor are in order and do not overlap.
    pub busy: Vec<BusyInterval>,
}

impl CommunicationLog {
    /// Returns whether nothing has been logged.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.services.is_empty() && self.passages.is_empty() && self.busy.is_empty()
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.services.clear();
        self.passages.clear();
        self.busy.clear();
    }
}

/// An interval in which a processor works for the communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyInterval {
    /// The processor.
    pub processor: u32,
    /// The beginning.
    pub begin: SimTime,
    /// The end.
    pub end: SimTime,
    /// The purpose of the work.
    pub handling: Handling,
}

/// The purpose of the work of a processor for the communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handling {
    /// A message of a process of this node leaves.
    Sending,
    /// Packets of other nodes are passed on.
    Forwarding,
    /// A message arrives, or its acknowledgement.
    Receiving,
}

impl Handling {
    /// All purposes, in the order of their numbers in a recording.
    pub const ALL: [Self; 3] = [Self::Sending, Self::Forwarding, Self::Receiving];

    /// Returns the name in pictures and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Forwarding => "forwarding",
            Self::Receiving => "receiving",
        }
    }
}

/// The passage of a message, or of a part of one, through a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The number of the message, in the order of all sends.
    pub message: u32,
    /// The node of the interface.
    pub node: u32,
    /// The number of the interface on its node.
    pub interface: u32,
    /// The processor that sends or receives.
    pub processor: u32,
    /// The step of the message at the interface.
    pub step: PassageStep,
    /// The time from which the bytes occupy the interface.
    pub begin: SimTime,
    /// The time at which the last byte has passed.
    pub end: SimTime,
    /// The number of bytes that occupy the interface.
    pub bytes: u64,
    /// `true` if the gap between messages follows.
    pub has_gap: bool,
}

/// A step of a message at a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassageStep {
    /// The message leaves its source.
    Leaves,
    /// A packet of the message enters the network.
    Enters {
        /// Number of packets of the message that have entered before.
        packets_before: u64,
    },
    /// The message, or a packet of it, arrives at its destination.
    Comes {
        /// Number of links on its route.
        hops: u32,
    },
}

/// An entry of the activity log: a span of the time of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// The rank.
    pub rank: u32,
    /// The processor of the rank.
    pub processor: u32,
    /// The phase of the program.
    pub phase: Phase,
    /// The activity, without the time of the communication software.
    pub activity: Activity,
    /// The request behind the activity.
    pub doing: LogDetail,
    /// The start of the activity.
    pub begin: SimTime,
    /// The end of the activity.
    pub end: SimTime,
    /// Time for which the processor worked for the communication.
    pub system: SimDuration,
    /// Time for which the rank could have computed while its processor computed for other ranks.
    pub ready: SimDuration,
}

/// The amount of a computation, as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComputationAmount {
    /// This number of equal rows of the loops.
    Rows(u64),
    /// A share of some floating-point operations, as the bits of an `f64`.
    Operations(u64),
    /// A given time.
    Time(SimDuration),
}

/// The request of a process behind an activity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LogDetail {
    /// A request without details beyond its activity.
    #[default]
    Else,
    /// A computation: rows of one loop, possibly after those of another one.
    Computing {
        /// The loops.
        loops: [Option<Loop>; 2],
        /// The requested amount.
        amount: ComputationAmount,
    },
    /// The preparation of received data for sending.
    Forwarding {
        /// The number of bytes.
        bytes: u64,
    },
    /// A send.
    Sending {
        /// The receiver.
        to: u32,
    },
    /// A transfer of bytes through a resource that the cores of a node share.
    Moving {
        /// `true` if the resource is a memory; otherwise it is the interface by which the bytes leave the node.
        is_memory: bool,
        /// The number of bytes, rounded.
        bytes: u64,
    },
    /// A wait until all ranks have reached a barrier.
    AtBarrier,
    /// The receive of a message.
    Receiving {
        /// The sender.
        from: u32,
        /// The length of the message.
        bytes: u64,
    },
    /// A transfer of bytes from or to the host.
    Transferring {
        /// `true` if the bytes come from the host.
        is_input: bool,
        /// The number of bytes.
        bytes: u64,
        /// The time of an empty transfer.
        start: SimDuration,
    },
}

/// A kind of work of the communication software.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Software {
    /// Preparation of packets.
    Preparing,
    /// Copying of bytes at the source.
    CopyingOut,
    /// Set-up of the route, for each hop.
    Route,
    /// Local routing of packets, at every node at which they arrive.
    Routing,
    /// Reception of packets.
    Receiving,
    /// Copying of bytes at the destination.
    CopyingIn,
    /// Acknowledges, at every node at which they arrive.
    Acknowledging,
    /// The processor time of a message with network interfaces, at either end.
    Overhead,
    /// The processor time of the bytes of such a message, if the processor hands them over or reads them from memory.
    HandedBytes,
    /// Bytes that a processor takes from the interface while they arrive.
    TakenBytes,
    /// Bytes that a processor copies from another processor of the node.
    CopiedBytes,
}

/// A part of a service: its kind, its number of items, and its duration.
pub type SoftwareCharge = (Software, u64, SimDuration);

/// An uninterrupted service of the communication software.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The processor.
    pub processor: u32,
    /// The end of the service.
    pub end: SimTime,
    /// The parts of the service in order.
    pub parts: [SoftwareCharge; 3],
}

impl Service {
    /// Returns the duration of the service.
    #[must_use]
    pub fn time(&self) -> SimDuration {
        self.parts.iter().map(|(.., time)| *time).sum()
    }

    /// Returns the start of the service.
    #[must_use]
    pub fn begin(&self) -> SimTime {
        self.end.before(self.time())
    }
}
