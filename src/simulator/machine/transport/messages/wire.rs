//! The network between interfaces: a delay without contention; otherwise packets or flows on links.

mod flows;
mod free;
mod packets;

use crate::engine::Streams;
use crate::machine::transport::MessageId;
use crate::network::{BufferDeadlock, Contention, Network, Topology, Transfers};
use crate::node::Interface;
use crate::trace::LinkLoad;
use crate::trace::events::EventId;
use crate::units::{PerByte, SimDuration, SimTime};
use flows::FlowWire;
use free::FreeWire;
use packets::PacketWire;

/// A part of a message that has arrived at its destination: the whole message, or a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    pub message: MessageId,
    pub bytes: u64,
    /// The arrival of the first byte, if the event is the arrival of the last byte.
    pub since: Option<SimTime>,
    /// The place of the packet, which occupies a buffer until it is taken.
    parked: u32,
}

/// The `parked` value of a part that is not a packet.
const WHOLE: u32 = u32::MAX;

impl Piece {
    pub const fn whole(message: MessageId, bytes: u64) -> Self {
        Self { message, bytes, since: None, parked: WHOLE }
    }
}

/// The nodes of the two ends of a message, and its interface.
#[derive(Clone, Copy)]
pub struct WireEnds {
    pub from: u32,
    pub to: u32,
    pub interface: u32,
}

/// The network.
pub enum Wire {
    /// Every message has the network to itself.
    Free(Box<FreeWire>),
    /// Messages are cut into packets, which wait for each other.
    Packets(Box<PacketWire>),
    /// Messages are flows that share the links.
    Flows(Box<FlowWire>),
}

impl Wire {
    pub fn new(network: &Network, interface: &Interface, topology: Topology, streams: Streams) -> Self {
        match network.contention {
            Contention::Off => Self::Free(Box::new(FreeWire::new(network, topology))),
            Contention::FirstComeFirstServed | Contention::RoundRobin(_) => {
                Self::Packets(Box::new(PacketWire::new(network, topology, streams)))
            }
            Contention::FairFlows => Self::Flows(Box::new(FlowWire::new(network, interface, topology, streams))),
        }
    }

    pub fn memory(network: &Network, interface: &Interface, topology: &Topology, destinations: u32) -> f64 {
        match network.contention {
            Contention::Off => 0.0,
            Contention::FirstComeFirstServed | Contention::RoundRobin(_) => {
                PacketWire::memory(network, topology, destinations)
            }
            Contention::FairFlows => FlowWire::memory(network, interface, topology, destinations),
        }
    }

    /// Returns the time that each byte occupies an interface alone, given the interface's own time `per_byte`. Without
    /// contention a slower link delays both ends; flows share the interfaces.
    pub fn interface_time(&self, per_byte: PerByte) -> PerByte {
        match self {
            Self::Free(free) => free.slower(per_byte),
            Self::Packets(_) => per_byte,
            Self::Flows(_) => PerByte::FREE,
        }
    }

    /// Returns the time from the injection of a message to the arrival of its first byte at its destination; `None` if
    /// packets or flows carry it.
    pub fn delay(&self, from: u32, to: u32, bytes: u64) -> Option<SimDuration> {
        let Self::Free(free) = self else { return None };
        Some(free.delay(from, to, bytes))
    }

    /// Returns `true` if messages do not wait for each other.
    pub const fn is_free_of_contention(&self) -> bool {
        matches!(self, Self::Free(_))
    }

    /// Returns the number of links between two nodes if messages do not wait for each other, otherwise 0.
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        let Self::Free(free) = self else { return 0 };
        free.hops(from, to)
    }

    /// Returns the largest part of a message that enters the network at once.
    pub fn packet_bytes(&self) -> u64 {
        match self {
            Self::Free(_) | Self::Flows(_) => u64::MAX,
            Self::Packets(packets) => packets.packet_bytes(),
        }
    }

    /// Injects a part of a message into the network.
    pub fn inject(&mut self, now: SimTime, ends: WireEnds, message: MessageId, bytes: u64) {
        match self {
            Self::Free(_) => {}
            Self::Packets(packets) => packets.inject(now, ends, message, bytes),
            Self::Flows(flows) => flows.inject(now, ends, message, bytes),
        }
    }

    /// Returns the number of links that packets, or messages as flows, have crossed or will cross.
    pub const fn crossed(&self) -> u64 {
        match self {
            Self::Free(_) => 0,
            Self::Packets(packets) => packets.crossed(),
            Self::Flows(flows) => flows.crossed(),
        }
    }

    /// Frees the buffer of a packet that the interface of its destination has taken.
    pub fn release(&mut self, now: SimTime, piece: Piece) {
        if let Self::Packets(packets) = self
            && piece.parked != WHOLE
        {
            packets.release(now, piece.parked);
        }
    }

    /// Returns the time of the next event, and whether it comes after all other events at that time.
    pub fn next_event(&mut self) -> Option<(SimTime, bool)> {
        match self {
            Self::Free(_) => None,
            Self::Packets(packets) => packets.next_event().map(|time| (time, false)),
            Self::Flows(flows) => flows.next_event().map(|time| (time, true)),
        }
    }

    /// Runs the next event of the network. Returns its time, and the parts that have arrived at their destinations.
    pub fn step(&mut self) -> Option<(SimTime, Vec<Piece>)> {
        match self {
            Self::Free(_) => None,
            Self::Packets(packets) => packets.step(),
            Self::Flows(flows) => flows.step(),
        }
    }

    pub fn caused(&mut self, message: MessageId, event: EventId) {
        if let Some(transfers) = self.transfers() {
            transfers.caused(message, event);
        }
    }

    /// Gives a message the cause of message `other`.
    pub fn caused_as(&mut self, message: MessageId, other: MessageId) {
        if let Some(transfers) = self.transfers() {
            transfers.caused(message, transfers.cause(other));
        }
    }

    pub fn loads(&self, now: SimTime) -> Vec<LinkLoad> {
        match self {
            Self::Free(_) => Vec::new(),
            Self::Packets(packets) => packets.loads(now),
            Self::Flows(flows) => flows.loads(now),
        }
    }

    pub fn record_transfers(&mut self) {
        match self {
            Self::Free(_) => {}
            Self::Packets(packets) => packets.record_transfers(),
            Self::Flows(flows) => flows.record_transfers(),
        }
    }

    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        match self {
            Self::Free(_) => None,
            Self::Packets(packets) => packets.transfers(),
            Self::Flows(flows) => flows.transfers(),
        }
    }

    pub fn finish_transfers(&mut self, end: SimTime) {
        match self {
            Self::Free(_) => {}
            Self::Packets(packets) => packets.finish_transfers(end),
            Self::Flows(flows) => flows.finish_transfers(end),
        }
    }

    pub fn standstill(&self) -> BufferDeadlock {
        match self {
            Self::Free(_) | Self::Flows(_) => BufferDeadlock::default(),
            Self::Packets(packets) => packets.standstill(),
        }
    }
}
