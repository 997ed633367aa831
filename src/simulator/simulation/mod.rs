//! The meeting point: a program on a machine in, a trace out.

mod activity_logger;
mod background;
mod deadlock;
pub mod estimate;
mod execution;
mod guard;
mod host_queue;
pub mod limits;
mod matching;
mod node_barrier;
mod observer;
mod observers;
mod recorder;
mod replay;
mod request_logger;
mod stopwatch;
mod traffic;

#[cfg(test)]
mod tests;

pub use deadlock::{Blocked, DeadlockReport};
pub use estimate::Estimate;
pub use limits::Limits;
pub use stopwatch::WallClock;

use crate::engine::Streams;
use crate::fault::Rejection;
use crate::machine::{Allocation, Layout, Machine, Transport};
use crate::network::Standstill;
use crate::program::{BackgroundTraffic, Program, faults_on};
use crate::trace::Trace;
use crate::units::SimDuration;
use execution::Execution;
use guard::Guard;
pub use guard::Pulse;
use observer::Observer;
use observers::Observers;
use recorder::Recorder;
use std::io::Write;

/// A run that is ready to be run: a machine, a layout of ranks on it, a seed and limits. It can only be made of what
/// has passed its check.
///
/// ```
/// use parsim_sim::machine::Sends;
/// use parsim_sim::network::{Link, Network, Topology};
/// use parsim_sim::node::{Node, Processor, Router};
/// use parsim_sim::units::Bytes;
/// use parsim_sim::{Machine, Message, Process, Simulation};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::ideal(Processor::FlopRate("1 Gflop/s".parse()?), Router::Hardware);
/// let ring = Topology::Ring { nodes: 4 };
/// let network = Network::store_and_forward(ring, Link::new("1 GB/s".parse()?), Bytes::new(4096));
/// let machine = Machine::new("a ring", node, network, Sends::UntilInjected);
/// let trace = Simulation::new(&machine, 2)?.run(&async |me: Process| match me.rank() {
///     0 => me.send(1, Message::new(1000)).await,
///     _ => drop(me.receive(0).await),
/// })?;
/// assert_eq!(trace.counts.messages, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Simulation<'m> {
    machine: &'m Machine,
    layout: Layout,
    streams: Streams,
    limits: Limits,
    logs: Logs,
    pulse: Option<Pulse>,
    packet_by_packet: bool,
    background: Option<BackgroundTraffic>,
}

/// Logs that the trace of a run holds beside its accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Logs {
    deliveries: bool,
    activities: bool,
    requests: bool,
}

/// Reason why a run has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Nothing is going to happen any more, and processes still wait.
    #[error("{0}")]
    Deadlock(DeadlockReport),
    /// Packets wait for buffers and none will ever be free.
    #[error("the network is deadlocked at {at_s} s: {standstill}")]
    NetworkDeadlock {
        /// The simulated time, in seconds.
        at_s: f64,
        /// The packets and the buffers.
        standstill: Standstill,
    },
    /// The limit of simulated time is reached.
    #[error(
        "the run has reached its limit of {limit} of simulated time after {events} events (`limits.simulated` sets it)"
    )]
    TimeLimit {
        /// The limit.
        limit: SimDuration,
        /// Events run.
        events: u64,
    },
    /// The limit of events is reached.
    #[error("the run has reached its limit of {limit} events at {at_s} s of simulated time (`limits.events` sets it)")]
    EventLimit {
        /// The limit.
        limit: u64,
        /// The simulated time, in seconds.
        at_s: f64,
    },
    /// A link has carried more packets than are counted for it.
    #[error(
        "a link has carried more than 2^32 of the {packet_hops} packet-hops of the run, and cannot count them: give larger \
         packets or shorter messages"
    )]
    PacketLimit {
        /// The packets, summed over the links that they crossed.
        packet_hops: u64,
    },
    /// The limit of wall time is reached: another try, or another computer, may get further.
    #[error(
        "the run has reached its limit of {limit} of wall time after {events} events, at {at_s} s of simulated time \
         (`limits.wall` sets it)"
    )]
    WallLimit {
        /// The limit.
        limit: SimDuration,
        /// Events run.
        events: u64,
        /// The simulated time, in seconds.
        at_s: f64,
    },
    /// The trace of the run could not be written.
    #[error("the trace cannot be written: {0}")]
    NotRecorded(String),
    /// The program has no ranks whose activities could be recorded.
    #[error("{program} has no processes whose activities could be recorded: give another program")]
    NothingToRecord {
        /// The program.
        program: String,
    },
    /// A defect of the simulator, which must not take the results of other runs with it.
    #[error("parsim has a defect: {0}")]
    Defect(String),
    /// Machine, ranks, placement or program cannot be so.
    #[error("{0}")]
    Rejected(#[from] Rejection),
    /// A process did what no process can do.
    #[error("rank {rank} {fault}")]
    ProgramFault {
        /// The rank.
        rank: u32,
        /// The violation, in words.
        fault: String,
    },
    /// A run of the same case failed before, with these words.
    #[error("{0}")]
    Recalled(String),
}

