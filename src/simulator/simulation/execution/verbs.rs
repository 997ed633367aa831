//! Execution of the requests of processes.

use super::{Execution, TimerUse, WaitState, WriteTimes, answer, fault};
use crate::fault::Fault;
use crate::machine::OutgoingMessage;
use crate::node::Scratch;
use crate::node::processor::Computation;
use crate::program::{ENDED, Message, MessagePattern, Operation, Reply, Verb, port_of, send_fault};
use crate::simulation::SimulationError;
use crate::simulation::observer::{Observer, Occurrence};
use crate::trace::Activity;
use crate::units::{SimDuration, SimTime};

impl<O: Observer> Execution<'_, O> {
    /// Executes a request. Returns its reply, or `None` if the process has to wait.
    pub(super) fn serve(&mut self, now: SimTime, rank: u32, verb: Verb) -> Result<Option<Reply>, SimulationError> {
        match verb {
            Verb::Compute(work) => self.compute(now, rank, Computation::Rows(work))?,
            Verb::Operate(operations) => self.compute(now, rank, Computation::Operations(operations))?,
            Verb::ComputeFor(time) => self.compute(now, rank, Computation::Time(time))?,
            Verb::NodeBarrier => self.enter_node_barrier(rank),
            Verb::Barrier => self.enter_barrier(rank),
            Verb::Input(bytes) => self.read(now, rank, self.machine.host.input.time(bytes)),
            Verb::Output(bytes) => self.write(now, rank, self.machine.host.output.time(bytes)),
            Verb::Allocate(scratch) => return self.allocate(now, rank, &scratch),
            Verb::Forward(bytes) => return self.forward(now, rank, bytes),
            Verb::Send(to, message) => {
                let operation = self.start_send(now, rank, to, message)?;
                return self.wait_for(now, rank, operation);
            }
            Verb::Receive(pattern) => {
                let operation = self.start_receive(now, rank, pattern);
                return self.wait_for(now, rank, operation);
            }
            Verb::StartLoad(bytes) => return Ok(Some(Reply::Started(self.start_move(now, rank, (true, bytes))))),
            Verb::StartLeave(bytes) => return Ok(Some(Reply::Started(self.start_move(now, rank, (false, bytes))))),
            Verb::StartSend(to, message) => {
                return self.start_send(now, rank, to, message).map(Reply::Started).map(Some);
            }
            Verb::StartReceive(pattern) => return Ok(Some(Reply::Started(self.start_receive(now, rank, pattern)))),
            Verb::Issue(issue) => return self.issue(now, rank, issue).map(Reply::Started).map(Some),
            Verb::Wait(operation) => return self.wait_for(now, rank, operation),
            Verb::WaitAny(operations) => return self.wait_for_any(now, rank, operations),
            Verb::Test(operation) => return self.test(rank, operation).map(Some),
            Verb::Notices => return self.wait_for_notices(rank),
            Verb::Pause(_) => return Ok(Some(Reply::Done)),
            Verb::Fail(reason) => return Err(fault(rank, placed(*reason))),
        }
        Ok(None)
    }

    pub(super) fn wait(&mut self, rank: u32, waits: WaitState, activity: Activity) {
        let state = &mut self.ranks[rank as usize];
        state.waits = waits;
        state.activity = activity;
    }

    #[inline]
    fn compute(&mut self, now: SimTime, rank: u32, computation: Computation) -> Result<(), SimulationError> {
        self.start_computation(now, rank, computation, Activity::Computing)
    }

    /// Starts a computation, recorded as `activity`, once the earlier sends of the rank have begun.
    fn start_computation(
        &mut self,
        now: SimTime,
        rank: u32,
        computation: Computation,
        activity: Activity,
    ) -> Result<(), SimulationError> {
        if self.transport.waits_behind_sends(self.layout.location(rank), rank) {
            self.held_back.insert(rank, (computation, activity));
            self.wait(rank, WaitState::ForTime(TimerUse::EarlierSends), Activity::Sending);
            return Ok(());
        }
        let computing = self.transport.compute(now, self.layout.location(rank), rank, computation);
        let time = computing.map_err(|error| fault(rank, format!("cannot compute: {error}")))?;
        self.begin_computing(rank, time);
        self.wait(rank, WaitState::ForTime(TimerUse::Computation), activity);
        Ok(())
    }

    /// Starts the computation of a rank that has waited for its earlier sends.
    pub(super) fn start_held_back(&mut self, now: SimTime, rank: u32) -> Result<(), SimulationError> {
        let held_back = self.held_back.remove(&rank);
        let (computation, activity) = held_back.expect("a computation is kept while its rank waits for earlier sends");
        self.account(now, rank);
        self.start_computation(now, rank, computation, activity)
    }

    /// Allocates fresh memory, which takes processor time. Memory that exists already takes none.
    fn allocate(&mut self, now: SimTime, rank: u32, scratch: &Scratch) -> Result<Option<Reply>, SimulationError> {
        match self.machine.nodes.scratch_time(scratch) {
            SimDuration::ZERO => Ok(Some(Reply::Done)),
            time => self.compute(now, rank, Computation::Time(time)).map(|()| None),
        }
    }

    fn forward(&mut self, now: SimTime, rank: u32, bytes: u64) -> Result<Option<Reply>, SimulationError> {
        match self.machine.nodes.forwarding.time(bytes) {
            SimDuration::ZERO => Ok(Some(Reply::Done)),
            time => self.start_computation(now, rank, Computation::Time(time), Activity::Sending).map(|()| None),
        }
    }

    /// Waits for a transfer from or to the host, after those that other ranks requested before.
    fn transfer(&mut self, now: SimTime, rank: u32, time: SimDuration) {
        if time > SimDuration::ZERO && !self.host_queue.enter(rank, time) {
            return self.wait(rank, WaitState::ForTime(TimerUse::Transfer), Activity::Blocked);
        }
        self.transport.wait(now, rank, time);
        self.wait(rank, WaitState::ForTime(TimerUse::Transfer), Activity::InputOutput);
    }

    /// Waits for a transfer from the host.
    fn read(&mut self, now: SimTime, rank: u32, time: SimDuration) {
        let with_host = self.accounts.rank(rank).get(Activity::InputOutput);
        if let Some(times) = self.writes.get_mut(&rank) {
            *times = WriteTimes { ended: times.until(with_host), begun: None };
        }
        self.transfer(now, rank, time);
    }

    /// Waits for a transfer to the host.
    fn write(&mut self, now: SimTime, rank: u32, time: SimDuration) {
        let with_host = self.accounts.rank(rank).get(Activity::InputOutput);
        let times = self.writes.entry(rank).or_default();
        *times = WriteTimes { ended: times.until(with_host), begun: Some(with_host) };
        self.transfer(now, rank, time);
    }

    /// Ends the transfer of `rank` and starts the next one in the queue of the host. Transfers that take no time are not
    /// in the queue.
    pub(super) fn leave_host(&mut self, now: SimTime, rank: u32) {
        if !self.host_queue.serves(rank) {
            return;
        }
        let Some((next, time)) = self.host_queue.next() else { return };
        // The accounts of `rank` are completed before the next rank is released, because the end of its transfer is the
        // cause of the release.
        self.account(now, rank);
        self.observer.on(&Occurrence::Released { rank: next, by: rank });
        self.account(now, next);
        self.transport.wait(now, next, time);
        self.wait(next, WaitState::ForTime(TimerUse::Transfer), Activity::InputOutput);
    }

    fn start_send(&mut self, now: SimTime, rank: u32, to: u32, message: Message) -> Result<Operation, SimulationError> {
        let Message { bytes, again, tag, .. } = message;
        self.check_send(rank, to, bytes)?;
        let (operation, handle) = self.matching.post(now, rank, to, message);
        let sent = OutgoingMessage { bytes, again, handle, cause: self.observer.last_event(rank) };
        self.observer.on(&Occurrence::Posted { rank, operation, handle, bytes });
        if let Some(overlap) = &mut self.overlap {
            overlap.posted(handle, [rank, to]);
            // With interfaces, the data may wait, and the transport reports when they leave.
            if !self.transport.has_interfaces() {
                overlap.launched(now, handle);
            }
        }
        let locations = (self.layout.location(rank), self.layout.location(to));
        let port = port_of(tag);
        match (port, self.transport.message_transport()) {
            (Some(port), Some(interfaces)) => interfaces.send_on_port(now, locations, sent, port),
            _ => self.transport.send(now, locations, sent),
        }
        self.count_program_operation();
        Ok(operation)
    }

    /// Rejects a send to an invalid rank or of an invalid length.
    pub(super) fn check_send(&self, rank: u32, to: u32, bytes: u64) -> Result<(), SimulationError> {
        let packet_bytes = self.machine.network.switching.packet_bytes();
        send_fault(to, self.layout.ranks(), bytes, packet_bytes).map_or(Ok(()), |reason| Err(fault(rank, reason)))
    }

    fn start_receive(&mut self, now: SimTime, rank: u32, pattern: MessagePattern) -> Operation {
        let (operation, found) = self.matching.receive(rank, pattern);
        self.observer.on(&Occurrence::Begun { rank, operation });
        if let Some(found) = found {
            self.accept(now, &found);
        }
        operation
    }

    /// Starts to move bytes through the memory of the node, or out of the node.
    fn start_move(&mut self, now: SimTime, rank: u32, (is_memory, bytes): (bool, f64)) -> Operation {
        let operation = self.matching.begin_move(rank, is_memory);
        self.count_program_operation();
        self.observer.on(&Occurrence::Moving { operation, is_memory, bytes });
        self.observer.on(&Occurrence::Begun { rank, operation });
        let location = self.layout.location(rank);
        if is_memory {
            self.transport.load(now, location, bytes, operation.place);
        } else {
            self.transport.leave_node(now, location, bytes, operation.place);
        }
        operation
    }

    fn wait_for(&mut self, now: SimTime, rank: u32, operation: Operation) -> Result<Option<Reply>, SimulationError> {
        let record = self.matching.find(rank, operation).ok_or_else(|| invalid_operation(rank))?;
        let activity = record.kind.activity();
        if record.state.is_complete() {
            let reply = answer(self.matching.end(operation));
            return Ok(self.join(now, rank, (operation, activity), reply));
        }
        self.wait(rank, WaitState::ForOperation(operation.place), activity);
        Ok(None)
    }

    /// Replies to a rank that waits for a complete operation: immediately, or once its processor has handled everything
    /// that has arrived.
    fn join(
        &mut self,
        now: SimTime,
        rank: u32,
        (operation, activity): (Operation, Activity),
        reply: Reply,
    ) -> Option<Reply> {
        if self.end_of_work(now, rank) > now {
            self.ranks[rank as usize].activity = activity;
            self.resume_after_work(now, rank, operation, reply);
            return None;
        }
        self.report_already_complete(now, rank, operation, activity);
        Some(reply)
    }

    fn wait_for_any(
        &mut self,
        now: SimTime,
        rank: u32,
        operations: Vec<Operation>,
    ) -> Result<Option<Reply>, SimulationError> {
        let mut activity = Activity::Sending;
        for (index, operation) in operations.iter().enumerate() {
            let record = self.matching.find(rank, *operation).ok_or_else(|| invalid_operation(rank))?;
            let kind = record.kind.activity();
            if record.state.is_complete() {
                return Ok(self.join(now, rank, (*operation, kind), Reply::Ready(index)));
            }
            activity = match (activity, kind) {
                (Activity::Blocked, _) | (_, Activity::Blocked) => Activity::Blocked,
                (_, Activity::Loading) => Activity::Loading,
                _ => activity,
            };
        }
        self.awaited.insert(rank, operations);
        self.wait(rank, WaitState::ForAny, activity);
        Ok(None)
    }

    fn test(&self, rank: u32, operation: Operation) -> Result<Reply, SimulationError> {
        let record = self.matching.find(rank, operation).ok_or_else(|| invalid_operation(rank))?;
        Ok(Reply::Tested(record.state.is_complete()))
    }

    fn enter_barrier(&mut self, rank: u32) {
        self.at_barrier += 1;
        if self.at_barrier < self.layout.ranks() {
            return self.wait(rank, WaitState::AtBarrier, Activity::Blocked);
        }
        self.at_barrier = 0;
        self.release(0..self.layout.ranks(), rank);
    }

    fn enter_node_barrier(&mut self, rank: u32) {
        match self.node_barriers.enter(self.layout, rank) {
            None => self.wait(rank, WaitState::AtBarrier, Activity::Blocked),
            Some(ranks) => self.release(ranks, rank),
        }
    }

    /// Releases the ranks at a barrier in rank order; `by` is the last one to arrive.
    fn release(&mut self, ranks: impl IntoIterator<Item = u32>, by: u32) {
        for rank in ranks {
            if rank != by {
                self.observer.on(&Occurrence::Released { rank, by });
            }
            self.ready.push_back((rank, Reply::Done));
        }
        self.wait(by, WaitState::AtBarrier, Activity::Blocked);
    }
}

fn invalid_operation(rank: u32) -> SimulationError {
    fault(rank, ENDED.to_owned())
}

/// Returns the message of a fault with the path of the field, if it has one.
fn placed(Fault { path, message, .. }: Fault) -> String {
    if path.is_empty() { message } else { format!("{message} (program.{path})") }
}
