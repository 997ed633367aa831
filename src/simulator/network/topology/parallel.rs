//! Several parallel links for each link of another topology: wider trunks, or planes of a network.

use super::Topology;
use super::bisection::Bisection;
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least, faults_within};
use std::ops::Range;

/// The shape of [`Topology::Parallel`]. Port q of `of` becomes `links` ports from q · links on.
pub(super) struct Parallel<'a> {
    pub(super) links: u32,
    pub(super) of: &'a Topology,
}

impl Parallel<'_> {
    /// Returns the parallel link for a destination. The destinations behind a link of a grid or a tree differ in few
    /// coordinates, so that the sum of the coordinates spreads them evenly; the remainder of their numbers would often
    /// be the same for all.
    fn link(&self, to: u32) -> u32 {
        let sum = match self.of {
            Topology::Mesh2d { columns, .. } | Topology::Torus2d { columns, .. } => digit_sum(to, [columns]),
            Topology::Mesh3d { rows, columns, .. } | Topology::Torus3d { rows, columns, .. } => {
                digit_sum(to, [columns, rows])
            }
            Topology::Mesh { sides } | Topology::Torus { sides } | Topology::HyperX { sides } => {
                digit_sum(to, sides.iter().skip(1).rev())
            }
            Topology::Dragonfly { routers, nodes, .. } => digit_sum(to, [nodes, routers]),
            Topology::DragonflyPlus { leaves, nodes, .. } => digit_sum(to, [nodes, leaves]),
            Topology::FatTree { arity, levels } => digit_sum(to, std::iter::repeat_n(arity, *levels as usize)),
            Topology::ExtendedFatTree { children, .. } => digit_sum(to, children),
            Topology::Hypercube { .. } => to.count_ones(),
            _ => to,
        };
        sum % self.links
    }
}

/// Returns the sum of the digits of a number in a mixed base, whose lowest digits have these bases.
fn digit_sum<'b>(number: u32, bases: impl IntoIterator<Item = &'b u32>) -> u32 {
    let (sum, first) = bases.into_iter().fold((0, number), |(sum, rest), base| (sum + rest % base, rest / base));
    sum + first
}

impl TopologyShape for Parallel<'_> {
    fn count(&self) -> Count {
        Count { nodes: self.of.nodes().into(), switches: self.of.switches().into() }
    }

    fn ports(&self) -> u32 {
        self.of.ports() * self.links
    }

    fn wide_ports(&self) -> u64 {
        u64::from(self.of.ports()) * u64::from(self.links)
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let (to, there) = self.of.neighbour(vertex, port / self.links)?;
        Some((to, there * self.links + port % self.links))
    }

    /// Routes by a link that depends on the destination only, so that packets for one node stay in order.
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

    fn tied_port_range(&self, at: u32, to: u32) -> Range<u32> {
        let rivals = self.of.tied_port_range(at, to);
        rivals.start * self.links..rivals.end * self.links
    }

    fn opposite_direction(&self, at: u32, to: u32) -> Option<u32> {
        Some(self.of.opposite_direction(at, to)? * self.links + self.link(to))
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
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
        at_least(1, "links", self.links).into_iter().chain(faults_within("of", self.of.faults())).collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        self.of.layout()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let of = self.of.closed_form_metrics();
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
    use crate::network::traffic::Pattern;

    #[test]
    fn two_planes_share_the_destinations() {
        let twice = Topology::Parallel { links: 2, of: Box::new(Topology::Ring { nodes: 6 }) };
        assert_eq!((twice.ports(), twice.links().count()), (4, 12));
        assert_eq!((twice.route(0, 1), twice.route(0, 2), twice.route(0, 5)), (1, 0, 3));
        assert_eq!(twice.neighbour(0, 3), Some((5, 1)));
        assert_eq!(twice.metrics().bisection_width, Bisection::Exact(4));
    }

    /// Between rows r and r + 1 of a mesh, packets go from r + 1 rows to the rows below. The links divide them as
    /// evenly as undivided destinations allow.
    #[test]
    fn links_of_a_mesh_carry_as_much_as_whole_destinations_allow() {
        for (side, links) in (4..=12_u32).flat_map(|side| (2..=4_u32).map(move |links| (side, links))) {
            let of = Box::new(Topology::Mesh2d { rows: side, columns: side });
            let load = Pattern::Uniform.largest_load(&Topology::Parallel { links, of }).unwrap();
            let between = |row: u32| (row + 1) * (side - 1 - row).div_ceil(links);
            let least = f64::from((0..side).map(between).max().unwrap()) / f64::from(side);
            assert!(load < least + 1e-9, "{links} links, {side} rows: {load}, not {least}");
        }
    }

    /// Three parallel links of other networks carry less than two thirds of the load of one.
    #[test]
    fn links_of_other_networks_divide_the_load() {
        let networks = [
            Topology::Torus { sides: vec![5, 5, 5] },
            Topology::Torus2d { rows: 12, columns: 12 },
            Topology::Mesh3d { layers: 6, rows: 6, columns: 6 },
        ];
        for of in networks {
            let one = Pattern::Uniform.largest_load(&of).unwrap();
            let load =
                Pattern::Uniform.largest_load(&Topology::Parallel { links: 3, of: Box::new(of.clone()) }).unwrap();
            assert!(load < 0.67 * one, "{of:?}: {load} of {one}");
        }
    }
}