impl SimulationError {
    /// The same error, which names the places of processes that wait for each other in the files of their program.
    fn placed(self, program: &dyn Program) -> Self {
        match self {
            Self::Deadlock(report) => Self::Deadlock(report.placed(|rank, step| program.place_of_step(rank, step))),
            error => error,
        }
    }

    /// The same error, of a run that had only a part of the time of its case.
    #[must_use]
    pub fn of_case(self, limits: &Limits) -> Self {
        match (self, limits.wall) {
            (Self::WallLimit { events, at_s, .. }, Some(limit)) => Self::WallLimit { limit, events, at_s },
            (error, _) => error,
        }
    }
}

/// Detail of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Activities of the ranks and their causes.
    Ranks,
    /// Transfers over the links as well.
    Links,
}

impl<'m> Simulation<'m> {
    /// `ranks` ranks in row-major order on as square a part of the machine as they form; seed 1.
    ///
    /// # Errors
    /// All faults of the machine, and of `ranks` ranks on it.
    pub fn new(machine: &'m Machine, ranks: u32) -> Result<Self, SimulationError> {
        Self::on(&Allocation::new(machine, ranks))
    }

    /// The ranks of `allocation`, with its random streams.
    ///
    /// # Errors
    /// All faults of machine, ranks, partition and placement; more memory than this computer has available.
    pub fn on(allocation: &Allocation<'m>) -> Result<Self, SimulationError> {
        let topology = allocation.topology_in_use()?;
        let estimate = Estimate::idle(allocation.machine(), &topology, allocation.ranks());
        Rejection::unless_empty(Limits::default().exceeded_by(&estimate).into_iter().collect())?;
        Ok(Self::laid_out(allocation.machine(), allocation.layout()?, allocation.random_streams()))
    }

    /// The ranks of a layout on `machine`, which has been granted there.
    #[must_use]
    pub fn laid_out(machine: &'m Machine, layout: Layout, streams: Streams) -> Self {
        let (limits, logs) = (Limits::default(), Logs::default());
        Self { machine, layout, streams, limits, logs, pulse: None, packet_by_packet: false, background: None }
    }

    /// The layout of the ranks.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The same run with the random streams of another seed.
    #[must_use]
    pub const fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// The same run in which no packets travel together: it takes longer, and gives the same trace.
    #[must_use]
    pub const fn packet_by_packet(mut self) -> Self {
        self.packet_by_packet = true;
        self
    }

    /// The same run with traffic beside the program. No packets travel together then.
    #[must_use]
    pub fn background(self, background: BackgroundTraffic) -> Self {
        Self { background: Some(background), packet_by_packet: true, ..self }
    }

    /// The same run with other limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same run, whose progress is told.
    #[must_use]
    pub const fn pulse(mut self, pulse: Pulse) -> Self {
        self.pulse = Some(pulse);
        self
    }

    /// The same run, whose trace holds the delivery of every message.
    #[must_use]
    pub const fn keep_deliveries(mut self) -> Self {
        self.logs.deliveries = true;
        self
    }

    /// The same run, packet by packet, whose trace holds an activity log.
    #[must_use]
    pub const fn log_activities(mut self) -> Self {
        self.logs.activities = true;
        self.packet_by_packet()
    }

    /// The same run, whose trace holds the requests of every rank.
    #[must_use]
    pub const fn log_requests(mut self) -> Self {
        self.logs.requests = true;
        self
    }

    /// Runs the run to its end.
    ///
    /// # Errors
    /// A fault of the program on this machine, a deadlock with who waits for whom, a limit, or a fault of a
    /// process.
    pub fn run(&self, program: &dyn Program) -> Result<Trace, SimulationError> {
        self.check(program)?;
        self.run_checked(program)
    }

