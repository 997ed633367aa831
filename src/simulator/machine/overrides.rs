//! Nodes that differ from all others.

use crate::fault::Fault;
use serde::{Deserialize, Serialize};

/// A difference of some nodes, numbered in the part of the machine that is in use. Nodes of the machine that
/// lie outside that part are left out of account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The nodes that differ.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        let Self::NodeSpeed { nodes, .. } = self;
        nodes
    }

    /// All faults on a machine of `count` nodes, by field.
    #[must_use]
    pub fn faults(&self, count: u32) -> Vec<Fault> {
        const HELP: &str = "name nodes of the machine, and a speed from 1e-6 to 1e6";
        let Self::NodeSpeed { nodes, factor } = self;
        let mut faults = Vec::new();
        if !(1e-6..=1e6).contains(factor) {
            faults.push(Fault::new("factor", format!("no processor is {factor} times as fast as another"), HELP));
        }
        if let Some(stranger) = nodes.iter().find(|node| **node >= count) {
            let message = format!("node {stranger} does not exist: the machine has {count} nodes");
            faults.push(Fault::new("nodes", message, HELP));
        }
        faults
    }
}
