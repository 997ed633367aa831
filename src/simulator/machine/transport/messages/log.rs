//! Optional record of the communication work of processors and interfaces.

use super::arrival::ChargedBytes;
use super::wire::Piece;
use super::{MessageState, MessageTransport};
use crate::machine::RankLocation;
use crate::trace::{BusyInterval, Handling, Passage, PassageStep, Service, Software, SoftwareCharge};
use crate::units::{SimDuration, SimTime};

/// The interface number of messages that do not leave their node.
const NO_INTERFACE: u32 = u32::MAX;

impl MessageTransport {
    /// Records that a core has begun to send a message, which occupies the core for `busy` and its interface from `begin`
    /// on.
    pub(super) fn note_send(
        &mut self,
        (now, begin): (SimTime, SimTime),
        message: &MessageState,
        (core, busy): (u32, SimDuration),
    ) {
        let MessageState { from, bytes, .. } = *message;
        let rest = self.carried(message).saturating_sub(1);
        if !self.is_sent_by_interface(message) {
            let charges = self.charges(self.interface.sending_time(bytes), self.handed(bytes));
            let busy = BusyInterval { processor: core, begin: now, end: now + busy, handling: Handling::Sending };
            self.note_service(now, from, charges, busy);
        }
        let Some(log) = &mut self.log else { return };
        let passage = Passage {
            message: message.serial,
            node: from.node,
            interface: if message.stays_on_its_node { NO_INTERFACE } else { message.interface },
            processor: self.resources.core(from),
            step: PassageStep::Leaves,
            begin,
            end: begin + self.interface.gap_per_byte.time(rest),
            bytes: rest,
            has_gap: true,
        };
        log.passages.push(passage);
    }

    /// Records that a packet of a message enters the network.
    pub(super) fn note_injection(&mut self, now: SimTime, message: &MessageState, packets_before: u64) {
        let Some(log) = &mut self.log else { return };
        let passage = Passage {
            message: message.serial,
            node: message.from.node,
            interface: message.interface,
            processor: self.resources.core(message.from),
            step: PassageStep::Enters { packets_before },
            begin: now,
            end: now,
            bytes: 0,
            has_gap: false,
        };
        log.passages.push(passage);
    }

    /// Records that a part of a message has arrived at the interface of its destination at `now`. The interface has
    /// been taking its bytes since `taken_from`, and may already have taken all of them.
    pub(super) fn note_arrival(&mut self, now: SimTime, taken_from: SimTime, piece: Piece, paid: u64) {
        if self.log.is_none() {
            return;
        }
        let passed = taken_from + self.interface.gap_per_byte.time(paid);
        let (begin, end, bytes) = if passed > now { (taken_from, passed, paid) } else { (now, now, 0) };
        let message = &self.messages[piece.message];
        let passage = Passage {
            message: message.serial,
            node: message.to.node,
            interface: message.interface,
            processor: self.resources.core(message.to),
            step: PassageStep::Comes { hops: self.wire.hops(message.from.node, message.to.node) },
            begin,
            end,
            bytes,
            has_gap: message.arrived == self.carried(message),
        };
        self.log.iter_mut().for_each(|log| log.passages.push(passage));
    }

    /// Records that a processor takes bytes from the interface from `begun` on, at `now` at the latest, and then does
    /// its own part, until `end`.
    pub(super) fn note_taking(
        &mut self,
        (now, end): (SimTime, SimTime),
        begun: SimTime,
        (location, core): (RankLocation, u32),
        (paid, handling): (ChargedBytes, Option<SimDuration>),
    ) {
        let overhead = handling.map_or(NOTHING, |time| (Software::Overhead, 1, time));
        let time = self.reception_time(location, paid);
        // For a message with a header, the time is that of the bytes on the slower side.
        let is_slower = time > self.interface.gap_per_byte.time(paid.interface);
        let taken = if paid.processor < paid.interface && is_slower {
            (Software::HandedBytes, paid.processor, time)
        } else {
            (Software::TakenBytes, paid.interface, time)
        };
        let busy = BusyInterval { processor: core, begin: now, end, handling: Handling::Receiving };
        if begun + taken.2 > now {
            self.note_service(begun, location, [taken, overhead], busy);
        } else {
            self.note_service(now, location, [NOTHING, overhead], busy);
        }
    }

    /// Records that a processor handles a message that has arrived, from `now` to `end`.
    pub(super) fn note_handling(
        &mut self,
        (now, end): (SimTime, SimTime),
        (location, core): (RankLocation, u32),
        bytes: u64,
        is_copied: bool,
    ) {
        let charges = if is_copied {
            self.charges(self.interface.local_receiving_time(bytes), (Software::CopiedBytes, bytes.saturating_sub(1)))
        } else {
            self.charges(self.interface.sending_time(bytes), self.handed(bytes))
        };
        let busy = BusyInterval { processor: core, begin: now, end, handling: Handling::Receiving };
        self.note_service(now, location, charges, busy);
    }

    /// Splits the processor time of a message into its overhead and the time of its bytes.
    fn charges(&self, time: SimDuration, (software, bytes): (Software, u64)) -> [SoftwareCharge; 2] {
        let overhead = time.min(self.interface.overhead);
        [(Software::Overhead, 1, overhead), (software, bytes, time - overhead)]
    }

    /// Returns the bytes of a message at the processor.
    fn handed(&self, bytes: u64) -> (Software, u64) {
        (Software::HandedBytes, self.interface.copied_bytes(bytes))
    }

    /// Records a service that begins at `begin`, and the interval that is booked for it.
    fn note_service(
        &mut self,
        begin: SimTime,
        location: RankLocation,
        [first, second]: [SoftwareCharge; 2],
        busy: BusyInterval,
    ) {
        let processor = self.resources.core(location);
        let Some(log) = &mut self.log else { return };
        log.services.push(Service { processor, end: begin + first.2 + second.2, parts: [first, second, NOTHING] });
        log.busy.push(busy);
    }
}

const NOTHING: SoftwareCharge = (Software::Overhead, 0, SimDuration::ZERO);
