//! Enforcement of a run's limits, and reports of its progress.

use super::{SimulationError, WallClock};
use crate::engine::AbortCheck;
use crate::simulation::Limits;
use crate::units::{SimDuration, SimTime};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;
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

    /// Returns an error if the limit has been exceeded.
    fn check(self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        match self.0 {
            Some((clock, limit)) if clock.elapsed() > Duration::from_secs_f64(limit.seconds()) => {
                Err(SimulationError::WallLimit { limit, events, at_s: now.seconds() })
            }
            _ => Ok(()),
        }
    }
}

/// The part of a guard that applies within an event, too.
struct TimeLimits {
    deadline: Deadline,
    simulated: SimDuration,
    /// The last instant within the limit of simulated time.
    last: SimTime,
    /// The number of checks before the next read of the clock.
    checks_before_clock: Cell<u32>,
    /// The number of events at the last read of the clock.
    events: Cell<u64>,
    /// The limit that has been exceeded within an event.
    exceeded: RefCell<Option<SimulationError>>,
}

impl TimeLimits {
    fn check_simulated(&self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        if now > self.last {
            return Err(SimulationError::TimeLimit { limit: self.simulated, events });
        }
        Ok(())
    }

    /// Returns whether the run is to be aborted within an event that has reached this time. The next check of the guard
    /// then fails.
    fn must_abort(&self, reached: SimTime) -> bool {
        let events = self.events.get();
        let limits = self.check_simulated(reached, events).and_then(|()| self.deadline.check(reached, events));
        if let Err(error) = limits {
            self.exceeded.replace(Some(error));
            self.checks_before_clock.set(1);
            return true;
        }
        false
    }
}

/// Enforces the limits of a run.
pub(super) struct Guard<'l> {
    limits: &'l Limits,
    pulse: Option<&'l Callback<'l>>,
    of_time: Rc<TimeLimits>,
}

impl<'l> Guard<'l> {
    /// Creates the guard of an attempt at a run. Its first check reads the clock, since a case may have many seeds with
    /// only a few events each.
    pub(super) fn new(limits: &'l Limits, pulse: Option<&'l Pulse<'l>>, deadline: Deadline) -> Self {
        let pulse = pulse.map(|pulse| &*pulse.0);
        // The sum saturates at the end of simulated time.
        let last = (SimTime::START + limits.simulated).min(SimTime::END.before(SimDuration::from_ps(1)));
        let of_time = TimeLimits {
            deadline,
            simulated: limits.simulated,
            last,
            checks_before_clock: Cell::new(1),
            events: Cell::new(0),
            exceeded: RefCell::new(None),
        };
        Self { limits, pulse, of_time: Rc::new(of_time) }
    }

    /// Returns the check for loops of unlimited length within one event.
    pub(super) fn abort_check(&self) -> AbortCheck {
        let of_time = Rc::clone(&self.of_time);
        AbortCheck::new(move |reached| of_time.must_abort(reached))
    }

    /// Returns an error if the run, which is at `now` after `events` events, has exceeded a limit.
    #[inline]
    pub(super) fn check(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        let is_due = self.is_clock_due();
        if now > self.of_time.last || events > self.limits.events || is_due {
            return self.check_slowly(now, events);
        }
        Ok(())
    }

    /// Counts a check. Returns whether it is time to read the clock.
    #[inline]
    fn is_clock_due(&self) -> bool {
        let checks = &self.of_time.checks_before_clock;
        checks.set(checks.get() - 1);
        checks.get() == 0
    }

    /// Returns an error if the run has exceeded a limit when a process is resumed: processes may be resumed any number
    /// of times without an event.
    #[inline]
    pub(super) fn check_resumed(&mut self, now: SimTime, events: impl FnOnce() -> u64) -> Result<(), SimulationError> {
        if self.is_clock_due() { self.check_slowly(now, events()) } else { Ok(()) }
    }

    #[cold]
    fn check_slowly(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        if let Some(error) = self.of_time.exceeded.take() {
            return Err(error);
        }
        self.of_time.check_simulated(now, events)?;
        if events > self.limits.events {
            return Err(SimulationError::EventLimit { limit: self.limits.events, at_s: now.seconds() });
        }
        self.of_time.checks_before_clock.set(CHECKS_PER_CLOCK_READ);
        self.of_time.events.set(events);
        self.report_progress(now, events)?;
        self.of_time.deadline.check(now, events)
    }

    fn report_progress(&self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        match self.pulse.map(|pulse| pulse(events, now)) {
            Some(ControlFlow::Break(())) => Err(SimulationError::Cancelled { events, at_s: now.seconds() }),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }
}
