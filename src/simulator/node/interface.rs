//! Network interfaces: the hardware between a node and its network, and its cost for the processor.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// The network interfaces of a node, in the terms of LogGOPS (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010, section
/// 2).
///
/// A message of s bytes occupies its processor for `overhead` and (s − 1) `overhead_per_byte`, and its interface for
/// `gap` and (s − 1) `gap_per_byte`. Both begin at the same time, when both are free, so that the slower of the two
/// limits the rate at which a process can send; `injection: Queued` lets the processor go first. The first byte enters the network after `overhead`. Links that are
/// slower than the interface delay it. Messages between ranks of one node do not use the interface, unless
/// `within_node` says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Processor time of each message, at its source and at its destination, also within a node: o.
    pub overhead: SimDuration,
    /// Processor time of each byte but the first: O. Zero unless given.
    #[serde(default)]
    pub overhead_per_byte: PerByte,
    /// The largest message whose bytes cost `overhead_per_byte`, because it is copied on its way. Longer messages are
    /// transferred directly between the buffers of sender and receiver. No limit unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<Bytes>,
    /// Delay of each byte but the first of a copied message in store-and-forward stages beside the network. It occupies
    /// neither a processor nor an interface. Zero unless given.
    #[serde(default, skip_serializing_if = "is_free")]
    pub latency_per_byte: PerByte,
    /// Least time between the starts of consecutive messages, separately for those that an interface sends and those
    /// that it receives: g. Zero unless given.
    #[serde(default)]
    pub gap: SimDuration,
    /// Delay of each message between its processor and the network, which occupies neither processor nor interface.
    /// Zero unless given.
    #[serde(default, skip_serializing_if = "is_none")]
    pub latency: SimDuration,
    /// Time of each byte but the first on the interface: G, the inverse of its bandwidth.
    pub gap_per_byte: PerByte,
    /// Processor time of each byte but the first of a message between two ranks of the node, which its receiver copies;
    /// `gap_per_byte` unless given. If `levels` describe a memory that both ranks share, the bytes pass through that
    /// memory instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_per_byte: Option<PerByte>,
    /// Path of a message from a rank of the node to another rank of the same node, or to itself; `Copied` unless given.
    #[serde(default, skip_serializing_if = "WithinNode::is_default")]
    pub within_node: WithinNode,
    /// Cost of a message without bytes; `AsOneByte` unless given.
    #[serde(default, skip_serializing_if = "EmptyMessage::is_default")]
    pub empty: EmptyMessage,
    /// Bytes of header that every message has on the network in addition to its data; none unless given.
    #[serde(default, skip_serializing_if = "no_bytes")]
    pub header: Bytes,
    /// Number of interfaces of the node; 1 unless given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
    /// Rule that assigns a message to one of several interfaces, the same at both ends; `RoundRobin` unless given.
    #[serde(default, skip_serializing_if = "InterfaceChoice::is_default")]
    pub choice: InterfaceChoice,
    /// Rule by which an interface serves the messages that it sends; `ByContention` unless given.
    #[serde(default, skip_serializing_if = "Injection::is_default")]
    pub injection: Injection,
    /// The largest message that travels at the full rate while others travel in the opposite direction between the same
    /// two nodes. Longer messages share with them the rate of one direction, to which all interfaces of the node
    /// contribute. No limit unless given; without contention, messages never share a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Bytes>,
    /// Time at which the data of a message leave; `AtOnce` unless given.
    #[serde(default, skip_serializing_if = "DataTransfer::is_default")]
    pub data: DataTransfer,
    /// Work of the processor for an arriving message; `WhileArriving` unless given.
    #[serde(default, skip_serializing_if = "Progress::is_default")]
    pub progress: Progress,
}

/// Path of a message that stays on its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WithinNode {
    /// The receiver copies the message, or the message passes through a memory that both cores share.
    #[default]
    Copied,
    /// The message uses the interface and a link, as if it were sent to a neighbour, as LogGOPSim does with messages
    /// from a rank to itself. Only without contention.
    OverNetwork,
}

