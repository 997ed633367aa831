//! Max-min fair rates by progressive filling.

use super::{Flow, FlowChannel};
use crate::engine::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The working memory of progressive filling, kept between computations.
#[derive(Default)]
pub struct ProgressiveFilling {
    /// The remaining capacity of each channel; valid only if its round is the present one.
    left: Vec<RemainingCapacity>,
    /// By flow, the last round in which it was reached, or that round plus one once the flow has its rate.
    found: Vec<u64>,
    /// New rates, by flow.
    rates: Vec<(u32, f64)>,
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

    /// Computes the rates of all flows that are connected to the changed channels by shared channels.
    pub fn share(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, changed: Vec<u32>) {
        self.round += 2;
        self.found.resize(flows.places(), 0);
        self.reach(channels, flows, changed);
        while let Some(Reverse((share, channel))) = self.fullest.pop() {
            let left = self.left[channel as usize];
            if left.flows == 0 {
                continue;
            }
            // Shares only grow, so an outdated share is too small.
            if left.share() > share {
                self.fullest.push(Reverse((left.share(), channel)));
                continue;
            }
            self.fill(channels, flows, channel, f64::from_bits(share));
        }
    }

    /// Finds the channels that are connected to the changed ones (`open`), and gives each its full capacity to share.
    fn reach(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, mut open: Vec<u32>) {
        while let Some(channel) = open.pop() {
            let left = &mut self.left[channel as usize];
            let FlowChannel { capacity, flows: crossing, .. } = &channels[channel as usize];
            if left.round == self.round || crossing.is_empty() {
                continue;
            }
            let count = u32::try_from(crossing.len()).expect("fewer than 2^32 messages at once");
            *left = RemainingCapacity { round: self.round, capacity: *capacity, flows: count };
            self.fullest.push(Reverse((left.share(), channel)));
            for id in crossing {
                if self.found[*id as usize] != self.round {
                    self.found[*id as usize] = self.round;
                    open.extend_from_slice(&flows[*id].channels);
                }
            }
        }
    }

    /// Gives the flows of the fullest channel its equal share.
    fn fill(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, channel: u32, rate: f64) {
        for id in &channels[channel as usize].flows {
            if self.found[*id as usize] == self.round + 1 {
                continue;
            }
            self.found[*id as usize] = self.round + 1;
            self.rates.push((*id, rate));
            for crossed in &flows[*id].channels {
                let left = &mut self.left[*crossed as usize];
                left.capacity -= rate;
                left.flows -= 1;
            }
        }
    }

    /// Removes and returns the new rates by flow, in bytes per picosecond.
    pub fn take_rates(&mut self) -> std::vec::Drain<'_, (u32, f64)> {
        self.rates.drain(..)
    }
}
