//! Packets and the events of their hops.

/// The kind of a packet.
// As wide as the other fields of `Packet`: copying a packet right after it has been written stalls on narrower fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PacketKind {
    /// A part of a message, in transit to the destination of the message.
    Data,
    /// The acknowledge of a whole message, in transit back to its source.
    Acknowledge,
}

/// A packet in transit.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The message to which the packet belongs; opaque to the network.
    pub message: u32,
    /// The destination vertex.
    pub to: u32,
    /// The length in bytes.
    pub bytes: u32,
    /// Data or acknowledge.
    pub kind: PacketKind,
    /// Index of the network's own state of the packet.
    pub(super) place: u32,
}

/// The `place` of a packet for which the network has no state.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Packet {
    /// Creates a packet that has not entered the network yet.
    #[must_use]
    pub const fn new(message: u32, to: u32, bytes: u32, kind: PacketKind) -> Self {
        Self { message, to, bytes, kind, place: NOWHERE }
    }
}

/// The end of a hop of a packet, or of a part of a hop.
#[derive(Clone, Copy, Debug)]
pub enum HopEvent {
    /// The tail of the packet has left a vertex. Reported at the source, and at every vertex unless the packet is in a
    /// router beside the node.
    Left {
        /// The packet.
        packet: Packet,
        /// The vertex that the packet has left.
        from: u32,
    },
    /// The tail of the packet has left one vertex and arrived at the next in the same instant.
    Crossed {
        /// The packet.
        packet: Packet,
        /// The vertex that the packet has left.
        from: u32,
        /// The vertex at which the packet has arrived.
        at: u32,
    },
    /// The packet has arrived at a vertex: its tail if the vertex is the destination, otherwise enough of the packet to
    /// forward it.
    Arrived {
        /// The packet.
        packet: Packet,
        /// The vertex at which the packet has arrived.
        at: u32,
    },
}

impl HopEvent {
    /// Returns the packet, the vertex that it has left, if any, and the vertex at which it has arrived, if any.
    #[must_use]
    pub const fn ends(self) -> (Packet, Option<u32>, Option<u32>) {
        match self {
            Self::Left { packet, from } => (packet, Some(from), None),
            Self::Crossed { packet, from, at } => (packet, Some(from), Some(at)),
            Self::Arrived { packet, at } => (packet, None, Some(at)),
        }
    }
}

/// The party that forwards a packet at an intermediate vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedBy {
    /// The caller, which is notified of the arrival and calls [`Fabric::send`](super::Fabric::send).
    Software,
    /// The router: the fabric itself if routers are clocked; otherwise the caller, as soon as it is notified of the
    /// arrival.
    Router,
}
