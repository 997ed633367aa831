//! The sum of all ranks' messages, to one of them.

use super::library::Numbers;
use super::library::buffer::Buffer;
use super::library::butterfly::{self, Joining, PartnerPattern};
use super::library::communicator::Communicator;
use super::library::hierarchy::{OnWhole, Running};
use super::library::lane::Lane;
use super::library::shape::Shape;
use super::library::torus;
use super::library::{Distances, Grouping, Library, decision, hierarchy, trees};
use super::payload::Payload;
use super::power_of_two;
use super::transfer::{receive, send};
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the sum of all messages to one rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Reduce {
    /// Every rank sends to the root, which adds one after the other.
    Naive,
    /// Up a binomial tree.
    Binomial,
    /// The same tree folded onto a hypercube. Needs a power of two of ranks.
    Hypercube,
    /// Every rank sends to the root, which receives and adds from the last rank on.
    Linear,
    /// Every rank sends to the root, whose receives all begin at once.
    LinearNonBlocking,
    /// Along chains of consecutive ranks towards the root, segment by segment.
    Chain {
        /// The number of chains.
        #[serde(default = "super::four")]
        chains: u32,
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Along one chain of all ranks, segment by segment.
    Pipeline {
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up a binary tree by levels, segment by segment.
    Binary {
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up a binary tree of consecutive ranks to the last one, segment by segment, which hands the sum to the root.
    InOrderBinary {
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up the tree in which rank v has the children kv + 1 … kv + k, segment by segment.
    Kary {
        /// The number k of children.
        #[serde(default = "super::two")]
        radix: u32,
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Up a k-nomial tree, segment by segment.
    Knomial {
        /// The base k: 2 is the binomial tree.
        #[serde(default = "super::four")]
        radix: u32,
        /// The one of the two trees.
        #[serde(default)]
        distances: Distances,
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// A reduce-scatter by halving, then a gather up a binomial tree (Rabenseifner 2004); pairs that are more than a power
    /// of two add a half each.
    Rabenseifner,
    /// The same, but one of such a pair sends its whole message.
    ReduceScatterGather,
    /// Up a Bine tree (De Sensi and others 2025), segment by segment.
    Bine {
        /// The one of the two trees.
        #[serde(default)]
        distances: Distances,
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// A reduce-scatter by Bine numbers, then a gather on the way back.
    BineReduceScatterGather,
    /// Up trees through the dimensions of a torus in turn.
    TorusTree {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// Halving through the dimensions of a torus in turn, then a gather up the trees of the same steps.
    TorusReduceScatterGather {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// Inside of groups to their leaders, then from them to the root.
    Hierarchical {
        /// The ranks that form a group; those of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// From a group to its leader.
        within: Box<Self>,
        /// From the leaders to the root.
        between: Box<Self>,
    },
    /// The choice of a library for the numbers of bytes and ranks.
    Auto(Library),
}

impl Reduce {
    /// Adds everyone's `own`; the sum on the root, nothing elsewhere. All ranks call it.
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

    /// Returns the choice of a library.
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

    /// Returns the reason why it cannot run among some of the ranks.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Hypercube => Some(super::only_of_all("Hypercube")),
            Self::TorusTree { .. } | Self::TorusReduceScatterGather { .. } => {
                Some(super::only_of_all("an algorithm for a torus"))
            }
            _ => self.fault(1),
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::Hypercube => power_of_two("Hypercube", ranks),
            Self::TorusTree { shape, ports, .. } | Self::TorusReduceScatterGather { shape, ports, .. } => {
                Lane::fault(shape, *ports, ranks)
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

impl OnWhole for Reduce {
    fn within<'a>(&'a self, comm: Communicator<'a>, root: u32, data: &'a mut Buffer) -> Running<'a> {
        let tree = |shape, segment: Bytes, data: &'a mut Buffer| {
            Box::pin(trees::reduce(comm, shape, root, segment.count(), data))
        };
        match self {
            Self::Naive | Self::Linear => Box::pin(trees::linear_reduce(comm, root, data)),
            Self::LinearNonBlocking => Box::pin(trees::linear_reduce_at_once(comm, root, data)),
            Self::Binomial | Self::Hypercube => tree(Shape::Nomial(2, Distances::Halving), Bytes::new(0), data),
            Self::Chain { chains, segment } => tree(Shape::Chains(*chains), *segment, data),
            Self::Pipeline { segment } => tree(Shape::Chains(1), *segment, data),
            Self::Binary { segment } => tree(Shape::Levels(2), *segment, data),
            Self::InOrderBinary { segment } => Box::pin(trees::reduce_in_order(comm, root, segment.count(), data)),
            Self::Kary { radix, segment } => tree(Shape::Complete(*radix), *segment, data),
            Self::Knomial { radix, distances, segment } => tree(Shape::Nomial(*radix, *distances), *segment, data),
            Self::Bine { distances, segment } => tree(Shape::Bine(*distances), *segment, data),
            Self::Rabenseifner => by_halving(comm, DOUBLING, Joining::Halves, root, data),
            Self::ReduceScatterGather => by_halving(comm, DOUBLING, Joining::Whole, root, data),
            Self::BineReduceScatterGather => by_halving(comm, PartnerPattern::Bine, Joining::Whole, root, data),
            Self::Hierarchical { group, within, between } => {
                Box::pin(hierarchy::reduce(comm, *group, [&**within, &**between], root, data))
            }
            Self::TorusTree { shape, ports, numbers } => Box::pin(async move {
                torus::reduce(comm, &Lane::of(shape, *ports, *numbers), root, data).await;
            }),
            Self::TorusReduceScatterGather { shape, ports, numbers } => Box::pin(async move {
                torus::reduce_scatter_gather(comm, &Lane::of(shape, *ports, *numbers), root, data).await;
            }),
            Self::Auto(library) => Box::pin(async move {
                let chosen = Self::of_library(*library, comm.size(), data.bytes());
                chosen.within(comm, root, data).await;
            }),
        }
    }
}

const DOUBLING: PartnerPattern = PartnerPattern::Binary(Distances::Doubling);

/// A reduce-scatter by halving and a gather, unless there are fewer words than ranks that halve.
fn by_halving<'a>(
    comm: Communicator<'a>,
    pattern: PartnerPattern,
    joining: Joining,
    root: u32,
    data: &'a mut Buffer,
) -> Running<'a> {
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
