//! Operations that cycle through the dimensions of a torus, over several ports at once, as the Bine library does on
//! Fugaku.

use super::Remap;
use super::bruck;
use super::buffer::{Buffer, Division};
use super::butterfly::{PartnerPattern, add};
use super::communicator::{Communicator, count};
use super::exchanges;
use super::lane::{Numbers, PortPath};
use crate::program::collective::payload::Payload;
use crate::program::process::Operation;
use crate::units::Bytes;
use std::ops::Range;

mod trees;

pub(in crate::program::collective) use trees::{
    broadcast, gather, reduce, reduce_scatter_gather, scatter, scatter_by_block,
};

/// Runs an all-reduce by recursive doubling, with an equal part of the message on each port.
pub(in crate::program::collective) async fn doubling(comm: Communicator<'_>, lanes: &[PortPath], data: &mut Buffer) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    for step in 0..lanes[0].steps() {
        let partners: Vec<_> = lanes.iter().map(|lane| lane.partner(comm.place(), step)).collect();
        if comm.awaits_ready(data.bytes()) {
            exchange_ready(comm, partners.iter().map(|partner| (*partner, *partner))).await;
        }
        let mut receiving = Vec::new();
        let mut sending = Vec::new();
        for (partner, part) in partners.into_iter().zip(0..) {
            receiving.push((part, comm.on_port(part).start_receive(partner).await));
            sending.push(comm.on_port(part).start_send(partner, &data.take([parts.one(part)])).await);
        }
        for (part, operation) in receiving {
            let received = comm.received(operation).await;
            add(comm, data, &[parts.one(part)], &received).await;
        }
        comm.wait_all(sending).await;
    }
}

/// On each port, notifies the sender that its message may be sent, and waits for the same notification from the
/// receiver.
async fn exchange_ready(comm: Communicator<'_>, ports: impl Iterator<Item = (u32, u32)>) {
    let mut operations = Vec::new();
    for ((sender, receiver), port) in ports.zip(0..) {
        operations.push(comm.on_port(port).start_receive(receiver).await);
        operations.push(comm.on_port(port).start_send(sender, &Payload::new(0, None)).await);
    }
    comm.wait_all(operations).await;
}

/// Gathers the memory addresses of all ranks, `address` bytes for each port, by recursive doubling.
pub(in crate::program::collective) async fn gather_addresses(comm: Communicator<'_>, ports: u32, address: Bytes) {
    if address.count() > 0 {
        let division = Division::even(address.count() * u64::from(ports), comm.size());
        let mut addresses = Buffer::empty(division.total());
        bruck::recursive_doubling(comm, 0, &division, &mut addresses).await;
    }
}

/// Runs the rings of blocks or sums on all lanes by binary numbers, after gathering the addresses.
pub(in crate::program::collective) async fn addressed_rings(
    comm: Communicator<'_>,
    shape: &[u32],
    (ports, address): (u32, Bytes),
    passes: RingPasses,
    division: &Division,
    data: &mut Buffer,
) {
    gather_addresses(comm, ports, address).await;
    rings(comm, &PortPath::of(shape, ports, Numbers::Binary), passes, Some(division), data).await;
}

/// Runs an all-to-all: in each step, half of all blocks go to the partner in one message.
pub(in crate::program::collective) async fn all_to_all(
    comm: Communicator<'_>,
    lane: PortPath,
    division: &Division,
    data: &Buffer,
) -> Buffer {
    if data.has_numbers() {
        return exchanges::all_to_all(comm, PartnerPattern::Torus(lane), division, data).await;
    }
    comm.pack(division.total()).await;
    for step in 0..lane.steps() {
        let partner = lane.partner(comm.place(), step);
        comm.pack(division.total()).await;
        if comm.awaits_ready(u64::MAX) {
            exchange_ready(comm, std::iter::once((partner, partner))).await;
        }
        comm.exchange(partner, &Payload::new(division.total() / 2, None), partner).await;
    }
    comm.pack(division.total()).await;
    data.clone()
}

/// Runs a reduce-scatter by halving, with an equal part of the message on each port, and an all-gather by the reverse
/// steps.
pub(in crate::program::collective) async fn halving(comm: Communicator<'_>, lanes: &[PortPath], data: &mut Buffer) {
    let whole = Division::even(data.bytes(), 1);
    comm.prepare(lanes[0].steps()).await;
    let layout = PortLayout { lanes, blocks: BlockPositions::Consecutive(whole.one(0)) };
    run_steps(comm, &layout, false, false, data).await;
    run_steps(comm, &layout, true, false, data).await;
}

