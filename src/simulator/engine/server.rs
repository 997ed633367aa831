//! Servers: single resources that several jobs share under one of two queueing disciplines.

use super::calendar::{Calendar, Entity};
use crate::units::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The index of a server within its [`Servers`].
pub type ServerId = u32;

/// Rule by which simultaneous jobs share a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Discipline {
    /// One after the other, in the order of arrival.
    FirstComeFirstServed,
    /// All at once, each at the same share of the server's speed.
    ProcessorSharing,
}

/// The number of jobs from which on they share the speed of a processor-sharing server; fewer get the same part of it
/// each, as on so many servers of that part of the speed. In fractions of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaturationPoint(u64);

impl SaturationPoint {
    /// One job gets all of the speed.
    pub const ONE: Self = Self(1 << FRACTION);

    /// Creates the saturation by a number of jobs, at least one, which need not be whole.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "at least one, and saturating"
    )]
    pub fn at(jobs: f64) -> Self {
        Self((jobs * (1_u64 << FRACTION) as f64).round().max((1_u64 << FRACTION) as f64) as u64)
    }

    /// Returns the part of the time in which each of `jobs` jobs has the whole speed, as a divisor in fractions of 2^32.
    fn divisor(self, jobs: usize) -> u128 {
        ((jobs as u128) << FRACTION).max(self.0.into())
    }
}

/// An array of servers.
///
/// A job is offered with the service time that it would need at full speed, and departs later. Each server has one pending
/// event, its next departure, whose entity is `first_entity` plus the index of the server. Under processor sharing,
/// every arrival and every departure moves that event.
pub struct Servers<J> {
    first_entity: Entity,
    servers: Vec<Server<J>>,
}

enum Server<J> {
    /// The jobs with their services, beginning with the one in service, and the end of all services.
    Line {
        waiting: VecDeque<(J, SimDuration)>,
        free: SimTime,
    },
    Shared(JobSharing<J>),
}

/// Attained service in units of 2^−32 ps, fine enough that rounding errors do not add up to a picosecond.
type Attained = u128;
const FRACTION: u32 = 32;

/// The jobs of a processor-sharing server. A job leaves when `attained` reaches the job's mark.
struct JobSharing<J> {
    saturation: SaturationPoint,
    /// The service that a job would have attained if it had been there since the start of the simulation.
    attained: Attained,
    /// The time up to which `attained` is counted.
    counted: SimTime,
    /// Number of jobs so far, which orders jobs with equal marks.
    arrivals: u64,
    jobs: BinaryHeap<Reverse<DepartureMark<J>>>,
}

/// A job with the attained service at which it leaves.
struct DepartureMark<J> {
    leaves_at: Attained,
    arrival: u64,
    job: J,
}

impl<J> DepartureMark<J> {
    const fn key(&self) -> (Attained, u64) {
        (self.leaves_at, self.arrival)
    }
}

impl<J> PartialEq for DepartureMark<J> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<J> Eq for DepartureMark<J> {}
impl<J> PartialOrd for DepartureMark<J> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<J> Ord for DepartureMark<J> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<J: Copy> Servers<J> {
    /// Creates idle servers with the given disciplines and saturations, which concern processor sharing only. Their
    /// events use the entities from `first_entity` on.
    #[must_use]
    pub fn new(disciplines: impl IntoIterator<Item = (Discipline, SaturationPoint)>, first_entity: Entity) -> Self {
        let server = |(discipline, saturation)| match discipline {
            Discipline::FirstComeFirstServed => Server::Line { waiting: VecDeque::new(), free: SimTime::START },
            Discipline::ProcessorSharing => Server::Shared(JobSharing {
                saturation,
                attained: 0,
                counted: SimTime::START,
                arrivals: 0,
                jobs: BinaryHeap::new(),
            }),
        };
        Self { first_entity, servers: disciplines.into_iter().map(server).collect() }
    }

