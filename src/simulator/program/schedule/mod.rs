//! Schedules: the operations of all ranks, and what each of them waits for.

mod process;

pub use process::{follow, memory};

use crate::machine::Lanes;
use crate::trace::RESERVED_TAGS;

/// The schedule of a file.
#[derive(Debug, Default)]
pub struct Schedule {
    /// By rank.
    pub ranks: Vec<RankSchedule>,
}

/// The operations of a rank: a directed graph without cycles.
#[derive(Debug, Default)]
pub struct RankSchedule {
    /// In the order of their numbers.
    pub nodes: Vec<Node>,
    /// Those that wait for others: of each node first the ones that wait for its end, then those that wait for its beginning.
    pub followers: Vec<u32>,
    /// True if some receive takes messages of any source or any tag.
    pub takes_any: bool,
    messages: Option<Messages>,
    highest: Lanes,
}

/// Bounds of the messages that a rank, or all ranks, send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Messages {
    /// The highest rank that one goes to; none without messages.
    pub highest_peer: Option<u32>,
    pub longest: u64,
    lanes: Lanes,
}

/// Operations that a run carries out, wherever they are.
pub(crate) trait Operations {
    /// The number of ranks.
    fn ranks(&self) -> u32;

    /// The number of operations of a rank.
    fn count(&self, rank: u32) -> u32;

    /// True if some receive of a rank takes messages of any source or any tag.
    fn takes_any(&self, rank: u32) -> bool;

    /// The highest processor and the highest interface that an operation takes.
    fn highest_lanes(&self) -> Lanes;

    /// An operation of a rank.
    fn node(&mut self, rank: u32, number: u32) -> Node;

    /// The operation at a place among the followers of all those of a rank.
    fn follower(&mut self, rank: u32, place: u32) -> u32;
}

impl Operations for &Schedule {
    fn ranks(&self) -> u32 {
        u32::try_from(self.ranks.len()).expect("ranks are counted in 32 bits")
    }

    fn count(&self, rank: u32) -> u32 {
        u32::try_from(self.ranks[rank as usize].nodes.len()).expect("operations of a rank are counted in 32 bits")
    }

    fn takes_any(&self, rank: u32) -> bool {
        self.ranks[rank as usize].takes_any
    }

    fn highest_lanes(&self) -> Lanes {
        self.ranks.iter().map(|rank| rank.highest).fold(Lanes::default(), higher)
    }

    #[inline]
    fn node(&mut self, rank: u32, number: u32) -> Node {
        self.ranks[rank as usize].nodes[number as usize]
    }

    #[inline]
    fn follower(&mut self, rank: u32, place: u32) -> u32 {
        self.ranks[rank as usize].followers[place as usize]
    }
}

fn higher(one: Lanes, other: Lanes) -> Lanes {
    Lanes { cpu: one.cpu.max(other.cpu), nic: one.nic.max(other.nic) }
}

impl Messages {
    const fn of(send: &Node) -> Self {
        Self { highest_peer: Some(send.peer), longest: send.size, lanes: send.lanes() }
    }

    /// Those of a rank, and another one; `None` if they take different lanes, so that one may overtake another.
    fn with(self, other: Self) -> Option<Self> {
        let highest_peer = self.highest_peer.max(other.highest_peer);
        let longest = self.longest.max(other.longest);
        let lanes = if self.highest_peer.is_none() { other.lanes } else { self.lanes };
        let fit = self.highest_peer.is_none() || other.highest_peer.is_none() || self.lanes == other.lanes;
        fit.then_some(Self { highest_peer, longest, lanes })
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Bytes of a message, units of time of a computation.
    pub size: u64,
    /// The other rank of a message; [`ANY`] stands for all.
    pub peer: u32,
    /// The tag of a message; [`ANY`] stands for all.
    pub tag: u32,
    /// The number of operations that it waits for.
    pub awaited: u32,
    /// The first of its followers.
    pub first: u32,
    /// The number of those that wait for its end,
    pub at_end: u32,
    /// and for its beginning.
    pub at_begin: u32,
    /// Whether it sends, receives or computes.
    pub kind: NodeKind,
    /// The processor that it takes, from 0.
    pub cpu: u8,
    /// The interface that it takes, from 0.
    pub nic: u8,
}

impl Node {
    /// An operation that nothing waits for and that waits for nothing, on the first processor and interface.
    #[must_use]
    pub const fn new(kind: NodeKind, size: u64) -> Self {
        Self { size, peer: 0, tag: 0, awaited: 0, first: 0, at_end: 0, at_begin: 0, kind, cpu: 0, nic: 0 }
    }

