//! All ranks wait for each other.

use crate::program::process::{BARRIER_TAG, Message, MessagePattern, Process};
use serde::{Deserialize, Serialize};

/// Algorithm by which the ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Barrier {
    /// They do not.
    Never,
    /// At no cost, as an idealisation.
    Ideal,
    /// By messages of four bytes up and down the neighbour tree of rank 0.
    Tree,
    /// By messages of four bytes: in step k every rank sends to the one 2^k further that it has come,
    /// with those of whom it has heard (Hensgen, Finkel, Manber 1988).
    Dissemination,
}

const BARRIER_BYTES: u64 = 4;

impl Barrier {
    /// Waits until all ranks have come here, if this is a barrier at all.
    pub async fn run(self, me: &Process) {
        match self {
            Self::Never => {}
            Self::Ideal => me.barrier().await,
            Self::Tree => tree_barrier(me).await,
            Self::Dissemination => dissemination(me).await,
        }
    }
}

async fn tree_barrier(me: &Process) {
    let (grid, rank) = (me.grid(), me.rank());
    let children = || grid.trunk(0, rank).chain(grid.branches(0, rank));
    let token = Message::new(BARRIER_BYTES).tag(BARRIER_TAG);
    for child in children() {
        me.receive_where(MessagePattern { from: Some(child), tag: Some(BARRIER_TAG) }).await;
    }
    if let Some(parent) = grid.parent(0, rank) {
        me.send(parent, token.clone()).await;
        me.receive_where(MessagePattern { from: Some(parent), tag: Some(BARRIER_TAG) }).await;
    }
    for child in children() {
        me.send(child, token.clone()).await;
    }
}

async fn dissemination(me: &Process) {
    let ranks = me.ranks();
    let token = Message::new(BARRIER_BYTES).tag(BARRIER_TAG);
    let mut distance = 1;
    while distance < ranks {
        let from = (me.rank() + ranks - distance) % ranks;
        let sending = me.start_send((me.rank() + distance) % ranks, token.clone()).await;
        me.receive_where(MessagePattern { from: Some(from), tag: Some(BARRIER_TAG) }).await;
        me.wait(sending).await;
        distance = distance.saturating_mul(2);
    }
}
