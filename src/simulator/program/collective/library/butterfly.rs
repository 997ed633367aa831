//! Steps in which all ranks exchange with partners: recursive doubling and halving, in the order of binary or Bine numbers.

use super::buffer::{Buffer, Division};
use super::communicator::Communicator;
use super::lane::Lane;
use super::shape::{Bine, Distances};
use crate::node::Scratch;
use std::ops::Range;

/// Partners in each step of an exchange among a power of two of ranks.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct Butterfly {
    steps: u32,
    pattern: PartnerPattern,
}

/// Rule for the partners.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) enum PartnerPattern {
    /// Numbers that differ in one bit, the lowest first for doubling distances.
    Binary(Distances),
    /// By Bine numbers, nearest first.
    Bine,
    /// Through the dimensions of a torus in turn.
    Torus(Lane),
}

impl Butterfly {
    pub const fn new(steps: u32, pattern: PartnerPattern) -> Self {
        Self { steps, pattern }
    }

    pub const fn pattern(self) -> PartnerPattern {
        self.pattern
    }

    pub const fn steps(self) -> u32 {
        self.steps
    }

    pub fn partner(self, number: u32, step: u32) -> u32 {
        match self.pattern {
            PartnerPattern::Binary(Distances::Doubling) => number ^ (1 << step),
            PartnerPattern::Binary(Distances::Halving) => number ^ (1 << (self.steps - 1 - step)),
            PartnerPattern::Bine => Bine::of_steps(self.steps).partner(number, step),
            PartnerPattern::Torus(lane) => lane.partner(number, step),
        }
    }

    /// Returns the place of a rank such that partners of step k differ in bit s − 1 − k and agree in those above it. Those who are
    /// still joined after some steps are then consecutive.
    pub fn code(self, number: u32) -> u32 {
        match self.pattern {
            PartnerPattern::Binary(Distances::Halving) => number,
            PartnerPattern::Binary(Distances::Doubling) if self.steps == 0 => 0,
            PartnerPattern::Binary(Distances::Doubling) => number.reverse_bits() >> (32 - self.steps),
            PartnerPattern::Bine => Bine::of_steps(self.steps).code(number),
            PartnerPattern::Torus(lane) => lane.code(number),
        }
    }

    /// The rank with a code.
    pub fn with_code(self, code: u32) -> u32 {
        match self.pattern {
            PartnerPattern::Binary(_) => self.code(code),
            PartnerPattern::Bine => Bine::of_steps(self.steps).with_code(code),
            PartnerPattern::Torus(lane) => lane.with_code(code),
        }
    }

    /// The codes that a rank is joined with in this step and later ones.
    pub fn window(self, code: u32, step: u32) -> Range<u32> {
        let width = 1 << (self.steps - step);
        let first = code / width * width;
        first..first + width
    }
}

/// The largest power of two of the numbers, in which the others take part by a neighbour: of the first pairs of numbers,
/// one does the steps for both.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct Fold {
    pub steps: u32,
    pairs: u32,
    keeps: Keeps,
}

/// The rank of a pair that does the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program::collective) enum Keeps {
    Even,
    Odd,
}

/// Role of a number in a fold.
#[derive(Clone, Copy)]
pub(in crate::program::collective) enum FoldRole {
    /// It has no partner.
    Alone(u32),
    /// It does the steps for the partner too.
    Doer(u32, u32),
    /// The partner does the steps.
    Guest(u32),
}

impl Fold {
    pub const fn of(size: u32, keeps: Keeps) -> Self {
        let steps = size.ilog2();
        Self { steps, pairs: size - (1 << steps), keeps }
    }

    pub const fn role(self, number: u32) -> FoldRole {
        if number >= 2 * self.pairs {
            FoldRole::Alone(number - self.pairs)
        } else if number.is_multiple_of(2) == matches!(self.keeps, Keeps::Even) {
            FoldRole::Doer(number / 2, number ^ 1)
        } else {
            FoldRole::Guest(number ^ 1)
        }
    }

