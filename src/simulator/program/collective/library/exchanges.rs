//! Butterflies among any number of ranks that end with parts of the message on each rank.

use super::buffer::{Buffer, Division};
use super::butterfly::{Butterfly, DoerParity, Fold, FoldRole, PartnerPattern, WindowedButterfly, add, fold_in};
use super::communicator::{Communicator, count};
use crate::node::Scratch;
use crate::program::collective::payload::Payload;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// Arrangement in messages of the blocks of a butterfly by Bine numbers, which are not consecutive in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Remap {
    /// The whole message is copied into the order of the steps, which takes time if a memory is described.
    #[default]
    Permute,
    /// Blocks are selected as if ranks were numbered in the order of the steps; an additional step sends each block to
    /// its rank.
    Send,
    /// Each block is a separate message.
    Blocks,
}

/// The byte ranges of windows of codes, and the ranks whose parts a doer ends with.
struct WindowLayout<'a> {
    fold: Fold,
    butterfly: Butterfly,
    remap: Remap,
    division: &'a Division,
}

impl<'a> WindowLayout<'a> {
    /// Creates the layout among the ranks of a communicator.
    fn of(comm: Communicator<'_>, pattern: PartnerPattern, remap: Remap, division: &'a Division) -> Self {
        let fold = Fold::of(comm.size(), DoerParity::Odd);
        Self { fold, butterfly: Butterfly::new(fold.steps, pattern), remap, division }
    }

    /// Returns whether the whole message is copied into the order of the steps.
    const fn is_permuted(&self) -> bool {
        matches!((self.remap, self.butterfly.pattern()), (Remap::Permute, PartnerPattern::Bine))
    }

    fn ranges(&self, codes: Range<u32>) -> Vec<Range<u64>> {
        if self.remap == Remap::Send {
            let ranks = self.fold.numbers(codes.start).start..self.fold.numbers(codes.end - 1).end;
            return vec![self.division.range(ranks)];
        }
        codes.map(|code| self.division.range(self.fold.numbers(self.butterfly.with_code(code)))).collect()
    }

    /// Returns the ranks whose parts a doer holds after the halving steps.
    fn served(&self, doer: u32) -> Range<u32> {
        self.fold.numbers(if self.remap == Remap::Send { self.butterfly.code(doer) } else { doer })
    }

    /// Returns the rank of the doer that holds the part of the rank at `place` after the halving steps, unless it is
    /// `doer` itself.
    fn foreign_holder(&self, doer: u32, place: u32) -> Option<u32> {
        (!self.served(doer).contains(&place)).then(|| self.source(doer))
    }

    /// Returns the rank of the doer that holds the parts of the ranks of `doer` after the halving steps.
    fn source(&self, doer: u32) -> u32 {
        self.fold.number(if self.remap == Remap::Send { self.butterfly.with_code(doer) } else { doer })
    }
}

/// Returns the buffers for the sums and for received data. Received data arrive in halves, or in blocks if their number
/// is given.
pub(in crate::program::collective) fn scratch(bytes: u64, steps: u32, blocks: Option<u32>) -> Scratch {
    let buffers = Scratch::of(&[bytes, bytes]);
    match blocks {
        Some(count) => buffers.with(2 * u64::from(count - 1), bytes / u64::from(count)),
        None => buffers.halving(2, bytes, steps),
    }
}

/// Runs a reduce-scatter that halves the message in each step. Guests hand their message over to a neighbour first and
/// receive their part at the end.
pub(in crate::program::collective) async fn reduce_scatter(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    remap: Remap,
    division: &Division,
    data: &mut Buffer,
) {
    let layout = WindowLayout::of(comm, pattern, remap, division);
    let (fold, place) = (layout.fold, comm.place());
    comm.allocate(scratch(data.bytes(), fold.steps, (remap == Remap::Blocks).then_some(comm.size()))).await;
    let role = fold.role(place);
    fold_in(comm, role, data).await;
    let doer = match role {
        FoldRole::Guest(_) => {
            let received = comm.receive(layout.source(place / 2)).await;
            return keep_only(division.one(place), &received, data);
        }
        FoldRole::Doer(doer, _) | FoldRole::Alone(doer) => doer,
    };
    if layout.is_permuted() {
        comm.copy(data.bytes()).await;
    }
    let steps = WindowedButterfly {
        comm,
        butterfly: layout.butterfly,
        place: &|doer| fold.number(doer),
        ranges: |codes| layout.ranges(codes),
        by_block: remap == Remap::Blocks,
    };
    steps.reduce_scatter(doer, data).await;
    deliver_parts(comm, &layout, doer, data).await;
}

/// Sends the parts to the ranks that they belong to, after the halving steps.
async fn deliver_parts(comm: Communicator<'_>, layout: &WindowLayout<'_>, doer: u32, data: &mut Buffer) {
    let place = comm.place();
    let others = layout.served(doer).filter(|rank| *rank != place);
    let theirs = others.map(|rank| (rank, data.take([layout.division.one(rank)])));
    let mut started = comm.start(layout.foreign_holder(doer, place), theirs).await;
    while let Some((_, received)) = started.next().await {
        keep_only(layout.division.one(place), &received, data);
    }
}

