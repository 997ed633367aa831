//! Numbering of routers, ports, channels and flits.

use super::port_fields::PortFields;
use crate::network::route_state::turns;
use crate::network::routing::Routing;
use crate::network::topology::Topology;

/// The absence of a virtual channel or link.
pub(super) const NONE: u32 = u32::MAX;

/// The layout of the channel arrays. Ports and channels are numbered over all routers; input and output channels share
/// their numbers.
#[derive(Clone, Copy)]
pub(super) struct RouterShape {
    /// Number of ports with links; one more port leads from and to the node.
    pub(super) links: u32,
    pub(super) ports: u32,
    /// Number of virtual channels of a class.
    pub(super) lanes: u32,
    pub(super) classes: u32,
    /// Number of virtual channels of a port.
    pub(super) channels: u32,
    /// Number of virtual channels of a router.
    pub(super) of_router: u32,
    /// Number of virtual channels of a router whose bits share a word.
    pub(super) of_word: u32,
    pub(super) fields: PortFields,
    /// Number of words with the bits of a router: 1 or [`MAX_WORDS`](Self::MAX_WORDS).
    pub(super) words: u32,
    /// Size of the buffer of a channel in flits.
    pub(super) buffer: u32,
}

impl RouterShape {
    /// The largest number of words with a bit for each channel of a router, given that the channels of a port share a
    /// word.
    pub(super) const MAX_WORDS: u32 = 3;

    pub(super) const fn new(links: u32, classes: u32, lanes: u32, buffer: u32) -> Self {
        let (ports, channels) = (links + 1, classes * lanes);
        let of_word = if channels < u64::BITS { u64::BITS / channels * channels } else { channels };
        let of_router = ports * channels;
        let words = if of_router <= of_word { 1 } else { Self::MAX_WORDS };
        Self {
            links,
            ports,
            lanes,
            classes,
            channels,
            of_router,
            of_word,
            fields: PortFields::new(channels),
            words,
            buffer,
        }
    }

    pub(super) const fn router(self, channel: u32) -> u32 {
        channel / self.of_router
    }

    pub(super) const fn port(self, channel: u32) -> u32 {
        channel / self.channels % self.ports
    }

    pub(super) const fn first(self, router: u32, port: u32) -> u32 {
        (router * self.ports + port) * self.channels
    }
}

/// The leaf nodes: nodes with a single link, to a switch, through which no packet passes. A packet holds no channel
/// before it takes that link, so that any channel of the link suits it, whatever its class.
pub(super) struct LeafNodes {
    /// By node, `true` if it is a leaf; empty if there are none.
    are: Vec<bool>,
}

impl LeafNodes {
    pub(super) fn of(topology: &Topology, routing: &Routing) -> Self {
        let nodes = if topology.switches() > 0 { topology.nodes() } else { 0 };
        let is_leaf = |node: u32| {
            let mut neighbours = (0..topology.ports()).filter_map(|port| topology.neighbour(node, port));
            let Some((switch, _)) = neighbours.next().filter(|(end, _)| *end >= nodes) else { return false };
            // A packet with such an intermediate node turns at its switch, or passes through the node.
            let passes = routing.is_indirect() && !turns(topology, routing.through(), switch, node);
            neighbours.next().is_none() && !passes
        };
        Self { are: (0..nodes).map(is_leaf).collect() }
    }

    #[inline]
    pub(super) fn contain(&self, vertex: u32) -> bool {
        self.are.get(vertex as usize).is_some_and(|is| *is)
    }
}

/// Returns a mask of the lowest `count` bits, or of all 64.
pub(super) const fn low_bits(count: u32) -> u64 {
    if count < u64::BITS { (1 << count) - 1 } else { u64::MAX }
}

/// A flit: its worm, and whether it is the head or the tail.
#[derive(Clone, Copy)]
pub(super) struct Flit(u32);

impl Flit {
    const HEAD: u32 = 2;
    const TAIL: u32 = 1;

    /// Creates the head of a worm.
    pub(super) const fn head(worm: u32) -> Self {
        Self(worm << 2 | Self::HEAD)
    }

    /// Returns the same flit, marked as the tail if `is_tail`.
    pub(super) const fn ending(self, is_tail: bool) -> Self {
        Self(self.0 | is_tail as u32)
    }

    /// Returns whether the flit is neither the head nor the tail.
    pub(super) const fn is_between(self) -> bool {
        self.0 & (Self::HEAD | Self::TAIL) == 0
    }

    /// Returns a flit that follows this one.
    pub(super) const fn next(self) -> Self {
        Self(self.0 & !Self::HEAD)
    }

    pub(super) const fn worm(self) -> u32 {
        self.0 >> 2
    }

    pub(super) const fn is_head(self) -> bool {
        self.0 & Self::HEAD != 0
    }

    pub(super) const fn is_tail(self) -> bool {
        self.0 & Self::TAIL != 0
    }
}
