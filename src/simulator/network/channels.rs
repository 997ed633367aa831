//! Channels: link directions whose packets cut through or need buffer space at the other end.
//!
//! The model tracks the head and the tail of each packet. Times are exact for a continuous stream of bytes: on an idle
//! link they are those of [`PacketTimes`](super::link_model::PacketTimes), except that the tail cannot leave before it
//! has arrived. Where bytes arrive at a constant or falling rate, only the first and the last byte matter.

use super::buffer_deadlock::{BufferDeadlock, BufferId};
use super::contention::{Contention, RoundRobinOver};
use super::link_model::{LinkModel, LinkModels};
use super::packet::{NOWHERE, Packet};
use super::router::RouteSelector;
use super::switching::Switching;
use super::topology::Topology;
use super::transfers::{self, Transfers};
use super::virtual_channels::{Classes, Hop, LastHop};
use super::{HopEvent, Network};
use crate::engine::{Calendar, Entity, EvenInstants, Slab, Streams};
use crate::trace::LinkLoad;
use crate::units::SimTime;
use state::{ChannelEnds, ChannelState, ChannelTransmission, PacketBuffer, PacketState};
use waiting_line::BlockedPacket;

mod state;
mod waiting_line;

/// The runtime state of all channels of a network.
pub struct Channels {
    topology: Topology,
    router: RouteSelector,
    switching: Switching,
    contention: Contention,
    /// `true` if every packet arrives at the end of a channel when its tail leaves the start, so that one event is
    /// enough.
    arrives_on_departure: bool,
    classes: Classes,
    has_classes: bool,
    /// `true` if some buffer is finite.
    has_limits: bool,
    ports: u32,
    /// The state of each channel: one per port of every vertex, then the injection channels of all nodes, then their
    /// ejection channels, if nodes have such.
    states: Vec<ChannelState>,
    /// The first injection channel.
    first_inward: u32,
    /// The first ejection channel; 0 if nodes have none, because any channel may then lead to a destination.
    first_outward: u32,
    /// The number of nodes with injection and ejection channels: all or none.
    ends: u32,
    /// The first entity of arrival events, which is the number of channels.
    first_arrival: Entity,
    packets: Slab<PacketState>,
    /// Number of packets that have begun to wait at any channel.
    offered: u64,
    /// The record of transfers, if requested.
    transfers: Option<Box<Transfers>>,
}

impl Channels {
    /// Creates the idle channels of `topology`, whose events use the entities below [`entities`](Self::entities).
    #[must_use]
    pub fn new(network: &Network, topology: Topology, streams: Streams) -> Self {
        let nodes = topology.nodes();
        let ends = if topology.switches() == 0 && network.end_links.is_some() { nodes } else { 0 };
        let links = LinkModels::of(network, &topology);
        let end_link = network.end_links.as_ref().unwrap_or(&network.links);
        let ports = topology.ports();
        let of_port = |channel: u32| {
            let at = channel / ports.max(1);
            let (to, port) = topology.neighbour(at, channel % ports.max(1)).unwrap_or((at, 0));
            ChannelState::new(ChannelEnds { from: at, to, port }, links.model(channel), network.contention)
        };
        let first_inward = topology.vertices() * ports;
        let of_ports = (0..first_inward).map(of_port);
        let channels: Vec<_> = of_ports
            .chain((0..2 * ends).map(|end| {
                let node = end % ends;
                let link = LinkModel::of(end_link, &network.switching);
                ChannelState::new(ChannelEnds { from: node, to: node, port: 0 }, link, network.contention)
            }))
            .collect();
        let classes = Classes::of(network, &topology);
        Self {
            router: RouteSelector::new(network, &topology, streams),
            has_classes: classes.are_many(),
            has_limits: channels.iter().any(ChannelState::has_limit),
            classes,
            switching: network.switching.clone(),
            contention: network.contention,
            arrives_on_departure: network.arrives_on_departure(),
            ports,
            states: channels,
            first_inward,
            first_outward: if ends > 0 { first_inward + ends } else { 0 },
            first_arrival: first_inward + 2 * ends,
            ends,
            topology,
            packets: Slab::new(),
            offered: 0,
            transfers: None,
        }
    }

    /// Returns the same channels with another link on the one that leaves `vertex` by `port`.
    #[cfg(test)]
    #[must_use]
    pub fn with_link(mut self, vertex: u32, port: u32, link: &super::Link) -> Self {
        self.arrives_on_departure &= link.latency == crate::units::SimDuration::ZERO;
        let channel = &mut self.states[(vertex * self.ports + port) as usize];
        *channel = ChannelState::new(channel.ends, LinkModel::of(link, &self.switching), self.contention);
        self.has_limits |= channel.has_limit();
        self
    }

