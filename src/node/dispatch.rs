//! Who has the processor: communication software, or one of the computations.

use crate::engine::{Calendar, Entity, Stations};
use crate::units::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// When the software that passes packets on gets the processor of a node that computes.
///
/// Packets for the node itself and its own sends are always served at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RouterTurn {
    /// At once: the router has high priority.
    AtOnce,
    /// When the computation comes to the end of the current row of its loop; then everything that
    /// waits is served, and whatever arrives meanwhile.
    EndOfRow,
    /// When the time slice of the computation is over.
    TimeSlice,
}

/// The rules by which the computations and the router of a processor take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// When the router gets its turn.
    pub router: RouterTurn,
    /// The period of the clock of time slices: a computation gives way at the second tick since it got
    /// the processor, so after one to two periods.
    pub time_slice: SimDuration,
}

/// How soon a communication job needs the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It preempts a computation.
    AtOnce,
    /// It waits until the computation lets the router have its turn.
    RouterTurn,
}

/// The processors of all nodes: each serves communication jobs, which have high priority, in the order
/// of arrival, and computes in the background. Several computations on one processor take turns.
///
/// A job never waits for a computation once it has been let in, so the jobs form a plain FIFO
/// station, and each of them moves the end of the computation by its service time.
pub struct Dispatcher<J> {
    turns: Turns,
    stations: Stations<J>,
    processors: Vec<Occupancy<J>>,
    first_alarm: Entity,
}

/// What a processor has on its hands beside its station.
struct Occupancy<J> {
    running: Option<Running>,
    /// Computations that wait for their time slice.
    waiting: VecDeque<Computation>,
    /// Jobs that wait for the router's turn, and when that is.
    deferred: Vec<(J, SimDuration)>,
    router_due: Option<Due>,
    /// The router's turn goes on for as long as its station is busy.
    router_has_turn: bool,
    /// To when the pending alarm is set.
    alarm: Option<SimTime>,
}

/// A computation of which `left` is still to be done.
struct Computation {
    owner: u32,
    left: SimDuration,
    row: SimDuration,
}

/// The computation that has the processor.
struct Running {
    owner: u32,
    row: SimDuration,
    /// When it will end unless jobs preempt it or others take turns with it.
    ends: SimTime,
    /// When its time slice is over.
    slice_ends: SimTime,
}

/// When the router gets its turn.
#[derive(Clone, Copy)]
enum Due {
    /// When so much of the running computation is left.
    Left(SimDuration),
    /// At a certain time.
    At(SimTime),
}

impl Running {
    /// The work that is left at `now`; `free` is when the jobs let in so far are done.
    fn left(&self, now: SimTime, free: SimTime) -> SimDuration {
        self.ends.since(now.max(free))
    }

    /// The work that is left at the next end of a row. Rows are counted from the end, where the last one ends.
    fn left_at_row_end(&self, now: SimTime, free: SimTime) -> SimDuration {
        let left = self.left(now, free);
        match (left.ps(), self.row.ps()) {
            (0, _) | (_, 0) => SimDuration::ZERO,
            (left, row) => SimDuration::from_ps((left - 1) / row * row),
        }
    }
}

impl Turns {
    /// The end of a time slice that begins at `begin`: the second tick of the clock.
    fn slice_end(self, begin: SimTime) -> SimTime {
        self.tick(begin, 2)
    }

    /// The `count`th tick of the clock after `now`.
    fn tick(self, now: SimTime, count: u64) -> SimTime {
        let period = self.time_slice.ps().max(1);
        SimTime::START + self.time_slice * (now.ps() / period + count)
    }
}

impl<J: Copy> Dispatcher<J> {
    /// `count` idle processors. The jobs' events use the entities from `first_station` on, the
    /// computations' alarms those from `first_alarm` on.
    #[must_use]
    pub fn new(count: u32, turns: Turns, first_station: Entity, first_alarm: Entity) -> Self {
        let idle = || Occupancy {
            running: None,
            waiting: VecDeque::new(),
            deferred: Vec::new(),
            router_due: None,
            router_has_turn: false,
            alarm: None,
        };
        Self {
            turns,
            stations: Stations::new(count, first_station),
            processors: (0..count).map(|_| idle()).collect(),
            first_alarm,
        }
    }

