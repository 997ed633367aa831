//! Nodes that differ from all others.

use crate::fault::Fault;
use serde::{Deserialize, Serialize};

/// A difference of some nodes, numbered in the part of the machine that is in use. Nodes of the machine outside that
/// part are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum NodeOverride {
    /// The speed of processors, for computation and for communication software. Memories, interfaces and links are as
    /// fast as those of other nodes.
    NodeSpeed {
        /// The nodes with this speed.
        nodes: Vec<u32>,
        /// The speed relative to the other nodes: 0.5 takes twice as long.
        factor: f64,
    },
}

impl NodeOverride {
    /// Returns the nodes that differ.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        let Self::NodeSpeed { nodes, .. } = self;
        nodes
    }

    /// Returns all faults on a machine of `count` nodes, by field.
    #[must_use]
    pub fn faults(&self, count: u32) -> Vec<Fault> {
        const HELP: &str = "name nodes of the machine, and a speed from 1e-6 to 1e6";
        let Self::NodeSpeed { nodes, factor } = self;
        let mut faults = Vec::new();
        if !(1e-6..=1e6).contains(factor) {
            faults.push(Fault::new("factor", format!("a speed factor of {factor} is out of range"), HELP));
        }
        if let Some(stranger) = nodes.iter().find(|node| **node >= count) {
            let message = format!("node {stranger} does not exist: the machine has {count} nodes");
            faults.push(Fault::new("nodes", message, HELP));
        }
        faults
    }
}
