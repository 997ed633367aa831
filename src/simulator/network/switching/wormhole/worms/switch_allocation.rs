//! Switch allocation: the selection of the flits that cross the crossbar. Every input port selects a channel, every
//! output port selects an input port, both round robin.

use super::Worms;
use super::arrival::Transit;
use super::buffers::{Input, RoundRobin};
use super::layout::{NONE, RouterShape, WORDS};
use super::pipeline::Pipeline;
use crate::network::packet::HopEvent;
use std::slice::Iter;

/// The requests that a router has to allocate.
#[derive(Clone, Copy, Default)]
pub(super) struct RouterRequests {
    /// Input channels whose front flit has an output channel with a credit, a bit for each.
    pub(super) ready: [u64; WORDS],
    /// Number of heads without an output channel.
    pub(super) waiting: u32,
    is_active: bool,
}

impl RouterRequests {
    /// Marks an input channel whose front flit can cross; returns `true` if the router was idle before.
    #[inline]
    pub(super) fn set_ready(&mut self, input: &Input) -> bool {
        self.ready[usize::from(input.word)] |= input.mask();
        !std::mem::replace(&mut self.is_active, true)
    }

    /// Registers a head that requests an output channel; returns `true` if the router was idle before.
    pub(super) fn add_waiting(&mut self) -> bool {
        self.waiting += 1;
        !std::mem::replace(&mut self.is_active, true)
    }

    #[inline]
    fn clear_ready(&mut self, input: &Input) {
        self.ready[usize::from(input.word)] &= !input.mask();
    }

    /// Updates and returns whether the router has requests.
    fn update_active(&mut self) -> bool {
        self.is_active = self.waiting != 0 || self.ready != [0; WORDS];
        self.is_active
    }
}

/// The input port that an output port selects, and the channel that this input port selects.
#[derive(Clone, Copy, Default)]
pub(super) struct PortGrant {
    port: u32,
    channel: u32,
}

/// Collects the selected channels of the requested output ports of a router, and advances the round-robin pointers.
#[expect(clippy::inline_always, reason = "called for every router in every cycle")]
#[inline(always)]
fn take_turns(
    turns: &mut [RoundRobin],
    asked: [u64; 2],
    taken: &[PortGrant],
    inputs: &[Input],
    crossings: &mut Vec<u32>,
) {
    for (first, mut asked) in (0..).step_by(64).zip(asked) {
        while asked != 0 {
            let to_port = first + asked.trailing_zeros() as usize;
            asked &= asked - 1;
            let PortGrant { port, channel } = taken[to_port];
            turns[to_port].output = port + 1;
            turns[port as usize].input = u32::from(inputs[channel as usize].lane) + 1;
            crossings.push(channel);
        }
    }
}

impl Worms {
    /// Marks the front flit of `channel`, which has an output channel, as ready if there is a credit.
    pub(super) fn request_crossbar(&mut self, channel: u32) {
        let input = &self.inputs[channel as usize];
        if self.outputs[input.output as usize].room > 0 && self.routers[input.router as usize].set_ready(input) {
            self.active.push(input.router);
        }
    }

    /// Runs the crossbars for a cycle; returns whether any flit has moved.
    pub(super) fn allocate_switches(&mut self, hops: &mut Vec<HopEvent>) -> bool {
        match (&self.islip, &self.matrix) {
            (Some(_), _) => self.match_ports_by_islip(),
            (_, Some(_)) => self.match_ports_by_matrix(),
            _ => self.match_ports(),
        }
        let crossings = std::mem::take(&mut self.crossings);
        let mut channels = crossings.iter();
        while let Some(channel) = self.cross_bodies(&mut channels) {
            self.cross_with_end(channel, hops);
        }
        self.crossings = crossings;
        !self.crossings.is_empty()
    }

    /// Removes routers without requests from the active ones.
    pub(super) fn leave_idle_routers(&mut self) {
        let Self { active, routers, .. } = self;
        active.retain(|router| routers[*router as usize].update_active());
    }

