//! Stations: servers with one job in service and a first-come, first-served queue.

use super::calendar::{Calendar, Entity};
use crate::units::{SimDuration, SimTime};

/// The index of a station within its [`Stations`].
pub type StationId = u32;

/// An array of stations, each of which serves anonymous jobs in the order of arrival.
///
/// A link is a station whose jobs are packets; the processor of a router is a station whose jobs are software
/// overheads. A job is offered and departs later. Each station has one pending event in the calendar, the departure of
/// the job in service, whose entity is `first_entity` plus the index of the station.
pub struct Stations<J> {
    first_entity: Entity,
    queues: Vec<Queue>,
    waiting: Vec<QueuedJob<J>>,
    /// The head of the free list.
    vacant: u32,
}

/// The commitments of a station: how long it is busy, and the total service offered to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct StationState {
    free: SimTime,
    offered: SimDuration,
}

impl StationState {
    /// Returns the time at which the station will have served everything offered so far.
    #[must_use]
    pub const fn free(&self) -> SimTime {
        self.free
    }

    /// Returns the time that the station has spent in service up to `now`.
    #[must_use]
    pub fn served(&self, now: SimTime) -> SimDuration {
        self.offered - self.free.since(now)
    }

    /// Serves a job that arrives at `now` and needs `service`, and returns its departure time.
    pub fn serve(&mut self, now: SimTime, service: SimDuration) -> SimTime {
        self.pass(self.free.max(now) + service, service);
        self.free
    }

    /// Serves a batch of jobs that need `service` in total and the last of which departs at `last`.
    pub fn pass(&mut self, last: SimTime, service: SimDuration) {
        self.free = last;
        self.offered += service;
    }

    /// Withdraws the jobs offered last, which need `service` in total and found the station busy until `free`.
    pub fn revoke(&mut self, free: SimTime, service: SimDuration) {
        self.free = free;
        self.offered -= service;
    }
}

/// One station, with its queue as a linked list.
#[derive(Clone)]
struct Queue {
    first: u32,
    last: u32,
    line: StationState,
    /// Number of jobs offered.
    jobs: u64,
}

