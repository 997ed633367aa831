//! Interruptions of one processor by the operating system.

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

    /// Returns the time from which no detour that has been passed holds the processor.
    pub const fn until(&self) -> SimTime {
        self.until
    }

    /// Returns the beginning of the next detour.
    pub const fn next(&self) -> SimTime {
        self.detours.next().begin
    }

    /// Passes the next detour if it has begun by `now`, and returns the time that it takes.
    pub fn pass_one(&mut self, now: SimTime) -> Option<SimDuration> {
        let next = self.detours.next();
        (next.begin <= now).then(|| {
            self.until = next.end;
            self.detours.pass();
            next.end.since(next.begin)
        })
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
