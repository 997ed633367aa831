//! Barriers of the ranks of a node.

use crate::machine::Layout;

/// By node, who waits at its barrier.
pub struct NodeBarriers {
    waiting: Vec<Vec<u32>>,
}

impl NodeBarriers {
    pub fn new(layout: &Layout) -> Self {
        Self { waiting: vec![Vec::new(); layout.topology.nodes() as usize] }
    }

    /// `rank` has come to the barrier of its node; the others, if it is the last one.
    pub fn enter(&mut self, layout: &Layout, rank: u32) -> Option<Vec<u32>> {
        let node = layout.node(rank);
        let waiting = &mut self.waiting[node as usize];
        if waiting.len() + 1 == layout.ranks_on(node) as usize {
            return Some(std::mem::take(waiting));
        }
        waiting.push(rank);
        None
    }
}
