//! Statistics of the links of a machine: their loads and, on request, every transfer with its cause.

use super::{Carrier, MessageId, PacketTransport};
use crate::network::Transfers;
use crate::trace::LinkLoad;
use crate::trace::events::EventId;
use crate::units::SimTime;

impl PacketTransport {
    /// Returns the load of every direction of a link up to `now`, the end of the run; the links are not used
    /// afterwards.
    #[must_use]
    pub fn take_link_loads(&mut self, now: SimTime) -> Vec<LinkLoad> {
        match &mut self.carrier {
            Carrier::Packets(fabric) => fabric.loads(now),
            Carrier::Trains(trains) => trains.take_loads(now),
        }
    }

    /// Starts to record the transfers over the links.
    pub fn record_transfers(&mut self) {
        match &mut self.carrier {
            Carrier::Packets(fabric) => fabric.record_transfers(),
            Carrier::Trains(trains) => trains.record_transfers(),
        }
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        match &mut self.carrier {
            Carrier::Packets(fabric) => fabric.transfers(),
            Carrier::Trains(trains) => trains.transfers(),
        }
    }

    /// Ends the recording of transfers at `end`, the end of the run. The [`transfers`](Self::transfers) are those that
    /// began by then. In trains, whose transfers are recorded ahead of time, they are those that began before `end`.
    pub fn finish_transfers(&mut self, end: SimTime) {
        match &mut self.carrier {
            Carrier::Packets(fabric) => fabric.finish_transfers(end),
            Carrier::Trains(trains) => trains.transfers().into_iter().for_each(|transfers| transfers.finish(end)),
        }
    }

    /// Names `event` as the cause of message `id`, if transfers are recorded.
    pub(super) fn record_cause(&mut self, id: MessageId, event: EventId) {
        if let Some(transfers) = self.transfers() {
            transfers.caused(id, event);
        }
    }
}