    /// Starts a computation of `rows` rows that take `row` each. [`alarm`](Self::alarm) reports its
    /// end, by `owner`.
    pub fn compute(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        owner: u32,
        (row, rows): (SimDuration, u64),
    ) {
        let computation = Computation { owner, left: row * rows, row };
        let occupancy = &mut self.processors[processor as usize];
        match &mut occupancy.running {
            Some(running) => {
                occupancy.waiting.push_back(computation);
                if running.slice_ends <= now {
                    running.slice_ends = self.turns.tick(now, 1);
                }
            }
            None => self.give(now, processor, computation),
        }
        self.set_alarm(calendar, processor);
    }

    /// Hands a communication job to a processor.
    pub fn serve(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        (job, service): (J, SimDuration),
        urgency: Urgency,
    ) {
        self.end_turn_if_over(now, processor);
        if urgency == Urgency::RouterTurn && self.must_wait(processor) {
            self.defer(now, processor, (job, service));
        } else {
            self.stations.offer(calendar, now, processor, job, service);
            if let Some(running) = &mut self.processors[processor as usize].running {
                running.ends += service;
            }
        }
        self.set_alarm(calendar, processor);
    }

    /// Takes memory cycles from the computation that runs on a processor, if one does; it ends later.
    pub fn steal(&mut self, calendar: &mut Calendar, processor: u32, span: SimDuration) {
        if let Some(running) = &mut self.processors[processor as usize].running {
            running.ends += span;
            self.set_alarm(calendar, processor);
        }
    }

    /// Serves a job of the router of which no departure is told: when it departs. `None` if that has
    /// to be waited for: the router's turn, or jobs before it whose departures are told.
    ///
    /// So what departs is in the order of departure, whether it is told or foreseen.
    pub fn pass(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        service: SimDuration,
    ) -> Option<SimTime> {
        self.end_turn_if_over(now, processor);
        if self.must_wait(processor) || !self.stations.is_quiet(processor) {
            return None;
        }
        let departure = self.stations.pass(now, processor, service);
        if let Some(running) = &mut self.processors[processor as usize].running {
            running.ends += service;
            self.set_alarm(calendar, processor);
        }
        Some(departure)
    }

    /// A job has been served: takes it out.
    pub fn depart(&mut self, calendar: &mut Calendar, processor: u32) -> J {
        self.stations.depart(calendar, processor)
    }

    /// The alarm of a processor: a computation ends, its time slice does, or the router has its turn.
    /// The owner of the computation that has ended, if one has.
    pub fn alarm(&mut self, calendar: &mut Calendar, now: SimTime, processor: u32) -> Option<u32> {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.alarm = None;
        let ended = occupancy.running.take_if(|running| running.ends <= now);
        let gives_way = occupancy.running.take_if(|running| running.slice_ends <= now && !occupancy.waiting.is_empty());
        if let Some(running) = gives_way {
            let left = running.left(now, self.stations.free(processor));
            occupancy.waiting.push_back(Computation { owner: running.owner, left, row: running.row });
        }
        self.let_router_in(calendar, now, processor);
        let occupancy = &mut self.processors[processor as usize];
        if let Some(next) = occupancy.waiting.pop_front_if(|_| occupancy.running.is_none()) {
            self.give(now, processor, next);
        }
        self.set_alarm(calendar, processor);
        ended.map(|running| running.owner)
    }

    /// The time that communication jobs have had a processor up to `now`.
    #[must_use]
    pub fn served(&self, processor: u32, now: SimTime) -> SimDuration {
        self.stations.served(processor, now)
    }

