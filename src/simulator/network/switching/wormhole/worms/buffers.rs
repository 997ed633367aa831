//! The two ends of every virtual channel: the input buffer, and the credits and state at its sender.

use super::layout::{Flit, NONE, RouterShape};
use super::wires::LinkLatencies;
use crate::network::topology::Topology;

/// An input channel: its buffer, and the worm whose flits are at the front.
#[derive(Clone, Copy)]
pub(super) struct Input {
    /// Number of flits in the buffer.
    pub(super) count: u32,
    /// Number of flits of the front worm that have not left the buffer, including those that have not arrived.
    pub(super) left: u32,
    /// The next flit of the front worm.
    pub(super) front: Flit,
    /// The output channel that the worm holds, once it may request the crossbar.
    pub(super) output: u32,
    /// The output channel that the worm holds, from its grant on.
    pub(super) granted: u32,
    /// The output channel of the upstream router that leads here; `NONE` if flits arrive from the node.
    pub(super) before: u32,
    pub(super) router: u32,
    /// The group of virtual channels of which the worm needs one.
    pub(super) group: u32,
    /// The word that has the bit of the channel, in the bit sets of all routers.
    pub(super) word: u32,
    /// The output port of the worm.
    pub(super) to_port: u8,
    /// The port of the channel.
    pub(super) port: u8,
    /// The number of the channel within its port.
    pub(super) lane: u8,
    /// The position of the bit of the channel in that word.
    pub(super) bit: u8,
    /// The index of the latency of the link that leads here.
    pub(super) wire: u8,
}

/// An output channel: its credits, its holder and its load.
#[derive(Clone, Copy)]
pub(super) struct Output {
    /// The credits: number of free flit places in the buffer at the other end; larger than any worm if the channel
    /// leads to the node.
    pub(super) room: u32,
    /// The input channel that holds the output channel; `NONE` if it is free.
    pub(super) holder: u32,
    /// The input channel at the other end; `NONE` if the channel leads to the node.
    pub(super) behind: u32,
    /// The next input of the router in round-robin order.
    pub(super) turn: u32,
    /// Number of flits of the worms whose tails have been sent to the channel.
    pub(super) flits: u64,
    /// The index of the latency of the link.
    pub(super) wire: u8,
}

/// The worms whose heads are queued in a buffer behind the front worm: a ring per input channel. The rings grow with the
/// heads that are queued, so that their memory does not depend on the size of the buffers.
pub(super) struct WormHeads {
    rings: Vec<FlitRing>,
    worms: Vec<u32>,
    /// The number of places of a ring, a power of two.
    size: u32,
}

#[derive(Clone, Copy, Default)]
struct FlitRing {
    first: u32,
    count: u32,
}

impl WormHeads {
    const FIRST_SIZE: u32 = 4;

    pub(super) fn new(channels: u32) -> Self {
        let (rings, size) = (channels as usize, Self::FIRST_SIZE);
        Self { rings: vec![FlitRing::default(); rings], worms: vec![0; rings * size as usize], size }
    }

    /// Returns the index of place `place` of the ring of `channel`, counted beyond its end, too.
    const fn index(&self, channel: u32, place: u32) -> usize {
        channel as usize * self.size as usize + (place & (self.size - 1)) as usize
    }

    pub(super) fn push(&mut self, channel: u32, worm: u32) {
        if self.rings[channel as usize].count == self.size {
            self.grow();
        }
        let FlitRing { first, count } = self.rings[channel as usize];
        let index = self.index(channel, first + count);
        self.worms[index] = worm;
        self.rings[channel as usize].count += 1;
    }

    pub(super) fn pop(&mut self, channel: u32) -> u32 {
        let FlitRing { first, count } = self.rings[channel as usize];
        self.rings[channel as usize] = FlitRing { first: (first + 1) & (self.size - 1), count: count - 1 };
        self.worms[self.index(channel, first)]
    }

    /// Doubles the size of all rings.
    #[cold]
    fn grow(&mut self) {
        let mut larger = Self { rings: self.rings.clone(), worms: vec![0; 2 * self.worms.len()], size: 2 * self.size };
        for (channel, ring) in (0..).zip(&mut larger.rings) {
            let new = channel as usize * larger.size as usize;
            for place in 0..ring.count {
                larger.worms[new + place as usize] = self.worms[self.index(channel, ring.first + place)];
            }
            ring.first = 0;
        }
        *self = larger;
    }
}

