//! A network whose messages are flows: their routes, and the channels that they share.

use super::Network;
use super::flows::{EndedFlow, FlowMessage, Flows};
use super::gate_queue::{Departure, FlowEnds, GateQueues};
use super::link::Link;
use super::overrides::{LinkOverride, ports_towards};
use super::packet::{Packet, PacketKind};
use super::route_state::RouteState;
use super::router::RouteSelector;
use super::switching::Switching;
use super::topology::Topology;
use super::transfers::{TransferChannel, Transfers};
use crate::engine::Streams;
use crate::trace::LinkLoad;
use crate::units::{PerByte, SimDuration, SimTime};
use rustc_hash::FxHashMap;

/// The links of a network and the gates of its nodes, both shared by flows.
///
/// Channels are numbered in this order: the ports of all vertices, the end links into the network, those out of it, the
/// gates into the network, those out of it.
pub struct FlowNetwork {
    topology: Topology,
    router: RouteSelector,
    switching: Switching,
    links: Link,
    end_links: Link,
    links_by_class: Vec<Option<Link>>,
    ports: u32,
    /// Number of nodes with end links: all or none.
    ends: u32,
    /// Number of links that messages have crossed or are going to cross.
    crossed: u64,
    gates: Gates,
    /// The queues of the gates; `None` if messages share a gate.
    queues: Option<GateQueues>,
    flows: Flows,
    /// The channel that long messages between two nodes share in both directions, by pair of nodes.
    pairs: FxHashMap<(u32, u32), u32>,
    /// The record of transfers, if requested.
    record: Option<Box<FlowRecord>>,
}

/// A record of the flows on each link. Flows that overlap get different numbers.
struct FlowRecord {
    transfers: Transfers,
    /// By link and number, the end of the last flow.
    ends: FxHashMap<u32, Vec<SimTime>>,
}

impl FlowRecord {
    /// Reserves and returns the lowest number that is free on a link between `begin` and `end`.
    fn number(&mut self, link: u32, begin: SimTime, end: SimTime) -> u32 {
        let ends = self.ends.entry(link).or_default();
        let place = ends.iter().position(|last| *last <= begin).unwrap_or(ends.len());
        ends.resize(ends.len().max(place + 1), end);
        ends[place] = end;
        u32::try_from(place).expect("fewer than 2^32 messages at once")
    }
}

/// A part of a message, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlowPart {
    bytes: u32,
    begin: SimTime,
    end: SimTime,
}

/// Returns the parts of a message of `bytes` bytes, one after the other between `begin` and `end`. A transfer stores its
/// length in 32 bits.
fn parts(bytes: u64, begin: SimTime, end: SimTime) -> impl Iterator<Item = FlowPart> {
    let at = move |place: u64| if place == bytes { end } else { begin + end.since(begin).ratio(place, bytes) };
    let next = move |place: &u64| place.checked_add(u32::MAX.into()).filter(|next| *next < bytes);
    std::iter::successors(Some(0), next).map(move |place| {
        let length = u32::try_from(bytes - place).unwrap_or(u32::MAX);
        let begin = if place == 0 { begin } else { at(place) };
        FlowPart { bytes: length, begin, end: at(place + u64::from(length)) }
    })
}

/// The gates of a node, per direction.
#[derive(Clone, Copy)]
pub struct Gates {
    /// Number of gates.
    pub per_node: u32,
    /// Time of a byte.
    pub per_byte: PerByte,
    /// `true` if messages leave a gate one at a time instead of sharing it.
    pub in_turn: bool,
    /// Length of the longest message that shares no bandwidth with messages in the opposite direction between its two
    /// nodes.
    pub duplex: Option<u64>,
}

/// The route of a message through the network.
#[derive(Default)]
struct FlowPath {
    channels: Vec<u32>,
    latency: SimDuration,
    /// The length of the message.
    bytes: u64,
    /// Number of bytes that every intermediate vertex stores before it forwards them.
    stored: u64,
    /// `true` if these are whole packets; otherwise bytes behind the slowest channel go on as they come.
    stores_packets: bool,
    /// The time that the stored bytes take on all channels.
    storing: SimDuration,
    /// The time from the entry of the first byte until the last one is at the end of the channels, without latencies.
    passage: SimDuration,
    /// The time of the message on the slowest channel.
    slowest: SimDuration,
}

