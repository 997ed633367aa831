//! A collective operation with its algorithm, as a scenario names it.

use super::library::hierarchy::Running;
use super::payload::Payload;
use super::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scan, Scatter};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A collective operation. Its size m is that of the whole message where all ranks get the same or
/// add up theirs, and that of one block where each rank has a block of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum CollectiveOperation {
    /// m bytes from the root to all.
    Broadcast {
        /// By which way.
        algorithm: Broadcast,
    },
    /// The sum of m bytes of all, to the root.
    Reduce {
        /// By which way.
        algorithm: Reduce,
    },
    /// The sum of m bytes of all, to all.
    AllReduce {
        /// By which way.
        algorithm: AllReduce,
    },
    /// The sum of p blocks of all, a block of m bytes of it to each.
    ReduceScatter {
        /// By which way.
        algorithm: ReduceScatter,
    },
    /// A block of m bytes from the root to each.
    Scatter {
        /// By which way.
        algorithm: Scatter,
    },
    /// A block of m bytes from each to the root.
    Gather {
        /// By which way.
        algorithm: Gather,
    },
    /// A block of m bytes from each to all.
    AllGather {
        /// By which way.
        algorithm: AllGather,
    },
    /// A block of m bytes from each to each.
    AllToAll {
        /// By which way.
        algorithm: AllToAll,
    },
    /// All wait for each other.
    Barrier {
        /// By which way.
        algorithm: Barrier,
    },
    /// The sums of m bytes of all ranks up to each, to it.
    Scan {
        /// By which way.
        algorithm: Scan,
    },
}

impl CollectiveOperation {
    /// Returns whether ranks add numbers that they receive.
    #[must_use]
    pub const fn adds(&self) -> bool {
        matches!(self, Self::Reduce { .. } | Self::AllReduce { .. } | Self::ReduceScatter { .. } | Self::Scan { .. })
    }

    /// The ports that it has at once; 1 where its algorithm names none.
    #[must_use]
    pub const fn ports(&self) -> u32 {
        match self {
            Self::Broadcast {
                algorithm: Broadcast::TorusTree { ports, .. } | Broadcast::TorusScatterAllGather { ports, .. },
            }
            | Self::Reduce {
                algorithm: Reduce::TorusTree { ports, .. } | Reduce::TorusReduceScatterGather { ports, .. },
            }
            | Self::AllReduce {
                algorithm:
                    AllReduce::TorusDoubling { ports, .. }
                    | AllReduce::TorusHalving { ports, .. }
                    | AllReduce::TorusRings { ports, .. },
            }
            | Self::ReduceScatter {
                algorithm: ReduceScatter::ByDimensions { ports, .. } | ReduceScatter::TorusRings { ports, .. },
            }
            | Self::AllGather {
                algorithm: AllGather::ByDimensions { ports, .. } | AllGather::TorusRings { ports, .. },
            }
            | Self::Gather { algorithm: Gather::TorusTree { ports, .. } }
            | Self::Scatter { algorithm: Scatter::TorusTree { ports, .. } } => *ports,
            _ => 1,
        }
    }

