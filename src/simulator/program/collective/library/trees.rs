//! Operations along a tree of any shape.

use super::buffer::{Buffer, Division, Segments};
use super::communicator::Communicator;
use super::shape::TreeShape;
use crate::node::Scratch;
use crate::program::collective::payload::Payload;
use std::ops::Range;

/// Runs a broadcast down a tree, segment by segment: the receive of the next segment is posted before the current one
/// is sent on.
pub(in crate::program::collective) async fn broadcast(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    segment: u64,
    data: &mut Buffer,
) {
    let (number, size) = (comm.number(root), comm.size());
    let children = places(comm, root, shape.children(number, size));
    let segments = Segments::new(data.bytes(), segment);
    let Some(parent) = shape.parent(number, size) else {
        for index in 0..segments.count() {
            comm.send_to_all(&children, &data.take([segments.range(index)])).await;
        }
        return;
    };
    pass_on(comm, comm.numbered(root, parent), &children, segments, data).await;
}

/// Passes a message on from the parent to the children, segment by segment.
async fn pass_on(comm: Communicator<'_>, parent: u32, children: &[u32], segments: Segments, data: &mut Buffer) {
    let mut next = comm.start_receive(parent).await;
    for index in 0..segments.count() {
        let current = next;
        if index + 1 < segments.count() {
            next = comm.start_receive(parent).await;
        }
        let received = comm.received(current).await;
        data.put([segments.range(index)], &received);
        comm.send_to_all(children, &received).await;
    }
}

/// Runs a broadcast in which the root sends to all ranks at once, in their order.
pub(in crate::program::collective) async fn linear_broadcast(comm: Communicator<'_>, root: u32, data: &mut Buffer) {
    let whole = 0..data.bytes();
    if comm.place() == root {
        let others: Vec<u32> = (0..comm.size()).filter(|place| *place != root).collect();
        comm.send_to_all(&others, &data.take([whole])).await;
    } else {
        data.put([whole], &comm.receive(root).await);
    }
}

/// Runs a reduce up a tree, segment by segment: the next receive is posted while a message is added. The sum is
/// complete on the root.
pub(in crate::program::collective) async fn reduce(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    segment: u64,
    data: &mut Buffer,
) {
    // The in-order tree has its own root, independent of the root of the operation.
    let (number, size) = (comm.number(root), comm.size());
    let children = places(comm, root, shape.children_upwards(number, size));
    let parent = shape.parent(number, size).map(|parent| comm.numbered(root, parent));
    let segments = Segments::new(data.bytes(), segment);
    comm.allocate(sums(data.bytes(), segment, children.len(), parent.is_none())).await;
    let mut next = None;
    if let Some(first) = children.first() {
        next = Some(comm.start_receive(*first).await);
    }
    for index in 0..segments.count() {
        let range = segments.range(index);
        for child in 1..=children.len() {
            let current = next.take().expect("a receive was started for every child");
            if child < children.len() {
                next = Some(comm.start_receive(children[child]).await);
            } else if index + 1 < segments.count() {
                next = Some(comm.start_receive(children[0]).await);
            }
            let received = comm.received(current).await;
            data.sum([range.clone()], &received);
            comm.add(received.bytes).await;
        }
        if let Some(parent) = parent {
            comm.send(parent, &data.take([range])).await;
        }
    }
}

/// Returns the buffers of a rank: up to two segments that arrive alternately and, except on the root, the sums.
fn sums(bytes: u64, segment: u64, children: usize, is_root: bool) -> Scratch {
    let length = if segment == 0 { bytes } else { segment.min(bytes) };
    let arriving = vec![length; if length < bytes { 2.min(2 * children) } else { children.min(2) }];
    let sums = (!is_root && children > 0).then_some(bytes);
    let buffers: Vec<u64> = arriving.into_iter().chain(sums).collect();
    Scratch::of(&buffers).with(buffers.len() as u64, length)
}

