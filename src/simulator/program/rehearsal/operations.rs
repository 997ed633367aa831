//! The operations of a process in a rehearsal.

use crate::program::process::{MessagePattern, Received};
use std::collections::VecDeque;

/// A send or a receive of a process that has not been waited for.
pub(super) enum RehearsedOperation {
    Sent,
    /// A message of some bytes sent to a rank that has not received it.
    Offered {
        to: u32,
        bytes: u64,
    },
    Awaiting(MessagePattern),
    Received(Received),
}

impl RehearsedOperation {
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Sent | Self::Received(_))
    }
}

/// The operations of a process in the order in which they began. There are usually few, and the oldest are waited for
/// first.
#[derive(Default)]
pub(super) struct RehearsedOperations {
    outstanding: VecDeque<(u32, RehearsedOperation)>,
    begun: u32,
}

impl RehearsedOperations {
    pub fn begin(&mut self, operation: RehearsedOperation) -> u32 {
        self.begun += 1;
        self.outstanding.push_back((self.begun, operation));
        self.begun
    }

    pub fn get(&self, number: u32) -> Option<&RehearsedOperation> {
        self.place(number).map(|place| &self.outstanding[place].1)
    }

    /// Returns whether an operation is complete or has been waited for.
    pub fn is_complete(&self, number: u32) -> bool {
        self.get(number).is_none_or(RehearsedOperation::is_complete)
    }

    /// Changes the state of an operation that has not been waited for.
    pub fn set(&mut self, number: u32, operation: RehearsedOperation) {
        if let Some(place) = self.place(number) {
            self.outstanding[place].1 = operation;
        }
    }

    pub fn remove(&mut self, number: u32) -> Option<RehearsedOperation> {
        let place = self.place(number)?;
        self.outstanding.remove(place).map(|(_, operation)| operation)
    }

    /// Returns all operations, the oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut RehearsedOperation> {
        self.outstanding.iter_mut().map(|(_, operation)| operation)
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.outstanding.binary_search_by_key(&number, |(begun, _)| *begun).ok()
    }
}

/// The operations that a process waits for.
pub(super) enum AwaitedOperations {
    One([u32; 1]),
    Several(Vec<u32>),
}

impl AwaitedOperations {
    pub fn numbers(&self) -> &[u32] {
        match self {
            Self::One(number) => number,
            Self::Several(numbers) => numbers,
        }
    }
}
