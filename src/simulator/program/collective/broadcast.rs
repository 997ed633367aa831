//! One message from one rank to all.

use super::library::Numbers;
use super::library::buffer::Buffer;
use super::library::butterfly::{self, PartnerPattern};
use super::library::communicator::Communicator;
use super::library::hierarchy::{self, OnWhole, Running};
use super::library::lane::Lane;
use super::library::shape::Shape;
use super::library::torus;
use super::library::{Distances, Grouping, Library, bruck, buffer::Division, decision, rings, trees};
use super::payload::Payload;
use super::power_of_two;
use super::transfer::receive;
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

mod among_all;

pub use among_all::{
    Children, Concurrency, Forward, NaiveBroadcast, NeighbourBroadcast, PipelinedBroadcast, SendOrder,
};

/// Algorithm that brings a message of one rank to all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Broadcast {
    /// The root sends to every other rank.
    Naive(NaiveBroadcast),
    /// Every rank passes it on to its neighbours: along the root's row, and along the columns.
    Neighbour(NeighbourBroadcast),
    /// Along a binomial tree: the number of ranks that have it doubles in every step, whatever
    /// their number.
    Binomial,
    /// The same tree folded onto a hypercube, whichever rank is the root: every message goes to a
    /// neighbour in the cube. Needs a power of two of ranks.
    Hypercube,
    /// From each rank to the next, in segments that follow each other.
    Pipelined(PipelinedBroadcast),
    /// The root starts to send to all others at once, in the order of their ranks.
    Linear,
    /// Along chains of consecutive ranks that hang from the root, segment by segment.
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
    /// Along a binary tree by levels, segment by segment.
    Binary {
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// The same tree, a half of the message down either side; then pairs of ranks exchange halves.
    SplitBinary {
        /// The length of the segments; 0, as unless given: a half.
        #[serde(default)]
        segment: Bytes,
    },
    /// Along the tree in which rank v has the children kv + 1 … kv + k, segment by segment.
    Kary {
        /// The number k of children.
        #[serde(default = "super::two")]
        radix: u32,
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Along a k-nomial tree, segment by segment; all sends of a rank begin at once.
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
    /// A scatter down a binomial tree, then an all-gather by recursive doubling (van de Geijn).
    ScatterRecursiveDoublingAllGather,
    /// A scatter down a binomial tree, then an all-gather around a ring (van de Geijn).
    ScatterRingAllGather,
    /// Along a Bine tree (De Sensi and others 2025), segment by segment.
    Bine {
        /// The one of the two trees.
        #[serde(default)]
        distances: Distances,
        /// The length of the segments; 0, as unless given: the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// A scatter by Bine numbers, then an all-gather on the way back.
    BineScatterAllGather,
    /// Down trees through the dimensions of a torus in turn.
    TorusTree {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
        /// The bytes of addresses of each port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
        /// True if all but the root copy the message from the memory where it comes; false unless given.
        #[serde(default)]
        copy: bool,
    },
    /// A scatter, block by block, down trees through the dimensions of a torus in turn, then an all-gather on the way back.
    TorusScatterAllGather {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine, the only ones here.
        #[serde(default)]
        numbers: Numbers,
        /// The bytes of addresses of each port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
    },
    /// To the leaders of groups, then inside of them.
    Hierarchical {
        /// The ranks that form a group; those of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// From the root to the other leaders.
        between: Box<Self>,
        /// From a leader to its group.
        within: Box<Self>,
    },
    /// The choice of a library for the numbers of bytes and ranks.
    Auto(Library),
}

impl Broadcast {
    /// Broadcasts `bytes` bytes from `root`; all ranks call it, and all get the root's values.
    #[must_use = "an operation runs when it is awaited"]
    pub fn run<'a>(
        &'a self,
        me: &'a Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> Running<'a, Option<Rc<[f64]>>> {
        match self {
            Self::Naive(naive) => Box::pin(naive.run(me, root, bytes, values)),
            Self::Neighbour(tree) => Box::pin(tree.run(me, root, bytes, values)),
            Self::Binomial => Box::pin(along_tree(me, root, Payload::new(bytes, values), Numbering::Shifted)),
            Self::Hypercube => Box::pin(along_tree(me, root, Payload::new(bytes, values), Numbering::Mirrored)),
            Self::Pipelined(chain) => Box::pin(chain.run(me, root, bytes, values)),
            _ => Box::pin(self.of_all(me, root, bytes, values)),
        }
    }

    async fn of_all(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        let own = Payload::new(bytes, values);
        let mut data = if me.rank() == root { Buffer::full(&own) } else { Buffer::empty(bytes) };
        self.within(Communicator::all(me), root, &mut data).await;
        data.all()
    }

    /// Returns the choice of a library.
    pub(super) fn of_library(library: Library, ranks: u32, bytes: u64) -> Self {
        let few = decision::fewer_words(bytes, ranks);
        match library {
            Library::OpenMpi => match decision::look_up(decision::BCAST, ranks, bytes) {
                2 | 3 => Self::Pipeline { segment: Bytes::new(0) },
                4 => Self::SplitBinary { segment: Bytes::new(0) },
                5 => Self::Binary { segment: Bytes::new(0) },
                6 => Self::Knomial { radix: 2, distances: Distances::Doubling, segment: Bytes::new(0) },
                7 => Self::Knomial { radix: 4, distances: Distances::Halving, segment: Bytes::new(0) },
                8 if !few => Self::ScatterRecursiveDoublingAllGather,
                _ => Self::Linear,
            },
            Library::SimGrid => Self::Binomial,
            Library::Mpich if bytes <= 12_288 || ranks < 8 => Self::Binomial,
            Library::Mpich if bytes <= 524_288 && ranks.is_power_of_two() => Self::ScatterRecursiveDoublingAllGather,
            Library::Mpich => Self::ScatterRingAllGather,
        }
    }

    /// Returns the reason why it cannot run among some of the ranks.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Neighbour(_) => Some(super::only_of_all("Neighbour")),
            Self::Hypercube => Some(super::only_of_all("Hypercube")),
            Self::TorusTree { .. } | Self::TorusScatterAllGather { .. } => {
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
            Self::Pipelined(chain) if chain.segment.count() == 0 => {
                Some("a pipelined broadcast needs segments of at least one byte".to_owned())
            }
            Self::TorusScatterAllGather { numbers: Numbers::Binary, .. } => {
                Some("TorusScatterAllGather goes by Bine numbers alone".to_owned())
            }
            Self::TorusTree { shape, ports, .. } | Self::TorusScatterAllGather { shape, ports, .. } => {
                Lane::fault(shape, *ports, ranks)
            }
            Self::Chain { chains: 0, .. } => Some("Chain needs at least one chain".to_owned()),
            Self::Kary { radix, .. } => super::base("Kary", *radix, 1),
            Self::Knomial { radix, .. } => super::base("Knomial", *radix, 2),
            Self::Hierarchical { group, between, within } => {
                group.fault().or_else(|| between.fault_in_groups()).or_else(|| within.fault_in_groups())
            }
            _ => None,
        }
    }
}

impl OnWhole for Broadcast {
    fn within<'a>(&'a self, comm: Communicator<'a>, root: u32, data: &'a mut Buffer) -> Running<'a> {
        let tree = |shape, segment: Bytes, data: &'a mut Buffer| {
            Box::pin(trees::broadcast(comm, shape, root, segment.count(), data))
        };
        match self {
            Self::Naive(_) | Self::Linear => Box::pin(trees::linear_broadcast(comm, root, data)),
            Self::Pipelined(PipelinedBroadcast { segment }) | Self::Pipeline { segment } => {
                tree(Shape::Chains(1), *segment, data)
            }
            Self::Chain { chains, segment } => tree(Shape::Chains(*chains), *segment, data),
            Self::Binary { segment } => tree(Shape::Levels(2), *segment, data),
            Self::SplitBinary { segment } => Box::pin(trees::split_binary_broadcast(comm, root, segment.count(), data)),
            Self::Kary { radix, segment } => tree(Shape::Complete(*radix), *segment, data),
            Self::Knomial { radix, distances, segment } => tree(Shape::Nomial(*radix, *distances), *segment, data),
            Self::Binomial | Self::Neighbour(_) | Self::Hypercube => {
                Box::pin(trees::broadcast_in_turn(comm, Shape::Nomial(2, Distances::Halving), root, data))
            }
            Self::Bine { distances, segment } => tree(Shape::Bine(*distances), *segment, data),
            Self::ScatterRecursiveDoublingAllGather => Box::pin(scatter_all_gather(comm, root, false, data)),
            Self::ScatterRingAllGather => Box::pin(scatter_all_gather(comm, root, true, data)),
            Self::BineScatterAllGather => {
                Box::pin(butterfly::scatter_all_gather(comm, PartnerPattern::Bine, root, data))
            }
            Self::Hierarchical { group, between, within } => {
                Box::pin(hierarchy::broadcast(comm, *group, [&**between, &**within], root, data))
            }
            Self::TorusTree { shape, ports, numbers, addresses, copy } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::broadcast(comm, &Lane::of(shape, *ports, *numbers), root, data).await;
                copy_out(comm, root, *copy, data).await;
            }),
            Self::TorusScatterAllGather { shape, ports, numbers, addresses } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::scatter_by_block(comm, &Lane::of(shape, *ports, *numbers), root, data).await;
            }),
            Self::Auto(library) => Box::pin(by_rules(*library, comm, root, data)),
        }
    }
}

