//! All-gather: a block from each rank to all ranks.

use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::butterfly::PartnerPattern;
use super::library::communicator::Communicator;
use super::library::hierarchy::{OperationFuture, PartwiseOperation, WholeMessageOperation};
use super::library::lane::PortPath;
use super::library::torus::{self, RingPasses};
use super::library::{Distances, Grouping, Library, Remap, bruck, decision, exchanges, hierarchy, rings};
use super::payload::Payload;
use super::transfer::exchange;
use super::{Broadcast, Gather};
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// An all-gather algorithm, by which every rank receives the blocks of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum AllGather {
    /// Blocks travel around a ring, one block a step.
    Ring,
    /// In step k, each rank exchanges its 2^k blocks with the rank whose number differs in bit k. Ranks whose partner
    /// does not exist receive the blocks from those that have received them, by halving.
    RecursiveDoubling,
    /// Around the rows of the grid of ranks, then around its columns in units of whole rows.
    Torus,
    /// A gather to rank 0 and a broadcast from there, each with the algorithm that Open MPI chooses.
    Linear,
    /// With distances 1, k, k², …: each rank receives the blocks held by the k − 1 ranks that follow it at multiples of
    /// the distance (Bruck and others 1997).
    Bruck {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// Neighbours exchange the blocks that they received last, two blocks a step, on alternating sides. A ring if the
    /// number of ranks is odd.
    NeighborExchange,
    /// With decreasing distances, each block in a separate message (Loch, Koslovski 2021).
    Sparbit,
    /// Every rank sends its block to all others at once.
    DirectMessaging,
    /// Recursive doubling with the farthest partner first, in messages of blocks that are not consecutive.
    RecursiveDistanceHalving,
    /// Recursive doubling by Bine numbers, farthest partner first (De Sensi and others 2025).
    Bine {
        /// The arrangement of the blocks in messages.
        #[serde(default)]
        remap: Remap,
    },
    /// Recursive doubling by Bine numbers, nearest partner first. The blocks that a rank holds are adjacent on the ring
    /// of ranks; they form two messages where they wrap around its end. If the number of ranks is not a power of two,
    /// `Bine(remap: Send)` is used instead.
    BineAdjacent,
    /// Recursive doubling that cycles through the dimensions of a torus.
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
        /// The arrangement of the blocks in messages.
        #[serde(default)]
        remap: Remap,
        /// Bytes of memory addresses per port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
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
    /// From the members of each group to its leader, among the leaders, and from the leaders to their groups.
    Hierarchical {
        /// The ranks that form a group; the ranks of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Algorithm from a group to its leader.
        gather: Box<Gather>,
        /// Algorithm among the leaders.
        between: Box<Self>,
        /// Algorithm from a leader to its group.
        broadcast: Box<Broadcast>,
    },
    /// The algorithm that a library chooses for the message size and the number of ranks.
    Auto(Library),
}

impl AllGather {
    /// Collects the blocks of all ranks; `lengths` are their lengths in bytes. All ranks call this and get all blocks,
    /// by rank.
    pub async fn run(&self, me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
        match self {
            Self::Ring => around_ring(me, &(0..me.ranks()).collect::<Vec<_>>(), own).await,
            Self::RecursiveDoubling if me.ranks().is_power_of_two() => recursive_doubling(me, own, lengths).await,
            Self::Torus => around_torus(me, own, lengths).await,
            _ => Box::pin(self.divided(me, own, &Division::listed(lengths))).await.split(lengths),
        }
    }

    /// Collects blocks of equal length as one payload, without a list of blocks if the algorithm needs none.
    pub(super) async fn joined(&self, me: &Process, own: Payload) -> Payload {
        if self.keeps_blocks(me.ranks()) {
            let lengths = vec![own.bytes; me.ranks() as usize];
            return Payload::join(&self.run(me, own, &lengths).await);
        }
        let division = Division::even(own.bytes, me.ranks());
        Box::pin(self.divided(me, own, &division)).await
    }

    /// Returns whether each rank keeps a list of all blocks.
    pub(super) const fn keeps_blocks(&self, ranks: u32) -> bool {
        match self {
            Self::Ring | Self::Torus => true,
            Self::RecursiveDoubling => ranks.is_power_of_two(),
            _ => false,
        }
    }

    async fn divided(&self, me: &Process, own: Payload, division: &Division) -> Payload {
        let mut data = Buffer::part(division, me.rank(), &own);
        self.within(Communicator::all(me), 0, division, &mut data).await;
        data.numbered(0..division.total())
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32, block: u64) -> Self {
        let total = block.saturating_mul(u64::from(ranks));
        let power = ranks.is_power_of_two();
        match library {
            Library::OpenMpi => match decision::look_up(decision::ALLGATHER, ranks, block) {
                3 | 6 if power => Self::RecursiveDoubling,
                4 => Self::Ring,
                5 => Self::NeighborExchange,
                _ => Self::Bruck { radix: 2 },
            },
            Library::SimGrid => Self::DirectMessaging,
            Library::Mpich if power && total < 524_288 => Self::RecursiveDoubling,
            Library::Mpich if !power && total < 81_920 => Self::Bruck { radix: 2 },
            Library::Mpich => Self::Ring,
        }
    }

