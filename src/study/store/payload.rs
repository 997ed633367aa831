//! Content of a record: all of a trace but its logs, or a failure.

use super::record::ResultKind;
use crate::programs::phases::named_phase;
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::{Accounts, Activity, BackgroundCounts, Counts, LinkLoad, Trace};
use parsim_sim::units::SimDuration;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The result of a run.
pub type RunResult = Result<Trace, SimulationError>;

/// Times of all ranks, by activity.
type RankColumns = [Vec<SimDuration>; Activity::ALL.len()];

/// A trace; times in picoseconds.
#[derive(Serialize, Deserialize)]
struct StoredTrace<'n> {
    makespan: u64,
    host: u32,
    written: u64,
    ranks: u32,
    #[serde(borrow)]
    accounts: Vec<(&'n str, StoredColumns<'n>)>,
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

/// Columns as lists of numbers of picoseconds: a million records are read in seconds, so that none is converted twice.
struct StoredColumns<'n>(Cow<'n, RankColumns>);

impl Serialize for StoredColumns<'_> {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        self.0.each_ref().map(|column| Spans(Cow::Borrowed(column))).serialize(sink)
    }
}

impl<'de> Deserialize<'de> for StoredColumns<'_> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let columns = <[Spans<'_>; Activity::ALL.len()]>::deserialize(source)?;
        Ok(Self(Cow::Owned(columns.map(|column| column.0.into_owned()))))
    }
}

/// Times as a list of numbers of picoseconds.
struct Spans<'n>(Cow<'n, [SimDuration]>);

/// The most times for which room is made before they are there: a length may be damage.
const MOST_EXPECTED: usize = 1 << 16;

impl Serialize for Spans<'_> {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.collect_seq(self.0.iter().map(|time| time.ps()))
    }
}

impl<'de> Deserialize<'de> for Spans<'_> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Spans<'static>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("numbers of picoseconds")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut times = Vec::with_capacity(list.size_hint().unwrap_or(0).min(MOST_EXPECTED));
                while let Some(ps) = list.next_element()? {
                    times.push(SimDuration::from_ps(ps));
                }
                Ok(Spans(Cow::Owned(times)))
            }
        }
        source.deserialize_seq(List)
    }
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
pub fn encoded(result: &RunResult) -> Option<(ResultKind, Vec<u8>)> {
    let (kind, bytes) = match result {
        Ok(trace) => (ResultKind::Trace, postcard::to_allocvec(&StoredTrace::of(trace))),
        Err(error) => (ResultKind::Failure, postcard::to_allocvec(&StoredFailure::of(error)?)),
    };
    Some((kind, bytes.expect("a growing vector takes all bytes")))
}

/// The result whose bytes these are; `None` if they are none.
pub fn decoded(kind: ResultKind, bytes: &[u8]) -> Option<RunResult> {
    match kind {
        ResultKind::Trace => postcard::from_bytes::<StoredTrace<'_>>(bytes).ok()?.trace().map(Ok),
        ResultKind::Failure => Some(Err(postcard::from_bytes::<StoredFailure>(bytes).ok()?.error())),
    }
}

impl<'n> StoredTrace<'n> {
    fn of(trace: &'n Trace) -> Self {
        let Counts { events, messages, packet_hops } = trace.counts;
        Self {
            makespan: trace.makespan.ps(),
            host: trace.host,
            written: trace.written.ps(),
            ranks: trace.accounts.ranks(),
            accounts: trace
                .accounts
                .times()
                .map(|(phase, columns)| (phase, StoredColumns(Cow::Borrowed(columns))))
                .collect(),
            links: trace.links.iter().map(|link| (link.from, link.to, link.packets, link.busy.ps())).collect(),
            counts: [events, messages, packet_hops],
            background: trace.background.map(|background| [background.messages, background.bytes]),
            outcomes: trace.outcomes.clone(),
            critical_intervals: trace.critical_intervals.clone(),
        }
    }

    fn trace(self) -> Option<Trace> {
        let span = SimDuration::from_ps;
        let times = self.accounts.into_iter().map(|(phase, columns)| (named_phase(phase), columns.0.into_owned()));
        let load = |(from, to, packets, busy)| LinkLoad { from, to, packets, busy: span(busy) };
        let [events, messages, packet_hops] = self.counts;
        Some(Trace {
            makespan: span(self.makespan),
            host: self.host,
            written: span(self.written),
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
