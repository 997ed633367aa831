//! The fabric: what carries packets from vertex to vertex, in the manner of the switching.

use super::channels::Channels;
use super::link::{Buffers, Links};
use super::packet::{HopEvent, Onward, Packet};
use super::router::RouteSelector;
use super::routing::Routing;
use super::switching::Switching;
use super::switching::wormhole::{Arbiters, Worms};
use super::topology::Topology;
use super::transfers::Transfers;
use super::virtual_channels::Classes;
use super::waiting::Standstill;
use super::{Link, Network};
use crate::engine::{Calendar, Entity, Streams};
use crate::units::{SimDuration, SimTime};

/// All links of a network at work.
pub enum Fabric {
    /// Store and forward without limits.
    Links(Box<Links>),
    /// Cut through, or bounded buffers.
    Channels(Box<Channels>),
    /// Wormhole.
    Worms(Box<Worms>),
}

impl Network {
    /// Returns whether its links are plain stations: nothing but the packets before it delays a packet.
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

    /// Returns whether a packet has come to the end of a link, to be sent on, as the last of it leaves the beginning: it is stored,
    /// and no link has a latency.
    #[must_use]
    pub fn comes_as_it_leaves(&self) -> bool {
        let mut others = self.end_links.iter().chain(self.link_classes.values());
        let is_short = |link: &Link| link.latency == SimDuration::ZERO;
        matches!(self.switching, Switching::StoreAndForward(_)) && is_short(&self.links) && others.all(is_short)
    }
}

impl Fabric {
    /// The idle links of `network`, of which `topology` is in use; their events use the entities
    /// from 0 to [`entities`](Self::entities).
    #[must_use]
    pub fn new(network: &Network, topology: Topology, onward: Onward, streams: Streams) -> Self {
        match &network.switching {
            Switching::Wormhole(mode) => Self::Worms(Box::new(Worms::new(network, mode, topology, onward, streams))),
            _ if network.is_plain() => Self::Links(Box::new(Links::new(topology, &network.links))),
            _ => Self::Channels(Box::new(Channels::new(network, topology, streams))),
        }
    }

    /// About how many bytes of memory the links take, their loads in a trace and the routes to `destinations` nodes included.
    /// Measured; a law test holds it (`tests/it/bounds.rs`).
    #[must_use]
    pub fn memory(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        Self::links_memory(network, topology) + RouteSelector::memory(&network.routing, topology, destinations)
    }

    /// Bytes that a link takes once a packet has crossed it: those of a plain network, and routers, have it before.
    #[must_use]
    pub fn used_link_memory(network: &Network) -> f64 {
        const CHANNEL_IN_USE_BYTES: f64 = 320.0;
        let is_channel = !matches!(network.switching, Switching::Wormhole(_)) && !network.is_plain();
        if is_channel && network.contention.is_of_packets() { CHANNEL_IN_USE_BYTES } else { 0.0 }
    }

    /// The same where trains cross the links, whatever they are.
    #[must_use]
    pub fn memory_of_tracks(network: &Network, topology: &Topology, destinations: u32) -> f64 {
        Self::tracks_memory(topology) + RouteSelector::memory(&network.routing, topology, destinations)
    }

    /// The same where trains presume room in finite buffers: with what is known of these, and between it and the links that are
    /// needed if there is none.
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
        let classes = Classes::of(network, topology).roughly(topology, &network.routing);
        match &network.switching {
            Switching::Wormhole(mode) => {
                let port = ROUTER_PORT_BYTES + VIRTUAL_CHANNEL_BYTES * classes * f64::from(mode.lanes);
                let channels = (ports + 1.0) * classes * f64::from(mode.lanes);
                // Matrix arbiters know the last turns of all inputs at every output.
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

    /// The most entities that links in `topology` use, of any kind; `None` if they cannot be numbered.
    #[must_use]
    pub fn most_entities(topology: &Topology) -> Option<Entity> {
        Channels::most_entities(topology)
    }

    /// Returns the number of entities that the links use.
    #[must_use]
    pub fn entities(&self) -> Entity {
        match self {
            Self::Links(links) => links.entities(),
            Self::Channels(channels) => channels.entities(),
            Self::Worms(_) => 1,
        }
    }

    /// The topology that the links form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        match self {
            Self::Links(links) => links.topology(),
            Self::Channels(channels) => channels.topology(),
            Self::Worms(worms) => worms.topology(),
        }
    }