    /// Returns the reason why the algorithm cannot run on a subset of the ranks, if any.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Torus => Some(super::needs_all_ranks("Torus")),
            Self::ByDimensions { .. } => Some(super::needs_all_ranks("ByDimensions")),
            Self::TorusRings { .. } => Some(super::needs_all_ranks("TorusRings")),
            _ => self.fault(1),
        }
    }

    /// Returns the reason why the algorithm cannot run on this number of ranks, if any.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::ByDimensions { shape, ports, .. } | Self::TorusRings { shape, ports, .. } => {
                PortPath::fault(shape, *ports, ranks)
            }
            Self::Bruck { radix } => super::base("Bruck", *radix, 2),
            Self::Hierarchical { group, gather, between, broadcast } => group
                .fault()
                .or_else(|| gather.fault_in_groups())
                .or_else(|| between.fault_in_groups())
                .or_else(|| broadcast.fault_in_groups()),
            _ => None,
        }
    }
}

impl PartwiseOperation for AllGather {
    fn within<'a>(
        &'a self,
        comm: Communicator<'a>,
        _: u32,
        division: &'a Division,
        data: &'a mut Buffer,
    ) -> OperationFuture<'a> {
        let doubling = PartnerPattern::Binary(Distances::Doubling);
        match self {
            Self::Ring | Self::Torus => Box::pin(rings::all_gather(comm, 0, division, data)),
            Self::RecursiveDoubling => Box::pin(bruck::recursive_doubling(comm, 0, division, data)),
            Self::Linear => Box::pin(by_root(comm, division, data)),
            Self::Bruck { radix } => Box::pin(bruck::all_gather(comm, *radix, division, data)),
            Self::NeighborExchange => Box::pin(rings::neighbour_exchange(comm, division, data)),
            Self::Sparbit => Box::pin(bruck::sparbit(comm, division, data)),
            Self::DirectMessaging => Box::pin(rings::all_gather_at_once(comm, division, data)),
            Self::RecursiveDistanceHalving => {
                Box::pin(exchanges::all_gather(comm, doubling, Remap::Permute, division, data))
            }
            Self::Bine { remap } => Box::pin(exchanges::all_gather(comm, PartnerPattern::Bine, *remap, division, data)),
            Self::BineAdjacent if comm.size().is_power_of_two() => {
                Box::pin(exchanges::adjacent_all_gather(comm, division, data))
            }
            Self::BineAdjacent => {
                Box::pin(exchanges::all_gather(comm, PartnerPattern::Bine, Remap::Send, division, data))
            }
            Self::Hierarchical { group, gather, between, broadcast } => {
                Box::pin(hierarchy::all_gather(comm, *group, &**gather, &**between, &**broadcast, division, data))
            }
            Self::ByDimensions { shape, ports, numbers, remap, addresses } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::blocks(comm, &PortPath::of(shape, *ports, *numbers), (true, *remap), division, data).await;
            }),
            Self::TorusRings { shape, ports, addresses } => {
                Box::pin(torus::addressed_rings(comm, shape, (*ports, *addresses), RingPasses::Blocks, division, data))
            }
            Self::Auto(library) => Box::pin(by_rules(*library, comm, division, data)),
        }
    }
}

/// Runs the algorithm that the rules of a library choose.
async fn by_rules(library: Library, comm: Communicator<'_>, division: &Division, data: &mut Buffer) {
    let block = division.total() / u64::from(comm.size());
    AllGather::of_library(library, comm.size(), block).within(comm, 0, division, data).await;
}

/// Runs a gather and a broadcast, each with the algorithm that Open MPI chooses.
async fn by_root(comm: Communicator<'_>, division: &Division, data: &mut Buffer) {
    let library = Library::OpenMpi;
    Gather::Auto(library).within(comm, 0, division, data).await;
    Broadcast::Auto(library).within(comm, 0, data).await;
}

/// Collects the blocks of all `members` of a ring, in the order of the ring.
async fn around_ring(me: &Process, members: &[u32], own: Payload) -> Vec<Payload> {
    let count = members.len();
    let place = members.iter().position(|member| *member == me.rank()).expect("only members of the ring call");
    let (previous, next) = (members[(place + count - 1) % count], members[(place + 1) % count]);
    let mut blocks = vec![own; count];
    for step in 1..count {
        let sent = &blocks[(place + count - step + 1) % count];
        blocks[(place + count - step) % count] = exchange(me, next, sent, previous).await;
    }
    blocks
}

async fn recursive_doubling(me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
    let mut held = vec![own];
    while held.len() < lengths.len() {
        let bit = held.len();
        let partner = me.rank() ^ u32::try_from(bit).expect("ranks are counted in 32 bits");
        let theirs = partner as usize & !(bit - 1);
        let received = exchange(me, partner, &Payload::join(&held), partner).await;
        let received = received.split(&lengths[theirs..theirs + bit]);
        held = if me.rank() < partner { [held, received].concat() } else { [received, held].concat() };
    }
    held
}

async fn around_torus(me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
    let grid = me.grid();
    let (rows, columns) = grid.lines(me.rank());
    let row = around_ring(me, &columns, own).await;
    let all = around_ring(me, &rows, Payload::join(&row)).await;
    let lengths = lengths.chunks(columns.len());
    all.iter().zip(lengths).flat_map(|(row, lengths)| row.split(lengths)).collect()
}
