//! The collective operations of liballprof traces.

use super::communicators::CommunicatorArgument;
use super::line::CallRecord;
use super::signatures::CollectiveSignature;
use crate::programs::calls::line_reader::{Elements, LineFault};
use parsim_sim::program::collective::CollectiveCall;

/// The block of an operation whose first buffer it describes.
const BLOCK: Elements = Elements { count: 3, of: 4 };
/// The block of a reduction, which follows both buffers.
const REDUCED: Elements = Elements { count: 4, of: 5 };
/// The blocks of `MPI_Reduce_scatter`; the address of a list precedes it.
const REDUCED_LIST: Elements = Elements { count: 5, of: 6 };
/// The blocks that `MPI_Scatterv` and `MPI_Alltoallv` send.
const SENT_LIST: Elements = Elements { count: 4, of: 7 };
/// The blocks that `MPI_Allgatherv` receives.
const GATHERED_LIST: Elements = Elements { count: 7, of: 10 };
/// The blocks that `MPI_Alltoallv` receives.
const RECEIVED_LIST: Elements = Elements { count: 10, of: 13 };

/// A line with a collective operation, as seen by the rank `own` among all.
pub struct CollectiveRecord<'l> {
    pub line: &'l CallRecord<'l>,
    pub own: u32,
    pub communicator: &'l CommunicatorArgument,
    /// The position of the root, in operations that have one.
    pub root: usize,
}

impl CollectiveRecord<'_> {
    pub fn call(&self, signature: CollectiveSignature) -> Result<CollectiveCall, LineFault> {
        let (line, root) = (self.line, || self.line.below(self.root, "a rank", self.communicator.ranks));
        Ok(match signature {
            CollectiveSignature::Barrier => CollectiveCall::Barrier,
            CollectiveSignature::Broadcast => CollectiveCall::Broadcast { root: root()?, bytes: line.bytes(BLOCK)? },
            CollectiveSignature::Reduce => CollectiveCall::Reduce { root: root()?, bytes: line.bytes(REDUCED)? },
            CollectiveSignature::AllReduce => CollectiveCall::AllReduce { bytes: line.bytes(REDUCED)? },
            CollectiveSignature::Scan => CollectiveCall::Scan { bytes: line.bytes(REDUCED)? },
            CollectiveSignature::ReduceScatter => {
                CollectiveCall::ReduceScatter { lengths: self.lengths(REDUCED_LIST)? }
            }
            CollectiveSignature::Gather => CollectiveCall::Gather { root: root()?, bytes: line.bytes(BLOCK)? },
            // The root's own receive type may be invalid, because MPI_IN_PLACE ignores it.
            CollectiveSignature::Scatter => CollectiveCall::Scatter { root: root()?, bytes: line.bytes(BLOCK)? },
            CollectiveSignature::AllGather => CollectiveCall::AllGather { bytes: line.bytes(BLOCK)? },
            CollectiveSignature::AllToAll => CollectiveCall::AllToAll { bytes: line.bytes(BLOCK)? },
            CollectiveSignature::GatherV => CollectiveCall::GatherV { root: root()?, bytes: line.bytes(BLOCK)? },
            CollectiveSignature::ScatterV => {
                let root = root()?;
                CollectiveCall::ScatterV { root, lengths: self.lengths_from(root)? }
            }
            CollectiveSignature::AllGatherV => CollectiveCall::AllGatherV { lengths: self.lengths(GATHERED_LIST)? },
            CollectiveSignature::AllToAllV => {
                CollectiveCall::AllToAllV { sent: self.lengths(SENT_LIST)?, received: self.lengths(RECEIVED_LIST)? }
            }
        })
    }

    fn lengths(&self, list: Elements) -> Result<Box<[u64]>, LineFault> {
        self.line.lengths(list, self.communicator.ranks)
    }

    /// Returns the lengths of the blocks that `root` sends, which only its own line has.
    fn lengths_from(&self, root: u32) -> Result<Box<[u64]>, LineFault> {
        let is_root = self.communicator.member(root) == self.own;
        if is_root { self.lengths(SENT_LIST) } else { Ok(vec![0; self.communicator.ranks as usize].into()) }
    }
}
