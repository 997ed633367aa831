//! Times of messages on a machine that the LogGOPS model describes completely.

use crate::machine::{LogGops, Machine, Sends};
use crate::node::{Interface, WithinNode};
use crate::units::SimDuration;

/// The constants of the machine.
pub struct LogGopsCosts {
    latency: SimDuration,
    pub overhead: SimDuration,
    interface: Interface,
    sends: Sends,
    /// The costs that were requested last; most messages are as long as the one before.
    last: MessageCosts,
}

/// The costs of one message.
#[derive(Clone, Copy)]
pub struct MessageCosts {
    bytes: u64,
    /// The time on the processor of the sender.
    pub sending: SimDuration,
    /// The time on the interface at either end.
    pub occupancy: SimDuration,
    /// The time on the processor of the receiver.
    pub receiving: SimDuration,
    /// `true` if the send does not wait for the receive.
    pub is_eager: bool,
}

impl LogGopsCosts {
    /// Returns the constants of a machine, if they describe it completely.
    pub fn of(machine: &Machine) -> Option<Self> {
        let model = LogGops::describing(machine)?;
        if model.over.is_some() || !model.detours.is_empty() || model.within_node != WithinNode::Copied {
            return None;
        }
        let (interface, sends) = (machine.nodes.interface.clone()?, machine.sends);
        let zero = SimDuration::ZERO;
        let last = MessageCosts { bytes: 0, sending: zero, occupancy: zero, receiving: zero, is_eager: false };
        let mut costs = Self { latency: model.latency, overhead: interface.overhead, interface, sends, last };
        costs.last = costs.compute(0);
        Some(costs)
    }

    /// Returns the time from the beginning of a send to the arrival of its first byte. A message from a rank to itself
    /// does not use the network.
    pub fn delay(&self, is_own: bool) -> SimDuration {
        if is_own { self.overhead } else { self.overhead + self.latency }
    }

    #[inline]
    pub fn message(&mut self, bytes: u64) -> MessageCosts {
        if self.last.bytes != bytes {
            self.last = self.compute(bytes);
        }
        self.last
    }

    fn compute(&self, bytes: u64) -> MessageCosts {
        MessageCosts {
            bytes,
            sending: self.interface.sending_time(bytes),
            occupancy: self.interface.occupancy(bytes),
            receiving: self.interface.receiving_time(bytes),
            is_eager: self.sends.of(bytes) == Sends::Buffered,
        }
    }
}