    /// The ports that work at once.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match self {
            Self::Reduce { algorithm: Reduce::TorusTree { .. } } => 1,
            _ => self.ports(),
        }
    }

    /// Its name in a scenario.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Broadcast { .. } => "Broadcast",
            Self::Reduce { .. } => "Reduce",
            Self::AllReduce { .. } => "AllReduce",
            Self::ReduceScatter { .. } => "ReduceScatter",
            Self::Scatter { .. } => "Scatter",
            Self::Gather { .. } => "Gather",
            Self::AllGather { .. } => "AllGather",
            Self::AllToAll { .. } => "AllToAll",
            Self::Barrier { .. } => "Barrier",
            Self::Scan { .. } => "Scan",
        }
    }

    /// Takes part with `values` of this rank; the numbers that it has at the end, if it has any.
    ///
    /// Each algorithm is in a box of its own: a rank need not have room for the largest of them, and there may be a million.
    #[must_use = "an operation runs when it is awaited"]
    pub fn run<'a>(
        &'a self,
        me: &'a Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> Running<'a, Option<Rc<[f64]>>> {
        let whole = bytes * u64::from(me.ranks());
        me.begin_collective(if matches!(self, Self::ReduceScatter { .. }) { whole } else { bytes });
        let has_blocks = matches!(self, Self::ReduceScatter { .. } | Self::AllToAll { .. });
        let own = Payload::new(if has_blocks { whole } else { bytes }, values);
        match self {
            Self::Broadcast { algorithm } => algorithm.run(me, root, bytes, own.values),
            Self::Reduce { algorithm } => Box::pin(async move { algorithm.run(me, root, own).await?.values }),
            Self::AllReduce { algorithm } => Box::pin(async move { algorithm.run(me, own).await.values }),
            Self::ReduceScatter { algorithm } => Box::pin(async move { algorithm.even(me, own, bytes).await.values }),
            Self::Scatter { algorithm } => {
                let values = own.values;
                Box::pin(async move { algorithm.run(me, root, bytes, values).await.values })
            }
            Self::Gather { algorithm } => Box::pin(async move { algorithm.joined(me, root, own).await?.values }),
            Self::AllGather { algorithm } => Box::pin(async move { algorithm.joined(me, own).await.values }),
            Self::AllToAll { algorithm } => Box::pin(async move { algorithm.joined(me, own, bytes).await.values }),
            Self::Barrier { algorithm } => Box::pin(async move {
                algorithm.run(me).await;
                None
            }),
            Self::Scan { algorithm } => Box::pin(async move { algorithm.run(me, own).await.values }),
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::Broadcast { algorithm } => algorithm.fault(ranks),
            Self::Reduce { algorithm } => algorithm.fault(ranks),
            Self::AllReduce { algorithm } => algorithm.fault(ranks),
            Self::ReduceScatter { algorithm } => algorithm.fault(ranks),
            Self::Scatter { algorithm } => algorithm.fault(ranks),
            Self::Gather { algorithm } => algorithm.fault(ranks),
            Self::AllGather { algorithm } => algorithm.fault(ranks),
            Self::AllToAll { algorithm } => algorithm.fault(ranks),
            Self::Barrier { algorithm } => algorithm.fault(),
            Self::Scan { .. } => None,
        }
    }

    /// The bytes that a rank holds at most.
    #[must_use]
    pub const fn memory(&self, bytes: u64, ranks: u32) -> u64 {
        match self {
            Self::Barrier { .. } => 0,
            Self::Broadcast { .. } | Self::Reduce { .. } | Self::AllReduce { .. } | Self::Scan { .. } => bytes,
            _ => bytes.saturating_mul(ranks as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::collective::Library;
    use crate::units::Bytes;

    /// Read off the sources of Open MPI 4.1.6.
    #[test]
    fn rules_are_those_of_open_mpi() {
        let library = Library::OpenMpi;
        assert_eq!(AllReduce::of_library(library, 64, 262_143), AllReduce::RecursiveDoubling);
        assert_eq!(AllReduce::of_library(library, 64, 262_144), AllReduce::Rabenseifner);
        assert_eq!(AllReduce::of_library(library, 5000, 2047), AllReduce::NonOverlapping);
        assert_eq!(AllReduce::of_library(library, 20, 32), AllReduce::RecursiveDoubling); // a ring needs an element for each
        assert_eq!(Broadcast::of_library(library, 31, 1_048_576), Broadcast::ScatterRecursiveDoublingAllGather);
        assert_eq!(AllToAll::of_library(library, 32, 511), AllToAll::Bruck { radix: 2 });
        assert_eq!(AllGather::of_library(library, 100, 600), AllGather::NeighborExchange);
        assert_eq!(AllGather::of_library(library, 12, 600), AllGather::Bruck { radix: 2 }); // as recursive doubling does there
        assert_eq!(Scatter::of_library(library, 64, 512), Scatter::LinearNonBlocking);
        assert_eq!(Barrier::of_library(library, 300), Barrier::BinomialTree);
        assert_eq!(ReduceScatter::of_library(library, 32, 64, false), ReduceScatter::Butterfly);
        assert_eq!(ReduceScatter::of_library(library, 32, 3, true), ReduceScatter::RecursiveHalving);
        assert_eq!(Reduce::of_library(library, 256, 8192), Reduce::InOrderBinary { segment: Bytes::new(0) });
        assert_eq!(Gather::of_library(library, 3, 1), Gather::LinearSync { first: Bytes::new(0) });
    }

    /// Read off `generic.json` of MPICH 4.1.2.
    #[test]
    fn rules_are_those_of_mpich() {
        let library = Library::Mpich;
        assert_eq!(Broadcast::of_library(library, 7, 1 << 30), Broadcast::Binomial);
        assert_eq!(Broadcast::of_library(library, 8, 524_288), Broadcast::ScatterRecursiveDoublingAllGather);
        assert_eq!(Broadcast::of_library(library, 9, 12_289), Broadcast::ScatterRingAllGather);
        assert_eq!(AllReduce::of_library(library, 64, 8), AllReduce::RecursiveDoubling);
        assert_eq!(AllReduce::of_library(library, 64, 512), AllReduce::RabenseifnerWhole);
        assert_eq!(AllGather::of_library(library, 12, 6826), AllGather::Bruck { radix: 2 });
        assert_eq!(AllToAll::of_library(library, 7, 8), AllToAll::Scattered { batch: 32 });
    }
}
