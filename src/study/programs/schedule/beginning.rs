//! The beginning of a schedule: its first operations with all their dependencies.

use super::{Edge, NodeKind, Operations, RankSchedule, Schedule, ScheduleNode};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The beginning of a schedule: the first operations of a kind on every rank (as many as it has), with the operations
/// that they wait for, and with both ends of every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstOperations {
    /// Number of these operations on each rank. All operations that are not needed are omitted.
    pub operations: u32,
    /// The kind of these operations: `Send`, `Receive` or `Compute`.
    pub of: NodeKind,
}

impl FirstOperations {
    /// Returns the beginning of a schedule: the smallest part that contains these operations, all operations that its
    /// operations wait for, and the send and the receive of each message. Messages of one pair of ranks and one tag are
    /// matched in file order.
    ///
    /// # Errors
    /// The reason why there is no such part, and advice.
    pub fn of(self, whole: &mut dyn Operations) -> Result<Schedule, (String, &'static str)> {
        if let Some(rank) = (0..whole.ranks()).find(|rank| whole.matches_any(*rank)) {
            let message = format!("rank {rank} receives messages of any source or tag: which these are is not known");
            return Err((message, "name source and tag of every receive in the file, or leave `first` out"));
        }
        let graphs: Vec<_> = (0..whole.ranks()).map(|rank| RankGraph::of(whole, rank)).collect();
        if let Some(fault) = whole.fault() {
            return Err((fault, "do not change the file during a run"));
        }
        let longest = graphs.iter().map(|graph| graph.numbers(self.of).count()).max().unwrap_or(0);
        if longest < self.operations as usize {
            let (kind, most) = (self.of, self.operations);
            let message =
                format!("no rank has more than {longest} operations {kind:?}, and the first {most} are asked for");
            return Err((message, "ask for fewer, or for operations of another kind"));
        }
        let is_kept = KeptOperations::of(&graphs, self).is_kept;
        let ranks = graphs.into_iter().zip(&is_kept).map(|(graph, is_kept)| graph.part(is_kept));
        Ok(Schedule { ranks: ranks.collect() })
    }
}

/// The dependency graph of a rank's operations.
struct RankGraph {
    nodes: Vec<ScheduleNode>,
    edges: Vec<Edge>,
    /// For each operation the index of its first edge. Edges are sorted by the operation that waits.
    first: Vec<u32>,
}

impl RankGraph {
    fn of(whole: &mut dyn Operations, rank: u32) -> Self {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for leader in 0..whole.count(rank) {
            let node = whole.node(rank, leader);
            for (places, to_end) in [(node.places_at_end(), true), (node.places_at_begin(), false)] {
                edges.extend(places.map(|place| Edge { follower: whole.follower(rank, place), leader, to_end }));
            }
            nodes.push(node);
        }
        edges.sort_by_key(|edge| edge.follower);
        let mut first = vec![0; nodes.len() + 1];
        for edge in &edges {
            first[edge.follower as usize + 1] += 1;
        }
        for number in 1..first.len() {
            first[number] += first[number - 1];
        }
        Self { nodes, edges, first }
    }

    /// Returns the numbers of the operations of a kind.
    fn numbers(&self, kind: NodeKind) -> impl Iterator<Item = u32> {
        (0..).zip(&self.nodes).filter(move |(_, node)| node.kind == kind).map(|(number, _)| number)
    }

    /// Returns the operations that an operation waits for.
    fn leaders(&self, number: u32) -> impl Iterator<Item = u32> {
        let [begin, end] = [self.first[number as usize], self.first[number as usize + 1]];
        self.edges[begin as usize..end as usize].iter().map(|edge| edge.leader)
    }

