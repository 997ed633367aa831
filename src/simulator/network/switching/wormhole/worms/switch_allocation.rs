//! Switch allocation: which flit crosses the crossbar. Every input port names a channel, every output port takes an input
//! port, both round robin.

use super::Worms;
use super::arrival::Transit;
use super::buffers::Input;
use super::layout::{NONE, Shape, WORDS};
use crate::network::packet::HopEvent;

/// What a router has to allocate.
#[derive(Clone, Copy, Default)]
pub(super) struct Router {
    /// Input channels with a flit that has an output channel and room behind that, a bit for each.
    ready: [u64; WORDS],
    /// How many heads have no output channel.
    pub(super) waiting: u32,
    is_active: bool,
}

impl Router {
    /// The front of an input channel can cross; true if the router had nothing to allocate before.
    #[inline]
    pub(super) fn set_ready(&mut self, input: &Input) -> bool {
        self.ready[usize::from(input.word)] |= input.mask();
        !std::mem::replace(&mut self.is_active, true)
    }

    /// A head asks for an output channel; true if the router had nothing to allocate before.
    pub(super) fn add_waiting(&mut self) -> bool {
        self.waiting += 1;
        !std::mem::replace(&mut self.is_active, true)
    }

    #[inline]
    fn clear_ready(&mut self, input: &Input) {
        self.ready[usize::from(input.word)] &= !input.mask();
    }

    /// Goes on only if there is anything to allocate; whether there is.
    fn go_on(&mut self) -> bool {
        self.is_active = self.waiting != 0 || self.ready != [0; WORDS];
        self.is_active
    }
}

/// The input port that an output port takes, and the channel that it names.
#[derive(Clone, Copy, Default)]
pub(super) struct Taken {
    port: u32,
    channel: u32,
}

impl Worms {
    /// The front of `channel`, which has an output channel, can cross if there is room behind that.
    pub(super) fn ask_for_crossbar(&mut self, channel: u32) {
        let input = &self.inputs[channel as usize];
        if self.outputs[input.output as usize].room > 0 && self.routers[input.router as usize].set_ready(input) {
            self.active.push(input.router);
        }
    }

    /// Plays the crossbars of a cycle; whether anything has moved.
    pub(super) fn allocate_switches(&mut self, passages: &mut Vec<HopEvent>) -> bool {
        let mut has_moved = false;
        let active = std::mem::take(&mut self.active);
        for &router in &active {
            if self.routers[router as usize].ready != [0; WORDS] {
                has_moved = true;
                self.allocate_switch(router, passages);
            }
        }
        debug_assert!(self.active.is_empty(), "only active routers have moved anything");
        self.active = active;
        has_moved
    }

    /// Routers without anything to allocate are left alone until something comes.
    pub(super) fn leave_idle_routers(&mut self) {
        let Self { active, routers, .. } = self;
        active.retain(|router| routers[*router as usize].go_on());
    }

    /// Input ports name channels, output ports take them: those of 64 output ports, then those of the next. (What has
    /// more ports has one channel for each, so that an input port names the same one again.)
    fn allocate_switch(&mut self, router: u32, passages: &mut Vec<HopEvent>) {
        let mut least = 0;
        while least < self.shape.ports {
            let mut asked = self.name_channels(router, least);
            while let Some(channel) = self.take_channels(router, least, &mut asked) {
                self.cross_with_end(channel, passages);
            }
            least += u64::BITS;
        }
    }

