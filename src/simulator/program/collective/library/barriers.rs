//! Barriers made of messages.

use super::communicator::Communicator;
use super::shape::{Distances, TreeShape};
use crate::program::collective::payload::Payload;

/// Runs a barrier in which all ranks notify rank 0, which notifies all.
pub(in crate::program::collective) async fn linear_barrier(comm: Communicator<'_>) {
    if comm.place() > 0 {
        comm.send(0, &token()).await;
        comm.receive(0).await;
        return;
    }
    let mut under_way = Vec::new();
    for place in 1..comm.size() {
        under_way.push(comm.start_receive(place).await);
    }
    comm.wait_all(under_way).await;
    for place in 1..comm.size() {
        comm.send(place, &token()).await;
    }
}

/// Runs a barrier in which a token travels around the ring twice.
pub(in crate::program::collective) async fn double_ring_barrier(comm: Communicator<'_>) {
    if comm.size() == 1 {
        return;
    }
    for _ in 0..2 {
        if comm.place() > 0 {
            comm.receive(comm.before(1)).await;
        }
        comm.send(comm.behind(1), &token()).await;
        if comm.place() == 0 {
            comm.receive(comm.before(1)).await;
        }
    }
}

/// Runs a barrier by recursive doubling: in step k, each rank exchanges tokens with the rank whose number differs in
/// bit k. Ranks beyond the largest power of two notify a rank below it first and are notified last.
pub(in crate::program::collective) async fn recursive_doubling_barrier(comm: Communicator<'_>) {
    let core = 1 << comm.size().ilog2();
    let place = comm.place();
    if place >= core {
        comm.exchange(place - core, &token(), place - core).await;
        return;
    }
    let guest = (place + core < comm.size()).then_some(place + core);
    if let Some(guest) = guest {
        comm.receive(guest).await;
    }
    let mut bit = 1;
    while bit < core {
        comm.exchange(place ^ bit, &token(), place ^ bit).await;
        bit *= 2;
    }
    if let Some(guest) = guest {
        comm.send(guest, &token()).await;
    }
}

/// Runs a barrier in which tokens go up and down a binomial tree of consecutive ranks.
pub(in crate::program::collective) async fn tree_barrier(comm: Communicator<'_>) {
    let shape = TreeShape::Nomial(2, Distances::Halving);
    let children = shape.children(comm.place(), comm.size());
    for child in children.iter().rev() {
        comm.receive(*child).await;
    }
    if let Some(parent) = shape.parent(comm.place(), comm.size()) {
        comm.send(parent, &token()).await;
        comm.receive(parent).await;
    }
    for child in children {
        comm.send(child, &token()).await;
    }
}

/// Returns an empty message.
pub(super) const fn token() -> Payload {
    Payload::new(0, None)
}