    /// Returns the part with the kept operations, which must include everything that these wait for.
    fn part(self, is_kept: &[bool]) -> RankSchedule {
        let count_before = |count: &mut u32, is_kept: &bool| {
            let before = *count;
            *count += u32::from(*is_kept);
            Some(before)
        };
        let new: Vec<u32> = is_kept.iter().scan(0, count_before).collect();
        let kept = |number: u32| is_kept[number as usize];
        let renamed = |edge: Edge| Edge {
            follower: new[edge.follower as usize],
            leader: new[edge.leader as usize],
            to_end: edge.to_end,
        };
        let edges: Vec<_> = self.edges.into_iter().filter(|edge| kept(edge.follower)).map(renamed).collect();
        let bare = |node: ScheduleNode| {
            let ScheduleNode { size, peer, tag, kind, cpu, nic, .. } = node;
            ScheduleNode { peer, tag, cpu, nic, ..ScheduleNode::new(kind, size) }
        };
        let nodes = self.nodes.into_iter().zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(node, _)| bare(node));
        let part = RankSchedule::linked(nodes.collect(), &edges).expect("a part of a graph without cycles has none");
        part.part_of((0..).zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(number, _)| number).collect())
    }
}

/// The operations that are kept.
struct KeptOperations {
    is_kept: Vec<Vec<bool>>,
    /// The kept operations, by rank and number, whose dependencies have not been examined.
    open: Vec<(u32, u32)>,
}

impl KeptOperations {
    fn of(graphs: &[RankGraph], first: FirstOperations) -> Self {
        let is_kept = graphs.iter().map(|graph| vec![false; graph.nodes.len()]).collect();
        let mut this = Self { is_kept, open: Vec::new() };
        for (rank, graph) in (0..).zip(graphs) {
            graph.numbers(first.of).take(first.operations as usize).for_each(|number| this.keep(rank, number));
        }
        let messages = Messages::of(graphs);
        while let Some((rank, number)) = this.open.pop() {
            graphs[rank as usize].leaders(number).for_each(|leader| this.keep(rank, leader));
            if let Some((rank, number)) = messages.other_end(graphs, rank, number) {
                this.keep(rank, number);
            }
        }
        this
    }

    fn keep(&mut self, rank: u32, number: u32) {
        let is_kept = &mut self.is_kept[rank as usize][number as usize];
        if !std::mem::replace(is_kept, true) {
            self.open.push((rank, number));
        }
    }
}

/// Sender, receiver and tag of messages.
type ScheduledRoute = (u32, u32, u32);

/// The messages of a schedule: for each route, the numbers of the sends and of the receives, in order.
struct Messages {
    ends: FxHashMap<ScheduledRoute, [Vec<u32>; 2]>,
}

/// Returns the route of an operation's message, and the end that the operation is: 0 for the send, 1 for the receive.
fn route(rank: u32, node: &ScheduleNode) -> Option<(ScheduledRoute, usize)> {
    match node.kind {
        NodeKind::Send => Some(((rank, node.peer, node.tag), 0)),
        NodeKind::Receive => Some(((node.peer, rank, node.tag), 1)),
        NodeKind::Compute | NodeKind::Join => None,
    }
}

impl Messages {
    fn of(graphs: &[RankGraph]) -> Self {
        let mut ends: FxHashMap<ScheduledRoute, [Vec<u32>; 2]> = FxHashMap::default();
        for (rank, graph) in (0..).zip(graphs) {
            for (number, node) in (0..).zip(&graph.nodes) {
                if let Some((route, end)) = route(rank, node) {
                    ends.entry(route).or_default()[end].push(number);
                }
            }
        }
        Self { ends }
    }

    /// Returns the rank and the number of the operation at the other end of a message, if there is one.
    fn other_end(&self, graphs: &[RankGraph], rank: u32, number: u32) -> Option<(u32, u32)> {
        let ((from, to, tag), end) = route(rank, &graphs[rank as usize].nodes[number as usize])?;
        let ends = self.ends.get(&(from, to, tag))?;
        let place = ends[end].binary_search(&number).ok()?;
        let other = *ends[1 - end].get(place)?;
        Some((if end == 0 { to } else { from }, other))
    }
}
