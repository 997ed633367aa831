//! Broadcasts among all ranks with a given order and overlap of sends.

use crate::program::collective::payload::Payload;
use crate::program::collective::transfer::{receive, send, start_send};
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A chain of all ranks, from the root upwards modulo p.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PipelinedBroadcast {
    /// The length of the segments; the last one is shorter if the message length is not a multiple.
    pub segment: Bytes,
}

/// One message from the root to every other rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NaiveBroadcast {
    /// The order of the sends.
    pub order: SendOrder,
    /// The concurrency of the sends.
    pub sends: Concurrency,
}

/// The order in which the root, of rank r, sends to the others in a naive broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SendOrder {
    /// r + 1, r + 2, … modulo p.
    Ascending,
    /// r − 1, r − 2, … modulo p.
    Descending,
}

/// A tree over the virtual grid of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NeighbourBroadcast {
    /// The concurrency of the sends to the children.
    pub sends: Concurrency,
    /// The moment at which a rank begins to pass the message on.
    pub forward: Forward,
    /// The children that are served first.
    pub first: Children,
}

/// Order of the sends of one process: concurrent, or one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Concurrency {
    /// The next send begins when the previous one is complete.
    Sequential,
    /// All sends begin at once.
    Concurrent,
}

/// The unit in which a message is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Forward {
    /// A rank receives the whole message before it passes the message on.
    WholeMessage,
    /// A rank passes on every packet as soon as it arrives.
    PerPacket,
}

/// The two kinds of children in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Children {
    /// The children along the row of the root.
    Trunk,
    /// The children along the columns.
    Branch,
}

impl PipelinedBroadcast {
    pub(super) async fn run(
        &self,
        me: &Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> Option<Rc<[f64]>> {
        let ranks = me.ranks();
        let place = (me.rank() + ranks - root) % ranks;
        let (previous, next) = ((me.rank() + ranks - 1) % ranks, (me.rank() + 1) % ranks);
        let lengths = self.lengths(bytes);
        let own = Payload::new(bytes, values).split(&lengths);
        let mut segments = Vec::new();
        let mut under_way = Vec::new();
        for segment in own {
            let segment = if place == 0 { segment } else { receive(me, previous).await };
            if place + 1 < ranks {
                under_way.push(start_send(me, next, &segment).await);
            }
            segments.push(segment);
        }
        me.wait_all(under_way).await;
        Payload::join(&segments).values
    }

    fn lengths(&self, bytes: u64) -> Vec<u64> {
        let segment = self.segment.count();
        let count = bytes.div_ceil(segment).max(1);
        (0..count).map(|index| segment.min(bytes - index * segment)).collect()
    }
}

impl NaiveBroadcast {
    pub(super) async fn run(
        &self,
        me: &Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> Option<Rc<[f64]>> {
        if me.rank() != root {
            return receive(me, root).await.values;
        }
        let ranks = me.ranks();
        let others = (1..ranks).map(|step| match self.order {
            SendOrder::Ascending => (root + step) % ranks,
            SendOrder::Descending => (root + ranks - step) % ranks,
        });
        let payload = Payload::new(bytes, values);
        send_to_each(me, others, &payload, self.sends).await;
        payload.values
    }
}

impl NeighbourBroadcast {
    pub(super) async fn run(
        &self,
        me: &Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> Option<Rc<[f64]>> {
        match self.forward {
            Forward::WholeMessage => self.pass_on_whole(me, root, bytes, values).await,
            Forward::PerPacket => self.pass_on_packets(me, root, bytes, values).await,
        }
    }

    async fn pass_on_whole(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        let payload = match me.grid().parent(root, me.rank()) {
            Some(parent) => receive(me, parent).await,
            None => Payload::new(bytes, values),
        };
        send_to_each(me, self.children(me, root), &payload, self.sends).await;
        payload.values
    }

    /// Passes the message on as one message per packet; the values travel with the last one.
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
            let payload = match parent {
                Some(parent) => receive(me, parent).await,
                None => Payload::new(length, values.clone().filter(|_| last)),
            };
            for &child in &children {
                match self.sends {
                    Concurrency::Sequential => send(me, child, &payload).await,
                    Concurrency::Concurrent => under_way.push(start_send(me, child, &payload).await),
                }
            }
            if parent.is_some() {
                values = payload.values;
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

async fn send_to_each(me: &Process, ranks: impl Iterator<Item = u32>, payload: &Payload, sends: Concurrency) {
    match sends {
        Concurrency::Sequential => {
            for rank in ranks {
                send(me, rank, payload).await;
            }
        }
        Concurrency::Concurrent => {
            let mut under_way = Vec::new();
            for rank in ranks {
                under_way.push(start_send(me, rank, payload).await);
            }
            me.wait_all(under_way).await;
        }
    }
}
