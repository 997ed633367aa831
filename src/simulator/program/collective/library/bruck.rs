//! Algorithms with distances that grow by a constant factor: Bruck and others 1997, and relatives.

use super::buffer::{Buffer, Division};
use super::communicator::Communicator;
use crate::program::collective::payload::Payload;
use std::ops::Range;

/// Runs an all-gather with distances 1, k, k², …. In each step, each rank receives the blocks held by the k − 1 ranks
/// that follow it at multiples of the distance, all at once.
pub(in crate::program::collective) async fn all_gather(
    comm: Communicator<'_>,
    radix: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let size = comm.size();
    for unit in powers(radix, size) {
        let distances = multiples(unit, radix, size);
        let count = |distance: u32| unit.min(size - distance);
        let mut receiving = Vec::new();
        for distance in distances.clone() {
            receiving.push((distance, comm.start_receive(comm.behind(distance)).await));
        }
        let mut sending = Vec::new();
        for distance in distances {
            let held = data.take(division.around(comm.place(), count(distance)));
            sending.push(comm.start_send(comm.before(distance), &held).await);
        }
        for (distance, operation) in receiving {
            let received = comm.received(operation).await;
            data.put(division.around(comm.behind(distance), count(distance)), &received);
        }
        comm.wait_all(sending).await;
    }
}

/// Runs an all-to-all with distances 1, k, k², …. The block for the rank at distance i moves at each distance by as
/// many multiples as the digit of i to the base k gives.
pub(in crate::program::collective) async fn all_to_all(
    comm: Communicator<'_>,
    radix: u32,
    division: &Division,
    data: &Buffer,
) -> Buffer {
    let size = comm.size();
    // Block i of the rotated message is the one for the rank i after this one; at the end it is the one from the rank i
    // before it.
    let mut turned = data.clone();
    turned.put((0..size).map(|index| division.one(index)), &data.take(division.around(comm.place(), size)));
    comm.pack(division.total()).await;
    for unit in powers(radix, size) {
        comm.pack(division.total()).await;
        let blocks = |digit: u32| {
            let has = move |index: &u32| index / unit % radix == digit;
            (0..size).filter(has).map(|index| division.one(index))
        };
        let digits = 1..radix.min((size - 1) / unit + 1);
        let mut receiving = Vec::new();
        for digit in digits.clone() {
            receiving.push((digit, comm.start_receive(comm.before(digit * unit)).await));
        }
        let mut sending = Vec::new();
        for digit in digits {
            let leaving = turned.take(blocks(digit));
            sending.push(comm.start_send(comm.behind(digit * unit), &leaving).await);
        }
        for (digit, operation) in receiving {
            let received = comm.received(operation).await;
            turned.put(blocks(digit), &received);
        }
        comm.wait_all(sending).await;
    }
    comm.pack(division.total()).await;
    let mut result = turned.clone();
    let origins = (0..size).map(|index| division.one(comm.before(index)));
    result.put(origins, &turned.take([0..division.total()]));
    result
}

/// Runs a barrier: in each step, every rank notifies the k − 1 ranks that follow it at multiples of the distance.
pub(in crate::program::collective) async fn barrier(comm: Communicator<'_>, radix: u32, bytes: u64) {
    let token = Payload::new(bytes, None);
    for unit in powers(radix, comm.size()) {
        let distances = multiples(unit, radix, comm.size());
        let mut under_way = Vec::new();
        for distance in distances.clone() {
            under_way.push(comm.start_receive(comm.before(distance)).await);
        }
        for distance in distances {
            under_way.push(comm.start_send(comm.behind(distance), &token).await);
        }
        comm.wait_all(under_way).await;
    }
}

