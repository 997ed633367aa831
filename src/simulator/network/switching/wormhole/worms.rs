//! Worms: the packets in a network of wormhole routers.

use super::{Allocators, Arbiters, Wormhole, WormholeRouter};
use crate::engine::{Calendar, Streams};
use crate::network::Network;
use crate::network::buffer_deadlock::{BufferDeadlock, BufferId};
use crate::network::packet::{ForwardedBy, HopEvent};
use crate::network::packet::{NOWHERE, Packet};
use crate::network::route_state::RouteState;
use crate::network::router::RouteSelector as Guide;
use crate::network::topology::Topology;
use crate::network::virtual_channels::Classes;
use crate::trace::LinkLoad;
use crate::units::{PerByte, SimDuration, SimTime};
use rustc_hash::FxHashMap;
use std::ops::{Index, IndexMut};

mod arrival;
mod buffers;
mod channel_allocation;
mod departures;
mod injection;
mod islip;
mod layout;
mod matrix;
mod pipeline;
mod port_fields;
mod port_matching;
mod recording;
mod requests;
mod stage;
mod switch_allocation;
mod wheel;
mod wires;

use buffers::{Input, Output, WormHeads};
use channel_allocation::ChannelGroup;
use departures::FlitDeparture;
use injection::PacketSource;
use islip::Islip;
use layout::{LeafNodes, RouterShape};
use matrix::MatrixArbiters;
use pipeline::Pipeline;
use port_matching::PortTurns;
use recording::FlitRecorder;
use requests::RouterRequests;
use std::ops::Range;
use wires::LinkLatencies;

/// The runtime state of all routers of a network; one event per cycle while anything moves.
pub struct Worms {
    topology: Topology,
    guide: Guide,
    classes: Classes,
    onward: ForwardedBy,
    shape: RouterShape,
    router: WormholeRouter,
    cycle: SimDuration,
    flit_bytes: u64,
    /// Time of a byte on a link.
    byte_time: PerByte,
    latencies: LinkLatencies,
    inputs: Vec<Input>,
    heads: WormHeads,
    outputs: Vec<Output>,
    /// Number of heads that have been sent to each output channel.
    heads_sent: Vec<u64>,
    turns: PortTurns,
    requests: RouterRequests,
    sources: Vec<PacketSource>,
    /// Nodes with packets that are not completely in the network yet.
    sending: Vec<u32>,
    table: WormTable,
    /// The first cycle that acts on what is scheduled now.
    next: u64,
    pipeline: Pipeline,
    groups: Vec<ChannelGroup>,
    leaves: LeafNodes,
    /// Groups with both a free channel and a request.
    grantable: Vec<u32>,
    /// The iSLIP state; `None` with other allocators.
    islip: Option<Box<Islip>>,
    /// The matrix arbiters; `None` with other arbiters.
    matrix: Option<Box<MatrixArbiters>>,
    is_ticking: bool,
    /// The record of transfers, if requested.
    recorder: Option<Box<FlitRecorder>>,
}

#[derive(Clone, Copy)]
struct Worm {
    packet: Packet,
    flits: u32,
    /// The input channel where the head waits for software.
    held_at: u32,
    route: RouteState,
    /// The cycle after the one in which the head has crossed to its node.
    out: u64,
    /// Number of cycles after the head has crossed to its node in which no flit of the worm has crossed.
    stalled_cycles: u64,
}

/// The worms in the network, by place.
#[derive(Clone, Default)]
struct WormTable {
    worms: Vec<Worm>,
    vacant: Vec<u32>,
    /// Places of worms that reached their nodes in the last cycle; the caller may still query them.
    leaving: Vec<u32>,
}

impl WormTable {
    /// Adds a worm; returns its place.
    fn enter(&mut self, worm: Worm) -> u32 {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.worms.push(worm);
            u32::try_from(self.worms.len() - 1).expect("fewer than a thousand million packets at once")
        });
        self.worms[place as usize] = Worm { packet: Packet { place, ..worm.packet }, ..worm };
        place
    }

    /// Marks a worm that has reached its node as leaving.
    fn leave(&mut self, place: u32) {
        self.leaving.push(place);
    }

    /// Frees the places of worms that have left; the caller does not query them any more.
    fn vacate(&mut self) {
        self.vacant.append(&mut self.leaving);
    }
}

impl Index<usize> for WormTable {
    type Output = Worm;

    fn index(&self, place: usize) -> &Worm {
        &self.worms[place]
    }
}

impl IndexMut<usize> for WormTable {
    fn index_mut(&mut self, place: usize) -> &mut Worm {
        &mut self.worms[place]
    }
}