/// The algorithm that the rules of a library choose.
async fn by_rules(library: Library, comm: Communicator<'_>, root: u32, data: &mut Buffer) {
    Broadcast::of_library(library, comm.size(), data.bytes()).within(comm, root, data).await;
}

/// Ranks other than the root copy what they have got to its place, if it came elsewhere.
async fn copy_out(comm: Communicator<'_>, root: u32, is_elsewhere: bool, data: &Buffer) {
    if is_elsewhere && comm.place() != root {
        comm.copy(data.bytes()).await;
    }
}

/// Not an `async fn`, which keeps its arguments twice: there may be a million ranks.
#[expect(clippy::manual_async_fn, reason = "an `async fn` is larger by its arguments")]
fn along_tree(
    me: &Process,
    root: u32,
    mut message: Payload,
    numbering: Numbering,
) -> impl Future<Output = Option<Rc<[f64]>>> {
    async move {
        let tree = Binomial::new(root, me.ranks(), numbering);
        if let Some(parent) = tree.parent(me.rank()) {
            message = receive(me, parent).await;
        }
        for child in tree.children(me.rank()) {
            super::transfer::send(me, child, &message).await;
        }
        message.values
    }
}

/// Parts of the same length go down a binomial tree, and all collect them. With less than a word for each, the root sends
/// to all instead.
async fn scatter_all_gather(comm: Communicator<'_>, root: u32, ring: bool, data: &mut Buffer) {
    if data.bytes() / crate::program::WORD < u64::from(comm.size()) {
        return trees::linear_broadcast(comm, root, data).await;
    }
    let division = Division::ceiling(data.bytes(), comm.size());
    trees::scatter_numbers(comm, Shape::Nomial(2, Distances::Halving), root, &division, data).await;
    if ring {
        rings::all_gather(comm, root, &division, data).await;
    } else {
        bruck::recursive_doubling(comm, root, &division, data).await;
    }
}
