//! Reduce-scatter: the sum of the messages of all ranks, one block of it to each rank.

use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::butterfly::PartnerPattern;
use super::library::communicator::Communicator;
use super::library::hierarchy::{OperationFuture, PartwiseOperation, WholeMessageOperation};
use super::library::lane::PortPath;
use super::library::torus::{self, RingPasses};
use super::library::{Distances, Library, Remap, decision, exchanges, rings, trees};
use super::payload::Payload;
use super::transfer::exchange;
use super::{Reduce, Scatter};
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A reduce-scatter algorithm, by which each rank receives its block of the sum of all messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum ReduceScatter {
    /// In every step, each rank exchanges half of its blocks with a partner at half the previous distance. If the
    /// number of ranks is not a power of two, one rank of each of the first pairs takes part on behalf of both.
    RecursiveHalving,
    /// Around a ring, one block a step.
    Ring,
    /// In step k, each rank sends the rank that follows it by k its block.
    Pairwise,
    /// A reduce in which all ranks send directly to rank 0, and a scatter from there, one block after the other.
    Linear,
    /// A reduce in which all ranks send directly to rank 0, whose receives all begin at once, and a scatter from there,
    /// all blocks at once.
    LinearNonBlocking,
    /// A reduce to rank 0 with the algorithm that Open MPI chooses, and a scatter from there, one block after the
    /// other.
    NonOverlapping,
    /// A reduce to rank 0, then a scatter from there, each with the algorithm that Open MPI chooses.
    NonOverlappingBlock,
    /// Halving with the nearest partner first; an additional step sends the blocks to their ranks.
    Butterfly,
    /// In step k, each rank exchanges with the rank whose number differs in bit k all blocks but those of its own 2^k
    /// ranks.
    RecursiveDoubling,
    /// Halving with the nearest partner first, in messages of blocks that are not consecutive.
    RecursiveDistanceDoubling,
    /// Halving by Bine numbers (De Sensi and others 2025).
    Bine {
        /// The arrangement of the blocks in messages.
        #[serde(default)]
        remap: Remap,
    },
    /// Halving that cycles through the dimensions of a torus, in messages copied into the order of the steps.
    ByDimensions {
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
    },
    /// Rings in one dimension of a torus after the other.
    TorusRings {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The number of ports. Each port handles an equal part of each block and goes through the dimensions in a
        /// different order.
        #[serde(default = "super::one")]
        ports: u32,
        /// Bytes of memory addresses per port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
    },
    /// The algorithm that a library chooses for `MPI_Reduce_scatter` with this message size and number of ranks.
    Auto(Library),
    /// The algorithm that a library chooses for `MPI_Reduce_scatter_block`.
    AutoBlock(Library),
}

impl ReduceScatter {
    /// Adds up the messages of all ranks, which consist of blocks of `lengths` bytes, one for each rank. All ranks call
    /// this and get their own block of the sum.
    pub async fn run(&self, me: &Process, own: &Payload, lengths: &[u64]) -> Payload {
        let ranks = me.ranks();
        match self {
            Self::RecursiveHalving if ranks.is_power_of_two() => {
                me.allocate(exchanges::scratch(own.bytes, ranks.ilog2(), None)).await;
            }
            Self::Ring => me.allocate(rings::all_parts(own.bytes, ranks)).await,
            _ => {}
        }
        self.in_buffers(me, own, lengths).await
    }

    /// Like [`run`](Self::run), but without allocating buffers for `RecursiveHalving` and `Ring`.
    pub(super) async fn in_buffers(&self, me: &Process, own: &Payload, lengths: &[u64]) -> Payload {
        match self {
            Self::RecursiveHalving if me.ranks().is_power_of_two() => recursive_halving(me, own.clone(), lengths).await,
            Self::Ring => around_ring(me, own.split(lengths)).await,
            Self::Pairwise => pairwise(me, &own.split(lengths)).await,
            _ => Box::pin(self.divided(me, own, &Division::listed(lengths))).await,
        }
    }

    /// Adds up blocks of `bytes` bytes each, without a list of blocks if the algorithm needs none.
    pub(super) async fn even(&self, me: &Process, own: Payload, bytes: u64) -> Payload {
        if self.keeps_blocks(me.ranks()) {
            return self.run(me, &own, &vec![bytes; me.ranks() as usize]).await;
        }
        Box::pin(self.divided(me, &own, &Division::even(bytes, me.ranks()))).await
    }

    /// Returns whether each rank keeps a list of all blocks.
    pub(super) const fn keeps_blocks(&self, ranks: u32) -> bool {
        match self {
            Self::Ring | Self::Pairwise => true,
            Self::RecursiveHalving => ranks.is_power_of_two(),
            _ => false,
        }
    }

    async fn divided(&self, me: &Process, own: &Payload, division: &Division) -> Payload {
        let mut data = Buffer::full(own);
        self.within(Communicator::all(me), division, &mut data).await;
        data.numbered(division.one(me.rank()))
    }

