//! A block from each rank to all.

use super::payload::Payload;
use super::power_of_two;
use super::transfer::exchange;
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the blocks of all ranks to all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AllGather {
    /// Around a ring, one block a step.
    Ring,
    /// In step k each rank exchanges its 2^k blocks with the one whose number differs in bit k.
    /// Needs a power of two of ranks.
    RecursiveDoubling,
    /// Around the rows of the grid of ranks, then, whole rows, around its columns.
    Torus,
}

impl AllGather {
    /// Collects everyone's `own` block; `lengths` are the bytes of all of them. All ranks call it
    /// and get all blocks by rank.
    pub async fn run(self, me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
        match self {
            Self::Ring => around_ring(me, &(0..me.ranks()).collect::<Vec<_>>(), own).await,
            Self::RecursiveDoubling => recursive_doubling(me, own, lengths).await,
            Self::Torus => around_torus(me, own, lengths).await,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(self, ranks: u32) -> Option<String> {
        (self == Self::RecursiveDoubling).then(|| power_of_two("RecursiveDoubling", ranks)).flatten()
    }
}

/// Each of `members`, in the order of a ring, gets the blocks of all of them in that order.
async fn around_ring(me: &Process, members: &[u32], own: Payload) -> Vec<Payload> {
    let count = members.len();
    let place = members.iter().position(|member| *member == me.rank()).expect("a member calls");
    let (previous, next) = (members[(place + count - 1) % count], members[(place + 1) % count]);
    let mut blocks = vec![own; count];
    for step in 1..count {
        let sent = &blocks[(place + count - step + 1) % count];
        blocks[(place + count - step) % count] = exchange(me, next, sent, previous).await;
    }
    blocks
}

async fn recursive_doubling(me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
    let mut held = vec![own];
    while held.len() < lengths.len() {
        let bit = held.len();
        let partner = me.rank() ^ u32::try_from(bit).expect("ranks are counted in 32 bits");
        let theirs = partner as usize & !(bit - 1);
        let received = exchange(me, partner, &Payload::join(&held), partner).await;
        let received = received.split(&lengths[theirs..theirs + bit]);
        held = if me.rank() < partner { [held, received].concat() } else { [received, held].concat() };
    }
    held
}

async fn around_torus(me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
    let grid = me.grid();
    let (rows, columns) = grid.lines(me.rank());
    let row = around_ring(me, &columns, own).await;
    let all = around_ring(me, &rows, Payload::join(&row)).await;
    let lengths = lengths.chunks(columns.len());
    all.iter().zip(lengths).flat_map(|(row, lengths)| row.split(lengths)).collect()
}
