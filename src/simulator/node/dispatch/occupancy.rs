//! Load of one processor: the jobs that have been let in, and the computations in their background.

use super::{RouterTurn, Turns};
use crate::engine::{Calendar, Entity, EvenInstants, Runs, StationState};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// Load of a processor.
pub(super) struct Occupancy<J> {
    /// The communication jobs that have been let in.
    pub line: StationState,
    /// The router's turn goes on for as long as its station is busy.
    pub router_has_turn: bool,
    /// `None` until the first computation: most nodes of a large machine have none.
    pub background: Option<Box<Computations<J>>>,
}

/// The computations of a processor, and what waits for them.
pub(super) struct Computations<J> {
    pub running: Option<RunningComputation>,
    /// Computations that wait for their time slice.
    pub waiting: VecDeque<RemainingComputation>,
    /// Jobs that wait for the router's turn, and when that is.
    pub deferred: Vec<Deferred<J>>,
    pub router_due: Option<Due>,
    /// To when the pending alarm is set.
    pub alarm: Option<SimTime>,
}

/// Equal jobs in a row.
pub(super) struct Deferred<J> {
    pub job: J,
    pub service: SimDuration,
    pub count: u32,
}

/// A computation of which `left` is still to be done.
pub(super) struct RemainingComputation {
    pub owner: u32,
    pub left: SimDuration,
    pub row: ComputedRow,
}

/// The rows of a computation.
#[derive(Clone, Copy)]
pub(super) struct ComputedRow {
    /// Duration of each of them.
    pub time: SimDuration,
    /// Work left at the end of the row in which cycles have been stolen; the row does not end earlier.
    pub stolen_ends: SimDuration,
}

impl ComputedRow {
    pub const fn of(time: SimDuration) -> Self {
        Self { time, stolen_ends: SimDuration::from_ps(u64::MAX) }
    }
}

/// The computation that has the processor.
pub(super) struct RunningComputation {
    pub owner: u32,
    pub row: ComputedRow,
    /// End of the computation unless jobs preempt it or others take turns with it.
    pub ends: SimTime,
    /// End of its time slice.
    pub slice_ends: SimTime,
}

/// Due time of the router's turn.
#[derive(Clone, Copy)]
pub(super) enum Due {
    /// Once this much of the running computation is left.
    Left(SimDuration),
    /// At a certain time.
    At(SimTime),
}

impl RunningComputation {
    /// The work that is left at `now`; `free` is when the jobs let in so far are done.
    pub fn left(&self, now: SimTime, free: SimTime) -> SimDuration {
        self.ends.since(now.max(free))
    }

    /// The work that is left at the next end of a row. Rows are counted from the end, where the last one ends.
    pub fn left_at_row_end(&self, now: SimTime, free: SimTime) -> SimDuration {
        let left = self.left(now, free);
        match (left.ps(), self.row.time.ps()) {
            (0, _) | (_, 0) => SimDuration::ZERO,
            (left, row) => SimDuration::from_ps((left - 1) / row * row).min(self.row.stolen_ends),
        }
    }
}

impl<J> Occupancy<J> {
    pub fn running(&self) -> Option<&RunningComputation> {
        self.background.as_ref()?.running.as_ref()
    }

    /// Returns whether the router has to wait for its turn.
    pub fn must_wait(&self, turns: Turns) -> bool {
        turns.router != RouterTurn::AtOnce && !self.router_has_turn && self.running().is_some()
    }

    /// Returns the number of jobs that depart as they would if they were handed over one by one: those that come
    /// before the next alarm, which every one of them may put off, and before the router's turn is over.
    pub fn foreseen(&self, arrivals: EvenInstants, service: SimDuration) -> u32 {
        let mut count = arrivals.count;
        if self.router_has_turn {
            count = count.min(arrivals.within(self.line.free(), service));
        }
        if let Some((put_off, fixed)) = self.background.as_ref().and_then(|background| background.alarms()) {
            count = count.min(arrivals.within(put_off, service)).min(arrivals.within(fixed, SimDuration::ZERO));
        }
        count.max(1)
    }
}

impl<J> Default for Computations<J> {
    fn default() -> Self {
        Self { running: None, waiting: VecDeque::new(), deferred: Vec::new(), router_due: None, alarm: None }
    }
}

impl<J> Computations<J> {
    /// Gives the processor to a computation, from `begin` on.
    pub fn give(
        &mut self,
        turns: Turns,
        begin: SimTime,
        RemainingComputation { owner, left, row }: RemainingComputation,
    ) {
        self.running = Some(RunningComputation { owner, row, ends: begin + left, slice_ends: turns.slice_end(begin) });
    }

    /// Serves what waits for the router's turn; a computation that goes on gets a new time slice.
    pub fn let_router_in(&mut self, turns: Turns, now: SimTime, line: &mut StationState, let_in: &mut Vec<(J, Runs)>) {
        let mut stolen = SimDuration::ZERO;
        for Deferred { job, service, count } in self.deferred.drain(..) {
            stolen += service * u64::from(count);
            let arrivals = EvenInstants { first: now, gap: SimDuration::ZERO, count };
            let_in.push((job, arrivals.through(line, service)));
        }
        self.router_due = None;
        if let Some(running) = &mut self.running {
            running.ends += stolen;
            running.slice_ends = turns.slice_end(line.free());
        }
    }

    /// The next alarm among those that jobs put off, and among those that they do not: the end of the
    /// computation or of its time slice if others wait for it, or the router's turn.
    pub fn alarms(&self) -> Option<(SimTime, SimTime)> {
        let running = self.running.as_ref()?;
        let slice_ends = if self.waiting.is_empty() { SimTime::END } else { running.slice_ends };
        Some(match self.router_due {
            Some(Due::Left(left)) => (running.ends.before(left), slice_ends),
            Some(Due::At(time)) => (running.ends, slice_ends.min(time)),
            None => (running.ends, slice_ends),
        })
    }

    /// Sets the alarm to whatever comes first.
    pub fn set_alarm(&mut self, calendar: &mut Calendar, entity: Entity) {
        let Some((put_off, fixed)) = self.alarms() else { return };
        let alarm = put_off.min(fixed);
        if self.alarm.replace(alarm) != Some(alarm) {
            calendar.set_alarm(alarm, entity);
        }
    }
}
