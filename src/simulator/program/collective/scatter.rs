//! A block from one rank to each.

use super::payload::Payload;
use super::power_of_two;
use super::transfer::{receive, send};
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// Algorithm that brings the blocks of the root to their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scatter {
    /// The root sends every rank its block.
    Naive,
    /// Down a binomial tree: a rank gets the blocks of its whole subtree.
    Binomial,
    /// The same tree folded onto a hypercube. Needs a power of two of ranks.
    Hypercube,
}

impl Scatter {
    /// Distributes `values` of the root in blocks of `bytes` bytes; all ranks call it and get theirs.
    pub async fn run(self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
        match self {
            Self::Naive => naive(me, root, bytes, values).await,
            Self::Binomial => down_tree(me, Binomial::new(root, me.ranks(), Numbering::Shifted), bytes, values).await,
            Self::Hypercube => down_tree(me, Binomial::new(root, me.ranks(), Numbering::Mirrored), bytes, values).await,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(self, ranks: u32) -> Option<String> {
        (self == Self::Hypercube).then(|| power_of_two("Hypercube", ranks)).flatten()
    }
}

fn blocks(me: &Process, bytes: u64, values: Option<Rc<[f64]>>) -> Vec<Payload> {
    let lengths = vec![bytes; me.ranks() as usize];
    Payload::new(bytes * u64::from(me.ranks()), values).split(&lengths)
}

async fn naive(me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
    if me.rank() != root {
        return receive(me, root).await;
    }
    let mut blocks = blocks(me, bytes, values);
    for rank in (0..me.ranks()).filter(|rank| *rank != root) {
        send(me, rank, &blocks[rank as usize]).await;
    }
    blocks.swap_remove(root as usize)
}

async fn down_tree(me: &Process, tree: Binomial, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
    let range = tree.subtree(me.rank());
    let mut held = if let Some(parent) = tree.parent(me.rank()) {
        receive(me, parent).await.split(&vec![bytes; range.len()])
    } else {
        let blocks = blocks(me, bytes, values);
        range.clone().map(|number| blocks[tree.rank(number) as usize].clone()).collect()
    };
    for child in tree.children(me.rank()) {
        let below = held.split_off((tree.subtree(child).start - range.start) as usize);
        send(me, child, &Payload::join(&below)).await;
    }
    held.swap_remove(0)
}
