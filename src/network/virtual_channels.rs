//! Virtual channels: classes of buffers that keep packets from waiting for each other in a circle.

use super::routing::Routing;
use super::topology::Topology;
use serde::{Deserialize, Serialize};

/// How many classes of buffers a channel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum VirtualChannels {
    /// As many as keep the routing free of deadlock: one on open grids, cubes and trees; two on
    /// rings and tori, where a packet changes class when it crosses the last link of a ring
    /// (Dally and Seitz 1987); elsewhere, and with every routing that does not follow dimensions,
    /// one more with every link that leads to a vertex of a lower number. Up and down needs one.
    #[default]
    AsNeeded,
    /// One: where routes form a circle, a network with bounded buffers may come to a stand.
    Single,
}

/// What a packet has behind it: the port by which it came to the vertex where it is, and its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Came {
    pub port: u32,
    pub class: u32,
}

/// The rule that gives every hop of a packet its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Classes {
    One,
    /// One below the last link of a ring, one from there on.
    Dateline,
    /// One more with every hop to a lower number: within a class all but the first hop rise.
    Descents,
}

impl Classes {
    pub fn of(channels: VirtualChannels, routing: &Routing, topology: &Topology) -> Self {
        match (channels, topology) {
            (VirtualChannels::Single, _) => Self::One,
            // Between two vertices there is but one way without a turn.
            (_, Topology::Line { .. } | Topology::BinaryTree { .. }) if !matches!(routing, Routing::Table(_)) => {
                Self::One
            }
            _ if *routing == Routing::UpDown => Self::One,
            _ if !matches!(routing, Routing::DimensionOrder | Routing::EvenTies) => Self::Descents,
            (_, Topology::Ring { .. } | Topology::Torus2d { .. } | Topology::Torus3d { .. }) => Self::Dateline,
            (_, Topology::CubeConnectedCycles { .. } | Topology::Graph { .. }) => Self::Descents,
            _ => Self::One,
        }
    }

    /// About how many classes there are; exactly, but for [`Self::Descents`], whose number is found by looking at all
    /// routes.
    pub fn roughly(self, topology: &Topology) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Dateline => 2.0,
            Self::Descents => 1.0 + f64::from(topology.nodes()).log2(),
        }
    }

    /// The class in which a packet leaves `at` by `port` for `next`.
    pub fn next(self, came: Option<Came>, at: u32, port: u32, next: u32) -> u32 {
        let before = came.map_or(0, |came| came.class);
        match self {
            Self::One => 0,
            Self::Dateline => {
                let same_ring = came.is_some_and(|came| came.port / 2 == port / 2);
                let closes = if port.is_multiple_of(2) { next < at } else { next > at };
                u32::from(closes || same_ring && before == 1)
            }
            Self::Descents => before + u32::from(next < at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Vertex, port and class.
    type Lane = (u32, u32, u32);

    /// Whether the channels of all routes, each with its class, can be put in an order.
    fn is_free_of_cycles(topology: &Topology, channels: VirtualChannels) -> bool {
        let classes = Classes::of(channels, &Routing::DimensionOrder, topology);
        let mut waits: BTreeMap<Lane, Vec<Lane>> = BTreeMap::new();
        for (from, to) in (0..topology.nodes()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to))) {
            let (mut at, mut came, mut last) = (from, None, None);
            while at != to {
                let port = topology.route(at, to);
                let (next, there) = topology.neighbour(at, port).unwrap();
                let channel = (at, port, classes.next(came, at, port, next));
                waits.entry(channel).or_default();
                waits.entry(last.unwrap_or(channel)).or_default().extend(last.map(|_| channel));
                (at, came, last) = (next, Some(Came { port: there, class: channel.2 }), Some(channel));
            }
        }
        while let Some(end) = waits.iter().find(|(_, next)| next.is_empty()).map(|(channel, _)| *channel) {
            waits.remove(&end);
            for next in waits.values_mut() {
                next.retain(|channel| *channel != end);
            }
        }
        waits.is_empty()
    }

    #[test]
    fn rings_tori_and_cycles_need_their_classes() {
        let names = [("ring", 7), ("torus2d", 36), ("torus2d", 25), ("torus3d", 125), ("ccc", 24)];
        for (name, nodes) in names {
            let topology = Topology::from_name(name, nodes).unwrap();
            assert!(is_free_of_cycles(&topology, VirtualChannels::AsNeeded), "{name} {nodes}");
            assert!(!is_free_of_cycles(&topology, VirtualChannels::Single), "{name} {nodes}");
        }
    }

    #[test]
    fn rings_of_four_cannot_deadlock_because_ties_are_halved() {
        for (name, nodes) in [("ring", 4), ("torus2d", 16), ("torus3d", 64)] {
            let topology = Topology::from_name(name, nodes).unwrap();
            assert!(is_free_of_cycles(&topology, VirtualChannels::Single), "{name} {nodes}");
        }
    }
}
