//! Several links wherever another topology has one: wider trunks, or planes of a network.

use super::Topology;
use super::bisection::Bisection;
use super::shape::{Count, NaturalWaits, TopologyMetrics, TopologyShape, at_least};
use std::ops::Range;

/// Port q of `of` becomes the ports from q · links on.
pub(super) struct Parallel<'a> {
    pub(super) links: u32,
    pub(super) of: &'a Topology,
}

impl Parallel<'_> {
    /// The link for a destination: the sum of the digits of its number in base `links`, modulo `links`. Destinations behind a
    /// link of a grid or tree differ by a fixed stride; a remainder of their numbers alone would often be the same for all.
    fn link(&self, to: u32) -> u32 {
        let mut sum = 0;
        let mut rest = to;
        while self.links > 1 && rest > 0 {
            sum += rest % self.links;
            rest /= self.links;
        }
        sum % self.links
    }
}

impl TopologyShape for Parallel<'_> {
    fn count(&self) -> Count {
        Count { nodes: self.of.nodes().into(), switches: self.of.switches().into() }
    }

    fn ports(&self) -> u32 {
        self.of.ports() * self.links
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let (to, there) = self.of.neighbour(vertex, port / self.links)?;
        Some((to, there * self.links + port % self.links))
    }

    /// The destination names the link, so that packets for one node stay in order.
    fn route(&self, at: u32, to: u32) -> u32 {
        self.of.route(at, to) * self.links + self.link(to)
    }

    fn course(&self, at: u32, to: u32) -> (u32, u32) {
        let (port, vertices) = self.of.course(at, to);
        (port * self.links + self.link(to), vertices)
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        self.of.distance(a, b)
    }

    fn rivals(&self, at: u32, to: u32) -> Range<u32> {
        let rivals = self.of.rivals(at, to);
        rivals.start * self.links..rivals.end * self.links
    }

    fn other_way_round(&self, at: u32, to: u32) -> Option<u32> {
        Some(self.of.other_way_round(at, to)? * self.links + self.link(to))
    }

    fn natural_waits(&self) -> NaturalWaits {
        self.of.natural_waits()
    }

    fn is_global(&self, at: u32, port: u32) -> bool {
        self.of.is_global(at, port / self.links)
    }

    fn share_a_ring(&self, a: u32, b: u32) -> bool {
        self.of.share_a_ring(a / self.links, b / self.links)
    }

    fn passes(&self, at: u32, via: u32) -> bool {
        self.of.passes(at, via)
    }

    fn crosses_dateline(&self, at: u32, to: u32, port: u32) -> bool {
        self.of.crosses_dateline(at, to, port / self.links)
    }

    fn link_classes(&self) -> Vec<String> {
        self.of.link_classes()
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        self.of.link_class(at, port / self.links)
    }

    fn faults(&self) -> Vec<String> {
        at_least(1, "links", self.links).into_iter().chain(self.of.faults()).collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        self.of.layout()
    }

    fn figures(&self) -> Option<TopologyMetrics> {
        let of = self.of.figures();
        let links = u64::from(self.links);
        Some(TopologyMetrics {
            links: of.links * links,
            least_degree: of.least_degree * self.links,
            degree: of.degree * self.links,
            arc_connectivity: of.arc_connectivity * self.links,
            bisection: Bisection::between(of.bisection.lower() * links, of.bisection.upper() * links),
            ..of
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bisection, Topology};

    #[test]
    fn two_planes_share_the_destinations() {
        let twice = Topology::Parallel { links: 2, of: Box::new(Topology::Ring { nodes: 6 }) };
        assert_eq!((twice.ports(), twice.links().count()), (4, 12));
        assert_eq!((twice.route(0, 1), twice.route(0, 2), twice.route(0, 5)), (1, 1, 2));
        assert_eq!(twice.neighbour(0, 3), Some((5, 1)));
        assert_eq!(twice.metrics().bisection_width, Bisection::Exact(4));
    }

    /// Over the middle of a column of a mesh go the packets for half of its nodes, whose numbers differ by the width.
    #[test]
    fn two_and_four_links_of_a_mesh_carry_the_same() {
        let of = Box::new(Topology::Mesh2d { rows: 8, columns: 8 });
        for links in [2, 4] {
            let trunks = Topology::Parallel { links, of: of.clone() };
            for column in 0..8 {
                let at = 3 * 8 + column;
                let below = (4..8).map(|row| trunks.route(at, row * 8 + column));
                let mut destinations = std::collections::BTreeMap::new();
                below.for_each(|port| *destinations.entry(port).or_insert(0) += 1);
                assert!(destinations.len() == links as usize && destinations.values().all(|count| *count == 4 / links));
            }
        }
    }
}
