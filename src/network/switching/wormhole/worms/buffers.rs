//! The two ends of every virtual channel: the buffer that it leads to, and what its sender knows of that.

use super::layout::{Flit, NONE, Shape, all_ports};
use crate::network::topology::Topology;

/// The input channels of all routers: their buffers, and where their front goes.
pub(super) struct Inputs {
    pub(super) flits: Vec<Flit>,
    pub(super) first: Vec<u32>,
    pub(super) count: Vec<u32>,
    /// The output port, and the output channel once it is allocated.
    pub(super) port: Vec<u32>,
    pub(super) class: Vec<u32>,
    pub(super) output: Vec<u32>,
    /// The output channel of the router before that leads here, by port.
    pub(super) before: Vec<u32>,
}

/// The output channels of all routers, numbered as the input channels.
pub(super) struct Outputs {
    pub(super) room: Vec<u32>,
    pub(super) holder: Vec<u32>,
    /// The first input channel at the other end, by port.
    pub(super) behind: Vec<u32>,
    pub(super) flits: Vec<u64>,
    pub(super) packets: Vec<u32>,
}

impl Inputs {
    pub(super) fn new(topology: &Topology, shape: Shape, channels: usize) -> Self {
        let before = |(router, port): (u32, u32)| {
            let far = topology.neighbour(router, port).filter(|_| port < shape.links);
            far.map_or(NONE, |(far, there)| shape.first(far, there))
        };
        Self {
            flits: vec![Flit::new(0, false, false); channels * shape.buffer as usize],
            first: vec![0; channels],
            count: vec![0; channels],
            port: vec![NONE; channels],
            class: vec![0; channels],
            output: vec![NONE; channels],
            before: all_ports(topology, shape).map(before).collect(),
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
        let behind = |(router, port): (u32, u32)| {
            let far = topology.neighbour(router, port).filter(|_| port < shape.links);
            far.map_or(NONE, |(far, there)| shape.first(far, there))
        };
        let ports = channels / shape.channels as usize;
        Self {
            room: vec![shape.buffer; channels],
            holder: vec![NONE; channels],
            behind: all_ports(topology, shape).map(behind).collect(),
            flits: vec![0; ports],
            packets: vec![0; ports],
        }
    }
}