    /// Gives an idle processor to a computation.
    fn give(&mut self, now: SimTime, processor: u32, Computation { owner, left, row }: Computation) {
        let begin = now.max(self.stations.free(processor));
        let running = Running { owner, row, ends: begin + left, slice_ends: self.turns.slice_end(begin) };
        self.processors[processor as usize].running = Some(running);
    }

    /// The router's turn is over when its station has been idle.
    ///
    /// Also before a job that preempts: its service must not pass for a turn that is over.
    fn end_turn_if_over(&mut self, now: SimTime, processor: u32) {
        self.processors[processor as usize].router_has_turn &= self.stations.free(processor) >= now;
    }

    fn must_wait(&self, processor: u32) -> bool {
        let occupancy = &self.processors[processor as usize];
        occupancy.running.is_some() && self.turns.router != RouterTurn::AtOnce && !occupancy.router_has_turn
    }

    fn defer(&mut self, now: SimTime, processor: u32, job: (J, SimDuration)) {
        let free = self.stations.free(processor);
        let occupancy = &mut self.processors[processor as usize];
        occupancy.deferred.push(job);
        let Some(running) = occupancy.running.as_mut().filter(|_| occupancy.router_due.is_none()) else { return };
        if running.slice_ends <= now {
            running.slice_ends = self.turns.tick(now, 1);
        }
        occupancy.router_due = Some(match self.turns.router {
            RouterTurn::TimeSlice => Due::At(running.slice_ends),
            RouterTurn::EndOfRow | RouterTurn::AtOnce => Due::Left(running.left_at_row_end(now, free)),
        });
    }

    /// Serves what waits for the router's turn; a computation that goes on gets a new time slice.
    fn let_router_in(&mut self, calendar: &mut Calendar, now: SimTime, processor: u32) {
        let occupancy = &mut self.processors[processor as usize];
        if occupancy.deferred.is_empty() {
            return;
        }
        let mut stolen = SimDuration::ZERO;
        for (job, service) in occupancy.deferred.drain(..) {
            stolen += service;
            self.stations.offer(calendar, now, processor, job, service);
        }
        occupancy.router_due = None;
        occupancy.router_has_turn = occupancy.running.is_some();
        if let Some(running) = &mut occupancy.running {
            running.ends += stolen;
            running.slice_ends = self.turns.slice_end(self.stations.free(processor));
        }
    }

