//! Packet sources: packets wait at their node and enter its router flit by flit.

use super::layout::{Flit, NONE};
use super::{Worm, Worms};
use crate::network::packet::HopEvent;
use crate::network::packet::Packet;
use crate::network::route_state::RouteState;
use std::collections::VecDeque;

/// The packets of a node that are not completely in the network yet.
#[derive(Clone, Default)]
pub(super) struct PacketSource {
    queue: VecDeque<u32>,
    /// Number of flits of the first packet that are still to be sent; 0 before its head.
    left: u32,
    /// The input channel of the router that the first packet enters.
    channel: u32,
    /// `true` if the node is in the list of sending nodes.
    is_sending: bool,
}

impl Worms {
    /// Queues a packet at its node, whose router it enters flit by flit.
    pub(super) fn enter(&mut self, at: u32, packet: Packet) {
        let flits = u64::from(packet.bytes).div_ceil(self.flit_bytes).max(1);
        let flits = u32::try_from(flits).expect("a packet has no more flits than bytes");
        let worm = Worm { packet, flits, held_at: NONE, route: RouteState::from(at), out: 0, stalled_cycles: 0 };
        let place = self.table.enter(worm);
        let source = &mut self.sources[at as usize];
        source.queue.push_back(place);
        if !source.is_sending {
            source.is_sending = true;
            self.sending.push(at);
        }
    }

    /// Queues the packets that reach their first router in `cycle`.
    pub(super) fn enter_due(&mut self, cycle: u64) {
        while let Some((at, packet)) = self.pipeline.entering.take(cycle) {
            self.enter(at, packet);
        }
    }

    /// Injects one flit of every source that has a packet and buffer space; returns whether any flit has moved.
    pub(super) fn inject(&mut self, hops: &mut Vec<HopEvent>) -> bool {
        let mut has_moved = false;
        let mut index = 0;
        while let Some(blocked) = self.sending[index..].iter().position(|at| !self.is_blocked(*at)) {
            index += blocked;
            let at = self.sending[index];
            has_moved |= self.inject_at(at, hops);
            let source = &mut self.sources[at as usize];
            if source.queue.is_empty() {
                source.is_sending = false;
                self.sending.swap_remove(index);
            } else {
                index += 1;
            }
        }
        has_moved
    }

    /// Returns whether a source is in the middle of a packet whose next flit finds no space.
    #[inline]
    fn is_blocked(&self, at: u32) -> bool {
        let source = &self.sources[at as usize];
        source.left > 0 && self.inputs[source.channel as usize].count == self.shape.buffer
    }

    /// Injects the next flit of a source that is not blocked, unless it is a head without space.
    fn inject_at(&mut self, at: u32, hops: &mut Vec<HopEvent>) -> bool {
        let is_head = self.sources[at as usize].left == 0;
        if is_head && !self.begin_packet(at) {
            return false;
        }
        let source = &mut self.sources[at as usize];
        let (channel, worm) = (source.channel, source.queue[0]);
        source.left -= 1;
        if source.left == 0 {
            source.queue.pop_front();
        }
        let head = Flit::head(worm);
        self.push(channel, if is_head { head } else { head.next() }, hops);
        true
    }

    /// Begins the next packet of a source, if there is space for its head.
    fn begin_packet(&mut self, at: u32) -> bool {
        let channel = self.emptiest_channel(at);
        let has_space = self.inputs[channel as usize].count < self.shape.buffer;
        if has_space {
            let source = &mut self.sources[at as usize];
            (source.left, source.channel) = (self.table[source.queue[0] as usize].flits, channel);
        }
        has_space
    }

    /// Returns the input channel from the node with the fewest flits; the first one in a tie.
    fn emptiest_channel(&self, at: u32) -> u32 {
        let first = self.shape.first(at, self.shape.links);
        let channels = first..first + self.shape.channels;
        let emptiest = channels.min_by_key(|channel| self.inputs[*channel as usize].count);
        emptiest.expect("a port has a virtual channel")
    }
}
