//! A block from each rank to each.

use super::payload::Payload;
use super::power_of_two;
use super::transfer::exchange;
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings every rank's blocks to their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AllToAll {
    /// In step k each rank sends the one k further its block.
    Pairwise,
    /// In step k each rank exchanges half of what it holds with the one whose number differs in
    /// bit k. Needs a power of two of ranks.
    Hypercube,
    /// Around the rows of the grid of ranks in one direction, then around its columns.
    Torus,
}

impl AllToAll {
    /// Sends block j of `blocks`, which all have the same length, to rank j; all ranks call it and
    /// get the blocks for them by rank.
    pub async fn run(self, me: &Process, blocks: Vec<Payload>) -> Vec<Payload> {
        match self {
            Self::Pairwise => pairwise(me, blocks).await,
            Self::Hypercube => across_hypercube(me, blocks).await,
            Self::Torus => around_torus(me, blocks).await,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(self, ranks: u32) -> Option<String> {
        (self == Self::Hypercube).then(|| power_of_two("Hypercube", ranks)).flatten()
    }
}

async fn pairwise(me: &Process, mut blocks: Vec<Payload>) -> Vec<Payload> {
    let ranks = me.ranks();
    let own = blocks.clone();
    for step in 1..ranks {
        let (to, from) = ((me.rank() + step) % ranks, (me.rank() + ranks - step) % ranks);
        blocks[from as usize] = exchange(me, to, &own[to as usize], from).await;
    }
    blocks
}

/// Place j holds the block for j at first; each step replaces one bit of the destination by that of
/// the origin, so that what comes in takes the places of what goes out.
async fn across_hypercube(me: &Process, mut blocks: Vec<Payload>) -> Vec<Payload> {
    let mut bit = 1;
    while bit < me.ranks() {
        let partner = me.rank() ^ bit;
        let leaving: Vec<usize> = (0..me.ranks()).filter(|place| (place ^ me.rank()) & bit != 0).map(index).collect();
        let sent: Vec<Payload> = leaving.iter().map(|place| blocks[*place].clone()).collect();
        let received = exchange(me, partner, &Payload::join(&sent), partner).await;
        for (place, block) in leaving.into_iter().zip(received.split(&lengths(&sent))) {
            blocks[place] = block;
        }
        bit *= 2;
    }
    blocks
}

async fn around_torus(me: &Process, blocks: Vec<Payload>) -> Vec<Payload> {
    let (rows, columns) = me.grid().lines(me.rank());
    let width = columns.len();
    let for_column =
        |column: usize| -> Vec<Payload> { (0..rows.len()).map(|row| blocks[row * width + column].clone()).collect() };
    let by_column = around_ring(me, &columns, (0..width).map(for_column).collect()).await;
    let for_row = |row: usize| by_column.iter().map(|origin| origin[row].clone()).collect();
    around_ring(me, &rows, (0..rows.len()).map(for_row).collect()).await.concat()
}

/// Each of `members`, in the order of a ring, has a bundle for each; all bundles travel in one
/// direction, and each member takes out its own and passes the others on. The bundles for the
/// caller, by member.
async fn around_ring(me: &Process, members: &[u32], mut bundles: Vec<Vec<Payload>>) -> Vec<Vec<Payload>> {
    let count = members.len();
    let place = members.iter().position(|member| *member == me.rank()).expect("a member calls");
    let (previous, next) = (members[(place + count - 1) % count], members[(place + 1) % count]);
    let size = bundles[place].len();
    let mut travelling: Vec<Payload> =
        (1..count).flat_map(|distance| bundles[(place + distance) % count].clone()).collect();
    for step in 1..count {
        let received = exchange(me, next, &Payload::join(&travelling), previous).await;
        travelling = received.split(&lengths(&travelling));
        bundles[(place + count - step) % count] = travelling.drain(..size).collect();
    }
    bundles
}

fn lengths(blocks: &[Payload]) -> Vec<u64> {
    blocks.iter().map(|block| block.bytes).collect()
}

const fn index(rank: u32) -> usize {
    rank as usize
}