impl FlowPath {
    /// Appends a channel.
    fn cross(&mut self, channel: u32, link: &Link, flows: &Flows) {
        let (storing, whole) = (flows.time(channel, self.stored), flows.time(channel, self.bytes));
        let of_last = if self.stores_packets { storing } else { SimDuration::ZERO };
        self.latency += link.latency;
        self.passage = (self.passage + of_last).max(self.storing + whole);
        self.storing += storing;
        self.slowest = self.slowest.max(whole);
        self.channels.push(channel);
    }

    /// Returns the delay of the first byte: the time of a message alone, without that on the slowest channel, which is
    /// the time of the flow.
    fn delay(&self) -> SimDuration {
        self.latency + (self.passage - self.slowest)
    }
}

impl FlowNetwork {
    /// Creates the idle network on `topology`, the part in use, with these gates.
    #[must_use]
    pub fn new(network: &Network, topology: Topology, gates: Gates, streams: Streams) -> Self {
        let links = network.links.at_work();
        let end_links = network.end_links.as_ref().map_or_else(|| links.clone(), Link::at_work);
        let by_class = network.links_by_class(&topology).into_iter();
        let is_direct = topology.switches() == 0;
        let idle = Self {
            router: RouteSelector::new(network, &topology, streams),
            switching: network.switching.clone(),
            ports: topology.ports(),
            ends: if is_direct && network.end_links.is_some() { topology.nodes() } else { 0 },
            flows: Flows::new(std::iter::empty()),
            topology,
            links,
            end_links,
            links_by_class: by_class.map(|link| link.map(Link::at_work)).collect(),
            crossed: 0,
            queues: gates.in_turn.then(GateQueues::default),
            gates,
            pairs: FxHashMap::default(),
            record: None,
        };
        Self { flows: Flows::new(idle.rates(&network.overrides).into_iter()), ..idle }
    }

    /// Returns the times per byte of all channels.
    fn rates(&self, overrides: &[LinkOverride]) -> Vec<PerByte> {
        let rate = |channel| self.link(channel).byte_time();
        let mut rates: Vec<_> = (0..self.first_end() + 2 * self.ends).map(rate).collect();
        for link_override in overrides {
            let LinkOverride::LinkSpeed { from, to, per_byte } = link_override else { continue };
            for (near, far) in [(*from, *to), (*to, *from)] {
                // A link of the machine may lie outside the part that is in use.
                for port in ports_towards(&self.topology, near, far) {
                    rates[(near * self.ports + port) as usize] = *per_byte;
                }
            }
        }
        let gates = 2 * self.topology.nodes() * self.gates.per_node;
        rates.extend((0..gates).map(|_| self.gates.per_byte));
        rates
    }

    fn first_end(&self) -> u32 {
        self.topology.vertices() * self.ports
    }

    /// Returns the link of which a channel is a direction; the channel must not be a gate.
    fn link(&self, channel: u32) -> &Link {
        let class = if channel < self.first_end() {
            self.topology.link_class(channel / self.ports, channel % self.ports)
        } else {
            None
        };
        if let Some(link) = class.and_then(|class| self.links_by_class[class].as_ref()) {
            return link;
        }
        let is_end = match self.joint(channel) {
            Some((from, to)) => self.topology.switches() > 0 && from.min(to) < self.topology.nodes(),
            None => channel >= self.first_end(),
        };
        if is_end { &self.end_links } else { &self.links }
    }

    /// Returns the vertices that a channel joins; `None` if it leads to the router beside a node, or has no link.
    fn joint(&self, channel: u32) -> Option<(u32, u32)> {
        // A network of one node may have no port at all.
        let joined = |channel| {
            let from = channel / self.ports;
            self.topology.neighbour(from, channel % self.ports).map(|(to, _)| (from, to))
        };
        (channel < self.first_end()).then_some(channel).and_then(joined)
    }

    /// Returns the node as both ends of a channel between a node and its router; `None` for other channels.
    fn beside(&self, channel: u32) -> Option<(u32, u32)> {
        let node = channel.checked_sub(self.first_end())? % self.ends.max(1);
        Some((node, node))
    }