#[derive(Clone, Copy)]
struct QueuedJob<J> {
    job: J,
    service: SimDuration,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl<J: Copy> Stations<J> {
    /// Creates `count` idle stations whose events use the entities from `first_entity` on.
    #[must_use]
    pub fn new(count: u32, first_entity: Entity) -> Self {
        let idle = Queue { first: NONE, last: NONE, line: StationState::default(), jobs: 0 };
        Self { first_entity, queues: vec![idle; count as usize], waiting: Vec::new(), vacant: NONE }
    }

    /// Appends `job`, which needs `service`, to the queue of a station.
    #[inline]
    pub fn offer(&mut self, calendar: &mut Calendar, now: SimTime, station: StationId, job: J, service: SimDuration) {
        let place = self.place(QueuedJob { job, service, next: NONE });
        self.append(calendar, now, station, place, service);
    }

    /// Appends the job stored at `place` to the queue of a station.
    #[inline]
    fn append(&mut self, calendar: &mut Calendar, now: SimTime, station: StationId, place: u32, service: SimDuration) {
        let queue = &mut self.queues[station as usize];
        queue.line.serve(now, service);
        queue.jobs += 1;
        let last = std::mem::replace(&mut queue.last, place);
        if queue.first == NONE {
            queue.first = place;
            calendar.schedule_after(now, service, self.first_entity + station);
        } else {
            self.waiting[last as usize].next = place;
        }
    }

    /// Handles the departure event of a station: the job in service leaves, and the next one starts.
    #[inline]
    pub fn depart(&mut self, calendar: &mut Calendar, now: SimTime, station: StationId) -> &J {
        let place = self.end_service(calendar, now, station);
        self.leave(place)
    }

    /// Handles the departure event of a station: the next job starts, and the departing one moves to the station that
    /// `onward` returns, with the service time there. Returns the job if `onward` returns `None`.
    #[inline]
    pub fn relay(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        station: StationId,
        onward: impl FnOnce(&mut J) -> Option<(StationId, SimDuration)>,
    ) -> Option<&J> {
        let place = self.end_service(calendar, now, station);
        let waiting = &mut self.waiting[place as usize];
        let Some((next, service)) = onward(&mut waiting.job) else { return Some(self.leave(place)) };
        (waiting.service, waiting.next) = (service, NONE);
        self.append(calendar, now, next, place, service);
        None
    }

    /// Starts the next job, and returns the place of the one that was in service.
    #[inline]
    fn end_service(&mut self, calendar: &mut Calendar, now: SimTime, station: StationId) -> u32 {
        let queue = &mut self.queues[station as usize];
        let place = queue.first;
        queue.first = self.waiting[place as usize].next;
        if let Some(next) = self.waiting.get(queue.first as usize) {
            calendar.schedule_after(now, next.service, self.first_entity + station);
        }
        place
    }

    #[inline]
    fn leave(&mut self, place: u32) -> &J {
        let waiting = &mut self.waiting[place as usize];
        waiting.next = std::mem::replace(&mut self.vacant, place);
        &waiting.job
    }

    /// Returns the number of jobs whose service has begun. Takes time for each job that waits.
    #[must_use]
    pub fn begun(&self, station: StationId) -> u64 {
        let queue = &self.queues[station as usize];
        let next = |job: &QueuedJob<J>| self.waiting.get(job.next as usize);
        let present = std::iter::successors(self.waiting.get(queue.first as usize), |job| next(job)).count();
        queue.jobs - present.saturating_sub(1) as u64
    }

    /// Returns the time at which the station will have served everything offered so far.
    #[must_use]
    pub fn free(&self, station: StationId) -> SimTime {
        self.queues[station as usize].line.free()
    }

    /// Returns the time that the station has spent in service up to `now`.
    #[must_use]
    pub fn served(&self, station: StationId, now: SimTime) -> SimDuration {
        self.queues[station as usize].line.served(now)
    }

    fn place(&mut self, waiting: QueuedJob<J>) -> u32 {
        if let Some(vacant) = self.waiting.get_mut(self.vacant as usize) {
            let place = self.vacant;
            self.vacant = std::mem::replace(vacant, waiting).next;
            return place;
        }
        self.waiting.push(waiting);
        u32::try_from(self.waiting.len() - 1).expect("fewer than 2^32 jobs wait at once")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ps(ps: u64) -> SimDuration {
        SimDuration::from_ps(ps)
    }

    #[test]
    fn jobs_depart_in_order_one_service_after_the_other() {
        let mut calendar = Calendar::new();
        let mut stations = Stations::new(2, 100);
        for (job, service) in [("a", 5), ("b", 0), ("c", 3)] {
            stations.offer(&mut calendar, SimTime::START, 1, job, ps(service));
        }
        let mut departures = Vec::new();
        while let Some((now, entity)) = calendar.pop() {
            departures.push((now.ps(), *stations.depart(&mut calendar, now, entity - 100)));
        }
        assert_eq!(departures, [(5, "a"), (5, "b"), (8, "c")]);
    }

    #[test]
    fn a_job_that_waits_has_not_begun() {
        let (mut calendar, mut stations) = (Calendar::new(), Stations::new(1, 0));
        let mut begun = vec![stations.begun(0)];
        for job in 0..3 {
            stations.offer(&mut calendar, SimTime::START, 0, job, ps(4));
            begun.push(stations.begun(0));
        }
        while let Some((now, entity)) = calendar.pop() {
            stations.depart(&mut calendar, now, entity);
            begun.push(stations.begun(0));
        }
        assert_eq!(begun, [0, 1, 1, 1, 2, 3, 3]);
    }

    #[test]
    fn served_time_counts_only_what_has_passed() {
        let mut calendar = Calendar::new();
        let mut stations = Stations::new(1, 0);
        stations.offer(&mut calendar, SimTime::from_ps(10), 0, (), ps(4));
        stations.offer(&mut calendar, SimTime::from_ps(11), 0, (), ps(4));
        assert_eq!(stations.served(0, SimTime::from_ps(12)), ps(2));
        assert_eq!(stations.served(0, SimTime::from_ps(18)), ps(8));
        assert_eq!(stations.served(0, SimTime::from_ps(99)), ps(8));
    }
}
