//! Operations through the dimensions of a torus in turn, over several ports at once: the way of the Bine library on Fugaku.

use super::buffer::{Buffer, Division};
use super::butterfly::add;
use super::communicator::{Communicator, count};
use crate::program::collective::payload::Payload;
use crate::program::process::Operation;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

mod lane;

pub(in crate::program::collective) use lane::Lane;
pub use lane::Numbers;

/// Recursive doubling of an equal part of the message by each port.
pub(in crate::program::collective) async fn doubling(comm: Communicator<'_>, lanes: &[Lane], data: &mut Buffer) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    for step in 0..lanes[0].steps() {
        let mut receiving = Vec::new();
        let mut sending = Vec::new();
        for (lane, part) in lanes.iter().zip(0..) {
            let partner = lane.partner(comm.place(), step);
            receiving.push((part, comm.start_receive(partner).await));
            sending.push(comm.start_send(partner, &data.take([parts.one(part)])).await);
        }
        for (part, operation) in receiving {
            let received = comm.received(operation).await;
            add(comm, data, &[parts.one(part)], &received).await;
        }
        comm.wait_all(sending).await;
    }
}

/// A reduce-scatter by halving of an equal part of the message by each port, and an all-gather on the way back.
pub(in crate::program::collective) async fn halving(comm: Communicator<'_>, lanes: &[Lane], data: &mut Buffer) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    let ranges = |part: u32, _: &Lane, codes: Range<u32>| {
        let part = parts.one(part);
        let range = Division::shares(part.end - part.start, comm.size()).range(codes);
        vec![part.start + range.start..part.start + range.end]
    };
    through(comm, lanes, false, &ranges, data).await;
    through(comm, lanes, true, &ranges, data).await;
}

/// The same of blocks, an equal part of each by each port, copied into the order of the steps: sums of a block for each
/// rank, or, on the way back, the blocks of all.
pub(in crate::program::collective) async fn blocks(
    comm: Communicator<'_>,
    lanes: &[Lane],
    back: bool,
    division: &Division,
    data: &mut Buffer,
) {
    let ranges = |part: u32, lane: &Lane, codes: Range<u32>| {
        let of_block = |code: u32| {
            let block = division.one(lane.with_code(code));
            let range = Division::shares(block.end - block.start, count(lanes.len())).one(part);
            block.start + range.start..block.start + range.end
        };
        codes.map(of_block).collect()
    };
    if !back {
        comm.copy(data.bytes()).await;
    }
    through(comm, lanes, back, &ranges, data).await;
    if back {
        comm.copy(data.bytes()).await;
    }
}

/// The bytes of a window of codes of a port.
type Ranges<'a> = &'a dyn Fn(u32, &Lane, Range<u32>) -> Vec<Range<u64>>;

/// All steps forwards, where windows are halved and summed, or backwards, where they are doubled.
async fn through(comm: Communicator<'_>, lanes: &[Lane], back: bool, ranges: Ranges<'_>, data: &mut Buffer) {
    let steps = lanes[0].steps();
    for step in (0..steps).map(|step| if back { steps - 1 - step } else { step }) {
        let mut receiving = Vec::new();
        let mut sending = Vec::new();
        for (lane, part) in lanes.iter().zip(0..) {
            let partner = lane.partner(comm.place(), step);
            let own = ranges(part, lane, lane.window(lane.code(comm.place()), step + 1));
            let theirs = ranges(part, lane, lane.window(lane.code(partner), step + 1));
            let (sent, wanted) = if back { (own, theirs) } else { (theirs, own) };
            receiving.push((wanted, comm.start_receive(partner).await));
            sending.push(comm.start_send(partner, &data.take(sent)).await);
        }
        for (ranges, operation) in receiving {
            let received = comm.received(operation).await;
            if back {
                data.put(ranges, &received);
            } else {
                add(comm, data, &ranges, &received).await;
            }
        }
        comm.wait_all(sending).await;
    }
}

/// An equal part of the message by each port, ring after ring: a reduce-scatter in each dimension in turn, and the all-gathers
/// on the way back.
pub(in crate::program::collective) async fn rings(comm: Communicator<'_>, lanes: &[Lane], data: &mut Buffer) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    let steps: u32 = (0..lanes[0].dimensions).map(|dimension| lanes[0].side(dimension) - 1).sum();
    for (step, back) in (0..steps).map(|step| (step, false)).chain((0..steps).rev().map(|step| (step, true))) {
        let mut receiving = Vec::new();
        let mut sending = Vec::new();
        for (lane, part) in lanes.iter().zip(0..) {
            let ring = lane.ring(comm.place(), step, parts.one(part));
            // On the way back what was received last is sent first, in the other direction.
            let (to, from, sent, wanted) = if back {
                (ring.before, ring.behind, ring.wanted, ring.sent)
            } else {
                (ring.behind, ring.before, ring.sent, ring.wanted)
            };
            receiving.push((wanted, comm.start_receive(from).await));
            sending.push(comm.start_send(to, &data.take([sent])).await);
        }
        for (range, operation) in receiving {
            let received = comm.received(operation).await;
            if back {
                data.put([range], &received);
            } else {
                add(comm, data, &[range], &received).await;
            }
        }
        comm.wait_all(sending).await;
    }
}

