//! The meeting point: a program on a machine in, a trace out.

#[cfg(test)]
mod collectives;
mod deadlock;
#[cfg(test)]
mod everywhere;
mod post_office;
mod stage;

pub use deadlock::{Blocked, DeadlockReport};

use crate::engine::Streams;
use crate::machine::{Layout, Machine, Partition, Placement};
use crate::program::Program;
use crate::scenario::{Limits, Scenario};
use crate::trace::Trace;
use crate::units::{SimDuration, SimTime};
use stage::Stage;

/// A run that is ready to be played: a machine, a layout of ranks on it, a seed and limits.
///
/// ```
/// use parsim::{Machine, Message, Simulation};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let machine = Machine::load("scenarios/machines/parsytec-supercluster-t800.ron")?;
/// let trace = Simulation::new(&machine, 2).run(&async |me: parsim::Process| match me.rank() {
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
    keeps_deliveries: bool,
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Nothing is going to happen any more, and processes still wait.
    #[error("{0}")]
    Deadlock(DeadlockReport),
    /// The limit of simulated time is reached.
    #[error("the run has reached its limit of {limit} of simulated time after {events} events")]
    TimeLimit {
        /// The limit.
        limit: SimDuration,
        /// Events played.
        events: u64,
    },
    /// The limit of events is reached.
    #[error("the run has reached its limit of {limit} events at {at_s} s of simulated time")]
    EventLimit {
        /// The limit.
        limit: u64,
        /// The simulated time, in seconds.
        at_s: f64,
    },
    /// A process did what no process can do.
    #[error("rank {rank} {fault}")]
    ProgramFault {
        /// The rank.
        rank: u32,
        /// What it did.
        fault: String,
    },
}

/// Plays one scenario.
///
/// # Errors
/// As [`Simulation::run`].
pub fn play(scenario: &Scenario) -> Result<Trace, SimulationError> {
    Simulation::new(&scenario.machine, scenario.ranks)
        .layout(scenario.layout())
        .streams(scenario.streams())
        .limits(scenario.limits.clone())
        .run(&scenario.program)
}

impl<'m> Simulation<'m> {
    /// `ranks` ranks in row-major order on as square a part of the machine as they form; seed 1.
    #[must_use]
    pub fn new(machine: &'m Machine, ranks: u32) -> Self {
        let streams = Streams::new(1);
        let topology = Partition::Fitted.of(&machine.network.topology, ranks);
        let layout = Placement::RowMajor.lay_out(topology, ranks, streams);
        Self { machine, layout, streams, limits: Limits::default(), keeps_deliveries: false }
    }

    /// The same run with another layout of ranks.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The same run with the random streams of another seed.
    #[must_use]
    pub const fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// The same run with other limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same run, whose trace tells the delivery of every message.
    #[must_use]
    pub const fn keep_deliveries(mut self) -> Self {
        self.keeps_deliveries = true;
        self
    }

    /// Plays the run to its end.
    ///
    /// # Errors
    /// A deadlock with who waits for whom, a limit, or a fault of the program.
    pub fn run(&self, program: &dyn Program) -> Result<Trace, SimulationError> {
        let mut stage = Stage::set(self, program);
        stage.open()?;
        while let Some(now) = stage.step()? {
            self.check_limits(now, stage.events())?;
        }
        stage.close()
    }

    fn check_limits(&self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        if now.since(SimTime::START) > self.limits.simulated {
            return Err(SimulationError::TimeLimit { limit: self.limits.simulated, events });
        }
        if events > self.limits.events {
            return Err(SimulationError::EventLimit { limit: self.limits.events, at_s: now.seconds() });
        }
        Ok(())
    }
}
