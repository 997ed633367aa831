//! The accounts of a run, the reports to its observer, and its final trace.

use super::Execution;
use crate::program::{Operation, Program, Verb};
use crate::simulation::SimulationError;
use crate::simulation::background::Background;
use crate::simulation::matching::Match;
use crate::simulation::observer::{Observer, Occurrence};
use crate::trace::{Activity, Counts, Delivery, LinkLoad, LogDetail, LogEntry, Phase, Trace, last_rank};
use crate::units::{SimDuration, SimTime};

impl<O: Observer> Execution<'_, O> {
    /// Enables the observation of transfers over links. Must be called before the run starts.
    pub fn record_transfers(&mut self) {
        self.transport.record_transfers();
    }

    /// Reports the packets that links have carried.
    pub(super) fn observe_transfers(&mut self) {
        let Some(transfers) = self.transport.transfers() else { return };
        if !transfers.finalised().is_empty() {
            self.observer.on(&Occurrence::Transferred(transfers.finalised()));
            transfers.drop_finalised();
        }
    }

    /// Records the communication work of processors and interfaces. Must be called before the run starts.
    pub fn keep_log(&mut self) {
        self.transport.keep_log();
    }

    /// Reports the work of processors and interfaces for the communication that has been admitted since the last report.
    pub(super) fn observe_communication(&mut self) {
        let Some(log) = self.transport.log() else { return };
        if !log.is_empty() {
            self.observer.on(&Occurrence::Communicated(log));
            log.clear();
        }
    }

    /// Reports a request of `rank`.
    pub(super) fn observe_request(&mut self, rank: u32, verb: &Verb) {
        let awaited = match verb {
            Verb::Wait(operation) => self.matching.find(rank, *operation).map(|record| record.kind),
            _ => None,
        };
        let phase = self.phase(rank);
        self.observer.on(&Occurrence::Requested { rank, phase, verb, awaited });
    }

    /// Returns the delivery record of a message whose last byte has arrived, and the time at which its receiver has it.
    pub(super) fn delivery(&mut self, now: SimTime, handle: u32) -> (SimTime, Delivery) {
        let (receiver, cpu) = self.matching.receiver(handle);
        let at = self.end_of_work_on(now, receiver, cpu);
        (at, self.matching.delivery(handle, at))
    }

    /// Reports that a message, or its announcement, has been matched with a receive.
    pub(super) fn report_match(&mut self, now: SimTime, found: &Match, is_there: bool) {
        if O::OBSERVES {
            let rank = self.matching.rank(found.operation);
            self.observer.on(&Occurrence::Matched { now, rank, found, is_there });
        }
    }

    /// Reports that `rank` need not wait, because its operation is already complete.
    pub(super) fn report_already_complete(
        &mut self,
        now: SimTime,
        rank: u32,
        operation: Operation,
        activity: Activity,
    ) {
        if O::OBSERVES {
            self.observer.on(&Occurrence::JoinedAtOnce { now, rank, operation });
            self.observe_time(now, rank, activity, (SimDuration::ZERO, SimDuration::ZERO), now);
        }
    }

    /// Reports the activity of `rank` from `begin` to `now`.
    fn observe_time(
        &mut self,
        now: SimTime,
        rank: u32,
        activity: Activity,
        (system, ready): (SimDuration, SimDuration),
        begin: SimTime,
    ) {
        let (phase, processor) = (self.phase(rank), self.transport.processor(self.layout.location(rank)));
        let (doing, end) = (LogDetail::Else, now);
        let entry = LogEntry { rank, processor, phase, activity, doing, begin, end, system, ready };
        self.observer.on(&Occurrence::ActivityEnded(entry));
    }

    pub(super) fn phase(&self, rank: u32) -> Phase {
        self.context.phases.name(self.ranks[rank as usize].phase)
    }

    /// Completes the accounts of `rank` up to `now`: the communication work of its processor is system time, the time
    /// in which its processor computed for another rank is ready time, and the rest belongs to the current activity.
    pub(super) fn account(&mut self, now: SimTime, rank: u32) {
        let system = self.transport.system_time(self.layout.location(rank), now);
        let state = &self.ranks[rank as usize];
        let stolen = system - state.system_before;
        let rest = now.since(state.since) - stolen;
        let ready = self.ready_time(rank, rest);
        let (state, rest) = (&mut self.ranks[rank as usize], rest - ready);
        let (index, phases) = (state.phase as usize, &self.context.phases);
        if stolen + rest + ready > SimDuration::ZERO {
            if index >= self.places.len() {
                self.places.resize(index + 1, None);
            }
            let place = *self.places[index].get_or_insert_with(|| self.accounts.place(phases.name(state.phase)));
            self.accounts.add_at(rank, place, Activity::System, stolen);
            self.accounts.add_at(rank, place, state.activity, rest);
            if ready > SimDuration::ZERO {
                self.accounts.add_at(rank, place, Activity::Ready, ready);
            }
        }
        let (activity, since) = (state.activity, std::mem::replace(&mut state.since, now));
        state.system_before = system;
        if let Some(overlap) = &mut self.overlap {
            let own = if activity.hides_communication() { rest } else { SimDuration::ZERO };
            overlap.account(now, rank, own, stolen);
        }
        if O::OBSERVES {
            self.observe_time(now, rank, activity, (stolen, ready), since);
        }
    }

    /// Records that a computation of `rank` has started, which needs `time` on the processor.
    pub(super) fn begin_computing(&mut self, rank: u32, time: SimDuration) {
        self.observer.on(&Occurrence::Computes { rank, time });
        if let Some(remaining_work) = &mut self.remaining_work {
            remaining_work.insert(rank, time);
        }
    }

    /// Forgets the computation of `rank`, unless it was issued and continues while the process runs.
    pub(super) fn forget_computed(&mut self, rank: u32) {
        if let Some(remaining_work) = &mut self.remaining_work
            && !self.notices.computes(rank)
        {
            remaining_work.remove(&rank);
        }
    }

    /// Returns the part of this span in which `rank` could have computed while its processor computed for other ranks.
    fn ready_time(&mut self, rank: u32, span: SimDuration) -> SimDuration {
        let of_rank = self.remaining_work.as_mut().and_then(|remaining_work| remaining_work.get_mut(&rank));
        let Some(remaining) = of_rank else { return SimDuration::ZERO };
        let computed = span.min(*remaining);
        *remaining -= computed;
        span - computed
    }

    /// Returns the trace, or an error if processes of the program still wait.
    pub fn close(mut self, program: &dyn Program) -> Result<Trace, SimulationError> {
        // This comes first, because link loads are read at the finish time, which requires a finished rank.
        if self.finished < self.layout.ranks() {
            return Err(self.standstill(program));
        }
        let (links, counts) = self.traffic();
        self.close_with(links, counts)
    }

    /// Returns the trace with the counts and link loads of another run of the same program.
    pub fn close_with_counts_of(self, mut other: Execution<'_, ()>) -> Result<Trace, SimulationError> {
        let (links, counts) = other.traffic();
        self.close_with(links, counts)
    }

    fn traffic(&mut self) -> (Vec<LinkLoad>, Counts) {
        let (links, mut counts) = (self.transport.take_link_loads(self.last_finish), self.transport.counts());
        counts.messages -= self.background.as_ref().map_or(0, |background| background.counts().messages);
        if self.machine.network.routing.is_indirect() && counts.packet_hops > 0 {
            // The length of an indirect route is known only after the packet has taken it.
            counts.packet_hops = links.iter().map(|link| link.packets).sum();
        }
        (links, counts)
    }

    fn close_with(mut self, links: Vec<LinkLoad>, counts: Counts) -> Result<Trace, SimulationError> {
        let end = self.last_finish;
        self.observe_communication();
        for rank in 0..self.layout.ranks() {
            self.account(end, rank);
        }
        let makespan = end.since(SimTime::START);
        self.transport.finish_transfers(end);
        self.observe_transfers();
        let last = last_rank(&self.accounts, self.context.host);
        let with_host = self.accounts.rank(last).get(Activity::InputOutput);
        let written = self.writes.get(&last).map_or(SimDuration::ZERO, |times| times.until(with_host));
        let mut outcomes = self.context.outcomes.take();
        outcomes.extend(self.overlap.iter().flat_map(|overlap| overlap.outcomes(&self.accounts)));
        let mut trace = Trace {
            makespan,
            host: self.context.host,
            accounts: self.accounts,
            written,
            links,
            counts,
            background: self.background.as_ref().map(Background::counts),
            outcomes,
            critical_intervals: self.context.critical_intervals.take(),
            sources: Vec::new(),
            deliveries: Vec::new(),
            activity_log: None,
            requests: None,
        };
        self.observer.end(&mut trace)?;
        Ok(trace)
    }
}