/// Runs an all-gather whose distances fall from the largest power of two below p to 1; each block is a separate
/// message. (Loch, Koslovski 2021: Sparbit.)
pub(in crate::program::collective) async fn sparbit(comm: Communicator<'_>, division: &Division, data: &mut Buffer) {
    let size = comm.size();
    let steps = size.next_power_of_two().trailing_zeros();
    let low = size.trailing_zeros();
    // In the steps with these distances, one block would arrive twice.
    let ignored = (!(size >> low) | 1) << low;
    let mut expected = 1;
    for step in (0..steps).rev() {
        let distance = 1 << step;
        let excluded = u32::from(distance & ignored == distance);
        let count = expected - excluded;
        let mut receiving = Vec::new();
        let mut sending = Vec::new();
        for index in 0..count {
            let [sent, wanted] = [2 * index, 2 * index + 1].map(|times| comm.before(reach(times, distance, size)));
            receiving.push((wanted, comm.start_receive(comm.before(distance)).await));
            sending.push(comm.start_send(comm.behind(distance), &data.take([division.one(sent)])).await);
        }
        for (block, operation) in receiving {
            let received = comm.received(operation).await;
            data.put([division.one(block)], &received);
        }
        comm.wait_all(sending).await;
        expected = 2 * expected - excluded;
    }
}

const fn reach(times: u32, distance: u32, size: u32) -> u32 {
    (times as u64 * distance as u64 % size as u64) as u32
}

/// Runs an all-gather by recursive doubling: in step k, each rank exchanges all its blocks with the number that differs
/// in bit k. If this partner does not exist, the ranks of its group that have exchanged pass on the blocks that they
/// received, by halving. (As in MPICH and Open MPI.)
pub(in crate::program::collective) async fn recursive_doubling(
    comm: Communicator<'_>,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let (size, number) = (comm.size(), comm.number(root));
    let at = |number: u32| comm.numbered(root, number);
    let bounded = |first: u32, width: u32| division.range(first.min(size)..size.min(first.saturating_add(width)));
    let mut width = 1;
    while width < size {
        let group = |number: u32| number / width * width;
        let partner = number ^ width;
        let (own, theirs) = (group(number), group(partner));
        if partner < size {
            let held = data.take([bounded(own, width)]);
            let received = comm.exchange(at(partner), &held, at(partner)).await;
            data.put([bounded(theirs, width)], &received);
        }
        // Ranks of the lower group without a partner receive the blocks that the first `complete` ranks have received.
        let (lower, upper) = (own.min(theirs), own.max(theirs));
        if number < upper && upper < size && upper + width > size {
            let group = LowerGroup { root, lower, width, complete: size - upper };
            group.pass_on(comm, number, &bounded(upper, width), data).await;
        }
        width *= 2;
    }
}

/// A group in a step of recursive doubling in which only the first ranks have a partner.
struct LowerGroup {
    root: u32,
    lower: u32,
    width: u32,
    /// The number of ranks with a partner.
    complete: u32,
}

impl LowerGroup {
    /// Distributes the bytes received by the first ranks to the others, by halving.
    async fn pass_on(&self, comm: Communicator<'_>, number: u32, received: &Range<u64>, data: &mut Buffer) {
        let mut reach = self.width / 2;
        while reach > 0 {
            let other = number ^ reach;
            let at = comm.numbered(self.root, other);
            let first = self.lower + (number - self.lower) / (2 * reach) * (2 * reach);
            let has = |number: u32| number < first + self.complete;
            if has(number) && !has(other) {
                comm.send(at, &data.take([received.clone()])).await;
            } else if has(other) && !has(number) {
                let passed = comm.receive(at).await;
                data.put([received.clone()], &passed);
            }
            reach /= 2;
        }
    }
}

fn powers(radix: u32, size: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(1_u32), move |unit| unit.checked_mul(radix)).take_while(move |unit| *unit < size)
}

fn multiples(unit: u32, radix: u32, size: u32) -> impl Iterator<Item = u32> + Clone {
    (1..radix).map_while(move |times| unit.checked_mul(times)).take_while(move |distance| *distance < size)
}
