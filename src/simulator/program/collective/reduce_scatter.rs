//! The sum of all ranks' messages, a block of it to each.

use super::Reduce;
use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::butterfly::PartnerPattern;
use super::library::communicator::Communicator;
use super::library::hierarchy::{OnWhole, Running};
use super::library::lane::Lane;
use super::library::torus::{self, Passes};
use super::library::{Distances, Library, Remap, decision, exchanges, rings, trees};
use super::payload::Payload;
use super::transfer::exchange;
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the blocks of the sum to their ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum ReduceScatter {
    /// In every step each rank exchanges half of its blocks with a partner half as far away. Of the first pairs of ranks
    /// that are more than a power of two, one takes part for both.
    RecursiveHalving,
    /// Around a ring, one block a step.
    Ring,
    /// In step k each rank sends the one k further its block.
    Pairwise,
    /// A reduce to rank 0 straight, and a scatter from there, one block after the other.
    Linear,
    /// A reduce to rank 0 straight, whose receives all begin at once, and a scatter from there, all blocks at once.
    LinearNonBlocking,
    /// A reduce to rank 0 as Open MPI takes it, and a scatter from there, one block after the other.
    NonOverlapping,
    /// Halving with the nearest partner first; the blocks go to their ranks in a step of their own.
    Butterfly,
    /// In step k each rank exchanges with the one that differs in bit k all blocks but those of its own 2^k ranks.
    RecursiveDoubling,
    /// Halving with the nearest partner first, in messages of blocks that are not consecutive.
    RecursiveDistanceDoubling,
    /// Halving by Bine numbers (De Sensi and others 2025).
    Bine {
        /// The layout of blocks in messages.
        #[serde(default)]
        remap: Remap,
    },
    /// Halving through the dimensions of a torus in turn, in messages copied into the order of the steps.
    ByDimensions {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of each block take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// Ring after ring of a torus.
    TorusRings {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of each block take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// The bytes of addresses of each port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
    },
    /// The choice of a library for `MPI_Reduce_scatter` with the numbers of bytes and ranks.
    Auto(Library),
    /// The choice of a library for `MPI_Reduce_scatter_block`.
    AutoBlock(Library),
}

impl ReduceScatter {
    /// Adds everyone's `own`, blocks of `lengths` bytes, one for each rank; all ranks call it and
    /// get their own block of the sum.
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

    /// The same in buffers that are there, if it is `RecursiveHalving` or `Ring`.
    pub(super) async fn in_buffers(&self, me: &Process, own: &Payload, lengths: &[u64]) -> Payload {
        match self {
            Self::RecursiveHalving if me.ranks().is_power_of_two() => recursive_halving(me, own.clone(), lengths).await,
            Self::Ring => around_ring(me, own.split(lengths)).await,
            Self::Pairwise => pairwise(me, &own.split(lengths)).await,
            _ => Box::pin(self.divided(me, own, &Division::listed(lengths))).await,
        }
    }

    /// Adds blocks of `bytes` bytes each, without a list of them where the algorithm needs none.
    pub(super) async fn even(&self, me: &Process, own: Payload, bytes: u64) -> Payload {
        if self.keeps_blocks(me.ranks()) {
            return self.run(me, &own, &vec![bytes; me.ranks() as usize]).await;
        }
        Box::pin(self.divided(me, &own, &Division::even(bytes, me.ranks()))).await
    }

    /// True if each rank keeps a list of all blocks.
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

    /// Adds up among the ranks of a communicator.
    fn within<'a>(&'a self, comm: Communicator<'a>, division: &'a Division, data: &'a mut Buffer) -> Running<'a> {
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
            Self::RecursiveDoubling => Box::pin(exchanges::doubling_reduce_scatter(comm, division, data)),
            Self::Auto(library) | Self::AutoBlock(library) => {
                let chosen = Self::decided(*library, comm.size(), division, matches!(self, Self::AutoBlock(_)));
                Box::pin(async move { chosen.within(comm, division, data).await })
            }
            Self::ByDimensions { shape, ports, numbers } => Box::pin(async move {
                let lanes = Lane::of(shape, *ports, *numbers);
                torus::blocks(comm, &lanes, (false, Remap::Permute), division, data).await;
            }),
            Self::TorusRings { shape, ports, addresses } => {
                Box::pin(torus::addressed_rings(comm, shape, (*ports, *addresses), Passes::Sums, division, data))
            }
        }
    }

    /// Returns the choice of a library for blocks of which some may be longer.
    fn decided(library: Library, ranks: u32, division: &Division, by_block: bool) -> Self {
        let is_uneven = library == Library::SimGrid && !division.is_even();
        let library = if is_uneven { Library::Mpich } else { library };
        Self::of_library(library, ranks, division.total() / u64::from(ranks), by_block)
    }

    /// Returns the choice of a library.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64, by_block: bool) -> Self {
        let total = block.saturating_mul(u64::from(ranks));
        match library {
            Library::OpenMpi if by_block => match decision::look_up(decision::REDUCE_SCATTER_BLOCK, ranks, block) {
                2 => Self::RecursiveDoubling,
                3 => Self::RecursiveHalving,
                4 => Self::Butterfly,
                _ => Self::Linear,
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

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::ByDimensions { shape, ports, .. } | Self::TorusRings { shape, ports, .. } => {
                Lane::fault(shape, *ports, ranks)
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
