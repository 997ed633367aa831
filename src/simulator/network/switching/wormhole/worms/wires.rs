//! The link latencies of clocked routers, in cycles.

use super::layout::{NONE, RouterShape};
use crate::network::topology::Topology;
use crate::network::{Link, Network};
use crate::units::SimDuration;

/// The distinct link latencies, and the latency of each link class.
pub(super) struct LinkLatencies {
    /// The distinct latencies; that of `links` is the first.
    latencies: Vec<u64>,
    /// By link class, the index of its latency.
    of_class: Vec<u8>,
}

impl LinkLatencies {
    pub(super) fn new(network: &Network, topology: &Topology, cycle: SimDuration) -> Self {
        let cycles = |link: &Link| link.latency.ps() / cycle.ps().max(1);
        let mut latencies = vec![cycles(&network.links)];
        let mut number = |latency: u64| {
            let known = latencies.iter().position(|known| *known == latency);
            let number = known.unwrap_or_else(|| {
                latencies.push(latency);
                latencies.len() - 1
            });
            u8::try_from(number).expect("check limits the latencies of links")
        };
        let classes = network.links_by_class(topology);
        let of_class = classes.into_iter().map(|link| link.map_or(0, |link| number(cycles(link)))).collect();
        Self { latencies, of_class }
    }

    /// Returns the latency with an index.
    pub(super) fn latency(&self, number: u8) -> u64 {
        self.latencies[usize::from(number)]
    }

    pub(super) fn latencies(&self) -> impl Iterator<Item = u64> + '_ {
        self.latencies.iter().copied()
    }

    /// Returns the index of the latency of the link at every port, by router and port.
    pub(super) fn of_ports(&self, topology: &Topology, shape: RouterShape, far_ends: &[u32]) -> Vec<u8> {
        if self.latencies.len() == 1 {
            return vec![0; far_ends.len()];
        }
        let of_port = |(port, far): (u32, &u32)| {
            let class = (*far != NONE).then(|| topology.link_class(port / shape.ports, port % shape.ports)).flatten();
            class.map_or(0, |class| self.of_class[class])
        };
        (0..).zip(far_ends).map(of_port).collect()
    }
}
