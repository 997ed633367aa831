//! Collective operations, written with the verbs of a process like any user's code.

use super::process::{Message, Pattern, Process};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// How a message of one rank comes to all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Broadcast {
    /// The root sends to every other rank.
    Naive(NaiveBroadcast),
    /// Every rank passes it on to its neighbours: along the root's row, and along the columns.
    Neighbour(NeighbourBroadcast),
}

/// One message from the root to every other rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NaiveBroadcast {
    /// To whom first.
    pub order: SendOrder,
    /// One after the other, or all at once.
    pub sends: Concurrency,
}

/// The order in which the root of a naive broadcast of rank r serves the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SendOrder {
    /// r + 1, r + 2, … modulo p.
    Ascending,
    /// r − 1, r − 2, … modulo p.
    Descending,
}

/// A tree over the virtual grid of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourBroadcast {
    /// To the children one after the other, or to all at once.
    pub sends: Concurrency,
    /// When a rank begins to pass the message on.
    pub forward: Forward,
    /// Which children come first.
    pub first: Children,
}

/// Whether the sends of one process wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Concurrency {
    /// The next send begins when the previous one is complete.
    Sequential,
    /// All sends begin at once.
    Concurrent,
}

/// The unit in which a message is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forward {
    /// A rank has the whole message before it passes it on.
    WholeMessage,
    /// A rank passes on every packet as soon as it has it, while the next ones arrive.
    PerPacket,
}

/// The two kinds of children in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Children {
    /// Those along the root's row.
    Trunk,
    /// Those along the columns.
    Branch,
}

impl Broadcast {
    /// Broadcasts `bytes` bytes from `root`; all ranks call it, and all get the root's values.
    pub async fn run(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        match self {
            Self::Naive(naive) => naive.run(me, root, bytes, values).await,
            Self::Neighbour(tree) => tree.run(me, root, bytes, values).await,
        }
    }
}

impl NaiveBroadcast {
    async fn run(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        if me.rank() != root {
            return me.receive(root).await.values;
        }
        let ranks = me.ranks();
        let others = (1..ranks).map(|step| match self.order {
            SendOrder::Ascending => (root + step) % ranks,
            SendOrder::Descending => (root + ranks - step) % ranks,
        });
        send_to_each(me, others, &Message::new(bytes).values(values.clone()), self.sends).await;
        values
    }
}

impl NeighbourBroadcast {
    async fn run(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        match self.forward {
            Forward::WholeMessage => self.pass_on_whole(me, root, bytes, values).await,
            Forward::PerPacket => self.pass_on_packets(me, root, bytes, values).await,
        }
    }

    async fn pass_on_whole(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        let message = match me.grid().parent(root, me.rank()) {
            Some(parent) => me.receive(parent).await,
            None => Message::new(bytes).values(values),
        };
        send_to_each(me, self.children(me, root), &message, self.sends).await;
        message.values
    }

    /// The message travels as one message per packet; the numbers ride on the last one.
    async fn pass_on_packets(
        &self,
        me: &Process,
        root: u32,
        bytes: u64,
        mut values: Option<Rc<[f64]>>,
    ) -> Option<Rc<[f64]>> {
        let parent = me.grid().parent(root, me.rank());
        let children: Vec<u32> = self.children(me, root).collect();
        let packets = bytes.div_ceil(me.packet_bytes()).max(1);
        let mut under_way = Vec::new();
        for packet in 0..packets {
            let last = packet + 1 == packets;
            let length = if last { bytes - packet * me.packet_bytes() } else { me.packet_bytes() };
            if let Some(parent) = parent {
                values = me.receive(parent).await.values;
            }
            let message = Message::new(length).values(values.clone().filter(|_| last));
            for &child in &children {
                match self.sends {
                    Concurrency::Sequential => me.send(child, message.clone()).await,
                    Concurrency::Concurrent => under_way.push(me.start_send(child, message.clone()).await),
                }
            }
        }
        me.wait_all(under_way).await;
        values
    }

    fn children(&self, me: &Process, root: u32) -> impl Iterator<Item = u32> {
        let (grid, rank) = (me.grid(), me.rank());
        let trunk: Vec<u32> = grid.trunk(root, rank).collect();
        let branches: Vec<u32> = grid.branches(root, rank).collect();
        let (first, second) = match self.first {
            Children::Trunk => (trunk, branches),
            Children::Branch => (branches, trunk),
        };
        first.into_iter().chain(second)
    }
}

async fn send_to_each(me: &Process, ranks: impl Iterator<Item = u32>, message: &Message, sends: Concurrency) {
    match sends {
        Concurrency::Sequential => {
            for rank in ranks {
                me.send(rank, message.clone()).await;
            }
        }
        Concurrency::Concurrent => {
            let mut under_way = Vec::new();
            for rank in ranks {
                under_way.push(me.start_send(rank, message.clone()).await);
            }
            me.wait_all(under_way).await;
        }
    }
}

/// How the ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Barrier {
    /// They do not.
    Never,
    /// By magic, at no cost.
    Ideal,
    /// By messages of four bytes up and down the neighbour tree of rank 0.
    Tree,
}

const BARRIER_BYTES: u64 = 4;
const BARRIER_TAG: u32 = u32::MAX;

impl Barrier {
    /// Waits until all ranks have come here, if this is a barrier at all.
    pub async fn run(self, me: &Process) {
        match self {
            Self::Never => {}
            Self::Ideal => me.barrier().await,
            Self::Tree => tree_barrier(me).await,
        }
    }
}

async fn tree_barrier(me: &Process) {
    let (grid, rank) = (me.grid(), me.rank());
    let children = || grid.trunk(0, rank).chain(grid.branches(0, rank));
    let token = Message::new(BARRIER_BYTES).tag(BARRIER_TAG);
    for child in children() {
        me.receive_where(Pattern { from: Some(child), tag: Some(BARRIER_TAG) }).await;
    }
    if let Some(parent) = grid.parent(0, rank) {
        me.send(parent, token.clone()).await;
        me.receive_where(Pattern { from: Some(parent), tag: Some(BARRIER_TAG) }).await;
    }
    for child in children() {
        me.send(child, token.clone()).await;
    }
}
