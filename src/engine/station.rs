//! Stations: first come, first served, one job at a time.

use super::calendar::{Calendar, Entity};
use crate::units::{SimDuration, SimTime};

/// The number of a station within its [`Stations`].
pub type StationId = u32;

/// A row of stations, each serving anonymous jobs in the order of arrival.
///
/// A link is a station whose jobs are packets, a router's processor one whose jobs are software.
/// A job is offered and later departs; the station keeps one pending event in the calendar (the
/// departure of the job in service), whose entity is the station's number plus `first_entity`.
pub struct Stations<J> {
    first_entity: Entity,
    lines: Vec<Line>,
    waiting: Vec<Waiting<J>>,
    vacant: Vec<u32>,
}

/// The state of one station: its queue as a linked list, and what it has promised so far.
#[derive(Clone)]
struct Line {
    first: u32,
    last: u32,
    free: SimTime,
    offered: SimDuration,
}

#[derive(Clone, Copy)]
struct Waiting<J> {
    job: J,
    arrival: SimTime,
    service: SimDuration,
    departure: SimTime,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl<J: Copy> Stations<J> {
    /// `count` idle stations whose events use the entities from `first_entity` on.
    #[must_use]
    pub fn new(count: u32, first_entity: Entity) -> Self {
        let idle = Line { first: NONE, last: NONE, free: SimTime::START, offered: SimDuration::ZERO };
        Self { first_entity, lines: vec![idle; count as usize], waiting: Vec::new(), vacant: Vec::new() }
    }

    /// Puts `job`, which takes `service`, at the end of the station's queue.
    ///
    /// The arrival may lie ahead if it is certain that no job offered later arrives before it.
    pub fn offer(
        &mut self,
        calendar: &mut Calendar,
        arrival: SimTime,
        station: StationId,
        job: J,
        service: SimDuration,
    ) {
        let departure = self.pass(arrival, station, service);
        let place = self.place(Waiting { job, arrival, service, departure, next: NONE });
        let line = &mut self.lines[station as usize];
        if line.first == NONE {
            line.first = place;
            calendar.schedule(departure, self.first_entity + station);
        } else {
            self.waiting[line.last as usize].next = place;
        }
        line.last = place;
    }

    /// Serves a job that nobody has to be told of, after all that have been offered; when it departs.
    pub fn pass(&mut self, arrival: SimTime, station: StationId, service: SimDuration) -> SimTime {
        let line = &mut self.lines[station as usize];
        line.free = line.free.max(arrival) + service;
        line.offered += service;
        line.free
    }

    /// Whether no departure is going to be told.
    #[must_use]
    pub fn is_quiet(&self, station: StationId) -> bool {
        self.lines[station as usize].first == NONE
    }

    /// Ends the service in progress, whose event has come: the job leaves, the next one starts.
    pub fn depart(&mut self, calendar: &mut Calendar, station: StationId) -> J {
        let line = &mut self.lines[station as usize];
        let place = line.first;
        let Waiting { job, next, .. } = self.waiting[place as usize];
        self.vacant.push(place);
        line.first = next;
        if next != NONE {
            calendar.schedule(self.waiting[next as usize].departure, self.first_entity + station);
        }
        job
    }

    /// When the station will have served everything that has been offered so far.
    #[must_use]
    pub fn free(&self, station: StationId) -> SimTime {
        self.lines[station as usize].free
    }

    /// When the play ends at `now`: takes back the jobs that have not arrived, and counts them.
    pub fn withdraw(&mut self, now: SimTime, station: StationId, arrived: impl Fn(SimTime) -> bool) -> u32 {
        let line = &mut self.lines[station as usize];
        let (mut place, mut free, mut withdrawn) = (line.first, line.free.min(now), 0);
        while place != NONE {
            let waiting = &self.waiting[place as usize];
            if arrived(waiting.arrival) {
                free = waiting.departure;
            } else {
                line.offered -= waiting.service;
                withdrawn += 1;
            }
            place = waiting.next;
        }
        line.free = free;
        withdrawn
    }

    /// The time that the station has spent in service up to `now`, if no job was offered ahead.
    #[must_use]
    pub fn served(&self, station: StationId, now: SimTime) -> SimDuration {
        let line = &self.lines[station as usize];
        line.offered - line.free.since(now)
    }

    fn place(&mut self, waiting: Waiting<J>) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.waiting[place as usize] = waiting;
            return place;
        }
        self.waiting.push(waiting);
        u32::try_from(self.waiting.len() - 1).expect("fewer than four thousand million jobs wait at once")
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
            departures.push((now.ps(), stations.depart(&mut calendar, entity - 100)));
        }
        assert_eq!(departures, [(5, "a"), (5, "b"), (8, "c")]);
    }

    #[test]
    fn a_job_ahead_is_served_when_it_has_come_and_can_be_taken_back() {
        let mut calendar = Calendar::new();
        let mut stations = Stations::new(1, 0);
        stations.offer(&mut calendar, SimTime::from_ps(2), 0, "a", ps(5));
        stations.offer(&mut calendar, SimTime::from_ps(9), 0, "b", ps(3));
        assert_eq!(calendar.pop(), Some((SimTime::from_ps(7), 0)));
        assert_eq!(stations.depart(&mut calendar, 0), "a");
        assert_eq!(stations.withdraw(SimTime::from_ps(8), 0, |arrival| arrival.ps() < 9), 1);
        assert_eq!(stations.served(0, SimTime::from_ps(8)), ps(5));
        assert_eq!(calendar.pop(), Some((SimTime::from_ps(12), 0)));
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
        assert_eq!(stations.free(0), SimTime::from_ps(18));
    }
}
