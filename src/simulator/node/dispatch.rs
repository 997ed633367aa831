//! Scheduling of a processor between communication software and computations.

use crate::engine::{AbortCheck, Calendar, Entity, EvenInstants, Runs, StationState};
use crate::node::DetourSequence;
use crate::units::{SimDuration, SimTime};
use interruptions::Interruptions;
use occupancy::{ComputedRow, Deferred, Due, Occupancy, RemainingComputation};
use serde::{Deserialize, Serialize};

mod interruptions;
mod occupancy;

/// The moment when communication software preempts a computation. It is the same for packets in transit and for the
/// node's own packets, since no source distinguishes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RouterTurn {
    /// Immediately: the router has high priority.
    #[default]
    AtOnce,
    /// At the end of the current row of the computation's loop. The router then serves all waiting jobs, and all jobs
    /// that arrive in the meantime.
    EndOfRow,
    /// At the end of the computation's time slice.
    TimeSlice,
}

/// The rules by which the computations and the router of a processor take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreemptionRules {
    /// The moment at which the router preempts a computation.
    pub router: RouterTurn,
    /// The period of the time-slice clock. A computation yields at the second tick after it got the processor, that is
    /// after one to two periods. If the period is zero, it never yields.
    pub time_slice: SimDuration,
}

/// The processors of all nodes. Each serves communication jobs in the order of arrival and computes in the background;
/// several computations on one processor take turns.
///
/// An admitted job never waits for a computation. The admitted jobs therefore form a plain FIFO station, and each of
/// them delays the end of the computation by its service time. The departure of a job is known as soon as it is
/// admitted.
///
/// Detours interrupt jobs and computations; jobs are then handed over one at a time.
pub struct Dispatcher<J> {
    turns: PreemptionRules,
    processors: Vec<Occupancy<J>>,
    first_alarm: Entity,
}

/// The response of a processor to a run of jobs.
#[derive(Clone)]
pub struct Admission {
    /// Number of jobs accepted. The rest must be offered again when the first of them arrives.
    pub count: u32,
    /// Departures of the jobs if the processor serves them; `None` if they wait for the router's turn.
    pub departures: Option<Runs>,
}

/// State of a processor before it is handed jobs, sufficient to withdraw them.
#[derive(Clone, Copy, Debug)]
pub struct DispatchCheckpoint {
    free: SimTime,
    router_has_turn: bool,
}

impl DispatchCheckpoint {
    /// Returns the checkpoint of a processor that does not compute and finishes its jobs at `free`.
    #[must_use]
    pub const fn idle(free: SimTime) -> Self {
        Self { free, router_has_turn: false }
    }

    /// Returns the time at which the processor finishes the admitted communication jobs.
    #[must_use]
    pub const fn free(&self) -> SimTime {
        self.free
    }
}

impl PreemptionRules {
    /// Returns the end of a time slice that begins at `begin`: the second tick of the clock.
    fn slice_end(self, begin: SimTime) -> SimTime {
        self.tick(begin, 2)
    }

    /// Returns the `count`th tick of the clock after `now`, or the end of time if the clock has no period.
    fn tick(self, now: SimTime, count: u64) -> SimTime {
        match now.ps().checked_div(self.time_slice.ps()) {
            Some(ticks) => SimTime::START + self.time_slice * (ticks + count),
            None => SimTime::END,
        }
    }
}

impl<J: Copy> Dispatcher<J> {
    /// Creates `count` idle processors. The alarms of their computations use the entities from `first_alarm` on.
    #[must_use]
    pub fn new(count: u32, turns: PreemptionRules, first_alarm: Entity) -> Self {
        Self { turns, processors: (0..count).map(|_| Occupancy::default()).collect(), first_alarm }
    }

    /// Lets the operating system interrupt a processor.
    pub fn interrupt(&mut self, processor: u32, detours: DetourSequence) {
        self.processors[processor as usize].interruptions = Some(Box::new(Interruptions::new(detours)));
    }

    /// Makes all processors check whether the run is to be aborted.
    pub fn abort_on(&mut self, check: &AbortCheck) {
        let interruptions = self.processors.iter_mut().filter_map(|processor| processor.interruptions.as_mut());
        interruptions.for_each(|interruptions| interruptions.abort_on(check.clone()));
    }

    /// Starts a computation of `rows` rows that take `row` each on behalf of `owner`. [`alarm`](Self::alarm) reports
    /// its end.
    pub fn compute(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        owner: u32,
        (row, rows): (SimDuration, u64),
    ) {
        let computation = RemainingComputation { owner, left: row * rows, row: ComputedRow::of(row) };
        let occupancy = &mut self.processors[processor as usize];
        occupancy.interrupt(now);
        let free = occupancy.free();
        let background = occupancy.background.get_or_insert_with(Box::default);
        match &mut background.running {
            Some(running) => {
                background.waiting.push_back(computation);
                if running.slice_ends <= now {
                    running.slice_ends = self.turns.tick(now, 1);
                }
            }
            None => background.dispatch(self.turns, now.max(free), computation),
        }
        occupancy.set_alarm(calendar, self.first_alarm + processor);
    }

