//! Arrival of flits at the next buffer or the node, and of credits at the upstream router.

use super::Worms;
use super::buffers::{self, Output};
use super::layout::{Flit, NONE, RouterShape};
use crate::network::packet::{ForwardedBy, HopEvent};
use crate::network::virtual_channels::{Hop, LastHop};
use std::slice::Iter;

/// A flit between a crossbar and the next buffer.
#[derive(Clone, Copy)]
pub(super) struct Transit {
    /// The input channel at which the flit arrives.
    pub(super) to: u32,
    pub(super) flit: Flit,
}

impl Worms {
    /// Puts the flits that arrive in `cycle` into their buffers, then returns credits to the upstream routers.
    pub(super) fn take_transits(&mut self, cycle: u64, hops: &mut Vec<HopEvent>) {
        for wire in self.pipeline.transits.numbers() {
            let list = self.pipeline.transits.of(wire).take(cycle);
            if self.recorder.is_some() {
                self.record_arrivals(cycle, wire, &list);
            }
            let mut transits = list.iter();
            while let Some(Transit { to, flit }) = self.take_bodies(&mut transits) {
                if flit.is_tail() {
                    self.report_departure(to, flit, hops);
                }
                self.push(to, flit, hops);
            }
            self.pipeline.transits.of(wire).give_back(list);
        }
        for wire in self.pipeline.credits.numbers() {
            self.take_credits(cycle, wire);
        }
    }

    /// Reports that a packet has left its source, if the link over which its tail has arrived begins there.
    fn report_departure(&self, channel: u32, tail: Flit, hops: &mut Vec<HopEvent>) {
        let worm = &self.table[tail.worm() as usize];
        if self.shape.router(self.inputs[channel as usize].before) == worm.route.from {
            hops.push(HopEvent::Left { packet: worm.packet, from: worm.route.from });
        }
    }

    /// Puts body flits into their buffers up to the next flit that is the head or the tail of its worm, which is
    /// returned.
    fn take_bodies(&mut self, transits: &mut Iter<Transit>) -> Option<Transit> {
        let Self { inputs, outputs, routers, active, .. } = self;
        let (inputs, outputs, routers) = (&mut inputs[..], &outputs[..], &mut routers[..]);
        for &transit in transits {
            let input = &mut inputs[transit.to as usize];
            if !transit.flit.is_between() {
                return Some(transit);
            }
            input.count += 1;
            let can_cross = input.count == 1 && outputs[input.output as usize].room > 0;
            if can_cross && routers[input.router as usize].set_ready(input) {
                active.push(input.router);
            }
        }
        None
    }

    /// Returns the credits that arrive in `cycle` over links of one latency.
    fn take_credits(&mut self, cycle: u64, wire: u8) {
        let credits = self.pipeline.credits.of(wire).take(cycle);
        let Self { inputs, outputs, routers, active, .. } = self;
        let (inputs, outputs) = (&inputs[..], &mut outputs[..]);
        for &credit in &credits {
            let Output { room, holder, .. } = &mut outputs[credit as usize];
            *room += 1;
            if *room == 1 && *holder != NONE {
                let input = &inputs[*holder as usize];
                let can_cross = input.count > 0 && input.output == credit;
                if can_cross && routers[input.router as usize].set_ready(input) {
                    active.push(input.router);
                }
            }
        }
        self.pipeline.credits.of(wire).give_back(credits);
    }

    /// Puts a flit at the end of a buffer that has space.
    pub(super) fn push(&mut self, channel: u32, flit: Flit, hops: &mut Vec<HopEvent>) {
        if flit.is_head() {
            self.push_head(channel, flit.worm(), hops);
            return;
        }
        let input = &mut self.inputs[channel as usize];
        input.count += 1;
        if input.count == 1 {
            self.request_crossbar(channel);
        }
    }

    fn push_head(&mut self, channel: u32, worm: u32, hops: &mut Vec<HopEvent>) {
        let input = &mut self.inputs[channel as usize];
        input.count += 1;
        if input.count == 1 {
            self.start_head(channel, worm, hops);
        } else {
            self.heads.push(channel, worm);
        }
    }

    /// Handles the head of a worm that reaches the front of its buffer.
    pub(super) fn start_head(&mut self, channel: u32, number: u32, hops: &mut Vec<HopEvent>) {
        let worm = &mut self.table[number as usize];
        let input = &mut self.inputs[channel as usize];
        (input.front, input.left) = (Flit::head(number), worm.flits);
        let router = input.router;
        let needs_software =
            self.onward == ForwardedBy::Software && worm.packet.to != router && worm.route.from != router;
        if needs_software {
            worm.held_at = channel;
            hops.push(HopEvent::Arrived { packet: worm.packet, at: router });
        } else {
            self.route(channel);
        }
    }

    /// Starts to compute the route of the head at the front of `channel`; the head then requests a virtual channel.
    #[inline]
    pub(super) fn route(&mut self, channel: u32) {
        match u64::from(self.router.routing) {
            0 => self.request(channel),
            cycles => self.pipeline.routing.put(self.next + cycles - 1, channel),
        }
    }

    /// Has the heads whose routes are complete in `cycle` request virtual channels from the next cycle on.
    pub(super) fn end_routing(&mut self, cycle: u64) {
        while let Some(channel) = self.pipeline.routing.take(cycle) {
            self.request(channel);
        }
    }

    /// Selects the route of the head at the front of `channel` and requests a virtual channel.
    #[inline]
    pub(super) fn request(&mut self, channel: u32) {
        let RouterShape { ports, links, lanes, classes, .. } = self.shape;
        let input = self.inputs[channel as usize];
        let router = input.router;
        let worm = &mut self.table[input.front.worm() as usize];
        let to = worm.packet.to;
        let (to_port, class) = if to == router {
            (links, 0)
        } else {
            let load = |port| buffers::load(&self.outputs, self.shape, self.shape.first(router, port));
            let to_port = self.guide.leave(&mut worm.route, &self.topology, (router, to), load);
            let class = if self.classes.are_many() && !self.leaves.contain(router) {
                let behind = self.outputs[self.shape.first(router, to_port) as usize].behind;
                let (next, to) = (self.inputs[behind as usize].router, worm.route.target(to));
                let hop = Hop { at: router, port: to_port, next, to, leg: worm.route.leg() };
                let last_hop = LastHop { port: input.port.into(), class: u32::from(input.lane) / lanes };
                let holds_class = last_hop.port < links && !self.leaves.contain(self.shape.router(input.before));
                let last_hop = holds_class.then_some(last_hop);
                self.classes.next(&self.topology, last_hop, hop)
            } else {
                0
            };
            (to_port, class)
        };
        let group = (router * ports + to_port) * classes + class;
        let input = &mut self.inputs[channel as usize];
        (input.to_port, input.group) = (buffers::narrow(to_port), group);
        self.wait_for_channel(channel, router, group);
    }

    /// Hands over the worms whose tails have reached their nodes in `cycle`, and frees the places of those that were
    /// handed over before.
    pub(super) fn eject(&mut self, cycle: u64, hops: &mut Vec<HopEvent>) {
        let list = self.pipeline.ejections.take(cycle);
        self.table.vacate();
        for &(at, worm) in &list {
            hops.push(HopEvent::Arrived { packet: self.table[worm as usize].packet, at });
            self.table.leave(worm);
        }
        self.pipeline.ejections.give_back(list);
    }
}