/// Replaces the data of a rank by the part that it has received.
fn keep_only(part: Range<u64>, received: &Payload, data: &mut Buffer) {
    *data = Buffer::empty(data.bytes());
    data.put([part], received);
}

/// Runs an all-gather that doubles the data of a rank in each step, by the reverse steps of `reduce_scatter`.
pub(in crate::program::collective) async fn all_gather(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    remap: Remap,
    division: &Division,
    data: &mut Buffer,
) {
    let layout = WindowLayout::of(comm, pattern, remap, division);
    let (fold, whole, place) = (layout.fold, [0..data.bytes()], comm.place());
    let own = data.take([division.one(place)]);
    let doer = match fold.role(place) {
        FoldRole::Guest(partner) => {
            comm.send(layout.source(place / 2), &own).await;
            let all = comm.receive(partner).await;
            data.put(whole, &all);
            return;
        }
        FoldRole::Doer(doer, _) | FoldRole::Alone(doer) => doer,
    };
    let others = layout.served(doer).filter(|rank| *rank != place);
    let mut started = comm.start(others, layout.foreign_holder(doer, place).map(|to| (to, own))).await;
    while let Some((rank, received)) = started.next().await {
        data.put([division.one(rank)], &received);
    }
    let steps = WindowedButterfly {
        comm,
        butterfly: layout.butterfly,
        place: &|doer| fold.number(doer),
        ranges: |codes| layout.ranges(codes),
        by_block: remap == Remap::Blocks,
    };
    steps.all_gather(doer, data).await;
    if layout.is_permuted() {
        comm.copy(data.bytes()).await;
    }
    if let FoldRole::Doer(_, partner) = fold.role(place) {
        comm.send(partner, &data.take(whole)).await;
    }
}

/// Runs an all-gather by Bine numbers, nearest partner first, among a power of two of ranks. The blocks of a rank are
/// adjacent on the ring of ranks and grow alternately at the end and at the beginning. A part that wraps around the end
/// of the ring is a separate message.
pub(in crate::program::collective) async fn adjacent_all_gather(
    comm: Communicator<'_>,
    division: &Division,
    data: &mut Buffer,
) {
    let (size, place) = (comm.size(), comm.place());
    let butterfly = Butterfly::new(size.ilog2(), PartnerPattern::Bine);
    let mut first = place;
    for step in 0..butterfly.steps() {
        let (partner, count) = (butterfly.partner(place, step), 1 << step);
        let grows_behind = step % 2 == place % 2;
        let theirs = (first + if grows_behind { count } else { size - count }) % size;
        let expected: Vec<_> = division.around(theirs, count).collect();
        let sent = division.around(first, count).map(|range| (partner, data.take([range])));
        let mut started = comm.start(expected.iter().map(|_| partner), sent).await;
        let mut places = expected.into_iter();
        while let Some((_, received)) = started.next().await {
            data.put(places.next(), &received);
        }
        first = if grows_behind { first } else { theirs };
    }
}

/// Runs an all-to-all: in each step, a rank exchanges the half of its blocks that is destined for the other side, and
/// then holds blocks of twice as many origins. Guests hand over all their blocks and receive theirs from their
/// neighbour.
pub(in crate::program::collective) async fn all_to_all(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    division: &Division,
    data: &Buffer,
) -> Buffer {
    let fold = Fold::of(comm.size(), DoerParity::Odd);
    let butterfly = Butterfly::new(fold.steps, pattern);
    let place = comm.place();
    let whole = [0..division.total()];
    let mut held =
        Rows { by_origin: vec![(place, data.all())], ranks: (0..comm.size()).collect(), block: division.start(1) };
    let doer = match fold.role(place) {
        FoldRole::Guest(partner) => {
            comm.send(partner, &data.take(whole.clone())).await;
            let mut result = Buffer::empty(division.total());
            result.put(whole, &comm.receive(partner).await);
            return result;
        }
        FoldRole::Doer(doer, partner) => {
            let received = comm.receive(partner).await;
            held.by_origin.push((partner, received.values.as_deref().map(|values| Rc::from(&values[1..]))));
            doer
        }
        FoldRole::Alone(doer) => doer,
    };
    comm.pack(division.total()).await;
    for step in 0..fold.steps {
        comm.pack(division.total()).await;
        held = held.halved(comm, (fold, butterfly), doer, step).await;
    }
    if let FoldRole::Doer(_, partner) = fold.role(place) {
        comm.send(partner, &held.result(partner, comm.size(), division).take(whole)).await;
    }
    comm.pack(division.total()).await;
    held.result(place, comm.size(), division)
}

/// Returns a block as a message of a buffer of `size` blocks, which starts with the total number of values.
fn block_message(size: u32, bytes: u64, values: Option<Vec<f64>>) -> Payload {
    let values = values.map(|values| {
        let count = f64::from(count(values.len())) * f64::from(size);
        std::iter::once(count).chain(values).collect()
    });
    Payload::new(bytes, values)
}

