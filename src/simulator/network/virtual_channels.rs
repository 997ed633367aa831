//! Virtual channels: classes of buffers that keep packets from waiting for each other in a cycle.

use super::Network;
use super::overrides::LinkOverride;
use super::routing::{Routing, Through};
use super::topology::{DeadlockAvoidance, Topology};
use serde::{Deserialize, Serialize};

/// The number of buffer classes of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum VirtualChannels {
    /// As many classes as keep the routing free of deadlock. Open grids, cubes and trees need one. Rings and tori need
    /// two: packets that cross the end of a ring have a separate class (after Dally and Seitz 1987). In dragonflies the
    /// class increases with every link between groups (Kim et al. 2008). On other topologies, and with every routing
    /// that does not follow dimensions, the class increases with every valley: a turn from a link to a lower-numbered
    /// vertex to a link to a higher-numbered one; a whole fat tree has none. `UpDown` needs one class. With `Valiant`
    /// and `Ugal`, each of the two legs has these classes to itself, except in dragonflies.
    #[default]
    AsNeeded,
    /// One class. If routes form a cycle, a network with bounded buffers may deadlock.
    Single,
    /// Three classes, for a dragonfly with `Ugal` or `Valiant`, as in `BookSim2` (`ugal_dragonflynew`): the first up to
    /// the intermediate node; the second from there, or on the natural route, up to the link between groups; the third
    /// over that link, behind it, and within a group. Two groups whose packets pass through each other may wait for
    /// each other: a network with bounded buffers may deadlock.
    Phases,
}

/// The last hop of a packet: the port by which it entered the vertex where it is, and its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastHop {
    pub port: u32,
    pub class: u32,
}

/// A hop of a packet bound for node `to`: the packet leaves `at` by `port` for `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub at: u32,
    pub port: u32,
    pub next: u32,
    pub to: u32,
    /// 0 before the packet has reached its intermediate node, 1 afterwards.
    pub leg: u32,
}

/// The assignment of classes to the hops of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Classes {
    rule: ClassRule,
    legs: u32,
}

/// The rule for the hops of one leg of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassRule {
    One,
    /// Two classes, chosen on entry into a ring and kept within it: one for packets that are going to cross the
    /// dateline of the ring, one for all others, so that both classes carry traffic on every link. On shortest routes a
    /// packet covers at most half of a ring. Packets that cross the dateline therefore never use the links on the
    /// opposite side, and the others never cross the dateline, so that neither class closes a cycle.
    Dateline,
    /// A class that increases with every link between groups of a dragonfly: within a class, a packet moves towards
    /// such a link and never away from one. The second leg continues the classes of the first where routes turn at a
    /// link between groups, and has separate classes where they turn at a router.
    GlobalLinks,
    /// The classes of [`VirtualChannels::Phases`].
    Phases,
    /// A class that increases with every turn from a hop to a lower number to a hop to a higher number: within a class,
    /// a route ascends and then descends.
    Valleys,
}

impl Classes {
    pub fn of(network: &Network, topology: &Topology) -> Self {
        let has_failed = network.overrides.iter().any(LinkOverride::is_failure);
        Self::new(network.virtual_channels, &network.routing, topology, has_failed)
    }

    fn new(channels: VirtualChannels, routing: &Routing, topology: &Topology, has_failed: bool) -> Self {
        let rule = ClassRule::of(channels, routing, topology.natural_waits(), has_failed);
        let counts_on = match rule {
            ClassRule::GlobalLinks => routing.through() == Through::Group,
            rule => rule == ClassRule::Phases || channels == VirtualChannels::Single,
        };
        Self { rule, legs: if routing.is_indirect() && !counts_on { 2 } else { 1 } }
    }

    /// Returns the number of classes, estimated where valleys count, because their number takes a search of all routes.
    pub fn estimated_count(self, topology: &Topology, routing: &Routing) -> f64 {
        self.known(routing).map_or_else(|| 1.0 + f64::from(topology.nodes()).log2(), f64::from)
    }

    /// Returns the number of classes; `None` where valleys count.
    pub fn known(self, routing: &Routing) -> Option<u32> {
        let of_leg = match self.rule {
            ClassRule::One => 1,
            ClassRule::GlobalLinks if self.legs == 1 => 2 + u32::from(routing.is_indirect()),
            ClassRule::Dateline | ClassRule::GlobalLinks => 2,
            ClassRule::Phases => 3,
            ClassRule::Valleys => return None,
        };
        Some(of_leg * self.legs)
    }

