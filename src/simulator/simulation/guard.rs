//! The limits of a run, held while it is run, and how far it is.

use super::{SimulationError, WallClock};
use crate::simulation::Limits;
use crate::units::{SimDuration, SimTime};
use std::time::Duration;

/// Events between two looks at the clock of this computer, which take longer than an event.
const BETWEEN_LOOKS: u32 = 1024;

/// An observer of how far a run is, told every thousand events or so.
pub type Pulse = fn(events: u64, simulated: SimTime);

/// Holds a run to its limits.
pub(super) struct Guard<'l> {
    limits: &'l Limits,
    pulse: Option<Pulse>,
    /// `None` without a limit of wall time.
    deadline: Option<(WallClock, Duration)>,
    /// The last instant within the limits.
    last: SimTime,
    /// Checks before the next look at the clock.
    before_look: u32,
}

impl<'l> Guard<'l> {
    /// The guard of a run that begins now. It looks at the clock at once: a case may have many seeds of a few events.
    pub(super) fn new(limits: &'l Limits, pulse: Option<Pulse>) -> Self {
        let deadline = limits.wall.map(|wall| (WallClock::begin(), Duration::from_secs_f64(wall.seconds())));
        // Arithmetic saturates at the end of time.
        let last = (SimTime::START + limits.simulated).min(SimTime::END.before(SimDuration::from_ps(1)));
        Self { limits, pulse, deadline, last, before_look: 1 }
    }

    /// Returns whether the run may go on, which is at `now` after `events` events.
    #[inline]
    pub(super) fn check(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        self.before_look -= 1;
        if now > self.last || events > self.limits.events || self.before_look == 0 {
            return self.look(now, events);
        }
        Ok(())
    }

    #[cold]
    fn look(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        if now > self.last {
            return Err(SimulationError::TimeLimit { limit: self.limits.simulated, events });
        }
        if events > self.limits.events {
            return Err(SimulationError::EventLimit { limit: self.limits.events, at_s: now.seconds() });
        }
        self.before_look = BETWEEN_LOOKS;
        self.look_at_the_clock(now, events)
    }

    fn look_at_the_clock(&self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        if let Some(pulse) = self.pulse {
            pulse(events, now);
        }
        match self.limits.wall.filter(|_| self.deadline.is_some_and(|(watch, wall)| watch.elapsed() > wall)) {
            Some(limit) => Err(SimulationError::WallLimit { limit, events, at_s: now.seconds() }),
            None => Ok(()),
        }
    }
}
