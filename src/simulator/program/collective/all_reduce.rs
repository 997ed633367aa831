//! The sum of all ranks' messages, to all of them.

use super::all_gather::AllGather;
use super::broadcast::Broadcast;
use super::payload::Payload;
use super::power_of_two;
use super::reduce::Reduce;
use super::reduce_scatter::ReduceScatter;
use super::transfer::exchange;
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the sum of all messages to all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AllReduce {
    /// In step k each rank exchanges its sum with the one whose number differs in bit k. Needs a
    /// power of two of ranks.
    RecursiveDoubling,
    /// Reduce-scatter and allgather around a ring: every rank moves 2 (p − 1) / p of the message.
    Ring,
    /// Reduce-scatter by halving and allgather by doubling (Rabenseifner 2004). Needs a power of
    /// two of ranks.
    ReduceScatterAllGather,
    /// To rank 0 and from there to all, both along a binomial tree.
    ReduceBroadcast,
}

impl AllReduce {
    /// Adds everyone's `own`; all ranks call it and get the sum.
    pub async fn run(self, me: &Process, own: Payload) -> Payload {
        match self {
            Self::RecursiveDoubling => recursive_doubling(me, own).await,
            Self::Ring => in_shares(me, own, ReduceScatter::Ring, AllGather::Ring).await,
            Self::ReduceScatterAllGather => {
                in_shares(me, own, ReduceScatter::RecursiveHalving, AllGather::RecursiveDoubling).await
            }
            Self::ReduceBroadcast => {
                let bytes = own.bytes;
                let sum = Reduce::Binomial.run(me, 0, own).await.and_then(|sum| sum.values);
                Payload::new(bytes, Broadcast::Binomial.run(me, 0, bytes, sum).await)
            }
        }
    }

    /// Number of times that each rank holds the blocks into which it cuts the message, one for each rank.
    pub(super) const fn copies_of_blocks(self) -> f64 {
        match self {
            Self::Ring | Self::ReduceScatterAllGather => 1.0,
            Self::RecursiveDoubling | Self::ReduceBroadcast => 0.0,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(self, ranks: u32) -> Option<String> {
        match self {
            Self::RecursiveDoubling => power_of_two("RecursiveDoubling", ranks),
            Self::ReduceScatterAllGather => power_of_two("ReduceScatterAllGather", ranks),
            Self::Ring | Self::ReduceBroadcast => None,
        }
    }
}

async fn recursive_doubling(me: &Process, own: Payload) -> Payload {
    let mut sum = own;
    let mut bit = 1;
    while bit < me.ranks() {
        let partner = me.rank() ^ bit;
        sum = exchange(me, partner, &sum, partner).await.plus(me, &sum).await;
        bit *= 2;
    }
    sum
}

async fn in_shares(me: &Process, own: Payload, reduce: ReduceScatter, gather: AllGather) -> Payload {
    let lengths = Payload::shares(own.bytes, me.ranks());
    let share = reduce.run(me, &own, &lengths).await;
    Payload::join(&gather.run(me, share, &lengths).await)
}
