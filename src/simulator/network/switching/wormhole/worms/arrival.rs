//! What has come through a link or a crossbar: flits to the next buffer or to the node, and the room that they leave.

use super::Worms;
use super::layout::{Flit, NONE};
use crate::network::packet::{HopEvent, Onward};
use crate::network::virtual_channels::{Came, Hop};

impl Worms {
    pub(super) fn take_arrivals(&mut self, cycle: u64, passages: &mut Vec<HopEvent>) {
        let list = self.arrivals.take(cycle);
        if self.recorder.is_some() {
            self.record_arrivals(cycle, &list);
        }
        for &(channel, flit) in &list {
            let worm = &self.crowd[flit.worm() as usize];
            if flit.is_tail() {
                let before = self.inputs.before[(channel / self.shape.channels) as usize];
                if self.shape.router(before) == worm.source {
                    passages.push(HopEvent::Left { packet: worm.packet, from: worm.source });
                }
            }
            self.push(channel, flit, passages);
        }
        self.arrivals.give_back(cycle, list);
    }

    pub(super) fn push(&mut self, channel: u32, flit: Flit, passages: &mut Vec<HopEvent>) {
        let index = channel as usize;
        let place = (self.inputs.first[index] + self.inputs.count[index]) % self.shape.buffer;
        self.inputs.flits[(channel * self.shape.buffer + place) as usize] = flit;
        self.inputs.count[index] += 1;
        if self.inputs.count[index] == 1 {
            self.come_to_front(channel, passages);
        }
    }

    /// A flit is at the front of its buffer that was not before.
    pub(super) fn come_to_front(&mut self, channel: u32, passages: &mut Vec<HopEvent>) {
        let flit = self.front(channel);
        if !flit.is_head() {
            self.update_ready(channel);
            return;
        }
        let router = self.shape.router(channel);
        let worm = &mut self.crowd[flit.worm() as usize];
        let needs_software = self.onward == Onward::BySoftware && worm.packet.to != router && worm.source != router;
        if needs_software {
            worm.held_at = channel;
            passages.push(HopEvent::Arrived { packet: worm.packet, at: router });
        } else {
            self.request(channel);
        }
    }

    /// The head at the front of `channel` asks for a virtual channel.
    pub(super) fn request(&mut self, channel: u32) {
        let (router, port_in) = (self.shape.router(channel), self.shape.port(channel));
        let to = self.crowd[self.front(channel).worm() as usize].packet.to;
        let index = channel as usize;
        if to == router {
            (self.inputs.port[index], self.inputs.class[index]) = (self.shape.links, 0);
        } else {
            let (shape, outputs) = (self.shape, &self.outputs);
            let load = |port| outputs.load(shape.first(router, port), shape);
            let port = self.guide.port(&self.topology, router, to, load);
            let (next, _) = self.topology.neighbour(router, port).expect("routes follow links");
            let came = Came { port: port_in, class: self.class_of(channel) };
            let came = (port_in < self.shape.links).then_some(came);
            self.inputs.port[index] = port;
            self.inputs.class[index] = self.classes.next(&self.topology, came, Hop { at: router, port, next, to });
        }
        self.routers[router as usize].waiting |= self.shape.bit(channel);
        self.activate(router);
    }

    pub(super) fn front(&self, channel: u32) -> Flit {
        self.inputs.flits[(channel * self.shape.buffer + self.inputs.first[channel as usize]) as usize]
    }

    pub(super) fn take_credits(&mut self, cycle: u64) {
        let list = self.credits.take(cycle);
        for &output in &list {
            self.outputs.room[output as usize] += 1;
            let holder = self.outputs.holder[output as usize];
            if holder != NONE && self.inputs.output[holder as usize] == output {
                self.update_ready(holder);
            }
        }
        self.credits.give_back(cycle, list);
    }

    pub(super) fn eject(&mut self, cycle: u64, passages: &mut Vec<HopEvent>) {
        let list = self.ejections.take(cycle);
        for &(at, flit) in list.iter().filter(|(_, flit)| flit.is_tail()) {
            let packet = self.crowd[flit.worm() as usize].packet;
            passages.push(HopEvent::Arrived { packet, at });
            self.vacant.push(flit.worm());
        }
        self.ejections.give_back(cycle, list);
    }
}
