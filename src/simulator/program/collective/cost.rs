//! Rough estimates of what it costs to simulate a collective operation.

use super::Remap;
use super::operation::CollectiveOperation;
use super::{AllGather, AllReduce, AllToAll, Barrier, ReduceScatter, Scan};
use crate::program::InFlight;

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

    /// Estimates the total number of messages of all ranks.
    #[must_use]
    pub fn messages(&self, ranks: u32) -> f64 {
        self.messages_and_shares(ranks).0
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
        (bytes as f64 * self.messages_and_shares(ranks).1) as u64
    }

    /// Estimates the total number of messages of all ranks, and the length of each as a multiple of m.
    fn messages_and_shares(&self, ranks: u32) -> (f64, f64) {
        let p = f64::from(ranks);
        let log = p.log2().max(1.0);
        match self {
            Self::Barrier { algorithm } => (algorithm.messages(p), 1.0),
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
            Self::AllReduce { algorithm } => algorithm.messages_and_shares(p, log),
            Self::Scan { algorithm: Scan::RecursiveDoubling } => (p * log, 1.0),
            Self::Scan { algorithm: Scan::LinearNonBlocking } => (p * p / 2.0, 1.0),
            _ => (p, 1.0),
        }
    }

    /// Returns a lower bound of the number of messages.
    #[must_use]
    pub fn least_messages(&self, ranks: u32) -> f64 {
        match self {
            Self::Barrier { algorithm: Barrier::Never | Barrier::Ideal } => 0.0,
            _ => f64::from(ranks.saturating_sub(1)),
        }
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
        InFlight { messages: f64::from(ranks) * of_a_rank, bytes: self.message_bytes(ranks, bytes) }
    }
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
            Self::Ring | Self::SegmentedRing { .. } | Self::TorusRings { .. } => (2.0 * p * p, p.recip()),
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
