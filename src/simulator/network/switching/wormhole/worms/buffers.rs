//! The two ends of every virtual channel: the buffer that it leads to, and what its sender knows of that.

use super::layout::{Flit, NONE, Shape};
use crate::network::topology::Topology;

/// The input channels of all routers: their buffers, and where their front goes.
pub(super) struct Inputs {
    /// Their buffers, each a ring.
    pub(super) flits: Vec<Flit>,
    /// The place of the front in its ring.
    pub(super) first: Vec<u32>,
    /// The flits in each buffer.
    pub(super) count: Vec<u32>,
    /// The output port that the front asks for.
    pub(super) port: Vec<u32>,
    /// The class of virtual channels that it asks for there.
    pub(super) class: Vec<u32>,
    /// The output channel once it is allocated, `NONE` before.
    pub(super) output: Vec<u32>,
    /// The output channel of the router before that leads here, by port.
    pub(super) before: Vec<u32>,
}

/// The output channels of all routers, numbered as the input channels.
pub(super) struct Outputs {
    /// The credits: how many flits have room in the buffer at the other end.
    pub(super) room: Vec<u32>,
    /// The input channel that it is allocated to, `NONE` if it is free.
    pub(super) holder: Vec<u32>,
    /// The first input channel at the other end, by port.
    pub(super) behind: Vec<u32>,
    /// The flits, and the heads among them, that each port has been given.
    pub(super) flits: Vec<u64>,
    pub(super) packets: Vec<u32>,
}

impl Inputs {
    pub(super) fn new(topology: &Topology, shape: Shape, channels: usize) -> Self {
        Self {
            flits: vec![Flit::new(0, false, false); channels * shape.buffer as usize],
            first: vec![0; channels],
            count: vec![0; channels],
            port: vec![NONE; channels],
            class: vec![0; channels],
            output: vec![NONE; channels],
            before: far_ends(topology, shape),
        }
    }
}

impl Outputs {
    /// How many virtual channels of a port are taken, and flits in the buffers behind them.
    pub(super) fn load(&self, first: u32, shape: Shape) -> u64 {
        let load =
            |channel: usize| u64::from(shape.buffer - self.room[channel]) + u64::from(self.holder[channel] != NONE);
        (first..first + shape.channels).map(|channel| load(channel as usize)).sum()
    }

    pub(super) fn new(topology: &Topology, shape: Shape, channels: usize) -> Self {
        let ports = channels / shape.channels as usize;
        Self {
            room: vec![shape.buffer; channels],
            holder: vec![NONE; channels],
            behind: far_ends(topology, shape),
            flits: vec![0; ports],
            packets: vec![0; ports],
        }
    }
}

/// By router and port, the first channel of the port at the other end of the link; `NONE` without a link.
fn far_ends(topology: &Topology, shape: Shape) -> Vec<u32> {
    let ports = (0..topology.vertices()).flat_map(|router| (0..shape.ports()).map(move |port| (router, port)));
    let far_end = |(router, port): (u32, u32)| {
        let far = topology.neighbour(router, port).filter(|_| port < shape.links);
        far.map_or(NONE, |(far, there)| shape.first(far, there))
    };
    ports.map(far_end).collect()
}
