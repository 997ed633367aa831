//! Bounds of many operations together.

use super::{NodeKind, ScheduleNode};
use crate::machine::Lanes;

/// Numbers and largest values of the operations of a rank, or of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// All of them.
    pub operations: u64,
    /// Those that compute.
    pub computations: u64,
    /// The longest computation, in units of time.
    pub longest_computation: u64,
    /// Those that send.
    pub sends: u64,
    /// The highest processor, and the highest interface, that one of them takes.
    pub highest: Lanes,
    /// True if some receive takes messages of any source or any tag.
    pub takes_any: bool,
    /// The highest rank that a message is sent to.
    pub highest_peer: u32,
    /// The longest message that is sent, in bytes.
    pub longest_message: u64,
    /// The lanes of the first message that is sent.
    lanes: Option<Lanes>,
    /// True if another one takes others.
    mixes_lanes: bool,
}

impl Bounds {
    /// Adds an operation.
    pub fn add(&mut self, node: &ScheduleNode) {
        let of_node = Self { operations: 1, highest: node.lanes(), takes_any: node.takes_any(), ..Self::default() };
        *self = self.and(match node.kind {
            NodeKind::Compute => Self { computations: 1, longest_computation: node.size, ..of_node },
            NodeKind::Receive => of_node,
            NodeKind::Send => Self {
                sends: 1,
                highest_peer: node.peer,
                longest_message: node.size,
                lanes: Some(node.lanes()),
                ..of_node
            },
        });
    }

    /// Those of these operations and others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (one, two) = (self.highest, other.highest);
        let differ = self.lanes.zip(other.lanes).is_some_and(|(one, two)| one != two);
        Self {
            operations: self.operations + other.operations,
            computations: self.computations + other.computations,
            sends: self.sends + other.sends,
            longest_computation: self.longest_computation.max(other.longest_computation),
            highest: Lanes { cpu: one.cpu.max(two.cpu), nic: one.nic.max(two.nic) },
            takes_any: self.takes_any || other.takes_any,
            highest_peer: self.highest_peer.max(other.highest_peer),
            longest_message: self.longest_message.max(other.longest_message),
            lanes: self.lanes.or(other.lanes),
            mixes_lanes: self.mixes_lanes || other.mixes_lanes || differ,
        }
    }

    /// Returns whether all messages that are sent take the same processor and the same interface: none overtakes another one.
    #[must_use]
    pub const fn messages_take_one_lane(&self) -> bool {
        !self.mixes_lanes
    }
}
