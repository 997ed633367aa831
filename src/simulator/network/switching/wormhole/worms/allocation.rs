//! What routers decide in a cycle: which head gets which virtual channel, which flit the crossbar.

use super::layout::{NONE, Shape};
use super::{TO_CREDIT, TO_NEXT_BUFFER, TO_NODE, Worms};
use crate::network::packet::HopEvent;
use crate::network::switching::wormhole::MAX_INPUTS;
use std::ops::Range;

/// What a router has to allocate, one bit for each input channel.
#[derive(Clone, Default)]
pub(super) struct Router {
    /// Heads without an output channel.
    pub(super) waiting: u128,
    /// Channels with a flit that has room at the other end.
    pub(super) ready: u128,
    pub(super) is_active: bool,
    /// The place at which round robin goes on, by port.
    pub(super) input_turn: Vec<u32>,
    pub(super) output_turn: Vec<u32>,
    /// By output channel.
    pub(super) channel_turn: Vec<u8>,
}

impl Worms {
    pub(super) fn activate(&mut self, router: u32) {
        let state = &mut self.routers[router as usize];
        if !state.is_active {
            state.is_active = true;
            self.active.push(router);
        }
    }

    /// A channel is ready while it has a flit, an output channel, and room at its end.
    pub(super) fn update_ready(&mut self, channel: u32) {
        let output = self.inputs.output[channel as usize];
        let is_ready =
            output != NONE && self.inputs.count[channel as usize] > 0 && self.outputs.room[output as usize] > 0;
        let router = self.shape.router(channel);
        let state = &mut self.routers[router as usize];
        if is_ready {
            state.ready |= self.shape.bit(channel);
            self.activate(router);
        } else {
            state.ready &= !self.shape.bit(channel);
        }
    }

    /// VC allocation: heads that ask for the same class of a port share its free virtual channels, and every channel
    /// takes the next one in turn after whom it served last.
    pub(super) fn allocate_channels(&mut self) -> bool {
        for index in 0..self.active.len() {
            let router = self.active[index];
            if self.routers[router as usize].waiting != 0 {
                self.allocate_channels_of(router);
            }
        }
        !self.allocated.is_empty()
    }

    fn allocate_channels_of(&mut self, router: u32) {
        let first = router * self.shape.of_router();
        let mut wanted = self.gather_requests(router);
        while wanted != 0 {
            let index = wanted.trailing_zeros();
            wanted &= wanted - 1;
            let mut asking = std::mem::take(&mut self.requests[index as usize]);
            let channels = self.asked_channels(first + asking.trailing_zeros());
            for output in channels {
                if asking == 0 {
                    break;
                }
                if self.outputs.holder[output as usize] == NONE {
                    let turn = &mut self.routers[router as usize].channel_turn[(output - first) as usize];
                    let granted = next_bit(asking, u32::from(*turn));
                    *turn = u8::try_from(granted + 1).expect("a router has at most 128 channels");
                    asking &= !(1 << granted);
                    self.grant(first + granted, output);
                }
            }
        }
    }

    /// Sorts the waiting heads of `router` by the first of the channels that they ask for; which channels are asked for.
    fn gather_requests(&mut self, router: u32) -> u128 {
        let first = router * self.shape.of_router();
        let mut wanted: u128 = 0;
        let mut waiting = self.routers[router as usize].waiting;
        while waiting != 0 {
            let bit = waiting.trailing_zeros();
            waiting &= waiting - 1;
            let asked = self.asked_channels(first + bit).start - first;
            self.requests[asked as usize] |= 1 << bit;
            wanted |= 1 << asked;
        }
        wanted
    }

    /// The virtual channels any of which suits the head at the front of `channel`.
    fn asked_channels(&self, channel: u32) -> Range<u32> {
        let port = self.inputs.port[channel as usize];
        let first = self.shape.first(self.shape.router(channel), port);
        if port == self.shape.links {
            return first..first + self.shape.channels;
        }
        let first = first + self.inputs.class[channel as usize] * self.shape.lanes;
        first..first + self.shape.lanes
    }

