//! The limits of a run, held while it is run, and how far it is.

use super::{SimulationError, WallClock};
use crate::simulation::Limits;
use crate::units::SimTime;
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
    unseen: u32,
}

impl<'l> Guard<'l> {
    /// The guard of a run that begins now. It looks at the clock at once: a case may have many seeds of a few events.
    pub(super) fn new(limits: &'l Limits, pulse: Option<Pulse>) -> Self {
        let wall = limits.wall.map(|wall| Duration::from_secs_f64(wall.seconds()));
        Self { limits, pulse, deadline: wall.map(|wall| (WallClock::begin(), wall)), unseen: BETWEEN_LOOKS }
    }

    /// Returns whether the run may go on, which is at `now` after `events` events.
    #[inline]
    pub(super) fn check(&mut self, now: SimTime, events: u64) -> Result<(), SimulationError> {
        // Arithmetic saturates at the end of time.
        if now.since(SimTime::START) > self.limits.simulated || now == SimTime::END {
            return Err(SimulationError::TimeLimit { limit: self.limits.simulated, events });
        }
        if events > self.limits.events {
            return Err(SimulationError::EventLimit { limit: self.limits.events, at_s: now.seconds() });
        }
        self.unseen += 1;
        if self.unseen >= BETWEEN_LOOKS {
            self.unseen = 0;
            return self.look_at_the_clock(now, events);
        }
        Ok(())
    }

    #[cold]
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
