//! Bisection width: the smallest number of links between two halves of a network.
//!
//! A bisection divides the nodes into halves that differ by at most one node; switches are on the side where they cost
//! least. Finding the narrowest bisection is NP-complete in general. Regular topologies therefore have a formula, small
//! ones an exhaustive search, and the others bounds.

use serde::Serialize;

use super::Topology;
use super::flow::{ResidualNetwork, UNLIMITED};
use super::load::{ChannelLoads, all_pairs};

/// Largest number of nodes of a graph whose bisections are searched exhaustively.
pub(super) const EXHAUSTIVE: u32 = 16;

/// The number of links between the two halves of the narrowest bisection, exact or bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bisection {
    /// The exact width.
    Exact(u64),
    /// Bounds of a width that is not known exactly.
    Between {
        /// A number of links that every bisection cuts at least.
        lower: u64,
        /// The number of links that some bisection cuts.
        upper: u64,
    },
}

impl Bisection {
    pub(super) fn between(lower: u64, upper: u64) -> Self {
        if lower == upper { Self::Exact(upper) } else { Self::Between { lower, upper } }
    }

    /// Returns the width if it is known exactly.
    #[must_use]
    pub fn exact(self) -> Option<u64> {
        match self {
            Self::Exact(width) => Some(width),
            Self::Between { .. } => None,
        }
    }

    /// Returns the largest known lower bound of the width.
    #[must_use]
    pub fn lower(self) -> u64 {
        match self {
            Self::Exact(width) | Self::Between { lower: width, .. } => width,
        }
    }

    /// Returns the number of links of the narrowest known bisection.
    #[must_use]
    pub fn upper(self) -> u64 {
        match self {
            Self::Exact(width) | Self::Between { upper: width, .. } => width,
        }
    }
}

/// Returns a lower bound of the bisection width, given that the network can carry one unit of traffic between every
/// ordered pair of nodes with at most `load` units on any channel: ⌊n/2⌋ · ⌈n/2⌉ units must cross in each direction,
/// and a link carries `load` in each direction.
pub(super) fn crossing_bound(nodes: u64, load: u128) -> u64 {
    let crossing = u128::from(nodes / 2) * u128::from(nodes.div_ceil(2));
    let links = if load == 0 { 0 } else { crossing.div_ceil(load) };
    u64::try_from(links).expect("no more links than pairs of nodes")
}

/// Returns the bisection of any graph: exact for up to 16 nodes, otherwise bounded.
pub(super) fn measured(topology: &Topology, arc_connectivity: u32) -> Bisection {
    if topology.nodes() <= EXHAUSTIVE {
        return Bisection::Exact(exhaustive(topology));
    }
    let bound = congestion_bound(topology).max(u64::from(arc_connectivity));
    Bisection::between(bound, CandidateBisection::best_found(topology))
}

/// Tightens the bounds that a formula gives, by a search, if the topology is small enough.
pub(super) fn narrowed(topology: &Topology, formula: Bisection) -> Bisection {
    const MAX_NODES: u32 = 1100;
    match (formula, topology.nodes()) {
        (Bisection::Between { .. }, ..=EXHAUSTIVE) => Bisection::Exact(exhaustive(topology)),
        (Bisection::Between { .. }, _) if topology.switches() == 0 => formula,
        (Bisection::Between { lower, upper }, ..=MAX_NODES) => {
            let by_number: Vec<u32> = (0..topology.nodes()).collect();
            let cut = CandidateBisection::of_order(topology, &by_number).width();
            Bisection::between(lower.max(bound_of_routes(topology)), upper.min(cut))
        }
        _ => formula,
    }
}

/// Returns the lower bound from traffic between all pairs along natural routes.
fn bound_of_routes(topology: &Topology) -> u64 {
    let load = ChannelLoads::along_routes(topology, all_pairs(topology.nodes())).max();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of pairs")]
    crossing_bound(topology.nodes().into(), load as u128)
}

/// Returns the lower bound from traffic between all pairs, spread evenly over all shortest paths.
fn congestion_bound(topology: &Topology) -> u64 {
    let nodes = f64::from(topology.nodes());
    let crossing = (nodes / 2.0).floor() * (nodes / 2.0).ceil();
    let load = ChannelLoads::over_shortest_paths(topology, all_pairs(topology.nodes())).max();
    let rounding = 1e-9 * crossing;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of links")]
    let links = ((crossing - rounding) / load).ceil() as u64;
    links
}

/// Returns the width of the narrowest bisection by exhaustive search.
pub(super) fn exhaustive(topology: &Topology) -> u64 {
    let nodes = topology.nodes();
    let (half, all) = (nodes / 2, 1_u32 << nodes);
    let first_stays = nodes.is_multiple_of(2);
    let candidates = (0..all).filter(|set| set.count_ones() == half && !(first_stays && set & 1 == 1));
    let width: Box<dyn Fn(u32) -> u64> = match topology.switches() {
        0 => Box::new(counted(topology)),
        _ => Box::new(|set| CandidateBisection::new(topology, |node| set >> node & 1 == 1).width()),
    };
    candidates.map(width).min().unwrap_or(0)
}

/// Returns a function that counts the links that leave a set of nodes, given as bits.
fn counted(topology: &Topology) -> impl Fn(u32) -> u64 {
    let beside = |node| topology.links_at(node).fold(0_u32, |set, (_, to, _)| set | 1 << to);
    let neighbours: Vec<u32> = (0..topology.nodes()).map(beside).collect();
    move |set| {
        let leaving = |(node, beside): (usize, &u32)| {
            if set >> node & 1 == 1 { u64::from((beside & !set).count_ones()) } else { 0 }
        };
        neighbours.iter().enumerate().map(leaving).sum()
    }
}