/// Runs one pass of `halving` on blocks, with an equal part of each block on each port: the reduce-scatter, or, if
/// `back`, the all-gather.
pub(in crate::program::collective) async fn blocks(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    (back, remap): (bool, Remap),
    division: &Division,
    data: &mut Buffer,
) {
    let blocks = if remap == Remap::Send { BlockPositions::ByCode(division) } else { BlockPositions::ByRank(division) };
    let layout = PortLayout { lanes, blocks };
    if !back && remap == Remap::Permute {
        comm.copy(data.bytes()).await;
    }
    if back && remap == Remap::Send {
        permute_to_codes(comm, &lanes[0], back, division, data).await;
    }
    run_steps(comm, &layout, back, remap == Remap::Blocks, data).await;
    if !back && remap == Remap::Send {
        permute_to_codes(comm, &lanes[0], back, division, data).await;
    }
    if back && remap == Remap::Permute {
        comm.copy(data.bytes()).await;
    }
}

/// Sends each block to the rank whose code is the number of the block (`there`), or back.
async fn permute_to_codes(
    comm: Communicator<'_>,
    lane: &PortPath,
    there: bool,
    division: &Division,
    data: &mut Buffer,
) {
    let (numbered, coded) = (lane.with_code(comm.place()), lane.code(comm.place()));
    let (to, from, sent) = if there { (numbered, coded, comm.place()) } else { (coded, numbered, coded) };
    if to != comm.place() {
        let received = comm.exchange(to, &data.take([division.one(sent)]), from).await;
        let wanted = if there { coded } else { comm.place() };
        data.put([division.one(wanted)], &received);
    }
}

/// The bytes of each port in a message of blocks.
struct PortLayout<'a> {
    lanes: &'a [PortPath],
    blocks: BlockPositions<'a>,
}

/// The position of the block of a code.
enum BlockPositions<'a> {
    /// An equal part of the range for each port, divided equally among the codes.
    Consecutive(Range<u64>),
    /// A part for each port of the block of the rank with the code.
    ByRank(&'a Division),
    /// A part for each port of the block whose number is the code.
    ByCode(&'a Division),
}

impl PortLayout<'_> {
    fn part(&self, range: &Range<u64>, port: u32) -> Range<u64> {
        let part = Division::shares(range.end - range.start, count(self.lanes.len())).one(port);
        range.start + part.start..range.start + part.end
    }

    /// Returns the byte ranges of a window of codes; `rank` maps codes to ranks.
    fn ranges(&self, port: u32, codes: Range<u32>, size: u32, rank: impl Fn(u32) -> u32) -> Vec<Range<u64>> {
        match &self.blocks {
            BlockPositions::Consecutive(range) => {
                let part = self.part(range, port);
                let window = Division::shares(part.end - part.start, size).range(codes);
                vec![part.start + window.start..part.start + window.end]
            }
            BlockPositions::ByRank(division) => codes.map(|code| self.part(&division.one(rank(code)), port)).collect(),
            BlockPositions::ByCode(division) => codes.map(|code| self.part(&division.one(code), port)).collect(),
        }
    }

    /// Returns the byte ranges of a window of codes. If positions do not matter and all blocks are equally long,
    /// returns a single range of the same total length.
    fn of(&self, port: u32, codes: Range<u32>, data: &Buffer, rank: impl Fn(u32) -> u32, size: u32) -> Vec<Range<u64>> {
        match &self.blocks {
            BlockPositions::ByRank(division) | BlockPositions::ByCode(division)
                if !data.has_numbers() && division.is_equal() =>
            {
                let part = self.part(&division.one(0), port);
                vec![0..(part.end - part.start) * u64::from(codes.end - codes.start)]
            }
            _ => self.ranges(port, codes, size, rank),
        }
    }
}