/// Creates the input and output channels of all routers.
pub(super) fn channels(topology: &Topology, shape: RouterShape, wires: &LinkLatencies) -> (Vec<Input>, Vec<Output>) {
    let ends = far_ends(topology, shape);
    let wires = wires.of_ports(topology, shape, &ends);
    (inputs(&ends, &wires, shape), outputs(&ends, &wires, shape))
}

/// Creates the input channels of all routers. By port, `far_ends` has the first channel at the other end of the link,
/// and `wires` the index of its latency.
fn inputs(far_ends: &[u32], wires: &[u8], shape: RouterShape) -> Vec<Input> {
    let input = |port: u32, far: u32, lane: u32| {
        let of_router = port % shape.ports;
        Input {
            count: 0,
            left: 0,
            front: Flit::head(0),
            output: NONE,
            granted: NONE,
            before: if far == NONE { NONE } else { far + lane },
            router: port / shape.ports,
            group: NONE,
            word: port / shape.ports * shape.words + of_router * shape.channels / shape.of_word,
            to_port: Input::NOWHERE,
            port: narrow(of_router),
            lane: narrow(lane),
            bit: narrow(of_router * shape.channels % shape.of_word + lane),
            wire: wires[port as usize],
        }
    };
    (0..).zip(far_ends).flat_map(|(port, far)| (0..shape.channels).map(move |lane| input(port, *far, lane))).collect()
}

/// Creates the output channels of all routers.
fn outputs(far_ends: &[u32], wires: &[u8], shape: RouterShape) -> Vec<Output> {
    let output = |far: u32, wire: u8, lane: u32| {
        let (behind, room) = if far == NONE { (NONE, u32::MAX) } else { (far + lane, shape.buffer) };
        Output { room, holder: NONE, behind, turn: 0, flits: 0, wire }
    };
    let ports = far_ends.iter().zip(wires);
    ports.flat_map(|(far, wire)| (0..shape.channels).map(move |lane| output(*far, *wire, lane))).collect()
}

/// Returns, by router and port, the first channel of the port at the other end of the link; `NONE` without a link.
fn far_ends(topology: &Topology, shape: RouterShape) -> Vec<u32> {
    let ports = (0..topology.vertices()).flat_map(|router| (0..shape.ports).map(move |port| (router, port)));
    let far_end = |(router, port): (u32, u32)| {
        let far = topology.neighbour(router, port).filter(|_| port < shape.links);
        far.map_or(NONE, |(far, there)| shape.first(far, there))
    };
    ports.map(far_end).collect()
}

/// Returns the load of a port with the first channel `first`: the number of its allocated virtual channels and of the
/// flits in the buffers behind them.
pub(super) fn load(outputs: &[Output], shape: RouterShape, first: u32) -> u64 {
    let load = |output: &Output| u64::from(shape.buffer - output.room) + u64::from(output.holder != NONE);
    outputs[first as usize..(first + shape.channels) as usize].iter().map(load).sum()
}

impl Input {
    /// The output port of an input channel without a worm, or whose worm has no route yet.
    pub(super) const NOWHERE: u8 = u8::MAX;

    pub(super) const fn mask(&self) -> u64 {
        1 << self.bit
    }
}

pub(super) fn narrow(number: u32) -> u8 {
    u8::try_from(number).expect("a router has at most 128 channels")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each channel is a queue of its own, however many heads the others hold.
    #[test]
    fn heads_leave_in_the_order_in_which_they_came() {
        let mut heads = WormHeads::new(3);
        heads.push(0, 1);
        heads.push(0, 2);
        assert_eq!(heads.pop(0), 1);
        for worm in 3..20 {
            heads.push(0, worm);
            heads.push(2, 100 + worm);
        }
        assert_eq!((2..20).map(|_| heads.pop(0)).collect::<Vec<_>>(), (2..20).collect::<Vec<_>>());
        assert_eq!((3..20).map(|_| heads.pop(2)).collect::<Vec<_>>(), (103..120).collect::<Vec<_>>());
        assert!(heads.rings.iter().all(|ring| ring.count == 0));
    }
}