    /// The number of a doer.
    pub const fn number(self, doer: u32) -> u32 {
        if doer >= self.pairs {
            return doer + self.pairs;
        }
        2 * doer + matches!(self.keeps, Keeps::Odd) as u32
    }

    /// The numbers that a doer works for.
    pub const fn numbers(self, doer: u32) -> Range<u32> {
        if doer < self.pairs { 2 * doer..2 * doer + 2 } else { doer + self.pairs..doer + self.pairs + 1 }
    }
}

/// Every step exchanges the whole message and adds.
pub(in crate::program::collective) async fn all_reduce(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    data: &mut Buffer,
) {
    let fold = Fold::of(comm.size(), Keeps::Odd);
    let whole = [0..data.bytes()];
    comm.allocate(Scratch::of(&[data.bytes()]).with(2, data.bytes())).await;
    let role = fold.role(comm.place());
    fold_in(comm, role, data).await;
    let doer = match role {
        FoldRole::Guest(partner) => {
            let sum = comm.receive(partner).await;
            data.put(whole, &sum);
            return;
        }
        FoldRole::Doer(doer, _) | FoldRole::Alone(doer) => doer,
    };
    let butterfly = Butterfly::new(fold.steps, pattern);
    for step in 0..fold.steps {
        let partner = fold.number(butterfly.partner(doer, step));
        let received = comm.exchange(partner, &data.take(whole.clone()), partner).await;
        add(comm, data, &whole, &received).await;
    }
    if let FoldRole::Doer(_, partner) = role {
        comm.send(partner, &data.take(whole)).await;
    }
}

/// Guests hand over their whole message, and those that do the steps for them add it.
pub(super) async fn fold_in(comm: Communicator<'_>, role: FoldRole, data: &mut Buffer) {
    let whole = [0..data.bytes()];
    match role {
        FoldRole::Guest(partner) => comm.send(partner, &data.take(whole)).await,
        FoldRole::Doer(_, partner) => add(comm, data, &whole, &comm.receive(partner).await).await,
        FoldRole::Alone(_) => {}
    }
}

pub(super) async fn add(
    comm: Communicator<'_>,
    data: &mut Buffer,
    ranges: &[Range<u64>],
    received: &super::super::payload::Payload,
) {
    data.sum(ranges.iter().cloned(), received);
    comm.add(received.bytes).await;
}

/// The steps of a reduce-scatter: each halves the window of codes that a rank has sums for.
pub(in crate::program::collective) struct Halving<'a, R> {
    pub comm: Communicator<'a>,
    pub butterfly: Butterfly,
    /// The place of a doer.
    pub place: &'a dyn Fn(u32) -> u32,
    /// The bytes of a window of codes.
    pub ranges: R,
    /// True if each block is a message of its own.
    pub by_block: bool,
}