/// The sends of a rank along the trees of all ports. Messages of two ranks have no other mark than their order, so those to
/// one rank begin in the order of the ports.
struct Sends {
    /// The ports that have a message for a rank, in their order.
    waiting: BTreeMap<u32, VecDeque<u32>>,
    ready: Vec<Option<Payload>>,
    under_way: Vec<Operation>,
}

impl Sends {
    /// Those of each port to its ranks.
    fn new(targets: &[Vec<u32>]) -> Self {
        let mut waiting: BTreeMap<u32, VecDeque<u32>> = BTreeMap::new();
        for (ranks, part) in targets.iter().zip(0..) {
            for rank in ranks {
                waiting.entry(*rank).or_default().push_back(part);
            }
        }
        Self { waiting, ready: vec![None; targets.len()], under_way: Vec::new() }
    }

    /// The message of a port is there for its ranks.
    async fn begin(&mut self, comm: Communicator<'_>, part: u32, ranks: &[u32], message: Payload) {
        self.ready[part as usize] = Some(message);
        for rank in ranks {
            let waiting = self.waiting.get_mut(rank).expect("it is one of those");
            while let Some(message) = waiting.front().and_then(|part| self.ready[*part as usize].as_ref()) {
                self.under_way.push(comm.start_send(*rank, message).await);
                waiting.pop_front();
            }
        }
    }
}

/// An equal part of the message down the tree of each port; whatever comes first is sent on first.
pub(in crate::program::collective) async fn broadcast(
    comm: Communicator<'_>,
    lanes: &[Lane],
    root: u32,
    data: &mut Buffer,
) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    let (parents, children): (Vec<_>, Vec<_>) = lanes.iter().map(|lane| lane.tree(comm.place(), root)).unzip();
    let mut sends = Sends::new(&children);
    let mut open = Vec::new();
    for (parent, part) in parents.into_iter().zip(0..) {
        match parent {
            Some(parent) => open.push((part, comm.start_receive(parent).await)),
            None => sends.begin(comm, part, &children[part as usize], data.take([parts.one(part)])).await,
        }
    }
    while !open.is_empty() {
        let operations: Vec<_> = open.iter().map(|(_, operation)| *operation).collect();
        let (part, operation) = open.remove(comm.me().wait_any(&operations).await);
        let received = comm.received(operation).await;
        data.put([parts.one(part)], &received);
        sends.begin(comm, part, &children[part as usize], received).await;
    }
    comm.wait_all(sends.under_way).await;
}

/// The same trees upwards, with sums.
pub(in crate::program::collective) async fn reduce(
    comm: Communicator<'_>,
    lanes: &[Lane],
    root: u32,
    data: &mut Buffer,
) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    let trees: Vec<_> = lanes.iter().map(|lane| lane.tree(comm.place(), root)).collect();
    let parents: Vec<Vec<u32>> = trees.iter().map(|(parent, _)| parent.iter().copied().collect()).collect();
    let mut sends = Sends::new(&parents);
    let mut missing: Vec<usize> = trees.iter().map(|(_, children)| children.len()).collect();
    let mut open = Vec::new();
    for ((_, children), part) in trees.iter().zip(0..) {
        for child in children.iter().rev() {
            open.push((part, comm.start_receive(*child).await));
        }
    }
    for part in (0..).take(lanes.len()).filter(|part| missing[*part as usize] == 0) {
        sends.begin(comm, part, &parents[part as usize], data.take([parts.one(part)])).await;
    }
    while !open.is_empty() {
        let operations: Vec<_> = open.iter().map(|(_, operation)| *operation).collect();
        let (part, operation) = open.remove(comm.me().wait_any(&operations).await);
        let received = comm.received(operation).await;
        add(comm, data, &[parts.one(part)], &received).await;
        missing[part as usize] -= 1;
        if missing[part as usize] == 0 {
            sends.begin(comm, part, &parents[part as usize], data.take([parts.one(part)])).await;
        }
    }
    comm.wait_all(sends.under_way).await;
}
