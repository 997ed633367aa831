//! Scan: to each rank the sum of the messages of all ranks up to it.

use super::library::Library;
use super::library::communicator::Communicator;
use super::payload::Payload;
use super::transfer::{receive, send, start_send};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// A scan algorithm, which computes the prefix sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scan {
    /// From each rank to the next.
    Chain,
    /// In step k, each rank sends its sum to the rank that follows it by 2^k (Hillis, Steele 1986).
    RecursiveDoubling,
    /// Each rank sends its message to all following ranks and receives from all preceding ones, at once.
    LinearNonBlocking,
}

impl Scan {
    /// Adds up the messages of all ranks up to this one, including its own. All ranks call this.
    pub async fn run(self, me: &Process, own: Payload) -> Payload {
        match self {
            Self::Chain => chain(me, own).await,
            Self::RecursiveDoubling => recursive_doubling(me, own).await,
            Self::LinearNonBlocking => at_once(me, own).await,
        }
    }

    /// Returns the algorithm that a library chooses.
    pub(super) const fn of_library(library: Library) -> Self {
        match library {
            Library::OpenMpi => Self::Chain,
            Library::Mpich => Self::RecursiveDoubling,
            Library::SimGrid => Self::LinearNonBlocking,
        }
    }
}

async fn at_once(me: &Process, own: Payload) -> Payload {
    let (comm, rank) = (Communicator::all(me), me.rank());
    let behind = (rank + 1..me.ranks()).map(|to| (to, &own));
    let mut started = comm.start(0..rank, behind).await;
    let mut sum = own.clone();
    while let Some((_, received)) = started.next().await {
        sum = received.plus(me, &sum).await;
    }
    sum
}

async fn chain(me: &Process, own: Payload) -> Payload {
    let mut sum = own;
    if me.rank() > 0 {
        sum = receive(me, me.rank() - 1).await.plus(me, &sum).await;
    }
    if me.rank() + 1 < me.ranks() {
        send(me, me.rank() + 1, &sum).await;
    }
    sum
}

async fn recursive_doubling(me: &Process, own: Payload) -> Payload {
    let mut sum = own;
    let mut distance = 1;
    while distance < me.ranks() {
        let mut sending = None;
        if me.rank() + distance < me.ranks() {
            sending = Some(start_send(me, me.rank() + distance, &sum).await);
        }
        if me.rank() >= distance {
            sum = receive(me, me.rank() - distance).await.plus(me, &sum).await;
        }
        me.wait_all(sending).await;
        distance *= 2;
    }
    sum
}
