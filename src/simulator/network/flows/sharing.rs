//! Max-min fair rates by progressive filling, begun at the level up to which nothing has changed.
//!
//! Filling raises the rates of all flows together; a channel that is full holds its flows at the level reached. It takes
//! the same course as before up to the least rate of a flow that has ended, because none of the channels of that flow
//! was full below its rate, and up to the level at which a flow that has begun first fills a channel. Flows that were
//! held below that level keep their rates.

use super::{FlowAggregate, FlowChannel};
use crate::engine::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The working memory of progressive filling, kept between computations.
#[derive(Default)]
pub struct ProgressiveFilling {
    /// The remaining capacity of each channel; valid only if its round is the present one.
    left: Vec<RemainingCapacity>,
    /// By aggregate, the last round in which it was reached, or that round plus one once it has its rate.
    found: Vec<u64>,
    /// The rate of each flow of an aggregate in bytes per picosecond; infinite until it is first computed.
    rates: Vec<f64>,
    /// Aggregates whose rates have changed, with their rates before.
    changed: Vec<(u32, f64)>,
    /// The channels by the share that each of their flows without a rate would get, the smallest share first.
    fullest: BinaryHeap<Reverse<(RateBits, u32)>>,
    /// The number of the present round, which is even.
    round: u64,
}

#[derive(Clone, Copy, Default)]
struct RemainingCapacity {
    round: u64,
    capacity: f64,
    /// Flows without a rate.
    flows: u32,
}

/// A rate as bits, which are ordered like the rates themselves because no rate is negative.
type RateBits = u64;

/// The part of the level up to which rates are kept, so that rounding does not separate flows of the same rate.
const BELOW: f64 = 1.0 - 1e-9;

impl RemainingCapacity {
    fn share(&self) -> RateBits {
        (self.capacity.max(0.0) / f64::from(self.flows)).to_bits()
    }
}

impl ProgressiveFilling {
    pub fn new(channels: usize) -> Self {
        Self { left: vec![RemainingCapacity::default(); channels], ..Self::default() }
    }

    pub fn add_channel(&mut self) {
        self.left.push(RemainingCapacity::default());
    }

    /// Adds an aggregate whose first flow has begun, which has no rate yet.
    pub fn begin(&mut self, aggregate: u32) {
        let places = self.rates.len().max(aggregate as usize + 1);
        self.rates.resize(places, f64::INFINITY);
        self.found.resize(places, 0);
        self.rates[aggregate as usize] = f64::INFINITY;
    }

    /// Returns the rate of each flow of an aggregate in bytes per picosecond.
    pub fn rate(&self, aggregate: u32) -> f64 {
        self.rates[aggregate as usize]
    }

    /// Computes the rates that may have changed. `ended` is the least rate of a flow that has ended since the last
    /// computation, and `changed` the aggregates in which flows have begun or ended.
    pub fn share(&mut self, channels: &[FlowChannel], flows: &Slab<FlowAggregate>, (ended, changed): (f64, &[u32])) {
        self.round += 2;
        self.changed.clear();
        let mut open = Vec::new();
        for id in changed {
            self.open(&flows[*id].channels, &mut open);
        }
        let level =
            open.iter().fold(ended, |level, channel| self.level_below(&channels[*channel as usize], flows, level));
        self.reach(channels, flows, (level * BELOW, open));
        while let Some((channel, rate)) = self.take_fullest() {
            self.fill(channels, flows, channel, rate);
        }
    }

    /// Takes out the channel that is full next, with the rate of its flows that have none yet.
    fn take_fullest(&mut self) -> Option<(u32, f64)> {
        loop {
            let mut fullest = self.fullest.peek_mut()?;
            let Reverse((share, channel)) = *fullest;
            let left = self.left[channel as usize];
            // Shares only grow, so an outdated share is too small.
            if left.flows > 0 && left.share() > share {
                *fullest = Reverse((left.share(), channel));
                continue;
            }
            PeekMut::pop(fullest);
            if left.flows > 0 {
                return Some((channel, f64::from_bits(share)));
            }
        }
    }

    /// Appends those of the channels that have not been reached in this round to `open`.
    fn open(&mut self, channels: &[u32], open: &mut Vec<u32>) {
        for channel in channels {
            let left = &mut self.left[*channel as usize];
            if left.round != self.round {
                left.round = self.round;
                open.push(*channel);
            }
        }
    }

    /// Finds the channels that are connected to the changed ones (`open`) by flows with at least the rate `level`, and
    /// gives each to share what slower flows leave.
    fn reach(&mut self, channels: &[FlowChannel], flows: &Slab<FlowAggregate>, (level, mut open): (f64, Vec<u32>)) {
        let mut fullest = std::mem::take(&mut self.fullest).into_vec();
        while let Some(channel) = open.pop() {
            let FlowChannel { capacity, aggregates, .. } = &channels[channel as usize];
            let mut left = RemainingCapacity { round: self.round, capacity: *capacity, flows: 0 };
            for id in aggregates {
                let (rate, aggregate) = (self.rates[*id as usize], &flows[*id]);
                if rate < level {
                    left.capacity -= rate * f64::from(aggregate.flows());
                    continue;
                }
                left.flows += aggregate.flows();
                if self.found[*id as usize] != self.round {
                    self.found[*id as usize] = self.round;
                    self.open(&aggregate.channels, &mut open);
                }
            }
            self.left[channel as usize] = left;
            if left.flows > 0 {
                fullest.push(Reverse((left.share(), channel)));
            }
        }
        self.fullest = fullest.into();
    }

    /// Gives the flows of the fullest channel its equal share.
    fn fill(&mut self, channels: &[FlowChannel], flows: &Slab<FlowAggregate>, channel: u32, rate: f64) {
        for id in &channels[channel as usize].aggregates {
            if self.found[*id as usize] != self.round {
                continue;
            }
            self.found[*id as usize] = self.round + 1;
            let before = std::mem::replace(&mut self.rates[*id as usize], rate);
            if before.to_bits() != rate.to_bits() {
                self.changed.push((*id, before));
            }
            let (aggregate, count) = (&flows[*id], flows[*id].flows());
            for crossed in &*aggregate.channels {
                let left = &mut self.left[*crossed as usize];
                left.capacity -= rate * f64::from(count);
                left.flows -= count;
            }
        }
    }

    /// Returns the level at which filling finds a channel full, but at most `level`.
    fn level_below(&self, channel: &FlowChannel, flows: &Slab<FlowAggregate>, level: f64) -> f64 {
        // From the equal share, the level rises by what slower flows leave.
        let mut full = channel.capacity / f64::from(channel.flows);
        while full < level {
            let slower = channel.aggregates.iter().filter(|id| self.rate(**id) < full);
            let (count, sum) = slower.fold((0, 0.0), |(count, sum), id| {
                let flows = flows[*id].flows();
                (count + flows, sum + self.rate(*id) * f64::from(flows))
            });
            let next = (channel.capacity - sum) / f64::from(channel.flows - count);
            if next <= full {
                return full;
            }
            full = next;
        }
        level
    }

    /// Returns the aggregates whose rates have changed, each with the rate before.
    pub fn changed_rates(&self) -> &[(u32, f64)] {
        &self.changed
    }
}
