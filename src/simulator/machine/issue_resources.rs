//! The processor, the interface and the turn of an operation that is issued without a process.

/// The processor and the network interface that an operation uses, among those of its rank, counted from 0. If nodes
/// have no [interfaces](crate::node::Interface), a rank has one processor, and these numbers are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IssueResources {
    /// The index of the processor.
    pub cpu: u8,
    /// The index of the interface.
    pub nic: u8,
}

/// The position of an operation among all operations that are ready at the same time. The default sorts after all
/// positions that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct IssueOrder {
    pub(crate) order: u64,
    /// The position among all operations that follow from the same event, in the order in which the schedule lists
    /// them; an operation behind a join has the position of the join, and in the low bits that among its followers.
    pub(crate) place: u64,
    /// The processor that the preceding operation is just leaving. A receive on this processor is posted even if
    /// another operation has taken the processor at once.
    pub(crate) leaves: Option<u8>,
}

impl IssueOrder {
    /// The number of turns of one event: three kinds of operations, each with the operations that follow from a
    /// beginning and those that follow from an end.
    pub(crate) const OF_AN_EVENT: u64 = 6;
    /// The bits of a position among the followers of a join. With the 32 bits of a position, they leave one bit.
    const JOIN_BITS: u32 = 31;

    /// Returns the turn of the operations that follow from the end of an operation that began or ended at this turn.
    pub(crate) const fn of_end(self) -> Self {
        Self { order: self.order + 1, ..self }
    }

    /// Returns the turn at this position among all operations that follow.
    pub(crate) const fn at(self, place: u32) -> Self {
        Self { place: (place as u64) << Self::JOIN_BITS, ..self }
    }

    /// Returns the turn at this position among the followers of a join with this turn.
    pub(crate) const fn behind_join(self, position: u32) -> Self {
        Self { place: self.place | position as u64, ..self }
    }

    /// Returns the turn of the operations of a kind, counted from 0.
    pub(crate) const fn of(self, kind: u64) -> Self {
        if self.order == 0 { self } else { Self { order: self.order + 2 * kind, ..self } }
    }
}
