//! The sum of all ranks' messages, to one of them.

use super::payload::Payload;
use super::power_of_two;
use super::transfer::{receive, send};
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the sum of all messages to one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Reduce {
    /// Every rank sends to the root, which adds one after the other.
    Naive,
    /// Up a binomial tree.
    Binomial,
    /// The same tree folded onto a hypercube. Needs a power of two of ranks.
    Hypercube,
}

impl Reduce {
    /// Adds everyone's `own`; the sum on the root, nothing elsewhere. All ranks call it.
    pub async fn run(self, me: &Process, root: u32, own: Payload) -> Option<Payload> {
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

async fn naive(me: &Process, root: u32, own: Payload) -> Option<Payload> {
    if me.rank() != root {
        send(me, root, &own).await;
        return None;
    }
    let mut sum = own;
    for rank in (0..me.ranks()).filter(|rank| *rank != root) {
        sum = receive(me, rank).await.plus(me, &sum).await;
    }
    Some(sum)
}

async fn up_tree(me: &Process, tree: Binomial, own: Payload) -> Option<Payload> {
    let mut sum = own;
    for child in tree.children(me.rank()).into_iter().rev() {
        sum = receive(me, child).await.plus(me, &sum).await;
    }
    match tree.parent(me.rank()) {
        Some(parent) => {
            send(me, parent, &sum).await;
            None
        }
        None => Some(sum),
    }
}
