//! Open-loop traffic: packets that every node injects, whatever becomes of those before.

use super::{Program, Run, mean_distance};
use crate::machine::Pattern;
use crate::trace::Phase;
use crate::units::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};

/// Every rank injects packets at a rate of its own; neither processors nor software take part.
///
/// Loads are in flits per node and cycle: a flit is what a link carries in a cycle, so that 1 is
/// all that the link of a node into the network (or, without such links, any link) can carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// The load, in flits per node and cycle.
    pub offered: f64,
    /// The length of a packet.
    pub packet: Bytes,
    /// When a node injects.
    pub process: Injection,
    /// The time until the network is in its steady state; what is injected in it is not measured.
    pub warm_up: SimDuration,
    /// The time in which packets are injected that are measured.
    pub measured: SimDuration,
    /// The longest time that the network gets afterwards, without injection, to deliver all packets.
    pub drain: SimDuration,
}

/// The times between the packets of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Injection {
    /// Exponentially distributed.
    Poisson,
    /// In every cycle (of a flit with wormhole switching, of a packet otherwise) with the same
    /// probability.
    Bernoulli,
}

impl Program for Traffic {
    /// Traffic has no processes: the network is driven without them.
    fn start(&self, _process: super::Process) -> Run {
        Box::pin(std::future::ready(()))
    }

    fn packet_hops(&self, ranks: u32, _packet_bytes: u64) -> f64 {
        // A link of one byte a nanosecond, for want of the machine.
        let bytes = (self.warm_up.seconds() + self.measured.seconds()) * 1e9 * self.offered * f64::from(ranks);
        let packet = f64::from(u32::try_from(self.packet.count()).unwrap_or(u32::MAX)).max(1.0);
        bytes / packet * mean_distance(ranks)
    }

    fn phases(&self) -> &'static [Phase] {
        &["traffic"]
    }
}
