//! Links: one station per direction.

use super::packet::{HopEvent, NOWHERE, Packet};
use super::protocol::Protocol;
use super::topology::{Routes, Topology};
use super::transfers::{TransferChannel, Transfers};
use crate::engine::{Calendar, Entity, EvenInstants, StationId, Stations};
use crate::trace::LinkLoad;
use crate::units::{BitRate, PerByte, SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// The description of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The transmission time of a byte, as measured; if absent, the one-way time of the protocol.
    #[serde(default)]
    pub per_byte: Option<PerByte>,
    /// Number of parallel lanes over which the bytes of a packet are spread: the time per byte is divided by it; 1 by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The protocol of the wire, from which the byte rates follow.
    #[serde(default)]
    pub protocol: Option<Protocol>,
    /// Time for which every packet occupies the link before its first byte.
    #[serde(default)]
    pub per_packet: SimDuration,
    /// Propagation time of a byte, during which the link can already send the next one.
    #[serde(default)]
    pub latency: SimDuration,
    /// Initialisation time of the link before the program starts; links are initialised one after the other; none by
    /// default.
    #[serde(default)]
    pub start: SimDuration,
    /// Buffer space at the end of the link, per virtual channel, for packets that have crossed the link and have not
    /// left the node yet; unbounded by default. [Wormhole switching](super::switching::Wormhole) has separate flit
    /// buffers.
    #[serde(default)]
    pub buffers: Buffers,
}

impl Link {
    /// Creates a link on which only bytes take time, `per_byte` each.
    #[must_use]
    pub fn new(per_byte: PerByte) -> Self {
        Self { per_byte: Some(per_byte), ..Self::default() }
    }

    /// Returns the same link with a propagation time for every byte.
    #[must_use]
    pub const fn latency(mut self, latency: SimDuration) -> Self {
        self.latency = latency;
        self
    }

    /// Returns the transmission time of a byte over all lanes together: the measured one, otherwise the one-way time of
    /// the protocol. Bytes are free if neither is given, which the check of a scenario rejects.
    #[must_use]
    pub fn byte_time(&self) -> PerByte {
        let by_protocol = || self.protocol.as_ref().map(|protocol| PerByte::new(protocol.rates().one_way));
        let of_lane = self.per_byte.or_else(by_protocol).unwrap_or(PerByte::FREE);
        of_lane.of_lanes(self.width.unwrap_or(1).max(1))
    }

    /// Returns the same link with an explicit [byte time](Self::byte_time). Deriving the byte time from the protocol
    /// takes a simulation, which is too slow to repeat for every packet.
    #[must_use]
    pub fn at_work(&self) -> Self {
        Self { per_byte: Some(self.byte_time()), protocol: None, width: None, ..self.clone() }
    }

    /// Returns the time for which a packet of `bytes` bytes occupies the link.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.per_packet + self.byte_time().time(bytes)
    }
}

/// Creates a link of this rate without latency.
impl From<BitRate> for Link {
    fn from(rate: BitRate) -> Self {
        Self::new(rate.into())
    }
}

/// Buffer space for packets that have crossed a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Buffers {
    /// Space for any number of packets.
    #[default]
    Unbounded,
    /// Space for this number of packets. A packet starts only when the other end has space for it, and frees the space
    /// when it has left that node or the node has consumed it.
    Packets(u32),
}

impl Buffers {
    /// Returns the number of packets for which there is space; `u32::MAX` if unbounded.
    #[must_use]
    pub const fn room(self) -> u32 {
        match self {
            Self::Unbounded => u32::MAX,
            Self::Packets(room) => room,
        }
    }
}

/// The known part of a packet's natural route, packed in 32 bits: the packet leaves each of the next `count` vertices
/// by the same port. The route is looked up again where it turns.
#[derive(Clone, Copy, Debug)]
pub struct PacketCourse(u32);

impl PacketCourse {
    /// A course of which nothing is known yet.
    pub const UNKNOWN: Self = Self(0);

    const STRAIGHT_BITS: u32 = 8;
    const MAX_STRAIGHT: u32 = (1 << Self::STRAIGHT_BITS) - 1;

    /// Returns the port by which a packet for `to` leaves `at`, and advances the course to the next vertex.
    #[inline]
    pub fn leave(&mut self, at: u32, to: u32, routes: &Routes) -> u32 {
        if self.0 & Self::MAX_STRAIGHT == 0 {
            *self = Self::from_turn(at, to, routes);
        }
        self.0 -= 1;
        self.0 >> Self::STRAIGHT_BITS
    }

    #[inline(never)]
    fn from_turn(at: u32, to: u32, routes: &Routes) -> Self {
        let (port, vertices) = routes.course(at, to);
        // Links are numbered in 32 bits, so that a vertex of a network has no more than 2¹⁶ ports.
        Self(port << Self::STRAIGHT_BITS | vertices.min(Self::MAX_STRAIGHT))
    }

    fn of(packet: &Packet) -> Self {
        if packet.place == NOWHERE { Self::UNKNOWN } else { Self(packet.place) }
    }
}

