//! Schedules: the operations of all ranks, and what each of them waits for.

mod bounds;
mod graph;
mod process;

pub use bounds::Bounds;
pub use graph::{Edge, RankSchedule, Schedule};
pub use process::{SharedOperations, follow};

use crate::machine::Lanes;
use crate::trace::RESERVED_TAGS;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// An operation: a node of the graph that a schedule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleNode {
    /// Bytes of a message, units of time of a computation.
    pub size: u64,
    /// The other rank of a message; [`ANY`] stands for all.
    pub peer: u32,
    /// The tag of a message; [`ANY`] stands for all.
    pub tag: u32,
    /// The number of operations that it waits for.
    pub awaited: u32,
    /// The place of the first of its followers that wait for its end,
    pub first: u32,
    /// of the first that wait for its beginning,
    pub first_at_begin: u32,
    /// and the number of the ones
    pub at_end: u32,
    /// and of the others.
    pub at_begin: u32,
    /// Its kind: a send, a receive or a computation.
    pub kind: NodeKind,
    /// The processor that it takes, from 0.
    pub cpu: u8,
    /// The interface that it takes, from 0.
    pub nic: u8,
}

impl ScheduleNode {
    /// An operation that nothing waits for and that waits for nothing, on the first processor and interface.
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

    /// Returns whether it takes messages of any source or any tag.
    #[must_use]
    pub const fn takes_any(&self) -> bool {
        matches!(self.kind, NodeKind::Receive) && (self.peer == ANY || self.tag == ANY)
    }

    /// The places of those that wait for its end.
    #[must_use]
    pub const fn places_at_end(&self) -> Range<u32> {
        self.first..self.first + self.at_end
    }

    /// The places of those that wait for its beginning.
    #[must_use]
    pub const fn places_at_begin(&self) -> Range<u32> {
        self.first_at_begin..self.first_at_begin + self.at_begin
    }

    /// The processor and the interface that it takes.
    #[must_use]
    pub const fn lanes(&self) -> Lanes {
        Lanes { cpu: self.cpu, nic: self.nic }
    }
}

/// Kinds of operations, in the order in which they begin where several may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NodeKind {
    /// Sends a message.
    Send = 1,
    /// Receives one.
    Receive,
    /// Computes.
    Compute,
}

/// Any source, or any tag.
pub const ANY: u32 = u32::MAX;
/// Tags from this one on are not a file's.
pub const TAGS: u32 = RESERVED_TAGS;

/// A schedule, in memory or in a file.
pub trait StoredSchedule: Send + Sync {
    /// The number of ranks.
    fn ranks(&self) -> u32;

    /// Bounds of all operations together.
    fn bounds(&self) -> Bounds;

    /// The bytes that it takes while processes follow it.
    fn memory(&self) -> u64;

    /// The number of an operation of a rank in the file: another one where others are left out.
    fn number_in_file(&self, rank: u32, number: u32) -> u32 {
        let _ = rank;
        number
    }

    /// Its operations, to be looked up.
    fn open(self: Arc<Self>) -> Box<dyn Operations>;
}

/// The operations of a schedule, wherever they are.
pub trait Operations {
    /// The number of ranks.
    fn ranks(&self) -> u32;

    /// The number of operations of a rank.
    fn count(&self, rank: u32) -> u32;

    /// Returns whether some receive of a rank takes messages of any source or any tag.
    fn takes_any(&self, rank: u32) -> bool;

    /// The operations of a rank that wait for nothing, in their order.
    fn roots(&self, rank: u32) -> Vec<u32>;

    /// An operation of a rank.
    fn node(&mut self, rank: u32, number: u32) -> ScheduleNode;

    /// The operation at a place among the followers of a rank's operations.
    fn follower(&mut self, rank: u32, place: u32) -> u32;

    /// The fault that has prevented operations from being looked up, if there is one: those that were returned then are none.
    fn fault(&self) -> Option<String>;

    /// Calls `visit` for every operation: a few of each rank, then the next ones.
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
