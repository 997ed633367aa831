//! Packets that wait at their source, and go into its router flit by flit.

use super::layout::{Flit, NONE};
use super::{Worm, Worms};
use crate::network::packet::HopEvent;
use crate::network::packet::Packet;
use std::collections::VecDeque;

/// Packets that are not in the network yet.
#[derive(Clone, Default)]
pub(super) struct Source {
    queue: VecDeque<u32>,
    sent: u32,
    channel: u32,
    is_sending: bool,
}

impl Worms {
    pub(super) fn enter(&mut self, at: u32, packet: Packet) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.crowd.push(Worm { packet, source: at, flits: 0, held_at: NONE });
            u32::try_from(self.crowd.len() - 1).expect("fewer than a thousand million packets at once")
        });
        let flits = u64::from(packet.bytes).div_ceil(self.flit_bytes).max(1);
        let flits = u32::try_from(flits).expect("a packet has no more flits than bytes");
        self.crowd[place as usize] = Worm { packet: Packet { place, ..packet }, source: at, flits, held_at: NONE };
        let source = &mut self.sources[at as usize];
        source.queue.push_back(place);
        if !source.is_sending {
            source.is_sending = true;
            self.sending.push(at);
        }
    }

    /// Every source that has a packet puts one flit into its router, if there is room.
    pub(super) fn inject(&mut self, passages: &mut Vec<HopEvent>) -> bool {
        let mut has_moved = false;
        let mut index = 0;
        while let Some(&at) = self.sending.get(index) {
            has_moved |= self.inject_at(at, passages);
            if self.sources[at as usize].queue.is_empty() {
                self.sources[at as usize].is_sending = false;
                self.sending.swap_remove(index);
            } else {
                index += 1;
            }
        }
        has_moved
    }

    fn inject_at(&mut self, at: u32, passages: &mut Vec<HopEvent>) -> bool {
        if self.sources[at as usize].sent == 0 {
            let first = self.shape.first(at, self.shape.links);
            let emptiest =
                (first..first + self.shape.channels).min_by_key(|channel| self.inputs.count[*channel as usize]);
            self.sources[at as usize].channel = emptiest.expect("a port has a virtual channel");
        }
        let source = &mut self.sources[at as usize];
        let channel = source.channel;
        if self.inputs.count[channel as usize] == self.shape.buffer {
            return false;
        }
        let worm = source.queue[0];
        let is_tail = source.sent + 1 == self.crowd[worm as usize].flits;
        let flit = Flit::new(worm, source.sent == 0, is_tail);
        source.sent += 1;
        if is_tail {
            source.sent = 0;
            source.queue.pop_front();
        }
        self.push(channel, flit, passages);
        true
    }
}
