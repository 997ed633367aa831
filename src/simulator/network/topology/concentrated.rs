//! Groups of nodes at the routers of another topology, as in a concentrated mesh (Balfour and Dally, Design tradeoffs
//! for tiled CMP on-chip networks, ICS 2006).

use super::Topology;
use super::bisection::Bisection;
use super::layout::circle;
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least, faults_within};
use std::ops::Range;

/// The shape of [`Topology::Concentrated`]. Router r, a node of `routers`, is the r-th switch. Its ports are those of
/// `routers`, then those to its nodes.
pub(super) struct Concentrated<'a> {
    pub(super) nodes: u32,
    pub(super) routers: &'a Topology,
}

impl Concentrated<'_> {
    fn all_nodes(&self) -> u32 {
        self.nodes * self.routers.nodes()
    }

    /// Returns the vertex of `routers` at which a vertex is, and the number of links between them.
    fn router(&self, vertex: u32) -> (u32, u32) {
        match vertex.checked_sub(self.all_nodes()) {
            None => (vertex / self.nodes, 1),
            Some(router) => (router, 0),
        }
    }
}

impl TopologyShape for Concentrated<'_> {
    fn count(&self) -> Count {
        let routers = u64::from(self.routers.nodes());
        let switches = routers + u64::from(self.routers.switches());
        Count { nodes: routers.saturating_mul(self.nodes.into()), switches }
    }

    fn ports(&self) -> u32 {
        self.routers.ports() + self.nodes
    }

    fn wide_ports(&self) -> u64 {
        u64::from(self.routers.ports()) + u64::from(self.nodes)
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let ((router, below), links) = (self.router(vertex), self.routers.ports());
        if below == 1 {
            return (port == 0).then(|| (self.all_nodes() + router, links + vertex % self.nodes));
        }
        if port < links {
            let (to, there) = self.routers.neighbour(router, port)?;
            return Some((self.all_nodes() + to, there));
        }
        let has_nodes = router < self.routers.nodes();
        (has_nodes && port - links < self.nodes).then(|| (router * self.nodes + port - links, 0))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        assert!(to < self.all_nodes(), "vertex {to} is a switch: packets go to nodes");
        match self.router(at) {
            (_, 1) => 0,
            (router, _) if router == to / self.nodes => self.routers.ports() + to % self.nodes,
            (router, _) => self.routers.route(router, to / self.nodes),
        }
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        let ((from, up), (to, down)) = (self.router(a), self.router(b));
        if a == b { 0 } else { up + self.routers.distance(from, to) + down }
    }

    fn tied_port_range(&self, at: u32, to: u32) -> Range<u32> {
        match self.router(at) {
            (router, 0) if router != to / self.nodes => self.routers.tied_port_range(router, to / self.nodes),
            _ => {
                let port = self.route(at, to);
                port..port + 1
            }
        }
    }

    fn opposite_direction(&self, at: u32, to: u32) -> Option<u32> {
        match self.router(at) {
            (router, 0) if router != to / self.nodes => self.routers.opposite_direction(router, to / self.nodes),
            _ => None,
        }
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        self.routers.natural_waits()
    }

    fn is_global(&self, at: u32, port: u32) -> bool {
        at.checked_sub(self.all_nodes()).is_some_and(|router| self.routers.is_global(router, port))
    }

    fn share_a_ring(&self, a: u32, b: u32) -> bool {
        a.max(b) < self.routers.ports() && self.routers.share_a_ring(a, b)
    }

    fn passes(&self, at: u32, via: u32) -> bool {
        let (at_router, via_router) = (self.router(at).0, self.router(via).0);
        at >= self.all_nodes() && (at_router == via_router || self.routers.passes(at_router, via_router))
    }

    fn crosses_dateline(&self, at: u32, to: u32, port: u32) -> bool {
        let (router, below) = self.router(at);
        below == 0 && port < self.routers.ports() && self.routers.crosses_dateline(router, to / self.nodes, port)
    }

    fn link_classes(&self) -> Vec<String> {
        self.routers.link_classes()
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        let (router, below) = self.router(at);
        (below == 0 && port < self.routers.ports()).then(|| self.routers.link_class(router, port))?
    }

    fn faults(&self) -> Vec<String> {
        at_least(1, "nodes", self.nodes).into_iter().chain(faults_within("routers", self.routers.faults())).collect()
    }

    /// Draws the nodes of a router around it.
    fn layout(&self) -> Vec<(f64, f64)> {
        let routers = self.routers.layout();
        let around: Vec<(f64, f64)> = circle(self.nodes, 0.3).collect();
        let wide = f64::from(self.nodes.max(6)) / 6.0;
        let place = |(x, y): &(f64, f64)| (x * wide, y * wide);
        let below = routers
            .iter()
            .take(self.routers.nodes() as usize)
            .map(place)
            .flat_map(|(x, y)| around.iter().map(move |(right, down)| (x + right * wide, y + down * wide)));
        below.chain(routers.iter().map(place)).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let routers = self.routers.closed_form_metrics();
        let nodes = u128::from(self.all_nodes());
        let links_of = |router| self.routers.links_at(router).count();
        let degree_of_nodes = (0..self.routers.nodes()).map(links_of).max().unwrap_or(0);
        let degree_of_nodes = u32::try_from(degree_of_nodes).expect("ports are u32");
        let upper = if self.routers.nodes().is_multiple_of(2) { routers.bisection.upper() } else { u64::MAX };
        Some(TopologyMetrics {
            links: routers.links + u64::from(self.all_nodes()),
            least_degree: 1,
            degree: routers.degree.max(degree_of_nodes + self.nodes),
            longest: if nodes > 1 { routers.longest + 2 } else { 0 },
            total_distance: u128::from(self.nodes).pow(2) * routers.total_distance + 2 * nodes * (nodes - 1),
            arc_connectivity: 1,
            node_connectivity: 1,
            bisection: Bisection::between(1, upper.min(u64::from(self.all_nodes() / 2))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bisection, Topology};

    fn concentrated(nodes: u32, routers: Topology) -> Topology {
        Topology::Concentrated { nodes, routers: Box::new(routers) }
    }

    #[test]
    fn four_nodes_share_a_router_of_a_mesh() {
        let mesh = concentrated(4, Topology::Mesh2d { rows: 2, columns: 3 });
        assert_eq!((mesh.nodes(), mesh.switches(), mesh.ports()), (24, 6, 8));
        assert_eq!(mesh.path(1, 22).collect::<Vec<_>>(), [1, 24, 25, 26, 29, 22]);
        assert_eq!(mesh.path(1, 3).collect::<Vec<_>>(), [1, 24, 3]);
        assert_eq!(mesh.metrics().diameter_links, 5);
    }

    #[test]
    fn its_bisection_is_that_of_its_routers_where_nodes_have_links_enough() {
        let mesh = concentrated(4, Topology::Mesh2d { rows: 4, columns: 4 });
        assert_eq!(mesh.metrics().bisection_width, Bisection::Exact(4));
    }
}
