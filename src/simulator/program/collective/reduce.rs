//! Reduce: the sum of the messages of all ranks, to one rank.

use super::library::Numbers;
use super::library::buffer::Buffer;
use super::library::butterfly::{self, Joining, PartnerPattern};
use super::library::communicator::Communicator;
use super::library::hierarchy::{OperationFuture, WholeMessageOperation};
use super::library::lane::PortPath;
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

/// A reduce algorithm, by which the root receives the sum of the messages of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Reduce {
    /// Every rank sends to the root, which adds one message after the other.
    Naive,
    /// Up a binomial tree.
    Binomial,
    /// The same tree embedded in a hypercube. The number of ranks must be a power of two.
    Hypercube,
    /// Every rank sends to the root, which receives and adds in reverse rank order.
    Linear,
    /// Every rank sends to the root, whose receives all begin at once.
    LinearNonBlocking,
    /// Along chains of consecutive ranks towards the root, segment by segment.
    Chain {
        /// The number of chains.
        #[serde(default = "super::four")]
        chains: u32,
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Along a single chain of all ranks, segment by segment.
    Pipeline {
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up a binary tree numbered level by level, segment by segment.
    Binary {
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up a binary tree of consecutive ranks to the last one, segment by segment; the last rank hands the sum to the
    /// root.
    InOrderBinary {
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up the tree in which rank v has the children kv + 1 … kv + k, segment by segment.
    Kary {
        /// The number k of children.
        #[serde(default = "super::two")]
        radix: u32,
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up a k-nomial tree, segment by segment.
    Knomial {
        /// The base k; 2 gives the binomial tree.
        #[serde(default = "super::four")]
        radix: u32,
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// A reduce-scatter by halving, then a gather up a binomial tree (Rabenseifner 2004). If the number of ranks is not
    /// a power of two, each rank of an excess pair adds one half of the message.
    Rabenseifner,
    /// Like `Rabenseifner`, but one rank of each excess pair sends its whole message to the other.
    ReduceScatterGather,
    /// Up a Bine tree (De Sensi and others 2025), segment by segment.
    Bine {
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// A reduce-scatter by Bine numbers, then a gather by the reverse steps.
    BineReduceScatterGather,
    /// Up trees that cycle through the dimensions of a torus.
    TorusTree {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The number of ports. Each port handles an equal part of the message and goes through the dimensions in a
        /// different order.
        #[serde(default = "super::one")]
        ports: u32,
        /// The numbering that determines the partners in each dimension; `Bine` unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// A reduce-scatter by halving that cycles through the dimensions of a torus, then a gather up the trees of the
    /// same steps.
    TorusReduceScatterGather {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The number of ports. Each port handles an equal part of the message and goes through the dimensions in a
        /// different order.
        #[serde(default = "super::one")]
        ports: u32,
        /// The numbering that determines the partners in each dimension; `Bine` unless given.
        #[serde(default)]
        numbers: Numbers,
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

impl Reduce {
    /// Adds up the messages of all ranks. All ranks call this; the root gets the sum, the others `None`.
    pub async fn run(&self, me: &Process, root: u32, own: Payload) -> Option<Payload> {
        match self {
            Self::Naive => naive(me, root, own).await,
            Self::Binomial => up_tree(me, Binomial::new(root, me.ranks(), Numbering::Shifted), own).await,
            Self::Hypercube => up_tree(me, Binomial::new(root, me.ranks(), Numbering::Mirrored), own).await,
            _ => Box::pin(self.of_all(me, root, own)).await,
        }
    }

    async fn of_all(&self, me: &Process, root: u32, own: Payload) -> Option<Payload> {
        let mut data = Buffer::full(&own);
        self.within(Communicator::all(me), root, &mut data).await;
        (me.rank() == root).then(|| Payload::new(own.bytes, data.all()))
    }

    /// Returns the length of the segments in which the data are sent; 0 if they are sent whole.
    pub(super) const fn segment(&self) -> Bytes {
        match self {
            Self::Chain { segment, .. }
            | Self::Pipeline { segment }
            | Self::Binary { segment }
            | Self::InOrderBinary { segment }
            | Self::Kary { segment, .. }
            | Self::Knomial { segment, .. }
            | Self::Bine { segment, .. } => *segment,
            _ => Bytes::new(0),
        }
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, bytes: u64) -> Self {
        let few = decision::fewer_words(bytes, decision::core(ranks));
        match library {
            Library::OpenMpi => match decision::look_up(decision::REDUCE, ranks, bytes) {
                2 | 3 => Self::Pipeline { segment: Bytes::new(0) },
                4 => Self::Binary { segment: Bytes::new(0) },
                5 => Self::Knomial { radix: 2, distances: Distances::Halving, segment: Bytes::new(0) },
                6 => Self::InOrderBinary { segment: Bytes::new(0) },
                7 if !few => Self::Rabenseifner,
                _ => Self::Linear,
            },
            Library::SimGrid => Self::LinearNonBlocking,
            Library::Mpich if bytes <= 2048 || few => Self::Binomial,
            Library::Mpich => Self::ReduceScatterGather,
        }
    }

    /// Returns the reason why the algorithm cannot run on a subset of the ranks, if any.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Hypercube => Some(super::needs_all_ranks("Hypercube")),
            Self::TorusTree { .. } | Self::TorusReduceScatterGather { .. } => {
                Some(super::needs_all_ranks("an algorithm for a torus"))
            }
            _ => self.fault(1),
        }
    }

    /// Returns the reason why the algorithm cannot run on this number of ranks, if any.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::Hypercube => power_of_two("Hypercube", ranks),
            Self::TorusTree { shape, ports, .. } | Self::TorusReduceScatterGather { shape, ports, .. } => {
                PortPath::fault(shape, *ports, ranks)
            }
            Self::Chain { chains: 0, .. } => Some("Chain needs at least one chain".to_owned()),
            Self::Kary { radix, .. } => super::base("Kary", *radix, 1),
            Self::Knomial { radix, .. } => super::base("Knomial", *radix, 2),
            Self::Hierarchical { group, within, between } => {
                group.fault().or_else(|| within.fault_in_groups()).or_else(|| between.fault_in_groups())
            }
            _ => None,
        }
    }
}

impl WholeMessageOperation for Reduce {
    fn within<'a>(&'a self, comm: Communicator<'a>, root: u32, data: &'a mut Buffer) -> OperationFuture<'a> {
        let tree = |shape, segment: Bytes, data: &'a mut Buffer| {
            Box::pin(trees::reduce(comm, shape, root, segment.count(), data))
        };
        match self {
            Self::Naive | Self::Linear => Box::pin(trees::linear_reduce(comm, root, data)),
            Self::LinearNonBlocking => Box::pin(trees::linear_reduce_at_once(comm, root, data)),
            Self::Binomial | Self::Hypercube => tree(TreeShape::Nomial(2, Distances::Halving), Bytes::new(0), data),
            Self::Chain { chains, segment } => tree(TreeShape::Chains(*chains), *segment, data),
            Self::Pipeline { segment } => tree(TreeShape::Chains(1), *segment, data),
            Self::Binary { segment } => tree(TreeShape::Levels(2), *segment, data),
            Self::InOrderBinary { segment } => Box::pin(trees::reduce_in_order(comm, root, segment.count(), data)),
            Self::Kary { radix, segment } => tree(TreeShape::Complete(*radix), *segment, data),
            Self::Knomial { radix, distances, segment } => tree(TreeShape::Nomial(*radix, *distances), *segment, data),
            Self::Bine { distances, segment } => tree(TreeShape::Bine(*distances), *segment, data),
            Self::Rabenseifner => by_halving(comm, DOUBLING, Joining::Halves, root, data),
            Self::ReduceScatterGather => by_halving(comm, DOUBLING, Joining::Whole, root, data),
            Self::BineReduceScatterGather => by_halving(comm, PartnerPattern::Bine, Joining::Whole, root, data),
            Self::Hierarchical { group, within, between } => {
                Box::pin(hierarchy::reduce(comm, *group, [&**within, &**between], root, data))
            }
            Self::TorusTree { shape, ports, numbers } => Box::pin(async move {
                torus::reduce(comm, &PortPath::of(shape, *ports, *numbers), root, data).await;
            }),
            Self::TorusReduceScatterGather { shape, ports, numbers } => Box::pin(async move {
                torus::reduce_scatter_gather(comm, &PortPath::of(shape, *ports, *numbers), root, data).await;
            }),
            Self::Auto(library) => Box::pin(async move {
                let chosen = Self::of_library(*library, comm.size(), data.bytes());
                chosen.within(comm, root, data).await;
            }),
        }
    }
}

const DOUBLING: PartnerPattern = PartnerPattern::Binary(Distances::Doubling);

/// Runs a reduce-scatter by halving and a gather, or a linear reduce if there are fewer words than ranks that halve.
fn by_halving<'a>(
    comm: Communicator<'a>,
    pattern: PartnerPattern,
    joining: Joining,
    root: u32,
    data: &'a mut Buffer,
) -> OperationFuture<'a> {
    if decision::fewer_words(data.bytes(), decision::core(comm.size())) {
        return Box::pin(trees::linear_reduce(comm, root, data));
    }
    Box::pin(butterfly::rabenseifner(comm, pattern, joining, Some(root), data))
}

async fn naive(me: &Process, root: u32, own: Payload) -> Option<Payload> {
    if me.rank() != root {
        send(me, root, &own).await;
        return None;
    }
    let mut sum = own;
    for rank in (0..me.ranks()).filter(|rank| *rank != root) {
        sum = receive(me, rank).await.plus(me, &sum).await;
    }
    Some(sum)
}

async fn up_tree(me: &Process, tree: Binomial, own: Payload) -> Option<Payload> {
    let mut sum = own;
    for child in tree.children(me.rank()).rev() {
        sum = receive(me, child).await.plus(me, &sum).await;
    }
    match tree.parent(me.rank()) {
        Some(parent) => {
            send(me, parent, &sum).await;
            None
        }
        None => Some(sum),
    }
}
