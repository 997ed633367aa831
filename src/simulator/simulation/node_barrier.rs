//! Barriers among the ranks of a node.

use crate::machine::Layout;
use rustc_hash::FxHashMap;

/// The ranks that wait at the barrier of each node.
pub struct NodeBarriers {
    waiting: FxHashMap<u32, Vec<u32>>,
}

impl NodeBarriers {
    pub fn new() -> Self {
        Self { waiting: FxHashMap::default() }
    }

    /// Adds `rank` to the barrier of its node. Returns all ranks of the node in ascending order if `rank` is the last
    /// one.
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
