//! Operations that a process issues without waiting for them, any number at once and in any order.

use super::message::{Message, MessagePattern, Operation};
use crate::machine::{IssueOrder, IssueResources};
use crate::units::SimDuration;

/// An operation to be issued.
#[derive(Debug)]
pub struct Issue {
    /// The work to be done.
    pub work: IssuedWork,
    /// The processor and the interface that the operation uses.
    pub resources: IssueResources,
    /// The number of the operation among those of its rank, by which
    /// [`Program::place_of`](crate::program::Program::place_of) identifies it.
    pub number: u32,
    /// The turn of the operation; that of the notice from which it follows, if any.
    pub turn: IssueOrder,
}

/// The work of an issued operation.
#[derive(Debug)]
pub enum IssuedWork {
    /// A computation of this time.
    Compute(SimDuration),
    /// A message to a rank.
    Send(u32, Message),
    /// A message to be received.
    Receive(MessagePattern),
}

impl IssuedWork {
    /// Returns the precedence among operations that follow from the same event: sends, then receives, then
    /// computations.
    pub(crate) const fn precedence(&self) -> u64 {
        match self {
            Self::Send(..) => 0,
            Self::Receive(_) => 1,
            Self::Compute(_) => 2,
        }
    }
}

/// The notice that an issued operation has begun or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The operation.
    pub operation: Operation,
    /// `true` if the operation has ended; `false` if it has begun.
    pub is_end: bool,
    /// The turn of the operations that follow from this notice.
    pub turn: IssueOrder,
}