impl<R: Fn(Range<u32>) -> Vec<Range<u64>>> Halving<'_, R> {
    /// Adds and halves until only the own code is left.
    pub async fn reduce_scatter(&self, doer: u32, data: &mut Buffer) {
        let own = self.butterfly.code(doer);
        for step in 0..self.butterfly.steps() {
            let partner = self.butterfly.partner(doer, step);
            let place = (self.place)(partner);
            let sent = (self.ranges)(self.butterfly.window(self.butterfly.code(partner), step + 1));
            let kept = (self.ranges)(self.butterfly.window(own, step + 1));
            for (received, ranges) in self.exchange(place, &sent, &kept, data).await {
                add(self.comm, data, &ranges, &received).await;
            }
        }
    }

    /// The way back: doubles the window that a rank has.
    pub async fn all_gather(&self, doer: u32, data: &mut Buffer) {
        let own = self.butterfly.code(doer);
        for step in (0..self.butterfly.steps()).rev() {
            let partner = self.butterfly.partner(doer, step);
            let place = (self.place)(partner);
            let sent = (self.ranges)(self.butterfly.window(own, step + 1));
            let wanted = (self.ranges)(self.butterfly.window(self.butterfly.code(partner), step + 1));
            for (received, ranges) in self.exchange(place, &sent, &wanted, data).await {
                data.put(ranges, &received);
            }
        }
    }

    async fn exchange(
        &self,
        place: u32,
        sent: &[Range<u64>],
        wanted: &[Range<u64>],
        data: &Buffer,
    ) -> Vec<(super::super::payload::Payload, Vec<Range<u64>>)> {
        let size = |ranges: &[Range<u64>]| if self.by_block { 1 } else { ranges.len().max(1) };
        let mut receiving = Vec::new();
        for ranges in wanted.chunks(size(wanted)) {
            receiving.push((self.comm.start_receive(place).await, ranges.to_vec()));
        }
        let mut sending = Vec::new();
        for ranges in sent.chunks(size(sent)) {
            sending.push(self.comm.start_send(place, &data.take(ranges.iter().cloned())).await);
        }
        let mut received = Vec::with_capacity(receiving.len());
        for (operation, ranges) in receiving {
            received.push((self.comm.received(operation).await, ranges));
        }
        self.comm.wait_all(sending).await;
        received
    }

    /// To code 0 instead of all: those of the upper half of a window send.
    pub async fn gather(&self, doer: u32, data: &mut Buffer) {
        let own = self.butterfly.code(doer);
        for step in (0..self.butterfly.steps()).rev() {
            let partner = self.butterfly.partner(doer, step);
            let place = (self.place)(partner);
            if own >> (self.butterfly.steps() - 1 - step) & 1 == 1 {
                self.comm.send(place, &data.take((self.ranges)(self.butterfly.window(own, step + 1)))).await;
                return;
            }
            let theirs = (self.ranges)(self.butterfly.window(self.butterfly.code(partner), step + 1));
            let received = self.comm.receive(place).await;
            data.put(theirs, &received);
        }
    }

    /// From code 0, each its window.
    pub async fn scatter(&self, doer: u32, data: &mut Buffer) {
        let own = self.butterfly.code(doer);
        let steps = self.butterfly.steps();
        let mut first = 0;
        if own > 0 {
            let step = steps - 1 - own.trailing_zeros();
            let place = (self.place)(self.butterfly.partner(doer, step));
            let received = self.comm.receive(place).await;
            data.put((self.ranges)(self.butterfly.window(own, step + 1)), &received);
            first = step + 1;
        }
        for step in first..steps {
            let partner = self.butterfly.partner(doer, step);
            let theirs = (self.ranges)(self.butterfly.window(self.butterfly.code(partner), step + 1));
            self.comm.send((self.place)(partner), &data.take(theirs)).await;
        }
    }
}

/// Exchange in the pairs of a fold before windows are halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program::collective) enum Joining {
    /// The guest sends all it has.
    Whole,
    /// Either adds one half, and the guest hands over its sum.
    Halves,
}

/// Reduce-scatter by halving, then an all-gather, or a gather to number 0, on the way back. (Rabenseifner 2004.)
pub(in crate::program::collective) async fn rabenseifner(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    joining: Joining,
    root: Option<u32>,
    data: &mut Buffer,
) {
    let origin = root.unwrap_or(0);
    let keeps = if root.is_some() || joining == Joining::Halves { Keeps::Even } else { Keeps::Odd };
    let fold = Fold::of(comm.size(), keeps);
    let number = comm.number(origin);
    let at = |number: u32| comm.numbered(origin, number);
    let whole = 0..data.bytes();
    // For what arrives; on ranks other than the root of a reduce, for the sums as well.
    let buffers = if root.is_some() && number > 0 { 2 } else { 1 };
    let scratch = Scratch::of(&vec![data.bytes(); buffers as usize]);
    comm.allocate(scratch.halving(buffers, data.bytes(), fold.steps)).await;
    let doer = match fold.role(number) {
        FoldRole::Guest(partner) => {
            hand_over(comm, joining, at(partner), data).await;
            if root.is_none() {
                let sum = comm.receive(at(partner)).await;
                data.put([whole], &sum);
            }
            return;
        }
        FoldRole::Doer(doer, partner) => {
            take_over(comm, joining, at(partner), data).await;
            doer
        }
        FoldRole::Alone(doer) => doer,
    };
    let butterfly = Butterfly::new(fold.steps, pattern);
    sum_of_doers(comm, butterfly, &|doer| at(fold.number(doer)), doer, root.is_none(), data).await;
    if let (FoldRole::Doer(_, partner), None) = (fold.role(number), root) {
        comm.send(at(partner), &data.take([whole])).await;
    }
}

