//! Content of a record: all of a trace but its logs, or a failure.

use super::record::Kind;
use crate::programs::phases::named_phase;
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::{Accounts, Activity, BackgroundCounts, Counts, LinkLoad, Trace};
use parsim_sim::units::SimDuration;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The result of a run.
pub type RunResult = Result<Trace, SimulationError>;

/// Times of all ranks, in picoseconds, by activity.
type Columns = [Vec<u64>; Activity::ALL.len()];

/// A trace; times in picoseconds.
#[derive(Serialize, Deserialize)]
struct StoredTrace<'n> {
    makespan: u64,
    host: u32,
    ranks: u32,
    #[serde(borrow)]
    accounts: Vec<(&'n str, Columns)>,
    /// The vertices, packets and busy time of every link.
    links: Vec<(u32, u32, u32, u64)>,
    /// Events, messages and packet-hops.
    counts: [u64; 3],
    /// Messages and bytes.
    background: Option<[u64; 2]>,
    #[serde(borrow)]
    outcomes: Vec<(&'n str, f64)>,
    critical_intervals: Vec<(f64, f64)>,
}

/// A failure.
#[derive(Serialize, Deserialize)]
enum StoredFailure {
    /// Faults of the description, which are no failure of a run.
    Rejected(Vec<StoredFault>),
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct StoredFault {
    path: String,
    message: String,
    help: String,
    part: Option<Range<usize>>,
}

/// The kind and the bytes of `result`; `None` for a failure that another try may not have, and for a defect.
pub fn encoded(result: &RunResult) -> Option<(Kind, Vec<u8>)> {
    let (kind, bytes) = match result {
        Ok(trace) => (Kind::Trace, postcard::to_allocvec(&StoredTrace::of(trace))),
        Err(error) => (Kind::Failure, postcard::to_allocvec(&StoredFailure::of(error)?)),
    };
    Some((kind, bytes.expect("a growing vector takes all bytes")))
}

/// The result whose bytes these are; `None` if they are none.
pub fn decoded(kind: Kind, bytes: &[u8]) -> Option<RunResult> {
    match kind {
        Kind::Trace => postcard::from_bytes::<StoredTrace<'_>>(bytes).ok()?.trace().map(Ok),
        Kind::Failure => Some(Err(postcard::from_bytes::<StoredFailure>(bytes).ok()?.error())),
    }
}

impl<'n> StoredTrace<'n> {
    fn of(trace: &'n Trace) -> Self {
        let ps = |columns: &[Vec<SimDuration>; Activity::ALL.len()]| {
            columns.each_ref().map(|column| column.iter().map(|time| time.ps()).collect())
        };
        let Counts { events, messages, packet_hops } = trace.counts;
        Self {
            makespan: trace.makespan.ps(),
            host: trace.host,
            ranks: trace.accounts.ranks(),
            accounts: trace.accounts.times().map(|(phase, columns)| (phase, ps(columns))).collect(),
            links: trace.links.iter().map(|link| (link.from, link.to, link.packets, link.busy.ps())).collect(),
            counts: [events, messages, packet_hops],
            background: trace.background.map(|background| [background.messages, background.bytes]),
            outcomes: trace.outcomes.clone(),
            critical_intervals: trace.critical_intervals.clone(),
        }
    }

    fn trace(self) -> Option<Trace> {
        let span = SimDuration::from_ps;
        let spans = |columns: Columns| columns.map(|column| column.into_iter().map(span).collect());
        let times = self.accounts.into_iter().map(|(phase, columns)| (named_phase(phase), spans(columns)));
        let load = |(from, to, packets, busy)| LinkLoad { from, to, packets, busy: span(busy) };
        let [events, messages, packet_hops] = self.counts;
        Some(Trace {
            makespan: span(self.makespan),
            host: self.host,
            accounts: Accounts::of_times(self.ranks, times.collect())?,
            links: self.links.into_iter().map(load).collect(),
            counts: Counts { events, messages, packet_hops },
            background: self.background.map(|[messages, bytes]| BackgroundCounts { messages, bytes }),
            outcomes: self.outcomes.into_iter().map(|(name, value)| (named_phase(name), value)).collect(),
            critical_intervals: self.critical_intervals,
            sources: Vec::new(),
            deliveries: Vec::new(),
            activity_log: None,
            requests: None,
        })
    }
}

impl StoredFailure {
    /// The failure, if another try has it, too.
    fn of(error: &SimulationError) -> Option<Self> {
        match error {
            SimulationError::Rejected(Rejection(faults)) => {
                Some(Self::Rejected(faults.iter().map(StoredFault::of).collect()))
            }
            SimulationError::WallLimit { .. }
            | SimulationError::Defect(_)
            | SimulationError::NotRecorded(_)
            | SimulationError::NothingToRecord { .. } => None,
            SimulationError::Deadlock(_)
            | SimulationError::NetworkDeadlock { .. }
            | SimulationError::TimeLimit { .. }
            | SimulationError::EventLimit { .. }
            | SimulationError::PacketLimit { .. }
            | SimulationError::ProgramFault { .. }
            | SimulationError::Recalled(_) => Some(Self::Failed(error.to_string())),
        }
    }

    fn error(self) -> SimulationError {
        match self {
            Self::Rejected(faults) => Rejection(faults.into_iter().map(StoredFault::fault).collect()).into(),
            Self::Failed(words) => SimulationError::Recalled(words),
        }
    }
}

impl StoredFault {
    fn of(fault: &Fault) -> Self {
        let Fault { path, message, help, part } = fault.clone();
        Self { path, message, help, part }
    }

    fn fault(self) -> Fault {
        let Self { path, message, help, part } = self;
        Fault { path, message, help, part }
    }
}
