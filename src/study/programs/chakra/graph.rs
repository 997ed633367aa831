//! The dependency graph of a rank's operations, built from the nodes of its trace.

use crate::programs::schedule::{Edge, NodeKind, ScheduleNode};

/// The operations of a rank and their dependencies.
#[derive(Debug, Default)]
pub struct ChakraGraph {
    pub nodes: Vec<ScheduleNode>,
    pub edges: Vec<Edge>,
}

/// The operations into which a node is expanded; both lists are empty if the node does nothing.
#[derive(Clone, Debug, Default)]
pub struct NodePart {
    /// The operations that wait for the dependencies of the node.
    pub first: Vec<u32>,
    /// The operations that dependants of the node wait for.
    pub last: Vec<u32>,
}

/// The processor number of a rank's accelerator.
pub const ACCELERATOR: u8 = 0;
/// The processor number of a rank's host.
pub const HOST: u8 = 1;
/// The processor number of the unit that handles a rank's messages.
pub const MESSAGES: u8 = 2;

impl NodePart {
    pub fn single(operation: u32) -> Self {
        Self { first: vec![operation], last: vec![operation] }
    }
}

impl ChakraGraph {
    /// Adds a computation of `micros` microseconds.
    pub fn compute(&mut self, micros: u64, cpu: u8) -> u32 {
        self.add(ScheduleNode { cpu, ..ScheduleNode::new(NodeKind::Compute, micros) })
    }

    pub fn send(&mut self, peer: u32, bytes: u64, tag: u32) -> u32 {
        self.add(ScheduleNode { peer, tag, cpu: MESSAGES, ..ScheduleNode::new(NodeKind::Send, bytes) })
    }

    pub fn receive(&mut self, peer: u32, bytes: u64, tag: u32) -> u32 {
        self.add(ScheduleNode { peer, tag, cpu: MESSAGES, ..ScheduleNode::new(NodeKind::Receive, bytes) })
    }

    /// Makes `follower` wait for the end of `leader`.
    pub fn requires(&mut self, follower: u32, leader: u32) {
        self.edges.push(Edge { follower, leader, to_end: true });
    }

    /// Makes `follower` wait for the beginning of `leader`.
    pub fn follows(&mut self, follower: u32, leader: u32) {
        self.edges.push(Edge { follower, leader, to_end: false });
    }

    /// Makes every follower wait for the ends of all leaders, with as few edges as possible.
    pub fn requires_all(&mut self, followers: &[u32], leaders: &[u32]) {
        if followers.len() * leaders.len() > followers.len() + leaders.len() {
            let join = self.add(ScheduleNode::new(NodeKind::Join, 0));
            self.requires_each(&[join], leaders);
            self.requires_each(followers, &[join]);
        } else {
            self.requires_each(followers, leaders);
        }
    }

    /// Makes every follower wait for the end of each leader.
    fn requires_each(&mut self, followers: &[u32], leaders: &[u32]) {
        for follower in followers {
            for leader in leaders {
                self.requires(*follower, *leader);
            }
        }
    }

    /// Returns the number of operations and dependencies.
    pub const fn size(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    fn add(&mut self, node: ScheduleNode) -> u32 {
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("a trace has fewer operations")
    }
}
