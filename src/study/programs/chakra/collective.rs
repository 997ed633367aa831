//! The messages of a collective operation of a group.
//!
//! The operations of `parsim_sim::program::collective` are steps of a process, which performs one at a time. A rank of
//! a trace may have several in progress, so here each operation is a part of the rank's graph.

use super::graph::{ChakraGraph, NodePart};

/// The kinds of collective operations, in the order of their numbers in Chakra's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    AllReduce,
    Reduce,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    ReduceScatter,
    Barrier,
}

impl CollectiveKind {
    pub const fn has_root(self) -> bool {
        matches!(self, Self::Reduce | Self::Gather | Self::Scatter | Self::Broadcast)
    }

    pub const fn of(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::AllReduce,
            1 => Self::Reduce,
            2 => Self::AllGather,
            3 => Self::Gather,
            4 => Self::Scatter,
            5 => Self::Broadcast,
            6 => Self::AllToAll,
            7 | 8 => Self::ReduceScatter,
            9 => Self::Barrier,
            _ => return None,
        })
    }
}

/// The part of one rank in a collective operation.
pub struct CollectivePart<'g> {
    /// The ranks of the group, at least two.
    pub members: &'g [u32],
    /// The position of the rank among the members.
    pub me: usize,
    /// The position of the root among the members.
    pub root: usize,
    pub bytes: u64,
    pub tag: u32,
}

impl CollectivePart<'_> {
    /// Adds the messages of the rank to its graph.
    pub fn expand(&self, kind: CollectiveKind, graph: &mut ChakraGraph) -> NodePart {
        let p = self.members.len();
        let block = self.bytes.div_ceil(p as u64);
        match kind {
            CollectiveKind::AllReduce => self.ring(2 * (p - 1), block, graph),
            CollectiveKind::ReduceScatter => self.ring(p - 1, block, graph),
            CollectiveKind::AllGather => self.ring(p - 1, self.bytes, graph),
            CollectiveKind::AllToAll => self.all_to_all(block, graph),
            CollectiveKind::Broadcast => self.broadcast(graph),
            CollectiveKind::Reduce => self.reduce(graph),
            CollectiveKind::Gather => self.straight(self.bytes, true, graph),
            CollectiveKind::Scatter => self.straight(block, false, graph),
            CollectiveKind::Barrier => self.dissemination(graph),
        }
    }

    /// Returns the member `steps` positions after this rank, cyclically.
    fn member(&self, steps: usize) -> u32 {
        self.members[(self.me + steps) % self.members.len()]
    }

    /// Adds a ring: each step forwards the block that the step before it has received.
    fn ring(&self, steps: usize, block: u64, graph: &mut ChakraGraph) -> NodePart {
        let (next, before) = (self.member(1), self.member(self.members.len() - 1));
        let mut part = NodePart::default();
        for step in 0..steps {
            let send = graph.send(next, block, self.tag);
            let receive = graph.receive(before, block, self.tag);
            if step == 0 {
                part.first = vec![send, receive];
            } else {
                let [earlier, come] = [part.last[0], part.last[1]];
                graph.requires(send, come);
                graph.follows(send, earlier);
                graph.requires(receive, come);
            }
            part.last = vec![send, receive];
        }
        part
    }

    /// Adds all messages of an all-to-all exchange at once; every rank begins with its successor.
    fn all_to_all(&self, block: u64, graph: &mut ChakraGraph) -> NodePart {
        let p = self.members.len();
        let mut all = Vec::with_capacity(2 * (p - 1));
        for step in 1..p {
            all.push(graph.send(self.member(step), block, self.tag));
            all.push(graph.receive(self.member(p - step), block, self.tag));
        }
        NodePart { first: all.clone(), last: all }
    }

    /// Returns the parent and the children in a binomial tree with root 0, as positions; the largest subtree comes
    /// first.
    fn tree(&self) -> (Option<usize>, Vec<usize>) {
        let p = self.members.len();
        let place = (self.me + p - self.root) % p;
        let low = if place == 0 { p.next_power_of_two() } else { place & place.wrapping_neg() };
        let children = std::iter::successors(Some(low / 2), |bit| Some(bit / 2)).take_while(|bit| *bit > 0);
        let children = children.map(|bit| place + bit).filter(|child| *child < p).collect();
        ((place > 0).then(|| place - low), children)
    }

    fn at_place(&self, place: usize) -> u32 {
        self.members[(place + self.root) % self.members.len()]
    }

    fn broadcast(&self, graph: &mut ChakraGraph) -> NodePart {
        let (parent, children) = self.tree();
        let received = parent.map(|parent| graph.receive(self.at_place(parent), self.bytes, self.tag));
        let sends: Vec<_> =
            children.into_iter().map(|child| graph.send(self.at_place(child), self.bytes, self.tag)).collect();
        let Some(received) = received else { return NodePart { first: sends.clone(), last: sends } };
        for send in &sends {
            graph.requires(*send, received);
        }
        NodePart { first: vec![received], last: sends.into_iter().chain([received]).collect() }
    }

    fn reduce(&self, graph: &mut ChakraGraph) -> NodePart {
        let (parent, children) = self.tree();
        let received: Vec<_> =
            children.into_iter().map(|child| graph.receive(self.at_place(child), self.bytes, self.tag)).collect();
        let Some(parent) = parent else { return NodePart { first: received.clone(), last: received } };
        let send = graph.send(self.at_place(parent), self.bytes, self.tag);
        for message in &received {
            graph.requires(send, *message);
        }
        NodePart { first: if received.is_empty() { vec![send] } else { received }, last: vec![send] }
    }

    /// Adds direct messages between the root and each of the other members, to the root or from it.
    fn straight(&self, bytes: u64, to_root: bool, graph: &mut ChakraGraph) -> NodePart {
        let root = self.members[self.root];
        let partners: Vec<u32> = if self.me == self.root {
            self.members.iter().copied().filter(|member| *member != root).collect()
        } else {
            vec![root]
        };
        let sends = (self.me == self.root) != to_root;
        let message = |partner| {
            if sends { graph.send(partner, bytes, self.tag) } else { graph.receive(partner, bytes, self.tag) }
        };
        let all: Vec<_> = partners.into_iter().map(message).collect();
        NodePart { first: all.clone(), last: all }
    }

    /// Adds a dissemination barrier: in each round a rank notifies the one 1, 2, 4, … positions after it.
    fn dissemination(&self, graph: &mut ChakraGraph) -> NodePart {
        let p = self.members.len();
        let mut part = NodePart::default();
        for distance in
            std::iter::successors(Some(1), |distance| Some(2 * distance)).take_while(|distance| *distance < p)
        {
            let send = graph.send(self.member(distance), 1, self.tag);
            let receive = graph.receive(self.member(p - distance), 1, self.tag);
            for before in std::mem::replace(&mut part.last, vec![send, receive]) {
                graph.requires(send, before);
                graph.requires(receive, before);
            }
            if part.first.is_empty() {
                part.first = vec![send, receive];
            }
        }
        part
    }
}