    /// Returns the largest number of entities that channels in `topology` use, end links included; `None` if it
    /// overflows.
    #[must_use]
    pub fn most_entities(topology: &Topology) -> Option<Entity> {
        let directions = topology.vertices().checked_mul(topology.ports().checked_add(2)?)?;
        directions.checked_mul(2)
    }

    /// Returns the number of entities that the channels use: one for the end of transmission and one for the arrival of
    /// each.
    #[must_use]
    pub fn entities(&self) -> Entity {
        2 * self.count()
    }

    /// Returns the number of links on the route of a packet.
    #[must_use]
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        self.router.hops(&self.topology, from, to)
    }

    /// Returns the topology that the channels form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Forwards `packet` from `at`, where its head is.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, packet: Packet) {
        let place = self.state_place(now, at, packet);
        let is_new = self.packets[place].buffer.is_none();
        let channel = if is_new && self.ends > 0 { self.first_inward + at } else { self.onward(at, place) };
        self.wait(calendar, now, channel, place);
    }

    /// Returns the time from which the bytes of a packet arrived at its destination. The packet must not have been
    /// released.
    #[must_use]
    pub fn first_byte(&self, packet: &Packet) -> SimTime {
        self.packets[packet.place].head
    }

    /// Frees the buffer of a packet that its destination has consumed.
    pub fn release(&mut self, calendar: &mut Calendar, now: SimTime, packet: Packet) {
        if packet.place == NOWHERE {
            return;
        }
        self.packets.vacate(packet.place);
        self.make_room(calendar, now, self.packets[packet.place].buffer);
    }

    /// Runs the event of `entity` and appends the resulting hop to `hops`.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity, hops: &mut Vec<HopEvent>) {
        let left = self.departure_from_node(entity);
        let at = self.ends(entity.checked_sub(self.count()).unwrap_or(entity)).1;
        let arrived = self.end(calendar, now, entity).map(|place| self.packets[place].packet);
        hops.extend(match (left, arrived) {
            (Some((_, from)), Some(packet)) => Some(HopEvent::Crossed { packet, from, at }),
            (Some((packet, from)), None) => Some(HopEvent::Left { packet, from }),
            (None, Some(packet)) => Some(HopEvent::Arrived { packet, at }),
            (None, None) => None,
        });
    }

    /// Returns the packet that leaves a node by the event of `entity`, if any, and the node.
    fn departure_from_node(&self, entity: Entity) -> Option<(Packet, u32)> {
        let sending = self.states.get(entity as usize)?.sending.as_ref()?;
        // Without separate links between nodes and routers, a packet leaves the memory of the node itself.
        let leaves_node = sending.leaves.is_none() || self.ends == 0;
        leaves_node.then(|| (self.packets[sending.place].packet, self.ends(entity).0))
    }

    /// Runs the event of `entity`. Returns the packet that arrives, if any.
    #[expect(clippy::inline_always, reason = "called twice for every hop")]
    #[inline(always)]
    fn end(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity) -> Option<u32> {
        match entity.checked_sub(self.count()) {
            None => self.end_sending(calendar, now, entity),
            Some(channel) => self.arrive(calendar, now, channel),
        }
    }

    /// Runs the event of `entity` where routers forward packets at once. Returns the packet that arrives at its
    /// destination, if any.
    #[inline]
    pub fn relay(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity) -> Option<Packet> {
        let place = self.end(calendar, now, entity)?;
        let channel = entity.checked_sub(self.count()).unwrap_or(entity);
        let (packet, at) = (&self.packets[place].packet, self.ends(channel).1);
        if packet.to == at {
            return Some(*packet);
        }
        let onward = self.onward(at, place);
        self.wait(calendar, now, onward, place);
        None
    }

    /// Starts recording the transfers over the links in [`Transfers`].
    pub fn record_transfers(&mut self) {
        let outward = self.first_inward + self.ends;
        let channel = |number: u32| {
            let (from, to) = self.try_ends(number).unwrap_or_else(|| (number / self.ports, number / self.ports));
            transfers::TransferChannel { from, to, number: u32::from(number >= outward) }
        };
        self.transfers = Some(Box::new(Transfers::new((0..self.count()).map(channel))));
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.transfers.as_deref_mut()
    }

    /// Returns the load of each direction of an existing link up to `now`. The channels between a node and its router have
    /// the node at both ends.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = LinkLoad> + '_ {
        (0..self.count()).filter_map(move |number| {
            let (from, to) = self.try_ends(number)?;
            let channel = &self.states[number as usize];
            let busy = channel.held - channel.free.since(now);
            Some(LinkLoad { from, to, packets: channel.carried, busy })
        })
    }

    /// Returns the packets that wait for buffers once no event is left, and the buffers that they wait for.
    #[must_use]
    pub fn standstill(&self) -> BufferDeadlock {
        let mut waits = Vec::new();
        for (number, channel) in (0..).zip(&self.states) {
            for (class, lane) in (0..).zip(&channel.lanes) {
                let holders = lane.waiting.iter().map(|waiting| self.packets[waiting.place].buffer);
                let wanted = self.name(PacketBuffer { channel: number, class });
                waits.extend(holders.map(|buffer| (buffer.map(|buffer| self.name(buffer)), wanted)));
            }
        }
        BufferDeadlock::of(waits)
    }

    fn name(&self, buffer: PacketBuffer) -> BufferId {
        let (from, to) = self.try_ends(buffer.channel).expect("packets move along links");
        BufferId { from, to, class: buffer.class }
    }

    fn count(&self) -> u32 {
        self.first_arrival
    }

    /// Returns the channel by which a packet leaves `at`.
    #[inline]
    fn onward(&mut self, at: u32, place: u32) -> u32 {
        let PacketState { packet, route, .. } = &mut self.packets[place];
        if at == packet.to {
            return self.first_inward + self.ends + at;
        }
        let (first, states) = (at * self.ports, &self.states);
        let load = |port| states[(first + port) as usize].load();
        first + self.router.leave(route, &self.topology, (at, packet.to), load)
    }

    /// Returns the vertices that a channel joins.
    fn ends(&self, channel: u32) -> (u32, u32) {
        let ChannelEnds { from, to, .. } = self.states[channel as usize].ends;
        (from, to)
    }

    /// Returns the vertices that a channel joins, if there is a link.
    fn try_ends(&self, channel: u32) -> Option<(u32, u32)> {
        let (from, to) = self.ends(channel);
        (channel >= self.first_inward || from != to).then_some((from, to))
    }

    /// Returns the place of the state of a packet, which is created for a packet that enters the network.
    fn state_place(&mut self, now: SimTime, at: u32, packet: Packet) -> u32 {
        if packet.place != NOWHERE {
            return packet.place;
        }
        let place = self.packets.put(PacketState::new(packet, at, now));
        self.packets[place].packet.place = place;
        place
    }

    /// Starts a packet on a channel, or lets it wait until the channel and a place in the buffer behind it are free.
    fn wait(&mut self, calendar: &mut Calendar, now: SimTime, channel: u32, place: u32) {
        let state = &self.packets[place];
        let class = self.class(channel, state);
        let turn = self.turn(state);
        let wire = &mut self.states[channel as usize];
        let is_free = wire.sending.is_none();
        let lane = wire.lane(class);
        if is_free && lane.waiting.is_empty() && lane.room != Some(0) {
            // Packets that wait in other classes have no buffer space.
            lane.take_room();
            wire.last_turn = turn;
            return self.begin(calendar, now, channel, (class, place));
        }
        self.offered += 1;
        lane.waiting.push(turn, BlockedPacket { place, number: self.offered });
        wire.waiting += 1;
    }

    /// Returns the last hop of a packet that holds `buffer`; `None` for a packet that has just been injected.
    fn last_hop(&self, buffer: Option<PacketBuffer>) -> Option<LastHop> {
        let buffer = buffer.filter(|buffer| buffer.channel < self.first_inward)?;
        let ChannelEnds { port, .. } = self.states[buffer.channel as usize].ends;
        Some(LastHop { port, class: buffer.class })
    }

    /// Returns the round-robin turn of a packet; 0 under other disciplines.
    #[inline]
    fn turn(&self, state: &PacketState) -> u64 {
        match self.contention {
            Contention::RoundRobin(RoundRobinOver::InputPorts) => {
                self.last_hop(state.buffer).map_or(self.ports, |hop| hop.port).into()
            }
            Contention::RoundRobin(RoundRobinOver::Flows) => {
                u64::from(state.route.from) << u32::BITS | u64::from(state.packet.to)
            }
            _ => 0,
        }
    }

    /// Returns the class of the buffer that a packet needs at the end of `channel`.
    #[inline]
    fn class(&self, channel: u32, state: &PacketState) -> u32 {
        if self.has_classes && channel < self.first_inward { self.class_of_port(channel, state) } else { 0 }
    }

    fn class_of_port(&self, channel: u32, state: &PacketState) -> u32 {
        let PacketState { packet, buffer, route, .. } = state;
        let last_hop = self.last_hop(*buffer);
        let (at, next) = self.ends(channel);
        let (to, leg) = (route.target(packet.to), route.leg());
        self.classes.next(&self.topology, last_hop, Hop { at, port: channel % self.ports, next, to, leg })
    }

    /// Starts the next packet for which there is buffer space, if the channel is free.
    #[inline]
    fn start(&mut self, calendar: &mut Calendar, now: SimTime, number: u32) {
        let channel = &self.states[number as usize];
        if channel.waiting > 0 && channel.sending.is_none() {
            self.start_first(calendar, now, number);
        }
    }

    fn start_first(&mut self, calendar: &mut Calendar, now: SimTime, number: u32) {
        if let Some(first) = self.states[number as usize].next() {
            self.begin(calendar, now, number, first);
        }
    }

    /// Starts a packet, whose buffer space at the end of the free channel is already taken.
    fn begin(&mut self, calendar: &mut Calendar, now: SimTime, number: u32, (class, place): (u32, u32)) {
        let leads_out = number >= self.first_outward;
        let channel = &mut self.states[number as usize];
        let state = &mut self.packets[place];
        let packet = &state.packet;
        let is_last = leads_out && channel.ends.to == packet.to;
        let leaves = state.buffer.replace(PacketBuffer { channel: number, class });
        let times = channel.link.times(packet.bytes, &self.switching);
        let tail = (now + times.occupancy).max(state.tail);
        state.tail = tail + channel.link.latency;
        state.head = now + channel.link.before_bytes();
        let arrival = if is_last { state.tail } else { (now + times.onward).min(state.tail) };
        channel.sending = Some(ChannelTransmission { place, leaves });
        channel.carried += 1;
        channel.held += tail.since(now);
        channel.free = tail;
        calendar.schedule_after(now, tail.since(now), number);
        if let Some(transfers) = &mut self.transfers {
            transfers.record(now, number, packet, &[EvenInstants::single(tail)], tail.since(now));
        }
        if self.arrives_on_departure {
            return;
        }
        channel.in_transit.push_back((arrival, place));
        if channel.in_transit.len() == 1 {
            calendar.schedule_after(now, arrival.since(now), self.first_arrival + number);
        }
    }

    /// Ends the transmission of a packet. Returns the packet if it arrives at the other end in the same event.
    #[inline]
    fn end_sending(&mut self, calendar: &mut Calendar, now: SimTime, number: u32) -> Option<u32> {
        let sending = self.states[number as usize].sending.take();
        let ChannelTransmission { place, leaves } = sending.expect("a channel becomes free of a packet");
        if self.has_limits {
            self.make_room(calendar, now, leaves);
        }
        self.start(calendar, now, number);
        if self.arrives_on_departure { self.handle_arrival(calendar, now, number, place) } else { None }
    }

    /// Frees a place in a buffer, for which the next packet on the channel before it may start.
    fn make_room(&mut self, calendar: &mut Calendar, now: SimTime, buffer: Option<PacketBuffer>) {
        let Some(PacketBuffer { channel, class }) = buffer else { return };
        if let Some(room) = &mut self.states[channel as usize].lane(class).room {
            *room += 1;
            self.start(calendar, now, channel);
        }
    }

    /// Runs the arrival event of a channel. Returns the packet, unless it continues on the path between a node and its
    /// router.
    #[inline]
    fn arrive(&mut self, calendar: &mut Calendar, now: SimTime, number: u32) -> Option<u32> {
        let channel = &mut self.states[number as usize];
        let (_, place) = channel.in_transit.pop_front().expect("an arrival is scheduled for a packet in transit");
        if let Some((next, _)) = channel.in_transit.front() {
            calendar.schedule_after(now, next.since(now), self.first_arrival + number);
        }
        self.handle_arrival(calendar, now, number, place)
    }

    /// Handles the arrival of a packet at the end of a channel. Returns the packet, unless it continues at once.
    #[inline]
    fn handle_arrival(&mut self, calendar: &mut Calendar, now: SimTime, number: u32, place: u32) -> Option<u32> {
        if number < self.first_outward {
            let at = self.ends(number).1;
            if number >= self.first_inward || at == self.packets[place].packet.to {
                // No software handles a packet between a node and its router.
                let onward = self.onward(at, place);
                self.wait(calendar, now, onward, place);
                return None;
            }
        }
        Some(place)
    }
}
