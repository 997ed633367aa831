//! Collective operations as a program calls them: the data to be moved, while a library chooses the algorithm.

use super::library::buffer::{Buffer, Division};
use super::library::communicator::Communicator;
use super::library::{Library, trees};
use super::operation::CollectiveOperation;
use super::payload::Payload;
use super::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scan, Scatter};
use crate::program::process::Process;

/// A call of a collective operation. Lists of lengths contain one entry for each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectiveCall {
    /// All ranks wait for each other.
    Barrier,
    /// A message from the root to all ranks.
    Broadcast {
        /// The root.
        root: u32,
        /// The length of the message in bytes.
        bytes: u64,
    },
    /// The sum of the messages of all ranks, to the root.
    Reduce {
        /// The root.
        root: u32,
        /// The length of the message in bytes.
        bytes: u64,
    },
    /// The sum of the messages of all ranks, to all ranks.
    AllReduce {
        /// The length of the message in bytes.
        bytes: u64,
    },
    /// The sum of the messages of all ranks, one block of it to each rank.
    ReduceScatter {
        /// The lengths of the blocks in bytes.
        lengths: Box<[u64]>,
    },
    /// A block from the root to each rank.
    Scatter {
        /// The root.
        root: u32,
        /// The length of each block in bytes.
        bytes: u64,
    },
    /// Blocks of different lengths from the root to all ranks.
    ScatterV {
        /// The root.
        root: u32,
        /// The lengths of the blocks in bytes.
        lengths: Box<[u64]>,
    },
    /// A block from each rank to the root.
    Gather {
        /// The root.
        root: u32,
        /// The length of each block in bytes.
        bytes: u64,
    },
    /// A block from each rank to the root; the blocks may differ in length.
    GatherV {
        /// The root.
        root: u32,
        /// The length of this rank's block in bytes.
        bytes: u64,
    },
    /// A block from each rank to all ranks.
    AllGather {
        /// The length of each block in bytes.
        bytes: u64,
    },
    /// Blocks of different lengths, one from each rank, to all ranks.
    AllGatherV {
        /// The lengths of the blocks in bytes.
        lengths: Box<[u64]>,
    },
    /// A block from each rank to each rank.
    AllToAll {
        /// The length of each block in bytes.
        bytes: u64,
    },
    /// Blocks of different lengths from each rank to each rank.
    AllToAllV {
        /// The lengths in bytes of the blocks that this rank sends.
        sent: Box<[u64]>,
        /// The lengths in bytes of the blocks that this rank receives.
        received: Box<[u64]>,
    },
    /// The prefix sums of the messages: each rank gets the sum of the messages of all ranks up to itself.
    Scan {
        /// The length of the message in bytes.
        bytes: u64,
    },
}

