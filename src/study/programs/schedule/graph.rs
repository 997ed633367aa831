//! The operations of all ranks, and what each of them waits for.

use parsim_sim::trace::RESERVED_TAGS;

/// The schedule of a file.
#[derive(Debug, Default)]
pub struct Schedule {
    /// By rank.
    pub ranks: Vec<RankSchedule>,
}

/// The operations of a rank: a directed graph without cycles.
#[derive(Debug, Default)]
pub struct RankSchedule {
    pub nodes: Vec<Node>,
    /// Those that wait for others: of each node first the ones that wait for its end, then those that wait for its beginning.
    pub followers: Vec<u32>,
    /// True if some receive takes messages of any source or any tag.
    pub takes_any: bool,
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
    pub kind: NodeKind,
    pub cpu: u8,
    pub nic: u8,
}

impl Node {
    /// An operation that nothing waits for and that waits for nothing, on the first processor and interface.
    pub const fn new(kind: NodeKind, size: u64) -> Self {
        Self { size, peer: 0, tag: 0, awaited: 0, first: 0, at_end: 0, at_begin: 0, kind, cpu: 0, nic: 0 }
    }
}

impl Schedule {
    /// The operations of all ranks.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.ranks.iter().flat_map(|rank| &rank.nodes)
    }
}

/// Kinds of operations, in the order in which they begin where several may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    Send = 1,
    Receive,
    Compute,
}

/// Any source, or any tag.
pub const ANY: u32 = u32::MAX;
/// Tags from this one on are not a file's.
pub const TAGS: u32 = RESERVED_TAGS;

/// That one operation of a rank waits for another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub follower: u32,
    pub leader: u32,
    /// True if the follower waits for the end of the leader; false if for its beginning.
    pub to_end: bool,
}

impl RankSchedule {
    /// The graph of nodes that know their followers.
    pub fn of(nodes: Vec<Node>, followers: Vec<u32>) -> Self {
        let is_any = |node: &Node| node.kind == NodeKind::Receive && (node.peer == ANY || node.tag == ANY);
        let takes_any = nodes.iter().any(is_any);
        Self { nodes, followers, takes_any }
    }

    /// The graph of these operations and edges; the first operation on a cycle is an error.
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
    pub fn at_end(&self, node: &Node) -> &[u32] {
        &self.followers[node.first as usize..][..node.at_end as usize]
    }

    /// Those that wait for its beginning.
    pub fn at_begin(&self, node: &Node) -> &[u32] {
        &self.followers[(node.first + node.at_end) as usize..][..node.at_begin as usize]
    }

    /// The operations that wait for nothing.
    pub fn roots(&self) -> Vec<u32> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.awaited == 0).map(|(number, _)| number).collect()
    }

    /// The first operation that never begins, because it waits for itself through others.
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
