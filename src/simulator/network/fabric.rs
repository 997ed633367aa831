//! The fabric, which carries packets from vertex to vertex according to the switching technique.

use super::buffer_deadlock::BufferDeadlock;
use super::channels::Channels;
use super::link::{Buffers, Links};
use super::packet::{ForwardedBy, HopEvent, Packet};
use super::router::RouteSelector;
use super::routing::Routing;
use super::switching::Switching;
use super::switching::wormhole::{Arbiters, Worms};
use super::topology::Topology;
use super::transfers::Transfers;
use super::virtual_channels::Classes;
use super::{Link, Network};
use crate::engine::{Calendar, Entity, Streams};
use crate::trace::LinkLoad;
use crate::units::{SimDuration, SimTime};

/// The runtime state of all links of a network.
pub struct Fabric(pub(super) LinkState);

/// The state of the links under each kind of switching.
pub(super) enum LinkState {
    /// Store and forward without limits.
    Links(Box<Links>),
    /// Cut-through, or bounded buffers.
    Channels(Box<Channels>),
    /// Wormhole.
    Worms(Box<Worms>),
}

impl Network {
    /// Returns whether the links are plain FIFO stations, in which only earlier packets delay a packet.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(self.switching, Switching::StoreAndForward(_))
            && matches!(self.links, Link { buffers: Buffers::Unbounded, latency: SimDuration::ZERO, .. })
            && self.routing == Routing::DimensionOrder
            && !self.contention.takes_turns()
            && self.end_links.is_none()
            && self.link_classes.is_empty()
            && self.overrides.is_empty()
    }

    /// Returns whether the tail of a forwarded packet arrives at the end of a link in the instant in which it leaves
    /// the start: packets are stored, and no link has a latency.
    #[must_use]
    pub fn arrives_on_departure(&self) -> bool {
        let mut others = self.end_links.iter().chain(self.link_classes.values());
        let is_short = |link: &Link| link.latency == SimDuration::ZERO;
        matches!(self.switching, Switching::StoreAndForward(_)) && is_short(&self.links) && others.all(is_short)
    }
}

impl Fabric {
    /// Creates the idle links of the part `topology` of `network`, whose events use the entities from 0 to
    /// [`entities`](Self::entities).
    #[must_use]
    pub fn new(network: &Network, topology: Topology, onward: ForwardedBy, streams: Streams) -> Self {
        match &network.switching {
            Switching::Wormhole(mode) => {
                Self(LinkState::Worms(Box::new(Worms::new(network, mode, topology, onward, streams))))
            }
            _ if network.is_plain() => Self(LinkState::Links(Box::new(Links::new(topology, &network.links)))),
            _ => Self(LinkState::Channels(Box::new(Channels::new(network, topology, streams)))),
        }
    }

    /// Returns an estimate of the memory of the links in bytes, including their loads in a trace and the routes to
    /// `destinations` nodes. The constants are measured; a law test checks them (`tests/it/bounds.rs`).
    #[must_use]
    pub fn memory(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        Self::links_memory(network, topology) + RouteSelector::memory(&network.routing, topology, destinations)
    }

    /// Returns the bytes that a link additionally takes once a packet has crossed it; plain links and routers take
    /// none.
    #[must_use]
    pub fn used_link_memory(network: &Network) -> f64 {
        const CHANNEL_IN_USE_BYTES: f64 = 320.0;
        let is_channel = !matches!(network.switching, Switching::Wormhole(_)) && !network.is_plain();
        if is_channel && network.contention.is_of_packets() { CHANNEL_IN_USE_BYTES } else { 0.0 }
    }

    /// Returns the same as [`memory`](Self::memory) for links that trains of packets cross, whatever the switching.
    #[must_use]
    pub fn memory_of_tracks(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        Self::tracks_memory(topology) + RouteSelector::memory(&network.routing, topology, destinations)
    }

