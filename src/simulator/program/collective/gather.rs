//! Gather: a block from each rank to one rank.

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
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A gather algorithm, by which the root receives the blocks of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Gather {
    /// Every rank sends its block to the root.
    Naive,
    /// Up a binomial tree: each rank passes on the blocks of its whole subtree.
    Binomial,
    /// The same tree embedded in a hypercube. The number of ranks must be a power of two.
    Hypercube,
    /// Every rank sends its block to the root, which receives in the order of the ranks.
    Linear,
    /// Every rank sends its block to the root, whose receives all begin at once.
    LinearNonBlocking,
    /// The root calls one rank after the other, which then sends a first segment and the remainder.
    LinearSync {
        /// The length of the first segment. 0, the default, means the whole block.
        #[serde(default)]
        first: Bytes,
    },
    /// Up a k-nomial tree.
    Knomial {
        /// The base k; 2 gives the binomial tree.
        #[serde(default = "super::two")]
        radix: u32,
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
    },
    /// Up a Bine tree (De Sensi and others 2025).
    Bine {
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
    },
    /// Up trees that cycle through the dimensions of a torus, with copies between the order of the blocks and that of
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
    /// From the members of each group to its leader, then from the leaders to the root.
    Hierarchical {
        /// The ranks that form a group; the ranks of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Algorithm from a group to its leader.
        within: Box<Self>,
        /// Algorithm from the leaders to the root.
        between: Box<Self>,
    },
    /// The algorithm that a library chooses for the message size and the number of ranks.
    Auto(Library),
}

impl Gather {
    /// Collects blocks of equal length. All ranks call this; the root gets all blocks by rank, the others `None`.
    pub async fn run(&self, me: &Process, root: u32, own: Payload) -> Option<Vec<Payload>> {
        let bytes = own.bytes;
        match self {
            Self::Naive => naive(me, root, own).await,
            Self::Binomial => up_tree(me, Binomial::new(root, me.ranks(), Numbering::Shifted), own).await,
            Self::Hypercube => up_tree(me, Binomial::new(root, me.ranks(), Numbering::Mirrored), own).await,
            _ => {
                let all = Box::pin(self.joined(me, root, own)).await?;
                Some(all.split(&vec![bytes; me.ranks() as usize]))
            }
        }
    }

    /// Collects blocks of equal length as one payload on the root.
    pub(super) async fn joined(&self, me: &Process, root: u32, own: Payload) -> Option<Payload> {
        if matches!(self, Self::Naive | Self::Binomial | Self::Hypercube) {
            return Some(Payload::join(&self.run(me, root, own).await?));
        }
        let division = Division::even(own.bytes, me.ranks());
        let mut data = Buffer::part(&division, me.rank(), &own);
        self.within(Communicator::all(me), root, &division, &mut data).await;
        (me.rank() == root).then(|| data.numbered(0..division.total()))
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64) -> Self {
        match library {
            Library::OpenMpi => match decision::look_up(decision::GATHER, ranks, block) {
                1 => Self::Linear,
                3 => Self::LinearSync { first: Bytes::new(0) },
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
            Self::Hierarchical { group, within, between } => {
                group.fault().or_else(|| within.fault_in_groups()).or_else(|| between.fault_in_groups())
            }
            _ => None,
        }
    }
}

impl PartwiseOperation for Gather {
    fn within<'a>(
        &'a self,
        comm: Communicator<'a>,
        root: u32,
        division: &'a Division,
        data: &'a mut Buffer,
    ) -> OperationFuture<'a> {
        let tree = |shape, data| Box::pin(trees::gather(comm, shape, root, division, data));
        match self {
            Self::Naive | Self::Linear => Box::pin(trees::linear_gather(comm, root, division, data)),
            Self::LinearNonBlocking => Box::pin(trees::linear_gather_at_once(comm, root, division, data)),
            Self::Binomial | Self::Hypercube => tree(TreeShape::Nomial(2, Distances::Halving), data),
            Self::LinearSync { first } => {
                Box::pin(trees::synchronised_gather(comm, root, first.count(), division, data))
            }
            Self::Knomial { radix, distances } => tree(TreeShape::Nomial(*radix, *distances), data),
            Self::Bine { distances } => tree(TreeShape::Bine(*distances), data),
            Self::TorusTree { shape, ports, numbers, distances } => Box::pin(async move {
                let tree = LaneTree { root, distances: *distances };
                torus::gather(comm, &PortPath::of(shape, *ports, *numbers), tree, division, data).await;
            }),
            Self::Hierarchical { group, within, between } => {
                Box::pin(hierarchy::gather(comm, *group, [&**within, &**between], root, division, data))
            }
            Self::Auto(library) => Box::pin(async move {
                let chosen = Self::of_library(*library, comm.size(), division.total() / u64::from(comm.size()));
                chosen.within(comm, root, division, data).await;
            }),
        }
    }
}

async fn naive(me: &Process, root: u32, own: Payload) -> Option<Vec<Payload>> {
    if me.rank() != root {
        send(me, root, &own).await;
        return None;
    }
    let mut blocks = Vec::new();
    for rank in 0..me.ranks() {
        blocks.push(if rank == root { own.clone() } else { receive(me, rank).await });
    }
    Some(blocks)
}

async fn up_tree(me: &Process, tree: Binomial, own: Payload) -> Option<Vec<Payload>> {
    let bytes = own.bytes;
    let mut held = vec![own];
    for child in tree.children(me.rank()).rev() {
        held.extend(receive(me, child).await.split(&vec![bytes; tree.subtree(child).len()]));
    }
    if let Some(parent) = tree.parent(me.rank()) {
        send(me, parent, &Payload::join(&held)).await;
        return None;
    }
    let mut blocks: Vec<(u32, Payload)> = (0..).map(|number| tree.rank(number)).zip(held).collect();
    blocks.sort_by_key(|(rank, _)| *rank);
    Some(blocks.into_iter().map(|(_, block)| block).collect())
}
