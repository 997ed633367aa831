//! All-reduce: the sum of the messages of all ranks, to all ranks.

use super::all_gather::AllGather;
use super::broadcast::Broadcast;
use super::library::Numbers;
use super::library::buffer::Buffer;
use super::library::butterfly::{self, Joining, PartnerPattern};
use super::library::communicator::Communicator;
use super::library::hierarchy::{OperationFuture, WholeMessageOperation};
use super::library::lane::PortPath;
use super::library::torus::{self, RingPasses};
use super::library::{Distances, Grouping, Library, decision, hierarchy, multiplying, rings};
use super::payload::Payload;
use super::power_of_two;
use super::reduce::Reduce;
use super::reduce_scatter::ReduceScatter;
use super::transfer::exchange;
use crate::node::Scratch;
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// An all-reduce algorithm, by which every rank receives the sum of the messages of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum AllReduce {
    /// In step k, each rank exchanges its partial sum with the rank whose number differs in bit k. If the number of
    /// ranks is not a power of two, one rank of each of the first pairs takes part on behalf of both.
    RecursiveDoubling,
    /// A reduce-scatter and an all-gather around a ring: every rank moves 2 (p − 1) / p of the message.
    Ring,
    /// A reduce-scatter by recursive halving and an all-gather by recursive doubling (Rabenseifner 2004). The number of
    /// ranks must be a power of two. If the message has fewer words than there are ranks, `RecursiveDoubling` is used
    /// instead. `Rabenseifner` and `RabenseifnerWhole` fall back in the same way, `BineReduceScatterAllGather` falls
    /// back to `Bine`.
    ReduceScatterAllGather,
    /// A reduce to rank 0 and a broadcast from there, both along a binomial tree.
    ReduceBroadcast,
    /// All ranks send directly to rank 0, which sends the sum directly to all.
    Linear,
    /// A reduce to rank 0, then a broadcast, each with the algorithm that Open MPI chooses.
    NonOverlapping,
    /// All ranks send directly to rank 0, whose receives all begin at once; the sum is broadcast along a binomial tree.
    LinearBinomial,
    /// The ring, with each part divided into segments. In the reduce-scatter, the segments travel around the ring one
    /// after the other.
    SegmentedRing {
        /// The length of the segments. 0, the default, means a whole part.
        #[serde(default)]
        segment: Bytes,
    },
    /// A reduce-scatter by halving with the nearest partner first, then an all-gather by the reverse steps
    /// (Rabenseifner 2004). If the number of ranks is not a power of two, each rank of an excess pair adds one half of
    /// the message.
    Rabenseifner,
    /// Like `Rabenseifner`, but one rank of each excess pair sends its whole message to the other.
    RabenseifnerWhole,
    /// Recursive doubling to the base k: each rank exchanges with k − 1 others in each step.
    RecursiveMultiplying {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// Every rank sends its message to all others and adds up all messages.
    AllGatherReduce,
    /// Recursive doubling by Bine numbers (De Sensi and others 2025).
    Bine,
    /// A reduce-scatter by Bine numbers, then an all-gather by the reverse steps.
    BineReduceScatterAllGather,
    /// Recursive doubling that cycles through the dimensions of a torus.
    TorusDoubling {
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
    /// A reduce-scatter that cycles through the dimensions of a torus, then an all-gather by the reverse steps.
    TorusHalving {
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
    /// Rings in one dimension of a torus after the other: a reduce-scatter in each dimension, then the all-gathers in
    /// reverse order.
    TorusRings {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The number of ports. Each port handles an equal part of the message and goes through the dimensions in a
        /// different order.
        #[serde(default = "super::one")]
        ports: u32,
        /// Bytes of memory addresses per port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
    },
    /// From the members of each group to its leader, among the leaders, and back.
    Hierarchical {
        /// The ranks that form a group; the ranks of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Algorithm from a group to its leader.
        reduce: Box<Reduce>,
        /// Algorithm among the leaders.
        between: Box<Self>,
        /// Algorithm from a leader to its group.
        broadcast: Box<Broadcast>,
    },
    /// The algorithm that a library chooses for the message size and the number of ranks.
    Auto(Library),
}

impl AllReduce {
    /// Adds up the messages of all ranks. All ranks call this and get the sum.
    pub async fn run(&self, me: &Process, own: Payload) -> Payload {
        match self {
            Self::RecursiveDoubling if me.ranks().is_power_of_two() => recursive_doubling(me, own).await,
            Self::Ring => in_shares(me, own, ReduceScatter::Ring, AllGather::Ring).await,
            Self::ReduceScatterAllGather if !decision::fewer_words(own.bytes, me.ranks()) => {
                in_shares(me, own, ReduceScatter::RecursiveHalving, AllGather::RecursiveDoubling).await
            }
            Self::ReduceBroadcast => {
                let bytes = own.bytes;
                let sum = Reduce::Binomial.run(me, 0, own).await.and_then(|sum| sum.values);
                Payload::new(bytes, Broadcast::Binomial.run(me, 0, bytes, sum).await)
            }
            _ => Box::pin(self.of_all(me, own)).await,
        }
    }

    async fn of_all(&self, me: &Process, own: Payload) -> Payload {
        let mut data = Buffer::full(&own);
        self.within(Communicator::all(me), 0, &mut data).await;
        Payload::new(own.bytes, data.all())
    }

    /// Runs a butterfly with whole messages or with halving. Messages of fewer words than ranks cannot be halved.
    async fn in_butterfly(&self, comm: Communicator<'_>, data: &mut Buffer) {
        let few = decision::fewer_words(data.bytes(), decision::core(comm.size()));
        let [doubling, halving] = [Distances::Doubling, Distances::Halving].map(PartnerPattern::Binary);
        let (pattern, joining) = match self {
            Self::Rabenseifner => (doubling, Some(Joining::Halves)),
            Self::RabenseifnerWhole => (doubling, Some(Joining::Whole)),
            Self::ReduceScatterAllGather if !few => (halving, Some(Joining::Whole)),
            Self::BineReduceScatterAllGather => (PartnerPattern::Bine, Some(Joining::Whole)),
            Self::Bine => (PartnerPattern::Bine, None),
            _ => (doubling, None),
        };
        match joining.filter(|_| !few) {
            Some(joining) => butterfly::rabenseifner(comm, pattern, joining, None, data).await,
            None => butterfly::all_reduce(comm, pattern, data).await,
        }
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, bytes: u64) -> Self {
        let fewer_than = |ranks: u32| decision::fewer_words(bytes, ranks);
        match library {
            Library::OpenMpi => match decision::look_up(decision::ALLREDUCE, ranks, bytes) {
                2 => Self::NonOverlapping,
                4 | 5 if !fewer_than(ranks) => Self::SegmentedRing { segment: Bytes::new(0) },
                6 if !fewer_than(decision::core(ranks)) => Self::Rabenseifner,
                6 => Self::Linear,
                _ => Self::RecursiveDoubling,
            },
            Library::SimGrid => Self::LinearBinomial,
            Library::Mpich if bytes <= 8 || fewer_than(decision::core(ranks)) => Self::RecursiveDoubling,
            Library::Mpich => Self::RabenseifnerWhole,
        }
    }

    /// Returns the reason why the algorithm cannot run on a subset of the ranks, if any.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::TorusDoubling { .. } | Self::TorusHalving { .. } | Self::TorusRings { .. } => {
                Some(super::needs_all_ranks("an algorithm for a torus"))
            }
            _ => self.fault(1),
        }
    }

    /// Returns how often each rank stores the blocks into which it divides the message, one for each rank.
    pub(super) const fn copies_of_blocks(&self) -> f64 {
        match self {
            Self::Ring | Self::ReduceScatterAllGather => 1.0,
            _ => 0.0,
        }
    }

    /// Returns the reason why the algorithm cannot run on this number of ranks, if any.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::ReduceScatterAllGather => power_of_two("ReduceScatterAllGather", ranks),
            Self::TorusDoubling { shape, ports, .. }
            | Self::TorusHalving { shape, ports, .. }
            | Self::TorusRings { shape, ports, .. } => PortPath::fault(shape, *ports, ranks),
            Self::RecursiveMultiplying { radix } => super::base("RecursiveMultiplying", *radix, 2),
            Self::Hierarchical { group, reduce, between, broadcast } => group
                .fault()
                .or_else(|| reduce.fault_in_groups())
                .or_else(|| between.fault_in_groups())
                .or_else(|| broadcast.fault_in_groups()),
            _ => None,
        }
    }
}

