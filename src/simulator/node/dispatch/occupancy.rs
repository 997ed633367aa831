//! Load of one processor: the admitted communication jobs, and the computations in the background.

use super::interruptions::Interruptions;
use super::{PreemptionRules, RouterTurn};
use crate::engine::{Calendar, Entity, EvenInstants, Runs, StationState};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The load of a processor.
pub(super) struct Occupancy<J> {
    /// The admitted communication jobs.
    pub line: StationState,
    /// `true` during the router's turn, which lasts while `line` is busy.
    pub router_has_turn: bool,
    /// The computations; `None` until the first one, because most nodes of a large machine have none.
    pub background: Option<Box<Computations<J>>>,
    /// The detours of the processor; `None` if there are none.
    pub interruptions: Option<Box<Interruptions>>,
}

/// The computations of a processor, and the jobs that wait for them.
pub(super) struct Computations<J> {
    pub running: Option<RunningComputation>,
    /// Computations that wait for their time slice.
    pub waiting: VecDeque<RemainingComputation>,
    /// Jobs that wait for the router's turn.
    pub deferred: Vec<Deferred<J>>,
    pub router_due: Option<Due>,
    /// Time of the pending alarm.
    pub alarm: Option<SimTime>,
}

/// A run of equal jobs that wait for the router's turn.
pub(super) struct Deferred<J> {
    pub job: J,
    pub service: SimDuration,
    pub count: u32,
}

/// A computation of which `left` remains.
pub(super) struct RemainingComputation {
    pub owner: u32,
    pub left: SimDuration,
    pub row: ComputedRow,
}

/// The rows of a computation.
#[derive(Clone, Copy)]
pub(super) struct ComputedRow {
    /// Duration of a row.
    pub time: SimDuration,
    /// Work that remains at the end of the row in which cycles have been stolen; the row does not end earlier.
    pub stolen_ends: SimDuration,
}

impl ComputedRow {
    pub const fn of(time: SimDuration) -> Self {
        Self { time, stolen_ends: SimDuration::from_ps(u64::MAX) }
    }
}

/// The computation that occupies the processor.
pub(super) struct RunningComputation {
    pub owner: u32,
    pub row: ComputedRow,
    /// End of the computation if no jobs preempt it and no other computations take turns with it.
    pub ends: SimTime,
    /// End of its time slice.
    pub slice_ends: SimTime,
}

/// The moment when the router's turn begins.
#[derive(Clone, Copy)]
pub(super) enum Due {
    /// The moment at which this much of the running computation remains.
    Left(SimDuration),
    /// At a certain time.
    At(SimTime),
}

impl RunningComputation {
    /// Returns the work that remains at `now`, where the admitted jobs are done at `free`.
    pub fn left(&self, now: SimTime, free: SimTime) -> SimDuration {
        self.ends.since(now.max(free))
    }

    /// Returns the work that remains at the end of the current row. Rows are counted from the end of the computation.
    pub fn left_at_row_end(&self, now: SimTime, free: SimTime) -> SimDuration {
        let left = self.left(now, free);
        match (left.ps(), self.row.time.ps()) {
            (0, _) | (_, 0) => SimDuration::ZERO,
            (left, row) => SimDuration::from_ps((left - 1) / row * row).min(self.row.stolen_ends),
        }
    }
}

impl<J> Default for Occupancy<J> {
    fn default() -> Self {
        Self { line: StationState::default(), router_has_turn: false, background: None, interruptions: None }
    }
}

impl<J> Occupancy<J> {
    pub fn running(&self) -> Option<&RunningComputation> {
        self.background.as_ref()?.running.as_ref()
    }

    /// Returns whether communication jobs must wait for the router's turn.
    pub fn must_wait(&self, turns: PreemptionRules) -> bool {
        turns.router != RouterTurn::AtOnce && !self.router_has_turn && self.running().is_some()
    }

    /// Returns the time from which the processor is free of the admitted jobs, and of the detours that have begun.
    pub fn free(&self) -> SimTime {
        self.interruptions.as_ref().map_or(self.line.free(), |detours| self.line.free().max(detours.until()))
    }

    /// Passes the detours that have begun by `now`. They interrupt the running computation, unless it has ended.
    pub fn interrupt(&mut self, now: SimTime) {
        let Some(detours) = &mut self.interruptions else { return };
        let running = self.background.as_mut().and_then(|background| background.running.as_mut());
        match running {
            Some(running) => running.ends += detours.pass(now, running.ends),
            None => _ = detours.pass(now, SimTime::END),
        }
    }