    /// Returns an estimate of the memory in bytes.
    #[must_use]
    pub fn memory(network: &Network, topology: &Topology, gates: Gates, destinations: u32) -> f64 {
        let ends = if network.end_links.is_some() { 2.0 } else { 0.0 };
        let links = f64::from(topology.vertices()) * (f64::from(topology.ports()) + ends);
        Flows::memory(links + 2.0 * f64::from(topology.nodes()) * f64::from(gates.per_node))
            + RouteSelector::memory(&network.routing, topology, destinations)
    }

    /// Injects a message, or queues it until earlier messages have left its gate.
    pub fn enter(&mut self, now: SimTime, ends: FlowEnds, message: u32, bytes: u64) {
        let departure = Departure { ends, message, bytes, ready: now };
        if self.queues.as_mut().is_none_or(|queues| queues.try_pass(departure)) {
            self.depart(departure, |delay| now + delay);
        }
    }

    /// Lets a message leave its node; `arrival` returns the arrival of its first byte, given its delay.
    fn depart(&mut self, departure: Departure, arrival: impl Fn(SimDuration) -> SimTime) {
        let Departure { ends, message, bytes, .. } = departure;
        let path = self.path(ends, bytes);
        let (delay, mut channels) = (path.delay(), path.channels);
        self.crossed += channels.iter().filter(|channel| **channel < self.first_end()).count() as u64;
        if let Some(queues) = &mut self.queues {
            queues.begin(&departure, delay);
        }
        let gate = |node: u32| self.first_end() + 2 * self.ends + node * self.gates.per_node + ends.gate;
        channels.extend([gate(ends.from), gate(self.topology.nodes() + ends.to)]);
        channels.retain(|channel| self.flows.limits(*channel));
        if self.gates.duplex.is_some_and(|largest| bytes > largest) && !channels.is_empty() {
            channels.push(self.pair(ends));
        }
        self.flows.enter(arrival(delay), FlowMessage { number: message, to: ends.to, bytes }, &channels);
    }

    /// Returns the channel that long messages between two nodes share in both directions. It is as fast as the faster
    /// direction: as its slowest link on the natural route, or as all gates of a node together.
    fn pair(&mut self, ends: FlowEnds) -> u32 {
        let nodes = (ends.from.min(ends.to), ends.from.max(ends.to));
        if let Some(pair) = self.pairs.get(&nodes) {
            return *pair;
        }
        let links = self.natural_rate(nodes.0, nodes.1).max(self.natural_rate(nodes.1, nodes.0));
        let gates = Flows::rate_of(self.gates.per_byte) * f64::from(self.gates.per_node);
        let pair = self.flows.add(links.min(gates));
        self.pairs.insert(nodes, pair);
        pair
    }

    /// Returns the rate of the slowest link on the natural route between two nodes, in bytes per picosecond; parallel
    /// links count together.
    fn natural_rate(&self, from: u32, to: u32) -> f64 {
        let capacity = |channel| self.flows.capacity(channel);
        let on_route = self.topology.path(from, to).zip(self.topology.path(from, to).skip(1));
        let links = on_route.map(|(at, next)| {
            ports_towards(&self.topology, at, next).map(|port| capacity(at * self.ports + port)).sum()
        });
        let end_links = [self.first_end() + from, self.first_end() + self.ends + to];
        let ends = end_links.into_iter().filter(|_| self.ends > 0).map(capacity);
        links.chain(ends).fold(f64::INFINITY, f64::min)
    }

    /// Returns the number of links that messages have crossed or are going to cross.
    #[must_use]
    pub const fn crossed(&self) -> u64 {
        self.crossed
    }

