//! The sum of all ranks' messages, a block of it to each.

use super::payload::Payload;
use super::power_of_two;
use super::transfer::exchange;
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the blocks of the sum to their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReduceScatter {
    /// In every step each rank exchanges half of its blocks with a partner half as far away. Needs
    /// a power of two of ranks.
    RecursiveHalving,
    /// Around a ring, one block a step.
    Ring,
    /// In step k each rank sends the one k further its block.
    Pairwise,
}

impl ReduceScatter {
    /// Adds everyone's `own`, blocks of `lengths` bytes, one for each rank; all ranks call it and
    /// get their own block of the sum.
    pub async fn run(self, me: &Process, own: &Payload, lengths: &[u64]) -> Payload {
        match self {
            Self::RecursiveHalving => recursive_halving(me, own.clone(), lengths).await,
            Self::Ring => around_ring(me, own.split(lengths)).await,
            Self::Pairwise => pairwise(me, &own.split(lengths)).await,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(self, ranks: u32) -> Option<String> {
        (self == Self::RecursiveHalving).then(|| power_of_two("RecursiveHalving", ranks)).flatten()
    }
}

async fn recursive_halving(me: &Process, own: Payload, lengths: &[u64]) -> Payload {
    let (mut sum, mut lengths) = (own, lengths);
    let mut half = lengths.len() / 2;
    while half > 0 {
        let (low, high) = lengths.split_at(half);
        let [low_sum, high_sum] = [low, high].map(|lengths| lengths.iter().sum());
        let mut parts = sum.split(&[low_sum, high_sum]);
        let partner = me.rank() ^ u32::try_from(half).expect("ranks are counted in 32 bits");
        let upper = me.rank() > partner;
        let kept = parts.swap_remove(usize::from(upper));
        sum = exchange(me, partner, &parts[0], partner).await.plus(me, &kept).await;
        lengths = if upper { high } else { low };
        half /= 2;
    }
    sum
}

async fn around_ring(me: &Process, mut blocks: Vec<Payload>) -> Payload {
    let ranks = me.ranks();
    let (previous, next) = ((me.rank() + ranks - 1) % ranks, (me.rank() + 1) % ranks);
    for step in 1..ranks {
        let sent = &blocks[((me.rank() + ranks - step) % ranks) as usize];
        let received = exchange(me, next, sent, previous).await;
        let place = ((me.rank() + 2 * ranks - step - 1) % ranks) as usize;
        blocks[place] = received.plus(me, &blocks[place]).await;
    }
    blocks.swap_remove(me.rank() as usize)
}

async fn pairwise(me: &Process, blocks: &[Payload]) -> Payload {
    let ranks = me.ranks();
    let mut sum = blocks[me.rank() as usize].clone();
    for step in 1..ranks {
        let (to, from) = ((me.rank() + step) % ranks, (me.rank() + ranks - step) % ranks);
        sum = exchange(me, to, &blocks[to as usize], from).await.plus(me, &sum).await;
    }
    sum
}