impl Worms {
    /// Creates the idle routers of `topology`, whose events use the entity 0.
    ///
    /// # Panics
    /// If a router has more than 128 virtual channels at its inputs, which a check rejects.
    #[must_use]
    pub fn new(network: &Network, mode: &Wormhole, topology: Topology, onward: ForwardedBy, streams: Streams) -> Self {
        let shape = shape_of(network, mode, &topology);
        let cycle = network.links.byte_time().time(mode.flit.count());
        let latencies = LinkLatencies::new(network, &topology, cycle);
        let (router, vertices) = (mode.router.unwrap_or_default(), topology.vertices());
        let (inputs, outputs) = buffers::channels(&topology, shape, &latencies);
        let leaves = LeafNodes::of(&topology, &network.routing);
        Self {
            guide: Guide::new(network, &topology, streams),
            classes: Classes::of(network, &topology),
            onward,
            cycle,
            flit_bytes: mode.flit.count(),
            byte_time: network.links.byte_time(),
            inputs,
            heads: WormHeads::new(vertices * shape.of_router),
            turns: PortTurns::new(shape, vertices),
            heads_sent: vec![0; outputs.len()],
            outputs,
            groups: ChannelGroup::all(shape, vertices, &leaves),
            leaves,
            requests: RouterRequests::new(shape, vertices),
            sources: vec![PacketSource::default(); vertices as usize],
            sending: Vec::new(),
            table: WormTable::default(),
            next: 0,
            pipeline: Pipeline::new(router, &latencies),
            grantable: Vec::new(),
            islip: (router.allocators == Allocators::Islip).then(|| Box::new(Islip::new(shape, vertices))),
            matrix: (router.arbiters == Arbiters::Matrix).then(|| Box::new(MatrixArbiters::new(shape, vertices))),
            router,
            is_ticking: false,
            recorder: None,
            topology,
            shape,
            latencies,
        }
    }