    /// Serves a communication job. Returns its departure, and the time from its beginning until then, with the detours
    /// in between.
    pub fn serve_interrupted(&mut self, now: SimTime, service: SimDuration) -> (SimTime, SimDuration) {
        let Some(detours) = &mut self.interruptions else { return (self.line.serve(now, service), service) };
        let requested = now.max(self.line.free());
        let (begin, departure) = detours.serve(requested, service);
        self.line.pass(departure, departure.since(requested));
        (departure, departure.since(begin))
    }

    /// Delays the end of the running computation, if any, by `span`.
    pub fn delay_computation(&mut self, span: SimDuration) {
        if let Some(running) = self.background.as_mut().and_then(|background| background.running.as_mut()) {
            running.ends += span;
        }
    }

    /// Serves the deferred jobs; the running computation, if any, gets a new time slice.
    pub fn serve_deferred(&mut self, turns: PreemptionRules, now: SimTime, let_in: &mut Vec<(J, Runs)>) {
        let Some(background) = self.background.as_mut().filter(|background| !background.deferred.is_empty()) else {
            return;
        };
        self.router_has_turn = background.running.is_some();
        background.router_due = None;
        for Deferred { job, service, count } in std::mem::take(&mut background.deferred) {
            let (departures, taken) =
                self.serve_all(EvenInstants { first: now, gap: SimDuration::ZERO, count }, service);
            self.delay_computation(taken);
            let_in.push((job, departures));
        }
        let free = self.line.free();
        if let Some(running) = self.background.as_mut().and_then(|background| background.running.as_mut()) {
            running.slice_ends = turns.slice_end(free);
        }
    }

    /// Serves a run of jobs. Returns their departures, and the time that they take.
    fn serve_all(&mut self, arrivals: EvenInstants, service: SimDuration) -> (Runs, SimDuration) {
        if self.interruptions.is_none() {
            return (arrivals.through(&mut self.line, service), service * u64::from(arrivals.count));
        }
        debug_assert_eq!(arrivals.count, 1, "jobs that detours may interrupt come one at a time");
        let (departure, taken) = self.serve_interrupted(arrivals.first, service);
        (Runs::One(EvenInstants::single(departure)), taken)
    }

    /// Gives the processor to the computation that has waited longest, if it is free of computations.
    pub fn dispatch_next(&mut self, turns: PreemptionRules, now: SimTime) {
        let free = self.free();
        let Some(background) = self.background.as_mut() else { return };
        if let Some(next) = background.waiting.pop_front_if(|_| background.running.is_none()) {
            background.dispatch(turns, now.max(free), next);
        }
    }

    /// Sets the alarm to the earliest of its causes, which detours may still put off.
    pub fn set_alarm(&mut self, calendar: &mut Calendar, entity: Entity) {
        if let Some(background) = &mut self.background {
            background.set_alarm(calendar, entity);
        }
    }

    /// Returns the number of jobs, at least one, that depart as if they were handed over one by one: those that arrive
    /// before the next alarm, which each of them may delay, and before the end of the router's turn.
    pub fn predictable(&self, arrivals: EvenInstants, service: SimDuration) -> u32 {
        let mut count = arrivals.count;
        if self.router_has_turn {
            count = count.min(arrivals.count_within(self.line.free(), service));
        }
        if let Some((put_off, fixed)) = self.background.as_ref().and_then(|background| background.alarms()) {
            count =
                count.min(arrivals.count_within(put_off, service)).min(arrivals.count_within(fixed, SimDuration::ZERO));
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
    /// Gives the processor to a computation from `begin` on.
    pub fn dispatch(
        &mut self,
        turns: PreemptionRules,
        begin: SimTime,
        RemainingComputation { owner, left, row }: RemainingComputation,
    ) {
        self.running = Some(RunningComputation { owner, row, ends: begin + left, slice_ends: turns.slice_end(begin) });
    }

    /// Returns the earliest alarm that jobs delay and the earliest alarm that they do not delay. The alarms are the end
    /// of the computation, the end of its time slice if others wait for it, and the router's turn.
    pub fn alarms(&self) -> Option<(SimTime, SimTime)> {
        let running = self.running.as_ref()?;
        let slice_ends = if self.waiting.is_empty() { SimTime::END } else { running.slice_ends };
        Some(match self.router_due {
            Some(Due::Left(left)) => (running.ends.before(left), slice_ends),
            Some(Due::At(time)) => (running.ends, slice_ends.min(time)),
            None => (running.ends, slice_ends),
        })
    }

    /// Sets the alarm to the earliest of its causes.
    fn set_alarm(&mut self, calendar: &mut Calendar, entity: Entity) {
        let Some((put_off, fixed)) = self.alarms() else { return };
        let alarm = put_off.min(fixed);
        if self.alarm.replace(alarm) != Some(alarm) {
            calendar.set_alarm(alarm, entity);
        }
    }
}
