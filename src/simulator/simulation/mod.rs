//! Simulation of a program on a machine: builds a run, executes its events and returns its trace.

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
mod overlap_meter;
mod recorder;
mod replay;
mod request_logger;
mod sink_error;
mod stopwatch;
mod traffic;

#[cfg(test)]
mod tests;

pub use deadlock::{Blocked, DeadlockReport};
pub use estimate::Estimate;
pub use limits::Limits;
pub use sink_error::SinkError;
pub use stopwatch::WallClock;

use crate::engine::Streams;
use crate::fault::Rejection;
use crate::machine::{Allocation, Layout, Machine, Transport};
use crate::network::BufferDeadlock;
use crate::program::{BackgroundTraffic, Program, faults_on};
use crate::trace::Trace;
use crate::units::{SimDuration, SimTime};
use execution::Execution;
use guard::{Deadline, Pulse};
use observer::Observer;
use observers::Observers;
use recorder::Recorder;
use std::io::Write;
use std::ops::ControlFlow;

/// A configured run: a machine, the layout of ranks on it, the random streams and the limits. It is built only from
/// parts that have passed their checks.
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
    pulse: Option<Pulse<'m>>,
    packet_by_packet: bool,
    background: Option<BackgroundTraffic>,
}

/// Optional logs that the trace contains in addition to its accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Logs {
    deliveries: bool,
    activities: bool,
    requests: bool,
}

/// Reason why a run has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// No events are left while processes still wait.
    #[error("{0}")]
    Deadlock(DeadlockReport),
    /// Packets wait for buffers that will never become free.
    #[error("the network is deadlocked at {at_s} s: {standstill}")]
    NetworkDeadlock {
        /// The simulated time, in seconds.
        at_s: f64,
        /// The waiting packets and the buffers they wait for.
        standstill: BufferDeadlock,
    },
    /// The limit of simulated time is exceeded.
    #[error(
        "the run has reached its limit of {limit} of simulated time after {events} events (`limits.simulated` sets it)"
    )]
    TimeLimit {
        /// The limit.
        limit: SimDuration,
        /// The number of events executed.
        events: u64,
    },
    /// The limit of events is exceeded.
    #[error("the run has reached its limit of {limit} events at {at_s} s of simulated time (`limits.events` sets it)")]
    EventLimit {
        /// The limit.
        limit: u64,
        /// The simulated time, in seconds.
        at_s: f64,
    },
    /// The limit of wall-clock time is exceeded. A repetition, or a faster computer, may get further.
    #[error(
        "the run has reached its limit of {limit} of wall time after {events} events, at {at_s} s of simulated time \
         (`limits.wall` sets it)"
    )]
    WallLimit {
        /// The limit.
        limit: SimDuration,
        /// The number of events executed.
        events: u64,
        /// The simulated time, in seconds.
        at_s: f64,
    },
    /// The caller has ended the run through its [`pulse`](Simulation::pulse).
    #[error("the run was cancelled after {events} events, at {at_s} s of simulated time")]
    Cancelled {
        /// The number of events executed.
        events: u64,
        /// The simulated time, in seconds.
        at_s: f64,
    },
    /// The recording of the run could not be written.
    #[error("the trace cannot be written: {0}")]
    NotRecorded(#[source] SinkError),
    /// The program has no ranks whose activities could be recorded.
    #[error("{program} has no processes whose activities could be recorded: choose another program")]
    NothingToRecord {
        /// The program.
        program: String,
    },
    /// An internal error of the simulator. It is reported as an error so that the results of other runs survive.
    #[error("parsim has a defect: {0}")]
    Defect(String),
    /// The machine, the ranks, the placement or the program is invalid.
    #[error("{0}")]
    Rejected(#[from] Rejection),
    /// A process violated the rules of its interface.
    #[error("rank {rank}: {fault}")]
    ProgramFault {
        /// The rank.
        rank: u32,
        /// A description of the violation.
        fault: String,
    },
    /// An earlier run of the same case failed, or its stored result cannot be read; this is the message.
    #[error("{0}")]
    Recalled(String),
}

impl SimulationError {
    /// Returns whether another run of the same case would fail in the same way, on this or another computer.
    #[must_use]
    pub const fn recurs(&self) -> bool {
        match self {
            Self::WallLimit { .. }
            | Self::Cancelled { .. }
            | Self::Defect(_)
            | Self::NotRecorded(_)
            | Self::NothingToRecord { .. } => false,
            Self::Deadlock(_)
            | Self::NetworkDeadlock { .. }
            | Self::TimeLimit { .. }
            | Self::EventLimit { .. }
            | Self::Rejected(_)
            | Self::ProgramFault { .. }
            | Self::Recalled(_) => true,
        }
    }

    /// Replaces the wall-clock limit of a partial run by the limit of its whole case.
    #[must_use]
    pub fn with_limit_of_case(self, limits: &Limits) -> Self {
        match (self, limits.wall) {
            (Self::WallLimit { events, at_s, .. }, Some(limit)) => Self::WallLimit { limit, events, at_s },
            (error, _) => error,
        }
    }
}

/// The contents of a recording, beside the activities of the ranks and their causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The transfers over the links.
    pub transfers: bool,
    /// The times at which processors work for the communication, which disables packet trains.
    pub work: bool,
}

