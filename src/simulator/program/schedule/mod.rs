//! Schedules: the operations of all ranks, and the dependencies between them.

mod bounds;
mod graph;
mod process;

pub use bounds::Bounds;
pub use graph::{Edge, RankSchedule, Schedule};
pub use process::{SharedOperations, follow};

use crate::machine::IssueResources;
use crate::trace::RESERVED_TAGS;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// An operation: a node of the graph of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleNode {
    /// Length of a message in bytes, or duration of a computation in units of time.
    pub size: u64,
    /// The other rank of a message; [`ANY`] matches all ranks.
    pub peer: u32,
    /// The tag of a message; [`ANY`] matches all tags.
    pub tag: u32,
    /// The number of operations that this one waits for.
    pub awaited: u32,
    /// The place of the first follower that waits for the end of this operation.
    pub first: u32,
    /// The place of the first follower that waits for the beginning of this operation.
    pub first_at_begin: u32,
    /// The number of followers that wait for the end of this operation.
    pub at_end: u32,
    /// The number of followers that wait for the beginning of this operation.
    pub at_begin: u32,
    /// The kind of operation: a send, a receive, a computation or a join.
    pub kind: NodeKind,
    /// The processor that the operation uses, from 0.
    pub cpu: u8,
    /// The interface that the operation uses, from 0.
    pub nic: u8,
}

impl ScheduleNode {
    /// Creates an operation without dependencies and followers, on the first processor and interface.
    #[must_use]
    pub const fn new(kind: NodeKind, size: u64) -> Self {
        Self {
            size,
            peer: 0,
            tag: 0,
            awaited: 0,
            first: 0,
            first_at_begin: 0,
            at_end: 0,
            at_begin: 0,
            kind,
            cpu: 0,
            nic: 0,
        }
    }

    /// Returns whether this is a receive from any source or with any tag.
    #[must_use]
    pub const fn matches_any(&self) -> bool {
        matches!(self.kind, NodeKind::Receive) && (self.peer == ANY || self.tag == ANY)
    }

    /// Returns the places of the followers that wait for the end of this operation.
    #[must_use]
    pub const fn places_at_end(&self) -> Range<u32> {
        self.first..self.first + self.at_end
    }

    /// Returns the places of the followers that wait for the beginning of this operation.
    #[must_use]
    pub const fn places_at_begin(&self) -> Range<u32> {
        self.first_at_begin..self.first_at_begin + self.at_begin
    }

    /// Returns the processor and the interface that the operation uses.
    #[must_use]
    pub const fn resources(&self) -> IssueResources {
        IssueResources { cpu: self.cpu, nic: self.nic }
    }
}

/// Kinds of operations, in the order in which they begin if several can begin at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NodeKind {
    /// Sends a message.
    Send = 1,
    /// Receives a message.
    Receive,
    /// Computes.
    Compute,
    /// Stands for all dependencies between those that it waits for and those that wait for it, without an event of its
    /// own. It waits for some operation, and not for another join.
    #[serde(skip)]
    Join,
}

/// The reason why a join is never issued.
pub(crate) const NOT_ISSUED: &str = "a join waits for an operation, and passes its end on at once";
/// Any source, or any tag.
pub const ANY: u32 = u32::MAX;
/// The first reserved tag, which a schedule file cannot use.
pub const TAGS: u32 = RESERVED_TAGS;

/// A schedule, in memory or in a file.
pub trait StoredSchedule: Send + Sync {
    /// Returns the number of ranks.
    fn ranks(&self) -> u32;

    /// Returns the bounds of all operations together.
    fn bounds(&self) -> Bounds;

    /// Returns the bytes of memory that the schedule occupies while processes follow it.
    fn memory(&self) -> u64;

    /// Returns the number in the file of an operation of a rank; it differs if other operations are omitted.
    fn number_in_file(&self, rank: u32, number: u32) -> u32 {
        let _ = rank;
        number
    }

    /// Opens the schedule for access to its operations.
    fn open(self: Arc<Self>) -> Box<dyn Operations>;
}

/// Access to the operations of a schedule in memory or in a file.
pub trait Operations {
    /// Returns the number of ranks.
    fn ranks(&self) -> u32;

    /// Returns the number of operations of a rank.
    fn count(&self, rank: u32) -> u32;

    /// Returns whether a receive of a rank matches messages from any source or with any tag.
    fn matches_any(&self, rank: u32) -> bool;

    /// Returns the operations of a rank without dependencies, in order.
    fn roots(&self, rank: u32) -> Vec<u32>;

    /// Returns an operation of a rank.
    fn node(&mut self, rank: u32, number: u32) -> ScheduleNode;

    /// Returns the operation at a place in the list of followers of a rank.
    fn follower(&mut self, rank: u32, place: u32) -> u32;

    /// Returns the error that prevented operations from being read, if any. Operations returned since then are invalid.
    fn fault(&self) -> Option<String>;

    /// Calls `visit` for every operation, in turn for a few operations of each rank.
    fn each(&mut self, visit: &mut dyn FnMut(u32, &ScheduleNode)) {
        const FEW: u32 = 64;
        let longest = (0..self.ranks()).map(|rank| self.count(rank)).max().unwrap_or(0);
        for begin in (0..longest).step_by(FEW as usize) {
            for rank in 0..self.ranks() {
                for number in begin..self.count(rank).min(begin.saturating_add(FEW)) {
                    visit(rank, &self.node(rank, number));
                }
            }
        }
    }
}
