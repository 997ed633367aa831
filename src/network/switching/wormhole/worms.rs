//! Worms: packets in a network of wormhole routers.

use super::Wormhole;
use crate::engine::{Calendar, Streams};
use crate::network::Network;
use crate::network::fabric::{Onward, Passage};
use crate::network::link::{NOWHERE, Packet};
use crate::network::router::Router as Guide;
use crate::network::topology::Topology;
use crate::network::virtual_channels::{Came, Classes};
use crate::network::waiting::{BufferWait, Standstill};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// No port, no virtual channel, no link.
const NONE: u32 = u32::MAX;
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
    is_ticking: bool,
    flit_hops: u64,
}

/// How the arrays are laid out.
#[derive(Clone, Copy)]
struct Shape {
    /// Ports with links; one more leads from and to the node.
    links: u32,
    lanes: u32,
    /// Virtual channels of a port.
    channels: u32,
    buffer: u32,
}

impl Shape {
    const fn ports(self) -> u32 {
        self.links + 1
    }

    const fn of_router(self) -> u32 {
        self.ports() * self.channels
    }

    const fn router(self, channel: u32) -> u32 {
        channel / self.of_router()
    }

    const fn port(self, channel: u32) -> u32 {
        channel / self.channels % self.ports()
    }

    const fn first(self, router: u32, port: u32) -> u32 {
        (router * self.ports() + port) * self.channels
    }

    const fn bit(self, channel: u32) -> u128 {
        1 << (channel % self.of_router())
    }
}

/// A flit: its worm, and whether it is the first or the last one.
#[derive(Clone, Copy)]
struct Flit(u32);

impl Flit {
    fn new(worm: u32, is_head: bool, is_tail: bool) -> Self {
        Self(worm << 2 | u32::from(is_head) << 1 | u32::from(is_tail))
    }

    const fn worm(self) -> u32 {
        self.0 >> 2
    }

    const fn is_head(self) -> bool {
        self.0 & 2 != 0
    }

    const fn is_tail(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The input channels of all routers: their buffers, and where their front goes.
struct Inputs {
    flits: Vec<Flit>,
    first: Vec<u32>,
    count: Vec<u32>,
    /// The output port, and the output channel once it is allocated.
    port: Vec<u32>,
    class: Vec<u32>,
    output: Vec<u32>,
    /// The output channel of the router before that leads here, by port.
    before: Vec<u32>,
}

/// The output channels of all routers, numbered as the input channels.
struct Outputs {
    room: Vec<u32>,
    holder: Vec<u32>,
    /// The first input channel at the other end, by port.
    behind: Vec<u32>,
    flits: Vec<u64>,
    packets: Vec<u32>,
}

/// What a router has to allocate, one bit for each input channel.
#[derive(Clone, Default)]
struct Router {
    /// Heads without an output channel.
    waiting: u128,
    /// Channels with a flit that has room at the other end.
    ready: u128,
    is_active: bool,
    /// Where round robin goes on, by port.
    input_turn: Vec<u32>,
    output_turn: Vec<u32>,
}

/// Packets that are not in the network yet.
#[derive(Clone, Default)]
struct Source {
    queue: VecDeque<u32>,
    sent: u32,
    channel: u32,
    is_sending: bool,
}

#[derive(Clone, Copy)]
struct Worm {
    packet: Packet,
    source: u32,
    flits: u32,
    /// The input channel where its head waits for software.
    held_at: u32,
}

/// What becomes true in a later cycle.
struct Wheel<T> {
    slots: Vec<Vec<T>>,
    count: usize,
}

impl<T> Wheel<T> {
    fn new(slots: u64) -> Self {
        Self { slots: (0..slots).map(|_| Vec::new()).collect(), count: 0 }
    }

    fn slot(&self, cycle: u64) -> usize {
        usize::try_from(cycle % self.slots.len() as u64).expect("the remainder is an index")
    }

    fn put(&mut self, cycle: u64, value: T) {
        let slot = self.slot(cycle);
        self.slots[slot].push(value);
        self.count += 1;
    }

    /// Takes the list of a cycle out; [`give_back`](Self::give_back) keeps its memory.
    fn take(&mut self, cycle: u64) -> Vec<T> {
        let slot = self.slot(cycle);
        let list = std::mem::take(&mut self.slots[slot]);
        self.count -= list.len();
        list
    }

    fn give_back(&mut self, cycle: u64, mut list: Vec<T>) {
        list.clear();
        let slot = self.slot(cycle);
        self.slots[slot] = list;
    }
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
            is_ticking: false,
            flit_hops: 0,
            topology,
            shape,
        }
    }

