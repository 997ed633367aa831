//! Collective operations with their algorithms, as named in a scenario.

use super::library::hierarchy::OperationFuture;
use super::local::{CallCosts, LocalCosts};
use super::payload::Payload;
use super::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scan, Scatter};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A collective operation. Its size m is the length of the whole message if all ranks get the same data or add up their
/// messages, and the length of one block if each rank has a separate block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum CollectiveOperation {
    /// m bytes from the root to all ranks.
    Broadcast {
        /// The algorithm of the operation.
        algorithm: Broadcast,
    },
    /// The sum of m bytes of all ranks, to the root.
    Reduce {
        /// The algorithm of the operation.
        algorithm: Reduce,
    },
    /// The sum of m bytes of all ranks, to all ranks.
    AllReduce {
        /// The algorithm of the operation.
        algorithm: AllReduce,
    },
    /// The sum of p blocks of all ranks, one block of m bytes to each rank.
    ReduceScatter {
        /// The algorithm of the operation.
        algorithm: ReduceScatter,
    },
    /// A block of m bytes from the root to each rank.
    Scatter {
        /// The algorithm of the operation.
        algorithm: Scatter,
    },
    /// A block of m bytes from each rank to the root.
    Gather {
        /// The algorithm of the operation.
        algorithm: Gather,
    },
    /// A block of m bytes from each rank to all ranks.
    AllGather {
        /// The algorithm of the operation.
        algorithm: AllGather,
    },
    /// A block of m bytes from each rank to each rank.
    AllToAll {
        /// The algorithm of the operation.
        algorithm: AllToAll,
    },
    /// All ranks wait for each other.
    Barrier {
        /// The algorithm of the operation.
        algorithm: Barrier,
    },
    /// The prefix sums of m bytes: each rank gets the sum of the messages of all ranks up to itself.
    Scan {
        /// The algorithm of the operation.
        algorithm: Scan,
    },
}

impl CollectiveOperation {
    /// Returns whether ranks add values that they receive.
    #[must_use]
    pub const fn adds(&self) -> bool {
        matches!(self, Self::Reduce { .. } | Self::AllReduce { .. } | Self::ReduceScatter { .. } | Self::Scan { .. })
    }

    /// Returns whether one of the ranks, the root, sends or collects.
    #[must_use]
    pub const fn has_root(&self) -> bool {
        matches!(self, Self::Broadcast { .. } | Self::Reduce { .. } | Self::Scatter { .. } | Self::Gather { .. })
    }

    /// Returns the number of ports; 1 if the algorithm does not specify it.
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

    /// Returns the number of ports that work concurrently, each in its thread. Those of the reduce along trees of a torus
    /// take turns.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match self {
            Self::Reduce { algorithm: Reduce::TorusTree { .. } } => 1,
            _ => self.ports(),
        }
    }

    /// Returns the costs of a call by a library with these local costs.
    #[must_use]
    pub const fn call_costs(&self, costs: LocalCosts) -> CallCosts {
        CallCosts { costs, ports: self.ports(), threads: self.threads(), trees: self.trees() }
    }

    /// Returns the number of trees that the ports of a call look up.
    const fn trees(&self) -> u32 {
        match self {
            Self::AllReduce { .. }
            | Self::Reduce { algorithm: Reduce::TorusTree { .. } }
            | Self::AllGather { algorithm: AllGather::TorusRings { .. } }
            | Self::ReduceScatter { algorithm: ReduceScatter::TorusRings { .. } } => 0,
            Self::AllGather { algorithm: AllGather::ByDimensions { ports, .. } } => 2 * *ports,
            _ => self.ports(),
        }
    }

    /// Returns the name of the operation in a scenario.
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

    /// Takes part with the `values` of this rank. Returns the resulting values of this rank, if any.
    ///
    /// Each algorithm is boxed separately: a rank need not reserve space for the largest of them, and there may be a
    /// million ranks.
    #[must_use = "an operation runs when it is awaited"]
    pub fn run<'a>(
        &'a self,
        me: &'a Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> OperationFuture<'a, Option<Rc<[f64]>>> {
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

    /// Returns the reason why the operation cannot run on this number of ranks, if any.
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

    /// Returns the largest number of bytes that a rank holds.
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

    /// Taken from the sources of Open MPI 4.1.6.
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

    /// Taken from `generic.json` of MPICH 4.1.2.
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