/// The sum of what all doers have, on all of them or on that of code 0.
async fn sum_of_doers(
    comm: Communicator<'_>,
    butterfly: Butterfly,
    place: &dyn Fn(u32) -> u32,
    doer: u32,
    is_for_all: bool,
    data: &mut Buffer,
) {
    let division = Division::shares(data.bytes(), 1 << butterfly.steps());
    let steps = Halving { comm, butterfly, place, ranges: |codes| vec![division.range(codes)], by_block: false };
    steps.reduce_scatter(doer, data).await;
    if is_for_all {
        steps.all_gather(doer, data).await;
    } else {
        steps.gather(doer, data).await;
    }
}

/// A guest's share of the sum goes to the doer of its pair.
async fn hand_over(comm: Communicator<'_>, joining: Joining, doer: u32, data: &mut Buffer) {
    match joining {
        Joining::Whole => comm.send(doer, &data.take([0..data.bytes()])).await,
        Joining::Halves => {
            let halves = Division::shares(data.bytes(), 2);
            let received = comm.exchange(doer, &data.take([halves.one(0)]), doer).await;
            add(comm, data, &[halves.one(1)], &received).await;
            comm.send(doer, &data.take([halves.one(1)])).await;
        }
    }
}

/// A doer gets the sum of its pair.
async fn take_over(comm: Communicator<'_>, joining: Joining, guest: u32, data: &mut Buffer) {
    match joining {
        Joining::Whole => {
            let whole = [0..data.bytes()];
            add(comm, data, &whole, &comm.receive(guest).await).await;
        }
        Joining::Halves => {
            let halves = Division::shares(data.bytes(), 2);
            let received = comm.exchange(guest, &data.take([halves.one(1)]), guest).await;
            add(comm, data, &[halves.one(0)], &received).await;
            let received = comm.receive(guest).await;
            data.put([halves.one(1)], &received);
        }
    }
}

/// Scatter to all by windows, then an all-gather of the windows on the way back.
pub(in crate::program::collective) async fn scatter_all_gather(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    root: u32,
    data: &mut Buffer,
) {
    let fold = Fold::of(comm.size(), Keeps::Even);
    let number = comm.number(root);
    let at = |number: u32| comm.numbered(root, number);
    let whole = 0..data.bytes();
    let doer = match fold.role(number) {
        FoldRole::Guest(partner) => {
            let all = comm.receive(at(partner)).await;
            data.put([whole], &all);
            return;
        }
        FoldRole::Doer(doer, _) | FoldRole::Alone(doer) => doer,
    };
    let division = Division::shares(data.bytes(), 1 << fold.steps);
    let steps = Halving {
        comm,
        butterfly: Butterfly::new(fold.steps, pattern),
        place: &|doer| at(fold.number(doer)),
        ranges: |codes| vec![division.range(codes)],
        by_block: false,
    };
    steps.scatter(doer, data).await;
    steps.all_gather(doer, data).await;
    if let FoldRole::Doer(_, partner) = fold.role(number) {
        comm.send(at(partner), &data.take([whole])).await;
    }
}