/// Cost of a message without data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EmptyMessage {
    /// It costs the same as a message of one byte.
    #[default]
    AsOneByte,
    /// It costs the time of one byte less than a message of one byte, as in LogGOPSim, where (s − 1) G and (s − 1) O
    /// are negative for s = 0. No time becomes negative. Only without contention, and where the processor is busy while
    /// bytes arrive.
    LessThanOneByte,
}

/// Rule that assigns a message to one of several interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InterfaceChoice {
    /// The messages of a node use its interfaces round robin.
    #[default]
    RoundRobin,
    /// Core c uses interface c modulo the number of interfaces.
    ByCore,
    /// Messages to node d use interface d modulo the number of interfaces.
    ByDestination,
}

/// Rule by which an interface serves the messages that it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Injection {
    /// Like the links: messages that are modelled as flows share the interface, others are sent one at a time.
    #[default]
    ByContention,
    /// One at a time, in the order of their sends, even if messages are modelled as flows.
    InTurn,
    /// One at a time, from a queue of the interface: a send needs only its processor, which continues while the message
    /// waits. Otherwise a send holds its processor until the interface is free, as in LogGOPS.
    Queued,
}

/// The time at which the data of a message leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataTransfer {
    /// With the send, whatever the receiver does.
    #[default]
    AtOnce,
    /// Once the message matches its receive, which sender and receiver learn immediately, as in SimGrid and SMPI. If
    /// the interface does everything and a send takes no processor time, the data leave even while the sender computes.
    WhenMatched {
        /// The largest message whose data leave at once.
        above: Bytes,
    },
    /// On request of the receiver (rendezvous). The sender announces the message (ready to send, RTS); once it matches
    /// its receive, the receiver requests the data (clear to send, CTS). Both are messages of one byte and cost the
    /// same as other such messages.
    OnRequest {
        /// The largest message whose data leave at once.
        above: Bytes,
        /// `true` if the send of such a message completes only when the receiver confirms the arrival by another
        /// message of one byte, instead of at the arrival.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        confirmed: bool,
    },
}

/// Work of the processor for an arriving message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Progress {
    /// The processor is busy while the bytes arrive: for `overhead` and the larger of `gap_per_byte` and
    /// `overhead_per_byte`, from the first byte on, as in LogGOPS. On a packet network, it is busy from the arrival of
    /// each packet on, for the remainder of that time.
    #[default]
    WhileArriving,
    /// The interface writes the message to memory; then the processor is busy for `overhead` and `overhead_per_byte`.
    AfterArrival,
    /// The interface does everything; the message takes no processor time.
    Offloaded,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
fn is_none(time: &SimDuration) -> bool {
    *time == SimDuration::ZERO
}