    fn grant(&mut self, channel: u32, output: u32) {
        self.outputs.holder[output as usize] = channel;
        self.inputs.output[channel as usize] = output;
        self.routers[self.shape.router(channel) as usize].waiting &= !self.shape.bit(channel);
        self.allocated.push(channel);
    }

    /// What got its virtual channel in this cycle asks for the crossbar in the next one.
    pub(super) fn settle_allocated(&mut self) {
        let mut allocated = std::mem::take(&mut self.allocated);
        for channel in allocated.drain(..) {
            self.update_ready(channel);
        }
        self.allocated = allocated;
        let routers = &mut self.routers;
        self.active.retain(|router| {
            let state = &mut routers[*router as usize];
            state.is_active = state.waiting | state.ready != 0;
            state.is_active
        });
    }

    /// Switch allocation: every input port names a channel, every output port takes an input port.
    pub(super) fn allocate_switches(&mut self, cycle: u64, passages: &mut Vec<HopEvent>) -> bool {
        let mut has_moved = false;
        for index in 0..self.active.len() {
            let router = self.active[index];
            if self.routers[router as usize].ready != 0 {
                has_moved = true;
                self.allocate_switch(cycle, router, passages);
            }
        }
        has_moved
    }

    fn allocate_switch(&mut self, cycle: u64, router: u32, passages: &mut Vec<HopEvent>) {
        let Shape { channels, .. } = self.shape;
        let ports = self.shape.ports();
        let mut asked: u128 = 0;
        let state = &self.routers[router as usize];
        let mask = u128::MAX >> (MAX_INPUTS - channels);
        for port in 0..ports {
            let ready = state.ready >> (port * channels) & mask;
            if ready != 0 {
                let channel = self.shape.first(router, port) + next_bit(ready, state.input_turn[port as usize]);
                let output = self.inputs.port[channel as usize];
                self.named[port as usize] = channel;
                asked |= 1 << output;
                self.asking[output as usize] |= 1 << port;
            }
        }
        while asked != 0 {
            let output = asked.trailing_zeros();
            asked &= asked - 1;
            let state = &mut self.routers[router as usize];
            let asking = std::mem::take(&mut self.asking[output as usize]);
            let port = next_bit(asking, state.output_turn[output as usize]);
            let channel = self.named[port as usize];
            state.output_turn[output as usize] = port + 1;
            state.input_turn[port as usize] = channel % channels + 1;
            self.cross(cycle, channel, passages);
        }
    }

    /// The front flit of `channel` crosses the crossbar.
    fn cross(&mut self, cycle: u64, channel: u32, passages: &mut Vec<HopEvent>) {
        let index = channel as usize;
        let flit = self.front(channel);
        let (router, port, output) = (self.shape.router(channel), self.inputs.port[index], self.inputs.output[index]);
        self.inputs.first[index] = (self.inputs.first[index] + 1) % self.shape.buffer;
        self.inputs.count[index] -= 1;
        let before = self.inputs.before[(channel / self.shape.channels) as usize];
        if before != NONE {
            self.credits.put(cycle + TO_CREDIT + self.latency, before + channel % self.shape.channels);
        }
        if port == self.shape.links {
            self.ejections.put(cycle + TO_NODE, (router, flit));
        } else {
            let link = (output / self.shape.channels) as usize;
            self.outputs.room[output as usize] -= 1;
            self.outputs.flits[link] += 1;
            self.outputs.packets[link] += u32::from(flit.is_head());
            self.flit_hops += 1;
            let next = self.outputs.behind[link] + output % self.shape.channels;
            self.arrivals.put(cycle + TO_NEXT_BUFFER + self.latency, (next, flit));
        }
        if !flit.is_tail() {
            self.update_ready(channel);
            return;
        }
        self.outputs.holder[output as usize] = NONE;
        self.inputs.output[index] = NONE;
        self.inputs.port[index] = NONE;
        self.update_ready(channel);
        if self.inputs.count[index] > 0 {
            self.come_to_front(channel, passages);
        }
    }
}

/// The lowest bit from `turn` on, or the lowest of all.
const fn next_bit(bits: u128, turn: u32) -> u32 {
    let later = if turn < u128::BITS { bits >> turn << turn } else { 0 };
    if later == 0 { bits.trailing_zeros() } else { later.trailing_zeros() }
}