/// Runs a reduce up the in-order binary tree to the last rank, which hands the sum to the root.
pub(in crate::program::collective) async fn reduce_in_order(
    comm: Communicator<'_>,
    root: u32,
    segment: u64,
    data: &mut Buffer,
) {
    reduce(comm, TreeShape::InOrder, 0, segment, data).await;
    let (last, whole) = (comm.size() - 1, 0..data.bytes());
    if last == root {
        return;
    }
    if comm.place() == last {
        comm.send(root, &data.take([whole])).await;
    } else if comm.place() == root {
        let sum = comm.receive(last).await;
        *data = Buffer::empty(data.bytes());
        data.put([whole], &sum);
    }
}

/// Runs a reduce in which the root receives directly from each rank, from the last one on, and adds. Its own message is
/// added at its place in this order.
pub(in crate::program::collective) async fn linear_reduce(comm: Communicator<'_>, root: u32, data: &mut Buffer) {
    let whole = 0..data.bytes();
    if comm.place() != root {
        comm.send(root, &data.take([whole])).await;
        return;
    }
    comm.allocate(Scratch::of(&[data.bytes()]).with(1, data.bytes())).await;
    for place in (0..comm.size()).rev() {
        if place != root {
            data.sum([whole.clone()], &comm.receive(place).await);
        }
        // The first message has nothing to be added to.
        if place + 1 < comm.size() {
            comm.add(data.bytes()).await;
        }
    }
}

/// Runs a reduce in which all ranks send directly to the root, whose receives all begin at once and which adds in rank
/// order.
pub(in crate::program::collective) async fn linear_reduce_at_once(
    comm: Communicator<'_>,
    root: u32,
    data: &mut Buffer,
) {
    let whole = 0..data.bytes();
    if comm.place() != root {
        comm.send(root, &data.take([whole])).await;
        return;
    }
    let others = (0..comm.size()).filter(|place| *place != root);
    let mut started = comm.start(others, std::iter::empty::<(u32, Payload)>()).await;
    while let Some((_, received)) = started.next().await {
        data.sum([whole.clone()], &received);
        comm.add(received.bytes).await;
    }
}

/// Runs a gather up a tree: each rank passes on the blocks of its whole subtree in one message.
pub(in crate::program::collective) async fn gather(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let (number, size) = (comm.number(root), comm.size());
    comm.allocate(subtree(shape, number, size, division)).await;
    for child in shape.children_upwards(number, size) {
        let received = comm.receive(comm.numbered(root, child)).await;
        data.put(blocks(comm, shape, root, child, division), &received);
    }
    if let Some(parent) = shape.parent(number, size) {
        let held = data.take(blocks(comm, shape, root, number, division));
        comm.send(comm.numbered(root, parent), &held).await;
    }
}

/// Runs a scatter down a tree: each rank receives the blocks of its whole subtree in one message.
pub(in crate::program::collective) async fn scatter(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let (number, size) = (comm.number(root), comm.size());
    comm.allocate(subtree(shape, number, size, division)).await;
    if let Some(parent) = shape.parent(number, size) {
        let received = comm.receive(comm.numbered(root, parent)).await;
        data.put(blocks(comm, shape, root, number, division), &received);
    }
    for child in shape.children(number, size) {
        let held = data.take(blocks(comm, shape, root, child, division));
        comm.send(comm.numbered(root, child), &held).await;
    }
}

/// Returns the buffer for the blocks of the subtree of a rank; none on the root and on leaves.
fn subtree(shape: TreeShape, number: u32, size: u32, division: &Division) -> Scratch {
    let children = shape.children(number, size).len() as u64;
    if children == 0 || shape.parent(number, size).is_none() {
        return Scratch::default();
    }
    let bytes = division.total() / u64::from(size) * shape.subtree(number, size).len() as u64;
    Scratch::of(&[bytes]).with(children + 1, bytes / 2)
}

