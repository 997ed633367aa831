//! Butterflies, in which all ranks exchange with partners in each step: recursive doubling and halving by binary or
//! Bine numbers.

use super::buffer::{Buffer, Division};
use super::communicator::Communicator;
use super::lane::PortPath;
use super::shape::{Bine, Distances};
use crate::node::Scratch;
use std::ops::Range;

/// The partners in each step of a butterfly among a power of two of ranks.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct Butterfly {
    steps: u32,
    pattern: PartnerPattern,
}

/// The rule that determines the partners.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) enum PartnerPattern {
    /// Numbers that differ in one bit; doubling distances start with the lowest bit.
    Binary(Distances),
    /// Bine numbers, nearest partner first.
    Bine,
    /// Cycling through the dimensions of a torus.
    Torus(PortPath),
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

    /// Returns the code of a rank: partners of step k have codes that differ in bit s − 1 − k and agree in all higher
    /// bits. Ranks that are still joined after some steps therefore have consecutive codes.
    pub fn code(self, number: u32) -> u32 {
        match self.pattern {
            PartnerPattern::Binary(Distances::Halving) => number,
            PartnerPattern::Binary(Distances::Doubling) if self.steps == 0 => 0,
            PartnerPattern::Binary(Distances::Doubling) => number.reverse_bits() >> (32 - self.steps),
            PartnerPattern::Bine => Bine::of_steps(self.steps).code(number),
            PartnerPattern::Torus(lane) => lane.code(number),
        }
    }

    /// Returns the rank with a code.
    pub fn with_code(self, code: u32) -> u32 {
        match self.pattern {
            PartnerPattern::Binary(_) => self.code(code),
            PartnerPattern::Bine => Bine::of_steps(self.steps).with_code(code),
            PartnerPattern::Torus(lane) => lane.with_code(code),
        }
    }

    /// Returns the codes of the ranks that a rank is joined with in this step and later ones.
    pub fn window(self, code: u32, step: u32) -> Range<u32> {
        let width = 1 << (self.steps - step);
        let first = code / width * width;
        first..first + width
    }
}

/// A reduction of the ranks to the largest power of two: one number of each of the first pairs does the steps of the
/// butterfly for both.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct Fold {
    pub steps: u32,
    pairs: u32,
    keeps: DoerParity,
}

/// The number of a pair that does the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program::collective) enum DoerParity {
    Even,
    Odd,
}

/// The role of a number in a fold.
#[derive(Clone, Copy)]
pub(in crate::program::collective) enum FoldRole {
    /// The number has no partner. The field is its number among those that do the steps.
    Alone(u32),
    /// The number does the steps for its partner, too. The fields are its number among those that do the steps and the
    /// partner.
    Doer(u32, u32),
    /// The partner, whose number is the field, does the steps.
    Guest(u32),
}

impl Fold {
    pub const fn of(size: u32, keeps: DoerParity) -> Self {
        let steps = size.ilog2();
        Self { steps, pairs: size - (1 << steps), keeps }
    }

    pub const fn role(self, number: u32) -> FoldRole {
        if number >= 2 * self.pairs {
            FoldRole::Alone(number - self.pairs)
        } else if number.is_multiple_of(2) == matches!(self.keeps, DoerParity::Even) {
            FoldRole::Doer(number / 2, number ^ 1)
        } else {
            FoldRole::Guest(number ^ 1)
        }
    }

    /// Returns the number of the rank that is a given doer.
    pub const fn number(self, doer: u32) -> u32 {
        if doer >= self.pairs {
            return doer + self.pairs;
        }
        2 * doer + matches!(self.keeps, DoerParity::Odd) as u32
    }

    /// Returns the numbers that a doer does the steps for.
    pub const fn numbers(self, doer: u32) -> Range<u32> {
        if doer < self.pairs { 2 * doer..2 * doer + 2 } else { doer + self.pairs..doer + self.pairs + 1 }
    }
}

/// Runs an all-reduce in which every step exchanges and adds the whole message.
pub(in crate::program::collective) async fn all_reduce(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    data: &mut Buffer,
) {
    let fold = Fold::of(comm.size(), DoerParity::Odd);
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

/// Hands the whole messages of guests over to their doers, which add them.
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

/// The steps of a reduce-scatter: each halves the window of codes whose sums a rank holds.
pub(in crate::program::collective) struct WindowedButterfly<'a, R> {
    pub comm: Communicator<'a>,
    pub butterfly: Butterfly,
    /// A function that returns the place of a doer.
    pub place: &'a dyn Fn(u32) -> u32,
    /// A function that returns the bytes of a window of codes.
    pub ranges: R,
    /// `true` if each block is a separate message.
    pub by_block: bool,
}

impl<R: Fn(Range<u32>) -> Vec<Range<u64>>> WindowedButterfly<'_, R> {
    /// Exchanges and adds halves until only this rank's own code is left.
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

    /// Runs the reverse steps: doubles the window that a rank holds.
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

    /// Gathers to code 0 by the reverse steps: ranks in the upper half of a window send.
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

    /// Scatters from code 0: each rank receives its window.
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

/// The exchange within the pairs of a fold before windows are halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program::collective) enum Joining {
    /// The guest sends its whole message.
    Whole,
    /// Each of the two adds one half, and the guest hands over its sum.
    Halves,
}

/// Runs a reduce-scatter by halving, then an all-gather, or a gather to number 0, by the reverse steps. (Rabenseifner
/// 2004.)
pub(in crate::program::collective) async fn rabenseifner(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    joining: Joining,
    root: Option<u32>,
    data: &mut Buffer,
) {
    let origin = root.unwrap_or(0);
    let keeps = if root.is_some() || joining == Joining::Halves { DoerParity::Even } else { DoerParity::Odd };
    let fold = Fold::of(comm.size(), keeps);
    let number = comm.number(origin);
    let at = |number: u32| comm.numbered(origin, number);
    let whole = 0..data.bytes();
    // One buffer for received data and, on ranks other than the root of a reduce, one for the sums.
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

/// Adds up the data of all doers, on all of them or on the doer with code 0.
async fn sum_of_doers(
    comm: Communicator<'_>,
    butterfly: Butterfly,
    place: &dyn Fn(u32) -> u32,
    doer: u32,
    is_for_all: bool,
    data: &mut Buffer,
) {
    let division = Division::shares(data.bytes(), 1 << butterfly.steps());
    let steps =
        WindowedButterfly { comm, butterfly, place, ranges: |codes| vec![division.range(codes)], by_block: false };
    steps.reduce_scatter(doer, data).await;
    if is_for_all {
        steps.all_gather(doer, data).await;
    } else {
        steps.gather(doer, data).await;
    }
}

/// Hands a guest's share of the sum over to the doer of its pair.
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

/// Receives a guest's share of the sum on the doer of its pair.
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

/// Scatters the windows of the root's message, then gathers them on all ranks by the reverse steps.
pub(in crate::program::collective) async fn scatter_all_gather(
    comm: Communicator<'_>,
    pattern: PartnerPattern,
    root: u32,
    data: &mut Buffer,
) {
    let fold = Fold::of(comm.size(), DoerParity::Even);
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
    let steps = WindowedButterfly {
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
