//! Activities of every rank, piece by piece, and the concurrent work of its processor for the communication.

use super::{Activity, Phase};
use crate::units::{SimDuration, SimTime};

/// A loop of a computation: its name, its iterations, and their time alone on the processor.
pub type Loop = (&'static str, u64, SimDuration);

/// The pieces of a run.
#[derive(Clone, Debug, Default)]
pub struct ActivityLog {
    /// The activities of the ranks, each rank in the order of time and without gaps until its program has ended;
    /// nothing that took no time.
    pub entries: Vec<LogEntry>,
    /// The services of the communication software.
    pub services: Vec<Service>,
    /// The messages, and parts of messages, at network interfaces.
    pub passages: Vec<Passage>,
}

/// The log that a transport of messages keeps of a run.
#[derive(Clone, Debug, Default)]
pub struct CommunicationLog {
    /// The services of processors.
    pub services: Vec<Service>,
    /// The messages, and parts of messages, at network interfaces.
    pub passages: Vec<Passage>,
}

/// A message, or a part of one, at a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The number of the message, in the order of the sends of all.
    pub message: u32,
    /// The node.
    pub node: u32,
    /// The interface, by its number on the node.
    pub interface: u32,
    /// The processor that sends or receives.
    pub processor: u32,
    /// The step that it makes there.
    pub step: PassageStep,
    /// The time from which its bytes take the interface.
    pub begin: SimTime,
    /// The time at which its bytes have passed.
    pub end: SimTime,
    /// The bytes that take time there.
    pub bytes: u64,
    /// True if the gap between messages follows.
    pub has_gap: bool,
}

/// A step of a message at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassageStep {
    /// It leaves its source.
    Leaves,
    /// A packet of it enters the network, after so many others.
    Enters {
        /// Those before it.
        packets_before: u64,
    },
    /// It, or a packet of it, comes to its destination.
    Comes {
        /// The links on its way.
        hops: u32,
    },
}

/// A piece of a rank's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// The rank.
    pub rank: u32,
    /// Its processor.
    pub processor: u32,
    /// The phase of the program.
    pub phase: Phase,
    /// The activity, apart from the time of the communication software.
    pub activity: Activity,
    /// The request behind the activity.
    pub doing: LogDetail,
    /// The begin of the activity.
    pub begin: SimTime,
    /// The end of the activity.
    pub end: SimTime,
    /// For how long its processor worked for the communication.
    pub system: SimDuration,
    /// For how long its processor computed for other ranks while it could have computed.
    pub ready: SimDuration,
}

/// The amount of a computation, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComputationAmount {
    /// This number of equal rows of the loops.
    Rows(u64),
    /// A share of some floating-point operations: the bits of a real number.
    Operations(u64),
    /// A given time.
    Time(SimDuration),
}

/// The request of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LogDetail {
    /// Something that needs no more words than its activity.
    #[default]
    Else,
    /// Rows of one loop, perhaps after another one.
    Computing {
        /// The loops.
        loops: [Option<Loop>; 2],
        /// The amount that was asked for.
        amount: ComputationAmount,
    },
    /// Making what was received ready to be sent on.
    Forwarding {
        /// The number of bytes.
        bytes: u64,
    },
    /// A send.
    Sending {
        /// The receiver.
        to: u32,
    },
    /// Bytes on their way through what the cores of a node share.
    Moving {
        /// `true` for memory; `false` for the interface by which they leave the node.
        is_memory: bool,
        /// The number of bytes, rounded.
        bytes: u64,
    },
    /// Waiting until all have come to a barrier.
    AtBarrier,
    /// A message.
    Receiving {
        /// The sender.
        from: u32,
        /// The length of the message.
        bytes: u64,
    },
    /// Bytes from or to the host.
    Transferring {
        /// True if they come from the host.
        is_input: bool,
        /// The number of bytes.
        bytes: u64,
        /// The time of a transfer of no bytes.
        start: SimDuration,
    },
}

/// A charge of the communication software.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Software {
    /// Preparation of packets.
    Preparing,
    /// Copying of bytes at the source.
    CopyingOut,
    /// Setting up the route, for each hop.
    Route,
    /// Local routing of packets, at every node that they come to.
    Routing,
    /// Reception of packets.
    Receiving,
    /// Copying of bytes at the destination.
    CopyingIn,
    /// Acknowledges, at every node that they come to.
    Acknowledging,
    /// The processor time of a message of network interfaces, at either end.
    Overhead,
    /// The same of its bytes, where the processor hands them over, or takes them from memory.
    HandedBytes,
    /// Bytes that a processor takes from the interface while they arrive.
    TakenBytes,
    /// Bytes that a processor copies from another one of the node.
    CopiedBytes,
}

/// A part of a service: what for, how often, how long.
pub type SoftwareCharge = (Software, u64, SimDuration);

/// A service of communication software, without interruption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The processor.
    pub processor: u32,
    /// The end of the service.
    pub end: SimTime,
    /// Its parts in their order.
    pub parts: [SoftwareCharge; 3],
}

impl Service {
    /// Returns the duration of the service.
    #[must_use]
    pub fn time(&self) -> SimDuration {
        self.parts.iter().map(|(.., time)| *time).sum()
    }

    /// Returns the begin of the service.
    #[must_use]
    pub fn begin(&self) -> SimTime {
        self.end.before(self.time())
    }
}
