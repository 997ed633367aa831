//! Packets, and what they come through.

/// Content of a packet.
// As wide as the other fields of a packet: a packet that is copied as soon as it is made has to wait for its narrow ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PacketKind {
    /// A part of a message, on its way to the message's destination.
    Data,
    /// The acknowledge of a whole message, on its way back to the source.
    Acknowledge,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The message that it is a part of; opaque to the network.
    pub message: u32,
    /// The vertex that it is going to.
    pub to: u32,
    /// Its length.
    pub bytes: u32,
    /// Data or acknowledge.
    pub kind: PacketKind,
    /// Index of the network's own data on the packet.
    pub(super) place: u32,
}

/// The place of a packet of which the network knows nothing.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Packet {
    /// A packet that has not been in the network.
    #[must_use]
    pub const fn new(message: u32, to: u32, bytes: u32, kind: PacketKind) -> Self {
        Self { message, to, bytes, kind, place: NOWHERE }
    }
}

/// End of a hop of a packet, or of a part of one.
#[derive(Clone, Copy, Debug)]
pub enum HopEvent {
    /// All of the packet has left a vertex; reported at its source, and wherever the packet is not in a router beside
    /// the node.
    Left {
        /// The packet.
        packet: Packet,
        /// The vertex.
        from: u32,
    },
    /// All of the packet has left a vertex and come to another, at once.
    Crossed {
        /// The packet.
        packet: Packet,
        /// The vertex that it has left.
        from: u32,
        /// The vertex that it has come to.
        at: u32,
    },
    /// The packet has come to a vertex: all of it if it is its destination, otherwise so much of it that
    /// it can be sent on.
    Arrived {
        /// The packet.
        packet: Packet,
        /// The vertex.
        at: u32,
    },
}

impl HopEvent {
    /// The packet, where it has left a vertex, and where it has come to one.
    #[must_use]
    pub const fn ends(self) -> (Packet, Option<u32>, Option<u32>) {
        match self {
            Self::Left { packet, from } => (packet, Some(from), None),
            Self::Crossed { packet, from, at } => (packet, Some(from), Some(at)),
            Self::Arrived { packet, at } => (packet, None, Some(at)),
        }
    }
}

/// Sender of a packet that has come to a vertex between its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// The caller that is notified of its arrival, by [`Fabric::send`](super::Fabric::send).
    BySoftware,
    /// The router itself where it is clocked; elsewhere the caller that is notified of its arrival, at once.
    ByRouter,
}