    /// Returns the number of links on the route of a packet.
    #[must_use]
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        self.guide.hops(&self.topology, from, to)
    }

    /// Returns the number of links that a packet crosses from `at` until its head waits for software, or it has
    /// arrived.
    #[must_use]
    pub fn links_to_next_stop(&self, at: u32, to: u32) -> u32 {
        match self.onward {
            ForwardedBy::Software => 1,
            ForwardedBy::Router => self.hops(at, to),
        }
    }

    /// Returns the topology that the routers form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Forwards `packet` from `at`: injects it into the network or, if its head waits for software there, lets it
    /// continue.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, packet: Packet) {
        self.next = now.ps() / self.cycle.ps() + 1;
        match packet.place {
            NOWHERE if self.router.injection > 0 => {
                self.pipeline.entering.put(self.next + u64::from(self.router.injection), (at, packet));
            }
            NOWHERE => self.enter(at, packet),
            worm => self.route(self.table[worm as usize].held_at),
        }
        if !self.is_ticking {
            self.is_ticking = true;
            calendar.schedule(self.boundary(self.next), 0);
        }
    }

    /// Returns the time from which the bytes of a packet arrived, given that the last one arrives at its node `now`:
    /// before `now` by their transmission time and the cycles in which the worm stood still.
    #[must_use]
    pub fn first_byte(&self, now: SimTime, packet: &Packet) -> SimTime {
        let stalled = self.cycle * self.table[packet.place as usize].stalled_cycles;
        now.before(self.byte_time.time(u64::from(packet.bytes)) + stalled)
    }

    /// Runs the cycle that begins `now` and appends the resulting hops to `hops`.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, hops: &mut Vec<HopEvent>) {
        let cycle = now.ps() / self.cycle.ps();
        self.next = cycle;
        self.take_transits(cycle, hops);
        self.eject(cycle, hops);
        self.enter_due(cycle);
        let mut has_moved = self.inject(hops);
        has_moved |= self.allocate_channels(cycle);
        self.next = cycle + 1;
        self.end_routing(cycle);
        self.pipeline.departures.begin(cycle);
        has_moved |= self.allocate_switches(hops);
        self.pipeline.departures.end(&self.inputs, &self.outputs);
        self.settle_allocated(cycle);
        self.requests.leave_idle_routers();
        // `is_turning` has side effects on a wheel and must be called in every cycle.
        self.is_ticking = self.is_turning() || has_moved;
        if self.is_ticking {
            calendar.schedule(self.boundary(cycle + 1), 0);
        }
    }

    /// Returns whether anything is pending, even if nothing moves; must be called once per cycle.
    fn is_turning(&mut self) -> bool {
        // Heads whose routes have just been computed have not moved.
        self.pipeline.has_pending() | !self.grantable.is_empty()
    }

    /// Returns the load of each direction of a link up to `now`.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = LinkLoad> + '_ {
        let ahead = self.ahead(now);
        let ports = (0..self.topology.vertices()).flat_map(|from| (0..self.shape.links).map(move |port| (from, port)));
        ports.filter_map(move |(from, port)| {
            let (to, _) = self.topology.neighbour(from, port)?;
            let index = from * self.shape.ports + port;
            let (heads, time) = ahead.get(&index).copied().unwrap_or_default();
            let channels = self.channels_of(index);
            let packets: u64 = self.heads_sent[channels.clone()].iter().sum();
            let flits: u64 = self.outputs[channels].iter().map(|output| self.flits_sent(output)).sum();
            Some(LinkLoad { from, to, packets: packets - heads, busy: self.cycle * flits - time })
        })
    }

    /// Returns the number of flits sent to a channel, including those of the worm that holds it.
    fn flits_sent(&self, output: &Output) -> u64 {
        let of_holder = self.inputs.get(output.holder as usize).map_or(0, |input| {
            let worm = &self.table[input.front.worm() as usize];
            worm.flits - input.left
        });
        output.flits + u64::from(of_holder)
    }

    /// Returns the places of the output channels of a port.
    const fn channels_of(&self, port: u32) -> Range<usize> {
        let first = (port * self.shape.channels) as usize;
        first..first + self.shape.channels as usize
    }

    /// Returns the work of each link after `now` for flits that have been granted the crossbar, by port: the number of
    /// heads that enter the link then, and the total time of the flits on the wire.
    fn ahead(&self, now: SimTime) -> FxHashMap<u32, (u64, SimDuration)> {
        let mut ahead: FxHashMap<_, (u64, SimDuration)> = FxHashMap::default();
        for (cycle, wire, &FlitDeparture { to: channel, flit, .. }) in self.pipeline.departures.pending(&self.inputs) {
            let (from, to) = self.on_wire(cycle, wire);
            let port = self.inputs[channel as usize].before / self.shape.channels;
            let (heads, time) = ahead.entry(port).or_default();
            *heads += u64::from(flit.is_head() && from > now);
            *time += to.since(from.max(now));
        }
        ahead
    }

    /// Returns the packets that wait for buffers once no event is left, and the buffers that they wait for.
    #[must_use]
    pub fn standstill(&self) -> BufferDeadlock {
        let mut waits = Vec::new();
        for (channel, input) in (0..).zip(&self.inputs) {
            let port = u32::from(input.to_port);
            if port >= self.shape.links || input.count == 0 {
                continue;
            }
            let class = input.group % self.shape.classes;
            let next = self.buffer_behind(input.router, port, class);
            waits.extend(next.map(|next| (self.buffer_of(channel), next)));
        }
        BufferDeadlock::of(waits)
    }

    fn buffer_behind(&self, from: u32, port: u32, class: u32) -> Option<BufferId> {
        self.topology.neighbour(from, port).map(|(to, _)| BufferId { from, to, class })
    }

    fn buffer_of(&self, channel: u32) -> Option<BufferId> {
        let (to, port) = (self.shape.router(channel), self.shape.port(channel));
        let (from, _) = self.topology.neighbour(to, port).filter(|_| port < self.shape.links)?;
        Some(BufferId { from, to, class: self.class_of(channel) })
    }

    const fn class_of(&self, channel: u32) -> u32 {
        channel % self.shape.channels / self.shape.lanes
    }

    fn boundary(&self, cycle: u64) -> SimTime {
        SimTime::START + self.cycle * cycle
    }
}

/// Returns the layout of the routers of `topology`.
fn shape_of(network: &Network, mode: &Wormhole, topology: &Topology) -> RouterShape {
    let shape = RouterShape::new(topology.ports(), class_count(network, topology), mode.lanes, mode.buffer);
    assert!(shape.of_router <= super::MAX_INPUTS, "check limits the virtual channels of a router");
    shape
}

/// Returns an error message if the virtual channels of `topology` can only be counted along all routes, and these are
/// too many.
#[must_use]
pub fn class_count_fault(network: &Network, topology: &Topology) -> Option<String> {
    const MAX_NODES: u32 = 4096;
    let classes = Classes::of(network, topology);
    (classes.known(&network.routing).is_none() && topology.nodes() > MAX_NODES).then(|| {
        format!("the virtual channels can only be counted along all routes, which is limited to {MAX_NODES} nodes")
    })
}

/// Returns the number of classes that packets can need on `topology`, the part of a network in use.
pub fn class_count(network: &Network, topology: &Topology) -> u32 {
    let known = Classes::of(network, topology).known(&network.routing);
    known.unwrap_or_else(|| 1 + Guide::new(network, topology, Streams::new(0)).max_valleys(topology))
}