/// Runs all steps forwards, halving and summing windows, or backwards, doubling them.
async fn run_steps(comm: Communicator<'_>, layout: &PortLayout<'_>, back: bool, by_block: bool, data: &mut Buffer) {
    let (steps, size) = (layout.lanes[0].steps(), comm.size());
    for step in (0..steps).map(|step| if back { steps - 1 - step } else { step }) {
        let mut receiving = Vec::new();
        let mut sending = Vec::new();
        for (lane, port) in layout.lanes.iter().zip(0..) {
            let partner = lane.partner(comm.place(), step);
            let window = |place: u32| lane.window(lane.code(place), step + 1);
            let ranges = |codes: Range<u32>| -> Vec<Vec<Range<u64>>> {
                let rank = |code| lane.with_code(code);
                if by_block {
                    codes.map(|code| layout.of(port, code..code + 1, data, rank, size)).collect()
                } else {
                    vec![layout.of(port, codes, data, rank, size)]
                }
            };
            let (own, theirs) = (ranges(window(comm.place())), ranges(window(partner)));
            let (sent, wanted) = if back { (own, theirs) } else { (theirs, own) };
            for ranges in wanted {
                receiving.push((ranges, comm.on_port(port).start_receive(partner).await));
            }
            for ranges in sent {
                sending.push(comm.on_port(port).start_send(partner, &data.take(ranges)).await);
            }
        }
        receive_parts(comm, receiving, back, data).await;
        comm.wait_all(sending).await;
    }
}

/// Receives the messages of a step: stores blocks at their places in the reverse pass, adds sums otherwise.
async fn receive_parts(
    comm: Communicator<'_>,
    receiving: Vec<(Vec<Range<u64>>, Operation)>,
    back: bool,
    data: &mut Buffer,
) {
    for (ranges, operation) in receiving {
        let received = comm.received(operation).await;
        if back {
            data.put(ranges, &received);
        } else {
            add(comm, data, &ranges, &received).await;
        }
    }
}

/// The passes around the rings of all dimensions: sums in one dimension after the other, and blocks in reverse order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program::collective) enum RingPasses {
    /// Only the sums.
    Sums,
    /// Only the blocks.
    Blocks,
    /// The sums, then the blocks.
    Both,
}

/// Runs the rings of one dimension after the other, with an equal part of the message, or of each block, on each port.
pub(in crate::program::collective) async fn rings(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    passes: RingPasses,
    division: Option<&Division>,
    data: &mut Buffer,
) {
    let whole = Division::even(data.bytes(), 1);
    let blocks = division.map_or_else(|| BlockPositions::Consecutive(whole.one(0)), BlockPositions::ByRank);
    let layout = PortLayout { lanes, blocks };
    if passes == RingPasses::Both {
        comm.pack_alone(data.bytes()).await;
    } else {
        comm.pack(data.bytes()).await;
    }
    for (number, (steps, back)) in ring_phases(&lanes[0], passes).into_iter().enumerate() {
        if number > 0 {
            comm.restart_threads().await;
        }
        for step in steps {
            ring_step(comm, &layout, (step, back), data).await;
        }
    }
}

/// Returns the steps of each phase, around the rings of one dimension in one direction, and whether they go back.
fn ring_phases(lane: &PortPath, passes: RingPasses) -> Vec<(Vec<u32>, bool)> {
    let mut first = 0;
    let of_dimension = |dimension| {
        let steps = first..first + lane.side(dimension) - 1;
        first = steps.end;
        steps
    };
    let dimensions: Vec<_> = (0..lane.dimensions).map(of_dimension).filter(|steps| !steps.is_empty()).collect();
    let sums = dimensions.iter().filter(|_| passes != RingPasses::Blocks).map(|steps| (steps.clone().collect(), false));
    let blocks = dimensions.iter().rev().filter(|_| passes != RingPasses::Sums);
    sums.chain(blocks.map(|steps| (steps.clone().rev().collect(), true))).collect()
}

async fn ring_step(comm: Communicator<'_>, layout: &PortLayout<'_>, (step, back): (u32, bool), data: &mut Buffer) {
    let size = comm.size();
    let ways: Vec<_> = layout.lanes.iter().map(|lane| lane.ring(comm.place(), step, size).reversed(back)).collect();
    if comm.awaits_ready(data.bytes()) {
        exchange_ready(comm, ways.iter().map(|ring| (ring.before, ring.behind))).await;
    }
    let mut receiving = Vec::new();
    let mut sending = Vec::new();
    for ((lane, ring), port) in layout.lanes.iter().zip(ways).zip(0..) {
        let rank = |code| lane.with_ring_code(code);
        let wanted = layout.of(port, ring.wanted, data, rank, size);
        receiving.push((wanted, comm.on_port(port).start_receive(ring.before).await));
        let sent = layout.of(port, ring.sent, data, rank, size);
        sending.push(comm.on_port(port).start_send(ring.behind, &data.take(sent)).await);
    }
    receive_parts(comm, receiving, back, data).await;
    comm.wait_all(sending).await;
}
