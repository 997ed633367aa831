//! Runs of evenly spaced jobs, and their passage through a station in one step.

use super::station::StationState;
use crate::units::{SimDuration, SimTime};

/// Evenly spaced instants: the arrivals, or the departures, of `count` jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvenInstants {
    /// The first instant.
    pub first: SimTime,
    /// The interval between consecutive instants.
    pub gap: SimDuration,
    /// The number of instants, at least one.
    pub count: u32,
}

impl EvenInstants {
    /// Creates a run of a single instant.
    #[must_use]
    pub const fn single(first: SimTime) -> Self {
        Self { first, gap: SimDuration::ZERO, count: 1 }
    }

    /// Returns the instant with this index, counted from 0.
    #[must_use]
    pub fn nth(&self, index: u32) -> SimTime {
        self.first + self.gap * u64::from(index)
    }

    /// Returns the last instant.
    #[must_use]
    #[inline]
    pub fn last(&self) -> SimTime {
        self.nth(self.count - 1)
    }

    /// Returns the first `count` instants.
    #[must_use]
    pub fn head(&self, count: u32) -> Self {
        Self { count, ..*self }
    }

    /// Returns the run without its first `skipped` instants, or `None` if nothing is left.
    #[must_use]
    pub fn tail(&self, skipped: u32) -> Option<Self> {
        let count = self.count.checked_sub(skipped).filter(|count| *count > 0)?;
        Some(Self { first: self.nth(skipped), gap: self.gap, count })
    }

    /// Returns the number of leading instants that are not later than the limit. The limit starts at `limit` and grows
    /// by `delay` with each instant.
    #[must_use]
    pub fn count_within(&self, limit: SimTime, delay: SimDuration) -> u32 {
        if self.first > limit {
            return 0;
        }
        if self.gap <= delay {
            return self.count;
        }
        let steps = (limit - self.first).ps() / (self.gap - delay).ps();
        u32::try_from(steps).map_or(self.count, |steps| self.count.min(steps.saturating_add(1)))
    }

    /// Returns the same instants, moved `back` earlier and then `on` later.
    #[must_use]
    #[inline]
    pub fn moved(&self, back: SimDuration, on: SimDuration) -> Self {
        Self { first: self.first.before(back) + on, ..*self }
    }

    /// Returns the departures of jobs with these arrivals from a station that serves each for `service`.
    #[must_use]
    #[inline]
    pub fn through(&self, line: &mut StationState, service: SimDuration) -> Runs {
        match self.served_evenly(line.free(), service) {
            Some(departures) => {
                line.pass(departures.last(), service * u64::from(self.count));
                Runs::One(departures)
            }
            None => serve_in_parts(line, std::slice::from_ref(self), service),
        }
    }

    /// Returns the departures of jobs with these arrivals from a station that is busy until `free` and serves each for
    /// `service`, if the departures are evenly spaced, too.
    ///
    /// They are in two cases: jobs that arrive at least as fast as they are served leave back to back, and jobs that
    /// find the station idle keep their spacing.
    #[must_use]
    #[inline]
    pub fn served_evenly(&self, free: SimTime, service: SimDuration) -> Option<Self> {
        if self.gap <= service || self.count == 1 {
            Some(Self { first: free.max(self.first) + service, gap: service, count: self.count })
        } else if free <= self.first {
            Some(Self { first: self.first + service, ..*self })
        } else {
            None
        }
    }
}

/// The largest number of runs that result when one run passes two stations.
const MAX: usize = 4;

/// The departures of one run from one or two stations: usually a single run, otherwise a few consecutive runs.
#[derive(Clone, Debug)]
pub enum Runs {
    /// A single run.
    One(EvenInstants),
    /// Several consecutive runs, boxed because they are rare and large.
    Few(Box<RunSequence>),
}

/// Several consecutive runs.
#[derive(Clone, Copy, Debug)]
pub struct RunSequence {
    runs: [EvenInstants; MAX],
    len: usize,
}

impl RunSequence {
    const NONE: Self = Self { runs: [EvenInstants::single(SimTime::START); MAX], len: 0 };

    fn push(&mut self, run: EvenInstants) {
        if let Some(last) = self.len.checked_sub(1).map(|last| &mut self.runs[last]) {
            let step = run.first - last.last();
            if (last.count == 1 || last.gap == step) && (run.count == 1 || run.gap == step) {
                *last = EvenInstants { first: last.first, gap: step, count: last.count + run.count };
                return;
            }
        }
        self.runs[self.len] = run;
        self.len += 1;
    }
}

impl Runs {
    /// Returns the first instant.
    #[must_use]
    pub fn first(&self) -> SimTime {
        self.as_slice()[0].first
    }

    /// Returns the last instant.
    #[must_use]
    pub fn last(&self) -> SimTime {
        let runs = self.as_slice();
        runs[runs.len() - 1].last()
    }