    /// Offers `job`, which needs `service` at the full speed of the server.
    pub fn offer(&mut self, calendar: &mut Calendar, now: SimTime, server: ServerId, job: J, service: SimDuration) {
        let entity = self.first_entity + server;
        match &mut self.servers[server as usize] {
            Server::Line { waiting, free } => {
                *free = now.max(*free) + service;
                if waiting.is_empty() {
                    calendar.schedule(*free, entity);
                }
                waiting.push_back((job, service));
            }
            Server::Shared(sharing) => {
                sharing.offer(now, job, service);
                sharing.set_alarm(calendar, now, entity);
            }
        }
    }

    /// Handles the departure event of a server and returns the job that departs.
    ///
    /// # Panics
    /// Panics if the server has no job: an idle server has no event.
    pub fn depart(&mut self, calendar: &mut Calendar, now: SimTime, server: ServerId) -> J {
        let entity = self.first_entity + server;
        match &mut self.servers[server as usize] {
            Server::Line { waiting, .. } => {
                let (job, _) = waiting.pop_front().expect("a server with an event has a job");
                if let Some((_, service)) = waiting.front() {
                    calendar.schedule(now + *service, entity);
                }
                job
            }
            Server::Shared(sharing) => {
                let job = sharing.depart(now);
                sharing.set_alarm(calendar, now, entity);
                job
            }
        }
    }
}

impl<J> JobSharing<J> {
    /// Advances the attained service to `now`.
    fn count(&mut self, now: SimTime) {
        if !self.jobs.is_empty() {
            let span = u128::from(now.since(self.counted).ps()) << FRACTION;
            self.attained += (span << FRACTION) / self.saturation.divisor(self.jobs.len());
        }
        self.counted = now;
    }

    fn offer(&mut self, now: SimTime, job: J, service: SimDuration) {
        self.count(now);
        let leaves_at = self.attained + (u128::from(service.ps()) << FRACTION);
        self.jobs.push(Reverse(DepartureMark { leaves_at, arrival: self.arrivals, job }));
        self.arrivals += 1;
    }

    fn depart(&mut self, now: SimTime) -> J {
        self.count(now);
        let Reverse(mark) = self.jobs.pop().expect("a server with an event has a job");
        // The remainder lost in the division must not delay other jobs with the same mark.
        self.attained = self.attained.max(mark.leaves_at);
        mark.job
    }