impl Detail {
    /// The activities of the ranks and their causes only.
    pub const RANKS: Self = Self { transfers: false, work: false };
    /// Also the transfers over the links.
    pub const LINKS: Self = Self { transfers: true, work: false };
    /// Everything.
    pub const FULL: Self = Self { transfers: true, work: true };
}

impl<'m> Simulation<'m> {
    /// Creates a run of `ranks` ranks in row-major order on a part of the machine that is as square as possible, with
    /// seed 1.
    ///
    /// # Errors
    /// All faults of the machine and of the placement of `ranks` ranks on it.
    pub fn new(machine: &'m Machine, ranks: u32) -> Result<Self, SimulationError> {
        Self::on(&Allocation::new(machine, ranks))
    }

    /// Creates a run of the ranks of `allocation` with its random streams.
    ///
    /// # Errors
    /// All faults of machine, ranks, partition and placement, or a demand for more memory than this computer has
    /// available.
    pub fn on(allocation: &Allocation<'m>) -> Result<Self, SimulationError> {
        let topology = allocation.topology_in_use()?;
        let estimate = Estimate::idle(allocation.machine(), &topology, allocation.ranks());
        Rejection::unless_empty(Limits::default().exceeded_by(&estimate).into_iter().collect())?;
        Ok(Self::on_granted(allocation.machine(), allocation.layout()?, allocation.random_streams()))
    }

    /// Creates a run of a layout that was granted before on `machine`, without checking the machine again.
    #[must_use]
    pub fn on_granted(machine: &'m Machine, layout: Layout, streams: Streams) -> Self {
        let (limits, logs) = (Limits::default(), Logs::default());
        Self { machine, layout, streams, limits, logs, pulse: None, packet_by_packet: false, background: None }
    }

    /// Returns the layout of the ranks.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Sets the random streams, that is, the seed.
    #[must_use]
    pub const fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// Disables packet trains: every packet has its own events. The run takes longer and yields the same trace.
    #[must_use]
    pub const fn packet_by_packet(mut self) -> Self {
        self.packet_by_packet = true;
        self
    }

    /// Adds background traffic, which disables packet trains.
    #[must_use]
    pub fn background(self, background: BackgroundTraffic) -> Self {
        Self { background: Some(background), packet_by_packet: true, ..self }
    }