    /// Runs the algorithm among the ranks of a communicator.
    fn within<'a>(
        &'a self,
        comm: Communicator<'a>,
        division: &'a Division,
        data: &'a mut Buffer,
    ) -> OperationFuture<'a> {
        let halving = |distances, remap, data| {
            Box::pin(exchanges::reduce_scatter(comm, PartnerPattern::Binary(distances), remap, division, data))
        };
        match self {
            Self::RecursiveHalving => halving(Distances::Halving, Remap::Send, data),
            Self::Butterfly => halving(Distances::Doubling, Remap::Send, data),
            Self::RecursiveDistanceDoubling => halving(Distances::Doubling, Remap::Permute, data),
            Self::Bine { remap } => {
                Box::pin(exchanges::reduce_scatter(comm, PartnerPattern::Bine, *remap, division, data))
            }
            Self::Ring => Box::pin(rings::ring_reduce_scatter(comm, division, data)),
            Self::Pairwise => Box::pin(rings::pairwise_reduce_scatter(comm, division, data)),
            Self::Linear => Box::pin(async move {
                trees::linear_reduce(comm, 0, data).await;
                trees::linear_scatter(comm, 0, false, division, data).await;
            }),
            Self::LinearNonBlocking => Box::pin(async move {
                trees::linear_reduce_at_once(comm, 0, data).await;
                trees::linear_scatter(comm, 0, true, division, data).await;
            }),
            Self::NonOverlapping => Box::pin(async move {
                Reduce::Auto(Library::OpenMpi).within(comm, 0, data).await;
                trees::linear_scatter(comm, 0, false, division, data).await;
            }),
            Self::NonOverlappingBlock => Box::pin(async move {
                Reduce::Auto(Library::OpenMpi).within(comm, 0, data).await;
                Scatter::Auto(Library::OpenMpi).within(comm, 0, division, data).await;
            }),
            Self::RecursiveDoubling => Box::pin(exchanges::doubling_reduce_scatter(comm, division, data)),
            Self::Auto(library) | Self::AutoBlock(library) => {
                let chosen = Self::decided(*library, comm.size(), division, matches!(self, Self::AutoBlock(_)));
                Box::pin(async move { chosen.within(comm, division, data).await })
            }
            Self::ByDimensions { shape, ports, numbers } => Box::pin(async move {
                let lanes = PortPath::of(shape, *ports, *numbers);
                torus::blocks(comm, &lanes, (false, Remap::Permute), division, data).await;
            }),
            Self::TorusRings { shape, ports, addresses } => {
                Box::pin(torus::addressed_rings(comm, shape, (*ports, *addresses), RingPasses::Sums, division, data))
            }
        }
    }

    /// Returns the algorithm that a library chooses for blocks that may differ in length.
    fn decided(library: Library, ranks: u32, division: &Division, by_block: bool) -> Self {
        let is_uneven = library == Library::SimGrid && !division.is_even();
        let library = if is_uneven { Library::Mpich } else { library };
        Self::of_library(library, ranks, division.total() / u64::from(ranks), by_block)
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64, by_block: bool) -> Self {
        let total = block.saturating_mul(u64::from(ranks));
        match library {
            Library::OpenMpi if by_block => match decision::look_up(decision::REDUCE_SCATTER_BLOCK, ranks, block) {
                2 => Self::RecursiveDoubling,
                3 => Self::RecursiveHalving,
                4 => Self::Butterfly,
                _ => Self::NonOverlappingBlock,
            },
            Library::OpenMpi => match decision::look_up(decision::REDUCE_SCATTER, ranks, total) {
                2 => Self::RecursiveHalving,
                3 => Self::Ring,
                4 => Self::Butterfly,
                _ => Self::NonOverlapping,
            },
            Library::SimGrid => Self::LinearNonBlocking,
            Library::Mpich if total < 524_288 => Self::RecursiveHalving,
            Library::Mpich => Self::Pairwise,
        }
    }

    /// Returns the reason why the algorithm cannot run on this number of ranks, if any.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::ByDimensions { shape, ports, .. } | Self::TorusRings { shape, ports, .. } => {
                PortPath::fault(shape, *ports, ranks)
            }
            _ => None,
        }
    }
}

async fn recursive_halving(me: &Process, own: Payload, lengths: &[u64]) -> Payload {
    let (mut sum, mut lengths) = (own, lengths);
    let mut half = lengths.len() / 2;
    while half > 0 {
        let (low, high) = lengths.split_at(half);
        let [low_sum, high_sum] = [low, high].map(|lengths| lengths.iter().sum());
        let mut parts = sum.split(&[low_sum, high_sum]);
        let partner = me.rank() ^ u32::try_from(half).expect("ranks are counted in 32 bits");
        let upper = me.rank() > partner;
        let kept = parts.swap_remove(usize::from(upper));
        sum = exchange(me, partner, &parts[0], partner).await.plus(me, &kept).await;
        lengths = if upper { high } else { low };
        half /= 2;
    }
    sum
}

async fn around_ring(me: &Process, mut blocks: Vec<Payload>) -> Payload {
    let ranks = me.ranks();
    let (previous, next) = ((me.rank() + ranks - 1) % ranks, (me.rank() + 1) % ranks);
    for step in 1..ranks {
        let sent = &blocks[((me.rank() + ranks - step) % ranks) as usize];
        let received = exchange(me, next, sent, previous).await;
        let place = ((me.rank() + 2 * ranks - step - 1) % ranks) as usize;
        blocks[place] = received.plus(me, &blocks[place]).await;
    }
    blocks.swap_remove(me.rank() as usize)
}

async fn pairwise(me: &Process, blocks: &[Payload]) -> Payload {
    let ranks = me.ranks();
    let mut sum = blocks[me.rank() as usize].clone();
    for step in 1..ranks {
        let (to, from) = ((me.rank() + step) % ranks, (me.rank() + ranks - step) % ranks);
        sum = exchange(me, to, &blocks[to as usize], from).await.plus(me, &sum).await;
    }
    sum
}