/// Runs a gather in which each rank sends its block to the root, which receives the blocks in rank order.
pub(in crate::program::collective) async fn linear_gather(
    comm: Communicator<'_>,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    if comm.place() != root {
        comm.send(root, &data.take([division.one(comm.place())])).await;
        return;
    }
    for place in (0..comm.size()).filter(|place| *place != root) {
        let received = comm.receive(place).await;
        data.put([division.one(place)], &received);
    }
}

/// Runs a gather in which each rank sends its block to the root, whose receives all begin at once.
pub(in crate::program::collective) async fn linear_gather_at_once(
    comm: Communicator<'_>,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    if comm.place() != root {
        comm.send(root, &data.take([division.one(comm.place())])).await;
        return;
    }
    let others = (0..comm.size()).filter(|place| *place != root);
    let mut started = comm.start(others, std::iter::empty::<(u32, Payload)>()).await;
    while let Some((from, received)) = started.next().await {
        data.put([division.one(from)], &received);
    }
}

/// Runs a gather in which the root calls one rank after the other, which then sends a first segment and the remainder
/// of its block.
pub(in crate::program::collective) async fn synchronised_gather(
    comm: Communicator<'_>,
    root: u32,
    first: u64,
    division: &Division,
    data: &mut Buffer,
) {
    let cut = |place: u32| {
        let block = division.one(place);
        let middle = if first == 0 { block.end } else { block.end.min(block.start + first) };
        [block.start..middle, middle..block.end]
    };
    let call = Payload::new(0, None);
    if comm.place() != root {
        comm.receive(root).await;
        for segment in cut(comm.place()) {
            comm.send(root, &data.take([segment])).await;
        }
        return;
    }
    let mut rests = Vec::new();
    for place in (0..comm.size()).filter(|place| *place != root) {
        let beginning = comm.start_receive(place).await;
        comm.send(place, &call).await;
        rests.push((place, comm.start_receive(place).await));
        let received = comm.received(beginning).await;
        data.put([cut(place)[0].clone()], &received);
    }
    for (place, rest) in rests {
        let received = comm.received(rest).await;
        data.put([cut(place)[1].clone()], &received);
    }
}

/// Runs a scatter in which the root sends each rank its block, one after the other or all at once, in rank order.
pub(in crate::program::collective) async fn linear_scatter(
    comm: Communicator<'_>,
    root: u32,
    at_once: bool,
    division: &Division,
    data: &mut Buffer,
) {
    if comm.place() != root {
        data.put([division.one(comm.place())], &comm.receive(root).await);
        return;
    }
    let mut under_way = Vec::new();
    for place in (0..comm.size()).filter(|place| *place != root) {
        let block = data.take([division.one(place)]);
        if at_once {
            under_way.push(comm.start_send(place, &block).await);
        } else {
            comm.send(place, &block).await;
        }
    }
    comm.wait_all(under_way).await;
}

/// Runs a broadcast down the level-by-level binary tree, one half of the message on each side; then pairs of the two
/// sides exchange their halves.
pub(in crate::program::collective) async fn split_binary_broadcast(
    comm: Communicator<'_>,
    root: u32,
    segment: u64,
    data: &mut Buffer,
) {
    let (number, size) = (comm.number(root), comm.size());
    // The first half is the longer one.
    let middle = data.bytes() - Division::shares(data.bytes(), 2).start(1);
    let halves = [0..middle, middle..data.bytes()];
    if size < 3 || halves.iter().any(|half| half.is_empty() || segment > half.end - half.start) {
        return broadcast(comm, TreeShape::Chains(1), root, segment, data).await;
    }
    let children = TreeShape::Levels(2).children(number, size);
    let segments = [&halves[0], &halves[1]].map(|half| Segments::of(half, segment));
    match TreeShape::Levels(2).parent(number, size) {
        None => send_halves(comm, root, &children, segments, data).await,
        Some(parent) => {
            let children = places(comm, root, children);
            pass_on(comm, comm.numbered(root, parent), &children, segments[side(number)], data).await;
        }
    }
    swap_halves(comm, root, &halves, data).await;
}

