//! Max-min fair rates by progressive filling, begun at the level up to which nothing has changed.
//!
//! Filling raises the rates of all flows together; a channel that is full holds its flows at the level reached. It takes
//! the same course as before up to the least rate of a flow that has ended, because none of the channels of that flow
//! was full below its rate, and up to the level at which a flow that has begun first fills a channel. Flows that were
//! held below that level keep their rates.

use super::{Flow, FlowChannel};
use crate::engine::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The working memory of progressive filling, kept between computations.
#[derive(Default)]
pub struct ProgressiveFilling {
    /// The remaining capacity of each channel; valid only if its round is the present one.
    left: Vec<RemainingCapacity>,
    /// By flow, the last round in which it was reached, or that round plus one once the flow has its rate.
    found: Vec<u64>,
    /// The rate of each flow in bytes per picosecond; infinite until it is first computed.
    rates: Vec<f64>,
    /// Flows whose rates have changed, with their rates before.
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

    /// Adds a flow, which has begun but has no rate yet.
    pub fn begin(&mut self, flow: u32) {
        let places = self.rates.len().max(flow as usize + 1);
        self.rates.resize(places, f64::INFINITY);
        self.found.resize(places, 0);
        self.rates[flow as usize] = f64::INFINITY;
    }

    /// Returns the rate of a flow in bytes per picosecond.
    pub fn rate(&self, flow: u32) -> f64 {
        self.rates[flow as usize]
    }

    /// Computes the rates of the flows that may have changed. `ended` is the least rate of a flow that has ended since
    /// the last computation, and `changed` the channels on which flows have begun or ended.
    pub fn share(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, (ended, changed): (f64, &[u32])) {
        self.round += 2;
        self.changed.clear();
        let mut open = Vec::new();
        self.open(changed, &mut open);
        let level = open.iter().fold(ended, |level, channel| self.level_below(&channels[*channel as usize], level));
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
    fn reach(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, (level, mut open): (f64, Vec<u32>)) {
        let mut fullest = std::mem::take(&mut self.fullest).into_vec();
        while let Some(channel) = open.pop() {
            let FlowChannel { capacity, flows: crossing, .. } = &channels[channel as usize];
            let mut left = RemainingCapacity { round: self.round, capacity: *capacity, flows: 0 };
            for id in crossing {
                let rate = self.rates[*id as usize];
                if rate < level {
                    left.capacity -= rate;
                    continue;
                }
                left.flows += 1;
                if self.found[*id as usize] != self.round {
                    self.found[*id as usize] = self.round;
                    self.open(&flows[*id].channels, &mut open);
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
    fn fill(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, channel: u32, rate: f64) {
        for id in &channels[channel as usize].flows {
            if self.found[*id as usize] != self.round {
                continue;
            }
            self.found[*id as usize] = self.round + 1;
            let before = std::mem::replace(&mut self.rates[*id as usize], rate);
            if before.to_bits() != rate.to_bits() {
                self.changed.push((*id, before));
            }
            for crossed in &flows[*id].channels {
                let left = &mut self.left[*crossed as usize];
                left.capacity -= rate;
                left.flows -= 1;
            }
        }
    }

    /// Returns the level at which filling finds a channel full, but at most `level`.
    fn level_below(&self, channel: &FlowChannel, level: f64) -> f64 {
        // From the equal share, the level rises by what slower flows leave.
        let flows = u32::try_from(channel.flows.len()).expect("fewer than 2^32 messages at once");
        let mut full = channel.capacity / f64::from(flows);
        while full < level {
            let slower = channel.flows.iter().map(|id| self.rate(*id)).filter(|rate| *rate < full);
            let (count, sum) = slower.fold((0_u32, 0.0), |(count, sum), rate| (count + 1, sum + rate));
            let next = (channel.capacity - sum) / f64::from(flows - count);
            if next <= full {
                return full;
            }
            full = next;
        }
        level
    }

    /// Returns the flows whose rates have changed, each with its rate before and now.
    pub fn changed_rates(&self) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        self.changed.iter().map(|(id, before)| (*id, *before, self.rate(*id)))
    }
}
