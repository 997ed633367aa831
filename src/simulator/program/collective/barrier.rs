//! Barrier: all ranks wait for each other.

use super::library::buffer::Buffer;
use super::library::communicator::Communicator;
use super::library::hierarchy::{OperationFuture, WholeMessageOperation};
use super::library::{Grouping, Library, barriers, bruck, decision, hierarchy};
use crate::program::process::{BARRIER_TAG, Message, Process};
use serde::{Deserialize, Serialize};

/// A barrier algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Barrier {
    /// No synchronisation.
    Never,
    /// Synchronisation at no cost, as an idealisation.
    Ideal,
    /// Messages of four bytes up and down the neighbour tree of rank 0.
    Tree,
    /// Messages of four bytes: in step k, every rank notifies the rank that follows it by 2^k of its own arrival and of
    /// all arrivals that it knows of (Hensgen, Finkel, Manber 1988).
    Dissemination,
    /// Empty messages: all ranks notify rank 0, which notifies all.
    Linear,
    /// An empty message that travels around the ring twice.
    DoubleRing,
    /// Empty messages: in step k, each rank exchanges with the rank whose number differs in bit k.
    RecursiveDoubling,
    /// Empty messages: in each step, every rank notifies the k − 1 ranks that follow it at multiples of the distance 1,
    /// k, k², ….
    Bruck {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// Empty messages up and down a binomial tree.
    BinomialTree,
    /// A barrier inside each group, one among the leaders, and a notification of the groups along a binomial tree.
    Hierarchical {
        /// The ranks that form a group; the ranks of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Algorithm inside a group.
        within: Box<Self>,
        /// Algorithm among the leaders.
        between: Box<Self>,
    },
    /// The algorithm that a library chooses for the number of ranks.
    Auto(Library),
}

const BARRIER_BYTES: u64 = 4;

impl Barrier {
    /// Waits until all ranks have arrived, unless the algorithm is `Never`.
    pub async fn run(&self, me: &Process) {
        match self {
            Self::Never => {}
            Self::Ideal => me.barrier().await,
            Self::Tree => tree_barrier(me).await,
            Self::Dissemination => dissemination(me).await,
            _ => Box::pin(self.within(Communicator::all(me), 0, &mut Buffer::empty(0))).await,
        }
    }

    /// Returns the algorithm that a library chooses.
    pub(super) fn of_library(library: Library, ranks: u32) -> Self {
        match library {
            Library::OpenMpi => match decision::look_up(decision::BARRIER, ranks, 0) {
                1 => Self::Linear,
                3 => Self::RecursiveDoubling,
                6 => Self::BinomialTree,
                _ => Self::Bruck { radix: 2 },
            },
            Library::Mpich => Self::Bruck { radix: 2 },
            Library::SimGrid => Self::Linear,
        }
    }

    /// Returns the reason why the algorithm cannot run, if any.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Bruck { radix } => super::base("Bruck", *radix, 2),
            Self::Hierarchical { group, within, between } => {
                group.fault().or_else(|| within.fault_in_groups()).or_else(|| between.fault_in_groups())
            }
            _ => None,
        }
    }

    fn fault_in_groups(&self) -> Option<String> {
        match self {
            Self::Never | Self::Ideal => Some(super::needs_all_ranks("a barrier without messages")),
            Self::Tree => Some(super::needs_all_ranks("Tree")),
            _ => self.fault(),
        }
    }
}

impl WholeMessageOperation for Barrier {
    fn within<'a>(&'a self, comm: Communicator<'a>, _: u32, _: &'a mut Buffer) -> OperationFuture<'a> {
        match self {
            Self::Never | Self::Ideal | Self::Tree => Box::pin(async {}),
            Self::Linear => Box::pin(barriers::linear_barrier(comm)),
            Self::DoubleRing => Box::pin(barriers::double_ring_barrier(comm)),
            Self::RecursiveDoubling => Box::pin(barriers::recursive_doubling_barrier(comm)),
            Self::Dissemination => Box::pin(bruck::barrier(comm, 2, BARRIER_BYTES)),
            Self::Bruck { radix } => Box::pin(bruck::barrier(comm, *radix, 0)),
            Self::BinomialTree => Box::pin(barriers::tree_barrier(comm)),
            Self::Hierarchical { group, within, between } => {
                Box::pin(hierarchy::barrier(comm, *group, [&**within, &**between]))
            }
            Self::Auto(library) => Box::pin(async move {
                Self::of_library(*library, comm.size()).within(comm, 0, &mut Buffer::empty(0)).await;
            }),
        }
    }
}

async fn tree_barrier(me: &Process) {
    let (grid, rank) = (me.grid(), me.rank());
    let children = || grid.trunk(0, rank).chain(grid.branches(0, rank));
    let token = Message::new(BARRIER_BYTES).tag(BARRIER_TAG);
    for child in children() {
        me.receive_in_collective(child, BARRIER_TAG).await;
    }
    if let Some(parent) = grid.parent(0, rank) {
        me.send_in_collective(parent, token.clone()).await;
        me.receive_in_collective(parent, BARRIER_TAG).await;
    }
    for child in children() {
        me.send_in_collective(child, token.clone()).await;
    }
}

async fn dissemination(me: &Process) {
    let ranks = me.ranks();
    let token = Message::new(BARRIER_BYTES).tag(BARRIER_TAG);
    let mut distance = 1;
    while distance < ranks {
        let from = (me.rank() + ranks - distance) % ranks;
        let sending = me.start_send_in_collective((me.rank() + distance) % ranks, token.clone()).await;
        me.receive_in_collective(from, BARRIER_TAG).await;
        me.wait(sending).await;
        distance = distance.saturating_mul(2);
    }
}
