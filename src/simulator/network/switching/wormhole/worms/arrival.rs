//! Arrival of flits at the next buffer or the node, and of credits at the upstream router.

use super::Worms;
use super::buffers::{self, Input};
use super::departures::FlitDeparture;
use super::layout::{Flit, RouterShape};
use crate::network::packet::{ForwardedBy, HopEvent};
use crate::network::virtual_channels::{Hop, LastHop};

impl Worms {
    /// Puts the flits that arrive in `cycle` into their buffers, then returns credits to the upstream routers.
    pub(super) fn take_transits(&mut self, cycle: u64, hops: &mut Vec<HopEvent>) {
        for wire in self.pipeline.departures.wires() {
            let departed = self.pipeline.departures.departure_of_flits(cycle, wire);
            let only = self.pipeline.departures.only(wire);
            let list = self.pipeline.departures.take(departed);
            if self.recorder.is_some() {
                self.record_arrivals(cycle, wire, &list);
            }
            let mut departures = &list[..];
            while let Some(FlitDeparture { to, flit, .. }) = self.take_bodies(&mut departures, only) {
                if flit.is_tail() {
                    self.report_departure(to, flit, hops);
                }
                self.push(to, flit, hops);
            }
            self.pipeline.departures.give_back(departed, list);
        }
        for wire in self.pipeline.departures.wires() {
            let departed = self.pipeline.departures.departure_of_credits(cycle, wire);
            let only = self.pipeline.departures.only(wire);
            let list = self.pipeline.departures.take(departed);
            self.take_credits(&list, only);
            self.pipeline.departures.give_back(departed, list);
        }
    }

    /// Reports that a packet has left its source, if the link over which its tail has arrived begins there.
    fn report_departure(&self, channel: u32, tail: Flit, hops: &mut Vec<HopEvent>) {
        let worm = &self.table[tail.worm() as usize];
        if self.shape.router(self.inputs[channel as usize].before) == worm.route.from {
            hops.push(HopEvent::Left { packet: worm.packet, from: worm.route.from });
        }
    }

    /// Puts body flits that arrive over links of one latency, of all links if `only` is `None`, into their buffers, up to
    /// the next flit that is the head or the tail of its worm, which is returned.
    fn take_bodies(&mut self, departures: &mut &[FlitDeparture], only: Option<u8>) -> Option<FlitDeparture> {
        let Self { inputs, outputs, requests, .. } = self;
        let (inputs, outputs) = (&mut inputs[..], &outputs[..]);
        let mut remaining = *departures;
        while let Some((&departure, others)) = remaining.split_first() {
            remaining = others;
            // `NONE` is beyond the end, too.
            let Some(input) =
                inputs.get_mut(departure.to as usize).filter(|input| only.is_none_or(|wire| input.wire == wire))
            else {
                continue;
            };
            if !departure.flit.is_between() {
                *departures = remaining;
                return Some(departure);
            }
            input.count += 1;
            if input.count == 1 && outputs[input.output as usize].room > 0 {
                requests.set_ready(input);
            }
        }
        None
    }

    /// Returns the credits that arrive over links of one latency, of all links if `only` is `None`.
    fn take_credits(&mut self, departures: &[FlitDeparture], only: Option<u8>) {
        let Self { inputs, outputs, requests, .. } = self;
        let (inputs, outputs) = (&inputs[..], &mut outputs[..]);
        for &FlitDeparture { credited, .. } in departures {
            // `NONE` is beyond the end, too.
            let Some(output) =
                outputs.get_mut(credited as usize).filter(|output| only.is_none_or(|wire| output.wire == wire))
            else {
                continue;
            };
            output.room += 1;
            if output.room == 1
                && let Some(holder) = inputs.get(output.holder as usize)
                && holder.count > 0
                && holder.output == credited
            {
                requests.set_ready(holder);
            }
        }
    }

    /// Puts a flit at the end of a buffer that has space.
    #[inline]
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
        let RouterShape { ports, links, classes, .. } = self.shape;
        let Input { router, front, .. } = self.inputs[channel as usize];
        let worm = &mut self.table[front.worm() as usize];
        let to = worm.packet.to;
        let (to_port, class) = if to == router {
            (links, 0)
        } else {
            let load = |port| buffers::load(&self.outputs, self.shape, self.shape.first(router, port));
            let to_port = self.guide.leave(&mut worm.route, &self.topology, (router, to), load);
            let has_classes = self.classes.are_many() && !self.leaves.contain(router);
            let route = worm.route;
            (to_port, if has_classes { self.next_class(channel, to_port, (route.target(to), route.leg())) } else { 0 })
        };
        let group = (router * ports + to_port) * classes + class;
        let input = &mut self.inputs[channel as usize];
        (input.to_port, input.group) = (buffers::narrow(to_port), group);
        self.wait_for_channel(channel, router, group);
    }

    /// Returns the class of virtual channels that the head at the front of `channel` needs at a port of its router, on a
    /// leg of its route to the vertex `to`.
    fn next_class(&self, channel: u32, to_port: u32, (to, leg): (u32, u32)) -> u32 {
        let RouterShape { links, lanes, .. } = self.shape;
        let Input { router, port, lane, before, .. } = self.inputs[channel as usize];
        let behind = self.outputs[self.shape.first(router, to_port) as usize].behind;
        let hop = Hop { at: router, port: to_port, next: self.inputs[behind as usize].router, to, leg };
        let last_hop = LastHop { port: port.into(), class: u32::from(lane) / lanes };
        let holds_class = last_hop.port < links && !self.leaves.contain(self.shape.router(before));
        self.classes.next(&self.topology, holds_class.then_some(last_hop), hop)
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
