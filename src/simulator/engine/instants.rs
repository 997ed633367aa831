//! Instants at which jobs cross a station in one step.

use super::run::EvenInstants;
use crate::units::{SimDuration, SimTime};

/// One instant, or several at equal distances: code for both is compiled for each.
pub trait Instants: Copy {
    /// The first one.
    fn first(&self) -> SimTime;
    /// The last one.
    fn last(&self) -> SimTime;
    /// Returns the number of instants.
    fn count(&self) -> u32;
    /// The same as a run.
    fn run(&self) -> EvenInstants;
    /// The instants of equal jobs, of which the first is at `first` and which follow so.
    fn moved_to(&self, first: SimTime) -> Self;
    /// The service of so many jobs together.
    fn work(&self, service: SimDuration) -> SimDuration;
    /// The departures of jobs that arrive so from a station that is busy until `free` and serves each for `service`, if
    /// they depart at equal distances as well.
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
        EvenInstants::one(*self)
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
