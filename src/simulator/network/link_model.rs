//! Link timing: occupancy, arrival times and buffer space, as a packet experiences them.

use super::link::{Buffers, Link};
use super::overrides::{LinkOverride, ports_towards};
use super::switching::Switching;
use super::topology::Topology;
use super::{Network, Routing};
use crate::units::{PerByte, SimDuration};

/// The timing of one direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkModel {
    per_packet: SimDuration,
    per_byte: PerByte,
    /// Propagation time of a byte.
    pub latency: SimDuration,
    /// Buffer space at the end of the link.
    pub buffers: Buffers,
    /// The length of the largest packets and their times.
    largest: (u32, PacketTimes),
    /// The last other length and its times.
    other: (u32, PacketTimes),
}

/// The times of a packet on an otherwise idle link. If the packet occupies the link from `s`, its head reaches the
/// other end at `s + t_h + f t_w` and its tail at `s + t_h + m t_w` (`t_h`: time per packet, `f`: header, `m`: packet,
/// `t_w`: time per byte), both plus the latency. `f = m` is store and forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketTimes {
    /// Time for which the packet occupies the link, which is the spacing of back-to-back packets.
    pub occupancy: SimDuration,
    /// Time from the start of the packet until the other end can forward it.
    pub onward: SimDuration,
    /// Time from the start of the packet until its tail is at the other end.
    pub whole: SimDuration,
}

impl PacketTimes {
    /// Returns the time from the start of the packet until its arrival: that of its tail at the destination
    /// (`is_last`), otherwise that of the part needed to forward it.
    #[must_use]
    #[inline]
    pub const fn arrival(&self, is_last: bool) -> SimDuration {
        if is_last { self.whole } else { self.onward }
    }
}

impl LinkModel {
    /// Returns the timing of a link with this description, in a network with this switching.
    #[must_use]
    pub fn of(link: &Link, switching: &Switching) -> Self {
        let Link { per_packet, latency, buffers, .. } = *link;
        let unknown = (0, PacketTimes::default());
        let idle = Self { per_packet, per_byte: link.byte_time(), latency, buffers, largest: unknown, other: unknown };
        idle.prepared(switching)
    }

    fn prepared(mut self, switching: &Switching) -> Self {
        let largest = u32::try_from(switching.packet_bytes()).unwrap_or(u32::MAX);
        self.largest = (largest, self.calculated_times(largest, switching));
        self.other = (0, self.calculated_times(0, switching));
        self
    }

    fn with_byte_time(self, per_byte: PerByte, switching: &Switching) -> Self {
        Self { per_byte, ..self }.prepared(switching)
    }

    /// Returns the time of a byte.
    #[must_use]
    pub const fn byte_time(&self) -> PerByte {
        self.per_byte
    }

    /// Returns the time from the start of a packet until its first byte begins to arrive at the other end.
    #[must_use]
    #[inline]
    pub fn before_bytes(&self) -> SimDuration {
        self.per_packet + self.latency
    }

    /// Returns the times of a packet of `bytes` bytes.
    #[inline]
    pub fn times(&mut self, bytes: u32, switching: &Switching) -> PacketTimes {
        if bytes == self.largest.0 {
            return self.largest.1;
        }
        if bytes != self.other.0 {
            self.other = (bytes, self.calculated_times(bytes, switching));
        }
        self.other.1
    }

    #[inline(never)]
    fn calculated_times(&self, bytes: u32, switching: &Switching) -> PacketTimes {
        let time = |bytes| self.per_packet + self.per_byte.time(bytes);
        let (occupancy, header) = (time(u64::from(bytes)), time(switching.header_bytes(u64::from(bytes))));
        PacketTimes { occupancy, onward: header + self.latency, whole: occupancy + self.latency }
    }
}

/// The timing of all links of a network, which share a few kinds: in most networks only one.
#[derive(Clone, Debug)]
pub struct LinkModels {
    switching: Switching,
    kinds: Vec<LinkModel>,
    /// The kind of each link, by vertex and port; empty if all links are of the first kind.
    kind_of: Vec<u32>,
    ports: u32,
}

impl LinkModels {
    /// Returns the links of `topology`, the part of `network` that is in use.
    #[must_use]
    pub fn of(network: &Network, topology: &Topology) -> Self {
        let inner = LinkModel::of(&network.links, &network.switching);
        let ports = topology.ports();
        let models = Self { switching: network.switching.clone(), kinds: vec![inner], kind_of: Vec::new(), ports };
        let with_classes = models.with_end_links(network, topology).with_link_classes(network, topology);
        network.overrides.iter().fold(with_classes, |models, different| models.with_override(different, topology))
    }

