//! A block from each rank to all.

use super::library::Numbers;
use super::library::buffer::{Buffer, Division};
use super::library::butterfly::PartnerPattern;
use super::library::communicator::Communicator;
use super::library::hierarchy::{OnParts, OnWhole, Running};
use super::library::lane::Lane;
use super::library::torus::{self, Passes};
use super::library::{Distances, Grouping, Library, Remap, bruck, decision, exchanges, hierarchy, rings};
use super::payload::Payload;
use super::transfer::exchange;
use super::{Broadcast, Gather};
use crate::program::process::Process;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Algorithm that brings the blocks of all ranks to all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum AllGather {
    /// Around a ring, one block a step.
    Ring,
    /// In step k each rank exchanges its 2^k blocks with the one whose number differs in bit k. Ranks whose partner does not
    /// exist get the blocks from those that had one, by halving.
    RecursiveDoubling,
    /// Around the rows of the grid of ranks, then, whole rows, around its columns.
    Torus,
    /// A gather to rank 0 and a broadcast from there, each as Open MPI takes them.
    Linear,
    /// With distances 1, k, k², …: everyone gets what the k − 1 at multiples of the distance behind hold (Bruck and others
    /// 1997).
    Bruck {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// Neighbours exchange what they have got last, two blocks a step, to either side in turn; a ring for an odd number.
    NeighborExchange,
    /// With falling distances, each block a message (Loch, Koslovski 2021).
    Sparbit,
    /// Everyone sends its block to everyone at once.
    DirectMessaging,
    /// Recursive doubling with the farthest partner first, in messages of blocks that are not consecutive.
    RecursiveDistanceHalving,
    /// Doubling by Bine numbers, farthest first (De Sensi and others 2025).
    Bine {
        /// The layout of blocks in messages.
        #[serde(default)]
        remap: Remap,
    },
    /// Doubling by Bine numbers, nearest first: the blocks that a rank has lie next to each other around the ring of ranks, and
    /// are two messages where they reach over its end. Among other numbers of ranks than powers of two it is
    /// `Bine(remap: Send)`.
    BineAdjacent,
    /// Doubling through the dimensions of a torus in turn.
    ByDimensions {
        /// The sides of the torus, powers of two; ranks lie row by row, the last one fastest.
        shape: Vec<u32>,
        /// The number of ports: equal parts of each block take the dimensions in another order each.
        #[serde(default = "super::one")]
        ports: u32,
        /// By which numbers; Bine unless given.
        #[serde(default)]
        numbers: Numbers,
        /// The layout of blocks in messages.
        #[serde(default)]
        remap: Remap,
        /// The bytes of addresses of each port that all ranks gather first, by recursive doubling; none unless given.
        #[serde(default)]
        addresses: Bytes,
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
    /// Inside of groups to their leaders, between these, and to the groups.
    Hierarchical {
        /// The ranks that form a group; those of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// From a group to its leader.
        gather: Box<Gather>,
        /// Among the leaders.
        between: Box<Self>,
        /// From a leader to its group.
        broadcast: Box<Broadcast>,
    },
    /// The choice of a library for the numbers of bytes and ranks.
    Auto(Library),
}

impl AllGather {
    /// Collects everyone's `own` block; `lengths` are the bytes of all of them. All ranks call it
    /// and get all blocks by rank.
    pub async fn run(&self, me: &Process, own: Payload, lengths: &[u64]) -> Vec<Payload> {
        match self {
            Self::Ring => around_ring(me, &(0..me.ranks()).collect::<Vec<_>>(), own).await,
            Self::RecursiveDoubling if me.ranks().is_power_of_two() => recursive_doubling(me, own, lengths).await,
            Self::Torus => around_torus(me, own, lengths).await,
            _ => Box::pin(self.divided(me, own, &Division::listed(lengths))).await.split(lengths),
        }
    }

    /// Collects blocks of the same length behind each other, without a list of them where the algorithm needs none.
    pub(super) async fn joined(&self, me: &Process, own: Payload) -> Payload {
        if self.keeps_blocks(me.ranks()) {
            let lengths = vec![own.bytes; me.ranks() as usize];
            return Payload::join(&self.run(me, own, &lengths).await);
        }
        let division = Division::even(own.bytes, me.ranks());
        Box::pin(self.divided(me, own, &division)).await
    }

    /// True if each rank keeps a list of all blocks.
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

    /// Returns the choice of a library.
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

    /// Returns the reason why it cannot run among some of the ranks.
    pub(super) fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Torus => Some(super::only_of_all("Torus")),
            Self::ByDimensions { .. } => Some(super::only_of_all("ByDimensions")),
            Self::TorusRings { .. } => Some(super::only_of_all("TorusRings")),
            _ => self.fault(1),
        }
    }

    /// Returns the reason why it cannot run on this number of ranks.
    #[must_use]
    pub fn fault(&self, ranks: u32) -> Option<String> {
        match self {
            Self::ByDimensions { shape, ports, .. } | Self::TorusRings { shape, ports, .. } => {
                Lane::fault(shape, *ports, ranks)
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

impl OnParts for AllGather {
    fn within<'a>(
        &'a self,
        comm: Communicator<'a>,
        _: u32,
        division: &'a Division,
        data: &'a mut Buffer,
    ) -> Running<'a> {
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
                Box::pin(hierarchy::all_gather(comm, *group, (&**gather, &**between, &**broadcast), division, data))
            }
            Self::ByDimensions { shape, ports, numbers, remap, addresses } => Box::pin(async move {
                torus::gather_addresses(comm, *ports, *addresses).await;
                torus::blocks(comm, &Lane::of(shape, *ports, *numbers), (true, *remap), division, data).await;
            }),
            Self::TorusRings { shape, ports, addresses } => {
                Box::pin(torus::addressed_rings(comm, shape, (*ports, *addresses), Passes::Blocks, division, data))
            }
            Self::Auto(library) => Box::pin(by_rules(*library, comm, division, data)),
        }
    }
}

/// The algorithm that the rules of a library choose.
async fn by_rules(library: Library, comm: Communicator<'_>, division: &Division, data: &mut Buffer) {
    let block = division.total() / u64::from(comm.size());
    AllGather::of_library(library, comm.size(), block).within(comm, 0, division, data).await;
}

/// A gather and a broadcast, as Open MPI chooses them.
async fn by_root(comm: Communicator<'_>, division: &Division, data: &mut Buffer) {
    let library = Library::OpenMpi;
    Gather::Auto(library).within(comm, 0, division, data).await;
    Broadcast::Auto(library).within(comm, 0, data).await;
}

/// Each of `members`, in the order of a ring, gets the blocks of all of them in that order.
async fn around_ring(me: &Process, members: &[u32], own: Payload) -> Vec<Payload> {
    let count = members.len();
    let place = members.iter().position(|member| *member == me.rank()).expect("a member calls");
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