    /// Routes a message: returns the channels between its ends without the gates, and its delay.
    fn path(&mut self, ends: FlowEnds, bytes: u64) -> FlowPath {
        let packet = bytes.min(self.switching.packet_bytes());
        let stored = self.switching.header_bytes(packet);
        let mut path = FlowPath { bytes, stored, stores_packets: stored >= packet, ..FlowPath::default() };
        if self.ends > 0 {
            path.cross(self.first_end() + ends.from, &self.end_links, &self.flows);
        }
        let (mut at, mut route) = (ends.from, RouteState::from(ends.from));
        while at != ends.to {
            let load = |port| self.flows.assigned_flows(at * self.ports + port);
            let port = self.router.leave(&mut route, &self.topology, (at, ends.to), load);
            let channel = at * self.ports + port;
            path.cross(channel, self.link(channel), &self.flows);
            (at, _) = self.topology.neighbour(at, port).expect("a route follows links");
        }
        if self.ends > 0 {
            path.cross(self.first_end() + self.ends + ends.to, &self.end_links, &self.flows);
        }
        path
    }

    /// Returns the time of the next event.
    #[must_use]
    pub fn next_event(&self) -> Option<SimTime> {
        self.flows.next_event()
    }

    /// Runs the next event. Returns its time and, if the last byte of a message has arrived, the message and its
    /// length.
    pub fn step(&mut self) -> Option<(SimTime, Option<(u32, u64)>)> {
        let (now, ended) = self.flows.step()?;
        if let Some(flow) = &ended {
            self.record(now, flow);
            self.let_next_depart(now, flow.message.number);
        }
        Some((now, ended.map(|EndedFlow { message, .. }| (message.number, message.bytes))))
    }

    fn let_next_depart(&mut self, now: SimTime, arrived: u32) {
        let next = self.queues.as_mut().and_then(|queues| queues.next(arrived));
        if let Some((departure, before)) = next {
            self.depart(departure, |delay| departure.arrival(now, before, delay));
        }
    }

    fn record(&mut self, now: SimTime, flow: &EndedFlow) {
        let (first_end, FlowMessage { number, to, bytes }) = (self.first_end(), flow.message);
        let Some(record) = &mut self.record else { return };
        for FlowPart { bytes, begin, end } in parts(bytes, flow.begin, now) {
            let (packet, span) = (Packet::new(number, to, bytes, PacketKind::Data), end.since(begin));
            for link in flow.channels.iter().copied().filter(|channel| *channel < first_end) {
                let on_wire = self.flows.time(link, bytes.into()).min(span);
                let place = (link, record.number(link, begin, end));
                record.transfers.carried_beside(place, &packet, begin, (span, on_wire));
            }
        }
    }

    /// Returns the load of each direction of a link, whose packets are messages: the time that their bytes up to `now`
    /// take at its full rate. The links between a node and its router have the node at both ends.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = LinkLoad> + '_ {
        let links = self.first_end() + 2 * self.ends;
        (0..links).zip(self.flows.loads(now)).filter_map(|(channel, (packets, busy))| {
            let (from, to) = self.joint(channel).or_else(|| self.beside(channel))?;
            Some(LinkLoad { from, to, packets, busy })
        })
    }

    /// Starts recording the transfers over the links in [`Transfers`], each when it has ended.
    pub fn record_transfers(&mut self) {
        let channel = |number: u32| {
            let (from, to) = self.joint(number).unwrap_or((number / self.ports, number / self.ports));
            TransferChannel { from, to, number: 0 }
        };
        let transfers = Transfers::new((0..self.first_end()).map(channel));
        self.record = Some(Box::new(FlowRecord { transfers, ends: FxHashMap::default() }));
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.record.as_mut().map(|record| &mut record.transfers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_message_have_its_length_and_follow_each_other() {
        let at = |us| SimTime::START + SimDuration::from_us(us);
        let of = |bytes| parts(bytes, at(2), at(8)).collect::<Vec<_>>();
        let whole = |bytes| vec![FlowPart { bytes, begin: at(2), end: at(8) }];
        let most = u64::from(u32::MAX);
        assert_eq!((of(0), of(7), of(most)), (whole(0), whole(7), whole(u32::MAX)));
        let (bytes, middle) = (u32::MAX, at(5));
        let halves = vec![FlowPart { bytes, begin: at(2), end: middle }, FlowPart { bytes, begin: middle, end: at(8) }];
        assert_eq!(of(2 * most), halves);
        let three = of(2 * most + 1);
        assert_eq!((three.len(), three[2].bytes, three[2].end), (3, 1, at(8)));
        assert!(three.windows(2).all(|pair| pair[0].end == pair[1].begin));
    }
}
