//! The record of the packets on each link, kept on request.

use super::packet::{Packet, PacketKind};
use crate::engine::EvenInstants;
use crate::trace::Transfer;
use crate::trace::events::EventId;
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The record of the packets on each link, in trains. Speculative packets are kept apart until they can no longer be
/// withdrawn.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    /// The cause of each message, by its number.
    causes: Vec<EventId>,
    channels: Vec<TransferChannel>,
    /// Transfers of each channel that may still be withdrawn.
    given: Vec<VecDeque<RecordedTransfer>>,
    /// Transfers that are final.
    sure: Vec<Transfer>,
}

/// A channel on which packets follow one another: a direction of a link, or a virtual channel of it.
#[derive(Clone, Copy, Debug)]
pub struct TransferChannel {
    /// The sending vertex.
    pub from: u32,
    /// The receiving vertex.
    pub to: u32,
    /// The number of the channel between these vertices, as in [`Transfer::channel`].
    pub number: u32,
}

#[derive(Clone, Copy, Debug)]
struct RecordedTransfer {
    transfer: Transfer,
    message: u32,
    /// Start of the last packet that was recorded together with the last one of this transfer; once it has passed, the
    /// transfer is final.
    sure_at: SimTime,
}

impl Transfers {
    /// Creates an empty record of channels that are numbered in this order.
    #[must_use]
    pub fn new(channels: impl Iterator<Item = TransferChannel>) -> Self {
        let channels: Vec<_> = channels.collect();
        Self { given: vec![VecDeque::new(); channels.len()], channels, ..Self::default() }
    }

    /// Makes `event` the cause of the message that has this number from now on.
    pub fn caused(&mut self, message: u32, event: EventId) {
        let place = message as usize;
        if self.causes.len() <= place {
            self.causes.resize(place + 1, 0);
        }
        self.causes[place] = event;
    }

    /// Returns the cause of the message that has this number.
    #[must_use]
    pub fn cause(&self, message: u32) -> EventId {
        self.causes.get(message as usize).copied().unwrap_or_default()
    }

    /// Records packets like `packet` on a channel, which leave it at `ends` (one run at least) and occupy it for `time`
    /// each.
    ///
    /// Packets recorded together are withdrawn together, or not at all once the last of them has begun before `now`. A
    /// packet that begins at `now` may still be withdrawn, because another event at this instant may precede it.
    #[inline]
    pub fn record(&mut self, now: SimTime, channel: u32, packet: &Packet, ends: &[EvenInstants], time: SimDuration) {
        let given = &mut self.given[channel as usize];
        while let Some(front) = given.front()
            && front.sure_at < now
        {
            self.sure.push(front.transfer);
            given.pop_front();
        }
        let sure_at = ends.last().map_or(now, |run| run.last().before(time));
        for EvenInstants { first, gap, count: packets } in ends.iter().copied() {
            let gap = if packets == 1 { SimDuration::ZERO } else { gap };
            let one = self.transfer(channel, packet, first.before(time), (time, time));
            self.add(
                channel,
                RecordedTransfer { transfer: Transfer { gap, packets, ..one }, message: packet.message, sure_at },
            );
        }
    }

    /// Appends packets to the record of a channel, merged into its last transfer if they continue that.
    #[inline]
    fn add(&mut self, channel: u32, next: RecordedTransfer) {
        let given = &mut self.given[channel as usize];
        match given.back_mut() {
            Some(last) if last.message == next.message && last.transfer.is_continued_by(&next.transfer) => {
                let transfer = last.transfer.with(&next.transfer);
                *last = RecordedTransfer { transfer, ..next };
            }
            _ => given.push_back(next),
        }
    }

    /// Records a packet that a channel has carried from `first` on, with its duration and the part of it on the wire.
    pub fn carried(
        &mut self,
        channel: u32,
        packet: &Packet,
        first: SimTime,
        time_and_on_wire: (SimDuration, SimDuration),
    ) {
        let transfer = self.transfer(channel, packet, first, time_and_on_wire);
        self.sure.push(transfer);
    }