/// The runtime state of all links under store-and-forward switching without limits. Only earlier packets delay a
/// packet, so that each link is a plain FIFO station.
pub struct Links {
    topology: Topology,
    ways: NextLinks,
    stations: Stations<Packet>,
    /// Vertex at the end of each link; its own vertex where there is none.
    ends: Vec<u32>,
    /// The record of transfers, if requested.
    transfers: Option<Box<Transfers>>,
}

/// Looks up the next link of a packet and its transmission time.
struct NextLinks {
    routes: Routes,
    link: Link,
    ports: u32,
    /// The length of the last packet and its transmission time, cached because most packets have the same length.
    last_time: (u32, SimDuration),
}

impl NextLinks {
    /// Returns the link by which a packet leaves `at`, and its transmission time.
    #[expect(clippy::inline_always, reason = "called for every hop")]
    #[inline(always)]
    fn leave(&mut self, at: u32, packet: &mut Packet) -> (u32, SimDuration) {
        let mut course = PacketCourse::of(packet);
        let link = at * self.ports + course.leave(at, packet.to, &self.routes);
        packet.place = course.0;
        if self.last_time.0 != packet.bytes {
            self.last_time = (packet.bytes, self.link.time(u64::from(packet.bytes)));
        }
        (link, self.last_time.1)
    }
}

impl Links {
    /// Creates the idle links of `topology`, whose events use the entities from 0 to [`entities`](Self::entities).
    #[must_use]
    pub fn new(topology: Topology, link: &Link) -> Self {
        let ports = topology.ports();
        let count = topology.vertices() * ports;
        let end = |link: u32| topology.neighbour(link / ports, link % ports).map_or(link / ports, |(end, _)| end);
        let link = link.at_work();
        Self {
            ends: (0..count).map(end).collect(),
            ways: NextLinks { routes: Routes::of(&topology), last_time: (0, link.time(0)), link, ports },
            topology,
            stations: Stations::new(count, 0),
            transfers: None,
        }
    }

    /// Returns the number of entities that the links use.
    #[must_use]
    pub fn entities(&self) -> Entity {
        self.topology.vertices() * self.ways.ports
    }

    /// Returns the topology that the links form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Queues `packet` on the link that leads from `at` towards its destination.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, mut packet: Packet) {
        let (link, time) = self.ways.leave(at, &mut packet);
        self.stations.offer(calendar, now, link, packet, time);
        if let Some(transfers) = &mut self.transfers {
            let end = EvenInstants::single(self.stations.free(link));
            transfers.record(now, link, &packet, &[end], time);
        }
    }

    /// Returns the time from which the bytes of a packet arrived at the end of a link, given that the last one arrives
    /// `now`.
    #[must_use]
    pub fn first_byte(&self, now: SimTime, packet: &Packet) -> SimTime {
        now.before(self.ways.link.byte_time().time(u64::from(packet.bytes)))
    }

    /// Ends a transmission and has the router at the other end forward the packet at once. Returns the packet if that
    /// vertex is its destination.
    #[inline]
    pub fn relay(&mut self, calendar: &mut Calendar, now: SimTime, link: StationId) -> Option<Packet> {
        if self.transfers.is_some() {
            return self.relay_recorded(calendar, now, link);
        }
        let at = self.ends[link as usize];
        let Self { stations, ways, .. } = self;
        let onward = |packet: &mut Packet| (packet.to != at).then(|| ways.leave(at, packet));
        stations.relay(calendar, now, link, onward).copied()
    }

    /// Does the same as [`relay`](Self::relay) while transfers are recorded.
    #[cold]
    #[inline(never)]
    fn relay_recorded(&mut self, calendar: &mut Calendar, now: SimTime, link: StationId) -> Option<Packet> {
        let (packet, at) = (*self.stations.depart(calendar, now, link), self.ends[link as usize]);
        if packet.to == at {
            return Some(packet);
        }
        self.send(calendar, now, at, packet);
        None
    }

    /// Starts recording the transfers over the links in [`Transfers`].
    pub fn record_transfers(&mut self) {
        let channels = (0..).zip(&self.ends).map(|(link, to)| TransferChannel {
            from: link / self.ways.ports,
            to: *to,
            number: 0,
        });
        self.transfers = Some(Box::new(Transfers::new(channels)));
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        self.transfers.as_deref_mut()
    }

    /// Ends a transmission and returns the hop of its packet.
    #[inline]
    pub fn depart(&mut self, calendar: &mut Calendar, now: SimTime, link: StationId) -> HopEvent {
        let packet = *self.stations.depart(calendar, now, link);
        HopEvent::Crossed { packet, from: link / self.ways.ports, at: self.ends[link as usize] }
    }

    /// Returns the load of each direction of an existing link up to `now`.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = LinkLoad> + '_ {
        (0..self.entities()).filter_map(move |link| {
            let from = link / self.ways.ports;
            let (to, _) = self.topology.neighbour(from, link % self.ways.ports)?;
            let (packets, busy) = (self.stations.begun(link), self.stations.served(link, now));
            Some(LinkLoad { from, to, packets, busy })
        })
    }
}
