//! The network between interfaces: a delay where messages do not meet, packets on links where they do.

use crate::engine::{Calendar, Streams};
use crate::machine::transport::MessageId;
use crate::network::{
    Contention, Fabric, HopEvent, Network, Onward, Packet, PacketKind, Standstill, Switching, Topology, Transfers,
};
use crate::trace::LinkLoad;
use crate::trace::events::EventId;
use crate::units::{PerByte, SimDuration, SimTime};

/// A part of a message that has come to its destination: all of it, or a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    pub message: MessageId,
    pub bytes: u64,
    /// The place of the packet, which has a buffer until it is taken.
    parked: u32,
}

/// No packet.
const WHOLE: u32 = u32::MAX;

impl Piece {
    pub const fn whole(message: MessageId, bytes: u64) -> Self {
        Self { message, bytes, parked: WHOLE }
    }
}

/// The network.
pub enum Wire {
    /// Every message has it to itself.
    Free(Box<Free>),
    /// Messages are cut into packets, which wait for each other.
    Shared(Box<Shared>),
}

/// A network without contention.
pub struct Free {
    topology: Topology,
    /// Delay of the first byte on each link.
    per_hop: SimDuration,
    per_byte: PerByte,
    /// Decides on the bytes that every node between stores before it sends them on.
    switching: Switching,
}

/// Packets on links.
pub struct Shared {
    fabric: Fabric,
    calendar: Calendar,
    packet_bytes: u64,
    hops: Vec<HopEvent>,
    /// Packets that wait for the interface of their destination.
    parked: Vec<Packet>,
    vacant: Vec<u32>,
}

impl Shared {
    fn park(&mut self, packet: Packet) -> Piece {
        let parked = self.vacant.pop().unwrap_or_else(|| {
            self.parked.push(packet);
            u32::try_from(self.parked.len() - 1).expect("fewer than 2^32 packets at once")
        });
        self.parked[parked as usize] = packet;
        Piece { message: packet.message, bytes: packet.bytes.into(), parked }
    }
}

impl Wire {
    pub fn new(network: &Network, topology: Topology, streams: Streams) -> Self {
        let packet_bytes = network.switching.packet_bytes();
        match network.contention {
            Contention::Off => Self::Free(Box::new(Free {
                topology,
                per_hop: network.links.latency + network.links.per_packet,
                per_byte: network.links.byte_time(),
                switching: network.switching.clone(),
            })),
            Contention::FirstComeFirstServed => Self::Shared(Box::new(Shared {
                fabric: Fabric::new(network, topology, Onward::ByRouter, streams),
                calendar: Calendar::new(),
                packet_bytes,
                hops: Vec::new(),
                parked: Vec::new(),
                vacant: Vec::new(),
            })),
        }
    }

    pub fn memory(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        match network.contention {
            Contention::Off => 0.0,
            Contention::FirstComeFirstServed => Fabric::memory(network, topology, destinations),
        }
    }

    fn shared(&mut self) -> Option<&mut Shared> {
        match self {
            Self::Free(_) => None,
            Self::Shared(shared) => Some(shared),
        }
    }

    /// The time from the entry of a message to that of its first byte at its destination; `None` if packets carry it.
    pub fn delay(&self, from: u32, to: u32, bytes: u64) -> Option<SimDuration> {
        let Self::Free(free) = self else { return None };
        let hops = u64::from(free.topology.distance(from, to));
        let stored = free.per_byte.time(free.switching.header_bytes(bytes.min(free.switching.packet_bytes())));
        Some(free.per_hop * hops + stored * hops.saturating_sub(1))
    }

    pub fn packet_bytes(&self) -> u64 {
        match self {
            Self::Free(_) => u64::MAX,
            Self::Shared(shared) => shared.packet_bytes,
        }
    }

    /// A packet of a message enters the network; the links that it is going to cross.
    pub fn inject(&mut self, now: SimTime, from: u32, to: u32, message: MessageId, bytes: u64) -> u64 {
        let Some(Shared { fabric, calendar, .. }) = self.shared() else { return 0 };
        let bytes = u32::try_from(bytes).expect("check limits the size of packets");
        fabric.send(calendar, now, from, Packet::new(message, to, bytes, PacketKind::Data));
        u64::from(fabric.hops(from, to))
    }

    /// The interface of its destination has taken a packet.
    pub fn release(&mut self, now: SimTime, piece: Piece) {
        if let Some(Shared { fabric, calendar, parked, vacant, .. }) = self.shared().filter(|_| piece.parked != WHOLE) {
            fabric.release(calendar, now, parked[piece.parked as usize]);
            vacant.push(piece.parked);
        }
    }

    pub fn next_event(&mut self) -> Option<SimTime> {
        self.shared()?.calendar.next_time()
    }

    /// Runs the next event of the network; its time, and the packets that have come to their destinations.
    pub fn step(&mut self) -> Option<(SimTime, Vec<Piece>)> {
        let shared = self.shared()?;
        let (now, entity) = shared.calendar.pop()?;
        shared.fabric.step(&mut shared.calendar, now, entity, &mut shared.hops);
        let mut pieces = Vec::new();
        for hop in std::mem::take(&mut shared.hops) {
            match hop.ends() {
                (packet, _, Some(at)) if packet.to == at => pieces.push(shared.park(packet)),
                (packet, _, Some(at)) => shared.fabric.send(&mut shared.calendar, now, at, packet),
                _ => {}
            }
        }
        Some((now, pieces))
    }

    pub fn caused(&mut self, message: MessageId, event: EventId) {
        if let Some(transfers) = self.transfers() {
            transfers.caused(message, event);
        }
    }

    pub fn loads(&self, now: SimTime) -> Vec<LinkLoad> {
        let load = |(from, to, packets, busy)| LinkLoad { from, to, packets, busy };
        match self {
            Self::Free(_) => Vec::new(),
            Self::Shared(shared) => shared.fabric.loads(now).into_iter().map(load).collect(),
        }
    }

    pub fn record_transfers(&mut self) {
        if let Some(shared) = self.shared() {
            shared.fabric.record_transfers();
        }
    }

    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.shared().and_then(|shared| shared.fabric.transfers())
    }

    pub fn finish_transfers(&mut self, end: SimTime) {
        if let Some(shared) = self.shared() {
            shared.fabric.finish_transfers(end);
        }
    }

    pub fn standstill(&self) -> Standstill {
        match self {
            Self::Free(_) => Standstill::default(),
            Self::Shared(shared) => shared.fabric.standstill(),
        }
    }
}