    /// Returns whether there is more than one class.
    pub fn are_many(self) -> bool {
        self.rule != ClassRule::One || self.legs > 1
    }

    /// Returns the class in which a packet takes `hop`.
    #[inline]
    pub fn next(self, topology: &Topology, came: Option<LastHop>, hop: Hop) -> u32 {
        let Hop { at, port, next, to, leg } = hop;
        let before = came.map_or(0, |came| came.class);
        match self.rule {
            ClassRule::One => leg.min(self.legs - 1),
            ClassRule::Dateline => {
                let first = 2 * leg.min(self.legs - 1);
                let stays = came.is_some_and(|came| before >= first && topology.share_a_ring(came.port, port));
                if stays { before } else { first + u32::from(topology.crosses_dateline(at, to, port)) }
            }
            ClassRule::GlobalLinks => {
                let first = 2 * leg.min(self.legs - 1);
                let is_behind = |came: LastHop| topology.is_global(at, came.port);
                if before < first { first } else { before + u32::from(came.is_some_and(is_behind)) }
            }
            ClassRule::Phases => {
                let from_node = came.is_none_or(|came| {
                    topology.neighbour(at, came.port).is_some_and(|(from, _)| from < topology.nodes())
                });
                let is_last = before == 2 || topology.is_global(at, port) || from_node && topology.passes(at, to);
                leg * (1 + u32::from(is_last))
            }
            // The second leg continues the classes of the first.
            ClassRule::Valleys => {
                let comes_down = |came: LastHop| topology.neighbour(at, came.port).is_some_and(|(from, _)| from > at);
                before + u32::from(next > at && came.is_some_and(comes_down))
            }
        }
    }
}