    /// Returns the same as [`memory_of_tracks`](Self::memory_of_tracks) where trains presume space in finite buffers:
    /// it includes the state of these buffers.
    #[must_use]
    pub fn memory_of_presumed_room(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        const BUFFER_BYTES: f64 = 65.0;
        let ports = f64::from(topology.vertices()) * f64::from(topology.ports());
        Self::memory_of_tracks(network, topology, destinations) + ports * BUFFER_BYTES
    }

    fn tracks_memory(topology: &Topology) -> f64 {
        // A plain link takes 32 bytes in trains and 60 outside of them.
        const PLAIN_BYTES: f64 = 55.0;
        f64::from(topology.vertices()) * f64::from(topology.ports()) * PLAIN_BYTES
    }

    fn links_memory(network: &Network, topology: &Topology) -> f64 {
        const CHANNEL_BYTES: f64 = 200.0;
        const LANE_BYTES: f64 = 40.0;
        const ROUTER_BYTES: f64 = 130.0;
        const ROUTER_PORT_BYTES: f64 = 50.0;
        const VIRTUAL_CHANNEL_BYTES: f64 = 75.0;
        let (vertices, ports) = (f64::from(topology.vertices()), f64::from(topology.ports()));
        let classes = Classes::of(network, topology).estimated_count(topology, &network.routing);
        match &network.switching {
            Switching::Wormhole(mode) => {
                let port = ROUTER_PORT_BYTES + VIRTUAL_CHANNEL_BYTES * classes * f64::from(mode.lanes);
                let channels = (ports + 1.0) * classes * f64::from(mode.lanes);
                // Matrix arbiters keep the last turns of all inputs at every output.
                let by_matrix = mode.router.is_some_and(|router| router.arbiters == Arbiters::Matrix);
                let turns = if by_matrix { 8.0 * (channels * (channels + 1.0) + (ports + 1.0).powi(2)) } else { 0.0 };
                vertices * (ROUTER_BYTES + (ports + 1.0) * port + turns)
            }
            _ if network.is_plain() => Self::tracks_memory(topology),
            _ => {
                let ends = if network.end_links.is_some() { 2.0 } else { 0.0 };
                vertices * (ports + ends) * (CHANNEL_BYTES + LANE_BYTES * classes)
            }
        }
    }

    /// Returns the largest number of entities that links of any kind use in `topology`; `None` if it overflows.
    #[must_use]
    pub fn most_entities(topology: &Topology) -> Option<Entity> {
        Channels::most_entities(topology)
    }

    /// Returns the number of entities that the links use.
    #[must_use]
    pub fn entities(&self) -> Entity {
        match &self.0 {
            LinkState::Links(links) => links.entities(),
            LinkState::Channels(channels) => channels.entities(),
            LinkState::Worms(_) => 1,
        }
    }

