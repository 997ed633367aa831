//! All ranks wait for each other.

use super::library::buffer::Buffer;
use super::library::communicator::Communicator;
use super::library::hierarchy::{OnWhole, Running};
use super::library::{Grouping, Library, barriers, bruck, decision, hierarchy};
use crate::program::process::{BARRIER_TAG, Message, MessagePattern, Process};
use serde::{Deserialize, Serialize};

/// Algorithm by which the ranks wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Barrier {
    /// They do not.
    Never,
    /// At no cost, as an idealisation.
    Ideal,
    /// By messages of four bytes up and down the neighbour tree of rank 0.
    Tree,
    /// By messages of four bytes: in step k every rank tells the one 2^k further that it has come,
    /// with those of whom it has heard (Hensgen, Finkel, Manber 1988).
    Dissemination,
    /// By messages of no bytes: all tell rank 0, which tells all.
    Linear,
    /// By a message of no bytes that goes round twice.
    DoubleRing,
    /// By messages of no bytes: in step k each rank exchanges with the one that differs in bit k.
    RecursiveDoubling,
    /// By messages of no bytes: in each step every rank tells the k − 1 at multiples of the distance 1, k, k², … behind it.
    Bruck {
        /// The base k.
        #[serde(default = "super::two")]
        radix: u32,
    },
    /// By messages of no bytes up and down a binomial tree.
    BinomialTree,
    /// Inside of groups, between their leaders, and word of it to the groups along a binomial tree.
    Hierarchical {
        /// The ranks that form a group; those of a node unless given.
        #[serde(default)]
        group: Grouping,
        /// Inside of a group.
        within: Box<Self>,
        /// Among the leaders.
        between: Box<Self>,
    },
    /// The choice of a library for the number of ranks.
    Auto(Library),
}

const BARRIER_BYTES: u64 = 4;

impl Barrier {
    /// Waits until all ranks have come here, if this is a barrier at all.
    pub async fn run(&self, me: &Process) {
        match self {
            Self::Never => {}
            Self::Ideal => me.barrier().await,
            Self::Tree => tree_barrier(me).await,
            Self::Dissemination => dissemination(me).await,
            _ => Box::pin(self.within(Communicator::all(me), 0, &mut Buffer::empty(0))).await,
        }
    }

    /// Returns the choice of a library.
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

    /// Returns the reason why it cannot run.
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
            Self::Never | Self::Ideal => Some(super::only_of_all("a barrier without messages")),
            Self::Tree => Some(super::only_of_all("Tree")),
            _ => self.fault(),
        }
    }
}

impl OnWhole for Barrier {
    fn within<'a>(&'a self, comm: Communicator<'a>, _: u32, _: &'a mut Buffer) -> Running<'a> {
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
        me.receive_where(MessagePattern { from: Some(child), tag: Some(BARRIER_TAG) }).await;
    }
    if let Some(parent) = grid.parent(0, rank) {
        me.send(parent, token.clone()).await;
        me.receive_where(MessagePattern { from: Some(parent), tag: Some(BARRIER_TAG) }).await;
    }
    for child in children() {
        me.send(child, token.clone()).await;
    }
}

async fn dissemination(me: &Process) {
    let ranks = me.ranks();
    let token = Message::new(BARRIER_BYTES).tag(BARRIER_TAG);
    let mut distance = 1;
    while distance < ranks {
        let from = (me.rank() + ranks - distance) % ranks;
        let sending = me.start_send((me.rank() + distance) % ranks, token.clone()).await;
        me.receive_where(MessagePattern { from: Some(from), tag: Some(BARRIER_TAG) }).await;
        me.wait(sending).await;
        distance = distance.saturating_mul(2);
    }
}