/// A bisection during local improvement: the side of every node.
struct CandidateBisection<'a> {
    topology: &'a Topology,
    far: Vec<bool>,
}

impl<'a> CandidateBisection<'a> {
    fn new(topology: &'a Topology, far: impl Fn(u32) -> bool) -> Self {
        Self { topology, far: (0..topology.nodes()).map(far).collect() }
    }

    /// Puts the second half of an order of the nodes on the far side.
    fn of_order(topology: &'a Topology, order: &[u32]) -> Self {
        let mut halves = Self::new(topology, |_| false);
        for &node in &order[order.len() / 2..] {
            halves.far[node as usize] = true;
        }
        halves
    }

    /// Returns the best width from two starting points, by number and by distance from node 0, after local improvement.
    fn best_found(topology: &'a Topology) -> u64 {
        let by_number: Vec<u32> = (0..topology.nodes()).collect();
        let mut by_distance = by_number.clone();
        by_distance.sort_by_key(|&node| topology.distance(node, 0));
        let starts = [by_number, by_distance];
        let improved = starts.iter().map(|order| {
            let mut halves = Self::of_order(topology, order);
            if topology.switches() == 0 {
                while halves.swap_best_pair() {}
            }
            halves.width()
        });
        improved.min().unwrap_or(0)
    }

    fn width(&self) -> u64 {
        if self.topology.switches() > 0 {
            return self.width_with_switches();
        }
        let far = |vertex: u32| self.far[vertex as usize];
        self.topology.links().filter(|((a, _), (b, _))| far(*a) != far(*b)).count() as u64
    }

    /// Returns the minimum cut between the halves over all sides of the switches.
    fn width_with_switches(&self) -> u64 {
        let source = self.topology.vertices() as usize;
        let mut links = ResidualNetwork::of_links(self.topology, 2);
        for (node, far) in self.far.iter().enumerate() {
            let (from, to) = if *far { (node, source + 1) } else { (source, node) };
            links.join(from, to, UNLIMITED, 0);
        }
        links.flow(source, source + 1)
    }

    /// Swaps the two nodes whose exchange saves most links (Kernighan and Lin 1970); returns `false` if none saves any.
    fn swap_best_pair(&mut self) -> bool {
        let mut best = (0, None);
        let (near, far) = (self.by_gain(false), self.by_gain(true));
        for &(gain, node) in &near {
            for &(other_gain, other) in &far {
                if gain + other_gain <= best.0 {
                    break;
                }
                let saved = gain + other_gain - 2 * i64::from(self.joined(node, other));
                if saved > best.0 {
                    best = (saved, Some((node, other)));
                }
            }
        }
        let Some((node, other)) = best.1 else {
            return false;
        };
        self.far[node as usize] = true;
        self.far[other as usize] = false;
        true
    }

    /// Returns the nodes of one side with the number of links that each would save by leaving it, in descending order.
    fn by_gain(&self, side: bool) -> Vec<(i64, u32)> {
        let nodes = (0..self.topology.nodes()).filter(|&node| self.far[node as usize] == side);
        let mut gains: Vec<(i64, u32)> = nodes.map(|node| (self.gain(node), node)).collect();
        gains.sort_by_key(|&(gain, node)| (-gain, node));
        gains
    }

    fn gain(&self, node: u32) -> i64 {
        let side = self.far[node as usize];
        let saved = |(_, to, _): (u32, u32, u32)| if self.far[to as usize] == side { -1 } else { 1 };
        self.topology.links_at(node).map(saved).sum()
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        self.topology.links_at(a).any(|(_, to, _)| to == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_graph(topology: &Topology) -> Topology {
        let pairs: Vec<(u32, u32)> = topology.links().map(|((a, _), (b, _))| (a, b)).collect();
        Topology::Graph {
            nodes: topology.nodes(),
            switches: topology.switches(),
            degree: None,
            links: pairs.into(),
            classes: Vec::new(),
        }
    }

    #[test]
    fn the_formulas_hold_up_to_sixteen_nodes() {
        for topology in crate::network::topology::laws::all_up_to(EXHAUSTIVE) {
            let width = topology.metrics().bisection_width;
            let exhaustive = exhaustive(&topology);
            assert!(
                width.lower() <= exhaustive && exhaustive <= width.upper(),
                "{topology:?}: {width:?}, {exhaustive}"
            );
            assert!(width.exact().is_none_or(|exact| exact == exhaustive), "{topology:?}");
            assert_eq!(width.upper(), exhaustive, "{topology:?}");
        }
    }

    #[test]
    fn cube_connected_cycles_of_twenty_four_nodes_are_cut_at_four_links() {
        assert_eq!(exhaustive(&Topology::CubeConnectedCycles { dimension: 3 }), 4);
    }

    #[test]
    fn the_bounds_of_a_graph_contain_the_formula() {
        for name in ["ring", "mesh2d", "torus2d", "mesh3d", "hypercube", "fat-tree", "ccc"] {
            let topology = Topology::from_name(name, 64).expect("64 suits all of them");
            let exact = topology.metrics().bisection_width.exact().expect("a formula");
            let bounds = measured(&as_graph(&topology), 1);
            assert!(bounds.lower() <= exact && exact <= bounds.upper(), "{name}: {exact} in {bounds:?}");
        }
    }
}
