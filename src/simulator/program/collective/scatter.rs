//! Scatter: a block from one rank to each rank.

use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::communicator::Communicator;
use super::library::hierarchy::{OperationFuture, PartwiseOperation};
use super::library::lane::{LaneTree, PortPath};
use super::library::shape::TreeShape;
use super::library::torus;
use super::library::{Distances, Grouping, Library, decision, hierarchy, trees};
use super::payload::Payload;
use super::power_of_two;
use super::transfer::{receive, send};
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A scatter algorithm, by which each rank receives its block from the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Scatter {
    /// The root sends every rank its block.
    Naive,
    /// Down a binomial tree: each rank receives the blocks of its whole subtree.
    Binomial,
    /// The same tree embedded in a hypercube. The number of ranks must be a power of two.
    Hypercube,
    /// The root sends each rank its block, one after the other, in rank order.
    Linear,
    /// The root begins all these sends at once.
    LinearNonBlocking,
    /// Down a k-nomial tree.
    Knomial {
        /// The base k; 2 gives the binomial tree.
        #[serde(default = "super::two")]
        radix: u32,
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
    },
    /// Down a Bine tree (De Sensi and others 2025).
    Bine {
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
    },
    /// Down trees that cycle through the dimensions of a torus, with copies between the order of the blocks and that of
    /// the trees.
    TorusTree {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The number of ports. Each port handles an equal part of each block and goes through the dimensions in a
        /// different order.
        #[serde(default = "super::one")]
        ports: u32,
        /// The numbering that determines the partners in each dimension; `Bine` unless given.
        #[serde(default)]
        numbers: Numbers,
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
    },
    /// From the root to the leaders of groups, then inside the groups.
    Hierarchical {
        /// The ranks that form a group; the ranks of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Algorithm from the root to the leaders.
        between: Box<Self>,
        /// Algorithm from a leader to its group.
        within: Box<Self>,
    },
    /// The algorithm that a library chooses for the message size and the number of ranks.
    Auto(Library),
}

impl Scatter {
    /// Distributes the `values` of the root in blocks of `bytes` bytes. All ranks call this and get their block.
    pub async fn run(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
        match self {
            Self::Naive => naive(me, root, bytes, values).await,
            Self::Binomial => down_tree(me, Binomial::new(root, me.ranks(), Numbering::Shifted), bytes, values).await,
            Self::Hypercube => down_tree(me, Binomial::new(root, me.ranks(), Numbering::Mirrored), bytes, values).await,
            _ => Box::pin(self.of_all(me, root, bytes, values)).await,
        }
    }

    async fn of_all(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
        let division = Division::even(bytes, me.ranks());
        let all = Payload::new(division.total(), values);
        let mut data = if me.rank() == root { Buffer::full(&all) } else { Buffer::empty(all.bytes) };
        self.within(Communicator::all(me), root, &division, &mut data).await;
        data.numbered(division.one(me.rank()))
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64) -> Self {
        match library {
            Library::OpenMpi => match decision::look_up(decision::SCATTER, ranks, block) {
                1 => Self::Linear,
                3 => Self::LinearNonBlocking,
                _ => Self::Binomial,
            },
            Library::Mpich => Self::Binomial,
            Library::SimGrid => Self::LinearNonBlocking,
        }
    }

    /// Returns the reason why the algorithm cannot run on a subset of the ranks, if any.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Hypercube => Some(super::needs_all_ranks("Hypercube")),
            Self::TorusTree { .. } => Some(super::needs_all_ranks("TorusTree")),
            _ => self.fault(1),
        }
    }

    /// Returns the reason why the algorithm cannot run on this number of ranks, if any.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::Hypercube => power_of_two("Hypercube", ranks),
            Self::Knomial { radix, .. } => super::base("Knomial", *radix, 2),
            Self::TorusTree { shape, ports, .. } => PortPath::fault(shape, *ports, ranks),
            Self::Hierarchical { group, between, within } => {
                group.fault().or_else(|| between.fault_in_groups()).or_else(|| within.fault_in_groups())
            }
            _ => None,
        }
    }
}

impl PartwiseOperation for Scatter {
    fn within<'a>(
        &'a self,
        comm: Communicator<'a>,
        root: u32,
        division: &'a Division,
        data: &'a mut Buffer,
    ) -> OperationFuture<'a> {
        let tree = |shape, data| Box::pin(trees::scatter(comm, shape, root, division, data));
        match self {
            Self::Naive | Self::Linear => Box::pin(trees::linear_scatter(comm, root, false, division, data)),
            Self::LinearNonBlocking => Box::pin(trees::linear_scatter(comm, root, true, division, data)),
            Self::Binomial | Self::Hypercube => tree(TreeShape::Nomial(2, Distances::Halving), data),
            Self::Knomial { radix, distances } => tree(TreeShape::Nomial(*radix, *distances), data),
            Self::Bine { distances } => tree(TreeShape::Bine(*distances), data),
            Self::TorusTree { shape, ports, numbers, distances } => Box::pin(async move {
                let tree = LaneTree { root, distances: *distances };
                torus::scatter(comm, &PortPath::of(shape, *ports, *numbers), tree, division, data).await;
            }),
            Self::Hierarchical { group, between, within } => {
                Box::pin(hierarchy::scatter(comm, *group, [&**between, &**within], root, division, data))
            }
            Self::Auto(library) => Box::pin(async move {
                let chosen = Self::of_library(*library, comm.size(), division.total() / u64::from(comm.size()));
                chosen.within(comm, root, division, data).await;
            }),
        }
    }
}

fn blocks(me: &Process, bytes: u64, values: Option<Rc<[f64]>>) -> Vec<Payload> {
    let lengths = vec![bytes; me.ranks() as usize];
    Payload::new(bytes * u64::from(me.ranks()), values).split(&lengths)
}

async fn naive(me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
    if me.rank() != root {
        return receive(me, root).await;
    }
    let mut blocks = blocks(me, bytes, values);
    for rank in (0..me.ranks()).filter(|rank| *rank != root) {
        send(me, rank, &blocks[rank as usize]).await;
    }
    blocks.swap_remove(root as usize)
}

async fn down_tree(me: &Process, tree: Binomial, bytes: u64, values: Option<Rc<[f64]>>) -> Payload {
    let range = tree.subtree(me.rank());
    let mut held = if let Some(parent) = tree.parent(me.rank()) {
        receive(me, parent).await.split(&vec![bytes; range.len()])
    } else {
        let blocks = blocks(me, bytes, values);
        range.clone().map(|number| blocks[tree.rank(number) as usize].clone()).collect()
    };
    for child in tree.children(me.rank()) {
        let below = held.split_off((tree.subtree(child).start - range.start) as usize);
        send(me, child, &Payload::join(&below)).await;
    }
    held.swap_remove(0)
}
