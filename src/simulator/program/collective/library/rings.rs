//! Operations around a ring, between neighbours, and among all pairs of ranks.

use super::buffer::{Buffer, Division, Segments};
use super::butterfly::add;
use super::communicator::Communicator;
use crate::node::Scratch;

/// Runs an all-gather around a ring, one part a step; number i, counted from `root`, initially holds part i.
pub(in crate::program::collective) async fn all_gather(
    comm: Communicator<'_>,
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let (size, number) = (comm.size(), comm.number(root));
    let mut travelling = data.take([division.one(number)]);
    for step in 1..size {
        travelling = comm.exchange(comm.behind(1), &travelling, comm.before(1)).await;
        let part = (number + size - step) % size;
        data.put([division.one(part)], &travelling);
    }
}

/// Runs an all-reduce around a ring, one part a step. In the reduce-scatter, each part is divided into segments that
/// travel one after the other; the all-gather moves whole parts.
pub(in crate::program::collective) async fn all_reduce(comm: Communicator<'_>, segment: u64, data: &mut Buffer) {
    let (size, place) = (comm.size(), comm.place());
    let division = Division::shares(data.bytes(), size);
    let longest = division.total().div_ceil(u64::from(size));
    comm.allocate(two_parts(longest)).await;
    let phases = Segments::new(longest, segment).count();
    let range = |part: u32, phase: u64| {
        let part = division.one(part);
        let length = part.end - part.start;
        let cut = |phase: u64| part.start + (u128::from(length) * u128::from(phase) / u128::from(phases)) as u64;
        cut(phase)..cut(phase + 1)
    };
    for phase in 0..phases {
        let mut travelling = data.take([range(place, phase)]);
        for step in 1..size {
            let part = (place + size - step) % size;
            let received = comm.exchange(comm.behind(1), &travelling, comm.before(1)).await;
            add(comm, data, &[range(part, phase)], &received).await;
            travelling = data.take([range(part, phase)]);
        }
    }
    // The sum of the part after this rank's own is complete.
    all_gather_from(comm, 1, &division, data).await;
}

/// Returns two buffers of a part, which receive parts alternately.
pub(in crate::program::collective) fn two_parts(bytes: u64) -> Scratch {
    Scratch::of(&[bytes, bytes]).with(2, bytes)
}

/// Returns the buffers for the sums of `parts` parts, one of which is sent in each step, and two buffers that receive
/// parts alternately.
pub(in crate::program::collective) fn all_parts(bytes: u64, parts: u32) -> Scratch {
    let part = bytes.div_ceil(u64::from(parts));
    Scratch::of(&[bytes, part, part]).with(u64::from(parts) + 1, part)
}

/// Runs an all-gather around a ring in which each rank begins with the part that follows its own by `first`.
async fn all_gather_from(comm: Communicator<'_>, first: u32, division: &Division, data: &mut Buffer) {
    let (size, place) = (comm.size(), comm.place());
    let part = |step: u32| (place + first + size - step) % size;
    let mut travelling = data.take([division.one(part(0))]);
    for step in 1..size {
        travelling = comm.exchange(comm.behind(1), &travelling, comm.before(1)).await;
        data.put([division.one(part(step))], &travelling);
    }
}

/// Runs an all-gather in which neighbours exchange the parts that they received last, on alternating sides; two parts a
/// step after the first. An odd number of ranks uses a ring instead.
pub(in crate::program::collective) async fn neighbour_exchange(
    comm: Communicator<'_>,
    division: &Division,
    data: &mut Buffer,
) {
    let (size, place) = (comm.size(), comm.place());
    if !size.is_multiple_of(2) {
        return all_gather(comm, 0, division, data).await;
    }
    let even = place.is_multiple_of(2);
    let sides = if even { [comm.behind(1), comm.before(1)] } else { [comm.before(1), comm.behind(1)] };
    let received = comm.exchange(sides[0], &data.take([division.one(place)]), sides[0]).await;
    data.put([division.one(sides[0])], &received);
    // The pairs of parts that arrive from either side are two places farther away each time.
    let own = place / 2 * 2;
    let mut last = data.take(division.around(own, 2));
    for step in 1..size / 2 {
        let side = (step % 2) as usize;
        let reach = step / 2 * 2 + step % 2 * 2;
        let forward = even == (side == 0);
        let first = if forward { (own + reach) % size } else { (own + size - reach) % size };
        last = comm.exchange(sides[side], &last, sides[side]).await;
        data.put(division.around(first, 2), &last);
    }
}

/// Runs an all-gather that begins all receives and sends between all pairs of ranks at once.
pub(in crate::program::collective) async fn all_gather_at_once(
    comm: Communicator<'_>,
    division: &Division,
    data: &mut Buffer,
) {
    let own = data.take([division.one(comm.place())]);
    let mut started = comm.start_with_all(&own).await;
    while let Some((from, received)) = started.next().await {
        data.put([division.one(from)], &received);
    }
}

/// Runs an all-reduce in which each rank receives the messages of all others and adds them up.
pub(in crate::program::collective) async fn all_reduce_at_once(comm: Communicator<'_>, data: &mut Buffer) {
    let whole = [0..data.bytes()];
    let own = data.take(whole.clone());
    let mut started = comm.start_with_all(&own).await;
    while let Some((_, received)) = started.next().await {
        add(comm, data, &whole, &received).await;
    }
}

