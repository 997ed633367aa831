//! Rough estimates of what it costs to simulate a collective operation.

use super::Remap;
use super::library::buffer::Segments;
use super::operation::CollectiveOperation;
use super::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Reduce, ReduceScatter, Scan};
use crate::program::InFlight;
use crate::units::Bytes;

impl CollectiveOperation {
    /// Estimates the memory of the simulating computer per rank for the blocks of all ranks that each rank keeps, in
    /// bytes. The factor is measured.
    #[must_use]
    pub fn rank_memory(&self, ranks: u32) -> f64 {
        const OF_A_BLOCK: f64 = 28.0;
        let copies = match self {
            Self::AllToAll { algorithm } if algorithm.keeps_blocks() => 2.0,
            Self::AllGather { algorithm } if algorithm.keeps_blocks(ranks) => 1.0,
            Self::ReduceScatter { algorithm } if algorithm.keeps_blocks(ranks) => 1.0,
            Self::AllReduce { algorithm } => algorithm.copies_of_blocks(),
            _ => 0.0,
        };
        copies * OF_A_BLOCK * f64::from(ranks)
    }

    /// Estimates the total number of messages of all ranks for an operation of `bytes` bytes.
    #[must_use]
    pub fn messages(&self, ranks: u32, bytes: u64) -> f64 {
        self.messages_and_shares(ranks, bytes).0
    }

