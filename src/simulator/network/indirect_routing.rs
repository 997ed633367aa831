//! Indirect routes through an intermediate node: Valiant and UGAL.

use super::route_state::{RouteState, turns};
use super::routing::{Through, Weights};
use super::topology::{Routes, Topology};
use crate::engine::below;
use rand_chacha::ChaCha8Rng;

/// The choice of packets that take a detour, and of their intermediate nodes.
pub(super) struct IndirectRouting {
    routes: Routes,
    /// The choice between both routes; `None` if all packets take a detour.
    preference: Option<UgalPreference>,
    through: Through,
}

/// The rule by which UGAL prefers the natural route to a detour.
#[derive(Clone, Copy)]
pub(super) struct UgalPreference {
    /// The threshold in favour of the natural route.
    pub threshold: u32,
    /// The weights of both routes.
    pub weights: Weights,
}

/// A route that passes an intermediate node.
#[derive(Clone, Copy)]
struct IndirectRoute {
    at: u32,
    via: u32,
    to: u32,
}

impl IndirectRouting {
    pub fn new(topology: &Topology, preference: Option<UgalPreference>, through: Through) -> Self {
        Self { routes: Routes::of(topology), preference, through }
    }

    /// Returns the port by which a packet for `to` leaves `at`.
    pub fn leave(
        &self,
        way: &mut RouteState,
        topology: &Topology,
        (at, to): (u32, u32),
        load: impl Fn(u32) -> u64,
        rng: &mut ChaCha8Rng,
    ) -> u32 {
        if way.is_open() && is_router(topology, at) {
            way.decide(self.detour(topology, way.from, (at, to), load, rng));
        }
        way.pass(topology, self.through, at);
        way.leave(at, to, &self.routes)
    }

    /// Returns the intermediate node of a packet of node `from`, if it takes a detour; the draw happens in any case.
    fn detour(
        &self,
        topology: &Topology,
        from: u32,
        (at, to): (u32, u32),
        load: impl Fn(u32) -> u64,
        rng: &mut ChaCha8Rng,
    ) -> Option<u32> {
        let via = below(topology.nodes(), rng);
        let continues = via != to && !topology.passes(at, via) && !topology.passes(at, to);
        // A detour that passes its source again would only be longer.
        let returns = || topology.path(at, via).skip(1).chain(topology.path(via, to)).any(|vertex| vertex == from);
        let continues = continues && !returns();
        let is_taken = continues
            && self
                .preference
                .is_none_or(|rule| self.is_preferred(topology, IndirectRoute { at, via, to }, load, rule));
        is_taken.then_some(via)
    }

    /// Returns whether the detour is preferred, by UGAL with local information: weight times load of the first link of
    /// each route.
    fn is_preferred(
        &self,
        topology: &Topology,
        route: IndirectRoute,
        load: impl Fn(u32) -> u64,
        UgalPreference { threshold, weights }: UgalPreference,
    ) -> bool {
        let IndirectRoute { at, via, to } = route;
        let load = |target| load(self.routes.course(at, target).0);
        let (straight, round) = match weights {
            Weights::Links => (topology.distance(at, to).into(), self.detour_length(topology, route)),
            Weights::OneAndTwo => (1, 2),
        };
        straight * load(to) > round * load(via) + u64::from(threshold)
    }
}

impl IndirectRouting {
    /// Returns the number of links of a route.
    fn detour_length(&self, topology: &Topology, IndirectRoute { at, via, to }: IndirectRoute) -> u64 {
        let mut links = 0;
        for vertex in topology.path(at, via) {
            if turns(topology, self.through, vertex, via) {
                return links + u64::from(topology.distance(vertex, to));
            }
            links += 1;
        }
        links
    }
}

