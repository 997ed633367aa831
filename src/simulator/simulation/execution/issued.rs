//! Operations that processes issue without waiting for them, and the notices about these operations.

use super::{Execution, WaitState, fault};
use crate::machine::{IssueOrder, IssueResources, MessageTransport, OutgoingMessage};
use crate::node::processor::Computation;
use crate::program::{Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Reply};
use crate::simulation::SimulationError;
use crate::simulation::matching::{OperationKind, OperationState};
use crate::simulation::observer::{Observer, Occurrence};
use crate::trace::Activity;
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The notices about issued operations of all ranks.
#[derive(Default)]
pub struct NoticeBoard {
    /// The issuers by rank; empty until the first operation is issued.
    ranks: Vec<Issuer>,
    /// The notices caused by the current event, for now or for later.
    pending: Vec<PendingNotice>,
}

#[derive(Clone, Default)]
struct Issuer {
    /// The notices that the process has not received yet.
    notices: Vec<Notice>,
    /// Issued computations in progress.
    computing: u32,
    /// Issued computations that wait for a processor of a node with interfaces.
    waiting: u32,
    /// Issued sends that have not ended.
    sending: u32,
    /// Issued receives that have not ended.
    receiving: u32,
    /// Issued computations that share the processor of a node without interfaces. The first one occupies it.
    computations: VecDeque<(Operation, SimDuration)>,
}

#[derive(Clone, Copy)]
struct PendingNotice {
    rank: u32,
    at: SimTime,
    notice: Notice,
}

impl NoticeBoard {
    /// Returns whether any operation has been issued.
    pub const fn is_in_use(&self) -> bool {
        !self.ranks.is_empty()
    }

    /// Returns whether an issued computation of `rank` is in progress.
    pub fn computes(&self, rank: u32) -> bool {
        self.ranks.get(rank as usize).is_some_and(|issuer| issuer.computing > 0)
    }

    fn issuer(&mut self, rank: u32) -> &mut Issuer {
        &mut self.ranks[rank as usize]
    }
}

impl Issuer {
    /// Returns the activity of the process while it waits for notices.
    const fn activity(&self) -> Activity {
        match (self.computing, self.sending, self.receiving) {
            (0, 1.., 0) => Activity::Sending,
            (0, ..) => Activity::Blocked,
            _ => Activity::Computing,
        }
    }

    /// Returns the counter of pending operations of a kind, for sends and receives.
    const fn under_way(&mut self, kind: OperationKind) -> Option<&mut u32> {
        match kind {
            OperationKind::Send { .. } => Some(&mut self.sending),
            OperationKind::Receive(_) => Some(&mut self.receiving),
            OperationKind::Computation | OperationKind::Move { .. } => None,
        }
    }
}

