//! Flows that share links and interfaces.

use super::{Piece, WireEnds};
use crate::engine::Streams;
use crate::machine::transport::MessageId;
use crate::network::{FlowEnds, FlowNetwork, Gates, Network, Topology, Transfers};
use crate::node::{Injection, Interface};
use crate::trace::LinkLoad;
use crate::units::SimTime;

/// A network of flows whose gates are the interfaces.
pub struct FlowWire(FlowNetwork);

fn gates(interface: &Interface) -> Gates {
    let in_turn = interface.injection != Injection::ByContention;
    // Thresholds do not count the header.
    let duplex = interface.duplex.map(|largest| largest.count() + interface.header.count());
    Gates { per_node: interface.count, per_byte: interface.gap_per_byte, in_turn, duplex }
}

impl FlowWire {
    pub fn new(network: &Network, interface: &Interface, topology: Topology, streams: Streams) -> Self {
        Self(FlowNetwork::new(network, topology, gates(interface), streams))
    }

    pub fn memory(network: &Network, interface: &Interface, topology: &Topology, destinations: u32) -> f64 {
        FlowNetwork::memory(network, topology, gates(interface), destinations)
    }

    /// Injects a message into the network.
    pub fn inject(&mut self, now: SimTime, WireEnds { from, to, interface }: WireEnds, id: MessageId, bytes: u64) {
        self.0.enter(now, FlowEnds { from, to, gate: interface }, id, bytes);
    }

    /// Returns the number of links that messages have crossed or will cross.
    pub const fn crossed(&self) -> u64 {
        self.0.crossed()
    }

    pub fn next_event(&self) -> Option<SimTime> {
        self.0.next_event()
    }

    /// Runs the next event of the network. Returns its time, and the message that has arrived at its destination, if
    /// there is one.
    pub fn step(&mut self) -> Option<(SimTime, Vec<Piece>)> {
        let (now, arrived) = self.0.step()?;
        Some((now, arrived.map(|(message, bytes)| Piece::whole(message, bytes)).into_iter().collect()))
    }

    pub fn loads(&self, now: SimTime) -> Vec<LinkLoad> {
        self.0.loads(now).collect()
    }

    pub fn record_transfers(&mut self) {
        self.0.record_transfers();
    }

    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.0.transfers()
    }

    pub fn finish_transfers(&mut self, end: SimTime) {
        if let Some(transfers) = self.transfers() {
            transfers.finish(end);
        }
    }
}
