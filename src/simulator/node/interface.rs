//! Network interfaces: the hardware between a node and its network, and its cost for the processor.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Network interfaces of a node, in the terms of LogGOPS (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010, section 2).
///
/// A message of s bytes takes its processor for `overhead` and (s − 1) `overhead_per_byte`, and its interface for `gap` and
/// (s − 1) `gap_per_byte`; both begin at once, when both are free, so that the slower of them decides how often a process
/// can send. The first byte enters the network after `overhead`. Links that are slower than the interface hold it up.
/// Messages between ranks of one node do not use it, unless `within_node` says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Processor time of each message, at its source and at its destination: o.
    pub overhead: SimDuration,
    /// Processor time of each byte but the first: O. None unless given.
    #[serde(default)]
    pub overhead_per_byte: PerByte,
    /// The largest message whose bytes take `overhead_per_byte`, since it is copied on its way; longer ones go from where they
    /// are to where they belong. Any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<Bytes>,
    /// Delay of each byte but the first of messages that are copied, on their way through stages beside the network that have all
    /// of a message before they pass it on; nobody waits for it. None unless given.
    #[serde(default, skip_serializing_if = "is_free")]
    pub latency_per_byte: PerByte,
    /// Least time from the beginning of one message to that of the next, for those that an interface sends and for those
    /// that it receives: g. None unless given.
    #[serde(default)]
    pub gap: SimDuration,
    /// Time of each message between its processor and the network that keeps neither processor nor interface. None unless
    /// given.
    #[serde(default, skip_serializing_if = "is_none")]
    pub latency: SimDuration,
    /// Time of each byte but the first on the interface: G, the inverse of its bandwidth.
    pub gap_per_byte: PerByte,
    /// Processor time of each byte but the first of a message between two ranks of the node, which its receiver copies;
    /// `gap_per_byte` unless given. Where `levels` describe a memory that both share, the bytes pass through that one instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_per_byte: Option<PerByte>,
    /// Way of a message from a rank of the node to another one of it, or to itself; `Copied` unless given.
    #[serde(default, skip_serializing_if = "WithinNode::is_default")]
    pub within_node: WithinNode,
    /// Cost of a message without bytes; `AsOneByte` unless given.
    #[serde(default, skip_serializing_if = "EmptyMessage::is_default")]
    pub empty: EmptyMessage,
    /// Bytes that every message has on the network besides its own; none unless given.
    #[serde(default, skip_serializing_if = "no_bytes")]
    pub header: Bytes,
    /// Interfaces of the node; 1 unless given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
    /// Rule by which a message gets one of several interfaces, the same at both ends; `RoundRobin` unless given.
    #[serde(default, skip_serializing_if = "InterfaceChoice::is_default")]
    pub choice: InterfaceChoice,
    /// Rule by which an interface serves the messages that it sends; `ByContention` unless given.
    #[serde(default, skip_serializing_if = "Injection::is_default")]
    pub injection: Injection,
    /// The longest message that crosses with others, the other way between the same two nodes, at the full rate; longer ones share
    /// the rate of one direction. Any unless given; without contention none share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Bytes>,
    /// The time at which the data of a message leave; `AtOnce` unless given.
    #[serde(default, skip_serializing_if = "DataTransfer::is_default")]
    pub data: DataTransfer,
    /// Work of the receiving processor; `WhileArriving` unless given.
    #[serde(default, skip_serializing_if = "Progress::is_default")]
    pub progress: Progress,
}

/// Way of a message that stays on its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WithinNode {
    /// Its receiver copies it, or it passes a memory that both cores share.
    #[default]
    Copied,
    /// It takes the interface and a link, as to a neighbour; only without contention. So LogGOPSim sends what a rank sends to
    /// itself.
    OverNetwork,
}

/// Cost of a message without bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EmptyMessage {
    /// It takes as long as one of one byte.
    #[default]
    AsOneByte,
    /// It takes the time of a byte less than one of one byte, as in LogGOPSim, whose (s − 1) G and (s − 1) O are negative then; no time
    /// becomes less than none. Only without contention, and where the processor is busy while bytes arrive.
    LessThanOneByte,
}

/// Rule by which a message gets one of several interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InterfaceChoice {
    /// The messages of a node take its interfaces in turn.
    #[default]
    RoundRobin,
    /// Core c uses interface c modulo their number.
    ByCore,
    /// Messages for node d use interface d modulo their number.
    ByDestination,
}

/// Rule by which an interface serves the messages that it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Injection {
    /// As the links do: where messages are flows they share it, else it sends one at a time.
    #[default]
    ByContention,
    /// One at a time, in the order of their sends, also where messages are flows.
    InTurn,
}