    /// Returns the topology that the links form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        match &self.0 {
            LinkState::Links(links) => links.topology(),
            LinkState::Channels(channels) => channels.topology(),
            LinkState::Worms(worms) => worms.topology(),
        }
    }

    /// Returns the number of links on the route of a packet; with even ties, on any of its routes.
    #[must_use]
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        match &self.0 {
            LinkState::Links(links) => links.topology().distance(from, to),
            LinkState::Channels(channels) => channels.hops(from, to),
            LinkState::Worms(worms) => worms.hops(from, to),
        }
    }

    /// Returns the number of links that a packet for `to` crosses from `at` until its next arrival is reported.
    #[must_use]
    pub fn links_to_next_stop(&self, at: u32, to: u32) -> u32 {
        match &self.0 {
            LinkState::Links(_) | LinkState::Channels(_) => 1,
            LinkState::Worms(worms) => worms.links_to_next_stop(at, to),
        }
    }

    /// Forwards `packet` from `at` towards its destination, which is another vertex.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, packet: Packet) {
        match &mut self.0 {
            LinkState::Links(links) => links.send(calendar, now, at, packet),
            LinkState::Channels(channels) => channels.send(calendar, now, at, packet),
            LinkState::Worms(worms) => worms.send(calendar, now, at, packet),
        }
    }

    /// Returns the time from which the bytes of a packet arrived at its destination, given that the last one arrives
    /// `now`. Must be called before the next step.
    #[must_use]
    pub fn first_byte(&self, now: SimTime, packet: &Packet) -> SimTime {
        match &self.0 {
            LinkState::Links(links) => links.first_byte(now, packet),
            LinkState::Channels(channels) => channels.first_byte(packet),
            LinkState::Worms(worms) => worms.first_byte(now, packet),
        }
    }

    /// Releases a packet that its destination has consumed, with its buffer.
    pub fn release(&mut self, calendar: &mut Calendar, now: SimTime, packet: Packet) {
        if let LinkState::Channels(channels) = &mut self.0 {
            channels.release(calendar, now, packet);
        }
    }

    /// Runs the event of `entity` and appends the resulting hops to `passages`.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity, passages: &mut Vec<HopEvent>) {
        match &mut self.0 {
            LinkState::Links(links) => passages.push(links.depart(calendar, now, entity)),
            LinkState::Channels(channels) => channels.step(calendar, now, entity, passages),
            LinkState::Worms(worms) => worms.step(calendar, now, passages),
        }
    }

    /// Runs the event of `entity` where routers forward packets at once. Appends only arrivals at destinations to
    /// `passages`, except that clocked routers append all their hops.
    #[inline]
    pub fn relay(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity, passages: &mut Vec<HopEvent>) {
        let arrived = match &mut self.0 {
            LinkState::Links(links) => links.relay(calendar, now, entity),
            LinkState::Channels(channels) => channels.relay(calendar, now, entity),
            LinkState::Worms(worms) => return worms.step(calendar, now, passages),
        };
        passages.extend(arrived.map(|packet| HopEvent::Arrived { packet, at: packet.to }));
    }

    /// Returns the load of each direction of a link up to `now`.
    #[must_use]
    pub fn loads(&self, now: SimTime) -> Vec<LinkLoad> {
        match &self.0 {
            LinkState::Links(links) => links.loads(now).collect(),
            LinkState::Channels(channels) => channels.loads(now).collect(),
            LinkState::Worms(worms) => worms.loads(now).collect(),
        }
    }

    /// Starts recording the transfers over the links.
    pub(crate) fn record_transfers(&mut self) {
        match &mut self.0 {
            LinkState::Links(links) => links.record_transfers(),
            LinkState::Channels(channels) => channels.record_transfers(),
            LinkState::Worms(worms) => worms.record_transfers(),
        }
    }

    /// Returns the transfers over the links, if they are recorded.
    pub(crate) fn transfers(&mut self) -> Option<&mut Transfers> {
        match &mut self.0 {
            LinkState::Links(links) => links.transfers(),
            LinkState::Channels(channels) => channels.transfers(),
            LinkState::Worms(worms) => worms.transfers(),
        }
    }

    /// Ends the recording at `end`, the end of the run: [`transfers`](Self::transfers) then hold exactly the packets
    /// that have begun by then.
    pub(crate) fn finish_transfers(&mut self, end: SimTime) {
        if let LinkState::Worms(worms) = &mut self.0 {
            worms.finish_transfers(end);
        }
        if let Some(transfers) = self.transfers() {
            // A transfer that takes no time may begin and end at the end itself.
            transfers.finish(end + SimDuration::from_ps(1));
        }
    }

    /// Returns the packets that wait for buffers once no event is left, and the buffers that they wait for.
    #[must_use]
    pub fn standstill(&self) -> BufferDeadlock {
        match &self.0 {
            LinkState::Links(_) => BufferDeadlock::default(),
            LinkState::Channels(channels) => channels.standstill(),
            LinkState::Worms(worms) => worms.standstill(),
        }
    }
}
