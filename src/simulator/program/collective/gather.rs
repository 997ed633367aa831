//! A block from each rank to one.

use super::payload::Payload;
use super::power_of_two;
use super::transfer::{receive, send};
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the blocks of all ranks to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Gather {
    /// Every rank sends its block to the root.
    Naive,
    /// Up a binomial tree: a rank passes on the blocks of its whole subtree.
    Binomial,
    /// The same tree folded onto a hypercube. Needs a power of two of ranks.
    Hypercube,
}

impl Gather {
    /// Collects everyone's `own` block, all of the same length; on the root all blocks by rank,
    /// nothing elsewhere. All ranks call it.
    pub async fn run(self, me: &Process, root: u32, own: Payload) -> Option<Vec<Payload>> {
        match self {
            Self::Naive => naive(me, root, own).await,
            Self::Binomial => up_tree(me, Binomial::new(root, me.ranks(), Numbering::Shifted), own).await,
            Self::Hypercube => up_tree(me, Binomial::new(root, me.ranks(), Numbering::Mirrored), own).await,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(self, ranks: u32) -> Option<String> {
        (self == Self::Hypercube).then(|| power_of_two("Hypercube", ranks)).flatten()
    }
}

async fn naive(me: &Process, root: u32, own: Payload) -> Option<Vec<Payload>> {
    if me.rank() != root {
        send(me, root, &own).await;
        return None;
    }
    let mut blocks = Vec::new();
    for rank in 0..me.ranks() {
        blocks.push(if rank == root { own.clone() } else { receive(me, rank).await });
    }
    Some(blocks)
}

async fn up_tree(me: &Process, tree: Binomial, own: Payload) -> Option<Vec<Payload>> {
    let bytes = own.bytes;
    let mut held = vec![own];
    for child in tree.children(me.rank()).into_iter().rev() {
        held.extend(receive(me, child).await.split(&vec![bytes; tree.subtree(child).len()]));
    }
    if let Some(parent) = tree.parent(me.rank()) {
        send(me, parent, &Payload::join(&held)).await;
        return None;
    }
    let mut blocks: Vec<(u32, Payload)> = (0..).map(|number| tree.rank(number)).zip(held).collect();
    blocks.sort_by_key(|(rank, _)| *rank);
    Some(blocks.into_iter().map(|(_, block)| block).collect())
}
