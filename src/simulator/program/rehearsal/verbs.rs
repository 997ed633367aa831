//! Execution of the requests of processes in a rehearsal.

use super::operations::{AwaitedOperations, RehearsedOperation};
use super::rank::{PendingMessage, RehearsedWait, ReplyKind};
use super::{DryRun, Interruption};
use crate::fault::Fault;
use crate::machine::{IssueOrder, Sends};
use crate::node::processor::{GIVE_SPEED, NO_SPEED};
use crate::program::process::{
    Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Received, Reply, Verb, send_fault,
};

/// Number of steps without a request that cost as much as a request.
const STEPS_PER_VERB: u64 = 8;
/// Number of messages or operations examined in a search that cost as much as a request.
const LOOKS_PER_VERB: u64 = 32;

impl DryRun<'_> {
    /// Executes a request. Returns the reply, unless the process has to wait.
    pub(super) fn serve(&mut self, rank: u32, verb: Verb) -> Result<Option<Reply>, Interruption> {
        match verb {
            Verb::Send(to, message) => {
                let operation = self.send(rank, to, message)?;
                Ok(self.wait_for(rank, operation))
            }
            Verb::StartSend(to, message) => Ok(Some(Reply::Started(handle(self.send(rank, to, message)?)))),
            Verb::Receive(pattern) => {
                let operation = self.receive(rank, pattern);
                Ok(self.wait_for(rank, operation))
            }
            Verb::StartReceive(pattern) => Ok(Some(Reply::Started(handle(self.receive(rank, pattern))))),
            Verb::Wait(operation) => Ok(self.wait_for(rank, operation.serial)),
            Verb::WaitAny(operations) => {
                self.has_choices |= operations.len() > 1 && self.chooses(rank);
                let operations = operations.into_iter().map(|operation| operation.serial).collect();
                Ok(self.wait(rank, AwaitedOperations::Several(operations), ReplyKind::Index))
            }
            Verb::Test(operation) => {
                self.has_choices |= self.chooses(rank);
                Ok(Some(Reply::Tested(self.state(rank).operations.is_complete(operation.serial))))
            }
            Verb::Issue(issue) => self.issue(rank, issue).map(|operation| Some(Reply::Started(operation))),
            Verb::Notices => Ok(self.notices(rank)),
            Verb::Barrier => Ok(self.enter_barrier(rank)),
            Verb::Pause(steps) => {
                self.verbs += steps / STEPS_PER_VERB;
                Ok(Some(Reply::Done))
            }
            Verb::Fail(reason) => Err(self.fault(rank, *reason)),
            Verb::StartLoad(_) | Verb::StartLeave(_) => Ok(Some(Reply::Started(handle(self.begin_job(rank))))),
            // A rehearsal does not know which ranks share a node, so mutual waiting on a node is left to the run.
            Verb::NodeBarrier => Ok(Some(Reply::Done)),
            Verb::Compute(_) | Verb::Operate(_) => self.compute(rank),
            Verb::ComputeFor(_) | Verb::Allocate(_) | Verb::Forward(_) | Verb::Input(_) | Verb::Output(_) => {
                self.jobs += 1;
                Ok(Some(Reply::Done))
            }
        }
    }

    /// Returns whether the order in which operations end may decide what the process does. A collective operation does
    /// the same in any order, and so does a process that only lets its side tasks progress.
    fn chooses(&self, rank: u32) -> bool {
        !self.context.notes[rank as usize].progresses.get() && self.collective(rank as usize).is_none()
    }

    fn compute(&mut self, rank: u32) -> Result<Option<Reply>, Interruption> {
        self.jobs += 1;
        if self.has_speed {
            return Ok(Some(Reply::Done));
        }
        Err(self.fault(rank, Fault::new("", format!("cannot compute: {NO_SPEED}"), GIVE_SPEED)))
    }

    fn send(&mut self, from: u32, to: u32, message: Message) -> Result<u32, Interruption> {
        let ranks = self.context.ranks;
        if let Some(fault) = send_fault(to, ranks, message.bytes, self.packet_bytes) {
            let place = self.place_of_step(from as usize);
            return Err(self.fault(from, (fault + &place).into()));
        }
        self.messages += 1;
        self.count_packets(from, to, message.bytes);
        let operation = self.begin(from, RehearsedOperation::Sent);
        let (phase, collective, step) =
            (self.state(from).phase, self.collective(from as usize), self.step(from as usize));
        let (tag, bytes) = (message.tag, message.bytes);
        let received = Received { from, message };
        let sending = (self.completion(&received.message) == Sends::Rendezvous).then_some(operation);
        let is_own = self.collective(to as usize).is_none();
        let is_followed = collective.is_none() && !self.has_choices;
        let addressee = self.state(to);
        let mut is_choice = is_followed && addressee.choices.send(from, tag);
        let mut looks = 0;
        let mut receive = None;
        let waiting = |task: &&mut RehearsedOperation| {
            looks += 1;
            receive = if let RehearsedOperation::Awaiting(pattern) = task { Some(*pattern) } else { None };
            receive.is_some_and(|pattern| pattern.matches(from, tag))
        };
        if let Some(task) = addressee.operations.iter_mut().find(waiting) {
            *task = RehearsedOperation::Received(received);
            is_choice |= is_own && receive.is_some_and(|pattern| addressee.choices.receive(pattern));
        } else {
            let packets = bytes.div_ceil(self.unit_bytes).max(1);
            self.state(to).inbox.push_back(PendingMessage { phase, collective, step, sending, received });
            self.backlog.send(packets);
            if let Some(sending) = sending {
                self.state(from).operations.set(sending, RehearsedOperation::Offered { to, bytes });
            }
        }
        self.has_choices |= is_choice;
        self.verbs += looks / LOOKS_PER_VERB;
        self.wake(to);
        Ok(operation)
    }

    fn count_packets(&mut self, from: u32, to: u32, bytes: u64) {
        let ((row, column), (to_row, to_column)) = (self.grid.coordinates(from), self.grid.coordinates(to));
        let hops = u64::from(row.abs_diff(to_row) + column.abs_diff(to_column));
        // A message has fewer than 2^32 packets, and a rehearsal fewer than 2^18 messages.
        let packets = bytes.div_ceil(self.unit_bytes).max(1);
        self.packets += if hops > 0 { packets } else { 0 };
        self.packet_hops = self.packet_hops.saturating_add(packets * hops);
    }

    fn receive(&mut self, rank: u32, pattern: MessagePattern) -> u32 {
        let inbox = &mut self.state(rank).inbox;
        let found =
            inbox.iter().position(|message| pattern.matches(message.received.from, message.received.message.tag));
        let looks = found.unwrap_or(inbox.len()) as u64;
        let message = found.and_then(|place| inbox.remove(place));
        self.verbs += looks / LOOKS_PER_VERB;
        let Some(PendingMessage { sending, received, .. }) = message else {
            return self.begin(rank, RehearsedOperation::Awaiting(pattern));
        };
        let from = received.from;
        let is_own = self.collective(rank as usize).is_none();
        let is_choice = is_own && self.state(rank).choices.receive(pattern);
        self.has_choices |= is_choice;
        self.backlog.take(received.message.bytes.div_ceil(self.unit_bytes).max(1));
        let operation = self.begin(rank, RehearsedOperation::Received(received));
        if let Some(sending) = sending {
            self.state(from).operations.set(sending, RehearsedOperation::Sent);
            self.wake(from);
        }
        operation
    }

    /// Begins an issued operation, independently of the state of its process.
    fn issue(&mut self, rank: u32, Issue { work, number, .. }: Issue) -> Result<Operation, Interruption> {
        let operation = match work {
            IssuedWork::Compute(_) => self.begin_job(rank),
            IssuedWork::Send(to, message) => self.send(rank, to, message)?,
            IssuedWork::Receive(pattern) => self.receive(rank, pattern),
        };
        self.state(rank).issued.push((operation, number));
        self.state(rank).begun.push(operation);
        Ok(handle(operation))
    }

    /// Returns the notices of the issued operations of a process, or makes the process wait if there are none.
    fn notices(&mut self, rank: u32) -> Option<Reply> {
        let state = self.state(rank);
        let begun = std::mem::take(&mut state.begun);
        let operations = &state.operations;
        let (ended, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.issued).into_iter().partition(|(one, _)| operations.is_complete(*one));
        self.verbs += open.len() as u64 / LOOKS_PER_VERB;
        let state = self.state(rank);
        state.issued = open;
        let notice = |is_end| move |number| Notice { operation: handle(number), is_end, turn: IssueOrder::default() };
        let notices: Vec<_> =
            begun.into_iter().map(notice(false)).chain(ended.iter().map(|(one, _)| *one).map(notice(true))).collect();
        for (operation, _) in ended {
            let removed = self.state(rank).operations.remove(operation);
            self.backlog.operations -= u64::from(removed.is_some());
        }
        if notices.is_empty() {
            self.state(rank).waits = RehearsedWait::ForNotices;
            return None;
        }
        Some(Reply::Noticed(notices))
    }

    fn begin(&mut self, rank: u32, task: RehearsedOperation) -> u32 {
        self.backlog.begin();
        self.state(rank).operations.begin(task)
    }

    /// Begins an operation that needs no partner and completes at once.
    fn begin_job(&mut self, rank: u32) -> u32 {
        self.jobs += 1;
        self.begin(rank, RehearsedOperation::Sent)
    }

    /// Returns the reply if the operation is complete; otherwise makes the process wait.
    fn wait_for(&mut self, rank: u32, operation: u32) -> Option<Reply> {
        self.wait(rank, AwaitedOperations::One([operation]), ReplyKind::Result)
    }

    /// Returns the reply if one of the operations is complete; otherwise makes the process wait.
    fn wait(&mut self, rank: u32, operations: AwaitedOperations, ending: ReplyKind) -> Option<Reply> {
        let state = self.state(rank);
        let complete = |operation: &u32| state.operations.is_complete(*operation);
        let Some(index) = operations.numbers().iter().position(complete) else {
            state.waits = RehearsedWait::For(operations, ending);
            return None;
        };
        if ending == ReplyKind::Index {
            return Some(Reply::Ready(index));
        }
        let operation = state.operations.remove(operations.numbers()[index]);
        self.backlog.operations -= u64::from(operation.is_some());
        match operation {
            Some(RehearsedOperation::Received(received)) => Some(Reply::Received(received)),
            _ => Some(Reply::Done),
        }
    }

    fn wake(&mut self, rank: u32) {
        if matches!(self.ranks[rank as usize].waits, RehearsedWait::ForNotices) {
            self.state(rank).waits = RehearsedWait::Nothing;
            let answer = self.notices(rank).map(|answer| (rank, Some(answer)));
            return self.ready.extend(answer);
        }
        let waits = std::mem::take(&mut self.state(rank).waits);
        let RehearsedWait::For(operations, ending) = waits else {
            self.state(rank).waits = waits;
            return;
        };
        if let Some(answer) = self.wait(rank, operations, ending) {
            self.ready.push_back((rank, Some(answer)));
        }
    }

    fn enter_barrier(&mut self, rank: u32) -> Option<Reply> {
        self.at_barrier += 1;
        if (self.at_barrier as usize) < self.ranks.len() {
            self.state(rank).waits = RehearsedWait::AtBarrier;
            return None;
        }
        self.at_barrier = 0;
        let all = 0..u32::try_from(self.ranks.len()).expect("ranks are counted in 32 bits");
        self.ready.extend(all.filter(|other| *other != rank).map(|other| (other, Some(Reply::Done))));
        Some(Reply::Done)
    }
}

/// Returns the handle of an operation. A rehearsal does not reuse places.
const fn handle(number: u32) -> Operation {
    Operation { place: 0, serial: number }
}
