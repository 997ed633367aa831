//! Work under way between two steps of the routers of a network, and due in later cycles.

use super::arrival::Transit;
use super::stage::Stage;
use super::wheel::{Wheel, Wheels};
use super::wires::Wires;
use crate::network::packet::Packet;
use crate::network::switching::wormhole::WormholeRouter;

/// The stages of all routers, and the wires between these.
pub(super) struct Pipeline {
    /// Packets on their way into their first router, each with its node.
    pub(super) entering: Stage<(u32, Packet)>,
    /// Input channels whose routes are worked out.
    pub(super) routing: Stage<u32>,
    /// Input channels that got a virtual channel, until they may ask for the crossbar.
    pub(super) allocated: Stage<u32>,
    pub(super) transits: Wheels<Transit>,
    /// The output channels to which room is given back.
    pub(super) credits: Wheels<u32>,
    /// Worms that have come out of the network, and their nodes.
    pub(super) ejections: Wheel<(u32, u32)>,
}

impl Pipeline {
    /// Empty, for links of these latencies.
    pub(super) fn new(router: WormholeRouter, wires: &Wires) -> Self {
        Self {
            entering: Stage::empty(),
            routing: Stage::empty(),
            allocated: Stage::empty(),
            // On the link, and at the beginning of the cycle after in the buffer.
            transits: Wheels::new(wires.latencies().map(|latency| router.after_grant() + 1 + latency)),
            credits: Wheels::new(wires.latencies().map(|latency| router.credit(latency))),
            ejections: Wheel::new(router.after_grant() + u64::from(router.ejection)),
        }
    }

    /// Returns whether anything is in it. All wheels want to be asked in every cycle.
    #[inline]
    pub(super) fn is_turning(&mut self) -> bool {
        let in_stages = !(self.entering.is_empty() && self.routing.is_empty() && self.allocated.is_empty());
        self.transits.is_turning() | self.credits.is_turning() | self.ejections.is_turning() | in_stages
    }
}
