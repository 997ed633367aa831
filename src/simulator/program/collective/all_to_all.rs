//! All-to-all: a block from each rank to each rank.

use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::butterfly::PartnerPattern;
use super::library::communicator::Communicator;
use super::library::lane::PortPath;
use super::library::rings::Window;
use super::library::torus;
use super::library::{Library, bruck, decision, exchanges, rings};
use super::payload::Payload;
use super::power_of_two;
use super::transfer::exchange;
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// An all-to-all algorithm, by which each rank receives a block from every rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum AllToAll {
    /// In step k, each rank sends its block to the rank that follows it by k.
    Pairwise,
    /// In step k, each rank exchanges half of the blocks that it holds with the rank whose number differs in bit k. The
    /// number of ranks must be a power of two.
    Hypercube,
    /// Around the rows of the grid of ranks in one direction, then around its columns.
    Torus,
    /// In step k, each rank exchanges with the rank whose number is its own XOR k. If the number of ranks is not a
    /// power of two, each rank sends to the rank k after it and receives from the rank k before it.
    PairwiseExchange,
    /// All receives and sends begin at once.
    Linear,
    /// A fixed number of receives and sends are outstanding; the next one begins when one completes.
    LinearSync {
        /// The number of outstanding receives and of outstanding sends. 0, the default, means all.
        #[serde(default)]
        outstanding: u32,
    },
    /// A fixed number of receives and sends begin at once, the next batch when all of them are complete.
    Scattered {
        /// The number of receives and of sends in a batch. 0 means all.
        #[serde(default = "thirty_two")]
        batch: u32,
    },
    /// With distances 1, k, k², …: each block moves by the multiples of these distances that the digits of its total
    /// distance to the base k give (Bruck and others 1997).
    Bruck {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// In each step, half of the blocks go to the partner by Bine numbers (De Sensi and others 2025).
    Bine,
    /// Like `Bine`, but cycling through the dimensions of a torus.
    ByDimensions {
        /// The extents of the torus, powers of two. Ranks are numbered in row-major order: the last dimension varies
        /// fastest.
        shape: Vec<u32>,
        /// The numbering that determines the partners in each dimension; `Bine` unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// The algorithm that a library chooses for the message size and the number of ranks.
    Auto(Library),
}

const fn thirty_two() -> u32 {
    32
}

impl AllToAll {
    /// Sends block j of `blocks` to rank j; all blocks have the same length. All ranks call this and get the blocks for
    /// them, by origin.
    pub async fn run(&self, me: &Process, blocks: Vec<Payload>) -> Vec<Payload> {
        match self {
            Self::Pairwise => pairwise(me, blocks).await,
            Self::Hypercube => across_hypercube(me, blocks).await,
            Self::Torus => around_torus(me, blocks).await,
            _ => {
                let lengths = lengths(&blocks);
                let bytes = lengths.first().copied().unwrap_or(0);
                Box::pin(self.divided(me, &Payload::join(&blocks), bytes)).await.split(&lengths)
            }
        }
    }

    /// Exchanges blocks of `bytes` bytes each. `own` contains the blocks to send one after the other, the result the
    /// received ones.
    pub(super) async fn joined(&self, me: &Process, own: Payload, bytes: u64) -> Payload {
        if self.keeps_blocks() {
            return Payload::join(&self.run(me, own.split(&vec![bytes; me.ranks() as usize])).await);
        }
        Box::pin(self.divided(me, &own, bytes)).await
    }

    /// Returns whether each rank keeps a list of all blocks.
    pub(super) const fn keeps_blocks(&self) -> bool {
        matches!(self, Self::Pairwise | Self::Hypercube | Self::Torus)
    }

    async fn divided(&self, me: &Process, own: &Payload, bytes: u64) -> Payload {
        let (comm, division) = (Communicator::all(me), Division::even(bytes, me.ranks()));
        let data = Buffer::full(own);
        let chosen =
            if let Self::Auto(library) = self { Self::of_library(*library, me.ranks(), bytes) } else { self.clone() };
        let result = match chosen {
            Self::Bruck { radix } => bruck::all_to_all(comm, radix, &division, &data).await,
            Self::Bine => exchanges::all_to_all(comm, PartnerPattern::Bine, &division, &data).await,
            Self::ByDimensions { shape, numbers } => {
                torus::all_to_all(comm, PortPath::of(&shape, 1, numbers)[0], &division, &data).await
            }
            Self::PairwiseExchange => rings::pairwise_all_to_all(comm, &division, &data).await,
            Self::Pairwise => rings::all_to_all(comm, Window::Stepwise, &division, &data).await,
            Self::LinearSync { outstanding } => {
                rings::all_to_all(comm, Window::Sliding(outstanding), &division, &data).await
            }
            Self::Scattered { batch } => rings::all_to_all(comm, Window::Batches(batch), &division, &data).await,
            Self::Linear | Self::Hypercube | Self::Torus | Self::Auto(_) => {
                rings::all_to_all(comm, Window::Batches(0), &division, &data).await
            }
        };
        result.numbered(0..division.total())
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64) -> Self {
        match library {
            Library::OpenMpi => match decision::look_up(decision::ALLTOALL, ranks, block) {
                2 | 5 => Self::Pairwise,
                3 => Self::Bruck { radix: 2 },
                4 => Self::LinearSync { outstanding: 0 },
                _ => Self::Linear,
            },
            // The rules are those of Open MPI, without the two algorithms that SimGrid does not have.
            Library::SimGrid => match decision::look_up(decision::ALLTOALL, ranks, block) {
                2 => Self::PairwiseExchange,
                3 => Self::Bruck { radix: 2 },
                _ => Self::Linear,
            },
            Library::Mpich if block <= 256 && ranks >= 8 => Self::Bruck { radix: 2 },
            Library::Mpich if block <= 32_768 => Self::Scattered { batch: 32 },
            Library::Mpich => Self::PairwiseExchange,
        }
    }

    /// Returns the reason why the algorithm cannot run on this number of ranks, if any.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::Hypercube => power_of_two("Hypercube", ranks),
            Self::Bruck { radix } => super::base("Bruck", *radix, 2),
            Self::ByDimensions { shape, .. } => PortPath::fault(shape, 1, ranks),
            _ => None,
        }
    }
}