/// Returns whether packets have a choice of route at `at`; nodes attached to switches have none.
fn is_router(topology: &Topology, at: u32) -> bool {
    topology.switches() == 0 || at >= topology.nodes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::network::topology::Arrangement;

    fn dragonfly() -> Topology {
        Topology::Dragonfly { groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: Arrangement::Absolute }
    }

    fn detours(topology: &Topology, threshold: Option<u32>) -> IndirectRouting {
        let preference = threshold.map(|threshold| UgalPreference { threshold, weights: Weights::Links });
        IndirectRouting::new(topology, preference, Through::Group)
    }

    /// Returns the vertices on the route of a packet, where `load` packets wait at each port.
    fn path(threshold: Option<u32>, seed: u64, load: impl Fn(u32) -> u64 + Copy) -> Vec<u32> {
        let (topology, mut rng) = (dragonfly(), Streams::new(seed).stream("routing", 0));
        let (detours, mut way) = (detours(&topology, threshold), RouteState::from(0));
        let mut path = vec![0];
        while path[path.len() - 1] != 71 {
            let at = path[path.len() - 1];
            let port = detours.leave(&mut way, &topology, (at, 71), load, &mut rng);
            path.push(topology.neighbour(at, port).unwrap().0);
        }
        path
    }

    fn global_links(path: &[u32]) -> usize {
        let group = |vertex: u32| (vertex - 72) / 4;
        path[1..path.len() - 1].windows(2).filter(|link| group(link[0]) != group(link[1])).count()
    }

    #[test]
    fn a_way_is_as_long_as_the_packet_s_and_turns_where_it_shall() {
        let topology = dragonfly();
        for (through, via) in [(Through::Group, 40), (Through::Group, 33), (Through::Router, 40), (Through::Router, 33)]
        {
            let detours = IndirectRouting::new(&topology, None, through);
            let (mut way, mut at, mut links, mut turned) = (RouteState::from(0), 72, 0, None);
            way.decide(Some(via));
            while at != 71 {
                way.pass(&topology, through, at);
                turned = turned.or((way.leg() == 1).then_some(at));
                at = topology.neighbour(at, way.leave(at, 71, &detours.routes)).unwrap().0;
                links += 1;
            }
            assert_eq!(
                detours.detour_length(&topology, IndirectRoute { at: 72, via, to: 71 }),
                links,
                "{through:?} {via}"
            );
            let turned = turned.unwrap();
            assert_eq!((turned - 72) / 4, via / 8, "in the group");
            assert!(through == Through::Group || topology.neighbour(via, 0).unwrap().0 == turned);
        }
    }

    #[test]
    fn weights_of_one_and_two_do_not_ask_for_links() {
        let topology = dragonfly();
        let detours = IndirectRouting::new(&topology, None, Through::Router);
        // From router 72 to node 71 by port 2, to node 9, of the next group, by port 3.
        let pays = |loads: [u64; 2], weights| {
            let route = IndirectRoute { at: 72, via: 9, to: 71 };
            let rule = UgalPreference { threshold: 30, weights };
            detours.is_preferred(&topology, route, |port| loads[usize::from(port != 2)], rule)
        };
        assert!(!pays([50, 10], Weights::OneAndTwo) && pays([51, 10], Weights::OneAndTwo));
        assert!(pays([50, 10], Weights::Links), "4 links of 50 against 6 of 10, and 30");
    }

    #[test]
    fn valiant_goes_through_another_group_and_ugal_only_where_packets_wait() {
        let through: usize = (0..100).filter(|seed| global_links(&path(None, *seed, |_| 0)) == 2).count();
        assert!((60..=90).contains(&through), "seven groups of nine are no end of the way: {through}");
        assert!((0..100).all(|seed| global_links(&path(Some(0), seed, |_| 1)) == 1));
        // The natural route leaves router 72 by port 2, towards the last router of its group.
        let mut crowded = (0..100).map(|seed| global_links(&path(Some(0), seed, |port| 10 * u64::from(port == 2))));
        assert!(crowded.any(|links| links == 2));
        assert!((0..100).all(|seed| global_links(&path(Some(60), seed, |port| 10 * u64::from(port == 2))) == 1));
    }
}
