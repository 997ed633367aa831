//! Worms: packets in a network of wormhole routers.

use super::Wormhole;
use crate::engine::{Calendar, Streams};
use crate::network::Network;
use crate::network::packet::{HopEvent, Onward};
use crate::network::packet::{NOWHERE, Packet};
use crate::network::router::RouteSelector as Guide;
use crate::network::topology::Topology;
use crate::network::virtual_channels::Classes;
use crate::network::waiting::{BufferWait, Standstill};
use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;

mod allocation;
mod arrival;
mod buffers;
mod injection;
mod layout;
mod recording;
mod wheel;

use allocation::Router;
use buffers::{Inputs, Outputs};
use injection::Source;
use layout::{Flit, NONE, Shape};
use recording::Recorder;
use wheel::Wheel;

/// From switch allocation to the next buffer: the crossbar, the link, and the beginning of the cycle after.
const TO_NEXT_BUFFER: u64 = 3;
/// From switch allocation to the node: the crossbar, and the beginning of the cycle after.
const TO_NODE: u64 = 2;
/// From switch allocation to the knowledge of the free room: the crossbar and the delay of credits.
const TO_CREDIT: u64 = 3;

/// All routers of a network at work; one event a cycle while anything moves.
pub struct Worms {
    topology: Topology,
    guide: Guide,
    classes: Classes,
    onward: Onward,
    shape: Shape,
    cycle: SimDuration,
    flit_bytes: u64,
    latency: u64,
    inputs: Inputs,
    outputs: Outputs,
    routers: Vec<Router>,
    /// Routers with anything to allocate.
    active: Vec<u32>,
    sources: Vec<Source>,
    sending: Vec<u32>,
    crowd: Vec<Worm>,
    vacant: Vec<u32>,
    arrivals: Wheel<(u32, Flit)>,
    credits: Wheel<u32>,
    ejections: Wheel<(u32, Flit)>,
    /// Input channels that got a virtual channel in this cycle.
    allocated: Vec<u32>,
    /// The channel that every input port of a router names, and the input ports that ask for
    /// every output port; of one router at a time.
    named: Vec<u32>,
    asking: Vec<u128>,
    /// The heads that ask for virtual channels, by the first of those that suit them; of one router at a time.
    requests: Vec<u128>,
    is_ticking: bool,
    flit_hops: u64,
    /// `None` unless it is asked for.
    recorder: Option<Box<Recorder>>,
}

#[derive(Clone, Copy)]
struct Worm {
    packet: Packet,
    source: u32,
    flits: u32,
    /// The input channel where its head waits for software.
    held_at: u32,
}

impl Worms {
    /// The idle routers of `topology`; their events use the entity 0.
    ///
    /// # Panics
    /// If more than 128 virtual channels come together in a router, which a check refuses.
    #[must_use]
    pub fn new(network: &Network, mode: &Wormhole, topology: Topology, onward: Onward, streams: Streams) -> Self {
        let classes = class_count(network, &topology);
        let shape =
            Shape { links: topology.ports(), lanes: mode.lanes, channels: classes * mode.lanes, buffer: mode.buffer };
        assert!(shape.of_router() <= super::MAX_INPUTS, "check limits the virtual channels of a router");
        let cycle = network.links.byte_time().time(mode.flit.count());
        let latency = network.links.latency.ps() / cycle.ps().max(1);
        let vertices = topology.vertices();
        let channels = (vertices * shape.of_router()) as usize;
        let router = Router {
            input_turn: vec![0; shape.ports() as usize],
            output_turn: vec![0; shape.ports() as usize],
            channel_turn: vec![0; shape.of_router() as usize],
            ..Router::default()
        };
        Self {
            guide: Guide::new(network, &topology, streams),
            classes: Classes::of(network.virtual_channels, &network.routing, &topology),
            onward,
            cycle,
            flit_bytes: mode.flit.count(),
            latency,
            inputs: Inputs::new(&topology, shape, channels),
            outputs: Outputs::new(&topology, shape, channels),
            routers: vec![router; vertices as usize],
            active: Vec::new(),
            sources: vec![Source::default(); vertices as usize],
            sending: Vec::new(),
            crowd: Vec::new(),
            vacant: Vec::new(),
            arrivals: Wheel::new(TO_NEXT_BUFFER + latency + 1),
            credits: Wheel::new(TO_CREDIT + latency + 1),
            ejections: Wheel::new(TO_NODE + 1),
            allocated: Vec::new(),
            named: vec![NONE; shape.ports() as usize],
            asking: vec![0; shape.ports() as usize],
            requests: vec![0; shape.of_router() as usize],
            is_ticking: false,
            flit_hops: 0,
            recorder: None,
            topology,
            shape,
        }
    }

