//! Instants at which jobs pass a station in one step.

use super::run::EvenInstants;
use crate::units::{SimDuration, SimTime};

/// A single instant or several evenly spaced ones; generic code is compiled for each.
pub trait Instants: Copy {
    /// Returns the first instant.
    fn first(&self) -> SimTime;
    /// Returns the last instant.
    fn last(&self) -> SimTime;
    /// Returns the number of instants.
    fn count(&self) -> u32;
    /// Returns these instants as a run.
    fn run(&self) -> EvenInstants;
    /// Returns instants with the same count and spacing, the first of which is at `first`.
    fn moved_to(&self, first: SimTime) -> Self;
    /// Returns the total service of the jobs, each of which needs `service`.
    fn work(&self, service: SimDuration) -> SimDuration;
    /// Returns the departures of jobs with these arrivals from a station that is busy until `free` and serves each for
    /// `service`, if the departures are evenly spaced, too.
    #[must_use]
    fn served_evenly(&self, free: SimTime, service: SimDuration) -> Option<Self>;
}

impl Instants for SimTime {
    #[inline]
    fn first(&self) -> SimTime {
        *self
    }
    #[inline]
    fn last(&self) -> SimTime {
        *self
    }
    #[inline]
    fn count(&self) -> u32 {
        1
    }
    #[inline]
    fn run(&self) -> EvenInstants {
        EvenInstants::single(*self)
    }
    #[inline]
    fn moved_to(&self, first: SimTime) -> Self {
        first
    }
    #[inline]
    fn work(&self, service: SimDuration) -> SimDuration {
        service
    }
    #[inline]
    fn served_evenly(&self, free: SimTime, service: SimDuration) -> Option<Self> {
        Some(free.max(*self) + service)
    }
}

impl Instants for EvenInstants {
    #[inline]
    fn first(&self) -> SimTime {
        self.first
    }
    #[inline]
    fn last(&self) -> SimTime {
        self.last()
    }
    #[inline]
    fn count(&self) -> u32 {
        self.count
    }
    #[inline]
    fn run(&self) -> EvenInstants {
        *self
    }
    #[inline]
    fn moved_to(&self, first: SimTime) -> Self {
        Self { first, ..*self }
    }
    #[inline]
    fn work(&self, service: SimDuration) -> SimDuration {
        service * u64::from(self.count)
    }
    #[inline]
    fn served_evenly(&self, free: SimTime, service: SimDuration) -> Option<Self> {
        self.served_evenly(free, service)
    }
}