    /// The number of links on the way of a packet.
    #[must_use]
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        self.guide.hops(&self.topology, from, to)
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

    /// Plays the cycle that begins `now` and adds what follows from it to `passages`.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, passages: &mut Vec<Passage>) {
        let cycle = now.ps() / self.cycle.ps();
        self.take_arrivals(cycle, passages);
        self.take_credits(cycle);
        self.eject(cycle, passages);
        let mut has_moved = self.inject(passages);
        has_moved |= self.allocate_channels(cycle);
        has_moved |= self.allocate_switches(cycle, passages);
        self.settle_allocated();
        self.is_ticking = has_moved || self.arrivals.count + self.credits.count + self.ejections.count > 0;
        if self.is_ticking {
            calendar.schedule(self.boundary(cycle + 1), 0);
        }
    }

    /// For each direction of a link: its ends, its packets and its busy time.
    pub fn loads(&self) -> impl Iterator<Item = (u32, u32, u32, SimDuration)> + '_ {
        let ports = (0..self.topology.vertices()).flat_map(|from| (0..self.shape.links).map(move |port| (from, port)));
        ports.filter_map(|(from, port)| {
            let (to, _) = self.topology.neighbour(from, port)?;
            let index = (from * self.shape.ports() + port) as usize;
            Some((from, to, self.outputs.packets[index], self.cycle * self.outputs.flits[index]))
        })
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

    fn enter(&mut self, at: u32, packet: Packet) {
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

    fn take_arrivals(&mut self, cycle: u64, passages: &mut Vec<Passage>) {
        let list = self.arrivals.take(cycle);
        for &(channel, flit) in &list {
            let worm = &self.crowd[flit.worm() as usize];
            if flit.is_tail() {
                let before = self.inputs.before[(channel / self.shape.channels) as usize];
                if self.shape.router(before) == worm.source {
                    passages.push(Passage::Left { packet: worm.packet, from: worm.source });
                }
            }
            self.push(channel, flit, passages);
        }
        self.arrivals.give_back(cycle, list);
    }

    fn push(&mut self, channel: u32, flit: Flit, passages: &mut Vec<Passage>) {
        let index = channel as usize;
        let place = (self.inputs.first[index] + self.inputs.count[index]) % self.shape.buffer;
        self.inputs.flits[(channel * self.shape.buffer + place) as usize] = flit;
        self.inputs.count[index] += 1;
        if self.inputs.count[index] == 1 {
            self.come_to_front(channel, passages);
        }
    }

    /// A flit is at the front of its buffer that was not before.
    fn come_to_front(&mut self, channel: u32, passages: &mut Vec<Passage>) {
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
            passages.push(Passage::Arrived { packet: worm.packet, at: router });
        } else {
            self.request(channel);
        }
    }

    /// The head at the front of `channel` asks for a virtual channel.
    fn request(&mut self, channel: u32) {
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
            self.inputs.class[index] = self.classes.next(came, router, port, next);
        }
        self.routers[router as usize].waiting |= self.shape.bit(channel);
        self.activate(router);
    }

    fn activate(&mut self, router: u32) {
        let state = &mut self.routers[router as usize];
        if !state.is_active {
            state.is_active = true;
            self.active.push(router);
        }
    }

    fn front(&self, channel: u32) -> Flit {
        self.inputs.flits[(channel * self.shape.buffer + self.inputs.first[channel as usize]) as usize]
    }

    /// A channel is ready while it has a flit, an output channel, and room at its end.
    fn update_ready(&mut self, channel: u32) {
        let output = self.inputs.output[channel as usize];
        let is_ready =
            output != NONE && self.inputs.count[channel as usize] > 0 && self.outputs.room[output as usize] > 0;
        let router = self.shape.router(channel);
        let state = &mut self.routers[router as usize];
        if is_ready {
            state.ready |= self.shape.bit(channel);
            self.activate(router);
        } else {
            state.ready &= !self.shape.bit(channel);
        }
    }

    fn take_credits(&mut self, cycle: u64) {
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

    fn eject(&mut self, cycle: u64, passages: &mut Vec<Passage>) {
        let list = self.ejections.take(cycle);
        for &(at, flit) in list.iter().filter(|(_, flit)| flit.is_tail()) {
            let packet = self.crowd[flit.worm() as usize].packet;
            passages.push(Passage::Arrived { packet, at });
            self.vacant.push(flit.worm());
        }
        self.ejections.give_back(cycle, list);
    }

    /// Every source that has a packet puts one flit into its router, if there is room.
    fn inject(&mut self, passages: &mut Vec<Passage>) -> bool {
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

    fn inject_at(&mut self, at: u32, passages: &mut Vec<Passage>) -> bool {
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

    /// VC allocation: heads get a free virtual channel of their class, in an order that rotates.
    fn allocate_channels(&mut self, cycle: u64) -> bool {
        let bits = self.shape.of_router();
        let turn = u32::try_from(cycle % u64::from(bits)).expect("a turn is below the number of bits");
        for index in 0..self.active.len() {
            let router = self.active[index];
            let waiting = self.routers[router as usize].waiting;
            let (later, sooner) = (waiting & ((1 << turn) - 1), waiting >> turn << turn);
            for mut rest in [sooner, later] {
                while rest != 0 {
                    self.allocate_channel(router * bits + rest.trailing_zeros());
                    rest &= rest - 1;
                }
            }
        }
        !self.allocated.is_empty()
    }

    fn allocate_channel(&mut self, channel: u32) {
        let index = channel as usize;
        let (router, port) = (self.shape.router(channel), self.inputs.port[index]);
        let first = self.shape.first(router, port);
        let lanes = if port == self.shape.links {
            first..first + self.shape.channels
        } else {
            let first = first + self.inputs.class[index] * self.shape.lanes;
            first..first + self.shape.lanes
        };
        let mut lanes = lanes;
        if let Some(output) = lanes.find(|output| self.outputs.holder[*output as usize] == NONE) {
            self.outputs.holder[output as usize] = channel;
            self.inputs.output[index] = output;
            self.routers[router as usize].waiting &= !self.shape.bit(channel);
            self.allocated.push(channel);
        }
    }

    /// What got its virtual channel in this cycle asks for the crossbar in the next one.
    fn settle_allocated(&mut self) {
        let mut allocated = std::mem::take(&mut self.allocated);
        for channel in allocated.drain(..) {
            self.update_ready(channel);
        }
        self.allocated = allocated;
        let routers = &mut self.routers;
        self.active.retain(|router| {
            let state = &mut routers[*router as usize];
            state.is_active = state.waiting | state.ready != 0;
            state.is_active
        });
    }

    /// Switch allocation: every input port names a channel, every output port takes an input port.
    fn allocate_switches(&mut self, cycle: u64, passages: &mut Vec<Passage>) -> bool {
        let mut has_moved = false;
        for index in 0..self.active.len() {
            let router = self.active[index];
            if self.routers[router as usize].ready != 0 {
                has_moved = true;
                self.allocate_switch(cycle, router, passages);
            }
        }
        has_moved
    }

    fn allocate_switch(&mut self, cycle: u64, router: u32, passages: &mut Vec<Passage>) {
        let Shape { channels, .. } = self.shape;
        let ports = self.shape.ports();
        let mut asked: u128 = 0;
        let state = &self.routers[router as usize];
        let mask = u128::MAX >> (super::MAX_INPUTS - channels);
        for port in 0..ports {
            let ready = state.ready >> (port * channels) & mask;
            if ready != 0 {
                let channel = self.shape.first(router, port) + next_bit(ready, state.input_turn[port as usize]);
                let output = self.inputs.port[channel as usize];
                self.named[port as usize] = channel;
                asked |= 1 << output;
                self.asking[output as usize] |= 1 << port;
            }
        }
        while asked != 0 {
            let output = asked.trailing_zeros();
            asked &= asked - 1;
            let state = &mut self.routers[router as usize];
            let asking = std::mem::take(&mut self.asking[output as usize]);
            let port = next_bit(asking, state.output_turn[output as usize]);
            let channel = self.named[port as usize];
            state.output_turn[output as usize] = port + 1;
            state.input_turn[port as usize] = channel % channels + 1;
            self.cross(cycle, channel, passages);
        }
    }

    /// The front flit of `channel` crosses the crossbar.
    fn cross(&mut self, cycle: u64, channel: u32, passages: &mut Vec<Passage>) {
        let index = channel as usize;
        let flit = self.front(channel);
        let (router, port, output) = (self.shape.router(channel), self.inputs.port[index], self.inputs.output[index]);
        self.inputs.first[index] = (self.inputs.first[index] + 1) % self.shape.buffer;
        self.inputs.count[index] -= 1;
        let before = self.inputs.before[(channel / self.shape.channels) as usize];
        if before != NONE {
            self.credits.put(cycle + TO_CREDIT + self.latency, before + channel % self.shape.channels);
        }
        if port == self.shape.links {
            self.ejections.put(cycle + TO_NODE, (router, flit));
        } else {
            let link = (output / self.shape.channels) as usize;
            self.outputs.room[output as usize] -= 1;
            self.outputs.flits[link] += 1;
            self.outputs.packets[link] += u32::from(flit.is_head());
            self.flit_hops += 1;
            let next = self.outputs.behind[link] + output % self.shape.channels;
            self.arrivals.put(cycle + TO_NEXT_BUFFER + self.latency, (next, flit));
        }
        if !flit.is_tail() {
            self.update_ready(channel);
            return;
        }
        self.outputs.holder[output as usize] = NONE;
        self.inputs.output[index] = NONE;
        self.inputs.port[index] = NONE;
        self.update_ready(channel);
        if self.inputs.count[index] > 0 {
            self.come_to_front(channel, passages);
        }
    }
}

/// The lowest bit from `turn` on, or the lowest of all.
const fn next_bit(bits: u128, turn: u32) -> u32 {
    let later = if turn < u128::BITS { bits >> turn << turn } else { 0 };
    if later == 0 { bits.trailing_zeros() } else { later.trailing_zeros() }
}

/// How many classes the packets of a network, of which `topology` is in use, can need.
pub fn class_count(network: &Network, topology: &Topology) -> u32 {
    match Classes::of(network.virtual_channels, &network.routing, topology) {
        Classes::One => 1,
        Classes::Dateline => 2,
        Classes::Descents => 1 + Guide::new(network, topology, Streams::new(0)).most_descents(topology),
    }
}

impl Inputs {
    fn new(topology: &Topology, shape: Shape, channels: usize) -> Self {
        let before = |(router, port): (u32, u32)| {
            let far = topology.neighbour(router, port).filter(|_| port < shape.links);
            far.map_or(NONE, |(far, there)| shape.first(far, there))
        };
        Self {
            flits: vec![Flit(0); channels * shape.buffer as usize],
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
    fn load(&self, first: u32, shape: Shape) -> u64 {
        let load =
            |channel: usize| u64::from(shape.buffer - self.room[channel]) + u64::from(self.holder[channel] != NONE);
        (first..first + shape.channels).map(|channel| load(channel as usize)).sum()
    }

    fn new(topology: &Topology, shape: Shape, channels: usize) -> Self {
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

fn all_ports(topology: &Topology, shape: Shape) -> impl Iterator<Item = (u32, u32)> {
    (0..topology.vertices()).flat_map(move |router| (0..shape.ports()).map(move |port| (router, port)))
}
