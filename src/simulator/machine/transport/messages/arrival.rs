//! Arrival of messages at the interface and the processor of their destination.

use super::resources::Port;
use super::wire::Piece;
use super::{MessageState, MessageTransport, TransportEvent};
use crate::machine::RankLocation;
use crate::machine::transport::{Completion, MessageId};
use crate::node::Progress;
use crate::units::{SimDuration, SimTime};

/// The bytes of a part of a message that are charged: all except the first byte of the message.
#[derive(Clone, Copy)]
pub struct ChargedBytes {
    /// The bytes charged at the interface, including those of the header.
    pub interface: u64,
    /// The bytes charged at the processor, which the header does not reach.
    pub processor: u64,
}

impl ChargedBytes {
    /// Returns the bytes charged for the first `arrived` bytes of a message, whose header arrives first.
    const fn until(arrived: u64, header: u64) -> Self {
        Self { interface: arrived.saturating_sub(1), processor: arrived.saturating_sub(header).saturating_sub(1) }
    }

    const fn since(self, before: Self) -> Self {
        Self { interface: self.interface - before.interface, processor: self.processor - before.processor }
    }
}

impl MessageTransport {
    /// Handles the arrival of a part of a message at the interface of its destination.
    pub(super) fn arrive(&mut self, now: SimTime, order: u64, piece: Piece) {
        self.wire.release(now, piece);
        let carried = self.carried(&self.messages[piece.message]);
        let message = &mut self.messages[piece.message];
        let is_first = message.arrived == 0;
        let header = self.interface.header.count();
        let before = ChargedBytes::until(message.arrived, header);
        message.arrived += piece.bytes;
        let MessageState { to, resources, arrived, .. } = *message;
        let port = message.destination();
        if message.stays_on_its_node {
            return self.receive(now, piece.message);
        }
        let is_last = arrived == carried;
        let paid = ChargedBytes::until(arrived, header).since(before);
        let cpu = self.resources.cpu(to, resources.cpu);
        let begun = self.start_of_reception(now, piece, cpu, port);
        let end = now.max(begun + self.interface.gap_per_byte.time(paid.interface));
        let gap = if is_last { self.interface.occupancy(carried.min(1)) } else { SimDuration::ZERO };
        self.resources.receive(port, end + gap);
        self.note_arrival(now, begun, piece, paid.interface);
        match self.interface.progress {
            Progress::WhileArriving => {
                let handling = is_last.then(|| self.interface.receiving_overhead(carried));
                let overhead = self.at_node_speed(to, handling.unwrap_or_default());
                let taken = self.resources.end_of(cpu, begun, self.reception_time(to, paid));
                let until = self.resources.end_of(cpu, now.max(taken), overhead);
                self.resources.communicate_until(cpu, now, until);
                self.note_taking((now, until), begun, (to, cpu), (paid, handling));
                if is_last {
                    self.deliver(now, piece.message);
                } else if is_first {
                    self.announce_arriving(piece.message);
                }
            }
            Progress::AfterArrival | Progress::Offloaded if is_last => {
                self.schedule(end, order, TransportEvent::Receive(piece.message));
            }
            Progress::AfterArrival | Progress::Offloaded => {}
        }
    }

    /// Reports when the last byte of a message is at its destination that does not cross a network with contention, and
    /// whose first byte is there: after the others have come through the interface.
    pub(super) fn report_landing(&mut self, now: SimTime, event: TransportEvent) {
        let TransportEvent::Arrive(Piece { message: id, bytes, .. }) = event else { return };
        let message = &self.messages[id];
        if message.stays_on_its_node {
            self.report_landed(id, now);
        } else if self.wire.is_free_of_contention() {
            let free = self.resources.free(self.resources.receiver(message.destination()));
            self.report_landed(id, now.max(free) + self.interface.gap_per_byte.time(bytes.saturating_sub(1)));
        }
    }

    /// Counts bytes that a network with contention has brought to the interface, and reports the last ones.
    pub(super) fn note_landing(&mut self, now: SimTime, piece: Piece) {
        let message = &mut self.messages[piece.message];
        message.landed += piece.bytes;
        let landed = message.landed;
        if landed == self.carried(&self.messages[piece.message]) {
            self.report_landed(piece.message, now);
        }
    }

    /// Reports that the last byte of a message is at its destination at a time from now on.
    fn report_landed(&mut self, id: MessageId, at: SimTime) {
        let message = &self.messages[id];
        if message.role.carries_data() {
            self.completions.push_back(Completion::Landed { handle: message.handle, at });
        }
    }

    /// Returns the time in which the processor of a rank takes bytes from the interface: at its own speed, but not
    /// faster than they pass the interface.
    pub(super) fn reception_time(&self, location: RankLocation, bytes: ChargedBytes) -> SimDuration {
        let ChargedBytes { interface, processor } = bytes;
        let own = self.at_node_speed(location, self.interface.overhead_per_byte.time(processor));
        self.interface.gap_per_byte.time(interface).max(own)
    }

    /// Returns the time from which a part of a message has been taken: as soon as its first byte had arrived and the
    /// interface and, if needed, the processor were free.
    fn start_of_reception(&self, now: SimTime, piece: Piece, cpu: u32, port: Port) -> SimTime {
        let core = match self.interface.progress {
            Progress::WhileArriving => self.resources.free_at(cpu),
            Progress::AfterArrival | Progress::Offloaded => SimTime::START,
        };
        piece.since.map_or(now, |since| since.max(self.resources.free(self.resources.receiver(port))).max(core))
    }

    /// Charges the processor of the destination for a message that has arrived.
    pub(super) fn receive(&mut self, now: SimTime, id: MessageId) {
        let message = &self.messages[id];
        let MessageState { from, to, bytes, resources, .. } = *message;
        let stays = message.stays_on_its_node;
        if stays || self.interface.progress != Progress::Offloaded {
            let is_copied = stays && !self.has_memory_between(from, to);
            let time =
                if is_copied { self.interface.local_receiving_time(bytes) } else { self.interface.sending_time(bytes) };
            let busy = self.at_node_speed(to, time);
            let core = self.resources.cpu(to, resources.cpu);
            let end = self.resources.communicate(core, now, busy);
            self.note_handling((now, end), (to, core), bytes, is_copied);
        }
        self.deliver(now, id);
    }
}