    /// The processor and the interface that it takes.
    #[must_use]
    pub const fn lanes(&self) -> Lanes {
        Lanes { cpu: self.cpu, nic: self.nic }
    }
}

impl Schedule {
    /// The operations of all ranks.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.ranks.iter().flat_map(|rank| &rank.nodes)
    }

    /// Bounds of its messages; `None` if they take different lanes.
    pub(crate) fn messages(&self) -> Option<Messages> {
        self.ranks.iter().try_fold(Messages::default(), |messages, rank| messages.with(rank.messages?))
    }
}

/// Kinds of operations, in the order in which they begin where several may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// Sends a message.
    Send = 1,
    /// Receives one.
    Receive,
    /// Computes.
    Compute,
}

/// Any source, or any tag.
pub const ANY: u32 = u32::MAX;
/// Tags from this one on are not a file's.
pub const TAGS: u32 = RESERVED_TAGS;

/// That one operation of a rank waits for another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The one that waits.
    pub follower: u32,
    /// The one that it waits for.
    pub leader: u32,
    /// True if the follower waits for the end of the leader; false if for its beginning.
    pub to_end: bool,
}

impl RankSchedule {
    /// The graph of nodes that know their followers.
    #[must_use]
    pub fn of(nodes: Vec<Node>, followers: Vec<u32>) -> Self {
        let is_any = |node: &Node| node.kind == NodeKind::Receive && (node.peer == ANY || node.tag == ANY);
        let takes_any = nodes.iter().any(is_any);
        let highest = nodes.iter().map(Node::lanes).fold(Lanes::default(), higher);
        let sends = nodes.iter().filter(|node| node.kind == NodeKind::Send);
        let messages = sends.map(Messages::of).try_fold(Messages::default(), Messages::with);
        Self { nodes, followers, takes_any, messages, highest }
    }

    /// The graph of these operations and edges.
    ///
    /// # Errors
    /// The first operation on a cycle.
    ///
    /// # Panics
    /// If an edge names an operation that is not there.
    pub fn linked(mut nodes: Vec<Node>, edges: &[Edge]) -> Result<Self, u32> {
        for edge in edges {
            nodes[edge.follower as usize].awaited += 1;
            let leader = &mut nodes[edge.leader as usize];
            *if edge.to_end { &mut leader.at_end } else { &mut leader.at_begin } += 1;
        }
        let mut places = vec![[0u32; 2]; nodes.len()];
        let mut first = 0;
        for (node, places) in nodes.iter_mut().zip(&mut places) {
            node.first = first;
            *places = [first, first + node.at_end];
            first += node.at_end + node.at_begin;
        }
        let mut followers = vec![0; edges.len()];
        for edge in edges {
            let place = &mut places[edge.leader as usize][usize::from(!edge.to_end)];
            followers[*place as usize] = edge.follower;
            *place += 1;
        }
        let linked = Self::of(nodes, followers);
        linked.cycle().map_or(Ok(linked), Err)
    }

    /// Those that wait for the end of a node.
    #[must_use]
    pub fn at_end(&self, node: &Node) -> &[u32] {
        &self.followers[node.first as usize..][..node.at_end as usize]
    }

    /// Those that wait for its beginning.
    #[must_use]
    pub fn at_begin(&self, node: &Node) -> &[u32] {
        &self.followers[(node.first + node.at_end) as usize..][..node.at_begin as usize]
    }

    /// The operations that wait for nothing.
    #[must_use]
    pub fn roots(&self) -> Vec<u32> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.awaited == 0).map(|(number, _)| number).collect()
    }

    /// The first operation that never begins, because it waits for itself through others.
    #[must_use]
    pub fn cycle(&self) -> Option<u32> {
        let mut awaited: Vec<_> = self.nodes.iter().map(|node| node.awaited).collect();
        let mut ready = self.roots();
        while let Some(number) = ready.pop() {
            let node = &self.nodes[number as usize];
            for follower in self.at_end(node).iter().chain(self.at_begin(node)) {
                let awaited = &mut awaited[*follower as usize];
                *awaited -= 1;
                if *awaited == 0 {
                    ready.push(*follower);
                }
            }
        }
        (0..).zip(awaited).find(|(_, awaited)| *awaited > 0).map(|(number, _)| number)
    }
}