    /// Records a packet that a channel has carried in parallel with others, under the given channel number.
    pub fn carried_beside(
        &mut self,
        (channel, number): (u32, u32),
        packet: &Packet,
        first: SimTime,
        time_and_on_wire: (SimDuration, SimDuration),
    ) {
        let transfer = self.transfer(channel, packet, first, time_and_on_wire);
        self.sure.push(Transfer { channel: number, ..transfer });
    }

    /// Returns the transfer of one packet that begins at `first`, for `time`, of which it is on the wire for `on_wire`.
    fn transfer(
        &self,
        channel: u32,
        packet: &Packet,
        first: SimTime,
        (time, on_wire): (SimDuration, SimDuration),
    ) -> Transfer {
        let TransferChannel { from, to, number } = self.channels[channel as usize];
        Transfer {
            from,
            to,
            channel: number,
            destination: packet.to,
            is_acknowledge: packet.kind == PacketKind::Acknowledge,
            event: self.cause(packet.message),
            bytes: packet.bytes,
            first,
            gap: SimDuration::ZERO,
            time,
            on_wire,
            packets: 1,
        }
    }

    /// Withdraws the last `packets` packets that were recorded on a channel.
    ///
    /// # Panics
    /// If there are fewer, or they are final already.
    pub fn withdraw(&mut self, channel: u32, mut packets: u32) {
        let given = &mut self.given[channel as usize];
        while packets > 0 {
            let last = given.back_mut().expect("withdrawn packets have been recorded and are not final");
            if last.transfer.packets > packets {
                last.transfer.packets -= packets;
                return;
            }
            packets -= last.transfer.packets;
            given.pop_back();
        }
    }

    /// Returns the transfers that are final and have not been dropped.
    #[must_use]
    pub fn finalised(&self) -> &[Transfer] {
        &self.sure
    }

    /// Drops the final transfers, once the caller has taken them over.
    pub fn drop_finalised(&mut self) {
        self.sure.clear();
    }

    /// Ends the record: transfers that have begun before `before` are final, all later ones are dropped.
    pub fn finish(&mut self, before: SimTime) {
        for given in &mut self.given {
            self.sure.extend(given.drain(..).filter_map(|given| given.transfer.until(before)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> SimTime {
        SimTime::START + SimDuration::from_us(us)
    }

    const TIME: SimDuration = SimDuration::from_us(1);

    fn train(first: u64, count: u32) -> [EvenInstants; 1] {
        [EvenInstants { first: us(first), gap: SimDuration::from_us(2), count }]
    }

    #[test]
    fn what_is_given_back_does_not_come_and_the_rest_is_told_in_trains() {
        let mut transfers = Transfers::new(std::iter::once(TransferChannel { from: 3, to: 4, number: 0 }));
        let packet = Packet::new(0, 5, 120, PacketKind::Data);
        let link = 0;
        transfers.caused(0, 17);
        transfers.record(us(0), link, &packet, &train(2, 4), TIME);
        transfers.record(us(0), link, &packet, &train(10, 2), TIME);
        assert!(transfers.finalised().is_empty());
        // Of six packets at 1, 3, …, 11 us the last three are withdrawn.
        transfers.withdraw(0, 6);
        transfers.record(us(5), link, &packet, &train(2, 3), TIME);
        transfers.caused(1, 18);
        transfers.record(us(6), link, &Packet::new(1, 5, 120, PacketKind::Data), &train(9, 1), TIME);
        let sure = transfers.finalised().to_vec();
        transfers.drop_finalised();
        assert_eq!(sure.len(), 1);
        assert_eq!((sure[0].packets, sure[0].first, sure[0].end(), sure[0].event), (3, us(1), us(6), 17));
        transfers.finish(us(7));
        assert!(transfers.finalised().is_empty());
    }

    #[test]
    fn what_begins_at_this_instant_may_still_be_given_back() {
        let mut transfers = Transfers::new(std::iter::once(TransferChannel { from: 3, to: 4, number: 0 }));
        transfers.record(us(0), 0, &Packet::new(0, 5, 120, PacketKind::Data), &train(2, 1), TIME);
        transfers.record(us(1), 0, &Packet::new(1, 5, 120, PacketKind::Data), &train(9, 1), TIME);
        transfers.withdraw(0, 2);
        transfers.finish(us(20));
        assert!(transfers.finalised().is_empty());
    }
}