    /// Sets the alarm to whatever comes first: the end of the computation or of its time slice if others
    /// wait for it, or the router's turn.
    fn set_alarm(&mut self, calendar: &mut Calendar, processor: u32) {
        let occupancy = &mut self.processors[processor as usize];
        let Some(running) = &occupancy.running else { return };
        let slice = (!occupancy.waiting.is_empty()).then_some(running.slice_ends);
        let router = occupancy.router_due.map(|due| match due {
            Due::Left(left) => running.ends.before(left),
            Due::At(time) => time,
        });
        let alarm = [slice, router].into_iter().flatten().fold(running.ends, SimTime::min);
        if occupancy.alarm.replace(alarm) != Some(alarm) {
            calendar.set_alarm(alarm, self.first_alarm + processor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATION: Entity = 0;
    const ALARM: Entity = 90;

    fn ps(ps: u64) -> SimDuration {
        SimDuration::from_ps(ps)
    }

    /// Plays `jobs` = (arrival, service, urgency) against a computation of `rows` rows of 10 ps
    /// from 0 on; gives the departures and the end of the computation.
    fn play(router: RouterTurn, rows: u64, jobs: &[(u64, u64, Urgency)]) -> (Vec<u64>, u64) {
        let mut calendar = Calendar::new();
        let mut dispatcher = Dispatcher::new(1, Turns { router, time_slice: ps(8) }, STATION, ALARM);
        dispatcher.compute(&mut calendar, SimTime::START, 0, 0, (ps(10), rows));
        for (job, (arrival, ..)) in jobs.iter().enumerate() {
            calendar.schedule(SimTime::from_ps(*arrival), 20 + Entity::try_from(job).unwrap());
        }
        let (mut departures, mut end) = (vec![0; jobs.len()], 0);
        while let Some((now, entity)) = calendar.pop() {
            match entity {
                STATION => departures[dispatcher.depart(&mut calendar, 0)] = now.ps(),
                ALARM => {
                    if dispatcher.alarm(&mut calendar, now, 0).is_some() {
                        end = now.ps();
                    }
                }
                arrival => {
                    let job = arrival as usize - 20;
                    let (_, service, urgency) = jobs[job];
                    dispatcher.serve(&mut calendar, now, 0, (job, ps(service)), urgency);
                }
            }
        }
        (departures, end)
    }

    #[test]
    fn a_router_with_high_priority_preempts() {
        let jobs = [(3, 4, Urgency::RouterTurn), (5, 4, Urgency::AtOnce)];
        assert_eq!(play(RouterTurn::AtOnce, 3, &jobs), (vec![7, 11], 38));
    }

    #[test]
    fn a_router_that_waits_gets_its_turn_at_the_end_of_the_row() {
        let jobs = [(3, 4, Urgency::RouterTurn), (5, 4, Urgency::RouterTurn), (17, 1, Urgency::RouterTurn)];
        assert_eq!(play(RouterTurn::EndOfRow, 3, &jobs), (vec![14, 18, 19], 39));
    }

    #[test]
    fn what_preempts_moves_the_end_of_the_row() {
        let jobs = [(3, 4, Urgency::RouterTurn), (5, 6, Urgency::AtOnce)];
        assert_eq!(play(RouterTurn::EndOfRow, 2, &jobs), (vec![20, 11], 30));
    }

    #[test]
    fn a_job_that_preempts_does_not_revive_a_turn_that_is_over() {
        let jobs = [(3, 4, Urgency::RouterTurn), (16, 4, Urgency::AtOnce), (17, 1, Urgency::RouterTurn)];
        // The turn is over at 14; the second row ends at 24, or 28 with what has preempted it.
        assert_eq!(play(RouterTurn::EndOfRow, 3, &jobs), (vec![14, 20, 29], 39));
    }

    #[test]
    fn the_turn_after_the_last_row_does_not_delay_the_computation() {
        let jobs = [(13, 4, Urgency::RouterTurn)];
        assert_eq!(play(RouterTurn::EndOfRow, 2, &jobs), (vec![24], 20));
    }

    #[test]
    fn a_time_slice_ends_at_the_second_tick() {
        let jobs = [(3, 4, Urgency::RouterTurn)];
        assert_eq!(play(RouterTurn::TimeSlice, 3, &jobs), (vec![20], 34));
    }

    #[test]
    fn a_job_at_the_end_of_a_row_does_not_put_off_the_router() {
        let jobs = [(3, 4, Urgency::RouterTurn), (10, 1, Urgency::AtOnce)];
        assert_eq!(play(RouterTurn::EndOfRow, 3, &jobs), (vec![15, 11], 35));
    }

    /// The ends of computations of these lengths that start together on one processor.
    fn share(lengths: &[u64]) -> Vec<u64> {
        let mut calendar = Calendar::new();
        let turns = Turns { router: RouterTurn::AtOnce, time_slice: ps(8) };
        let mut dispatcher = Dispatcher::<()>::new(1, turns, STATION, ALARM);
        for (owner, length) in (0..).zip(lengths) {
            dispatcher.compute(&mut calendar, SimTime::START, 0, owner, (ps(*length), 1));
        }
        let mut ends = vec![0; lengths.len()];
        while let Some((now, _)) = calendar.pop() {
            if let Some(owner) = dispatcher.alarm(&mut calendar, now, 0) {
                ends[owner as usize] = now.ps();
            }
        }
        ends
    }

    #[test]
    fn computations_on_one_processor_take_turns() {
        // Slices end at 16, 32, 48: the first has 16 of 20, the second 16 of 40, then the first its last 4.
        assert_eq!(share(&[20, 40]), [36, 60]);
        assert_eq!(share(&[20]), [20]);
        assert_eq!(share(&[5, 5, 5]), [5, 10, 15]);
    }
}
