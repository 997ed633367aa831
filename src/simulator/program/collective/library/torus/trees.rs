//! Trees that cycle through the dimensions of a torus, one for each port.

use super::super::buffer::{Buffer, Division};
use super::super::butterfly::add;
use super::super::communicator::{Communicator, count};
use super::super::lane::{LaneTree, PortPath};
use super::{BlockPositions, PortLayout, run_steps};
use crate::program::collective::payload::Payload;
use crate::program::process::Operation;
use std::collections::BTreeMap;
use std::ops::Range;

/// A function that returns the bytes of a port that are sent to, or received from, the subtree of a place. The last
/// argument tells whether their actual positions are needed, because they carry values.
type Ranges<'a> = &'a dyn Fn(u32, u32, bool) -> Vec<Range<u64>>;

/// Runs a broadcast with an equal part of the message down the tree of each port; parts are sent on in the order of
/// their arrival.
pub(in crate::program::collective) async fn broadcast(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    root: u32,
    data: &mut Buffer,
) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    let (parents, children): (Vec<_>, Vec<_>) =
        lanes.iter().map(|lane| lane.tree(comm.place(), LaneTree::halving(root))).unzip();
    let mut under_way = Vec::new();
    let mut open = Vec::new();
    for (parent, port) in parents.into_iter().zip(0..) {
        if let Some(parent) = parent {
            open.push((port, comm.on_port(port).start_receive(parent).await));
        } else {
            let message = data.take([parts.one(port)]);
            send_down(comm, port, &children[port as usize], &message, &mut under_way).await;
        }
    }
    while !open.is_empty() {
        let (port, received) = next(comm, &mut open).await;
        data.put([parts.one(port)], &received);
        send_down(comm, port, &children[port as usize], &received, &mut under_way).await;
    }
    comm.wait_all(under_way).await;
}

async fn send_down(
    comm: Communicator<'_>,
    port: u32,
    children: &[u32],
    message: &Payload,
    under_way: &mut Vec<Operation>,
) {
    for child in children {
        under_way.push(comm.on_port(port).start_send(*child, message).await);
    }
}

/// Waits for the next of several receives to complete; returns its port and payload.
async fn next(comm: Communicator<'_>, open: &mut Vec<(u32, Operation)>) -> (u32, Payload) {
    let operations: Vec<_> = open.iter().map(|(_, operation)| *operation).collect();
    let (port, operation) = open.remove(comm.me().wait_any(&operations).await);
    (port, comm.received(operation).await)
}

/// Runs a scatter with an equal part of each block down the tree of each port, with copies between the order of the
/// blocks and that of the trees.
pub(in crate::program::collective) async fn scatter(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    tree: LaneTree,
    division: &Division,
    data: &mut Buffer,
) {
    let of = blocks_of_subtrees(lanes, tree, division);
    if comm.place() == tree.root {
        comm.copy(data.bytes()).await;
    }
    let mut under_way = Vec::new();
    let mut open = Vec::new();
    for (lane, port) in lanes.iter().zip(0..) {
        match lane.tree(comm.place(), tree).0 {
            Some(parent) => open.push((port, comm.on_port(port).start_receive(parent).await)),
            None => send_blocks(comm, port, lane, tree, &of, data, &mut under_way).await,
        }
    }
    while !open.is_empty() {
        let (port, received) = next(comm, &mut open).await;
        data.put(of(port, comm.place(), received.values.is_some()), &received);
        let lane = &lanes[port as usize];
        send_blocks(comm, port, lane, tree, &of, data, &mut under_way).await;
    }
    comm.wait_all(under_way).await;
    comm.copy(division.one(comm.place()).end - division.one(comm.place()).start).await;
}

async fn send_blocks(
    comm: Communicator<'_>,
    port: u32,
    lane: &PortPath,
    tree: LaneTree,
    of: Ranges<'_>,
    data: &Buffer,
    under_way: &mut Vec<Operation>,
) {
    for child in lane.tree(comm.place(), tree).1 {
        under_way.push(comm.on_port(port).start_send(child, &data.take(of(port, child, data.has_numbers()))).await);
    }
}

fn blocks_of_subtrees<'a>(
    lanes: &'a [PortPath],
    tree: LaneTree,
    division: &'a Division,
) -> impl Fn(u32, u32, bool) -> Vec<Range<u64>> + use<'a> {
    let ports = count(lanes.len());
    move |port: u32, place: u32, has_numbers: bool| {
        let lane = &lanes[port as usize];
        if !has_numbers && division.is_equal() {
            // In a tree of powers of two, the number of children determines the size of the subtree.
            let part = Division::shares(division.start(1), ports).one(port);
            return vec![0..(part.end - part.start) << lane.tree(place, tree).1.len()];
        }
        let ranks = lane.subtree(place, tree);
        let part = |rank: u32| {
            let block = division.one(rank);
            let part = Division::shares(block.end - block.start, ports).one(port);
            block.start + part.start..block.start + part.end
        };
        ranks.into_iter().map(part).collect()
    }
}

