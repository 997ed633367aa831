//! Broadcast: a message from one rank to all ranks.

use super::group::Group;
use super::library::Numbers;
use super::library::buffer::Buffer;
use super::library::butterfly::{self, PartnerPattern};
use super::library::communicator::Communicator;
use super::library::hierarchy::{self, OperationFuture, WholeMessageOperation};
use super::library::lane::PortPath;
use super::library::shape::TreeShape;
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

/// A broadcast algorithm, by which all ranks receive the message of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Broadcast {
    /// The root sends to every other rank.
    Naive(NaiveBroadcast),
    /// Every rank passes the message on to its neighbours: along the row of the root, and along the columns.
    Neighbour(NeighbourBroadcast),
    /// Along a binomial tree: the number of ranks that have the message doubles in every step. The number of ranks is
    /// arbitrary.
    Binomial,
    /// The same tree embedded in a hypercube for any root, so that every message goes to a neighbour in the hypercube.
    /// The number of ranks must be a power of two.
    Hypercube,
    /// From each rank to the next, in segments.
    Pipelined(PipelinedBroadcast),
    /// The root starts to send to all others at once, in the order of their ranks.
    Linear,
    /// Along chains of consecutive ranks that start at the root, segment by segment.
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
    /// Along a binary tree numbered level by level, segment by segment.
    Binary {
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// The same tree, with one half of the message down each side; then pairs of ranks exchange their halves.
    SplitBinary {
        /// The length of the segments. 0, the default, means half of the message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Along the tree in which rank v has the children kv + 1 … kv + k, segment by segment.
    Kary {
        /// The number k of children.
        #[serde(default = "super::two")]
        radix: u32,
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// Along a k-nomial tree, segment by segment; all sends of a rank begin at once.
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
    /// A scatter down a binomial tree, then an all-gather by recursive doubling (van de Geijn).
    ScatterRecursiveDoublingAllGather,
    /// A scatter down a binomial tree, then an all-gather around a ring (van de Geijn).
    ScatterRingAllGather,
    /// Along a Bine tree (De Sensi and others 2025), segment by segment.
    Bine {
        /// The order of the distances, which selects one of the two trees.
        #[serde(default)]
        distances: Distances,
        /// The length of the segments. 0, the default, means the whole message.
        #[serde(default)]
        segment: Bytes,
    },
    /// A scatter by Bine numbers, then an all-gather by the reverse steps.
    BineScatterAllGather,
    /// Down trees that cycle through the dimensions of a torus.
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
        /// Bytes of memory addresses per port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
        /// `true` if all ranks but the root copy the message from the memory where it arrives; false unless given.
        #[serde(default)]
        copy: bool,
    },
    /// A scatter, block by block, down trees that cycle through the dimensions of a torus, then an all-gather by the
    /// reverse steps.
    TorusScatterAllGather {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The number of ports. Each port handles an equal part of the message and goes through the dimensions in a
        /// different order.
        #[serde(default = "super::one")]
        ports: u32,
        /// The numbering that determines the partners in each dimension; only `Bine` is supported.
        #[serde(default)]
        numbers: Numbers,
        /// Bytes of memory addresses per port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
    },
    /// To the leaders of groups, then inside the groups.
    Hierarchical {
        /// The ranks that form a group; the ranks of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Algorithm from the root to the other leaders.
        between: Box<Self>,
        /// Algorithm from a leader to its group.
        within: Box<Self>,
    },
    /// The algorithm that a library chooses for the message size and the number of ranks.
    Auto(Library),
}

impl Broadcast {
    /// Broadcasts `bytes` bytes from `root`. All ranks call this and get the values of the root.
    #[must_use = "an operation runs when it is awaited"]
    pub fn run<'a>(
        &'a self,
        me: &'a Process,
        root: u32,
        bytes: u64,
        values: Option<Rc<[f64]>>,
    ) -> OperationFuture<'a, Option<Rc<[f64]>>> {
        match self {
            Self::Naive(naive) => Box::pin(naive.run(me, root, bytes, values)),
            Self::Neighbour(tree) => Box::pin(tree.run(me, root, bytes, values)),
            Self::Binomial => Box::pin(along_tree(me, root, Payload::new(bytes, values), Numbering::Shifted)),
            Self::Hypercube => Box::pin(along_tree(me, root, Payload::new(bytes, values), Numbering::Mirrored)),
            Self::Pipelined(chain) => Box::pin(chain.run(me, root, bytes, values)),
            _ => Box::pin(self.of_all(me, root, bytes, values)),
        }
    }

    /// Broadcasts the payload of the member at `root` among the members of a group. All members call this with the same
    /// number of bytes, and get the payload.
    pub async fn run_among(&self, me: &Process, group: &Group, root: u32, own: Payload) -> Payload {
        if *self == Self::Binomial {
            return group.broadcast(me, root, own).await;
        }
        let bytes = own.bytes;
        let mut data = if group.place() == root { Buffer::full(&own) } else { Buffer::empty(bytes) };
        self.within(Communicator::of(me, group.members()), root, &mut data).await;
        Payload::new(bytes, data.all())
    }

    async fn of_all(&self, me: &Process, root: u32, bytes: u64, values: Option<Rc<[f64]>>) -> Option<Rc<[f64]>> {
        let own = Payload::new(bytes, values);
        let mut data = if me.rank() == root { Buffer::full(&own) } else { Buffer::empty(bytes) };
        self.within(Communicator::all(me), root, &mut data).await;
        data.all()
    }

    /// Returns the length of the segments in which the message is sent; 0 if it is sent whole.
    pub(super) const fn segment(&self) -> Bytes {
        match self {
            Self::Pipelined(PipelinedBroadcast { segment })
            | Self::Chain { segment, .. }
            | Self::Pipeline { segment }
            | Self::Binary { segment }
            | Self::SplitBinary { segment }
            | Self::Kary { segment, .. }
            | Self::Knomial { segment, .. }
            | Self::Bine { segment, .. } => *segment,
            _ => Bytes::new(0),
        }
    }

    /// Returns the algorithm that a library chooses.
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

    /// Returns the reason why the algorithm cannot run on a subset of the ranks, if any.
    #[must_use]
    pub fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Neighbour(_) => Some(super::needs_all_ranks("Neighbour")),
            Self::Hypercube => Some(super::needs_all_ranks("Hypercube")),
            Self::TorusTree { .. } | Self::TorusScatterAllGather { .. } => {
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
            Self::Pipelined(chain) if chain.segment.count() == 0 => {
                Some("a pipelined broadcast needs segments of at least one byte".to_owned())
            }
            Self::TorusScatterAllGather { numbers: Numbers::Binary, .. } => {
                Some("TorusScatterAllGather supports only Bine numbers".to_owned())
            }
            Self::TorusTree { shape, ports, .. } | Self::TorusScatterAllGather { shape, ports, .. } => {
                PortPath::fault(shape, *ports, ranks)
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

impl WholeMessageOperation for Broadcast {
    fn within<'a>(&'a self, comm: Communicator<'a>, root: u32, data: &'a mut Buffer) -> OperationFuture<'a> {
        let tree = |shape, segment: Bytes, data: &'a mut Buffer| {
            Box::pin(trees::broadcast(comm, shape, root, segment.count(), data))
        };
        match self {
            Self::Naive(_) | Self::Linear => Box::pin(trees::linear_broadcast(comm, root, data)),
            Self::Pipelined(PipelinedBroadcast { segment }) | Self::Pipeline { segment } => {
                tree(TreeShape::Chains(1), *segment, data)
            }
            Self::Chain { chains, segment } => tree(TreeShape::Chains(*chains), *segment, data),
            Self::Binary { segment } => tree(TreeShape::Levels(2), *segment, data),
            Self::SplitBinary { segment } => Box::pin(trees::split_binary_broadcast(comm, root, segment.count(), data)),
            Self::Kary { radix, segment } => tree(TreeShape::Complete(*radix), *segment, data),
            Self::Knomial { radix, distances, segment } => tree(TreeShape::Nomial(*radix, *distances), *segment, data),
            Self::Binomial | Self::Neighbour(_) | Self::Hypercube => {
                Box::pin(trees::broadcast_in_turn(comm, TreeShape::Nomial(2, Distances::Halving), root, data))
            }
            Self::Bine { distances, segment } => tree(TreeShape::Bine(*distances), *segment, data),
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
                torus::broadcast(comm, &PortPath::of(shape, *ports, *numbers), root, data).await;
                copy_out(comm, root, *copy, data).await;
            }),
            Self::TorusScatterAllGather { shape, ports, numbers, addresses } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::scatter_by_block(comm, &PortPath::of(shape, *ports, *numbers), root, data).await;
            }),
            Self::Auto(library) => Box::pin(by_rules(*library, comm, root, data)),
        }
    }
}

