//! Summary bounds of the operations of a schedule.

use super::{NodeKind, ScheduleNode};
use crate::machine::IssueResources;

/// Counts and maxima of the operations of a rank, or of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Number of operations.
    pub operations: u64,
    /// Number of computations.
    pub computations: u64,
    /// The longest computation, in units of time.
    pub longest_computation: u64,
    /// Number of sends.
    pub sends: u64,
    /// The highest numbers of a processor and of an interface used by an operation.
    pub highest: IssueResources,
    /// `true` if a receive matches messages from any source or with any tag.
    pub takes_any: bool,
    /// The highest rank to which a message is sent.
    pub highest_peer: u32,
    /// The longest message sent, in bytes.
    pub longest_message: u64,
    /// The resources of the first send.
    resources: Option<IssueResources>,
    /// `true` if another send uses other resources.
    mixes_resources: bool,
}

impl Bounds {
    /// Adds an operation.
    pub fn add(&mut self, node: &ScheduleNode) {
        let of_node =
            Self { operations: 1, highest: node.resources(), takes_any: node.matches_any(), ..Self::default() };
        *self = self.and(match node.kind {
            NodeKind::Compute => Self { computations: 1, longest_computation: node.size, ..of_node },
            NodeKind::Receive => of_node,
            NodeKind::Join => Self::default(),
            NodeKind::Send => Self {
                sends: 1,
                highest_peer: node.peer,
                longest_message: node.size,
                resources: Some(node.resources()),
                ..of_node
            },
        });
    }

    /// Returns the bounds of these operations and others together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (one, two) = (self.highest, other.highest);
        let differ = self.resources.zip(other.resources).is_some_and(|(one, two)| one != two);
        Self {
            operations: self.operations + other.operations,
            computations: self.computations + other.computations,
            sends: self.sends + other.sends,
            longest_computation: self.longest_computation.max(other.longest_computation),
            highest: IssueResources { cpu: one.cpu.max(two.cpu), nic: one.nic.max(two.nic) },
            takes_any: self.takes_any || other.takes_any,
            highest_peer: self.highest_peer.max(other.highest_peer),
            longest_message: self.longest_message.max(other.longest_message),
            resources: self.resources.or(other.resources),
            mixes_resources: self.mixes_resources || other.mixes_resources || differ,
        }
    }

    /// Returns whether all sends use the same processor and the same interface, so that no message overtakes another.
    #[must_use]
    pub const fn messages_share_resources(&self) -> bool {
        !self.mixes_resources
    }
}