/// Runs a reduce-scatter: in step k, each rank sends the rank that follows it by k this rank's part of its message and
/// adds the part that it receives.
pub(in crate::program::collective) async fn pairwise_reduce_scatter(
    comm: Communicator<'_>,
    division: &Division,
    data: &mut Buffer,
) {
    let own = [division.one(comm.place())];
    for step in 1..comm.size() {
        let to = comm.behind(step);
        let received = comm.exchange(to, &data.take([division.one(to)]), comm.before(step)).await;
        add(comm, data, &own, &received).await;
    }
}

/// Runs a reduce-scatter around a ring, one part a step: the sum of a part accumulates on the way to its rank.
pub(in crate::program::collective) async fn ring_reduce_scatter(
    comm: Communicator<'_>,
    division: &Division,
    data: &mut Buffer,
) {
    comm.allocate(all_parts(data.bytes(), comm.size())).await;
    for step in 1..comm.size() {
        let sent = data.take([division.one(comm.before(step))]);
        let received = comm.exchange(comm.behind(1), &sent, comm.before(1)).await;
        add(comm, data, &[division.one(comm.before(step + 1))], &received).await;
    }
}

/// The order in which the messages of an all-to-all begin.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) enum Window {
    /// This number of receives and sends at a time; the next batch begins when all are complete.
    Batches(u32),
    /// This number of outstanding receives and sends; the next one begins when one completes.
    Sliding(u32),
    /// One send to a following rank and one receive from a preceding rank at a time.
    Stepwise,
}

/// Runs an all-to-all that sends each block directly to its rank, with a window of messages; 0 means all at once.
pub(in crate::program::collective) async fn all_to_all(
    comm: Communicator<'_>,
    window: Window,
    division: &Division,
    data: &Buffer,
) -> Buffer {
    let bound = |limit: u32| if limit == 0 { comm.size() } else { limit };
    match window {
        Window::Batches(limit) => in_batches(comm, bound(limit), division, data).await,
        Window::Stepwise => stepwise(comm, division, data).await,
        Window::Sliding(limit) => sliding(comm, bound(limit), division, data).await,
    }
}

/// Exchanges with `limit` ranks at a time, receiving from following and sending to preceding ranks. The next batch
/// begins when this one is complete.
async fn in_batches(comm: Communicator<'_>, limit: u32, division: &Division, data: &Buffer) -> Buffer {
    let mut result = data.clone();
    let mut first = 1;
    while first < comm.size() {
        let distances = first..comm.size().min(first.saturating_add(limit));
        first = distances.end;
        let behind = distances.clone().map(|distance| comm.behind(distance));
        let before = distances.map(|distance| comm.before(distance));
        let mut started = comm.start(behind, before.map(|to| (to, data.take([division.one(to)])))).await;
        while let Some((from, received)) = started.next().await {
            result.put([division.one(from)], &received);
        }
    }
    result
}

/// Sends to the rank that follows by k and receives from the one that precedes by k in step k.
async fn stepwise(comm: Communicator<'_>, division: &Division, data: &Buffer) -> Buffer {
    let mut result = data.clone();
    for step in 1..comm.size() {
        let (to, from) = (comm.behind(step), comm.before(step));
        let received = comm.exchange(to, &data.take([division.one(to)]), from).await;
        result.put([division.one(from)], &received);
    }
    result
}

/// Keeps up to `limit` receives from preceding and `limit` sends to following ranks outstanding; each completion starts
/// the next one.
async fn sliding(comm: Communicator<'_>, limit: u32, division: &Division, data: &Buffer) -> Buffer {
    let mut result = data.clone();
    let start_receive = async |distance: u32| {
        let from = comm.before(distance);
        (Some(from), comm.start_receive(from).await)
    };
    let start_send = async |distance: u32| {
        let to = comm.behind(distance);
        (None, comm.start_send(to, &data.take([division.one(to)])).await)
    };
    let mut open = Vec::new();
    let [mut receives, mut sends] = [1..comm.size(), 1..comm.size()];
    for distance in receives.by_ref().take(limit as usize) {
        open.push(start_receive(distance).await);
    }
    for distance in sends.by_ref().take(limit as usize) {
        open.push(start_send(distance).await);
    }
    while !open.is_empty() {
        let operations: Vec<_> = open.iter().map(|(_, operation)| *operation).collect();
        let (from, operation) = open.swap_remove(comm.me().wait_any(&operations).await);
        if let Some(from) = from {
            result.put([division.one(from)], &comm.received(operation).await);
            if let Some(distance) = receives.next() {
                open.push(start_receive(distance).await);
            }
        } else {
            comm.wait_all(vec![operation]).await;
            if let Some(distance) = sends.next() {
                open.push(start_send(distance).await);
            }
        }
    }
    result
}

/// Runs an all-to-all: in step k, each rank exchanges with the rank whose number is its own XOR k if the number of
/// ranks is a power of two. Otherwise it sends to the rank that follows by k and receives from the one that precedes by
/// k.
pub(in crate::program::collective) async fn pairwise_all_to_all(
    comm: Communicator<'_>,
    division: &Division,
    data: &Buffer,
) -> Buffer {
    let mut result = data.clone();
    for step in 1..comm.size() {
        let partner = comm.place() ^ step;
        let [to, from] =
            if comm.size().is_power_of_two() { [partner; 2] } else { [comm.behind(step), comm.before(step)] };
        let received = comm.exchange(to, &data.take([division.one(to)]), from).await;
        result.put([division.one(from)], &received);
    }
    result
}