    fn set_alarm(&self, calendar: &mut Calendar, now: SimTime, entity: Entity) {
        let Some(Reverse(next)) = self.jobs.peek() else { return };
        let left = next.leaves_at.saturating_sub(self.attained);
        let divisor = self.saturation.divisor(self.jobs.len());
        // In two parts, because the product may have more than 128 bits.
        let (whole, part) = (left >> FRACTION, left & ((1 << FRACTION) - 1));
        let left = whole.saturating_mul(divisor).saturating_add((part * divisor).div_ceil(1 << FRACTION));
        let span = u64::try_from(left.div_ceil(1 << FRACTION)).unwrap_or(u64::MAX);
        calendar.set_alarm(now + SimDuration::from_ps(span), entity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SERVER: Entity = 7;

    /// The departures of jobs = (arrival, service), in ps.
    fn play(discipline: Discipline, jobs: &[(u64, u64)]) -> Vec<u64> {
        play_until((discipline, SaturationPoint::ONE), jobs)
    }

    fn play_until(server: (Discipline, SaturationPoint), jobs: &[(u64, u64)]) -> Vec<u64> {
        let mut calendar = Calendar::new();
        let mut servers = Servers::new([server], SERVER);
        for (job, (arrival, _)) in (100..).zip(jobs) {
            calendar.schedule(SimTime::from_ps(*arrival), job);
        }
        let mut departures = vec![0; jobs.len()];
        while let Some((now, entity)) = calendar.pop() {
            if entity == SERVER {
                departures[servers.depart(&mut calendar, now, 0)] = now.ps();
            } else {
                let job = entity as usize - 100;
                servers.offer(&mut calendar, now, 0, job, SimDuration::from_ps(jobs[job].1));
            }
        }
        departures
    }

    #[test]
    fn both_disciplines_are_what_they_are_called() {
        let jobs = [(0, 10), (0, 10), (0, 10)];
        assert_eq!(play(Discipline::FirstComeFirstServed, &jobs), [10, 20, 30]);
        assert_eq!(play(Discipline::ProcessorSharing, &jobs), [30, 30, 30]);
        // The second job arrives when the first has 5 left. They share the server until 13; the first then has 1 left.
        assert_eq!(play(Discipline::ProcessorSharing, &[(0, 10), (5, 4)]), [14, 13]);
        assert_eq!(play(Discipline::FirstComeFirstServed, &[(0, 10), (5, 4)]), [10, 14]);
        assert_eq!(play(Discipline::ProcessorSharing, &[(0, 0), (20, 3)]), [0, 23]);
    }

    #[test]
    fn few_jobs_do_not_saturate_a_server() {
        let server = (Discipline::ProcessorSharing, SaturationPoint::at(2.0));
        // Each of two jobs has half of the speed, whether alone or not; each of four has a quarter.
        assert_eq!(play_until(server, &[(0, 10)]), [20]);
        assert_eq!(play_until(server, &[(0, 10), (0, 10)]), [20, 20]);
        assert_eq!(play_until(server, &[(0, 10), (0, 10), (0, 10), (0, 10)]), [40; 4]);
        // Three jobs for 15 ps; then the two that are left have half of the speed again.
        assert_eq!(play_until(server, &[(0, 10), (0, 10), (0, 5)]), [25, 25, 15]);
    }

    /// A reference implementation that advances from one arrival or departure to the next in floating point.
    fn shared_slowly(saturation: f64, jobs: &[(u64, u64)]) -> Vec<f64> {
        let real = |ps: u64| f64::from(u32::try_from(ps).unwrap());
        let mut left: Vec<f64> = jobs.iter().map(|(_, service)| real(*service)).collect();
        let mut ends: Vec<Option<f64>> = vec![None; jobs.len()];
        let mut now = 0.0;
        while ends.iter().any(Option::is_none) {
            let here: Vec<usize> =
                (0..jobs.len()).filter(|job| real(jobs[*job].0) <= now && ends[*job].is_none()).collect();
            let count = real(here.len() as u64).max(saturation);
            let arrivals = jobs.iter().map(|(arrival, _)| real(*arrival)).filter(|arrival| *arrival > now);
            let next = here.iter().map(|job| now + left[*job] * count).chain(arrivals).fold(f64::INFINITY, f64::min);
            for job in here {
                left[job] -= (next - now) / count;
                if left[job] < 1e-9 {
                    ends[job] = Some(next);
                }
            }
            now = next;
        }
        ends.into_iter().flatten().collect()
    }

    proptest! {
        #[test]
        fn sharing_agrees_with_the_slow_way(
            jobs in prop::collection::vec((0u64..1_000_000, 1u64..1_000_000), 1..12), saturation in 1.0..6.0,
        ) {
            let departures = play_until((Discipline::ProcessorSharing, SaturationPoint::at(saturation)), &jobs);
            for (departure, expected) in departures.iter().zip(shared_slowly(saturation, &jobs)) {
                let departure = f64::from(u32::try_from(*departure).unwrap());
                // Every departure is rounded up to a picosecond, which delays all later departures.
                prop_assert!((departure - expected).abs() < 14.0, "{departure} instead of {expected}");
            }
        }

        /// As long as the server is never idle in between, the last departure is the same under both disciplines.
        #[test]
        fn the_last_departure_does_not_depend_on_the_discipline(services in prop::collection::vec(0u64..1_000_000, 1..12)) {
            let jobs: Vec<_> = services.iter().map(|service| (0, *service)).collect();
            let last = |discipline| play(discipline, &jobs).into_iter().max().unwrap();
            let (line, shared) = (last(Discipline::FirstComeFirstServed), last(Discipline::ProcessorSharing));
            prop_assert!(shared >= line && shared <= line + 12);
        }
    }
}