    /// Sets the limits. The limit of memory applies to [`run`](Self::run) and [`run_recorded`](Self::run_recorded),
    /// which compare it with [`Estimate::idle`] before the run: machine and ranks, without what the program allocates.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets a function that is called at the beginning of a run and about every thousand events, with the number of
    /// events so far and the simulated time. If it returns `Break`, the run ends with [`SimulationError::Cancelled`].
    ///
    /// The numbers start again from zero if a run is repeated packet by packet, because packets may have found finite
    /// buffers full or trains save few events. The copies of a simulation share the function, on whatever threads they run.
    ///
    /// ```
    /// # use parsim_sim::prelude::*;
    /// use std::ops::ControlFlow;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// async fn endless(me: Process) {
    ///     loop {
    ///         me.compute(Work::flops(1000)).await;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let machine = Machine::ring(2, Router::Hardware, Sends::UntilInjected)
    /// #     .flop_rate(FlopRate::from_gflop_per_s(1))
    /// #     .link(BitRate::from_gbit_per_s(1))
    /// #     .packet(Bytes::from_kib(1))
    /// #     .build()?;
    /// let is_interrupted = AtomicBool::new(false);
    /// let simulation = Simulation::new(&machine, 2)?.pulse(|events, _| {
    ///     // In a real program, a signal or another thread sets it.
    ///     is_interrupted.store(events > 5000, Ordering::Relaxed);
    ///     if is_interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// });
    /// assert!(matches!(simulation.run(&endless), Err(SimulationError::Cancelled { events: 5001.., .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn pulse(mut self, pulse: impl Fn(u64, SimTime) -> ControlFlow<()> + Send + Sync + 'm) -> Self {
        self.pulse = Some(Pulse::new(pulse));
        self
    }

    /// Records the delivery of every message in the trace.
    #[must_use]
    pub const fn keep_deliveries(mut self) -> Self {
        self.logs.deliveries = true;
        self
    }

    /// Records an activity log in the trace, which disables packet trains.
    #[must_use]
    pub const fn log_activities(mut self) -> Self {
        self.logs.activities = true;
        self.packet_by_packet()
    }

    /// Records the requests of every rank in the trace.
    #[must_use]
    pub const fn log_requests(mut self) -> Self {
        self.logs.requests = true;
        self
    }

    /// Runs the program to completion.
    ///
    /// # Errors
    /// A fault of the program on this machine, an estimate of the memory that exceeds `limits.memory`, a deadlock with
    /// the processes that wait for each other, an exceeded limit, or a fault of a process.
    pub fn run(&self, program: &dyn Program) -> Result<Trace, SimulationError> {
        self.check(program)?;
        self.run_checked(program)
    }

    fn check(&self, program: &dyn Program) -> Result<(), Rejection> {
        let estimate = Estimate::idle(self.machine, &self.layout.topology, self.layout.ranks());
        Rejection::unless_empty(self.limits.exceeded_by(&estimate).into_iter().collect())?;
        let mut faults = faults_on(program, self.machine, &self.layout, self.streams);
        let layout = &self.layout;
        faults.extend(self.background.iter().flat_map(|background| background.faults(program, self.machine, layout)));
        Rejection::unless_empty(faults)
    }

    /// Runs a program to completion that [`faults_on`] has accepted.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_checked(&self, program: &dyn Program) -> Result<Trace, SimulationError> {
        let deadline = Deadline::of(&self.limits);
        if let Some(traffic) = program.traffic() {
            return traffic::run(self, traffic, deadline);
        }
        if self.logs == Logs::default() {
            return match replay::replay(self, program, deadline)? {
                Some(trace) => Ok(trace),
                None => self.run_observed(program, (), None, deadline),
            };
        }
        self.run_observed(program, Observers::of(self, None), None, deadline)
    }

    /// Runs the program to completion and records the activities of every rank into `sink`. `name` describes the
    /// program.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), or an I/O error of the sink.
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

    /// Runs a program that has been checked, and records it.
    ///
    /// # Errors
    /// The errors of [`run_recorded`](Self::run_recorded).
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
        let deadline = Deadline::of(&self.limits);
        let recorder = Recorder::new(sink, name, (self.machine, &self.layout), detail)?;
        let observers = Observers::of(self, Some(recorder));
        if detail.work {
            // Packets in trains are served ahead of time, and withdrawn if another event intervenes.
            return self.clone().packet_by_packet().run_observed(program, observers, Some(detail), deadline);
        }
        self.run_observed(program, observers, Some(detail), deadline)
    }

    /// Runs the program with `observer`. Packets travel in trains unless they may find a finite buffer full, or trains
    /// are a loss. Only a run that has not been observed can be abandoned, so one with an observer keeps its trains if
    /// it has no finite buffers.
    fn run_observed<O: Observer>(
        &self,
        program: &dyn Program,
        observer: O,
        detail: Option<Detail>,
        deadline: Deadline,
    ) -> Result<Trace, SimulationError> {
        let presumes_room = Transport::presumes_room(self.machine, &self.layout.topology);
        let is_in_trains = presumes_room || Transport::carries_trains(self.machine, &self.layout.topology);
        if self.packet_by_packet || !is_in_trains || O::OBSERVES && !presumes_room {
            return self.run_exactly(program, observer, detail, deadline);
        }
        match self.run_in_trains(program, presumes_room, deadline)? {
            Some(trace) if !O::OBSERVES => Ok(trace),
            Some(_) => self.run_exactly(program, observer, detail, deadline),
            None => self.clone().packet_by_packet().run_exactly(program, observer, detail, deadline),
        }
    }

    /// Runs the program in trains, on the assumption that every packet finds room in finite buffers if `presumes_room`.
    /// Returns `None` if this assumption may have failed, or if trains are a loss.
    fn run_in_trains(
        &self,
        program: &dyn Program,
        presumes_room: bool,
        deadline: Deadline,
    ) -> Result<Option<Trace>, SimulationError> {
        let mut execution = Execution::new(self, program, (), deadline);
        let Layout { topology, .. } = &self.layout;
        let may_leave = Transport::may_leave_trains(self.machine, topology, self.layout.ranks());
        let is_unfit =
            |execution: &Execution<'_, ()>| execution.may_lack_room() || may_leave && execution.is_slowed_by_trains();
        let outcome = Self::advance_until(&mut execution, is_unfit);
        if let Err(error @ (SimulationError::WallLimit { .. } | SimulationError::Cancelled { .. })) = outcome {
            return Err(error);
        }
        // The end shows whether the last packets found room, and those that are still in flight may not find any later.
        let is_under_way = presumes_room && execution.is_under_way();
        if is_under_way || is_unfit(&execution) {
            return Ok(None);
        }
        outcome?;
        self.close(execution, program, deadline).map(Some)
    }

    /// Runs the program with `observer`.
    fn run_exactly(
        &self,
        program: &dyn Program,
        observer: impl Observer,
        detail: Option<Detail>,
        deadline: Deadline,
    ) -> Result<Trace, SimulationError> {
        let mut execution = Execution::new(self, program, observer, deadline);
        if detail.is_some_and(|detail| detail.work) {
            execution.keep_log();
        }
        if detail.is_some_and(|detail| detail.transfers) {
            execution.record_transfers();
        }
        Self::advance(&mut execution)?;
        self.close(execution, program, deadline)
    }

    /// Returns the trace of a run that has ended. If it stops with foreseen packets still in flight, a second run,
    /// packet by packet, provides its counts.
    fn close<O: Observer>(
        &self,
        mut execution: Execution<'_, O>,
        program: &dyn Program,
        deadline: Deadline,
    ) -> Result<Trace, SimulationError> {
        if !execution.is_cut_short() {
            return execution.close(program);
        }
        let slow = self.clone().packet_by_packet();
        let mut exact = Execution::new(&slow, program, (), deadline);
        Self::advance(&mut exact)?;
        execution.close_with_counts_of(exact)
    }

    fn advance<O: Observer>(execution: &mut Execution<'_, O>) -> Result<(), SimulationError> {
        Self::advance_until(execution, |_| false)
    }

    /// Runs all events, or those up to the one after which `is_enough` holds.
    fn advance_until<'s, O: Observer>(
        execution: &mut Execution<'s, O>,
        is_enough: impl Fn(&Execution<'s, O>) -> bool,
    ) -> Result<(), SimulationError> {
        let start = execution.open()?;
        execution.check_limits(start)?;
        while let Some(now) = execution.step()? {
            execution.check_limits(now)?;
            if is_enough(execution) {
                break;
            }
        }
        Ok(())
    }
}
