//! Recursive multiplying: recursive doubling to any base.

use super::buffer::Buffer;
use super::butterfly::add;
use super::communicator::Communicator;
use std::ops::Range;

/// A reduction of the ranks to a power k^n: among the first ranks, the last one of each group of k does the steps for
/// its group.
#[derive(Clone, Copy)]
struct GroupedPower {
    radix: u32,
    core: u32,
    guests: u32,
    /// The number of ranks in groups, counted from the first rank.
    members: u32,
}

impl GroupedPower {
    fn of(size: u32, radix: u32) -> Self {
        let mut core = 1;
        while u64::from(core) * u64::from(radix) <= u64::from(size) {
            core *= radix;
        }
        let guests = size - core;
        Self { radix, core, guests, members: guests + guests.div_ceil(radix - 1) }
    }

    /// Returns the last rank of a group.
    fn last(self, group: u32) -> u32 {
        ((group + 1) * self.radix).min(self.members) - 1
    }

    /// Returns the rank of a doer.
    fn number(self, doer: u32) -> u32 {
        if doer < self.members - self.guests { self.last(doer) } else { doer + self.guests }
    }

    /// Returns the doer of a rank, and the other ranks of its group.
    fn doer(self, rank: u32) -> (u32, Range<u32>) {
        if rank >= self.members {
            return (rank - self.guests, 0..0);
        }
        let group = rank / self.radix;
        (group, group * self.radix..self.last(group))
    }

    /// Returns the ranks of the k − 1 partners of a doer in the step whose digit has the weight `unit`.
    fn partners(self, doer: u32, unit: u32) -> impl Iterator<Item = u32> {
        let digit = doer / unit % self.radix;
        let with = move |other: u32| doer - digit * unit + (digit + other) % self.radix * unit;
        (1..self.radix).map(move |other| self.number(with(other)))
    }
}

/// Runs an all-reduce by recursive doubling with k − 1 concurrent partners in each step. Among the first ranks, the
/// last one of each group of k does the steps for its group, so that a power of k remains. (MPICH: recursive exchange.)
pub(in crate::program::collective) async fn multiplying(comm: Communicator<'_>, radix: u32, data: &mut Buffer) {
    let groups = GroupedPower::of(comm.size(), radix);
    let (doer, served) = groups.doer(comm.place());
    let whole = [0..data.bytes()];
    if comm.place() != groups.number(doer) {
        comm.send(groups.number(doer), &data.take(whole.clone())).await;
        let sum = comm.receive(groups.number(doer)).await;
        data.put(whole, &sum);
        return;
    }
    for guest in served.clone() {
        let received = comm.receive(guest).await;
        add(comm, data, &whole, &received).await;
    }
    let mut unit = 1;
    while unit < groups.core {
        let own = data.take(whole.clone());
        let sends = groups.partners(doer, unit).map(|partner| (partner, &own));
        let mut started = comm.start(groups.partners(doer, unit), sends).await;
        while let Some((_, received)) = started.next().await {
            add(comm, data, &whole, &received).await;
        }
        unit *= radix;
    }
    if !served.is_empty() {
        comm.send_to_all(&served.collect::<Vec<_>>(), &data.take(whole)).await;
    }
}