    /// Hands a processor a communication job that arrives now and takes `service`. Returns the departure of the job,
    /// unless it waits for the router's turn.
    #[expect(clippy::inline_always, reason = "inlining builds the job only if it must be stored")]
    #[inline(always)]
    pub fn serve(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        (job, service): (J, SimDuration),
    ) -> Option<SimTime> {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.router_has_turn &= occupancy.line.free() >= now;
        if occupancy.running().is_some() {
            return self.serve_during_computation(calendar, now, processor, (job, service));
        }
        if occupancy.interruptions.is_some() {
            return Some(occupancy.serve_interrupted(now, service).0);
        }
        Some(occupancy.line.serve(now, service))
    }

    /// Serves a communication job on a processor that computes.
    #[cold]
    #[inline(never)]
    fn serve_during_computation(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        (job, service): (J, SimDuration),
    ) -> Option<SimTime> {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.interrupt(now);
        if occupancy.must_wait(self.turns) {
            self.defer(calendar, processor, EvenInstants::single(now), (job, service));
            return None;
        }
        let (departure, taken) = occupancy.serve_interrupted(now, service);
        self.delay_computation(calendar, processor, taken);
        Some(departure)
    }

    /// Hands a processor a run of communication jobs that take `service` each. The processor accepts as many of them as
    /// it can schedule with certainty, and treats them as if they had been handed over one by one.
    #[inline]
    pub fn serve_run(
        &mut self,
        calendar: &mut Calendar,
        processor: u32,
        arrivals: EvenInstants,
        (job, service): (J, SimDuration),
    ) -> Admission {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.router_has_turn &= occupancy.line.free() >= arrivals.first;
        if occupancy.running().is_some() || occupancy.router_has_turn {
            return self.serve_run_during_computation(calendar, processor, arrivals, (job, service));
        }
        let departures = arrivals.through(&mut occupancy.line, service);
        Admission { count: arrivals.count, departures: Some(departures) }
    }

    /// Returns the station of a processor if its communication jobs wait only for earlier ones, that is if the
    /// processor does not compute and no turn of its router can end.
    #[inline]
    pub fn idle_station(&mut self, processor: u32) -> Option<&mut StationState> {
        let occupancy = &mut self.processors[processor as usize];
        (!occupancy.router_has_turn && occupancy.running().is_none()).then_some(&mut occupancy.line)
    }

    /// Serves a run of communication jobs on a processor that computes or whose router has its turn.
    #[inline(never)]
    fn serve_run_during_computation(
        &mut self,
        calendar: &mut Calendar,
        processor: u32,
        arrivals: EvenInstants,
        (job, service): (J, SimDuration),
    ) -> Admission {
        let occupancy = &mut self.processors[processor as usize];
        if occupancy.must_wait(self.turns) {
            let count = self.defer(calendar, processor, arrivals, (job, service));
            return Admission { count, departures: None };
        }
        let count = occupancy.predictable(arrivals, service);
        let departures = arrivals.head(count).through(&mut occupancy.line, service);
        self.delay_computation(calendar, processor, service * u64::from(count));
        Admission { count, departures: Some(departures) }
    }

    /// Steals memory cycles from the computation that runs on a processor, if any. Its current row and the computation
    /// end later.
    pub fn steal(&mut self, calendar: &mut Calendar, now: SimTime, processor: u32, span: SimDuration) {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.interrupt(now);
        let free = occupancy.free();
        if let Some(running) = occupancy.background.as_mut().and_then(|background| background.running.as_mut()) {
            running.row.stolen_ends = running.left_at_row_end(now, free);
        }
        self.delay_computation(calendar, processor, span);
    }

    /// Handles the alarm of a processor: a computation or its time slice ends, or the router's turn begins, unless detours
    /// have put it off.
    ///
    /// Returns the owner of the computation that has ended, if any. Jobs that are admitted are appended to `let_in`
    /// with their departures.
    pub fn alarm(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        processor: u32,
        let_in: &mut Vec<(J, Runs)>,
    ) -> Option<u32> {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.interrupt(now);
        let free = occupancy.free();
        let background = occupancy.background.as_mut()?;
        background.alarm = None;
        if background.alarms().is_some_and(|(put_off, fixed)| put_off.min(fixed) > now) {
            // Detours have put off the cause of the alarm.
            occupancy.set_alarm(calendar, self.first_alarm + processor);
            return None;
        }
        let ended = background.running.take_if(|running| running.ends <= now);
        let is_awaited = !background.waiting.is_empty();
        let gives_way = background.running.take_if(|running| running.slice_ends <= now && is_awaited);
        if let Some(running) = gives_way {
            let left = running.left(now, free);
            background.waiting.push_back(RemainingComputation { owner: running.owner, left, row: running.row });
        }
        occupancy.serve_deferred(self.turns, now, let_in);
        occupancy.dispatch_next(self.turns, now);
        occupancy.set_alarm(calendar, self.first_alarm + processor);
        ended.map(|running| running.owner)
    }