impl CollectiveCall {
    /// Returns the name of the operation.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Barrier => "Barrier",
            Self::Broadcast { .. } => "Broadcast",
            Self::Reduce { .. } => "Reduce",
            Self::AllReduce { .. } => "AllReduce",
            Self::ReduceScatter { .. } => "ReduceScatter",
            Self::Scatter { .. } => "Scatter",
            Self::ScatterV { .. } => "ScatterV",
            Self::Gather { .. } => "Gather",
            Self::GatherV { .. } => "GatherV",
            Self::AllGather { .. } => "AllGather",
            Self::AllGatherV { .. } => "AllGatherV",
            Self::AllToAll { .. } => "AllToAll",
            Self::AllToAllV { .. } => "AllToAllV",
            Self::Scan { .. } => "Scan",
        }
    }

    /// Returns the root, if the operation has one.
    #[must_use]
    pub const fn root(&self) -> Option<u32> {
        match self {
            Self::Broadcast { root, .. }
            | Self::Reduce { root, .. }
            | Self::Scatter { root, .. }
            | Self::ScatterV { root, .. }
            | Self::Gather { root, .. }
            | Self::GatherV { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Returns the message length that is the same on all ranks, if there is one.
    #[must_use]
    pub const fn common_bytes(&self) -> Option<u64> {
        match self {
            Self::Broadcast { bytes, .. }
            | Self::Reduce { bytes, .. }
            | Self::AllReduce { bytes }
            | Self::Scan { bytes } => Some(*bytes),
            _ => None,
        }
    }

    /// Takes part in the operation with the algorithm that a library chooses.
    pub async fn run(&self, me: &Process, library: Library) {
        let own = |bytes| Payload::new(bytes, None);
        me.collective(Some(self.name()));
        match self {
            Self::ReduceScatter { lengths } => {
                let whole = own(lengths.iter().sum());
                Box::pin(ReduceScatter::Auto(library).run(me, &whole, lengths)).await;
            }
            Self::AllGatherV { lengths } => {
                let block = own(lengths[me.rank() as usize]);
                Box::pin(AllGather::Auto(library).run(me, block, lengths)).await;
            }
            Self::ScatterV { root, lengths } => Box::pin(scatter(me, library, *root, lengths)).await,
            Self::AllToAllV { sent, received } => Box::pin(exchange(me, library, sent, received)).await,
            _ => {
                let (operation, bytes) = self.operation(library);
                operation.run(me, self.root().unwrap_or(0), bytes, None).await;
            }
        }
        me.collective(None);
    }

    /// Returns the operation and its size. If block lengths differ, this is an operation of about the same cost.
    #[must_use]
    pub fn operation(&self, library: Library) -> (CollectiveOperation, u64) {
        use CollectiveOperation as Operation;
        let at_once = library != Library::OpenMpi;
        let mean = |lengths: &[u64]| lengths.iter().sum::<u64>() / (lengths.len() as u64).max(1);
        match self {
            Self::Barrier => (Operation::Barrier { algorithm: Barrier::Auto(library) }, 0),
            Self::Broadcast { bytes, .. } => (Operation::Broadcast { algorithm: Broadcast::Auto(library) }, *bytes),
            Self::Reduce { bytes, .. } => (Operation::Reduce { algorithm: Reduce::Auto(library) }, *bytes),
            Self::AllReduce { bytes } => (Operation::AllReduce { algorithm: AllReduce::Auto(library) }, *bytes),
            Self::ReduceScatter { lengths } => {
                (Operation::ReduceScatter { algorithm: ReduceScatter::Auto(library) }, mean(lengths))
            }
            Self::Scatter { bytes, .. } => (Operation::Scatter { algorithm: Scatter::Auto(library) }, *bytes),
            Self::ScatterV { lengths, .. } => {
                let algorithm = if at_once { Scatter::LinearNonBlocking } else { Scatter::Linear };
                (Operation::Scatter { algorithm }, mean(lengths))
            }
            Self::Gather { bytes, .. } => (Operation::Gather { algorithm: Gather::Auto(library) }, *bytes),
            Self::GatherV { bytes, .. } => {
                let algorithm = if at_once { Gather::LinearNonBlocking } else { Gather::Linear };
                (Operation::Gather { algorithm }, *bytes)
            }
            Self::AllGather { bytes } => (Operation::AllGather { algorithm: AllGather::Auto(library) }, *bytes),
            Self::AllGatherV { lengths } => {
                (Operation::AllGather { algorithm: AllGather::Auto(library) }, mean(lengths))
            }
            Self::AllToAll { bytes } => (Operation::AllToAll { algorithm: AllToAll::Auto(library) }, *bytes),
            Self::AllToAllV { sent, .. } => (Operation::AllToAll { algorithm: AllToAll::Linear }, mean(sent)),
            Self::Scan { bytes } => (Operation::Scan { algorithm: Scan::of_library(library) }, *bytes),
        }
    }
}

/// Sends each rank its block from the root: one after the other as in Open MPI, or all at once.
async fn scatter(me: &Process, library: Library, root: u32, lengths: &[u64]) {
    let division = if me.rank() == root { Division::listed(lengths) } else { Division::even(0, me.ranks()) };
    let mut data = Buffer::empty(division.total());
    trees::linear_scatter(Communicator::all(me), root, library != Library::OpenMpi, &division, &mut data).await;
}

/// Exchanges blocks with all receives and sends at once. Empty blocks are sent only by SimGrid.
async fn exchange(me: &Process, library: Library, sent: &[u64], received: &[u64]) {
    let comm = Communicator::all(me);
    let counts = |bytes: u64| bytes > 0 || library == Library::SimGrid;
    let behind = (1..comm.size()).map(|distance| comm.behind(distance));
    let before = (1..comm.size()).map(|distance| comm.before(distance));
    let origins = behind.filter(|from| counts(received[*from as usize]));
    let blocks = before.map(|to| (to, sent[to as usize])).filter(|(_, bytes)| counts(*bytes));
    let mut started = comm.start(origins, blocks.map(|(to, bytes)| (to, Payload::new(bytes, None)))).await;
    while started.next().await.is_some() {}
}
