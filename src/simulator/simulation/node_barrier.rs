//! Barriers of the ranks of a node.

use crate::machine::Layout;
use rustc_hash::FxHashMap;

/// By node, who waits at its barrier.
pub struct NodeBarriers {
    waiting: FxHashMap<u32, Vec<u32>>,
}

impl NodeBarriers {
    pub fn new() -> Self {
        Self { waiting: FxHashMap::default() }
    }

    /// `rank` has come to the barrier of its node; all its ranks in their order, if it is the last one.
    pub fn enter(&mut self, layout: &Layout, rank: u32) -> Option<Vec<u32>> {
        let node = layout.node(rank);
        let waiting = self.waiting.entry(node).or_default();
        waiting.push(rank);
        if waiting.len() < layout.ranks_on(node) as usize {
            return None;
        }
        let mut ranks = std::mem::take(waiting);
        ranks.sort_unstable();
        Some(ranks)
    }
}
