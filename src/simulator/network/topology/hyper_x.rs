//! `HyperX`: a grid whose lines are complete graphs, so that one hop corrects a coordinate (Ahn et al., `HyperX`:
//! topology, routing, and packaging of efficient large-scale networks, SC 2009). With one side it is a complete
//! network, with sides of 2 a hypercube, with two equal sides a flattened butterfly.

use super::bisection::{Bisection, crossing_bound};
use super::grid::sides_faults;
use super::layout::grid_place;
use super::shape::{Count, TopologyMetrics, TopologyShape, numbered};

pub(super) struct HyperX<'a> {
    /// The lengths, the outermost first.
    pub(super) sides: &'a [u32],
}

/// One dimension of a `HyperX`: its length, the difference of the numbers of neighbours, and its first port.
#[derive(Clone, Copy)]
struct Clique {
    side: u32,
    stride: u32,
    first_port: u32,
}

impl Clique {
    fn coordinate(self, node: u32) -> u32 {
        node / self.stride % self.side
    }

    /// Returns the port by which coordinate `here` is joined to `there`.
    fn port(self, here: u32, there: u32) -> u32 {
        self.first_port + there - u32::from(there > here)
    }
}

impl HyperX<'_> {
    /// Returns the dimensions, the fastest first.
    fn cliques(&self) -> impl Iterator<Item = Clique> + '_ {
        self.sides.iter().rev().scan((1, 0), |(stride, port), &side| {
            let clique = Clique { side, stride: *stride, first_port: *port };
            *stride *= side;
            *port += side - 1;
            Some(clique)
        })
    }

    fn nodes(&self) -> u64 {
        self.sides.iter().fold(1, |nodes, side| nodes.saturating_mul((*side).into()))
    }

    /// Returns the number of links that the best straight halving cuts: through the shortest side if it is even; if it
    /// is odd, the layer in the middle is halved along the other dimensions.
    fn halving(sides: &[u32]) -> u64 {
        let through = |(index, &side): (usize, &u32)| {
            let others: Vec<u32> =
                sides.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, side)| *side).collect();
            let layer: u64 = others.iter().map(|side| u64::from(*side)).product();
            let (side, half) = (u64::from(side), u64::from(side / 2));
            if side.is_multiple_of(2) {
                return half * half * layer;
            }
            // The layer in the middle is halved, too: half of the links of each of its nodes lead to either side.
            half * half * layer + half * layer + Self::halving(&others)
        };
        sides.iter().enumerate().filter(|(_, side)| **side > 1).map(through).min().unwrap_or(0)
    }
}

impl TopologyShape for HyperX<'_> {
    fn count(&self) -> Count {
        Count::direct(self.nodes())
    }

    fn ports(&self) -> u32 {
        self.sides.iter().map(|side| side - 1).sum()
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let clique = self.cliques().find(|clique| port < clique.first_port + clique.side - 1)?;
        let (here, index) = (clique.coordinate(vertex), port - clique.first_port);
        let there = index + u32::from(index >= here);
        Some((vertex - here * clique.stride + there * clique.stride, clique.port(there, here)))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        let different = |clique: Clique| {
            let (here, there) = (clique.coordinate(at), clique.coordinate(to));
            (here != there).then(|| clique.port(here, there))
        };
        self.cliques().find_map(different).expect("the packet is not there already")
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        self.cliques().map(|clique| u32::from(clique.coordinate(a) != clique.coordinate(b))).sum()
    }

    fn link_classes(&self) -> Vec<String> {
        numbered("side", self.sides.len())
    }

    fn link_class(&self, _at: u32, port: u32) -> Option<usize> {
        let before = self.cliques().take_while(|clique| clique.first_port + clique.side - 1 <= port).count();
        (self.sides.len() - 1).checked_sub(before)
    }

    fn faults(&self) -> Vec<String> {
        sides_faults(self.sides.iter().copied())
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let sides: Vec<u32> = self.sides.iter().rev().copied().collect();
        let nodes = u32::try_from(self.nodes()).expect("a drawing of a topology without faults");
        (0..nodes).map(|node| grid_place(&sides, self.cliques().map(|clique| clique.coordinate(node)))).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let nodes = self.nodes();
        let degree = self.ports();
        let proper = || self.sides.iter().filter(|side| **side > 1);
        let differing = |side: &u32| u128::from(nodes) * u128::from(nodes / u64::from(*side)) * u128::from(side - 1);
        let load = proper().min().map_or(0, |side| u128::from(nodes / u64::from(*side)));
        Some(TopologyMetrics {
            links: nodes * u64::from(degree) / 2,
            least_degree: degree,
            degree,
            longest: u32::try_from(proper().count()).expect("at most 31 sides are longer than 1"),
            total_distance: proper().map(differing).sum(),
            arc_connectivity: degree,
            node_connectivity: degree,
            bisection: Bisection::between(crossing_bound(nodes, load), Self::halving(self.sides)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bisection, Topology};

    fn hyper_x(sides: &[u32]) -> Topology {
        Topology::HyperX { sides: sides.to_vec() }
    }

    #[test]
    fn the_fastest_coordinate_is_set_right_first() {
        let plane = hyper_x(&[3, 4]);
        assert_eq!(plane.path(0, 11).collect::<Vec<_>>(), [0, 3, 11]);
        assert_eq!((plane.ports(), plane.neighbour(5, 3)), (5, Some((1, 3))));
        assert_eq!(plane.neighbour(5, 4), Some((9, 4)));
    }

    #[test]
    fn sides_of_two_are_a_hypercube_and_one_side_is_complete() {
        let (cube, complete) = (Topology::Hypercube { dimension: 4 }, Topology::Complete { nodes: 9 });
        assert_eq!(hyper_x(&[2; 4]).metrics(), cube.metrics());
        assert_eq!(hyper_x(&[9]).metrics(), complete.metrics());
        assert_eq!(hyper_x(&[2; 4]).path(3, 12).collect::<Vec<_>>(), cube.path(3, 12).collect::<Vec<_>>());
    }

    #[test]
    fn the_shortest_even_side_is_cut() {
        assert_eq!(hyper_x(&[8, 8]).metrics().bisection_width, Bisection::Exact(128));
        assert_eq!(hyper_x(&[4, 8, 16]).metrics().bisection_width, Bisection::Exact(512));
    }
}