    /// Matches ports: every input port with ready channels selects one, and every requested output port selects the
    /// next input port in turn. Collects the channels whose flits cross, router by router and by ascending output port.
    fn match_ports(&mut self) {
        let RouterShape { ports, of_router, of_word, of_port, .. } = self.shape;
        let Self { inputs, turns, taken, routers, active, crossings, .. } = self;
        let (inputs, routers, taken) = (&inputs[..], &routers[..], &mut taken[..]);
        crossings.clear();
        for &router in active.iter() {
            let first = (router * ports) as usize;
            let turns = &mut turns[first..first + ports as usize];
            let mut asked = [0_u64; 2];
            let mut first = router * of_router;
            for ready in &routers[router as usize].ready {
                let mut ready = *ready;
                while ready != 0 {
                    let mut channel = first + ready.trailing_zeros();
                    let mut input = &inputs[channel as usize];
                    let (port, lane) = (u32::from(input.port), u32::from(input.lane));
                    let shift = u32::from(input.bit) - lane;
                    let lanes = ready >> shift & of_port;
                    ready &= !(of_port << shift);
                    if lanes & (lanes - 1) != 0 {
                        channel += next_bit(lanes, turns[port as usize].input) - lane;
                        input = &inputs[channel as usize];
                    }
                    let to_port = usize::from(input.to_port);
                    let (asked, bit) = (&mut asked[usize::from(to_port >= 64)], 1 << (to_port % 64));
                    let (taken, turn) = (&mut taken[to_port], turns[to_port].output);
                    // Input ports are visited in ascending order: the first one wins, unless a later one is the first
                    // from the round-robin pointer on.
                    if *asked & bit == 0 || taken.port < turn && port >= turn {
                        *taken = PortGrant { port, channel };
                    }
                    *asked |= bit;
                }
                first += of_word;
            }
            take_turns(turns, asked, taken, inputs, crossings);
        }
    }

    /// Moves body flits through the crossbar up to the next head or tail, whose channel is returned for
    /// [`cross_with_end`](Self::cross_with_end).
    fn cross_bodies(&mut self, channels: &mut Iter<u32>) -> Option<u32> {
        let Self { inputs, outputs, routers, pipeline: Pipeline { transits, credits, .. }, sources, .. } = self;
        let (inputs, outputs, routers) = (&mut inputs[..], &mut outputs[..], &mut routers[..]);
        for &channel in channels {
            let input = &mut inputs[channel as usize];
            match input.before {
                NONE => sources[input.router as usize].is_blocked = false,
                before => credits.of(input.wire).slot().push(before),
            }
            input.count -= 1;
            input.left -= 1;
            let output = &mut outputs[input.output as usize];
            output.room -= 1;
            if input.left == 0 || input.front.is_head() {
                return Some(channel);
            }
            if output.behind != NONE {
                transits.of(output.wire).slot().push(Transit { to: output.behind, flit: input.front });
            }
            if input.count == 0 || output.room == 0 {
                routers[input.router as usize].clear_ready(input);
            }
        }
        None
    }

    /// Moves a head or tail flit out of `channel`; its credit and counts are already updated.
    fn cross_with_end(&mut self, channel: u32, hops: &mut Vec<HopEvent>) {
        let input = &mut self.inputs[channel as usize];
        let flit = input.front.ending(input.left == 0);
        input.front = input.front.next();
        let output = &mut self.outputs[input.output as usize];
        output.packets += u32::from(flit.is_head());
        if output.behind != NONE {
            self.pipeline.transits.of(output.wire).slot().push(Transit { to: output.behind, flit });
        } else if flit.is_head() {
            self.table[flit.worm() as usize].out = self.next;
        }
        if flit.is_tail() || input.count == 0 || output.room == 0 {
            self.routers[input.router as usize].clear_ready(input);
        }
        if flit.is_tail() {
            self.end_worm(channel, hops);
        }
    }

    /// Releases what a worm held after its tail has crossed, and brings the next head to the front.
    fn end_worm(&mut self, channel: u32, hops: &mut Vec<HopEvent>) {
        let input = self.inputs[channel as usize];
        let (worm, output) = (input.front.worm(), &mut self.outputs[input.output as usize]);
        output.flits += u64::from(self.table[worm as usize].flits);
        if output.behind == NONE {
            output.room = u32::MAX;
            let worm_state = &mut self.table[worm as usize];
            worm_state.stalled_cycles = (self.next + 1 - worm_state.out).saturating_sub(worm_state.flits.into());
            self.pipeline.ejections.slot().push((input.router, worm));
        }
        let vacated = &mut self.inputs[channel as usize];
        (vacated.to_port, vacated.output) = (Input::NOWHERE, NONE);
        self.release_channel(input);
        if input.count > 0 {
            let worm = self.heads.pop(channel);
            self.start_head(channel, worm, hops);
        }
    }
}

/// Returns the lowest bit from `turn` on, or the lowest of all if there is none.
pub(super) const fn next_bit(bits: u64, turn: u32) -> u32 {
    // The shift wraps, so that a `turn` of 64 is 0.
    let later = bits.wrapping_shr(turn).wrapping_shl(turn);
    if later == 0 { bits.trailing_zeros() } else { later.trailing_zeros() }
}
