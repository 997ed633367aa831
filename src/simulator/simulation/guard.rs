//! Enforcement of a run's limits, and reports of its progress.

use super::{SimulationError, WallClock};
use crate::simulation::Limits;
use crate::units::{SimDuration, SimTime};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The number of events, or of resumed processes, between two reads of the clock, since a read takes longer than either.
const CHECKS_PER_CLOCK_READ: u32 = 1024;

/// A function that receives the number of events and the simulated time of a run, and decides whether it goes on.
type Callback<'c> = dyn Fn(u64, SimTime) -> ControlFlow<()> + Send + Sync + 'c;

/// The function that receives the progress of a run, shared by the copies of the run.
#[derive(Clone)]
pub(super) struct Pulse<'c>(Arc<Callback<'c>>);

impl<'c> Pulse<'c> {
    pub(super) fn new(callback: impl Fn(u64, SimTime) -> ControlFlow<()> + Send + Sync + 'c) -> Self {
        Self(Arc::new(callback))
    }
}

impl fmt::Debug for Pulse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pulse")
    }
}

/// The limit of wall-clock time of a run, which all attempts at the run share.
#[derive(Clone, Copy)]
pub(super) struct Deadline(Option<(WallClock, SimDuration)>);

impl Deadline {
    /// Returns the limit of a run that starts now.
    pub(super) fn of(limits: &Limits) -> Self {
        Self(limits.wall.map(|wall| (WallClock::begin(), wall)))
    }

    /// Returns the limit if it has been exceeded.
    fn exceeded(self) -> Option<SimDuration> {
        let is_over =
            |(clock, wall): &(WallClock, SimDuration)| clock.elapsed() > Duration::from_secs_f64(wall.seconds());
        self.0.filter(is_over).map(|(_, wall)| wall)
    }
}

/// Enforces the limits of a run.
pub(super) struct Guard<'l> {
    limits: &'l Limits,
    pulse: Option<&'l Callback<'l>>,
    deadline: Deadline,
    /// The last instant within the limit of simulated time.
    last: SimTime,
    /// The number of checks before the next read of the clock.
    checks_before_clock: u32,
}

impl<'l> Guard<'l> {
    /// Creates the guard of an attempt at a run. Its first check reads the clock, since a case may have many seeds with
    /// only a few events each.
    pub(super) fn new(limits: &'l Limits, pulse: Option<&'l Pulse<'l>>, deadline: Deadline) -> Self {
        let pulse = pulse.map(|pulse| &*pulse.0);
        // The sum saturates at the end of simulated time.
        let last = (SimTime::START + limits.simulated).min(SimTime::END.before(SimDuration::from_ps(1)));
        Self { limits, pulse, deadline, last, checks_before_clock: 1 }
    }

    /// Returns an error if the run, which is at `now` after `events` events, has exceeded a limit.
    #[inline]
    pub(super) fn check(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        self.checks_before_clock -= 1;
        if now > self.last || events > self.limits.events || self.checks_before_clock == 0 {
            return self.check_slowly(now, events);
        }
        Ok(())
    }

    /// Returns an error if the run has exceeded a limit when a process is resumed: processes may be resumed any number
    /// of times without an event.
    #[inline]
    pub(super) fn check_resumed(&mut self, now: SimTime, events: impl FnOnce() -> u64) -> Result<(), SimulationError> {
        self.checks_before_clock -= 1;
        if self.checks_before_clock == 0 {
            return self.check_slowly(now, events());
        }
        Ok(())
    }

    #[cold]
    fn check_slowly(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        if now > self.last {
            return Err(SimulationError::TimeLimit { limit: self.limits.simulated, events });
        }
        if events > self.limits.events {
            return Err(SimulationError::EventLimit { limit: self.limits.events, at_s: now.seconds() });
        }
        self.checks_before_clock = CHECKS_PER_CLOCK_READ;
        self.report_progress(now, events)?;
        self.check_wall_clock(now, events)
    }

    fn report_progress(&self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        match self.pulse.map(|pulse| pulse(events, now)) {
            Some(ControlFlow::Break(())) => Err(SimulationError::Cancelled { events, at_s: now.seconds() }),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }

    fn check_wall_clock(&self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        match self.deadline.exceeded() {
            Some(limit) => Err(SimulationError::WallLimit { limit, events, at_s: now.seconds() }),
            None => Ok(()),
        }
    }
}
