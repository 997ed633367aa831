//! The content of a record: a trace without its logs, or a failure.

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

/// The times of all ranks, by activity.
type RankColumns = [Vec<SimDuration>; Activity::ALL.len()];

/// The serialised form of a trace; times are in picoseconds.
#[derive(Serialize, Deserialize)]
struct StoredTrace<'n> {
    makespan: u64,
    host: u32,
    written: u64,
    ranks: u32,
    #[serde(borrow)]
    accounts: Vec<(&'n str, StoredColumns<'n>)>,
    /// The end vertices, the packets and the busy time of every link.
    links: Vec<(u32, u32, u64, u64)>,
    /// Numbers of events, messages and packet hops.
    counts: [u64; 3],
    /// Numbers of background messages and bytes.
    background: Option<[u64; 2]>,
    #[serde(borrow)]
    outcomes: Vec<(&'n str, f64)>,
    critical_intervals: Vec<(f64, f64)>,
}

/// Columns as lists of numbers of picoseconds, deserialised without an intermediate copy, because reading a million
/// records should take seconds.
struct StoredColumns<'n>(Cow<'n, RankColumns>);

impl Serialize for StoredColumns<'_> {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        self.0.each_ref().map(|column| PicosecondList(Cow::Borrowed(column))).serialize(sink)
    }
}

impl<'de> Deserialize<'de> for StoredColumns<'_> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let columns = <[PicosecondList<'_>; Activity::ALL.len()]>::deserialize(source)?;
        Ok(Self(Cow::Owned(columns.map(|column| column.0.into_owned()))))
    }
}

/// Times as a list of numbers of picoseconds.
struct PicosecondList<'n>(Cow<'n, [SimDuration]>);

/// The maximum number of times for which memory is reserved in advance, since a length may be damaged.
const MAX_EXPECTED: usize = 1 << 16;

impl Serialize for PicosecondList<'_> {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.collect_seq(self.0.iter().map(|time| time.ps()))
    }
}

impl<'de> Deserialize<'de> for PicosecondList<'_> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = PicosecondList<'static>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("numbers of picoseconds")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut times = Vec::with_capacity(list.size_hint().unwrap_or(0).min(MAX_EXPECTED));
                while let Some(ps) = list.next_element()? {
                    times.push(SimDuration::from_ps(ps));
                }
                Ok(PicosecondList(Cow::Owned(times)))
            }
        }
        source.deserialize_seq(List)
    }
}

/// The serialised form of a failure.
#[derive(Serialize, Deserialize)]
enum StoredFailure {
    /// Faults of the description, found before the run.
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

/// Encodes `result`; `None` for a failure that may not recur, and for a defect.
pub fn encoded(result: &RunResult) -> Option<(ResultKind, Vec<u8>)> {
    let (kind, bytes) = match result {
        Ok(trace) => (ResultKind::Trace, postcard::to_allocvec(&StoredTrace::of(trace))),
        Err(error) => (ResultKind::Failure, postcard::to_allocvec(&StoredFailure::of(error)?)),
    };
    Some((kind, bytes.expect("a growing vector takes all bytes")))
}

/// Decodes a result; `None` if the bytes are not a result.
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
    /// Returns the serialised form of a failure, if it would recur in another run.
    fn of(error: &SimulationError) -> Option<Self> {
        match error {
            SimulationError::Rejected(Rejection(faults)) => {
                Some(Self::Rejected(faults.iter().map(StoredFault::of).collect()))
            }
            error => error.recurs().then(|| Self::Failed(error.to_string())),
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
