//! Who has the processor: communication software or the computation.

use crate::engine::{Calendar, Entity, Stations};
use crate::units::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// When the software that passes packets on gets the processor of a node that computes.
///
/// Packets for the node itself and its own sends are always served at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum RouterTurn {
    /// At once: the router has high priority.
    AtOnce,
    /// When the computation comes to the end of the current row of its loop; then everything that
    /// waits is served, and whatever arrives meanwhile.
    EndOfRow,
    /// When the time slice of the computation is over: at the second tick of a clock of this
    /// period since the computation got the processor (T800: between one and two periods).
    TimeSlice {
        /// The period of the clock; 1.024 ms on a T800.
        period: SimDuration,
    },
}

/// How soon a communication job needs the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It preempts a computation.
    AtOnce,
    /// It waits until the computation lets the router have its turn.
    RouterTurn,
}

/// The processors of all nodes: each serves communication jobs in the order of arrival and
/// computes in the background.
///
/// A job never waits for a computation once it has been let in, so the jobs form a plain FIFO
/// station, and each of them moves the end of the computation by its service time.
pub struct Dispatcher<J> {
    turn: RouterTurn,
    stations: Stations<J>,
    nodes: Vec<Occupancy<J>>,
    first_alarm: Entity,
}

/// What a node's processor has on its hands beside its station.
struct Occupancy<J> {
    computation: Option<Computation>,
    deferred: Vec<(J, SimDuration)>,
}

/// A computation in progress, and when it will end unless further jobs preempt it.
struct Computation {
    ends: SimTime,
    total: SimDuration,
    row: SimDuration,
    /// When it last got the processor from its beginning or from a turn of the router.
    since: SimTime,
    /// A turn of the router goes on for as long as its station is busy.
    router_has_turn: bool,
}

impl Computation {
    /// The work that is left at `now`; `free` is when the jobs let in so far are done.
    fn left(&self, now: SimTime, free: SimTime) -> SimDuration {
        self.ends.since(now.max(free))
    }

    fn row_end(&self, now: SimTime, free: SimTime) -> SimTime {
        let left = self.left(now, free);
        let done = self.total - left;
        let into_row = if self.row == SimDuration::ZERO { 0 } else { done.ps() % self.row.ps() };
        now.max(free) + SimDuration::from_ps(self.row.ps() - into_row).min(left)
    }

    fn slice_end(&self, now: SimTime, period: SimDuration) -> SimTime {
        let tick = |number: u64| SimTime::START + period * number;
        let period_ps = period.ps().max(1);
        let second_tick = tick(self.since.ps() / period_ps + 2);
        if second_tick > now { second_tick } else { tick(now.ps() / period_ps + 1) }
    }
}

impl<J: Copy> Dispatcher<J> {
    /// `nodes` idle processors. The jobs' events use the entities from `first_station` on, the
    /// computations' alarms those from `first_alarm` on.
    #[must_use]
    pub fn new(nodes: u32, turn: RouterTurn, first_station: Entity, first_alarm: Entity) -> Self {
        let idle = || Occupancy { computation: None, deferred: Vec::new() };
        Self {
            turn,
            stations: Stations::new(nodes, first_station),
            nodes: (0..nodes).map(|_| idle()).collect(),
            first_alarm,
        }
    }

    /// Starts a computation of `rows` rows that take `row` each, on a node that does not compute.
    ///
    /// Its end is reported by [`alarm`](Self::alarm).
    pub fn compute(&mut self, calendar: &mut Calendar, now: SimTime, node: u32, row: SimDuration, rows: u64) {
        let occupancy = &mut self.nodes[node as usize];
        debug_assert!(occupancy.computation.is_none(), "a node runs one computation at a time");
        let total = row * rows;
        let ends = now.max(self.stations.free(node)) + total;
        occupancy.computation = Some(Computation { ends, total, row, since: now, router_has_turn: false });
        calendar.set_alarm(ends, self.first_alarm + node);
    }

