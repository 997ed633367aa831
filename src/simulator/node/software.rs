//! Costs of communication for the processor of a node.
//!
//! The parameters are those of CS-RR-281, equation (4), for messages of up to one packet:
//! `T(l, d) = alpha + beta l + gamma d + delta l d`. Part of alpha is paid by the source and part
//! by the destination; part of gamma by the source for every hop of the path, the rest by the
//! node that the packet comes to.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Costs of a packet at the source before its first link can have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// Preparation of each packet.
    pub per_packet: SimDuration,
    /// Copying, for each byte of the packet; free unless given.
    #[serde(default)]
    pub per_byte: PerByte,
    /// Route set-up, for each hop to the destination and each packet; none unless given.
    #[serde(default)]
    pub per_hop: SimDuration,
    /// The sends that copy, of several of the same data by one process; every one unless given.
    #[serde(default, skip_serializing_if = "Copies::is_every_send")]
    pub copies: Copies,
    /// True if the next packet is prepared while the link still transmits the previous one.
    pub overlap: bool,
}

/// The sends of a process that copy, of those that send the same data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Copies {
    /// Every send.
    #[default]
    EverySend,
    /// The first one: the others send from the buffer into which it has copied.
    Once,
}

impl Copies {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_every_send(&self) -> bool {
        *self == Self::EverySend
    }
}

impl Default for Sending {
    /// [`FREE`](Self::FREE).
    fn default() -> Self {
        Self::FREE
    }
}

impl Default for Receiving {
    /// [`FREE`](Self::FREE).
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

    /// A time for each packet; the processor prepares the next packet while the link transmits the previous one.
    #[must_use]
    pub const fn overlapping(per_packet: SimDuration) -> Self {
        Self { per_packet, overlap: true, ..Self::FREE }
    }

    /// A time for each packet; the processor prepares the next packet when the link has transmitted the previous one.
    #[must_use]
    pub const fn in_turn(per_packet: SimDuration) -> Self {
        Self { per_packet, ..Self::FREE }
    }

    /// The same costs, with copying for each byte of a packet.
    #[must_use]
    pub const fn per_byte(mut self, per_byte: PerByte) -> Self {
        self.per_byte = per_byte;
        self
    }

    /// The processor time of preparing a packet for a destination `hops` away, `copied` bytes of which have to be
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

/// Costs of sending on received data, once for all sends of them: the change from receiving to sending, and the copy
/// from the one buffer to the other. Nodes that only pass packets on do not pay it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Forwarding {
    /// For each message; nothing unless given.
    #[serde(default)]
    pub per_message: SimDuration,
    /// For each of its bytes; nothing unless given.
    #[serde(default)]
    pub per_byte: PerByte,
}

impl Forwarding {
    /// The processor time for a message of `bytes` bytes.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.per_message + self.per_byte.time(bytes)
    }

    /// Returns whether it costs nothing.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }
}

/// Costs of a packet at the destination, beside the routing that every node pays.
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

    /// A time for each packet.
    #[must_use]
    pub const fn new(per_packet: SimDuration) -> Self {
        Self { per_packet, ..Self::FREE }
    }

    /// The same costs, with copying for each byte of a packet.
    #[must_use]
    pub const fn per_byte(mut self, per_byte: PerByte) -> Self {
        self.per_byte = per_byte;
        self
    }

    /// The processor time of taking in a packet of `bytes` bytes.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.per_packet + self.per_byte.time(bytes)
    }
}

/// The unit that passes on packets in transit: those that come to a node and are for another one.
///
/// This moves the simulated time as much as contention does, so a machine always names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Router {
    /// A router beside the processor: a packet in transit takes no time of a processor or a memory, and waits for none.
    Hardware,
    /// Software on the first core of every node, which takes the time of `routing` for a packet, after what came to that core
    /// before, and in its turn. With wormhole switching it decides where a head goes, and the flits wait in the buffers.
    Software,
}

/// Costs of a packet at each node that it comes to, the destination included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename = "Routing")]
pub struct RoutingCosts {
    /// Local routing of each packet.
    pub per_packet: SimDuration,
}

/// The acknowledge to a sender of the delivery of its message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Acknowledging {
    /// Its length on the links; 0 B unless given.
    #[serde(default)]
    pub bytes: Bytes,
    /// Processor time at each node that it comes to, the sender included; with hardware routers at the sender alone.
    /// Nothing unless given.
    #[serde(default)]
    pub per_hop: SimDuration,
}