    /// Every input port of `router` with channels that are ready names one, and the output ports from `least` on take
    /// the next ones in turn; which of them take any.
    fn name_channels(&mut self, router: u32, least: u32) -> u64 {
        let Shape { ports, of_router, of_word, of_port, .. } = self.shape;
        let Self { inputs, turns, taken, routers, .. } = self;
        let (inputs, taken) = (&inputs[..], &mut taken[..]);
        let first = (router * ports) as usize;
        let turns = &turns[first..first + ports as usize];
        let mut asked = 0_u64;
        let mut first = router * of_router;
        for mut ready in routers[router as usize].ready {
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
                let to_port = u32::from(input.to_port);
                let place = to_port.wrapping_sub(least);
                if place >= u64::BITS {
                    continue;
                }
                // Ports come by rising number: the first one is taken, unless another is the first from the turn on.
                let (taken, turn) = (&mut taken[to_port as usize], turns[to_port as usize].output);
                if asked >> place & 1 == 0 || taken.port < turn && port >= turn {
                    *taken = Taken { port, channel };
                }
                asked |= 1 << place;
            }
            first += of_word;
        }
        asked
    }

    /// Flits cross that output ports from `least` on, those that are `asked`, have taken: until one is the first or the
    /// last one of its worm, which is left to [`cross_with_end`](Self::cross_with_end).
    fn take_channels(&mut self, router: u32, least: u32, asked: &mut u64) -> Option<u32> {
        let ports = self.shape.ports;
        let Self { inputs, outputs, turns, taken, routers, transits, sources, .. } = self;
        let (inputs, outputs, taken, transits) = (&mut inputs[..], &mut outputs[..], &taken[..], transits.slot());
        let first = (router * ports) as usize;
        let turns = &mut turns[first..first + ports as usize];
        let state = &mut routers[router as usize];
        while *asked != 0 {
            let to_port = least + asked.trailing_zeros();
            *asked &= *asked - 1;
            let Taken { port, channel } = taken[to_port as usize];
            turns[to_port as usize].output = port + 1;
            let input = &mut inputs[channel as usize];
            turns[port as usize].input = u32::from(input.lane) + 1;
            if input.before == NONE {
                sources[router as usize].is_blocked = false;
            }
            input.count -= 1;
            input.left -= 1;
            let output = &mut outputs[input.output as usize];
            output.room -= 1;
            if input.left == 0 || input.front.is_head() {
                return Some(channel);
            }
            transits.push(Transit { to: output.behind, flit: input.front, credit: input.before });
            if input.count == 0 || output.room == 0 {
                state.clear_ready(input);
            }
        }
        None
    }

    /// The first or the last flit of a worm leaves `channel`.
    fn cross_with_end(&mut self, channel: u32, passages: &mut Vec<HopEvent>) {
        let input = &mut self.inputs[channel as usize];
        let flit = input.front.ending(input.left == 0);
        input.front = input.front.next();
        let output = &mut self.outputs[input.output as usize];
        output.packets += u32::from(flit.is_head());
        self.transits.slot().push(Transit { to: output.behind, flit, credit: input.before });
        if flit.is_tail() || input.count == 0 || output.room == 0 {
            self.routers[input.router as usize].clear_ready(input);
        }
        if flit.is_tail() {
            self.end_worm(channel, passages);
        }
    }

    /// A tail has crossed: what it held is free, and the next head comes to the front.
    fn end_worm(&mut self, channel: u32, passages: &mut Vec<HopEvent>) {
        let input = self.inputs[channel as usize];
        let (worm, output) = (input.front.worm(), &mut self.outputs[input.output as usize]);
        output.flits += u64::from(self.crowd[worm as usize].flits);
        if output.behind == NONE {
            output.room = u32::MAX;
            self.ejections.slot().push((input.router, worm));
        }
        self.inputs[channel as usize].to_port = Input::NOWHERE;
        self.give_channel_back(input);
        if input.count > 0 {
            let worm = self.heads.pop(channel);
            self.meet_head(channel, worm, passages);
        }
    }
}

/// The lowest bit from `turn` on, or the lowest of all.
const fn next_bit(bits: u64, turn: u32) -> u32 {
    // From 64 on is from 0 on.
    let later = bits.wrapping_shr(turn).wrapping_shl(turn);
    if later == 0 { bits.trailing_zeros() } else { later.trailing_zeros() }
}
