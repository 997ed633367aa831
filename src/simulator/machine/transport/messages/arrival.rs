//! Messages at the interface and the processor of their destination.

use super::resources::Port;
use super::wire::Piece;
use super::{Event, MessageState, MessageTransport};
use crate::machine::Seat;
use crate::machine::transport::MessageId;
use crate::node::Progress;
use crate::units::{SimDuration, SimTime};

impl MessageTransport {
    /// A part of a message passes the interface of its destination.
    pub(super) fn arrive(&mut self, now: SimTime, order: u64, piece: Piece) {
        self.wire.release(now, piece);
        let carried = self.carried(&self.messages[piece.message as usize]);
        let message = &mut self.messages[piece.message as usize];
        let is_first = message.arrived == 0;
        message.arrived += piece.bytes;
        let MessageState { to, lanes, arrived, .. } = *message;
        let port = message.destination();
        if message.stays_on_its_node {
            return self.take_in(now, piece.message);
        }
        let is_last = arrived == carried;
        let paid = piece.bytes.saturating_sub(u64::from(is_first));
        let cpu = self.resources.cpu(to, lanes.cpu);
        let begun = self.begin_of_taking(now, piece, cpu, port);
        let end = now.max(begun + self.interface.gap_per_byte.time(paid));
        let gap = if is_last { self.interface.gap } else { SimDuration::ZERO };
        self.resources.receive(port, end + gap);
        self.note_arrival(now, begun, piece, paid);
        match self.interface.progress {
            Progress::WhileArriving => {
                let overhead = if is_last { self.paced(to, self.interface.overhead) } else { SimDuration::ZERO };
                let until = now.max(begun + self.taking(to, paid)) + overhead;
                self.resources.communicate(cpu, now, until.since(now));
                self.note_taking(now, begun, to, paid, is_last);
                if is_last {
                    self.deliver(now, piece.message);
                } else if is_first {
                    self.meet(piece.message);
                }
            }
            Progress::AfterArrival | Progress::Offloaded if is_last => {
                self.schedule(end, order, Event::TakeIn(piece.message));
            }
            Progress::AfterArrival | Progress::Offloaded => {}
        }
    }

    /// The time in which the processor of a seat takes `bytes` bytes from the interface: at its own pace, but not faster than
    /// they pass the interface.
    pub(super) fn taking(&self, seat: Seat, bytes: u64) -> SimDuration {
        self.interface.gap_per_byte.time(bytes).max(self.paced(seat, self.interface.overhead_per_byte.time(bytes)))
    }

    /// The time from which a part of a message has been taken: as soon as it began to come, and interface and processor,
    /// if it is needed, were free.
    fn begin_of_taking(&self, now: SimTime, piece: Piece, cpu: u32, port: Port) -> SimTime {
        let core = match self.interface.progress {
            Progress::WhileArriving => self.resources.free_at(cpu),
            Progress::AfterArrival | Progress::Offloaded => SimTime::START,
        };
        piece.since.map_or(now, |since| since.max(self.resources.free(self.resources.receiver(port))).max(core))
    }

    /// The processor of the destination deals with a message that has come.
    pub(super) fn take_in(&mut self, now: SimTime, id: MessageId) {
        let message = &self.messages[id as usize];
        let MessageState { from, to, bytes, lanes, .. } = *message;
        let stays = message.stays_on_its_node;
        if stays || self.interface.progress != Progress::Offloaded {
            let is_copied = stays && !self.has_memory_between(from, to);
            let time = if is_copied { self.interface.copying(bytes) } else { self.interface.sending(bytes) };
            let busy = self.paced(to, time);
            self.resources.communicate(self.resources.cpu(to, lanes.cpu), now, busy);
            self.note_handling(now, to, bytes, is_copied);
        }
        self.deliver(now, id);
    }
}