impl<O: Observer> Execution<'_, O> {
    /// Issues an operation, which begins as soon as its processor and its interface are free.
    pub(super) fn issue(&mut self, now: SimTime, rank: u32, issue: Issue) -> Result<Operation, SimulationError> {
        if !self.notices.is_in_use() {
            self.notices.ranks = vec![Issuer::default(); self.layout.ranks() as usize];
        }
        let Issue { work, resources, turn, .. } = issue;
        let turn = turn.of(work.precedence());
        let operation = match work {
            IssuedWork::Compute(time) => self.issue_computation(now, rank, time, (resources, turn))?,
            IssuedWork::Send(to, message) => self.issue_send(now, rank, (to, message), (resources, turn))?,
            IssuedWork::Receive(pattern) => self.issue_receive(now, rank, pattern, (resources, turn)),
        };
        let kind = self.matching.record(operation).kind;
        if let Some(count) = self.notices.issuer(rank).under_way(kind) {
            *count += 1;
        }
        Ok(operation)
    }

    fn issue_computation(
        &mut self,
        now: SimTime,
        rank: u32,
        time: SimDuration,
        (resources, turn): (IssueResources, IssueOrder),
    ) -> Result<Operation, SimulationError> {
        let operation = self.matching.begin_computation(rank, resources);
        self.observer.on(&Occurrence::Begun { rank, operation });
        let Some(interfaces) = self.transport.message_transport() else {
            let waiting = &mut self.notices.issuer(rank).computations;
            waiting.push_back((operation, time));
            return if waiting.len() == 1 { self.compute_first(now, rank).map(|()| operation) } else { Ok(operation) };
        };
        let location = self.layout.location(rank);
        self.notices.ranks[rank as usize].waiting += 1;
        let begun = interfaces.issue_computation(now, (location, rank), (operation.place, time), (resources.cpu, turn));
        begun.map(|()| operation).map_err(|error| fault(rank, format!("cannot compute: {error}")))
    }

    /// Starts the first of the computations that share a processor.
    fn compute_first(&mut self, now: SimTime, rank: u32) -> Result<(), SimulationError> {
        let Some((operation, time)) = self.notices.issuer(rank).computations.front().copied() else { return Ok(()) };
        let begun = self.transport.compute(now, self.layout.location(rank), rank, Computation::Time(time));
        let time = begun.map_err(|error| fault(rank, format!("cannot compute: {error}")))?;
        self.begin_computing(rank, time);
        self.notices.issuer(rank).computing = 1;
        self.queue_notice(rank, now, operation, false);
        Ok(())
    }

    /// Handles the end of a computation on a node without interfaces. Returns whether the computation was issued.
    pub(super) fn computed(&mut self, now: SimTime, rank: u32) -> Result<bool, SimulationError> {
        let Some((operation, _)) = self.notices.issuer(rank).computations.pop_front() else { return Ok(false) };
        self.queue_notice(rank, now, operation, true);
        self.account(now, rank);
        self.notices.issuer(rank).computing = 0;
        self.forget_computed(rank);
        self.compute_first(now, rank)?;
        Ok(true)
    }

    fn issue_send(
        &mut self,
        now: SimTime,
        rank: u32,
        (to, message): (u32, Message),
        (resources, turn): (IssueResources, IssueOrder),
    ) -> Result<Operation, SimulationError> {
        let Message { bytes, again, .. } = message;
        self.check_send(rank, to, bytes)?;
        let (operation, handle) = self.matching.prepare_send(now, (rank, to), message, Some(resources));
        let sent = OutgoingMessage { bytes, again, handle, cause: self.observer.last_event(rank) };
        self.observer.on(&Occurrence::Posted { rank, operation, handle, bytes });
        let locations = (self.layout.location(rank), self.layout.location(to));
        if let Some(interfaces) = self.transport.message_transport() {
            interfaces.issue_send(now, locations, sent, (resources, turn));
        } else {
            let begun = self.matching.begin_send(handle);
            self.queue_notice(rank, now, begun, false);
            self.transport.send(now, locations, sent);
        }
        self.count_program_operation();
        Ok(operation)
    }

    fn issue_receive(
        &mut self,
        now: SimTime,
        rank: u32,
        pattern: MessagePattern,
        (resources, turn): (IssueResources, IssueOrder),
    ) -> Operation {
        let operation = self.matching.prepare_receive(rank, pattern, Some(resources));
        self.observer.on(&Occurrence::Begun { rank, operation });
        let location = self.layout.location(rank);
        match self.transport.message_transport() {
            Some(interfaces) => interfaces.issue_receive(now, location, operation.place, (resources, turn)),
            None => self.post(now, operation),
        }
        operation
    }

    /// Posts an issued receive.
    fn post(&mut self, now: SimTime, operation: Operation) {
        let rank = self.matching.rank(operation);
        self.queue_notice(rank, now, operation, false);
        if let Some(found) = self.matching.post_receive(operation)
            && self.accept(now, &found)
        {
            self.has_ended(now, operation);
        }
    }

    /// Handles the beginning of an issued send.
    pub(super) fn has_begun(&mut self, now: SimTime, operation: Operation) {
        let rank = self.matching.rank(operation);
        self.queue_notice(rank, now, operation, false);
    }

    /// Handles the beginning of an issued computation, which ends at `end`.
    pub(super) fn computes(&mut self, now: SimTime, operation: Operation, end: SimTime) {
        let rank = self.matching.rank(operation);
        self.queue_notice(rank, now, operation, false);
        self.queue_notice(rank, end, operation, true);
    }

    /// Ends an issued send or receive once its processor has handled it.
    pub(super) fn has_ended(&mut self, now: SimTime, operation: Operation) {
        let (rank, at) = (self.matching.rank(operation), self.end_of(now, operation));
        self.queue_notice(rank, at, operation, true);
    }

    /// Returns the time until which the processor of a complete operation handles it.
    pub(super) fn end_of(&mut self, now: SimTime, operation: Operation) -> SimTime {
        let (rank, cpu) = (self.matching.rank(operation), self.matching.cpu(operation));
        self.end_of_work_on(now, rank, cpu)
    }

    /// Returns the time until which a processor of a rank handles messages.
    pub(super) fn end_of_work_on(&self, now: SimTime, rank: u32, cpu: u8) -> SimTime {
        self.transport.busy_until(now, self.layout.location(rank), cpu).unwrap_or(now)
    }

    /// Handles the time that was set for an issued operation: posts a receive, or ends an operation.
    pub(super) fn due(&mut self, now: SimTime, operation: Operation, turn: IssueOrder) {
        if matches!(self.matching.record(operation).state, OperationState::Prepared) {
            return self.post(now, operation);
        }
        let (rank, leaves) = (self.matching.rank(operation), Some(self.matching.cpu(operation)));
        let notice = Notice { operation, is_end: true, turn: IssueOrder { leaves, ..turn } };
        self.notices.pending.push(PendingNotice { rank, at: now, notice });
    }

    fn queue_notice(&mut self, rank: u32, at: SimTime, operation: Operation, is_end: bool) {
        let notice = Notice { operation, is_end, turn: IssueOrder::default() };
        self.notices.pending.push(PendingNotice { rank, at, notice });
    }

    /// Notifies processes about the operations they have issued, in rank order. Returns whether there was any notice.
    pub(super) fn deliver_notices(&mut self, now: SimTime) -> Result<bool, SimulationError> {
        let mut notices = std::mem::take(&mut self.notices.pending);
        notices.sort_by_key(|notice| notice.rank);
        let any = !notices.is_empty();
        for of_rank in notices.chunk_by(|previous, next| previous.rank == next.rank) {
            self.deliver_notices_to(now, of_rank)?;
        }
        Ok(any)
    }

    /// Delivers the current notices to a process, and schedules the later ones.
    fn deliver_notices_to(&mut self, now: SimTime, pending: &[PendingNotice]) -> Result<(), SimulationError> {
        let Some(PendingNotice { rank, .. }) = pending.first().copied() else { return Ok(()) };
        let is_now = |notice: &&PendingNotice| notice.at <= now;
        let new = self.transport.message_transport().map(MessageTransport::next_turn).unwrap_or_default();
        let turn_of = |notice: Notice| match notice.turn {
            IssueOrder { order: 0, .. } if notice.is_end => new.of_end(),
            IssueOrder { order: 0, .. } => new,
            known => known,
        };
        for PendingNotice { notice, .. } in pending.iter().filter(is_now) {
            self.store_notice(now, rank, Notice { turn: turn_of(*notice), ..*notice });
        }
        if matches!(self.ranks[rank as usize].waits, WaitState::ForNotices) {
            let notices = std::mem::take(&mut self.notices.issuer(rank).notices);
            if !notices.is_empty() {
                self.run(now, rank, Some(Reply::Noticed(notices)))?;
            }
        }
        for PendingNotice { at, notice, .. } in pending.iter().filter(|notice| !is_now(notice)) {
            let interfaces = self.transport.message_transport().expect("only interfaces foresee what happens");
            interfaces.schedule_due(*at, notice.operation.place, turn_of(*notice));
        }
        Ok(())
    }

    /// Stores a notice for a process. An operation that has ended is released.
    fn store_notice(&mut self, now: SimTime, rank: u32, notice: Notice) {
        let Notice { operation, is_end, .. } = notice;
        self.observer.on(&Occurrence::Notified { now, rank, operation, is_end });
        let kind = self.matching.record(operation).kind;
        let issuer = self.notices.issuer(rank);
        match (kind, is_end) {
            (OperationKind::Computation, _) if self.transport.has_interfaces() => {
                issuer.computing = if is_end { issuer.computing - 1 } else { issuer.computing + 1 };
                issuer.waiting -= u32::from(!is_end);
            }
            (_, true) => {
                if let Some(count) = issuer.under_way(kind) {
                    *count -= 1;
                }
            }
            _ => {}
        }
        if is_end {
            self.matching.end(operation);
        }
        self.notices.issuer(rank).notices.push(notice);
    }

    /// Waits for a notice about an issued operation. Returns the pending notices, if there are any.
    pub(super) fn wait_for_notices(&mut self, rank: u32) -> Result<Option<Reply>, SimulationError> {
        if !self.notices.is_in_use() {
            return Err(fault(rank, "waits for notices of operations, but none has been issued".to_owned()));
        }
        let issuer = self.notices.issuer(rank);
        if !issuer.notices.is_empty() {
            return Ok(Some(Reply::Noticed(std::mem::take(&mut issuer.notices))));
        }
        let (activity, could_compute) = (issuer.activity(), issuer.waiting > 0 && issuer.computing == 0);
        let is_ready = could_compute && self.remaining_work.is_some();
        self.wait(rank, WaitState::ForNotices, if is_ready { Activity::Ready } else { activity });
        Ok(None)
    }
}
