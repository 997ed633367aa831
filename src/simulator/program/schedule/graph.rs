//! Schedules in memory.

use super::{Bounds, Operations, ScheduleNode, StoredSchedule};
use std::sync::Arc;

/// A schedule in memory.
#[derive(Debug, Default)]
pub struct Schedule {
    /// The operations of each rank.
    pub ranks: Vec<RankSchedule>,
}

/// The operations of a rank: a directed acyclic graph.
#[derive(Debug, Default)]
pub struct RankSchedule {
    /// The operations, in the order of their numbers.
    pub nodes: Vec<ScheduleNode>,
    /// The followers of all nodes. For each node, those that wait for its end are followed by those that wait for its
    /// beginning.
    pub followers: Vec<u32>,
    bounds: Bounds,
    /// The number of each operation in the original schedule, if this is a part of one; its own number if absent.
    of_whole: Option<Box<[u32]>>,
}

/// A dependency between two operations of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The operation that waits.
    pub follower: u32,
    /// The operation that it waits for.
    pub leader: u32,
    /// `true` if the follower waits for the end of the leader; `false` if it waits for the beginning.
    pub to_end: bool,
}

impl StoredSchedule for Schedule {
    fn ranks(&self) -> u32 {
        u32::try_from(self.ranks.len()).expect("ranks are counted in 32 bits")
    }

    fn bounds(&self) -> Bounds {
        self.ranks.iter().fold(Bounds::default(), |bounds, rank| bounds.and(rank.bounds))
    }

    fn memory(&self) -> u64 {
        let of_rank = |rank: &RankSchedule| {
            let of_whole = rank.of_whole.as_ref().map_or(0, |numbers| size_of_val(&**numbers));
            size_of_val(&*rank.nodes) + size_of_val(&*rank.followers) + of_whole
        };
        self.ranks.iter().map(|rank| of_rank(rank) as u64).sum()
    }

    fn number_in_file(&self, rank: u32, number: u32) -> u32 {
        let of_whole = self.ranks.get(rank as usize).and_then(|rank| rank.of_whole.as_ref());
        of_whole.and_then(|numbers| numbers.get(number as usize)).copied().unwrap_or(number)
    }

    fn open(self: Arc<Self>) -> Box<dyn Operations> {
        Box::new(self)
    }
}

impl Operations for Arc<Schedule> {
    fn ranks(&self) -> u32 {
        StoredSchedule::ranks(&**self)
    }

    fn count(&self, rank: u32) -> u32 {
        u32::try_from(self.ranks[rank as usize].nodes.len()).expect("operations of a rank are counted in 32 bits")
    }

    fn matches_any(&self, rank: u32) -> bool {
        self.ranks[rank as usize].bounds.takes_any
    }

    fn roots(&self, rank: u32) -> Vec<u32> {
        self.ranks[rank as usize].roots()
    }

    fn node(&mut self, rank: u32, number: u32) -> ScheduleNode {
        self.ranks[rank as usize].nodes[number as usize]
    }

    fn follower(&mut self, rank: u32, place: u32) -> u32 {
        self.ranks[rank as usize].followers[place as usize]
    }

    fn fault(&self) -> Option<String> {
        None
    }
}

impl RankSchedule {
    /// Creates the graph of nodes whose followers are known.
    #[must_use]
    pub fn of(nodes: Vec<ScheduleNode>, followers: Vec<u32>) -> Self {
        let mut bounds = Bounds::default();
        for node in &nodes {
            bounds.add(node);
        }
        Self { nodes, followers, bounds, of_whole: None }
    }

    /// Creates the graph of these operations and edges.
    ///
    /// # Errors
    /// Returns the first operation on a cycle.
    ///
    /// # Panics
    /// If an edge names an operation that does not exist.
    pub fn linked(mut nodes: Vec<ScheduleNode>, edges: &[Edge]) -> Result<Self, u32> {
        for edge in edges {
            nodes[edge.follower as usize].awaited += 1;
            let leader = &mut nodes[edge.leader as usize];
            *if edge.to_end { &mut leader.at_end } else { &mut leader.at_begin } += 1;
        }
        let mut places = vec![[0u32; 2]; nodes.len()];
        let mut first = 0;
        for (node, places) in nodes.iter_mut().zip(&mut places) {
            (node.first, node.first_at_begin) = (first, first + node.at_end);
            *places = [node.first, node.first_at_begin];
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

    /// Makes this schedule a part of a larger one, in which its operations have these numbers.
    #[must_use]
    pub fn part_of(self, of_whole: Vec<u32>) -> Self {
        Self { of_whole: Some(of_whole.into()), ..self }
    }

    /// Returns the operations that wait for the end of a node.
    #[must_use]
    pub fn at_end(&self, node: &ScheduleNode) -> &[u32] {
        &self.followers[node.first as usize..][..node.at_end as usize]
    }

    /// Returns the operations that wait for the beginning of a node.
    #[must_use]
    pub fn at_begin(&self, node: &ScheduleNode) -> &[u32] {
        &self.followers[node.first_at_begin as usize..][..node.at_begin as usize]
    }

    /// Returns the operations without dependencies.
    #[must_use]
    pub fn roots(&self) -> Vec<u32> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.awaited == 0).map(|(number, _)| number).collect()
    }

    /// Returns the first operation that never begins because it transitively waits for itself.
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