/// The time at which the data of a message leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataTransfer {
    /// With the send, whatever the receiver does.
    #[default]
    AtOnce,
    /// As soon as the message has met its receive, of which sender and receiver know at once; as in SimGrid and SMPI. Where the
    /// interface does everything and a send takes the processor no time, it leaves without it, whatever the sender computes.
    WhenMatched {
        /// The largest message whose data leave at once.
        above: Bytes,
    },
    /// Data leave on request: an announcement of the message (ready to send), and, when it has met its
    /// receive, a request for the data (clear to send), are messages of one byte and cost what such messages cost.
    OnRequest {
        /// The largest message whose data leave at once.
        above: Bytes,
        /// True if the send of such a message is complete when the receiver has confirmed its arrival, by another message of one
        /// byte, instead of at the arrival.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        confirmed: bool,
    },
}

/// Work of the processor for a message that arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Progress {
    /// It is busy while the bytes arrive: for `overhead` and the larger of `gap_per_byte` and `overhead_per_byte`, from the
    /// first byte on, as in LogGOPS. Over a network of packets it is busy from the arrival of each packet on, for what is
    /// left of that.
    #[default]
    WhileArriving,
    /// The interface writes the message to memory; then the processor is busy for `overhead` and `overhead_per_byte`.
    AfterArrival,
    /// The interface does everything: the processor is not needed.
    Offloaded,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(time: &SimDuration) -> bool {
    *time == SimDuration::ZERO
}

fn is_free(per_byte: &PerByte) -> bool {
    *per_byte == PerByte::FREE
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn no_bytes(bytes: &Bytes) -> bool {
    bytes.count() == 0
}

impl WithinNode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EmptyMessage {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl InterfaceChoice {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Injection {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl DataTransfer {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The largest message whose data do not wait for its receive, if those of others do.
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
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Interface {
    /// An interface with the o, O, g and G of LogGOPS.
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

    /// Processor time of handing over a message of `bytes` bytes.
    #[must_use]
    pub fn sending(&self, bytes: u64) -> SimDuration {
        let time = self.overhead + self.overhead_per_byte.time(self.handed(bytes));
        self.of_message(bytes, time, self.overhead_per_byte.time(1))
    }

    /// Processor time of a message of `bytes` bytes that comes, beside that of its bytes.
    #[must_use]
    pub fn handling(&self, bytes: u64) -> SimDuration {
        self.of_message(bytes, self.overhead, least(self.gap_per_byte, self.overhead_per_byte))
    }

    /// Processor time of a message of `bytes` bytes that comes.
    #[must_use]
    pub fn taking(&self, bytes: u64) -> SimDuration {
        self.handling(bytes) + self.byte_time(bytes.saturating_sub(1))
    }

    /// The time of a message, from which that of a byte may have to be subtracted.
    fn of_message(&self, bytes: u64, time: SimDuration, of_byte: SimDuration) -> SimDuration {
        let is_less = bytes == 0 && self.empty == EmptyMessage::LessThanOneByte;
        if is_less { time - of_byte.min(time) } else { time }
    }

    /// The bytes of a message of `bytes` bytes that take time of the processor.
    #[must_use]
    pub fn handed(&self, bytes: u64) -> u64 {
        let is_copied = self.copied.is_none_or(|largest| bytes <= largest.count());
        if is_copied { bytes.saturating_sub(1) } else { 0 }
    }

    /// Delay of a message of `bytes` bytes beside the network.
    #[must_use]
    pub fn stages(&self, bytes: u64) -> SimDuration {
        self.latency_per_byte.time(self.handed(bytes))
    }

    /// Time for which a message of `bytes` bytes, or the first part of one, keeps its interface.
    #[must_use]
    pub fn occupancy(&self, bytes: u64) -> SimDuration {
        let time = self.gap + self.gap_per_byte.time(bytes.saturating_sub(1));
        self.of_message(bytes, time, self.gap_per_byte.time(1))
    }

    /// Time of `bytes` bytes that a processor takes from the interface: at the rate of the slower of them.
    #[must_use]
    pub fn byte_time(&self, bytes: u64) -> SimDuration {
        self.gap_per_byte.time(bytes).max(self.overhead_per_byte.time(bytes))
    }

    /// Processor time of taking a message of `bytes` bytes from another rank of the node.
    #[must_use]
    pub fn copying(&self, bytes: u64) -> SimDuration {
        let (per_byte, rest) = (self.copy_per_byte.unwrap_or(self.gap_per_byte), bytes.saturating_sub(1));
        let time = self.overhead + per_byte.time(rest).max(self.overhead_per_byte.time(rest));
        self.of_message(bytes, time, least(per_byte, self.overhead_per_byte))
    }
}

/// The time of a byte that the larger of −G and −O subtracts, as LogGOPSim, which counts without signs, compares them: one that is not 0.
fn least(one: PerByte, other: PerByte) -> SimDuration {
    match (one.time(1), other.time(1)) {
        (SimDuration::ZERO, time) | (time, SimDuration::ZERO) => time,
        (one, other) => one.min(other),
    }
}