    /// Hands a communication job to the node's processor.
    pub fn serve(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        node: u32,
        job: J,
        service: SimDuration,
        urgency: Urgency,
    ) {
        let free = self.stations.free(node);
        if let Some(computation) = &mut self.nodes[node as usize].computation {
            // Also when the job preempts: its service must not pass for a turn that is over.
            computation.router_has_turn &= free >= now;
        }
        if urgency == Urgency::RouterTurn && self.must_wait(node) {
            let occupancy = &mut self.nodes[node as usize];
            occupancy.deferred.push((job, service));
            if occupancy.deferred.len() == 1 {
                self.set_alarm(calendar, now, node);
            }
            return;
        }
        self.stations.offer(calendar, now, node, job, service);
        if let Some(computation) = &mut self.nodes[node as usize].computation {
            computation.ends += service;
            self.set_alarm(calendar, now, node);
        }
    }

    /// A job has been served: takes it out.
    pub fn depart(&mut self, calendar: &mut Calendar, now: SimTime, node: u32) -> J {
        self.stations.depart(calendar, now, node)
    }

    /// The alarm of `node`: the router gets its turn, and `true` if the computation has ended.
    pub fn alarm(&mut self, calendar: &mut Calendar, now: SimTime, node: u32) -> bool {
        let occupancy = &mut self.nodes[node as usize];
        let Some(computation) = &mut occupancy.computation else {
            unreachable!("only a computation sets the alarm of its node");
        };
        let ended = computation.ends <= now;
        let mut deferred = std::mem::take(&mut occupancy.deferred);
        for (job, service) in deferred.drain(..) {
            computation.ends += service;
            self.stations.offer(calendar, now, node, job, service);
        }
        // Handed back empty: the list keeps its memory for the next turn.
        occupancy.deferred = deferred;
        if ended {
            occupancy.computation = None;
            return true;
        }
        computation.router_has_turn = true;
        computation.since = self.stations.free(node);
        self.set_alarm(calendar, now, node);
        false
    }

    /// The time that communication jobs have had the processor of `node` up to `now`.
    #[must_use]
    pub fn served(&self, node: u32, now: SimTime) -> SimDuration {
        self.stations.served(node, now)
    }

    fn must_wait(&self, node: u32) -> bool {
        let computation = self.nodes[node as usize].computation.as_ref();
        self.turn != RouterTurn::AtOnce && computation.is_some_and(|computation| !computation.router_has_turn)
    }

    /// Sets the alarm to whatever comes first: the router's turn, if jobs wait for it, or the end.
    fn set_alarm(&self, calendar: &mut Calendar, now: SimTime, node: u32) {
        let occupancy = &self.nodes[node as usize];
        let Some(computation) = &occupancy.computation else { return };
        let free = self.stations.free(node);
        let turn = match &self.turn {
            _ if occupancy.deferred.is_empty() => computation.ends,
            RouterTurn::AtOnce | RouterTurn::EndOfRow => computation.row_end(now, free),
            RouterTurn::TimeSlice { period } => computation.slice_end(now, *period),
        };
        calendar.set_alarm(turn.min(computation.ends), self.first_alarm + node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATION: Entity = 0;
    const ALARM: Entity = 10;

    fn ps(ps: u64) -> SimDuration {
        SimDuration::from_ps(ps)
    }

    /// Plays `jobs` = (arrival, service, urgency) against a computation of `rows` rows of 10 ps
    /// from 0 on; gives the departures and the end of the computation.
    fn play(turn: RouterTurn, rows: u64, jobs: &[(u64, u64, Urgency)]) -> (Vec<u64>, u64) {
        let mut calendar = Calendar::new();
        let mut dispatcher = Dispatcher::new(1, turn, STATION, ALARM);
        dispatcher.compute(&mut calendar, SimTime::START, 0, ps(10), rows);
        for (job, (arrival, ..)) in jobs.iter().enumerate() {
            calendar.schedule(SimTime::from_ps(*arrival), 20 + Entity::try_from(job).unwrap());
        }
        let (mut departures, mut end) = (vec![0; jobs.len()], 0);
        while let Some((now, entity)) = calendar.pop() {
            match entity {
                STATION => departures[dispatcher.depart(&mut calendar, now, 0)] = now.ps(),
                ALARM if dispatcher.alarm(&mut calendar, now, 0) => end = now.ps(),
                ALARM => {}
                arrival => {
                    let job = arrival as usize - 20;
                    let (_, service, urgency) = jobs[job];
                    dispatcher.serve(&mut calendar, now, 0, job, ps(service), urgency);
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
        assert_eq!(play(RouterTurn::TimeSlice { period: ps(8) }, 3, &jobs), (vec![20], 34));
    }
}
