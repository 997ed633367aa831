//! The links of a graph, and its routing tables.

use std::collections::VecDeque;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The links of a graph as pairs of vertices, in the order that numbers the ports.
///
/// The routing tables are computed on first use and are not part of the value.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct GraphLinks {
    pub(super) pairs: Vec<(u32, u32)>,
    #[serde(skip)]
    table: OnceLock<AdjacencyTable>,
}

impl GraphLinks {
    /// Returns the links as written.
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    pub(super) fn table(&self) -> &AdjacencyTable {
        self.table.get_or_init(|| AdjacencyTable::new(&self.pairs))
    }
}

impl From<Vec<(u32, u32)>> for GraphLinks {
    fn from(pairs: Vec<(u32, u32)>) -> Self {
        Self { pairs, table: OnceLock::new() }
    }
}

impl PartialEq for GraphLinks {
    fn eq(&self, other: &Self) -> bool {
        self.pairs == other.pairs
    }
}

/// The ports of every vertex, and the next hops to every destination in use.
#[derive(Clone, Debug)]
pub(super) struct AdjacencyTable {
    /// By vertex and port, the far end of the link.
    pub(super) joined: Vec<Vec<FarEnd>>,
    /// The next hops, by destination, then by vertex.
    toward: Vec<OnceLock<Box<[NextHop]>>>,
    pub(super) degree: u32,
}

/// The other end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct FarEnd {
    pub(super) vertex: u32,
    pub(super) port: u32,
    /// Index of the link in the list.
    pub(super) link: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NextHop {
    pub(super) port: u32,
    pub(super) distance: u32,
}

impl NextHop {
    const UNREACHABLE: Self = Self { port: u32::MAX, distance: u32::MAX };
}

impl AdjacencyTable {
    fn new(pairs: &[(u32, u32)]) -> Self {
        let vertices = pairs.iter().map(|&(a, b)| a.max(b) as usize + 1).max().unwrap_or(1);
        let mut joined = vec![Vec::new(); vertices];
        for (link, &(a, b)) in pairs.iter().enumerate() {
            let (at_a, at_b) = (joined[a as usize].len(), joined[b as usize].len());
            joined[a as usize].push(FarEnd { vertex: b, port: narrow(at_b), link });
            joined[b as usize].push(FarEnd { vertex: a, port: narrow(at_a), link });
        }
        let degree = narrow(joined.iter().map(Vec::len).max().unwrap_or(0));
        Self { joined, toward: vec![OnceLock::new(); vertices], degree }
    }

    pub(super) fn step(&self, at: u32, to: u32) -> NextHop {
        self.toward[to as usize].get_or_init(|| self.search(to))[at as usize]
    }

    /// Searches breadth first from the destination; the next hop is the lowest port that leads closer.
    fn search(&self, to: u32) -> Box<[NextHop]> {
        let mut steps = vec![NextHop::UNREACHABLE; self.joined.len()];
        steps[to as usize].distance = 0;
        let mut reached = VecDeque::from([to]);
        while let Some(vertex) = reached.pop_front() {
            let distance = steps[vertex as usize].distance + 1;
            for &FarEnd { vertex: next, port, .. } in &self.joined[vertex as usize] {
                let step = &mut steps[next as usize];
                if step.distance > distance {
                    reached.push_back(next);
                }
                if step.distance >= distance {
                    *step = NextHop { port: step.port.min(port), distance };
                }
            }
        }
        steps.into()
    }
}

pub(super) fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("a graph has fewer than 2^32 links")
}