/// An outstanding receive in an upward tree.
enum UpwardReceive {
    /// The data of a child.
    Data(u32),
    /// The notification that the parent is ready.
    Ready,
}

/// Runs a reduce up the same trees: sums of an equal part of the message, one port after the other.
pub(in crate::program::collective) async fn reduce(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    root: u32,
    data: &mut Buffer,
) {
    let parts = Division::shares(data.bytes(), count(lanes.len()));
    for (lane, port) in lanes.iter().zip(0..) {
        let tree = LaneTree::halving(root);
        upwards(comm, &[(port, lane)], tree, true, &|port, _, _| vec![parts.one(port)], data).await;
    }
}

/// Runs a gather with an equal part of each block up the tree of each port, with copies between the order of the blocks
/// and that of the trees.
pub(in crate::program::collective) async fn gather(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    tree: LaneTree,
    division: &Division,
    data: &mut Buffer,
) {
    let of = blocks_of_subtrees(lanes, tree, division);
    comm.copy(division.one(comm.place()).end - division.one(comm.place()).start).await;
    let trees: Vec<_> = (0..).zip(lanes).collect();
    upwards(comm, &trees, tree, false, &of, data).await;
    if comm.place() == tree.root {
        comm.copy(data.bytes()).await;
    }
}

async fn upwards(
    comm: Communicator<'_>,
    lanes: &[(u32, &PortPath)],
    tree: LaneTree,
    sums: bool,
    ranges: Ranges<'_>,
    data: &mut Buffer,
) {
    let asks = sums && comm.awaits_ready(data.bytes());
    let mut up =
        UpwardTrees { comm, ranges, asks, sums, trees: BTreeMap::new(), open: Vec::new(), under_way: Vec::new() };
    for (port, lane) in lanes.iter().copied() {
        let (parent, mut children) = lane.tree(comm.place(), tree);
        // The first child to arrive is the last one that the tree reaches.
        let waiting = if asks { std::mem::take(&mut children) } else { Vec::new() };
        let missing = children.len() + waiting.len();
        up.trees.insert(port, PortTree { parent, waiting, missing });
        for child in children.into_iter().rev() {
            up.receive(port, child).await;
        }
    }
    for (port, _) in lanes {
        up.advance(*port, data).await;
    }
    up.finish(data).await;
}

/// The state of a rank in the upward trees of all ports.
struct UpwardTrees<'a> {
    comm: Communicator<'a>,
    ranges: Ranges<'a>,
    /// `true` if parents notify their children that they are ready.
    asks: bool,
    sums: bool,
    trees: BTreeMap<u32, PortTree>,
    open: Vec<(u32, UpwardReceive, Operation)>,
    under_way: Vec<Operation>,
}

/// The state of a rank in the tree of one port.
struct PortTree {
    parent: Option<u32>,
    /// Children that have not been asked to send, the next one last.
    waiting: Vec<u32>,
    /// Number of children whose data have not arrived.
    missing: usize,
}

impl UpwardTrees<'_> {
    async fn receive(&mut self, port: u32, child: u32) {
        let operation = self.comm.on_port(port).start_receive(child).await;
        self.open.push((port, UpwardReceive::Data(child), operation));
    }

    /// Asks the next child to send, or passes the data on to the parent if all children are done.
    async fn advance(&mut self, port: u32, data: &Buffer) {
        let tree = self.trees.get_mut(&port).expect("receives are on the ports of the call");
        if let Some(child) = tree.waiting.pop() {
            let ready = Payload::new(0, None);
            self.under_way.push(self.comm.on_port(port).start_send(child, &ready).await);
            return self.receive(port, child).await;
        }
        let Some(parent) = tree.parent.filter(|_| tree.missing == 0) else { return };
        if self.asks {
            let operation = self.comm.on_port(port).start_receive(parent).await;
            self.open.push((port, UpwardReceive::Ready, operation));
        } else {
            self.send_up(port, data).await;
        }
    }

    async fn send_up(&mut self, port: u32, data: &Buffer) {
        let parent = self.trees[&port].parent.expect("only a rank other than the root sends to its parent");
        let message = data.take((self.ranges)(port, self.comm.place(), data.has_numbers()));
        self.under_way.push(self.comm.on_port(port).start_send(parent, &message).await);
    }

    async fn finish(&mut self, data: &mut Buffer) {
        while !self.open.is_empty() {
            let operations: Vec<_> = self.open.iter().map(|(_, _, operation)| *operation).collect();
            let (port, kind, operation) = self.open.remove(self.comm.me().wait_any(&operations).await);
            let received = self.comm.received(operation).await;
            let UpwardReceive::Data(child) = kind else {
                self.send_up(port, data).await;
                continue;
            };
            let ranges = (self.ranges)(port, child, received.values.is_some());
            if self.sums {
                add(self.comm, data, &ranges, &received).await;
            } else {
                data.put(ranges, &received);
            }
            self.trees.get_mut(&port).expect("receives are on the ports of the call").missing -= 1;
            self.advance(port, data).await;
        }
        self.comm.wait_all(std::mem::take(&mut self.under_way)).await;
    }
}