/// Runs the algorithm that the rules of a library choose.
async fn by_rules(library: Library, comm: Communicator<'_>, root: u32, data: &mut Buffer) {
    match (library, Broadcast::of_library(library, comm.size(), data.bytes())) {
        // MPICH scatters bytes, be there fewer words than ranks or not.
        (Library::Mpich, Broadcast::ScatterRecursiveDoublingAllGather) => scattered(comm, root, false, data).await,
        (Library::Mpich, Broadcast::ScatterRingAllGather) => scattered(comm, root, true, data).await,
        (_, chosen) => chosen.within(comm, root, data).await,
    }
}

/// Copies the message to its destination on ranks other than the root, if it arrived elsewhere.
async fn copy_out(comm: Communicator<'_>, root: u32, is_elsewhere: bool, data: &Buffer) {
    if is_elsewhere && comm.place() != root {
        comm.copy_alone(data.bytes()).await;
    }
}

/// Runs a broadcast along a binomial tree. This is not an `async fn`, which would store its arguments twice: there may
/// be a million ranks.
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

/// Scatters equal parts down a binomial tree and gathers them on all ranks. If there is less than a word for each rank,
/// the root sends the message to all ranks instead.
async fn scatter_all_gather(comm: Communicator<'_>, root: u32, ring: bool, data: &mut Buffer) {
    if data.bytes() / crate::program::WORD < u64::from(comm.size()) {
        return trees::linear_broadcast(comm, root, data).await;
    }
    scattered(comm, root, ring, data).await;
}

/// Scatters equal parts down a binomial tree, of which the last ones may be empty, and gathers them on all ranks.
async fn scattered(comm: Communicator<'_>, root: u32, ring: bool, data: &mut Buffer) {
    let division = Division::ceiling(data.bytes(), comm.size());
    trees::scatter_numbers(comm, TreeShape::Nomial(2, Distances::Halving), root, &division, data).await;
    if ring {
        rings::all_gather(comm, root, &division, data).await;
    } else {
        bruck::recursive_doubling(comm, root, &division, data).await;
    }
}
