//! Operations that a process issues without waiting for them: as many at once as it likes, in no order.

use super::message::{Message, MessagePattern, Operation};
use crate::machine::{Lanes, Turn};
use crate::units::SimDuration;

/// An operation to be issued.
#[derive(Debug)]
pub struct Issue {
    /// The work to be done.
    pub work: IssuedWork,
    /// The processor and the interface that it takes.
    pub lanes: Lanes,
    /// Its number among those of its rank, by which [`Program::place_of`](crate::program::Program::place_of) knows it.
    pub number: u32,
    /// Its turn; that of the notice that it follows from, if it follows from one.
    pub turn: Turn,
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
    /// Its place among those that follow from one event: sends, then receives, then computations.
    pub(crate) const fn rank(&self) -> u64 {
        match self {
            Self::Send(..) => 0,
            Self::Receive(_) => 1,
            Self::Compute(_) => 2,
        }
    }
}

/// Something that has happened to an issued operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The operation.
    pub operation: Operation,
    /// True if it has ended; false if it has begun.
    pub is_end: bool,
    /// The turn of what follows from it.
    pub turn: Turn,
}