    /// Applies the description of the links between nodes and switches, in a network with switches.
    fn with_end_links(mut self, network: &Network, topology: &Topology) -> Self {
        let Some(end_link) = network.end_links.as_ref().filter(|_| topology.switches() > 0) else { return self };
        self.kinds.push(LinkModel::of(end_link, &network.switching));
        let ends_at_node = |link: &u32| {
            let near = link / self.ports;
            let far = topology.neighbour(near, link % self.ports).map_or(near, |(far, _)| far);
            near.min(far) < topology.nodes()
        };
        self.kind_of = (0..topology.vertices() * self.ports).map(|link| u32::from(ends_at_node(&link))).collect();
        self
    }

    /// Applies the descriptions of single link classes.
    fn with_link_classes(mut self, network: &Network, topology: &Topology) -> Self {
        let mut add = |link: &Link| {
            self.kinds.push(LinkModel::of(link, &network.switching));
            u32::try_from(self.kinds.len() - 1).expect("links are numbered in 32 bits")
        };
        let kind_of_class: Vec<_> =
            network.links_by_class(topology).into_iter().map(|link| link.map(&mut add)).collect();
        if kind_of_class.iter().any(Option::is_some) {
            self.kind_of.resize((topology.vertices() * self.ports) as usize, 0);
            for (link, kind) in (0..).zip(&mut self.kind_of) {
                let class = topology.link_class(link / self.ports, link % self.ports);
                *kind = class.and_then(|class| kind_of_class[class]).unwrap_or(*kind);
            }
        }
        self
    }

    fn with_override(mut self, different: &LinkOverride, topology: &Topology) -> Self {
        let LinkOverride::LinkSpeed { from, to, per_byte } = different else { return self };
        for (near, far) in [(*from, *to), (*to, *from)] {
            // A link of the machine may lie outside the part that is in use.
            for port in ports_towards(topology, near, far) {
                let link = near * self.ports + port;
                let model = self.model(link).with_byte_time(*per_byte, &self.switching);
                self.kind_of.resize((topology.vertices() * self.ports) as usize, 0);
                self.kind_of[link as usize] = u32::try_from(self.kinds.len()).expect("links are numbered in 32 bits");
                self.kinds.push(model);
            }
        }
        self
    }

    #[inline]
    fn kind(&self, link: u32) -> usize {
        self.kind_of.get(link as usize).map_or(0, |kind| *kind as usize)
    }

    /// Returns the timing of the link with this number.
    #[must_use]
    pub fn model(&self, link: u32) -> LinkModel {
        self.kinds[self.kind(link)]
    }

    /// Returns the times of a packet of `bytes` bytes on a link.
    #[inline]
    pub fn times(&mut self, link: u32, bytes: u32) -> PacketTimes {
        let kind = self.kind(link);
        self.kinds[kind].times(bytes, &self.switching)
    }

    /// Returns whether every non-empty packet occupies every link for some time, and can be forwarded some time later
    /// than it starts.
    #[must_use]
    pub fn take_time(&self) -> bool {
        let shortest = |link: &LinkModel| link.calculated_times(1, &self.switching);
        self.kinds.iter().map(shortest).all(|times| times.occupancy.min(times.onward) > SimDuration::ZERO)
    }
}

impl Network {
    /// Returns whether the delay of a packet that finds buffer space depends only on when the link becomes free:
    /// packets follow one route, and a tail never arrives later than the link can send it.
    #[must_use]
    pub fn has_independent_links(&self, topology: &Topology) -> bool {
        let keeps_up = match self.switching {
            Switching::StoreAndForward(_) => true,
            // The tail of a packet may arrive after a faster link could have sent it.
            Switching::CutThrough(_) => {
                self.end_links.is_none() && self.link_classes.is_empty() && self.overrides.is_empty()
            }
            Switching::Wormhole(_) => false,
        };
        keeps_up
            && !self.contention.takes_turns()
            && (self.end_links.is_none() || topology.switches() > 0)
            && self.routing == Routing::DimensionOrder
            && !self.overrides.iter().any(LinkOverride::is_failure)
    }

    /// Returns whether packets may find no buffer space behind a link.
    #[must_use]
    pub fn has_finite_buffers(&self) -> bool {
        let mut links = std::iter::once(&self.links).chain(&self.end_links).chain(self.link_classes.values());
        links.any(|link| link.buffers != Buffers::Unbounded)
    }
}