    /// Returns the number of instants.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.as_slice().iter().map(|run| run.count).sum()
    }

    /// Returns the runs in order.
    #[must_use]
    pub fn as_slice(&self) -> &[EvenInstants] {
        match self {
            Self::One(run) => std::slice::from_ref(run),
            Self::Few(few) => &few.runs[..few.len],
        }
    }

    /// Returns the same instants, moved `back` earlier and then `on` later.
    #[must_use]
    #[inline]
    pub fn moved(mut self, back: SimDuration, on: SimDuration) -> Self {
        match &mut self {
            Self::One(run) => *run = run.moved(back, on),
            Self::Few(few) => few.runs.iter_mut().for_each(|run| *run = run.moved(back, on)),
        }
        self
    }

    /// Returns the departures of these jobs from another station, which serves each for `service`.
    #[must_use]
    #[inline]
    pub fn through(&self, line: &mut StationState, service: SimDuration) -> Self {
        match self {
            Self::One(run) => run.through(line, service),
            Self::Few(_) => serve_in_parts(line, self.as_slice(), service),
        }
    }
}

/// Returns the departures of jobs that arrive in consecutive runs and are served for `service` each.
#[inline(never)]
fn serve_in_parts(line: &mut StationState, arrivals: &[EvenInstants], service: SimDuration) -> Runs {
    let mut departures = RunSequence::NONE;
    for run in arrivals {
        serve(line, *run, service, &mut departures);
    }
    if departures.len == 1 { Runs::One(departures.runs[0]) } else { Runs::Few(Box::new(departures)) }
}

/// Appends the departures of jobs that arrive in a run, are served for `service` each, and find the station busy until
/// `line.free`.
///
/// With `a_k = a + k g` and `f = line.free` the recurrence `d_k = max(a_k, d_(k-1)) + s` has a closed form: while jobs
/// find the station busy, `d_k = f + (k + 1) s`; from the first job on that finds it idle, `d_k = a_k + s`.
fn serve(line: &mut StationState, run: EvenInstants, service: SimDuration, departures: &mut RunSequence) {
    // Jobs that arrive at least as fast as they are served keep the station busy from the first one on.
    let busy_from = if run.gap <= service { line.free().max(run.first) } else { line.free() };
    let backlog = run.count_within(busy_from, service);
    if backlog > 0 {
        departures.push(EvenInstants { first: busy_from + service, gap: service, count: backlog });
    }
    if let Some(EvenInstants { first, gap, count }) = run.tail(backlog) {
        departures.push(EvenInstants { first: first + service, gap, count });
    }
    line.pass(departures.runs[departures.len - 1].last(), service * u64::from(run.count));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ps(ps: u64) -> SimDuration {
        SimDuration::from_ps(ps)
    }

    fn run(first: u64, gap: u64, count: u32) -> EvenInstants {
        EvenInstants { first: SimTime::from_ps(first), gap: ps(gap), count }
    }

    fn instants(runs: &Runs) -> Vec<u64> {
        runs.as_slice().iter().flat_map(|run| (0..run.count).map(move |index| run.nth(index).ps())).collect()
    }

    /// Serves one job after the other.
    fn slowly(free: &mut u64, arrivals: &[u64], service: u64) -> Vec<u64> {
        let departure = |arrival: &u64| {
            *free = (*free).max(*arrival) + service;
            *free
        };
        arrivals.iter().map(departure).collect()
    }

    proptest! {
        #[test]
        fn a_run_is_served_as_its_jobs_are(
            first in 0u64..50, gap in 0u64..20, count in 1u32..20, free in (0u64..200, 0u64..200),
            service in (0u64..20, 0u64..20),
        ) {
            let arrivals = run(first, gap, count);
            let mut lines = [StationState::default(); 2];
            lines[0].pass(SimTime::from_ps(free.0), ps(0));
            lines[1].pass(SimTime::from_ps(free.1), ps(0));
            let halfway = arrivals.through(&mut lines[0], ps(service.0));
            let departures = halfway.through(&mut lines[1], ps(service.1));
            let (mut first_free, mut second_free) = free;
            let expected = slowly(&mut first_free, &instants(&Runs::One(arrivals)), service.0);
            prop_assert_eq!(instants(&halfway), expected.clone());
            prop_assert_eq!(instants(&departures), slowly(&mut second_free, &expected, service.1));
            prop_assert_eq!(lines.map(|line| line.free().ps()), [first_free, second_free]);
        }

        #[test]
        fn those_within_a_limit_are_counted(
            first in 0u64..50, gap in 0u64..20, count in 1u32..20, limit in 0u64..100, delay in 0u64..20,
        ) {
            let run = run(first, gap, count);
            let within = |index: &u32| first + gap * u64::from(*index) <= limit + delay * u64::from(*index);
            let expected = (0..count).take_while(within).count();
            prop_assert_eq!(run.count_within(SimTime::from_ps(limit), ps(delay)) as usize, expected);
        }
    }
}
