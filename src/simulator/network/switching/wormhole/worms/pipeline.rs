//! The pipeline of the routers: work in progress that is due in later cycles.

use super::departures::FlitDepartures;
use super::stage::Stage;
use super::wheel::Wheel;
use super::wires::LinkLatencies;
use crate::network::packet::Packet;
use crate::network::switching::wormhole::WormholeRouter;

/// The pipeline stages of all routers, and the links between routers.
pub(super) struct Pipeline {
    /// Packets in transit from their node into their first router, with the node.
    pub(super) entering: Stage<(u32, Packet)>,
    /// Input channels whose routes are being computed.
    pub(super) routing: Stage<u32>,
    /// Input channels with a granted virtual channel that may not request the crossbar yet.
    pub(super) allocated: Stage<u32>,
    /// Flits and credits in transit over links.
    pub(super) departures: FlitDepartures,
    /// Nodes and the worms whose tails are in transit to them.
    pub(super) ejections: Wheel<(u32, u32)>,
}

impl Pipeline {
    /// Creates an empty pipeline for links of these latencies.
    pub(super) fn new(router: WormholeRouter, wires: &LinkLatencies) -> Self {
        Self {
            entering: Stage::empty(),
            routing: Stage::empty(),
            allocated: Stage::empty(),
            departures: FlitDepartures::new(
                // A flit is on the link in the last of these cycles and in the buffer at the beginning of the next one.
                wires.latencies().map(|latency| router.after_grant() + 1 + latency).collect(),
                wires.latencies().map(|latency| router.credit(latency)).collect(),
            ),
            ejections: Wheel::new(router.after_grant() + u64::from(router.ejection)),
        }
    }

    /// Returns whether the pipeline has any content. Must be called once per cycle, because it advances the wheel.
    #[inline]
    pub(super) fn has_pending(&mut self) -> bool {
        let in_stages = !(self.entering.is_empty() && self.routing.is_empty() && self.allocated.is_empty());
        self.departures.are_pending() | self.ejections.has_pending() | in_stages
    }
}
