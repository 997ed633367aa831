//! Exchanges with neighbours.

use super::StepInterpreter;
use crate::programs::communicator_tag::FIRST_OWN_TAG;
use crate::programs::expression::Value;
use crate::programs::phases::compiled::{ExchangeAction, RequestNumber};
use parsim_sim::fault::Fault;
use parsim_sim::program::{Message, MessagePattern, Operation, PendingOperation, Process};

/// A neighbour in an exchange, which is sent a message and sends one.
#[derive(Clone, Copy)]
pub(super) struct ExchangePartner {
    rank: u32,
    /// The number of the direction in which the neighbour is. Opposite directions are adjacent.
    direction: u32,
    /// The length of the message to the neighbour.
    bytes: u64,
}

impl ExchangePartner {
    fn message(&self) -> Message {
        Message::new(self.bytes).tag(exchange_tag(self.direction))
    }

    /// Returns the pattern of the neighbour's message. Each direction has a separate tag, because on a short ring both
    /// neighbours are the same rank.
    const fn pattern(&self) -> MessagePattern {
        MessagePattern { from: Some(self.rank), tag: Some(exchange_tag(self.direction ^ 1)) }
    }
}

const fn exchange_tag(direction: u32) -> u32 {
    FIRST_OWN_TAG + direction
}

/// Exchanges messages with the neighbours. All receives are posted first, as data that wait for them would otherwise come
/// one after the other.
pub(super) async fn exchange(me: &Process, partners: Vec<ExchangePartner>) {
    let mut under_way: Vec<Operation> = Vec::with_capacity(2 * partners.len());
    for partner in &partners {
        under_way.push(me.start_receive(partner.pattern()).await);
    }
    for partner in &partners {
        under_way.push(me.start_send(partner.rank, partner.message()).await);
    }
    for operation in under_way {
        me.wait(operation).await;
    }
}

impl StepInterpreter {
    /// Returns the neighbours of this rank in an exchange.
    pub(super) fn partners(&mut self, exchange: &ExchangeAction) -> Result<Vec<ExchangePartner>, Fault> {
        let me = self.me.rank();
        let mut partners = Vec::with_capacity(2 * exchange.dimensions.len());
        for (place, dimension) in (0..).zip(&exchange.dimensions) {
            for (slot, value) in exchange.along.into_iter().flatten().zip([dimension.number, dimension.side]) {
                self.set(slot, Value::Whole(value.into()));
            }
            let bytes = exchange.bytes.bytes(&self.slots)?;
            for (direction, rank) in (2 * place..).zip(dimension.neighbours(me)) {
                partners.extend(rank.map(|rank| ExchangePartner { rank, direction, bytes }));
            }
        }
        Ok(partners)
    }

    /// Starts an exchange: all receives, then all sends.
    pub(super) async fn start_exchange(&mut self, partners: &[ExchangePartner], name: RequestNumber, step: usize) {
        for partner in partners {
            let receive = self.me.start_receive(partner.pattern()).await;
            self.under_way(PendingOperation::Message(receive), name, None, step);
        }
        for partner in partners {
            let send = self.me.start_send(partner.rank, partner.message()).await;
            self.under_way(PendingOperation::Message(send), name, None, step);
        }
    }
}