impl ClassRule {
    fn of(channels: VirtualChannels, routing: &Routing, natural: DeadlockAvoidance, has_failed: bool) -> Self {
        match (channels, routing) {
            (VirtualChannels::Single, _) | (_, Routing::UpDown) => Self::One,
            (VirtualChannels::Phases, _) => Self::Phases,
            (_, Routing::Table(_)) => Self::Valleys,
            _ if natural == DeadlockAvoidance::OneWay => Self::One,
            _ if natural == DeadlockAvoidance::UpAndDown && !has_failed => Self::One,
            (_, routing) if !routing.follows_dimensions() => Self::Valleys,
            _ => match natural {
                DeadlockAvoidance::InOrder | DeadlockAvoidance::OneWay | DeadlockAvoidance::UpAndDown => Self::One,
                DeadlockAvoidance::RoundRings => Self::Dateline,
                DeadlockAvoidance::BetweenGroups => Self::GlobalLinks,
                DeadlockAvoidance::Anyhow => Self::Valleys,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::network::laws::plain;
    use crate::network::route_state::RouteState;
    use crate::network::router::RouteSelector;
    use crate::network::routing::{Choice, Signpost, TieRule, Weights};
    use crate::network::routing_table::RoutingTable;
    use crate::network::topology::Arrangement;
    use crate::network::wiring::Wiring;
    use std::collections::{BTreeMap, BTreeSet};

    /// A vertex, a port and a class.
    type Lane = (u32, u32, u32);

    /// Returns, for each channel, the channels for which packets wait while they hold it, over every route of
    /// `routing`.
    fn waits(topology: &Topology, channels: VirtualChannels, routing: &Routing) -> BTreeMap<Lane, BTreeSet<Lane>> {
        waits_beside(topology, channels, routing, &[])
    }

    /// Returns the same where links have failed.
    fn waits_beside(
        topology: &Topology,
        channels: VirtualChannels,
        routing: &Routing,
        failed: &[LinkOverride],
    ) -> BTreeMap<Lane, BTreeSet<Lane>> {
        let classes = Classes::new(channels, routing, topology, !failed.is_empty());
        let wiring = Wiring::new(topology, failed);
        let mut waits: BTreeMap<Lane, BTreeSet<Lane>> = BTreeMap::new();
        let nodes = || 0..topology.nodes();
        for (from, to) in nodes().flat_map(|from| nodes().map(move |to| (from, to))).filter(|(from, to)| from != to) {
            let detours = nodes().map(Some).filter(|_| routing.is_indirect());
            for via in detours.chain([None]) {
                let mut way = RouteState::from(from);
                if routing.is_indirect() {
                    way.decide(via);
                }
                follow(&wiring, routing, classes, (from, to), way, &mut waits);
            }
        }
        waits
    }

    fn follow(
        wiring: &Wiring,
        routing: &Routing,
        classes: Classes,
        (from, to): (u32, u32),
        way: RouteState,
        waits: &mut BTreeMap<Lane, BTreeSet<Lane>>,
    ) {
        let topology = wiring.topology();
        let mut open = vec![(from, way, None, None)];
        while let Some((at, mut way, came, last)) = open.pop() {
            way.pass(topology, routing.through(), at);
            if at == to && way.leg() == u32::from(routing.is_indirect()) {
                continue;
            }
            let bound = way.target(to);
            for port in choices(wiring, routing, at, bound) {
                let (next, there) = topology.neighbour(at, port).unwrap();
                let class = classes.next(topology, came, Hop { at, port, next, to: bound, leg: way.leg() });
                let channel = (at, port, class);
                waits.entry(channel).or_default();
                waits.entry(last.unwrap_or(channel)).or_default().extend(last.map(|_| channel));
                open.push((next, way, Some(LastHop { port: there, class }), Some(channel)));
            }
        }
    }

    /// Returns the ports that a packet may take next; with even ties, both directions of a ring where they are equally
    /// long.
    fn choices(wiring: &Wiring, routing: &Routing, at: u32, to: u32) -> Vec<u32> {
        let topology = wiring.topology();
        if at == to {
            return Vec::new();
        }
        let comes_closer = |port: &u32| {
            let next = topology.neighbour(at, *port).map(|(next, _)| next);
            next.is_some_and(|next| topology.distance(next, to) < topology.distance(at, to))
        };
        match routing {
            Routing::EvenTies | Routing::Ties(_) => {
                let ports: Vec<u32> = topology.tied_port_range(at, to).filter(comes_closer).collect();
                if ports.is_empty() { vec![topology.route(at, to)] } else { ports }
            }
            Routing::ShortestPath(_) | Routing::MinimalAdaptive => {
                let distances = wiring.distances(to);
                let is_closer = |link: &(u32, u32)| distances[link.1 as usize] < distances[at as usize];
                wiring.links_at(at).filter(is_closer).map(|(port, _)| port).collect()
            }
            Routing::UpDown => vec![RoutingTable::up_down(Wiring::new(topology, &[])).port(at, to)],
            Routing::Table(posts) => vec![RoutingTable::written(Wiring::new(topology, &[]), posts).port(at, to)],
            _ => vec![topology.route(at, to)],
        }
    }

    /// Returns whether the channels of all routes, each with its class, can be put in an order.
    fn is_free_of_cycles(topology: &Topology, channels: VirtualChannels, routing: &Routing) -> bool {
        are_in_order(&waits(topology, channels, routing))
    }

    fn are_in_order(waits: &BTreeMap<Lane, BTreeSet<Lane>>) -> bool {
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
    fn classes_keep_grids_of_four_and_five_dimensions_free_of_cycles() {
        for sides in [vec![4, 3, 4, 2], vec![3, 2, 5, 3], vec![2, 3, 2, 3, 2], vec![4, 4, 4, 1]] {
            for routing in [Routing::DimensionOrder, Routing::EvenTies] {
                let topology = Topology::Torus { sides: sides.clone() };
                assert!(is_free_of_cycles(&topology, VirtualChannels::AsNeeded, &routing), "{topology} {routing:?}");
            }
        }
    }

    fn dragonflies() -> impl Iterator<Item = Topology> {
        let arrangements = [Arrangement::Absolute, Arrangement::Relative, Arrangement::Circulant];
        arrangements.into_iter().flat_map(|arrangement| {
            (1..=7).flat_map(move |groups| {
                [
                    Topology::Dragonfly { groups, routers: 3, nodes: 1, globals: 2, arrangement },
                    Topology::DragonflyPlus { groups, leaves: 2, spines: 3, nodes: 1, globals: 2, arrangement },
                ]
            })
        })
    }

    #[test]
    fn dragonflies_are_free_of_cycles_straight_and_through_any_group() {
        for topology in dragonflies() {
            for routing in
                [Routing::DimensionOrder, Routing::Valiant, through(Through::Group), through(Through::Router)]
            {
                assert!(is_free_of_cycles(&topology, VirtualChannels::AsNeeded, &routing), "{topology} {routing:?}");
            }
        }
    }

    fn through(through: Through) -> Routing {
        Routing::Ugal { threshold: 0, weights: Weights::Links, through }
    }

    /// Packets of the first leg hold a link between groups and wait for a link within the group, for which packets in
    /// the opposite direction also wait.
    #[test]
    fn three_phases_may_wait_in_a_circle_where_ways_turn_at_routers() {
        for topology in dragonflies().filter(|topology| topology.nodes() > 14) {
            assert!(!is_free_of_cycles(&topology, VirtualChannels::Phases, &through(Through::Router)), "{topology}");
        }
    }

    #[test]
    fn a_packet_of_three_phases_has_the_classes_of_booksim() {
        let dragonfly =
            Topology::Dragonfly { groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: Arrangement::Absolute };
        let routing = through(Through::Router);
        let classes = Classes::new(VirtualChannels::Phases, &routing, &dragonfly, false);
        let of_way = |to: u32, via: Option<u32>| {
            let (mut way, mut at, mut came) = (RouteState::from(0), 72, None);
            way.decide(via);
            let mut all = Vec::new();
            while at != to {
                way.pass(&dragonfly, Through::Router, at);
                let bound = way.target(to);
                let port = dragonfly.route(at, bound);
                let (next, there) = dragonfly.neighbour(at, port).unwrap();
                let class = classes.next(&dragonfly, came, Hop { at, port, next, to: bound, leg: way.leg() });
                all.push(class);
                (at, came) = (next, Some(LastHop { port: there, class }));
            }
            all
        };
        assert_eq!(of_way(7, None), [2, 2], "within the group");
        assert_eq!(of_way(71, None), [1, 2, 2, 2]);
        assert_eq!(of_way(65, None), [1, 2, 2], "to the router at which the link between the groups ends");
        assert_eq!(of_way(71, Some(40)).first(), Some(&0));
        assert!(of_way(71, Some(40)).is_sorted() && of_way(71, Some(40)).ends_with(&[2, 2]));
    }

    /// Returns a topology of every kind, small enough to search all routes.
    fn every_kind() -> Vec<Topology> {
        let square = |sides: [u32; 2]| sides.to_vec();
        let ring = || Box::new(Topology::Ring { nodes: 5 });
        let (groups, routers, leaves, spines, nodes, globals) = (5, 2, 2, 2, 1, 2);
        let arrangement = Arrangement::Circulant;
        vec![
            Topology::Complete { nodes: 6 },
            Topology::Line { nodes: 6 },
            Topology::Ring { nodes: 7 },
            Topology::Mesh2d { rows: 3, columns: 3 },
            Topology::Mesh3d { layers: 2, rows: 2, columns: 3 },
            Topology::Mesh { sides: vec![2, 2, 2, 2] },
            Topology::Torus2d { rows: 3, columns: 4 },
            Topology::Torus3d { layers: 2, rows: 2, columns: 4 },
            Topology::Torus { sides: square([5, 3]) },
            Topology::HyperX { sides: square([3, 3]) },
            Topology::Hypercube { dimension: 3 },
            Topology::BinaryTree { levels: 3 },
            Topology::FatTree { arity: 2, levels: 3 },
            Topology::ExtendedFatTree { children: vec![3, 3], parents: vec![1, 2] },
            Topology::Dragonfly { groups, routers, nodes, globals, arrangement },
            Topology::DragonflyPlus { groups, leaves, spines, nodes, globals, arrangement },
            Topology::CubeConnectedCycles { dimension: 3 },
            Topology::Concentrated { nodes: 2, routers: ring() },
            Topology::Parallel { links: 2, of: ring() },
            Topology::graph(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)]),
        ]
    }

    #[test]
    fn every_pair_of_topology_and_routing_is_free_of_cycles() {
        let choices = [Choice::Lowest, Choice::Seeded, Choice::Hashed].map(Routing::ShortestPath);
        let ties = [TieRule::Higher, TieRule::Lower, TieRule::ByParity, TieRule::ByTurns].map(Routing::Ties);
        let rest = [
            Routing::DimensionOrder,
            Routing::EvenTies,
            Routing::Valiant,
            through(Through::Group),
            through(Through::Router),
            Routing::UpDown,
            Routing::MinimalAdaptive,
        ];
        let routings: Vec<Routing> = choices.into_iter().chain(ties).chain(rest).collect();
        for (topology, routing) in
            every_kind().iter().flat_map(|kind| routings.iter().map(move |routing| (kind, routing)))
        {
            assert!(is_free_of_cycles(topology, VirtualChannels::AsNeeded, routing), "{topology} {routing:?}");
        }
    }

    /// With two failed links in a fat tree, wherever they are, routes may lead down and up again.
    #[test]
    fn fat_trees_are_free_of_cycles_with_one_class_whole_and_with_more_damaged() {
        let trees = [
            Topology::FatTree { arity: 2, levels: 3 },
            Topology::ExtendedFatTree { children: vec![2, 3], parents: vec![1, 3] },
            Topology::ExtendedFatTree { children: vec![2, 2, 2], parents: vec![2, 1, 2] },
        ];
        let adaptive = Routing::MinimalAdaptive;
        let mut in_need = 0;
        for tree in trees {
            assert!(!Classes::new(VirtualChannels::AsNeeded, &adaptive, &tree, false).are_many());
            let links: Vec<_> =
                tree.links().map(|((from, _), (to, _))| LinkOverride::LinkFailed { from, to }).collect();
            for pair in links.iter().flat_map(|one| links.iter().map(move |other| [one.clone(), other.clone()])) {
                let damaged = Network { overrides: pair.to_vec(), ..plain(tree.clone()) };
                let damaged = Network { routing: adaptive.clone(), ..damaged };
                if !damaged.machine_faults(&tree).is_empty() {
                    continue;
                }
                let waits = waits_beside(&tree, VirtualChannels::AsNeeded, &adaptive, &pair);
                assert!(are_in_order(&waits), "{tree} {pair:?}");
                let most = waits.keys().map(|(.., class)| *class).max();
                let counted = RouteSelector::new(&damaged, &tree, Streams::new(1)).max_valleys(&tree);
                assert_eq!(most, Some(counted), "{tree} {pair:?}");
                in_need += counted;
            }
        }
        assert!(in_need > 0);
    }

    /// Returns a table of long routes: to each node along a depth-first search tree that begins with other links each
    /// time.
    fn winding(topology: &Topology) -> Routing {
        let mut table = Vec::new();
        for to in 0..topology.nodes() {
            let (mut seen, mut open) = (BTreeSet::from([to]), vec![to]);
            while let Some(next) = open.last().copied() {
                let turned = (0..topology.ports()).map(|port| (port + to) % topology.ports());
                let neighbours = turned.filter_map(|port| topology.neighbour(next, port).map(|(at, _)| at));
                // With switches, no route leads through a node.
                let may_pass =
                    |at: &u32| topology.vertices() == topology.nodes() || next == to || *at >= topology.nodes();
                let unseen = |at: &u32| !seen.contains(at) && (may_pass(at) || next >= topology.nodes());
                match neighbours.into_iter().find(unseen) {
                    Some(at) => {
                        table.push(Signpost { at, to, next });
                        seen.insert(at);
                        open.push(at);
                    }
                    None => drop(open.pop()),
                }
            }
        }
        Routing::Table(table)
    }

    #[test]
    fn ways_of_tables_are_free_of_cycles_and_need_their_classes() {
        let mut in_need = 0;
        for topology in every_kind().into_iter().filter(|topology| !matches!(topology, Topology::Parallel { .. })) {
            let table = winding(&topology);
            assert!(is_free_of_cycles(&topology, VirtualChannels::AsNeeded, &table), "{topology}");
            in_need += u32::from(!is_free_of_cycles(&topology, VirtualChannels::Single, &table));
        }
        assert!(in_need > 5, "{in_need}");
    }

    #[test]
    fn ways_through_any_node_are_free_of_cycles_and_need_their_second_legs() {
        let grids = [
            Topology::Mesh2d { rows: 3, columns: 3 },
            Topology::Torus2d { rows: 4, columns: 5 },
            Topology::Hypercube { dimension: 3 },
            Topology::HyperX { sides: vec![3, 3] },
            Topology::Concentrated { nodes: 2, routers: Box::new(Topology::Ring { nodes: 6 }) },
            Topology::Parallel { links: 2, of: Box::new(Topology::Torus { sides: vec![3, 4] }) },
        ];
        for topology in grids {
            assert!(is_free_of_cycles(&topology, VirtualChannels::AsNeeded, &Routing::Valiant), "{topology}");
            assert!(!is_free_of_cycles(&topology, VirtualChannels::Single, &Routing::Valiant), "{topology}");
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

    /// Each class has its share of the channels of a ring that packets use: neither carries nearly all of them.
    #[test]
    fn both_classes_carry_traffic_before_the_dateline() {
        let ring = Topology::Ring { nodes: 8 };
        let classes = Classes::new(VirtualChannels::AsNeeded, &Routing::DimensionOrder, &ring, false);
        let class = |to| classes.next(&ring, None, Hop { at: 6, port: 0, next: 7, to, leg: 0 });
        assert_eq!((class(7), class(0), class(1)), (0, 1, 1));
    }
}
