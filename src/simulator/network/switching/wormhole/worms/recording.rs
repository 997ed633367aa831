//! The record of flits on links, as transfers of packets.

use super::Worms;
use super::departures::FlitDeparture;
use crate::network::packet::Packet;
use crate::network::transfers::{TransferChannel, Transfers};
use crate::units::{SimDuration, SimTime};

/// Combines the flits that each virtual channel of a link has carried into packets.
pub(super) struct FlitRecorder {
    pub(super) transfers: Transfers,
    /// By output channel, the packet whose flits the channel carries.
    begun: Vec<Option<PartialTransfer>>,
}

/// A packet whose head a channel has carried.
#[derive(Clone, Copy)]
struct PartialTransfer {
    packet: Packet,
    first: SimTime,
    last: SimTime,
    on_wire: SimDuration,
}

impl FlitRecorder {
    /// Records a flit of `packet` that was on the link of a channel from `from` to `to`.
    fn flit(&mut self, channel: u32, packet: Packet, is_tail: bool, (from, to): (SimTime, SimTime)) {
        let begun = self.begun[channel as usize].get_or_insert(PartialTransfer {
            packet,
            first: from,
            last: from,
            on_wire: SimDuration::ZERO,
        });
        begun.last = to;
        begun.on_wire += to.since(from);
        if is_tail {
            self.flush(channel);
        }
    }

    /// Records the transfer of the part that a channel has carried of its current packet.
    fn flush(&mut self, channel: u32) {
        if let Some(PartialTransfer { packet, first, last, on_wire }) = self.begun[channel as usize].take() {
            self.transfers.carried(channel, &packet, first, (last.since(first), on_wire));
        }
    }
}

impl Worms {
    /// Starts recording the transfers over the links.
    pub fn record_transfers(&mut self) {
        let shape = self.shape;
        let channel = |number: u32| {
            let (from, port) = (shape.router(number), shape.port(number));
            let link = self.topology.neighbour(from, port).filter(|_| port < shape.links);
            TransferChannel { from, to: link.map_or(from, |(to, _)| to), number: number % shape.channels }
        };
        let channels = self.topology.vertices() * shape.of_router;
        let transfers = Transfers::new((0..channels).map(channel));
        self.recorder = Some(Box::new(FlitRecorder { transfers, begun: vec![None; channels as usize] }));
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.recorder.as_mut().map(|recorder| &mut recorder.transfers)
    }

    /// Ends the record at `end`, the end of the run, and adds the transfers of packets that links have carried in part.
    pub fn finish_transfers(&mut self, end: SimTime) {
        let Some(mut recorder) = self.recorder.take() else { return };
        for (cycle, wire, departure) in self.pipeline.departures.pending(&self.inputs) {
            let (from, to) = self.on_wire(cycle, wire);
            if from <= end {
                self.record(&mut recorder, *departure, (from, to.min(end)));
            }
        }
        for channel in (0..).take(recorder.begun.len()) {
            recorder.flush(channel);
        }
        self.recorder = Some(recorder);
    }

    /// Records the flits that arrive in `cycle` over links of one latency.
    pub(super) fn record_arrivals(&mut self, cycle: u64, wire: u8, departures: &[FlitDeparture]) {
        let Some(mut recorder) = self.recorder.take() else { return };
        for departure in departures.iter().filter(|departure| departure.is_over(wire, &self.inputs)) {
            self.record(&mut recorder, *departure, self.on_wire(cycle, wire));
        }
        self.recorder = Some(recorder);
    }

    fn record(
        &self,
        recorder: &mut FlitRecorder,
        FlitDeparture { to, flit, .. }: FlitDeparture,
        times: (SimTime, SimTime),
    ) {
        let packet = self.table[flit.worm() as usize].packet;
        recorder.flit(self.inputs[to as usize].before, packet, flit.is_tail(), times);
    }

    /// Returns the start and end of the time on the link for a flit that is in its next buffer at the beginning of
    /// `cycle`.
    pub(super) fn on_wire(&self, cycle: u64, wire: u8) -> (SimTime, SimTime) {
        let left = cycle - self.latencies.latency(wire);
        (self.boundary(left - 1), self.boundary(left))
    }
}
