//! Records of a run, which can be analysed without the simulator.

mod accounts;
mod activity_log;
pub mod events;
mod recording;
mod requests;
mod transfer;

pub use accounts::{Account, Accounts, Activity, Phase, find_phase};
pub use activity_log::{
    ActivityLog, BusyInterval, CommunicationLog, ComputationAmount, Handling, LogDetail, LogEntry, Loop, Passage,
    PassageStep, Service, Software, SoftwareCharge,
};
pub use recording::{
    Cause, CauseKind, Header, Interval, MAGIC, RankTimes, Recording, RecordingError, RecordingWriter, is_recording,
};
pub use requests::{RESERVED_TAGS, ReceivedMessage, Request, RequestLog, UnexportedDetails};
pub use transfer::{Direction, Transfer};

use crate::units::{SimDuration, SimTime};

/// The name of the outcome of a run that is the communication hidden behind the ranks' own work: the time, in seconds and
/// on average over the ranks, for which a rank computes, loads or stores data while a message from or to it is on its way.
pub const HIDDEN_COMMUNICATION: &str = "hidden_communication_s";

/// The name of the outcome of a run that is its exposed communication: the time, in seconds and on average over the
/// ranks, for which a rank waits for communication or its processor works for it.
pub const EXPOSED_COMMUNICATION: &str = "exposed_communication_s";

/// Returns the rank that has ended last, preferably that of the host.
pub(crate) fn last_rank(accounts: &Accounts, host: u32) -> u32 {
    let idle = |rank: u32| accounts.rank(rank).get(Activity::Idle);
    if idle(host) == SimDuration::ZERO {
        return host;
    }
    let others = (0..accounts.ranks()).min_by_key(|rank| idle(*rank)).unwrap_or(host);
    if idle(others) < idle(host) { others } else { host }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The end of the last process.
    pub makespan: SimDuration,
    /// The rank to which the host is connected.
    pub host: u32,
    /// The time of every rank by activity and phase.
    pub accounts: Accounts,
    /// The part of the input and output time of the [last rank](Self::last_rank) in which it wrote.
    pub written: SimDuration,
    /// The load of every direction of every link.
    pub links: Vec<LinkLoad>,
    /// The amount of simulated work; only messages of the program are counted.
    pub counts: Counts,
    /// The messages of background traffic, if the run had any.
    pub background: Option<BackgroundCounts>,
    /// The values that the program reported, by name.
    pub outcomes: Vec<(&'static str, f64)>,
    /// The nodes that injected traffic, if the program is open-loop traffic.
    pub sources: Vec<SourceLoad>,
    /// The intervals between critical times, in the unit of the program; only of programs that compute critical times.
    /// The critical time of an activity is the time at which it would be served if only causality delayed it.
    pub critical_intervals: Vec<(f64, f64)>,
    /// Every delivered message in the order of delivery, if requested.
    pub deliveries: Vec<Delivery>,
    /// The log of the activities of every rank, if requested.
    pub activity_log: Option<ActivityLog>,
    /// The requests of every rank, if requested.
    pub requests: Option<RequestLog>,
}

impl Trace {
    /// Returns the rank whose times sum to the makespan because it ends last; of several, the host's rank, otherwise the
    /// lowest one.
    #[must_use]
    pub fn last_rank(&self) -> u32 {
        last_rank(&self.accounts, self.host)
    }

    /// Returns the first value that the program reported by this name.
    #[must_use]
    pub fn outcome(&self, name: &str) -> Option<f64> {
        self.outcomes.iter().find(|(reported, _)| *reported == name).map(|(_, value)| *value)
    }
}

/// The traffic that a node has injected in the measurement period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceLoad {
    /// The rank that injected the traffic.
    pub rank: u32,
    /// The injected load in flits per cycle.
    pub injected: f64,
    /// The load of the rank's packets that was delivered in the period, in flits per cycle.
    pub accepted: f64,
    /// Number of packets that were injected in the period and have been delivered.
    pub packets: u64,
    /// Mean latency of these packets in seconds; not a number without packets.
    pub latency_mean_s: f64,
    /// Largest latency of these packets in seconds; not a number without packets.
    pub latency_max_s: f64,
}

/// The amount of background traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundCounts {
    /// Number of messages.
    pub messages: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The load of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLoad {
    /// The sending vertex.
    pub from: u32,
    /// The receiving vertex.
    pub to: u32,
    /// Number of packets carried, including acknowledges.
    pub packets: u64,
    /// The transmission time.
    pub busy: SimDuration,
}

/// The amount of simulated work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of events taken from the calendar.
    pub events: u64,
    /// Number of messages sent.
    pub messages: u64,
    /// Number of hops of packets over links, including acknowledges.
    pub packet_hops: u64,
}

/// The delivery of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The sending rank.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// The length of the message in bytes.
    pub bytes: u64,
    /// `true` if the sender had sent the same data before.
    pub again: bool,
    /// The start of the send.
    pub sent: SimTime,
    /// The reception of the last packet.
    pub delivered: SimTime,
}
