//! The operations of a rank while they are collected from the nodes of its trace.

use crate::programs::schedule::{Edge, NodeKind, ScheduleNode};

/// Operations and what they wait for.
#[derive(Debug, Default)]
pub struct ChakraGraph {
    pub nodes: Vec<ScheduleNode>,
    pub edges: Vec<Edge>,
}

/// The operations of a node that wait for what the node needs, and those that others wait for; none if it does nothing.
#[derive(Clone, Debug, Default)]
pub struct NodePart {
    pub first: Vec<u32>,
    pub last: Vec<u32>,
}

/// The processor of a rank that is its accelerator.
pub const ACCELERATOR: u8 = 0;
/// The processor of a rank that is its host.
pub const HOST: u8 = 1;
/// The processor of a rank that deals with messages.
pub const MESSAGES: u8 = 2;

impl NodePart {
    pub fn single(operation: u32) -> Self {
        Self { first: vec![operation], last: vec![operation] }
    }
}

impl ChakraGraph {
    /// Adds a computation of so many microseconds.
    pub fn compute(&mut self, micros: u64, cpu: u8) -> u32 {
        self.add(ScheduleNode { cpu, ..ScheduleNode::new(NodeKind::Compute, micros) })
    }

    pub fn send(&mut self, peer: u32, bytes: u64, tag: u32) -> u32 {
        self.add(ScheduleNode { peer, tag, cpu: MESSAGES, ..ScheduleNode::new(NodeKind::Send, bytes) })
    }

    pub fn receive(&mut self, peer: u32, bytes: u64, tag: u32) -> u32 {
        self.add(ScheduleNode { peer, tag, cpu: MESSAGES, ..ScheduleNode::new(NodeKind::Receive, bytes) })
    }

    /// An operation waits for the end of another one.
    pub fn requires(&mut self, follower: u32, leader: u32) {
        self.edges.push(Edge { follower, leader, to_end: true });
    }

    /// An operation waits for the beginning of another one.
    pub fn follows(&mut self, follower: u32, leader: u32) {
        self.edges.push(Edge { follower, leader, to_end: false });
    }

    fn add(&mut self, node: ScheduleNode) -> u32 {
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("a trace has fewer operations")
    }
}
