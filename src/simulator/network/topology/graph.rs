//! Any connected graph that a scenario lists, routed by tables with a row for each destination in use.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::graph_links::{FarEnd, GraphLinks, narrow};
use super::layout::{circle, roomy_radius};
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least};

pub(super) struct Graph<'a> {
    pub(super) nodes: u32,
    pub(super) switches: u32,
    pub(super) degree: Option<u32>,
    pub(super) links: &'a GraphLinks,
    /// The class of each link, `""` for none; empty if no link has a class.
    pub(super) classes: &'a [String],
}

impl Graph<'_> {
    fn unknown_vertices(&self) -> impl Iterator<Item = String> {
        let vertices = self.count().vertices();
        self.links
            .pairs
            .iter()
            .filter(move |(a, b)| u64::from(*a.max(b)) >= vertices)
            .map(move |(a, b)| format!("link ({a}, {b}): vertices are numbered from 0 and there are {vertices}"))
    }

    fn loops(&self) -> impl Iterator<Item = String> {
        let loops = self.links.pairs.iter().filter(|(a, b)| a == b);
        loops.map(|(a, b)| format!("link ({a}, {b}) joins vertex {a} to itself"))
    }

    fn duplicates(&self) -> impl Iterator<Item = String> {
        let mut seen = BTreeSet::new();
        let again = self.links.pairs.iter().filter(move |(a, b)| !seen.insert((a.min(b), a.max(b))));
        again.map(|(a, b)| format!("link ({a}, {b}) is listed more than once"))
    }

    fn crowded(&self) -> Vec<String> {
        let Some(limit) = self.degree else {
            return Vec::new();
        };
        let mut degrees = BTreeMap::new();
        for vertex in self.links.pairs.iter().flat_map(|(a, b)| [a, b]) {
            *degrees.entry(vertex).or_insert(0_u32) += 1;
        }
        let crowded = degrees.into_iter().filter(|(_, degree)| *degree > limit);
        crowded.map(|(vertex, degree)| format!("vertex {vertex} has {degree} links: `degree` allows {limit}")).collect()
    }

    /// Checks connectivity; the search runs only if there are enough links.
    fn disconnected_pair(&self) -> Option<String> {
        let (links, vertices) = (self.links.pairs.len() as u64, self.count().vertices());
        if links + 1 < vertices {
            return Some(format!("{links} links cannot connect {vertices} vertices"));
        }
        let linked = self.links.table().joined.len() as u64;
        let unlinked = (linked < vertices).then(|| narrow(self.links.table().joined.len()));
        let unreachable = |vertex: &u32| self.distance(*vertex, 0) == u32::MAX;
        let lost = (0..narrow(self.links.table().joined.len())).find(unreachable).or(unlinked)?;
        Some(format!("vertex {lost} cannot be reached from vertex 0: the graph is not connected"))
    }
}

impl TopologyShape for Graph<'_> {
    fn count(&self) -> Count {
        Count { nodes: self.nodes.into(), switches: self.switches.into() }
    }

    fn ports(&self) -> u32 {
        self.links.table().degree
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        let FarEnd { vertex, port, .. } = *self.links.table().joined.get(vertex as usize)?.get(port as usize)?;
        Some((vertex, port))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        self.links.table().step(at, to).port
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        self.links.table().step(a, b).distance
    }

    fn tied_port_range(&self, _at: u32, _to: u32) -> Range<u32> {
        0..self.ports()
    }

    fn link_classes(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for class in self.classes.iter().filter(|class| !class.is_empty()) {
            if !names.contains(class) {
                names.push(class.clone());
            }
        }
        names
    }

    fn link_class(&self, at: u32, port: u32) -> Option<usize> {
        let link = self.links.table().joined.get(at as usize)?.get(port as usize)?.link;
        let class = self.classes.get(link)?;
        self.link_classes().iter().position(|name| name == class)
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        DeadlockAvoidance::Anyhow
    }

    fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = at_least(1, "nodes", self.nodes).into_iter().collect();
        faults.extend(self.unknown_vertices());
        faults.extend(self.loops());
        faults.extend(self.duplicates());
        faults.extend(self.crowded());
        let (links, classes) = (self.links.pairs.len(), self.classes.len());
        if classes > 0 && classes != links {
            faults.push(format!("`classes` has {classes} names for {links} links: give one each, \"\" for none"));
        }
        if faults.is_empty() {
            faults.extend(self.disconnected_pair());
        }
        faults
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let radius = roomy_radius(self.nodes.max(self.switches));
        circle(self.nodes, radius).chain(circle(self.switches, radius / 2.0)).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    #[test]
    fn ports_follow_the_list_and_ties_take_the_lowest() {
        let square = Topology::graph(4, &[(0, 1), (1, 2), (3, 2), (0, 3)]);
        assert_eq!(square.neighbour(0, 1), Some((3, 1)));
        assert_eq!(square.neighbour(2, 1), Some((3, 0)));
        assert_eq!(square.route(0, 2), 0);
        assert_eq!(square.route(2, 0), 0);
        assert_eq!(square.distance(1, 3), 2);
    }

    #[test]
    fn every_fault_is_named() {
        let limited = |nodes, links: &[(u32, u32)]| Topology::Graph {
            nodes,
            switches: 0,
            degree: Some(2),
            links: links.to_vec().into(),
            classes: Vec::new(),
        };
        let of = |nodes, links: &[(u32, u32)]| limited(nodes, links).faults().join("; ");
        assert_eq!(of(3, &[(0, 1), (1, 2)]), "");
        assert_eq!(of(2, &[(0, 1), (1, 2)]), "link (1, 2): vertices are numbered from 0 and there are 2");
        assert_eq!(of(2, &[(0, 1), (1, 1)]).matches("itself").count(), 1);
        assert_eq!(of(2, &[(0, 1), (1, 0)]), "link (1, 0) is listed more than once");
        assert_eq!(of(4, &[(0, 1), (0, 2), (3, 0)]), "vertex 0 has 3 links: `degree` allows 2");
        assert_eq!(of(4, &[(0, 1)]), "1 links cannot connect 4 vertices");
        let parted = "cannot be reached from vertex 0: the graph is not connected";
        assert_eq!(of(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]), format!("vertex 3 {parted}"));
        assert_eq!(of(4, &[(0, 1), (1, 2), (2, 0)]), format!("vertex 3 {parted}"));
        assert_eq!(of(0, &[]), "`nodes` is 0: it must be at least 1");
        assert_eq!(of(u32::MAX, &[(0, 1)]), format!("1 links cannot connect {} vertices", u32::MAX));
    }
}
