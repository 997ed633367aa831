//! Max-min fair rates by progressive filling.

use super::{Flow, FlowChannel};
use crate::engine::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Working memory of the sharing, kept from one time to the next.
#[derive(Default)]
pub struct Sharing {
    /// By channel, what is left of it; of this round only where it has its stamp.
    left: Vec<Left>,
    /// By flow, the round in which it was last found, or one more once it has its rate.
    found: Vec<u64>,
    /// New rates, by flow.
    rates: Vec<(u32, f64)>,
    fullest: BinaryHeap<Reverse<(RateBits, u32)>>,
    round: u64,
}

#[derive(Clone, Copy, Default)]
struct Left {
    round: u64,
    capacity: f64,
    /// Flows without a rate.
    flows: u32,
}

/// A rate as bits, which order like the rates themselves: none is negative.
type RateBits = u64;

impl Left {
    fn share(&self) -> RateBits {
        (self.capacity.max(0.0) / f64::from(self.flows)).to_bits()
    }
}

impl Sharing {
    pub fn new(channels: usize) -> Self {
        Self { left: vec![Left::default(); channels], ..Self::default() }
    }

    pub fn add_channel(&mut self) {
        self.left.push(Left::default());
    }

    /// Shares out the changed channels, and all that have a flow with them or with each other in common.
    pub fn share(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, changed: Vec<u32>) {
        self.round += 2;
        self.found.resize(flows.places(), 0);
        self.reach(channels, flows, changed);
        while let Some(Reverse((share, channel))) = self.fullest.pop() {
            let left = self.left[channel as usize];
            if left.flows == 0 {
                continue;
            }
            // Shares grow only: one that is out of date has been too small.
            if left.share() > share {
                self.fullest.push(Reverse((left.share(), channel)));
                continue;
            }
            self.fill(channels, flows, channel, f64::from_bits(share));
        }
    }

    /// Finds the channels concerned.
    fn reach(&mut self, channels: &[FlowChannel], flows: &Slab<Flow>, mut open: Vec<u32>) {
        while let Some(channel) = open.pop() {
            let left = &mut self.left[channel as usize];
            let FlowChannel { capacity, flows: on, .. } = &channels[channel as usize];
            if left.round == self.round || on.is_empty() {
                continue;
            }
            let count = u32::try_from(on.len()).expect("fewer than 2^32 messages at once");
            *left = Left { round: self.round, capacity: *capacity, flows: count };
            self.fullest.push(Reverse((left.share(), channel)));
            for id in on {
                if self.found[*id as usize] != self.round {
                    self.found[*id as usize] = self.round;
                    open.extend_from_slice(&flows[*id].channels);
                }
            }
        }
    }

    /// The flows of the fullest channel get its share.
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

    /// Returns the new rates, in bytes per picosecond, by flow.
    pub fn take_rates(&mut self) -> std::vec::Drain<'_, (u32, f64)> {
        self.rates.drain(..)
    }
}