/// Returns the half of the message that goes down the side of the tree that a number is on.
fn side(number: u32) -> usize {
    usize::from(number.is_multiple_of(2))
}

/// Sends the halves from the root to its children, segment by segment.
async fn send_halves(comm: Communicator<'_>, root: u32, children: &[u32], segments: [Segments; 2], data: &Buffer) {
    for index in 0..segments[0].count().max(segments[1].count()) {
        let mut under_way = Vec::new();
        for child in children.iter().copied() {
            let segments = segments[side(child)];
            if index < segments.count() {
                let part = data.take([segments.range(index)]);
                under_way.push(comm.start_send(comm.numbered(root, child), &part).await);
            }
        }
        comm.wait_all(under_way).await;
    }
}

/// Exchanges the halves within the pairs of numbers 1 and 2, 3 and 4, …. If the number of ranks is even, the last
/// number has no partner and receives the second half from the root.
async fn swap_halves(comm: Communicator<'_>, root: u32, halves: &[Range<u64>; 2], data: &mut Buffer) {
    let (number, size) = (comm.number(root), comm.size());
    let last = size.is_multiple_of(2).then(|| size - 1);
    if number == 0 {
        if let Some(last) = last {
            comm.send(comm.numbered(root, last), &data.take([halves[1].clone()])).await;
        }
    } else if Some(number) == last {
        data.put([halves[1].clone()], &comm.receive(root).await);
    } else {
        let own = side(number);
        let partner = comm.numbered(root, if own == 0 { number + 1 } else { number - 1 });
        let received = comm.exchange(partner, &data.take([halves[own].clone()]), partner).await;
        data.put([halves[1 - own].clone()], &received);
    }
}

fn places(comm: Communicator<'_>, root: u32, numbers: Vec<u32>) -> Vec<u32> {
    numbers.into_iter().map(|number| comm.numbered(root, number)).collect()
}

/// Returns the blocks of a subtree.
fn blocks(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    number: u32,
    division: &Division,
) -> impl Iterator<Item = Range<u64>> {
    let numbers = shape.subtree(number, comm.size());
    numbers.into_iter().map(move |number| division.one(comm.numbered(root, number)))
}

/// Runs a scatter down a tree of consecutive numbers, in which number i receives part i of the message. Subtrees whose
/// parts are empty receive nothing.
pub(in crate::program::collective) async fn scatter_numbers(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let (number, size) = (comm.number(root), comm.size());
    let parts = |number: u32| {
        let numbers = shape.subtree(number, size);
        numbers.into_iter().map(|number| division.one(number)).collect::<Vec<_>>()
    };
    let is_empty = |parts: &[Range<u64>]| parts.iter().all(Range::is_empty);
    if let Some(parent) = shape.parent(number, size).filter(|_| !is_empty(&parts(number))) {
        let received = comm.receive(comm.numbered(root, parent)).await;
        data.put(parts(number), &received);
    }
    for child in shape.children(number, size) {
        let parts = parts(child);
        if !is_empty(&parts) {
            comm.send(comm.numbered(root, child), &data.take(parts)).await;
        }
    }
}

/// Runs a broadcast down a tree that sends the whole message to one child after the other.
pub(in crate::program::collective) async fn broadcast_in_turn(
    comm: Communicator<'_>,
    shape: TreeShape,
    root: u32,
    data: &mut Buffer,
) {
    let (number, size) = (comm.number(root), comm.size());
    let whole = 0..data.bytes();
    let message = match shape.parent(number, size) {
        Some(parent) => comm.receive(comm.numbered(root, parent)).await,
        None => data.take([whole.clone()]),
    };
    data.put([whole], &message);
    for child in shape.children(number, size) {
        comm.send(comm.numbered(root, child), &message).await;
    }
}
