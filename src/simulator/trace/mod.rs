//! Records of a run, readable without the simulator.

mod accounts;
mod activity_log;
pub mod events;
mod recording;
mod requests;
mod transfer;

pub use accounts::{Account, Accounts, Activity, Phase, find_phase};
pub use activity_log::{
    ActivityLog, CommunicationLog, ComputationAmount, LogDetail, LogEntry, Loop, Passage, PassageStep, Service,
    Software, SoftwareCharge,
};
pub use recording::{
    Cause, Header, Interval, MAGIC, Means, RankTimes, Recording, RecordingError, RecordingWriter, is_recording,
};
pub use requests::{RESERVED_TAGS, ReceivedMessage, Request, RequestLog, Unsaid};
pub use transfer::{Direction, Transfer};

use crate::units::{SimDuration, SimTime};

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// End of the last process.
    pub makespan: SimDuration,
    /// The rank that the host is connected to.
    pub host: u32,
    /// Time of every rank by activity and phase.
    pub accounts: Accounts,
    /// The part of its input and output in which the host's rank wrote.
    pub written: SimDuration,
    /// Every direction of every link.
    pub links: Vec<LinkLoad>,
    /// The work of the simulator; the messages are those of the program.
    pub counts: Counts,
    /// The messages that were sent beside the program, if the run had background traffic.
    pub background: Option<BackgroundCounts>,
    /// Values that the program reported by name.
    pub outcomes: Vec<(&'static str, f64)>,
    /// The nodes that injected traffic, if the program is open-loop traffic.
    pub sources: Vec<SourceLoad>,
    /// Times at which the program's own activities would be served if nothing but causality delayed them, from one
    /// critical time to the next in the program's unit; only of programs that compute critical times.
    pub critical_intervals: Vec<(f64, f64)>,
    /// Every delivered message, in the order of delivery, if the run was asked to keep them.
    pub deliveries: Vec<Delivery>,
    /// Activities of every rank, piece by piece, if the run was asked to keep them.
    pub activity_log: Option<ActivityLog>,
    /// Requests of every rank, if the run was asked to keep them.
    pub requests: Option<RequestLog>,
}

impl Trace {
    /// Returns the first value that the program reported by this name.
    #[must_use]
    pub fn outcome(&self, name: &str) -> Option<f64> {
        self.outcomes.iter().find(|(reported, _)| *reported == name).map(|(_, value)| *value)
    }
}

/// The traffic that a node has injected in the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceLoad {
    /// The rank that injected it.
    pub rank: u32,
    /// The load that it has injected, in flits per cycle.
    pub injected: f64,
    /// The load of its packets that has come to their destinations in that time, in flits per cycle.
    pub accepted: f64,
    /// Its packets that were injected in that time and have come.
    pub packets: u64,
    /// Their mean latency in seconds; not a number without packets.
    pub latency_mean_s: f64,
    /// Their largest latency in seconds; not a number without packets.
    pub latency_max_s: f64,
}

/// Messages that were sent beside a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundCounts {
    /// Their number.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLoad {
    /// The vertex that sends.
    pub from: u32,
    /// The vertex that receives.
    pub to: u32,
    /// Packets carried, acknowledges included.
    pub packets: u32,
    /// Time spent transmitting.
    pub busy: SimDuration,
}

/// Size of the simulated work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events taken from the calendar.
    pub events: u64,
    /// Messages sent.
    pub messages: u64,
    /// Packets carried over one link each, acknowledges included.
    pub packet_hops: u64,
}

/// The delivery of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The sending rank.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// The length of the message.
    pub bytes: u64,
    /// True if the sender had sent the same data before.
    pub again: bool,
    /// The begin of the send.
    pub sent: SimTime,
    /// The reception of the last packet.
    pub delivered: SimTime,
}