async fn pairwise(me: &Process, mut blocks: Vec<Payload>) -> Vec<Payload> {
    let ranks = me.ranks();
    let own = blocks.clone();
    for step in 1..ranks {
        let (to, from) = ((me.rank() + step) % ranks, (me.rank() + ranks - step) % ranks);
        blocks[from as usize] = exchange(me, to, &own[to as usize], from).await;
    }
    blocks
}

/// Runs the exchange across a hypercube. Initially, place j holds the block for rank j. Each step replaces one bit of
/// the destination by that of the origin, so that received blocks take the places of sent ones.
async fn across_hypercube(me: &Process, mut blocks: Vec<Payload>) -> Vec<Payload> {
    let mut bit = 1;
    while bit < me.ranks() {
        let partner = me.rank() ^ bit;
        let leaving: Vec<usize> = (0..me.ranks()).filter(|place| (place ^ me.rank()) & bit != 0).map(index).collect();
        let sent: Vec<Payload> = leaving.iter().map(|place| blocks[*place].clone()).collect();
        let received = exchange(me, partner, &Payload::join(&sent), partner).await;
        for (place, block) in leaving.into_iter().zip(received.split(&lengths(&sent))) {
            blocks[place] = block;
        }
        bit *= 2;
    }
    blocks
}

async fn around_torus(me: &Process, blocks: Vec<Payload>) -> Vec<Payload> {
    let (rows, columns) = me.grid().lines(me.rank());
    let width = columns.len();
    let for_column =
        |column: usize| -> Vec<Payload> { (0..rows.len()).map(|row| blocks[row * width + column].clone()).collect() };
    let by_column = around_ring(me, &columns, (0..width).map(for_column).collect()).await;
    let for_row = |row: usize| by_column.iter().map(|origin| origin[row].clone()).collect();
    around_ring(me, &rows, (0..rows.len()).map(for_row).collect()).await.concat()
}

/// Exchanges bundles among `members`, in the order of a ring, each of which has a bundle for each member. All bundles
/// travel in one direction; each member takes out its own and passes the others on. Returns the bundles for the caller,
/// by member.
async fn around_ring(me: &Process, members: &[u32], mut bundles: Vec<Vec<Payload>>) -> Vec<Vec<Payload>> {
    let count = members.len();
    let place = members.iter().position(|member| *member == me.rank()).expect("only members of the ring call");
    let (previous, next) = (members[(place + count - 1) % count], members[(place + 1) % count]);
    let size = bundles[place].len();
    let mut travelling: Vec<Payload> =
        (1..count).flat_map(|distance| bundles[(place + distance) % count].clone()).collect();
    for step in 1..count {
        let received = exchange(me, next, &Payload::join(&travelling), previous).await;
        travelling = received.split(&lengths(&travelling));
        bundles[(place + count - step) % count] = travelling.drain(..size).collect();
    }
    bundles
}

fn lengths(blocks: &[Payload]) -> Vec<u64> {
    blocks.iter().map(|block| block.bytes).collect()
}

const fn index(rank: u32) -> usize {
    rank as usize
}
