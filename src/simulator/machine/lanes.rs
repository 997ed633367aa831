//! Place and turn, on its node, of an operation that a program does not leave to its process.

/// The processor and the network interface, of those of a rank, that an operation takes, from 0. Where nodes have no
/// [interfaces](crate::node::Interface), a rank has one processor, whatever is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The processor.
    pub cpu: u8,
    /// The interface.
    pub nic: u8,
}

/// The place of an operation among all that is ready at the same time; the default is behind what is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    pub(crate) order: u64,
    /// Its place among all that follows from the same, as the schedule names them.
    pub(crate) place: u32,
    /// The processor that the operation before leaves just now: a receive on it is posted even if another operation
    /// has taken it at once.
    pub(crate) leaves: Option<u8>,
}

impl Turn {
    /// Turns that belong to one event: of what follows from a beginning and of what follows from an end, for each of three
    /// kinds of operations.
    pub(crate) const OF_AN_EVENT: u64 = 6;

    /// The turn of what follows from the end of what has begun or ended at this turn.
    pub(crate) const fn of_end(self) -> Self {
        Self { order: self.order + 1, ..self }
    }

    /// The turn of what has this place among all that follows.
    pub(crate) const fn at(self, place: u32) -> Self {
        Self { place, ..self }
    }

    /// The turn of the operations of a kind, from 0.
    pub(crate) const fn of(self, kind: u64) -> Self {
        if self.order == 0 { self } else { Self { order: self.order + 2 * kind, ..self } }
    }
}
