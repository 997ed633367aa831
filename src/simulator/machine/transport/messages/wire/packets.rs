//! Packets that wait for each other on links and for buffers.

use super::{Piece, WireEnds};
use crate::engine::{Calendar, Slab, Streams};
use crate::machine::transport::MessageId;
use crate::network::{BufferDeadlock, Fabric, ForwardedBy, HopEvent, Network, Packet, PacketKind, Topology, Transfers};
use crate::trace::LinkLoad;
use crate::units::SimTime;

/// The links of a network, and the packets that wait for the interface of their destination.
pub struct PacketWire {
    fabric: Fabric,
    calendar: Calendar,
    packet_bytes: u64,
    hops: Vec<HopEvent>,
    /// The number of links that packets have crossed or will cross.
    crossed: u64,
    parked: Slab<Packet>,
}

impl PacketWire {
    pub fn new(network: &Network, topology: Topology, streams: Streams) -> Self {
        Self {
            fabric: Fabric::new(network, topology, ForwardedBy::Router, streams),
            calendar: Calendar::new(),
            packet_bytes: network.switching.packet_bytes(),
            hops: Vec::new(),
            crossed: 0,
            parked: Slab::new(),
        }
    }

    pub fn memory(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        Fabric::memory(network, topology, destinations)
    }

    pub const fn packet_bytes(&self) -> u64 {
        self.packet_bytes
    }

    /// Injects a packet of a message into the network.
    pub fn inject(&mut self, now: SimTime, ends: WireEnds, message: MessageId, bytes: u64) {
        let bytes = u32::try_from(bytes).expect("check limits the size of packets");
        let packet = Packet::new(message, ends.to, bytes, PacketKind::Data);
        self.fabric.send(&mut self.calendar, now, ends.from, packet);
        self.crossed += u64::from(self.fabric.hops(ends.from, ends.to));
    }

    /// Returns the number of links that packets have crossed or will cross.
    pub const fn crossed(&self) -> u64 {
        self.crossed
    }

    /// Frees the buffer of a packet that the interface of its destination has taken.
    pub fn release(&mut self, now: SimTime, parked: u32) {
        self.fabric.release(&mut self.calendar, now, self.parked.take(parked));
    }

    pub fn next_event(&mut self) -> Option<SimTime> {
        self.calendar.next_time()
    }

    /// Runs the next event of the network. Returns its time, and the packets that have arrived at their destinations.
    pub fn step(&mut self) -> Option<(SimTime, Vec<Piece>)> {
        let (now, entity) = self.calendar.pop()?;
        self.fabric.step(&mut self.calendar, now, entity, &mut self.hops);
        let mut pieces = Vec::new();
        for hop in std::mem::take(&mut self.hops) {
            match hop.ends() {
                (packet, _, Some(at)) if packet.to == at => pieces.push(self.park(now, packet)),
                (packet, _, Some(at)) => self.fabric.send(&mut self.calendar, now, at, packet),
                _ => {}
            }
        }
        Some((now, pieces))
    }

    fn park(&mut self, now: SimTime, packet: Packet) -> Piece {
        let since = Some(self.fabric.first_byte(now, &packet));
        Piece { message: packet.message, bytes: u64::from(packet.bytes), since, parked: self.parked.put(packet) }
    }

    pub fn loads(&self, now: SimTime) -> Vec<LinkLoad> {
        self.fabric.loads(now)
    }

    pub fn record_transfers(&mut self) {
        self.fabric.record_transfers();
    }

    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.fabric.transfers()
    }

    pub fn finish_transfers(&mut self, end: SimTime) {
        self.fabric.finish_transfers(end);
    }

    pub fn standstill(&self) -> BufferDeadlock {
        self.fabric.standstill()
    }
}
