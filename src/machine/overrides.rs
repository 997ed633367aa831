//! Nodes that differ from all others.

use serde::{Deserialize, Serialize};

/// What is different about some nodes, numbered in the part of the machine that is in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum NodeOverride {
    /// The speed of their processors, in computing and in communication software.
    NodeSpeed {
        /// The nodes.
        nodes: Vec<u32>,
        /// Their speed relative to that of the others: 0.5 takes twice as long.
        factor: f64,
    },
}

impl NodeOverride {
    /// What is wrong with it on `count` nodes: a field and the reason.
    #[must_use]
    pub fn fault(&self, count: u32) -> Option<(&'static str, String)> {
        let Self::NodeSpeed { nodes, factor } = self;
        if !(1e-6..=1e6).contains(factor) {
            return Some(("factor", format!("no processor is {factor} times as fast as another")));
        }
        let stranger = nodes.iter().find(|node| **node >= count)?;
        Some(("nodes", format!("node {stranger} does not exist: {count} nodes are in use")))
    }
}
