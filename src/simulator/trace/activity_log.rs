//! What every rank did, piece by piece, and what its processor did for the communication meanwhile.

use super::{Activity, Phase};
use crate::units::{SimDuration, SimTime};

/// A loop of a computation: its name, its iterations, and their time alone on the processor.
pub type Loop = (&'static str, u64, SimDuration);

/// The pieces of a run.
#[derive(Clone, Debug, Default)]
pub struct ActivityLog {
    /// What the ranks did, each in the order of time and without gaps until its program has ended; nothing that took no
    /// time.
    pub entries: Vec<LogEntry>,
    /// What processors did for the communication.
    pub services: Vec<Service>,
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
    /// What it did, but for the time of the communication software.
    pub activity: Activity,
    /// What exactly that was.
    pub doing: LogDetail,
    /// When it began.
    pub begin: SimTime,
    /// When it ended.
    pub end: SimTime,
    /// For how long its processor worked for the communication.
    pub system: SimDuration,
}

/// What a process asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LogDetail {
    /// Something that needs no more words than its activity.
    #[default]
    Else,
    /// Rows of one loop, perhaps after another one.
    Computing {
        /// The loops.
        loops: [Option<Loop>; 2],
    },
    /// Making what was received ready to be sent on.
    Forwarding {
        /// How much.
        bytes: u64,
    },
    /// A send.
    Sending {
        /// The receiver.
        to: u32,
    },
    /// Bytes on their way through what the cores of a node share.
    Moving {
        /// Whether that is memory; else they leave the node.
        is_memory: bool,
        /// How many, rounded.
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
        /// Whether they are read.
        is_input: bool,
        /// How many.
        bytes: u64,
        /// What it takes without any.
        start: SimDuration,
    },
}

/// What communication software pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// A part of a service: what for, how often, how long.
pub type SoftwareCharge = (Software, u64, SimDuration);

/// A service of communication software, without interruption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The processor.
    pub processor: u32,
    /// When it ended.
    pub end: SimTime,
    /// Its parts, one after the other.
    pub parts: [SoftwareCharge; 3],
}

impl Service {
    /// How long it took.
    #[must_use]
    pub fn time(&self) -> SimDuration {
        self.parts.iter().map(|(.., time)| *time).sum()
    }

    /// When it began.
    #[must_use]
    pub fn begin(&self) -> SimTime {
        self.end.before(self.time())
    }
}