    fn check(&self, program: &dyn Program) -> Result<(), Rejection> {
        let mut faults = faults_on(program, self.machine, &self.layout, self.streams);
        let nodes = self.layout.topology.nodes();
        faults.extend(self.background.iter().flat_map(|background| background.faults(program, self.machine, nodes)));
        Rejection::unless_empty(faults)
    }

    /// Runs a program that [`faults_on`] has found no fault with, to its end.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_checked(&self, program: &dyn Program) -> Result<Trace, SimulationError> {
        if let Some(traffic) = program.traffic() {
            return traffic::play(self, traffic);
        }
        if self.logs == Logs::default() {
            return match replay::replayed(self, program)? {
                Some(trace) => Ok(trace),
                None => self.observed(program, (), None),
            };
        }
        self.observed(program, Observers::of(self, None), None)
    }

    /// Runs the run to its end and records the activities of every rank into `sink`; `name` describes the program.
    ///
    /// # Errors
    /// As [`run`](Self::run), and what the sink says.
    pub fn run_recorded(
        &self,
        program: &dyn Program,
        name: &str,
        detail: Detail,
        sink: Box<dyn Write + '_>,
    ) -> Result<Trace, SimulationError> {
        self.check(program)?;
        self.record_checked(program, name, detail, sink)
    }

    /// Runs such a program and records it.
    ///
    /// # Errors
    /// As [`run_recorded`](Self::run_recorded).
    pub fn record_checked(
        &self,
        program: &dyn Program,
        name: &str,
        detail: Detail,
        sink: Box<dyn Write + '_>,
    ) -> Result<Trace, SimulationError> {
        if program.traffic().is_some() {
            return Err(SimulationError::NothingToRecord { program: name.to_owned() });
        }
        let recorder = Recorder::new(sink, name, self.machine, &self.layout)?;
        self.observed(program, Observers::of(self, Some(recorder)), Some(detail))
    }

    /// Runs the run to its end before `observer`; in trains, if packets find room in all buffers that are finite.
    fn observed<O: Observer>(
        &self,
        program: &dyn Program,
        observer: O,
        detail: Option<Detail>,
    ) -> Result<Trace, SimulationError> {
        if self.packet_by_packet || !Transport::presumes_room(self.machine, &self.layout.topology) {
            return self.carried(program, observer, detail);
        }
        match self.with_room(program)? {
            Some(trace) if !O::OBSERVES => Ok(trace),
            Some(_) => self.carried(program, observer, detail),
            None => self.clone().packet_by_packet().carried(program, observer, detail),
        }
    }

    /// Runs a run that presumes room; nothing if a packet may have found none.
    fn with_room(&self, program: &dyn Program) -> Result<Option<Trace>, SimulationError> {
        let mut execution = Execution::set(self, program, ());
        let outcome = self.advance_until(&mut execution, Execution::is_short_of_room);
        if let Err(error @ SimulationError::WallLimit { .. }) = outcome {
            return Err(error);
        }
        if execution.doubts_room() {
            return Ok(None);
        }
        outcome?;
        execution.close().map(Some).map_err(|error| error.placed(program))
    }

    /// Runs the run to its end before `observer`; one that is cut short is counted by another, packet by packet.
    fn carried(
        &self,
        program: &dyn Program,
        observer: impl Observer,
        detail: Option<Detail>,
    ) -> Result<Trace, SimulationError> {
        let mut execution = Execution::set(self, program, observer);
        if detail == Some(Detail::Links) {
            execution.record_transfers();
        }
        self.advance(&mut execution)?;
        if !execution.is_cut_short() {
            return execution.close().map_err(|error| error.placed(program));
        }
        let slow = self.clone().packet_by_packet();
        let mut exact = Execution::set(&slow, program, ());
        slow.advance(&mut exact)?;
        execution.close_counted_by(exact)
    }

    fn advance<O: Observer>(&self, execution: &mut Execution<'_, O>) -> Result<(), SimulationError> {
        self.advance_until(execution, |_| false)
    }

    /// Runs the run to its end, or until it is `enough`.
    fn advance_until<'s, O: Observer>(
        &self,
        execution: &mut Execution<'s, O>,
        is_enough: impl Fn(&Execution<'s, O>) -> bool,
    ) -> Result<(), SimulationError> {
        let mut guard = Guard::new(&self.limits, self.pulse);
        guard.check(execution.open()?, execution.events())?;
        while let Some(now) = execution.step()? {
            guard.check(now, execution.events())?;
            if is_enough(execution) {
                break;
            }
        }
        Ok(())
    }
}