    /// The number of links on the way of a packet.
    #[must_use]
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        self.guide.hops(&self.topology, from, to)
    }

    /// The number of links that a packet crosses from `at` until its head waits for software, or it has arrived.
    #[must_use]
    pub fn links_to_next_stop(&self, at: u32, to: u32) -> u32 {
        match self.onward {
            Onward::BySoftware => 1,
            Onward::ByRouter => self.hops(at, to),
        }
    }

    /// The topology that the routers form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// How many flits have been sent over a link each.
    #[must_use]
    pub const fn flit_hops(&self) -> u64 {
        self.flit_hops
    }

    /// Has `packet` go on from `at`: into the network, or, where its head waits for software, out
    /// of the buffer.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, packet: Packet) {
        match packet.place {
            NOWHERE => self.enter(at, packet),
            worm => self.request(self.crowd[worm as usize].held_at),
        }
        if !self.is_ticking {
            self.is_ticking = true;
            calendar.schedule(self.boundary(now.ps() / self.cycle.ps() + 1), 0);
        }
    }

    /// Runs the cycle that begins `now` and adds what follows from it to `passages`.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, passages: &mut Vec<HopEvent>) {
        let cycle = now.ps() / self.cycle.ps();
        self.take_arrivals(cycle, passages);
        self.take_credits(cycle);
        self.eject(cycle, passages);
        let mut has_moved = self.inject(passages);
        has_moved |= self.allocate_channels();
        has_moved |= self.allocate_switches(cycle, passages);
        self.settle_allocated();
        self.is_ticking = has_moved || self.arrivals.count + self.credits.count + self.ejections.count > 0;
        if self.is_ticking {
            calendar.schedule(self.boundary(cycle + 1), 0);
        }
    }

    /// For each direction of a link: its ends, and its packets and its busy time up to `now`.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = (u32, u32, u32, SimDuration)> + '_ {
        let ahead = self.ahead(now);
        let ports = (0..self.topology.vertices()).flat_map(|from| (0..self.shape.links).map(move |port| (from, port)));
        ports.filter_map(move |(from, port)| {
            let (to, _) = self.topology.neighbour(from, port)?;
            let index = from * self.shape.ports() + port;
            let (heads, time) = ahead.get(&index).copied().unwrap_or_default();
            let Outputs { packets, flits, .. } = &self.outputs;
            let (packets, flits) = (packets[index as usize], flits[index as usize]);
            Some((from, to, packets - heads, self.cycle * flits - time))
        })
    }

    /// What flits that have got the crossbar are going to do on each link after `now`, by port: how many are the heads of
    /// packets that come to it then, and for how long they all are on the wire.
    fn ahead(&self, now: SimTime) -> FxHashMap<u32, (u32, SimDuration)> {
        let mut ahead: FxHashMap<_, (u32, SimDuration)> = FxHashMap::default();
        for (cycle, (channel, flit)) in self.arrivals.coming() {
            let (from, to) = self.on_wire(cycle);
            let (heads, time) = ahead.entry(self.output_before(*channel) / self.shape.channels).or_default();
            *heads += u32::from(flit.is_head() && from > now);
            *time += to.since(from.max(now));
        }
        ahead
    }

    /// Who waits for which buffer, when nothing is going to happen any more.
    #[must_use]
    pub fn standstill(&self) -> Standstill {
        let mut waits = Vec::new();
        for (channel, port) in (0..).zip(&self.inputs.port) {
            if *port >= self.shape.links || self.inputs.count[channel as usize] == 0 {
                continue;
            }
            let router = self.shape.router(channel);
            let next = self.buffer_behind(router, *port, self.inputs.class[channel as usize]);
            waits.extend(next.map(|next| (self.buffer_of(channel), next)));
        }
        Standstill::of(waits)
    }

    fn buffer_behind(&self, from: u32, port: u32, class: u32) -> Option<BufferWait> {
        self.topology.neighbour(from, port).map(|(to, _)| BufferWait { from, to, class })
    }

    fn buffer_of(&self, channel: u32) -> Option<BufferWait> {
        let (to, port) = (self.shape.router(channel), self.shape.port(channel));
        let (from, _) = self.topology.neighbour(to, port).filter(|_| port < self.shape.links)?;
        Some(BufferWait { from, to, class: self.class_of(channel) })
    }

    const fn class_of(&self, channel: u32) -> u32 {
        channel % self.shape.channels / self.shape.lanes
    }

    fn boundary(&self, cycle: u64) -> SimTime {
        SimTime::START + self.cycle * cycle
    }
}

/// True if the virtual channels that `topology` needs could only be counted along more routes than can be looked at.
#[must_use]
pub fn uncountable(network: &Network, topology: &Topology) -> Option<String> {
    const MOST_NODES: u32 = 4096;
    let classes = Classes::of(network.virtual_channels, &network.routing, topology);
    (classes == Classes::Descents && topology.nodes() > MOST_NODES).then(|| {
        format!("the virtual channels are counted along all routes, and {MOST_NODES} nodes are the most for that")
    })
}

/// How many classes the packets of a network, of which `topology` is in use, can need.
pub fn class_count(network: &Network, topology: &Topology) -> u32 {
    match Classes::of(network.virtual_channels, &network.routing, topology) {
        Classes::One => 1,
        Classes::Dateline => 2,
        Classes::Descents => 1 + Guide::new(network, topology, Streams::new(0)).most_descents(topology),
    }
}
