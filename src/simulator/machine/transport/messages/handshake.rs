//! Data that wait for a receive (announcement, request, confirmation), and the completion of messages of all kinds.

use super::{MessageState, MessageTransport, TransportEvent};
use crate::machine::Sends;
use crate::machine::transport::{Completion, MessageId};
use crate::node::DataTransfer;
use crate::units::SimTime;

/// The role of a message in a transfer of data.
#[derive(Clone, Copy)]
pub(super) enum TransferRole {
    /// Data that leave immediately.
    Data,
    /// Data that wait for a receive; `receive` is its number once they have been matched.
    AwaitedData { receive: u32 },
    /// Data of which a part has arrived; `receive` is the number of their receive once they have been matched.
    ComingData { receive: Option<u32> },
    /// The announcement of a message whose data wait.
    Announcement { of: MessageId },
    /// A request for the data of a message.
    Request { of: MessageId },
    /// A confirmation that the data have arrived.
    Confirmation,
}

impl TransferRole {
    /// Returns whether the message carries the data of its transfer.
    pub const fn carries_data(self) -> bool {
        matches!(self, Self::Data | Self::AwaitedData { .. } | Self::ComingData { .. })
    }
}

impl MessageTransport {
    /// Sends a message of one byte that belongs to the protocol of the transfer of message `of`.
    pub(super) fn send_control(&mut self, now: SimTime, of: MessageId, message: MessageState) {
        let id = self.keep(MessageState { bytes: 1, injected: 0, landed: 0, arrived: 0, is_issued: false, ..message });
        self.wire.caused_as(id, of);
        self.request(now, TransportEvent::Send(id));
    }

    /// Matches a message with the receive of this number. Returns whether the message is there; its data may be still
    /// to come.
    pub fn accept(&mut self, now: SimTime, id: MessageId, receive: u32) -> bool {
        let message = self.messages[id];
        if let TransferRole::AwaitedData { .. } = message.role {
            self.messages[id].role = TransferRole::AwaitedData { receive };
            self.ask_for_data(now, id);
            return false;
        }
        if self.sends.of(message.bytes) == Sends::Rendezvous {
            self.completions.push_back(Completion::Sent { handle: message.handle });
        }
        if let TransferRole::ComingData { .. } = message.role {
            self.messages[id].role = TransferRole::ComingData { receive: Some(receive) };
            return false;
        }
        self.messages.take(id);
        true
    }

    /// Announces a message of which the first part has arrived, if its sender waits for a receive.
    pub(super) fn announce_arriving(&mut self, id: MessageId) {
        let message = &mut self.messages[id];
        if matches!(message.role, TransferRole::Data) && self.sends.of(message.bytes) == Sends::Rendezvous {
            message.role = TransferRole::ComingData { receive: None };
            self.completions.push_back(Completion::Announced { message: id, handle: message.handle });
        }
    }

    fn ask_for_data(&mut self, now: SimTime, id: MessageId) {
        let message = self.messages[id];
        match self.interface.data {
            DataTransfer::OnRequest { .. } => {
                let (from, to) = (message.to, message.from);
                self.send_control(
                    now,
                    id,
                    MessageState { from, to, role: TransferRole::Request { of: id }, ..message },
                );
            }
            _ => self.send_matched(now, id),
        }
    }

    /// Sends the data of a message that has been matched. If its receive was waiting, they leave in the order of the
    /// sends, before others that the rank has requested since.
    fn send_matched(&mut self, now: SimTime, id: MessageId) {
        let (announced, precedence) = self.messages[id].announced;
        let precedence = if announced == now { precedence } else { self.precedence() };
        self.attempt(now, precedence, TransportEvent::Send(id));
    }

    /// Sends the confirmation of received data, if the protocol has one. Returns whether it does.
    fn confirm(&mut self, now: SimTime, id: MessageId) -> bool {
        let is_confirmed = matches!(self.interface.data, DataTransfer::OnRequest { confirmed: true, .. });
        if is_confirmed {
            let message = self.messages[id];
            let (from, to) = (message.to, message.from);
            self.send_control(now, id, MessageState { from, to, role: TransferRole::Confirmation, ..message });
        }
        is_confirmed
    }

    /// Completes a buffered send, whose message has left.
    pub(super) fn complete_if_buffered(&mut self, message: MessageState) {
        if self.sends.of(message.bytes) == Sends::Buffered {
            self.completions.push_back(Completion::Sent { handle: message.handle });
        }
    }

    /// Handles the arrival of the last byte of a message.
    pub(super) fn deliver(&mut self, now: SimTime, id: MessageId) {
        let MessageState { handle, bytes, role, .. } = self.messages[id];
        if let TransferRole::ComingData { receive: None } = role {
            // The message has been announced already, and can be received from now on.
            self.messages[id].role = TransferRole::Data;
            self.completions.push_back(Completion::FullyArrived { handle });
            return;
        }
        let mut complete = |completion| self.completions.push_back(completion);
        match role {
            TransferRole::Data => complete(Completion::Delivered { message: id, handle }),
            TransferRole::AwaitedData { receive } | TransferRole::ComingData { receive: Some(receive) } => {
                complete(Completion::Arrived { receive });
            }
            TransferRole::Announcement { of } => complete(Completion::Announced { message: of, handle }),
            TransferRole::Request { of } => self.request(now, TransportEvent::Send(of)),
            TransferRole::ComingData { receive: None } | TransferRole::Confirmation => {}
        }
        let is_complete = match role {
            TransferRole::Data => self.sends.of(bytes) == Sends::UntilDelivered,
            TransferRole::AwaitedData { .. } => self.sends.of(bytes) != Sends::Buffered && !self.confirm(now, id),
            TransferRole::ComingData { .. } | TransferRole::Announcement { .. } | TransferRole::Request { .. } => false,
            TransferRole::Confirmation => true,
        };
        if is_complete {
            self.completions.push_back(Completion::Sent { handle });
        }
        if !matches!(role, TransferRole::Data) {
            self.messages.take(id);
        }
    }
}
