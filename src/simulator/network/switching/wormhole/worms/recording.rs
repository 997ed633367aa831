//! Record of the flits on links, as transfers of packets.

use super::Worms;
use super::arrival::Transit;
use crate::network::packet::Packet;
use crate::network::transfers::{TransferChannel, Transfers};
use crate::units::{SimDuration, SimTime};

/// Collects the flits that each virtual channel of a link has carried into packets.
pub(super) struct FlitRecorder {
    pub(super) transfers: Transfers,
    /// The packet whose flits a channel carries, by output channel.
    begun: Vec<Option<Begun>>,
}

/// A packet of which a channel has carried the head.
#[derive(Clone, Copy)]
struct Begun {
    packet: Packet,
    first: SimTime,
    last: SimTime,
    on_wire: SimDuration,
}

impl FlitRecorder {
    /// A flit of `packet` was on the wire of a channel from `from` to `to`.
    fn flit(&mut self, channel: u32, packet: Packet, is_tail: bool, (from, to): (SimTime, SimTime)) {
        let begun = self.begun[channel as usize].get_or_insert(Begun {
            packet,
            first: from,
            last: from,
            on_wire: SimDuration::ZERO,
        });
        begun.last = to;
        begun.on_wire += to.since(from);
        if is_tail {
            self.tell(channel);
        }
    }

    /// Tells what a channel has carried of the packet that it carries.
    fn tell(&mut self, channel: u32) {
        if let Some(Begun { packet, first, last, on_wire }) = self.begun[channel as usize].take() {
            self.transfers.carried(channel, &packet, first, (last.since(first), on_wire));
        }
    }
}

impl Worms {
    /// Records the transfers over the links from now on.
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

    /// The run is over: what links have carried of packets that they have not carried whole is told as well.
    pub fn finish_transfers(&mut self, end: SimTime) {
        let Some(mut recorder) = self.recorder.take() else { return };
        for (cycle, wire, transit) in self.pipeline.transits.coming() {
            let (from, to) = self.on_wire(cycle, wire);
            if from <= end {
                self.record(&mut recorder, *transit, (from, to.min(end)));
            }
        }
        for channel in (0..).take(recorder.begun.len()) {
            recorder.tell(channel);
        }
        self.recorder = Some(recorder);
    }

    /// Records the flits that come through their links, all of one latency, in a cycle.
    pub(super) fn record_arrivals(&mut self, cycle: u64, wire: u8, transits: &[Transit]) {
        let Some(mut recorder) = self.recorder.take() else { return };
        for transit in transits {
            self.record(&mut recorder, *transit, self.on_wire(cycle, wire));
        }
        self.recorder = Some(recorder);
    }

    fn record(&self, recorder: &mut FlitRecorder, Transit { to, flit }: Transit, times: (SimTime, SimTime)) {
        let packet = self.crowd[flit.worm() as usize].packet;
        recorder.flit(self.inputs[to as usize].before, packet, flit.is_tail(), times);
    }

    /// Returns the times between which a flit is on the wire that is in its next buffer at the beginning of `cycle`.
    pub(super) fn on_wire(&self, cycle: u64, wire: u8) -> (SimTime, SimTime) {
        let left = cycle - self.wires.latency(wire);
        (self.boundary(left - 1), self.boundary(left))
    }
}