/// Returns a place and all its descendants in pre-order: the order in which their blocks arrive.
fn downwards(lane: &PortPath, place: u32, tree: LaneTree) -> Vec<u32> {
    let children = lane.tree(place, tree).1;
    let below = children.into_iter().flat_map(|child| downwards(lane, child, tree));
    std::iter::once(place).chain(below).collect()
}

/// Runs a broadcast as a scatter, block by block, down trees that reach the nearest ranks first, and an all-gather by
/// the reverse steps. Each port handles an equal part of the message.
pub(in crate::program::collective) async fn scatter_by_block(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    root: u32,
    data: &mut Buffer,
) {
    let layout = PortLayout { lanes, blocks: BlockPositions::Consecutive(0..data.bytes()) };
    let relays = lanes.iter().map(|lane| relays(lane, comm.place(), root)).collect();
    let mut scatter = BlockScatter { comm, layout: &layout, relays, under_way: Vec::new() };
    let open = scatter.start_receives(root).await;
    if comm.place() == root {
        scatter.send_all(data).await;
    }
    scatter.pass_on(open, data).await;
    comm.wait_all(scatter.under_way).await;
    run_steps(comm, &layout, true, false, data).await;
}

/// Returns the children to which a place passes blocks on, each with the rank that the block is destined for, in order.
fn relays(lane: &PortPath, place: u32, root: u32) -> Vec<(u32, u32)> {
    let children = lane.tree(place, scattered(root)).1;
    let of_child = |child: u32| downwards(lane, child, scattered(root)).into_iter().map(move |rank| (child, rank));
    children.into_iter().flat_map(of_child).collect()
}

/// Returns the tree of a scatter by block.
const fn scattered(root: u32) -> LaneTree {
    LaneTree::doubling(root)
}

/// The state of a rank in the trees of a scatter by block.
struct BlockScatter<'a> {
    comm: Communicator<'a>,
    layout: &'a PortLayout<'a>,
    /// The children and destination ranks of the blocks to be passed on, by port.
    relays: Vec<Vec<(u32, u32)>>,
    under_way: Vec<Operation>,
}

impl BlockScatter<'_> {
    fn range(&self, port: u32, rank: u32) -> Vec<Range<u64>> {
        let code = self.layout.lanes[port as usize].code(rank);
        self.layout.ranges(port, code..code + 1, self.comm.size(), |_| 0)
    }

    /// Starts the receives of all expected blocks and returns them with their ports.
    async fn start_receives(&self, root: u32) -> Vec<(u32, Operation)> {
        let mut open = Vec::new();
        for ((lane, relays), port) in self.layout.lanes.iter().zip(&self.relays).zip(0..) {
            if let Some(parent) = lane.tree(self.comm.place(), scattered(root)).0 {
                for _ in 0..=relays.len() {
                    open.push((port, self.comm.on_port(port).start_receive(parent).await));
                }
            }
        }
        open
    }

    /// Sends all blocks, on the root.
    async fn send_all(&mut self, data: &Buffer) {
        for (relays, port) in self.relays.iter().zip(0..) {
            for (child, rank) in relays {
                let block = data.take(self.range(port, *rank));
                self.under_way.push(self.comm.on_port(port).start_send(*child, &block).await);
            }
        }
    }

    /// Receives this rank's own block, then those of the children in order, and passes the latter on.
    async fn pass_on(&mut self, mut open: Vec<(u32, Operation)>, data: &mut Buffer) {
        let mut come = vec![0_usize; self.relays.len()];
        while !open.is_empty() {
            let (port, received) = next(self.comm, &mut open).await;
            let place = come[port as usize];
            come[port as usize] += 1;
            if place == 0 {
                data.put(self.range(port, self.comm.place()), &received);
            } else {
                let (child, rank) = self.relays[port as usize][place - 1];
                data.put(self.range(port, rank), &received);
                self.under_way.push(self.comm.on_port(port).start_send(child, &received).await);
            }
        }
    }
}

/// Runs a reduce as a reduce-scatter by halving and a gather up the trees of the same steps. Each port handles an equal
/// part of the message.
pub(in crate::program::collective) async fn reduce_scatter_gather(
    comm: Communicator<'_>,
    lanes: &[PortPath],
    root: u32,
    data: &mut Buffer,
) {
    let layout = PortLayout { lanes, blocks: BlockPositions::Consecutive(0..data.bytes()) };
    comm.copy(data.bytes()).await;
    run_steps(comm, &layout, false, false, data).await;
    let ranges = |port: u32, place: u32, _: bool| {
        let lane = &lanes[port as usize];
        // Places below another one share its code up to the step in which it is reached.
        let below = lane.steps() - count(lane.tree(place, LaneTree::doubling(root)).1.len());
        layout.ranges(port, lane.window(lane.code(place), below), comm.size(), |_| 0)
    };
    let trees: Vec<_> = (0..).zip(lanes).collect();
    upwards(comm, &trees, LaneTree::doubling(root), false, &ranges, data).await;
}