    /// Estimates the length in bytes of one of the messages for an operation of `bytes` bytes.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a forecast; larger values saturate"
    )]
    pub fn message_bytes(&self, ranks: u32, bytes: u64) -> u64 {
        (bytes as f64 * self.messages_and_shares(ranks, bytes).1) as u64
    }

    /// Estimates the total number of messages of all ranks, and the length of each as a multiple of m. A single rank
    /// sends none.
    fn messages_and_shares(&self, ranks: u32, bytes: u64) -> (f64, f64) {
        if ranks < 2 {
            return (0.0, 1.0);
        }
        let p = f64::from(ranks);
        let log = p.log2();
        match self.decided(ranks, bytes).as_ref().unwrap_or(self) {
            Self::Barrier { algorithm } => (algorithm.messages(p), 0.0),
            Self::AllGather { algorithm: AllGather::TorusRings { shape, .. } }
            | Self::ReduceScatter { algorithm: ReduceScatter::TorusRings { shape, .. } } => {
                (p * ring_steps(shape), p / ring_steps(shape))
            }
            Self::AllGather { algorithm: AllGather::Linear }
            | Self::ReduceScatter {
                algorithm:
                    ReduceScatter::Linear
                    | ReduceScatter::LinearNonBlocking
                    | ReduceScatter::NonOverlapping
                    | ReduceScatter::NonOverlappingBlock,
            } => (2.0 * p, p / 2.0),
            Self::AllGather { algorithm: AllGather::Torus } => (2.0 * p * p.sqrt(), p.sqrt() / 2.0),
            Self::AllToAll { algorithm: AllToAll::Torus } => (2.0 * p * p.sqrt(), p.sqrt()),
            Self::AllGather {
                algorithm:
                    AllGather::RecursiveDoubling
                    | AllGather::Bruck { .. }
                    | AllGather::Sparbit
                    | AllGather::RecursiveDistanceHalving
                    | AllGather::Bine { .. }
                    | AllGather::BineAdjacent
                    | AllGather::ByDimensions { remap: Remap::Permute | Remap::Send, .. },
            }
            | Self::ReduceScatter {
                algorithm:
                    ReduceScatter::Butterfly | ReduceScatter::RecursiveHalving | ReduceScatter::ByDimensions { .. },
            } => (p * log, p / log),
            Self::AllToAll {
                algorithm: AllToAll::Bruck { .. } | AllToAll::Hypercube | AllToAll::Bine | AllToAll::ByDimensions { .. },
            } => (p * log, p / 2.0),
            Self::AllGather { .. } | Self::AllToAll { .. } | Self::ReduceScatter { .. } => (p * p, 1.0),
            Self::AllReduce { algorithm: AllReduce::SegmentedRing { segment } } => {
                // The sums of each part are sent in segments, the results are not.
                let steps = 1.0 + segments(bytes.div_ceil(u64::from(ranks)), *segment);
                (p * p * steps, 2.0 / (p * steps))
            }
            Self::AllReduce { algorithm } => algorithm.messages_and_shares(p, log),
            Self::Scan { algorithm: Scan::RecursiveDoubling } => (p * log, 1.0),
            Self::Scan { algorithm: Scan::LinearNonBlocking } => (p * p / 2.0, 1.0),
            Self::Broadcast { algorithm: Broadcast::ScatterRingAllGather } => (p * p, p.recip()),
            Self::Broadcast { algorithm } => in_segments(p, bytes, algorithm.segment()),
            Self::Reduce { algorithm } => in_segments(p, bytes, algorithm.segment()),
            _ => (p, 1.0),
        }
    }

    /// Returns the operation with the algorithm that a library chooses, if the choice affects the order of magnitude
    /// of the number of messages.
    fn decided(&self, ranks: u32, bytes: u64) -> Option<Self> {
        Some(match self {
            Self::AllGather { algorithm: AllGather::Auto(library) } => {
                Self::AllGather { algorithm: AllGather::of_library(*library, ranks, bytes) }
            }
            Self::AllToAll { algorithm: AllToAll::Auto(library) } => {
                Self::AllToAll { algorithm: AllToAll::of_library(*library, ranks, bytes) }
            }
            Self::ReduceScatter { algorithm: ReduceScatter::Auto(library) } => {
                Self::ReduceScatter { algorithm: ReduceScatter::of_library(*library, ranks, bytes, false) }
            }
            Self::ReduceScatter { algorithm: ReduceScatter::AutoBlock(library) } => {
                Self::ReduceScatter { algorithm: ReduceScatter::of_library(*library, ranks, bytes, true) }
            }
            Self::AllReduce { algorithm: AllReduce::Auto(library) } => {
                Self::AllReduce { algorithm: AllReduce::of_library(*library, ranks, bytes) }
            }
            Self::Barrier { algorithm: Barrier::Auto(library) } => {
                Self::Barrier { algorithm: Barrier::of_library(*library, ranks) }
            }
            Self::Broadcast { algorithm: Broadcast::Auto(library) } => {
                Self::Broadcast { algorithm: Broadcast::of_library(*library, ranks, bytes) }
            }
            Self::Reduce { algorithm: Reduce::Auto(library) } => {
                Self::Reduce { algorithm: Reduce::of_library(*library, ranks, bytes) }
            }
            _ => return None,
        })
    }

    /// Returns a lower bound of the number of messages of an operation of `bytes` bytes.
    #[must_use]
    pub fn least_messages(&self, ranks: u32, bytes: u64) -> f64 {
        let others = f64::from(ranks.saturating_sub(1));
        match self {
            Self::Barrier { algorithm: Barrier::Never | Barrier::Ideal } => 0.0,
            Self::Barrier { .. } => others,
            // An algorithm need not send empty blocks.
            _ if bytes == 0 => 0.0,
            _ => others,
        }
    }

    /// Returns whether the order of magnitude of the number of messages depends on which ranks share a node.
    #[must_use]
    pub const fn depends_on_nodes(&self) -> bool {
        matches!(self, Self::AllGather { algorithm: AllGather::Hierarchical { .. } })
    }

    /// Estimates the messages that may be in flight at once for an operation of `bytes` bytes.
    #[must_use]
    pub fn in_flight(&self, ranks: u32, bytes: u64) -> InFlight {
        let others = f64::from(ranks.saturating_sub(1));
        let of_a_rank = match self {
            Self::AllToAll { algorithm } => algorithm.window(ranks, bytes).min(others),
            Self::AllGather { algorithm: AllGather::DirectMessaging }
            | Self::AllReduce { algorithm: AllReduce::AllGatherReduce } => others,
            _ => 0.5,
        };
        // The root of a broadcast, and the leaves of a reduction, may send all segments before the next rank has passed
        // on the first.
        let segments = match self {
            Self::Broadcast { algorithm } => segments(bytes, algorithm.segment()),
            Self::Reduce { algorithm } => {
                let leaves = match algorithm {
                    Reduce::Pipeline { .. } => 1.0,
                    Reduce::Chain { chains, .. } => f64::from(*chains),
                    _ => f64::from(ranks) / 2.0,
                };
                leaves * segments(bytes, algorithm.segment())
            }
            _ => 0.0,
        };
        let messages = segments.max(f64::from(ranks) * of_a_rank);
        InFlight { messages, bytes: self.message_bytes(ranks, bytes) }
    }
}