/// Returns the ranks whose blocks a doer holds before a step, in the order in which they arrived.
fn origins(fold: Fold, butterfly: Butterfly, doer: u32, step: u32) -> Vec<u32> {
    if step == 0 {
        let own = fold.number(doer);
        return std::iter::once(own).chain(fold.numbers(doer).filter(|rank| *rank != own)).collect();
    }
    let mut found = origins(fold, butterfly, doer, step - 1);
    found.extend(origins(fold, butterfly, butterfly.partner(doer, step - 1), step - 1));
    found
}

/// The blocks from some origins for some ranks.
struct Rows {
    by_origin: Vec<(u32, Option<Rc<[f64]>>)>,
    ranks: Vec<u32>,
    block: u64,
}

impl Rows {
    /// Returns the blocks of all origins for the given ranks as one message.
    fn message(&self, ranks: &[u32]) -> Payload {
        let values = self.by_origin.iter().map(|(_, row)| self.part(row.as_deref(), ranks)).collect::<Option<Vec<_>>>();
        let blocks = self.by_origin.len() as u64 * ranks.len() as u64;
        Payload::new(blocks * self.block, values.map(|rows| rows.concat().into()))
    }

    /// Returns the blocks for one of `size` ranks.
    fn result(&self, rank: u32, size: u32, division: &Division) -> Buffer {
        let mut result = Buffer::empty(division.total());
        for (origin, row) in &self.by_origin {
            let block = self.part(row.as_deref(), &[rank]);
            result.put([division.one(*origin)], &block_message(size, self.block, block));
        }
        result
    }

    /// Returns the blocks of a row for the given ranks.
    fn part(&self, row: Option<&[f64]>, ranks: &[u32]) -> Option<Vec<f64>> {
        let row = row?;
        let width = row.len() / self.ranks.len();
        let place = |rank: &u32| {
            self.ranks.iter().position(|held| held == rank).expect("a part goes to ranks that the row has blocks for")
        };
        Some(ranks.iter().flat_map(|rank| row[place(rank) * width..][..width].iter().copied()).collect())
    }

    /// Returns the state of a doer after a step: half of the destination ranks, and the origins of its partner in
    /// addition.
    async fn halved(self, comm: Communicator<'_>, (fold, butterfly): (Fold, Butterfly), doer: u32, step: u32) -> Self {
        let destinations = |doer: u32| -> Vec<u32> {
            let codes = butterfly.window(butterfly.code(doer), step + 1);
            codes.flat_map(|code| fold.numbers(butterfly.with_code(code))).collect()
        };
        let partner = butterfly.partner(doer, step);
        let at = fold.number(partner);
        let received = comm.exchange(at, &self.message(&destinations(partner)), at).await;
        self.with(destinations(doer), &origins(fold, butterfly, partner, step), &received)
    }

    /// Combines the rows for the `kept` ranks with the received ones, whose origins are `origins`.
    fn with(self, kept: Vec<u32>, origins: &[u32], received: &Payload) -> Self {
        let mut rows: Vec<_> = self
            .by_origin
            .iter()
            .map(|(origin, row)| (*origin, self.part(row.as_deref(), &kept).map(Rc::from)))
            .collect();
        let width = received.values.as_deref().map_or(0, <[f64]>::len) / origins.len();
        let row = |index: usize| received.values.as_deref().map(|values| Rc::from(&values[index * width..][..width]));
        rows.extend(origins.iter().enumerate().map(|(index, origin)| (*origin, row(index))));
        Self { by_origin: rows, ranks: kept, block: self.block }
    }
}

/// Runs a reduce-scatter: in step k, each rank exchanges with the rank whose number differs in bit k all parts but
/// those of the 2^k ranks joined so far. If the number of ranks is not a power of two, one rank of each of the first
/// pairs does the steps for both.
pub(in crate::program::collective) async fn doubling_reduce_scatter(
    comm: Communicator<'_>,
    division: &Division,
    data: &mut Buffer,
) {
    let fold = Fold::of(comm.size(), DoerParity::Odd);
    let place = comm.place();
    let role = fold.role(place);
    fold_in(comm, role, data).await;
    let doer = match role {
        FoldRole::Guest(partner) => return keep_only(division.one(place), &comm.receive(partner).await, data),
        FoldRole::Doer(doer, _) | FoldRole::Alone(doer) => doer,
    };
    // All parts but those of a group of doers.
    let others = |group: Range<u32>| {
        let first = division.start(fold.numbers(group.start).start);
        let last = division.start(fold.numbers(group.end - 1).end);
        [0..first, last..division.total()]
    };
    for step in 0..fold.steps {
        let width = 1 << step;
        let group = |doer: u32| doer / width * width..(doer / width + 1) * width;
        let partner = doer ^ width;
        let at = fold.number(partner);
        let received = comm.exchange(at, &data.take(others(group(doer))), at).await;
        add(comm, data, &others(group(partner)), &received).await;
    }
    if let FoldRole::Doer(_, partner) = role {
        comm.send(partner, &data.take([division.one(partner)])).await;
    }
}
