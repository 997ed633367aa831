//! Processor costs of communication software.
//!
//! The parameters are those of CS-RR-281, equation (4), for messages of up to one packet: `T(l, d) = alpha + beta l +
//! gamma d + delta l d`. Part of alpha is paid by the source and part by the destination. Part of gamma is paid by the
//! source for every hop of the path, the rest by each node at which the packet arrives.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Costs of a packet at its source, before the first link can transmit it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// Preparation of each packet.
    pub per_packet: SimDuration,
    /// Copying, for each byte of the packet; free unless given.
    #[serde(default)]
    pub per_byte: PerByte,
    /// Route set-up, for each packet and each hop to the destination; zero unless given.
    #[serde(default)]
    pub per_hop: SimDuration,
    /// The sends that copy their data if one process sends the same data several times; every one unless given.
    #[serde(default, skip_serializing_if = "Copies::is_every_send")]
    pub copies: Copies,
    /// `true` if the next packet is prepared while the link, or the memory that both cores share, still transmits the
    /// previous one.
    pub overlap: bool,
}

/// The sends that copy their data if one process sends the same data several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Copies {
    /// Every send copies.
    #[default]
    EverySend,
    /// Only the first send copies; the others send from the buffer into which the data were copied.
    Once,
}

impl Copies {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    fn is_every_send(&self) -> bool {
        *self == Self::EverySend
    }
}

impl Default for Sending {
    /// Returns [`FREE`](Self::FREE).
    fn default() -> Self {
        Self::FREE
    }
}

impl Default for Receiving {
    /// Returns [`FREE`](Self::FREE).
    fn default() -> Self {
        Self::FREE
    }
}

impl Sending {
    /// Software that takes no time.
    pub const FREE: Self = Self {
        per_packet: SimDuration::ZERO,
        per_byte: PerByte::FREE,
        per_hop: SimDuration::ZERO,
        copies: Copies::EverySend,
        overlap: false,
    };

    /// Creates costs per packet. The processor prepares the next packet while the link transmits the previous one.
    #[must_use]
    pub const fn overlapping(per_packet: SimDuration) -> Self {
        Self { per_packet, overlap: true, ..Self::FREE }
    }

    /// Creates costs per packet. The processor prepares the next packet after the link has transmitted the previous
    /// one.
    #[must_use]
    pub const fn in_turn(per_packet: SimDuration) -> Self {
        Self { per_packet, ..Self::FREE }
    }

    /// Adds the cost of copying each byte of a packet.
    #[must_use]
    pub const fn per_byte(mut self, per_byte: PerByte) -> Self {
        self.per_byte = per_byte;
        self
    }

    /// Returns the processor time of preparing a packet for a destination `hops` away if `copied` of its bytes are
    /// copied.
    #[must_use]
    pub fn time(&self, copied: u64, hops: u32) -> SimDuration {
        self.per_packet + self.per_byte.time(copied) + self.per_hop * u64::from(hops)
    }

    /// Returns whether a send copies; `again` if its process has sent the same data before.
    #[must_use]
    pub fn does_copy(&self, again: bool) -> bool {
        !again || self.copies == Copies::EverySend
    }
}

/// Costs of forwarding received data, paid once for all sends of the same data: the change from receiving to sending,
/// and the copy between the two buffers. Nodes that only pass packets on do not pay it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Forwarding {
    /// Cost of each message; zero unless given.
    #[serde(default)]
    pub per_message: SimDuration,
    /// Cost of each byte of the message; zero unless given.
    #[serde(default)]
    pub per_byte: PerByte,
}

impl Forwarding {
    /// Returns the processor time for a message of `bytes` bytes.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.per_message + self.per_byte.time(bytes)
    }

    /// Returns whether forwarding costs nothing.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }
}

/// Costs of a packet at its destination, in addition to the routing that every node pays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Receiving {
    /// Reception of each packet.
    pub per_packet: SimDuration,
    /// Copying, for each byte of the packet; free unless given.
    #[serde(default)]
    pub per_byte: PerByte,
}

impl Receiving {
    /// Software that takes no time.
    pub const FREE: Self = Self { per_packet: SimDuration::ZERO, per_byte: PerByte::FREE };

    /// Creates costs per packet.
    #[must_use]
    pub const fn new(per_packet: SimDuration) -> Self {
        Self { per_packet, ..Self::FREE }
    }

    /// Adds the cost of copying each byte of a packet.
    #[must_use]
    pub const fn per_byte(mut self, per_byte: PerByte) -> Self {
        self.per_byte = per_byte;
        self
    }

    /// Returns the processor time of receiving a packet of `bytes` bytes.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.per_packet + self.per_byte.time(bytes)
    }
}

/// The unit that forwards packets in transit, that is packets that arrive at a node other than their destination.
///
/// The choice affects the simulated time as much as contention does, so a machine must always state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Router {
    /// A router separate from the processor. A packet in transit takes no processor or memory time and waits for
    /// neither.
    Hardware,
    /// Software on the first core of every node. It takes the time of `routing` for each packet, after earlier packets
    /// at the same core and when the router gets its turn. With wormhole switching, it routes the head of a packet
    /// while the flits wait in the buffers.
    Software,
}

/// Costs of a packet at each node at which it arrives, including the destination.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename = "Routing")]
pub struct RoutingCosts {
    /// Local routing of each packet.
    pub per_packet: SimDuration,
}

/// The acknowledgement to a sender that its message has been delivered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Acknowledging {
    /// Length of an acknowledgement on the links; 0 B unless given.
    #[serde(default)]
    pub bytes: Bytes,
    /// Processor time at each node at which an acknowledgement arrives, including the sender; with hardware routers at
    /// the sender only. Zero unless given.
    #[serde(default)]
    pub per_hop: SimDuration,
}

impl Acknowledging {
    /// Returns the length of an acknowledgement as that of a packet.
    ///
    /// # Panics
    /// If it has 2^32 bytes or more, which a check of the machine rejects.
    #[must_use]
    pub(crate) fn packet_bytes(&self) -> u32 {
        u32::try_from(self.bytes.count()).expect("check limits the size of packets")
    }
}
