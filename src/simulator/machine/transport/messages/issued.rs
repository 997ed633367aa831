//! Operations that processes issue to the processors and interfaces of their choice.

use super::{MessageTransport, TransportEvent};
use crate::engine::{AbortCheck, Precedence};
use crate::machine::speed_profile::paced_rows;
use crate::machine::transport::{Completion, OutgoingMessage};
use crate::machine::{IssueOrder, IssueResources, RankLocation};
use crate::node::processor::{Computation, KernelError};
use crate::units::{SimDuration, SimTime};

impl MessageTransport {
    /// Requests a core for a computation; `ComputationBegun` reports that it has begun.
    pub fn issue_computation(
        &mut self,
        now: SimTime,
        (location, owner): (RankLocation, u32),
        (operation, time): (u32, SimDuration),
        (cpu, turn): (u8, IssueOrder),
    ) -> Result<(), KernelError> {
        let computation = Computation::Time(time);
        let (row, passes) =
            paced_rows(&mut self.stopwatch, self.pace.as_deref_mut(), (location.node, owner), computation)?;
        self.resources.provide(location, 0, IssueResources { cpu, nic: 0 });
        let (core, precedence) = (self.resources.cpu(location, cpu), self.foreseen(turn));
        self.push(now, precedence, TransportEvent::Begin { core, operation, time: row * passes });
        Ok(())
    }

    pub(super) fn begin_computation(&mut self, now: SimTime, core: u32, operation: u32, time: SimDuration) {
        let end = self.resources.compute(core, now, time);
        self.completions.push_back(Completion::ComputationBegun { operation, end });
    }

    /// Sends a message through the interface with the number `port` at both ends.
    pub fn send_on_port(
        &mut self,
        now: SimTime,
        locations: (RankLocation, RankLocation),
        sent: OutgoingMessage,
        port: u8,
    ) {
        let mut message = self.message(locations, sent);
        message.interface = u32::from(port) % self.interface.count;
        let precedence = self.precedence();
        self.dispatch(now, message, precedence, sent.cause);
    }

    /// Requests a send; `SendBegun` reports that it has begun.
    pub fn issue_send(
        &mut self,
        now: SimTime,
        (from, to): (RankLocation, RankLocation),
        sent: OutgoingMessage,
        (resources, turn): (IssueResources, IssueOrder),
    ) {
        let mut message = self.message((from, to), sent);
        (message.resources, message.is_issued) = (resources, true);
        for end in [from, to] {
            self.resources.provide(end, message.interface, resources);
        }
        let precedence = self.foreseen(turn);
        self.dispatch(now, message, precedence, sent.cause);
    }

    /// Requests a receive; `Due` reports, once its processor is free, that it is to be posted.
    pub fn issue_receive(
        &mut self,
        now: SimTime,
        location: RankLocation,
        operation: u32,
        (resources, turn): (IssueResources, IssueOrder),
    ) {
        self.resources.provide(location, 0, resources);
        let is_left = turn.leaves == Some(resources.cpu);
        let free = if is_left { now } else { self.resources.free_at(self.resources.cpu(location, resources.cpu)) };
        let precedence = self.foreseen(turn);
        self.push(now.max(free), precedence, TransportEvent::Due(operation));
    }

    pub fn abort_on(&mut self, check: &AbortCheck) {
        self.resources.abort_on(check);
    }

    /// Schedules `Due` for a time.
    pub fn schedule_due(&mut self, at: SimTime, operation: u32, turn: IssueOrder) {
        let order = self.order_of(turn);
        self.schedule(at, order, TransportEvent::Due(operation));
    }

    /// Returns a turn after all that have been used.
    pub fn next_turn(&mut self) -> IssueOrder {
        let first = self.requests + 1;
        self.requests += IssueOrder::OF_AN_EVENT;
        IssueOrder { order: first, ..IssueOrder::default() }
    }

    fn foreseen(&mut self, turn: IssueOrder) -> Precedence {
        Precedence::foreseen(self.order_of(turn), turn.place)
    }

    fn order_of(&mut self, turn: IssueOrder) -> u64 {
        if turn.order == 0 { self.next_request() } else { turn.order }
    }
}