    /// The number of links on the way of a packet; with even ties, of any of its ways.
    #[must_use]
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        match self {
            Self::Links(links) => links.topology().distance(from, to),
            Self::Channels(channels) => channels.hops(from, to),
            Self::Worms(worms) => worms.hops(from, to),
        }
    }

    /// The number of links between nodes that a packet for `to` crosses from `at` until its arrival is reported.
    #[must_use]
    pub fn links_to_next_stop(&self, at: u32, to: u32) -> u32 {
        match self {
            Self::Links(_) | Self::Channels(_) => 1,
            Self::Worms(worms) => worms.links_to_next_stop(at, to),
        }
    }

    /// Has `packet` go on from `at` towards its destination, which is another vertex.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, packet: Packet) {
        match self {
            Self::Links(links) => links.send(calendar, now, at, packet),
            Self::Channels(channels) => channels.send(calendar, now, at, packet),
            Self::Worms(worms) => worms.send(calendar, now, at, packet),
        }
    }

    /// The time from which the bytes of a packet came to its destination, where the last of them has come `now`; to be asked
    /// before the next step.
    #[must_use]
    pub fn first_byte(&self, now: SimTime, packet: &Packet) -> SimTime {
        match self {
            Self::Links(links) => links.first_byte(now, packet),
            Self::Channels(channels) => channels.first_byte(packet),
            Self::Worms(worms) => worms.first_byte(now, packet),
        }
    }

    /// A packet that had come to its destination has been taken in: it leaves no trace.
    pub fn release(&mut self, calendar: &mut Calendar, now: SimTime, packet: Packet) {
        if let Self::Channels(channels) = self {
            channels.release(calendar, now, packet);
        }
    }

    /// Runs the event of `entity` and adds what follows from it to `passages`.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity, passages: &mut Vec<HopEvent>) {
        match self {
            Self::Links(links) => passages.push(links.depart(calendar, now, entity)),
            Self::Channels(channels) => channels.step(calendar, now, entity, passages),
            Self::Worms(worms) => worms.step(calendar, now, passages),
        }
    }

    /// The same where routers pass packets on at once: what is added to `passages` is what has come to its destination,
    /// and what clocked routers add in any case.
    #[inline]
    pub fn relay(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity, passages: &mut Vec<HopEvent>) {
        let arrived = match self {
            Self::Links(links) => links.relay(calendar, now, entity),
            Self::Channels(channels) => channels.relay(calendar, now, entity),
            Self::Worms(worms) => return worms.step(calendar, now, passages),
        };
        passages.extend(arrived.map(|packet| HopEvent::Arrived { packet, at: packet.to }));
    }

    /// For each direction of a link: its ends, its packets and its busy time up to `now`.
    #[must_use]
    pub fn loads(&self, now: SimTime) -> Vec<(u32, u32, u32, SimDuration)> {
        match self {
            Self::Links(links) => links.loads(now).collect(),
            Self::Channels(channels) => channels.loads(now).collect(),
            Self::Worms(worms) => worms.loads(now).collect(),
        }
    }

    /// Records the transfers over the links from now on.
    pub fn record_transfers(&mut self) {
        match self {
            Self::Links(links) => links.record_transfers(),
            Self::Channels(channels) => channels.record_transfers(),
            Self::Worms(worms) => worms.record_transfers(),
        }
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        match self {
            Self::Links(links) => links.transfers(),
            Self::Channels(channels) => channels.transfers(),
            Self::Worms(worms) => worms.transfers(),
        }
    }

    /// The run is over, at `end`: the [`transfers`](Self::transfers) hold the packets that have begun until then, and no others.
    pub fn finish_transfers(&mut self, end: SimTime) {
        if let Self::Worms(worms) = self {
            worms.finish_transfers(end);
        }
        if let Some(transfers) = self.transfers() {
            // A transfer that takes no time may have begun, and be over, at the end itself.
            transfers.finish(end + SimDuration::from_ps(1));
        }
    }

    /// Returns the packets that wait for buffers, and for which, once no event is left.
    #[must_use]
    pub fn standstill(&self) -> Standstill {
        match self {
            Self::Links(_) => Standstill::default(),
            Self::Channels(channels) => channels.standstill(),
            Self::Worms(worms) => worms.standstill(),
        }
    }
}
