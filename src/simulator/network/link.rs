//! Links: one station for each direction of a wire.

use super::packet::{HopEvent, NOWHERE, Packet};
use super::protocol::Protocol;
use super::topology::{Routes, Topology};
use super::transfers::{TransferChannel, Transfers};
use crate::engine::{Calendar, Entity, EvenInstants, StationId, Stations};
use crate::units::{BitRate, PerByte, SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// A description of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The transmission time of a byte, as measured; if absent, what the protocol gives one way.
    #[serde(default)]
    pub per_byte: Option<PerByte>,
    /// Number of lanes that carry the bytes of a packet side by side: a byte takes this part of its time; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The protocol of the wire, from which the byte rates follow.
    #[serde(default)]
    pub protocol: Option<Protocol>,
    /// Time added to the occupancy of the link by every packet, before its first byte.
    #[serde(default)]
    pub per_packet: SimDuration,
    /// Travel time of a byte; the link is free for the next one meanwhile.
    #[serde(default)]
    pub latency: SimDuration,
    /// The initialisation of a link before the program starts; one link after the other; none unless given.
    #[serde(default)]
    pub start: SimDuration,
    /// Room, at the end of the link, for packets that have come over it and have not left the
    /// node, by virtual channel; unbounded unless given. Flits of
    /// [wormhole switching](super::switching::Wormhole) have buffers of their own.
    #[serde(default)]
    pub buffers: Buffers,
}

impl Link {
    /// A link whose bytes take `per_byte` and nothing else takes time.
    #[must_use]
    pub fn new(per_byte: PerByte) -> Self {
        Self { per_byte: Some(per_byte), ..Self::default() }
    }

    /// The same link with a travel time of every byte, for which it is free for the next one.
    #[must_use]
    pub const fn latency(mut self, latency: SimDuration) -> Self {
        self.latency = latency;
        self
    }

    /// The transmission time of a byte, of all lanes together: as measured, else one way by the protocol; bytes are free where
    /// neither is given, which a scenario's check refuses.
    #[must_use]
    pub fn byte_time(&self) -> PerByte {
        let by_protocol = || self.protocol.as_ref().map(|protocol| PerByte::new(protocol.rates().one_way));
        let of_lane = self.per_byte.or_else(by_protocol).unwrap_or(PerByte::FREE);
        of_lane.of_lanes(self.width.unwrap_or(1).max(1))
    }

    /// The same link with its [byte time](Self::byte_time) said: by the protocol it takes a simulation, too long to be
    /// asked for by every packet.
    #[must_use]
    pub fn at_work(&self) -> Self {
        Self { per_byte: Some(self.byte_time()), protocol: None, width: None, ..self.clone() }
    }

    /// The time for which a packet of `bytes` bytes holds the link.
    #[must_use]
    pub fn time(&self, bytes: u64) -> SimDuration {
        self.per_packet + self.byte_time().time(bytes)
    }
}

/// A link of this rate without latency.
impl From<BitRate> for Link {
    fn from(rate: BitRate) -> Self {
        Self::new(rate.into())
    }
}

/// Room for packets that have come over a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Buffers {
    /// A packet always finds room.
    #[default]
    Unbounded,
    /// Room for this number of packets: a packet starts only when there is room for it at the other end,
    /// and makes room when it has left that node, or has been taken in there.
    Packets(u32),
}

impl Buffers {
    /// The number of packets for which there is room; the most that can be counted if there always is.
    #[must_use]
    pub const fn room(self) -> u32 {
        match self {
            Self::Unbounded => u32::MAX,
            Self::Packets(room) => room,
        }
    }
}

/// The way of a packet along its natural route as far as it is known: it leaves the next `count` vertices by this
/// port. The route is asked for where it turns.
#[derive(Clone, Copy, Debug)]
pub struct PacketCourse(u32);

impl PacketCourse {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self(0);

    const STRAIGHT_BITS: u32 = 8;
    const MOST_STRAIGHT: u32 = (1 << Self::STRAIGHT_BITS) - 1;

    /// The port by which a packet to `to` leaves `at`; the rest of its course goes on from the next vertex.
    #[inline]
    pub fn leave(&mut self, at: u32, to: u32, routes: &Routes) -> u32 {
        if self.0 & Self::MOST_STRAIGHT == 0 {
            *self = Self::from_turn(at, to, routes);
        }
        self.0 -= 1;
        self.0 >> Self::STRAIGHT_BITS
    }

    #[inline(never)]
    fn from_turn(at: u32, to: u32, routes: &Routes) -> Self {
        let (port, vertices) = routes.course(at, to);
        // Links are numbered in 32 bits, so that a vertex of a network has no more than 2¹⁶ ports.
        Self(port << Self::STRAIGHT_BITS | vertices.min(Self::MOST_STRAIGHT))
    }

    fn of(packet: &Packet) -> Self {
        if packet.place == NOWHERE { Self::UNKNOWN } else { Self(packet.place) }
    }
}

/// All links of a network at work that stores packets, without limit, and forwards them: nothing
/// ever keeps a packet back but the packets before it, so that a link is a plain station.
pub struct Links {
    topology: Topology,
    ways: NextLinks,
    stations: Stations<Packet>,
    /// Vertex at the end of each link; its own vertex where there is none.
    ends: Vec<u32>,
    /// `None` unless it is asked for.
    transfers: Option<Box<Transfers>>,
}

/// The next link of every packet, and its time there.
struct NextLinks {
    routes: Routes,
    link: Link,
    ports: u32,
    /// The last transmission: packets are mostly of the same length.
    last_time: (u32, SimDuration),
}

impl NextLinks {
    /// The link by which a packet leaves `at`, and its transmission time.
    #[expect(clippy::inline_always, reason = "it is asked for every hop")]
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
    /// The idle links of `topology`; their events use the entities from 0 to [`entities`](Self::entities).
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

    /// The topology that the links form.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Gives `packet` to the link that leads from `at` towards its destination.
    pub fn send(&mut self, calendar: &mut Calendar, now: SimTime, at: u32, mut packet: Packet) {
        let (link, time) = self.ways.leave(at, &mut packet);
        self.stations.offer(calendar, now, link, packet, time);
        if let Some(transfers) = &mut self.transfers {
            let end = EvenInstants::one(self.stations.free(link));
            transfers.give(now, link, &packet, &[end], time);
        }
    }

    /// The time from which the bytes of a packet came, all of which are at the end of a link by `now`.
    #[must_use]
    pub fn first_byte(&self, now: SimTime, packet: &Packet) -> SimTime {
        now.before(self.ways.link.byte_time().time(u64::from(packet.bytes)))
    }

    /// A transmission has ended, and the router at the other end passes the packet on at once. Returns it if it is for the
    /// node there.
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

    /// The same where transfers are recorded.
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

    /// Records the transfers over the links in [`Transfers`] from now on.
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

    /// A transmission has ended: what the packet has come through.
    #[inline]
    pub fn depart(&mut self, calendar: &mut Calendar, now: SimTime, link: StationId) -> HopEvent {
        let packet = *self.stations.depart(calendar, now, link);
        HopEvent::Crossed { packet, from: link / self.ways.ports, at: self.ends[link as usize] }
    }

    /// For each direction of a link that exists: its ends, its packets and its busy time up to `now`.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = (u32, u32, u32, SimDuration)> + '_ {
        (0..self.entities()).filter_map(move |link| {
            let from = link / self.ways.ports;
            let (to, _) = self.topology.neighbour(from, link % self.ways.ports)?;
            Some((from, to, self.stations.jobs(link), self.stations.served(link, now)))
        })
    }
}
