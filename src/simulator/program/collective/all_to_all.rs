//! A block from each rank to each.

use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::butterfly::PartnerPattern;
use super::library::communicator::Communicator;
use super::library::lane::Lane;
use super::library::rings::Window;
use super::library::torus;
use super::library::{Library, bruck, decision, exchanges, rings};
use super::payload::Payload;
use super::power_of_two;
use super::transfer::exchange;
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that brings every rank's blocks to their ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum AllToAll {
    /// In step k each rank sends the one k further its block.
    Pairwise,
    /// In step k each rank exchanges half of what it holds with the one whose number differs in
    /// bit k. Needs a power of two of ranks.
    Hypercube,
    /// Around the rows of the grid of ranks in one direction, then around its columns.
    Torus,
    /// In step k each rank exchanges with the one whose number differs by k bitwise, or, unless there is a power of two of
    /// ranks, sends k behind and receives from k before.
    PairwiseExchange,
    /// All receives and sends begin at once.
    Linear,
    /// So many receives and sends are under way; the next one begins when one is complete.
    LinearSync {
        /// The number of either kind; 0, the default, means all.
        #[serde(default)]
        outstanding: u32,
    },
    /// So many receives and sends begin at once, the next ones when all of them are complete.
    Scattered {
        /// The number of either kind; 0 means all.
        #[serde(default = "thirty_two")]
        batch: u32,
    },
    /// With distances 1, k, k², …: blocks go as far at each as the digits of their distance say (Bruck and others 1997).
    Bruck {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// In each step half of the blocks go to the partner by Bine numbers (De Sensi and others 2025).
    Bine,
    /// The same through the dimensions of a torus in turn.
    ByDimensions {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
    },
    /// The choice of a library for the numbers of bytes and ranks.
    Auto(Library),
}

const fn thirty_two() -> u32 {
    32
}

impl AllToAll {
    /// Sends block j of `blocks`, which all have the same length, to rank j; all ranks call it and
    /// get the blocks for them by rank.
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

    /// Sends blocks of `bytes` bytes each, which are behind each other, as those that have come are at the end.
    pub(super) async fn joined(&self, me: &Process, own: Payload, bytes: u64) -> Payload {
        if self.keeps_blocks() {
            return Payload::join(&self.run(me, own.split(&vec![bytes; me.ranks() as usize])).await);
        }
        Box::pin(self.divided(me, &own, bytes)).await
    }

    /// True if each rank keeps a list of all blocks.
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
                torus::all_to_all(comm, Lane::of(&shape, 1, numbers)[0], &division, &data).await
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

    /// Returns the choice of a library.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64) -> Self {
        match library {
            Library::OpenMpi => match decision::look_up(decision::ALLTOALL, ranks, block) {
                2 | 5 => Self::Pairwise,
                3 => Self::Bruck { radix: 2 },
                4 => Self::LinearSync { outstanding: 0 },
                _ => Self::Linear,
            },
            // Its rules are those of Open MPI, without the two algorithms that it does not have.
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

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::Hypercube => power_of_two("Hypercube", ranks),
            Self::Bruck { radix } => super::base("Bruck", *radix, 2),
            Self::ByDimensions { shape, .. } => Lane::fault(shape, 1, ranks),
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

/// Place j holds the block for j at first; each step replaces one bit of the destination by that of
/// the origin, so that what comes in takes the places of what goes out.
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

/// Each of `members`, in the order of a ring, has a bundle for each; all bundles travel in one
/// direction, and each member takes out its own and passes the others on. The bundles for the
/// caller, by member.
async fn around_ring(me: &Process, members: &[u32], mut bundles: Vec<Vec<Payload>>) -> Vec<Vec<Payload>> {
    let count = members.len();
    let place = members.iter().position(|member| *member == me.rank()).expect("a member calls");
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