    /// Returns the time for which a processor has served communication jobs up to `now`.
    #[must_use]
    pub fn served(&self, processor: u32, now: SimTime) -> SimDuration {
        self.processors[processor as usize].line.served(now)
    }

    /// Returns the time at which a processor finishes the admitted communication jobs.
    #[must_use]
    pub fn free(&self, processor: u32) -> SimTime {
        self.processors[processor as usize].line.free()
    }

    /// Returns whether communication jobs may have to wait for a computation on a processor.
    #[must_use]
    pub fn defers(&self, processor: u32) -> bool {
        self.turns.router != RouterTurn::AtOnce && !self.is_calm(processor)
    }

    /// Returns whether a processor does not compute.
    #[must_use]
    pub fn is_calm(&self, processor: u32) -> bool {
        self.processors[processor as usize].running().is_none()
    }

    /// Returns whether a processor serves communication jobs after `now` or has deferred ones.
    #[must_use]
    pub fn is_busy(&self, processor: u32, now: SimTime) -> bool {
        let occupancy = &self.processors[processor as usize];
        let defers = occupancy.background.as_ref().is_some_and(|background| !background.deferred.is_empty());
        occupancy.line.free() > now || defers
    }

    /// Returns the checkpoint of a processor.
    #[must_use]
    pub fn checkpoint(&self, processor: u32) -> DispatchCheckpoint {
        let occupancy = &self.processors[processor as usize];
        DispatchCheckpoint { free: occupancy.line.free(), router_has_turn: occupancy.router_has_turn }
    }

    /// Withdraws all but the first `kept` of the jobs handed over last, which the processor serves, because they do not
    /// arrive after all. Returns the departures of the remaining ones.
    pub fn withdraw(
        &mut self,
        calendar: &mut Calendar,
        processor: u32,
        before: DispatchCheckpoint,
        (arrivals, kept): (EvenInstants, u32),
        service: SimDuration,
    ) -> Option<Runs> {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.line.revoke(before.free, service * u64::from(arrivals.count));
        occupancy.router_has_turn = before.router_has_turn;
        if let Some(background) = occupancy.background.as_mut()
            && let Some(running) = &mut background.running
        {
            running.ends = running.ends.before(service * u64::from(arrivals.count - kept));
        }
        occupancy.set_alarm(calendar, self.first_alarm + processor);
        let kept = (kept > 0).then(|| arrivals.head(kept))?;
        occupancy.router_has_turn &= before.free >= kept.first;
        Some(kept.through(&mut occupancy.line, service))
    }

    /// Withdraws all but the first `kept` (at least one) of the jobs handed over last, which wait for the router's
    /// turn.
    ///
    /// # Panics
    /// If no jobs wait.
    pub fn withdraw_deferred(&mut self, processor: u32, kept: u32) {
        let background = self.processors[processor as usize].background.as_mut();
        let last = background.and_then(|background| background.deferred.last_mut());
        last.expect("deferred jobs are waiting").count = kept;
    }

    /// Delays the end of the running computation, if any, by `span`.
    fn delay_computation(&mut self, calendar: &mut Calendar, processor: u32, span: SimDuration) {
        let occupancy = &mut self.processors[processor as usize];
        occupancy.delay_computation(span);
        occupancy.set_alarm(calendar, self.first_alarm + processor);
    }

    /// Defers the jobs that arrive before the next alarm, and at least the first, until the router's turn. Returns
    /// their number.
    fn defer(
        &mut self,
        calendar: &mut Calendar,
        processor: u32,
        arrivals: EvenInstants,
        (job, service): (J, SimDuration),
    ) -> u32 {
        let now = arrivals.first;
        let occupancy = &mut self.processors[processor as usize];
        let free = occupancy.free();
        let background = occupancy.background.as_mut().expect("jobs wait for a computation");
        if let Some(running) = background.running.as_mut().filter(|_| background.router_due.is_none()) {
            if running.slice_ends <= now {
                running.slice_ends = self.turns.tick(now, 1);
            }
            background.router_due = Some(match self.turns.router {
                RouterTurn::TimeSlice => Due::At(running.slice_ends),
                RouterTurn::EndOfRow | RouterTurn::AtOnce => Due::Left(running.left_at_row_end(now, free)),
            });
        }
        occupancy.set_alarm(calendar, self.first_alarm + processor);
        let background = occupancy.background.as_mut().expect("jobs wait for a computation");
        let count = background.alarm.map_or(1, |alarm| arrivals.count_within(alarm, SimDuration::ZERO).max(1));
        background.deferred.push(Deferred { job, service, count });
        count
    }
}

#[cfg(test)]
mod tests;