fn is_free(per_byte: &PerByte) -> bool {
    *per_byte == PerByte::FREE
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
fn no_bytes(bytes: &Bytes) -> bool {
    bytes.count() == 0
}

impl WithinNode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EmptyMessage {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl InterfaceChoice {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Injection {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl DataTransfer {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the size limit below which data leave at once; `None` if all data do.
    #[must_use]
    pub const fn above(self) -> Option<Bytes> {
        match self {
            Self::AtOnce => None,
            Self::WhenMatched { above } | Self::OnRequest { above, .. } => Some(above),
        }
    }

    /// Returns whether the data of a message of `bytes` bytes wait for its receive.
    #[must_use]
    pub fn waits(self, bytes: u64) -> bool {
        self.above().is_some_and(|above| bytes > above.count())
    }
}

impl Progress {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Interface {
    /// Creates an interface with the o, O, g and G of LogGOPS.
    #[must_use]
    pub const fn new(o: SimDuration, o_per_byte: PerByte, g: SimDuration, g_per_byte: PerByte) -> Self {
        Self {
            overhead: o,
            overhead_per_byte: o_per_byte,
            copied: None,
            latency_per_byte: PerByte::FREE,
            gap: g,
            latency: SimDuration::ZERO,
            gap_per_byte: g_per_byte,
            copy_per_byte: None,
            within_node: WithinNode::Copied,
            empty: EmptyMessage::AsOneByte,
            header: Bytes::new(0),
            count: 1,
            choice: InterfaceChoice::RoundRobin,
            injection: Injection::ByContention,
            duplex: None,
            data: DataTransfer::AtOnce,
            progress: Progress::WhileArriving,
        }
    }

    /// Returns the processor time of sending a message of `bytes` bytes.
    #[must_use]
    pub fn sending_time(&self, bytes: u64) -> SimDuration {
        let time = self.overhead + self.overhead_per_byte.time(self.copied_bytes(bytes));
        self.of_message(bytes, time, self.overhead_per_byte.time(1))
    }

    /// Returns the processor time of receiving a message of `bytes` bytes, apart from the time of its bytes.
    #[must_use]
    pub fn receiving_overhead(&self, bytes: u64) -> SimDuration {
        self.of_message(bytes, self.overhead, empty_message_saving(self.gap_per_byte, self.overhead_per_byte))
    }

    /// Returns the processor time of receiving a message of `bytes` bytes.
    #[must_use]
    pub fn receiving_time(&self, bytes: u64) -> SimDuration {
        self.receiving_overhead(bytes) + self.byte_time(bytes.saturating_sub(1))
    }

    /// Returns `time`, less `of_byte` if the message is empty and costs less than one of one byte.
    fn of_message(&self, bytes: u64, time: SimDuration, of_byte: SimDuration) -> SimDuration {
        let is_less = bytes == 0 && self.empty == EmptyMessage::LessThanOneByte;
        if is_less { time - of_byte.min(time) } else { time }
    }

    /// Returns the number of bytes of a message of `bytes` bytes on the network, with its header. An empty message has
    /// one, unless it costs less.
    #[must_use]
    pub fn bytes_on_network(&self, bytes: u64) -> u64 {
        let least = u64::from(self.empty == EmptyMessage::AsOneByte);
        bytes.max(least) + self.header.count()
    }

    /// Returns the number of bytes of a message of `bytes` bytes that cost processor time.
    #[must_use]
    pub fn copied_bytes(&self, bytes: u64) -> u64 {
        let is_copied = self.copied.is_none_or(|largest| bytes <= largest.count());
        if is_copied { bytes.saturating_sub(1) } else { 0 }
    }

    /// Returns the delay of a message of `bytes` bytes in the stages beside the network.
    #[must_use]
    pub fn stage_delay(&self, bytes: u64) -> SimDuration {
        self.latency_per_byte.time(self.copied_bytes(bytes))
    }

    /// Returns the time for which a message of `bytes` bytes, or the first part of one, occupies its interface.
    #[must_use]
    pub fn occupancy(&self, bytes: u64) -> SimDuration {
        let time = self.gap + self.gap_per_byte.time(bytes.saturating_sub(1));
        self.of_message(bytes, time, self.gap_per_byte.time(1))
    }

    /// Returns the time in which a processor takes `bytes` bytes from the interface, at the rate of the slower of the
    /// two.
    #[must_use]
    pub fn byte_time(&self, bytes: u64) -> SimDuration {
        self.gap_per_byte.time(bytes).max(self.overhead_per_byte.time(bytes))
    }

    /// Returns the processor time of receiving a message of `bytes` bytes from another rank of the node.
    #[must_use]
    pub fn local_receiving_time(&self, bytes: u64) -> SimDuration {
        let (per_byte, rest) = (self.copy_per_byte.unwrap_or(self.gap_per_byte), bytes.saturating_sub(1));
        let time = self.overhead + per_byte.time(rest).max(self.overhead_per_byte.time(rest));
        self.of_message(bytes, time, empty_message_saving(per_byte, self.overhead_per_byte))
    }
}

/// Returns the byte time that an empty message saves: the smaller of G and O, but not zero if either is positive. This
/// is the larger of −G and −O as LogGOPSim compares them, in unsigned arithmetic.
fn empty_message_saving(one: PerByte, other: PerByte) -> SimDuration {
    match (one.time(1), other.time(1)) {
        (SimDuration::ZERO, time) | (time, SimDuration::ZERO) => time,
        (one, other) => one.min(other),
    }
}
