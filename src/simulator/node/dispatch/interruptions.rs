//! Interruptions of one processor by the operating system.

use crate::engine::AbortCheck;
use crate::node::DetourSequence;
use crate::units::{SimDuration, SimTime};

/// The detours of a processor, of which those that have begun are passed.
pub(super) struct Interruptions {
    detours: DetourSequence,
    /// The end of the detours that have been passed outside of jobs.
    until: SimTime,
}

impl Interruptions {
    pub const fn new(detours: DetourSequence) -> Self {
        Self { detours, until: SimTime::START }
    }

    pub fn abort_on(&mut self, check: AbortCheck) {
        self.detours.abort_on(check);
    }

    /// Returns the time from which no detour that has been passed holds the processor.
    pub const fn until(&self) -> SimTime {
        self.until
    }

    /// Passes the detours that have begun by `now`, and that interrupt work until `ends`, which each of them puts off.
    /// Returns the time that they take.
    pub fn pass(&mut self, now: SimTime, ends: SimTime) -> SimDuration {
        let passed = self.detours.pass_all(now, ends);
        self.until = self.until.max(passed.until);
        passed.taken
    }

    /// Serves a job that requests the processor at `requested`. Returns its beginning, after the detours that have
    /// begun, and its departure, after those that interrupt it. A job that takes no time does not wait.
    pub fn serve(&mut self, requested: SimTime, service: SimDuration) -> (SimTime, SimTime) {
        if service == SimDuration::ZERO {
            return (requested, requested);
        }
        let begin = requested.max(self.until);
        (begin, self.detours.end_of(begin, service))
    }
}
