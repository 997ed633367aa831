//! Virtual channels: classes of buffers that keep packets from waiting for each other in a circle.

use super::routing::Routing;
use super::topology::Topology;
use serde::{Deserialize, Serialize};

/// Number of buffer classes of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum VirtualChannels {
    /// As many as keep the routing free of deadlock: one on open grids, cubes and trees; two on
    /// rings and tori, where packets that go round the end of a ring have a class of their own
    /// (after Dally and Seitz 1987); elsewhere, and with every routing that does not follow dimensions,
    /// one more with every link that leads to a vertex of a lower number. Up and down needs one.
    #[default]
    AsNeeded,
    /// One: where routes form a circle, a network with bounded buffers may deadlock.
    Single,
}

/// Last hop of a packet: the port by which it came to the vertex where it is, and its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Came {
    pub port: u32,
    pub class: u32,
}

/// A hop of a packet for node `to`: it leaves `at` by `port` for `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub at: u32,
    pub port: u32,
    pub next: u32,
    pub to: u32,
}

/// The rule that gives every hop of a packet its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Classes {
    One,
    /// Chosen on entry into a ring and kept in it: one for packets that are going to cross the ring's dateline, one for
    /// all others, so that both classes carry traffic on every link. On shortest ways a packet covers at most half of a
    /// ring: of those that cross the dateline none covers the links on the opposite side, and the others never
    /// cross it, so neither class closes a circle.
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

    /// Returns whether there is more than one.
    pub fn are_many(self) -> bool {
        self != Self::One
    }

    /// The class in which a packet takes `hop`.
    pub fn next(self, topology: &Topology, came: Option<Came>, hop: Hop) -> u32 {
        let Hop { at, port, next, to } = hop;
        match (self, came) {
            (Self::One, _) => 0,
            (Self::Dateline, Some(came)) if came.port / 2 == port / 2 => came.class,
            (Self::Dateline, _) => u32::from(topology.crosses_dateline(at, to, port)),
            (Self::Descents, _) => came.map_or(0, |came| came.class) + u32::from(next < at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Vertex, port and class.
    type Lane = (u32, u32, u32);

    /// The channels for which packets wait while they hold another one, on every route that `routing` can choose.
    fn waits(topology: &Topology, channels: VirtualChannels, routing: &Routing) -> BTreeMap<Lane, BTreeSet<Lane>> {
        let classes = Classes::of(channels, routing, topology);
        let mut waits: BTreeMap<Lane, BTreeSet<Lane>> = BTreeMap::new();
        for (from, to) in (0..topology.nodes()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to))) {
            let mut open = vec![(from, None, None)];
            while let Some((at, came, last)) = open.pop() {
                for port in choices(topology, routing, at, to) {
                    let (next, there) = topology.neighbour(at, port).unwrap();
                    let class = classes.next(topology, came, Hop { at, port, next, to });
                    let channel = (at, port, class);
                    waits.entry(channel).or_default();
                    waits.entry(last.unwrap_or(channel)).or_default().extend(last.map(|_| channel));
                    open.push((next, Some(Came { port: there, class }), Some(channel)));
                }
            }
        }
        waits
    }

    /// The ports that a packet may take next; with even ties both directions of a ring where they are equally long.
    fn choices(topology: &Topology, routing: &Routing, at: u32, to: u32) -> Vec<u32> {
        if at == to {
            return Vec::new();
        }
        let natural = topology.route(at, to);
        let comes_closer = |port: &u32| {
            let next = topology.neighbour(at, *port).map(|(next, _)| next);
            next.is_some_and(|next| topology.distance(next, to) < topology.distance(at, to))
        };
        match routing {
            Routing::EvenTies => [natural & !1, natural | 1].into_iter().filter(comes_closer).collect(),
            _ => vec![natural],
        }
    }

    /// Can the channels of all routes, each with its class, be put in an order?
    fn is_free_of_cycles(topology: &Topology, channels: VirtualChannels, routing: &Routing) -> bool {
        let waits = waits(topology, channels, routing);
        let mut awaited: BTreeMap<Lane, usize> = waits.keys().map(|channel| (*channel, 0)).collect();
        for next in waits.values().flatten() {
            *awaited.get_mut(next).unwrap() += 1;
        }
        let mut free: Vec<Lane> =
            awaited.iter().filter(|(_, count)| **count == 0).map(|(channel, _)| *channel).collect();
        let mut ordered = 0;
        while let Some(channel) = free.pop() {
            ordered += 1;
            for next in &waits[&channel] {
                let count = awaited.get_mut(next).unwrap();
                *count -= 1;
                free.extend((*count == 0).then_some(*next));
            }
        }
        ordered == waits.len()
    }

    fn rings_and_tori() -> impl Iterator<Item = Topology> {
        let rings = (1..=12).map(|nodes| Topology::Ring { nodes });
        let sides = |largest| (1..=largest).flat_map(move |rows| (1..=largest).map(move |columns| (rows, columns)));
        let planes = sides(8).map(|(rows, columns)| Topology::Torus2d { rows, columns });
        let spaces = (2..=5)
            .flat_map(move |layers| sides(5).map(move |(rows, columns)| Topology::Torus3d { layers, rows, columns }));
        rings.chain(planes).chain(spaces)
    }

    #[test]
    fn classes_keep_rings_and_tori_of_any_sides_free_of_cycles() {
        for topology in rings_and_tori() {
            for routing in [Routing::DimensionOrder, Routing::EvenTies] {
                assert!(is_free_of_cycles(&topology, VirtualChannels::AsNeeded, &routing), "{topology} {routing:?}");
            }
        }
    }

    #[test]
    fn rings_tori_and_cycles_need_their_classes() {
        let names = [("ring", 7), ("torus2d", 36), ("torus2d", 25), ("torus3d", 125), ("ccc", 24)];
        for (name, nodes) in names {
            let topology = Topology::from_name(name, nodes).unwrap();
            let is_free = |channels| is_free_of_cycles(&topology, channels, &Routing::DimensionOrder);
            assert!(is_free(VirtualChannels::AsNeeded) && !is_free(VirtualChannels::Single), "{name} {nodes}");
        }
    }

    #[test]
    fn rings_of_four_cannot_deadlock_because_ties_are_halved() {
        for (name, nodes) in [("ring", 4), ("torus2d", 16), ("torus3d", 64)] {
            let topology = Topology::from_name(name, nodes).unwrap();
            assert!(is_free_of_cycles(&topology, VirtualChannels::Single, &Routing::DimensionOrder), "{name} {nodes}");
        }
    }

    /// Of the channels of a ring that packets use, each class has its share: neither carries nearly everything.
    #[test]
    fn both_classes_carry_traffic_before_the_dateline() {
        let ring = Topology::Ring { nodes: 8 };
        let classes = Classes::of(VirtualChannels::AsNeeded, &Routing::DimensionOrder, &ring);
        let class = |to| classes.next(&ring, None, Hop { at: 6, port: 0, next: 7, to });
        assert_eq!((class(7), class(0), class(1)), (0, 1, 1));
    }
}