impl WholeMessageOperation for AllReduce {
    fn within<'a>(&'a self, comm: Communicator<'a>, _: u32, data: &'a mut Buffer) -> OperationFuture<'a> {
        match self {
            Self::RecursiveDoubling
            | Self::Rabenseifner
            | Self::RabenseifnerWhole
            | Self::ReduceScatterAllGather
            | Self::Bine
            | Self::BineReduceScatterAllGather => Box::pin(self.in_butterfly(comm, data)),
            Self::Ring => Box::pin(rings::all_reduce(comm, 0, data)),
            Self::SegmentedRing { segment } => Box::pin(rings::all_reduce(comm, segment.count(), data)),
            Self::ReduceBroadcast => Box::pin(via_root(comm, Reduce::Binomial, Broadcast::Binomial, data)),
            Self::NonOverlapping => {
                let library = Library::OpenMpi;
                Box::pin(via_root(comm, Reduce::Auto(library), Broadcast::Auto(library), data))
            }
            Self::LinearBinomial => Box::pin(via_root(comm, Reduce::LinearNonBlocking, Broadcast::Binomial, data)),
            Self::Linear => Box::pin(via_root(comm, Reduce::Linear, Broadcast::Linear, data)),
            Self::RecursiveMultiplying { radix } => Box::pin(multiplying::multiplying(comm, *radix, data)),
            Self::AllGatherReduce => Box::pin(rings::all_reduce_at_once(comm, data)),
            Self::TorusDoubling { shape, ports, numbers } => Box::pin(async move {
                torus::doubling(comm, &PortPath::of(shape, *ports, *numbers), data).await;
            }),
            Self::TorusHalving { shape, ports, numbers } => Box::pin(async move {
                torus::halving(comm, &PortPath::of(shape, *ports, *numbers), data).await;
            }),
            Self::TorusRings { shape, ports, addresses } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::rings(comm, &PortPath::of(shape, *ports, Numbers::Binary), RingPasses::Both, None, data).await;
            }),
            Self::Hierarchical { group, reduce, between, broadcast } => {
                Box::pin(hierarchy::all_reduce(comm, *group, [&**reduce, &**between, &**broadcast], data))
            }
            Self::Auto(library) => Box::pin(async move {
                let chosen = Self::of_library(*library, comm.size(), data.bytes());
                chosen.within(comm, 0, data).await;
            }),
        }
    }
}

/// Runs a reduce to the first rank, then a broadcast from there.
async fn via_root(comm: Communicator<'_>, reduce: Reduce, broadcast: Broadcast, data: &mut Buffer) {
    reduce.within(comm, 0, data).await;
    broadcast.within(comm, 0, data).await;
}

async fn recursive_doubling(me: &Process, own: Payload) -> Payload {
    me.allocate(Scratch::of(&[own.bytes]).with(2, own.bytes)).await;
    let mut sum = own;
    let mut bit = 1;
    while bit < me.ranks() {
        let partner = me.rank() ^ bit;
        sum = exchange(me, partner, &sum, partner).await.plus(me, &sum).await;
        bit *= 2;
    }
    sum
}

async fn in_shares(me: &Process, own: Payload, reduce: ReduceScatter, gather: AllGather) -> Payload {
    let lengths = Payload::shares(own.bytes, me.ranks());
    me.allocate(match reduce {
        ReduceScatter::Ring => rings::two_parts(lengths[0]),
        _ => Scratch::of(&[own.bytes]).halving(1, own.bytes, me.ranks().ilog2()),
    })
    .await;
    let share = reduce.in_buffers(me, &own, &lengths).await;
    Payload::join(&gather.run(me, share, &lengths).await)
}