/// Estimates the messages of an operation that sends a message of `bytes` bytes to each of `p` ranks, in segments, and the
/// length of each as a multiple of m.
fn in_segments(p: f64, bytes: u64, segment: Bytes) -> (f64, f64) {
    let segments = segments(bytes, segment);
    (p * segments, 1.0 / segments)
}

/// Returns the number of segments of a message.
fn segments(bytes: u64, segment: Bytes) -> f64 {
    f64::from(u32::try_from(Segments::new(bytes, segment.count()).count()).unwrap_or(u32::MAX))
}

/// Returns the number of steps around the rings of a torus, one dimension after the other; at least 1.
fn ring_steps(shape: &[u32]) -> f64 {
    shape.iter().map(|side| f64::from(side.saturating_sub(1))).sum::<f64>().max(1.0)
}

impl Barrier {
    fn messages(&self, p: f64) -> f64 {
        match self {
            Self::Never | Self::Ideal => 0.0,
            Self::Dissemination | Self::RecursiveDoubling | Self::Bruck { .. } => p * p.log2().max(1.0),
            _ => 2.0 * p,
        }
    }
}

impl AllReduce {
    /// Estimates the number of messages among `p` ranks that do `log` doubling steps each, and the length of each as a
    /// multiple of m.
    fn messages_and_shares(&self, p: f64, log: f64) -> (f64, f64) {
        match self {
            Self::Ring | Self::SegmentedRing { .. } => (2.0 * p * p, p.recip()),
            Self::TorusRings { shape, .. } => (2.0 * p * ring_steps(shape), ring_steps(shape).recip()),
            Self::AllGatherReduce => (p * p, 1.0),
            Self::RecursiveDoubling | Self::RecursiveMultiplying { .. } | Self::Bine | Self::TorusDoubling { .. } => {
                (p * log, 1.0)
            }
            Self::ReduceScatterAllGather
            | Self::Rabenseifner
            | Self::RabenseifnerWhole
            | Self::BineReduceScatterAllGather
            | Self::TorusHalving { .. } => (2.0 * p * log, log.recip()),
            Self::ReduceBroadcast
            | Self::Linear
            | Self::LinearBinomial
            | Self::NonOverlapping
            | Self::Hierarchical { .. }
            | Self::Auto(_) => (2.0 * p, 1.0),
        }
    }
}

impl AllToAll {
    /// Returns the number of sends that a rank begins before it waits for any of them.
    fn window(&self, ranks: u32, bytes: u64) -> f64 {
        let all_if_none = |limit: u32| if limit == 0 { ranks } else { limit };
        f64::from(match self {
            Self::Auto(library) => return Self::of_library(*library, ranks, bytes).window(ranks, bytes),
            Self::Linear => ranks,
            Self::LinearSync { outstanding } => all_if_none(*outstanding),
            Self::Scattered { batch } => all_if_none(*batch),
            _ => 1,
        })
    }
}
