//! The sum of all ranks' messages, to all of them.

use super::all_gather::AllGather;
use super::broadcast::Broadcast;
use super::library::Numbers;
use super::library::buffer::Buffer;
use super::library::butterfly::{self, Joining, PartnerPattern};
use super::library::communicator::Communicator;
use super::library::hierarchy::{OnWhole, Running};
use super::library::lane::Lane;
use super::library::torus::{self, Passes};
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

/// Algorithm that brings the sum of all messages to all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum AllReduce {
    /// In step k each rank exchanges its sum with the one whose number differs in bit k. Of the first pairs of ranks that
    /// are more than a power of two, one takes part for both.
    RecursiveDoubling,
    /// Reduce-scatter and allgather around a ring: every rank moves 2 (p − 1) / p of the message.
    Ring,
    /// Reduce-scatter by halving and allgather by doubling (Rabenseifner 2004). Needs a power of
    /// two of ranks. With fewer words than ranks it is `RecursiveDoubling`, as are the other ones that scatter; those by
    /// Bine numbers are `Bine`.
    ReduceScatterAllGather,
    /// To rank 0 and from there to all, both along a binomial tree.
    ReduceBroadcast,
    /// To rank 0 and from there to all, straight.
    Linear,
    /// A reduce to rank 0, then a broadcast, each as Open MPI takes them.
    NonOverlapping,
    /// To rank 0 straight, whose receives all begin at once, and from there along a binomial tree.
    LinearBinomial,
    /// The ring, with each part in segments that go round one after the other for the sums.
    SegmentedRing {
        /// The length of the segments; 0, as unless given: a whole part.
        #[serde(default)]
        segment: Bytes,
    },
    /// A reduce-scatter by halving with the nearest first, then an all-gather on the way back (Rabenseifner 2004); pairs
    /// that are more than a power of two add a half each.
    Rabenseifner,
    /// The same, but one of such a pair sends its whole message.
    RabenseifnerWhole,
    /// Recursive doubling to the base k: each exchanges with k − 1 others in each step.
    RecursiveMultiplying {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// Everyone sends to everyone and adds all.
    AllGatherReduce,
    /// Recursive doubling by Bine numbers (De Sensi and others 2025).
    Bine,
    /// A reduce-scatter by Bine numbers, then an all-gather on the way back.
    BineReduceScatterAllGather,
    /// Recursive doubling through the dimensions of a torus in turn.
    TorusDoubling {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// A reduce-scatter through the dimensions of a torus in turn, then an all-gather on the way back.
    TorusHalving {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// Ring after ring: a reduce-scatter in each dimension of a torus in turn, then the all-gathers on the way back.
    TorusRings {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of the message take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// The bytes of addresses of each port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
    },
    /// Inside of groups to their leaders, between these, and back.
    Hierarchical {
        /// The ranks that form a group; those of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// From a group to its leader.
        reduce: Box<Reduce>,
        /// Among the leaders.
        between: Box<Self>,
        /// From a leader to its group.
        broadcast: Box<Broadcast>,
    },
    /// The choice of a library for the numbers of bytes and ranks.
    Auto(Library),
}

impl AllReduce {
    /// Adds everyone's `own`; all ranks call it and get the sum.
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

    /// In steps with partners, with whole messages or with halves; fewer words than ranks cannot be halved.
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

    /// Returns the choice of a library.
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

    /// Returns the reason why it cannot run among some of the ranks.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::TorusDoubling { .. } | Self::TorusHalving { .. } | Self::TorusRings { .. } => {
                Some(super::only_of_all("an algorithm for a torus"))
            }
            _ => self.fault(1),
        }
    }

    /// Number of times that each rank holds the blocks into which it cuts the message, one for each rank.
    pub(super) const fn copies_of_blocks(&self) -> f64 {
        match self {
            Self::Ring | Self::ReduceScatterAllGather => 1.0,
            _ => 0.0,
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::ReduceScatterAllGather => power_of_two("ReduceScatterAllGather", ranks),
            Self::TorusDoubling { shape, ports, .. }
            | Self::TorusHalving { shape, ports, .. }
            | Self::TorusRings { shape, ports, .. } => Lane::fault(shape, *ports, ranks),
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

impl OnWhole for AllReduce {
    fn within<'a>(&'a self, comm: Communicator<'a>, _: u32, data: &'a mut Buffer) -> Running<'a> {
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
                torus::doubling(comm, &Lane::of(shape, *ports, *numbers), data).await;
            }),
            Self::TorusHalving { shape, ports, numbers } => Box::pin(async move {
                torus::halving(comm, &Lane::of(shape, *ports, *numbers), data).await;
            }),
            Self::TorusRings { shape, ports, addresses } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::rings(comm, &Lane::of(shape, *ports, Numbers::Binary), Passes::Both, None, data).await;
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

/// A reduce to the first rank, then a broadcast from it.
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
