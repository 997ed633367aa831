//! The description of a clocked router: the cycles of its pipeline stages, and its allocators.

use serde::{Deserialize, Serialize};

/// The pipeline stages of a wormhole router in cycles, in order, and its allocators, written `Router(…)`.
///
/// The stages are pipelined: an allocator decides in the first of its cycles, and flits follow each other at one per
/// cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WormholeRouter", title = "Router"))]
#[serde(deny_unknown_fields, rename = "Router")]
pub struct WormholeRouter {
    /// Cycles to compute the route of a head at the front of its buffer; 0 by default (look-ahead: the upstream router
    /// has computed the route).
    #[serde(default)]
    pub routing: u32,
    /// Cycles to allocate a virtual channel to a head, at least 1; 1 by default.
    #[serde(default = "one")]
    pub vc_allocation: u32,
    /// Cycles to allocate the crossbar to a flit, at least 1; 1 by default.
    #[serde(default = "one")]
    pub switch_allocation: u32,
    /// Cycles in which a flit crosses the crossbar, at least 1; 1 by default.
    #[serde(default = "one")]
    pub traversal: u32,
    /// Cycles until the router uses a credit that has arrived over the link; 1 by default. A flit that is granted the
    /// crossbar sends the credit in the next cycle, and the credit takes the latency of the link.
    #[serde(default = "one")]
    pub credit_delay: u32,
    /// Cycles of a flit on the channel from its node into the router; 0 by default.
    #[serde(default)]
    pub injection: u32,
    /// Cycles of a flit on the channel from the router to its node; 0 by default.
    #[serde(default)]
    pub ejection: u32,
    /// The allocators of virtual channels and of the crossbar; `InputFirst` by default.
    #[serde(default)]
    pub allocators: Allocators,
    /// The arbiters inside `InputFirst` allocators; `RoundRobin` by default. iSLIP is always round robin.
    #[serde(default, skip_serializing_if = "Arbiters::is_default")]
    pub arbiters: Arbiters,
}

/// The allocator that matches requests with virtual channels and with crossbar ports, once per cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Allocators {
    /// Separable, input first, by `arbiters`: an input port selects one of its channels, an output port selects one of
    /// the input ports. Every free virtual channel accepts a head while there are heads that wait for it.
    #[default]
    InputFirst,
    /// iSLIP with one iteration (`McKeown` 1999): outputs grant, inputs accept one of their grants, both round robin. A
    /// round-robin pointer advances only if its grant is accepted. Two free virtual channels may grant the same head.
    Islip,
}

/// The arbiter that selects one of several requests, once per cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Arbiters {
    /// The next requester after the one that was served last.
    #[default]
    RoundRobin,
    /// The requester that was served least recently (matrix arbiters: Dally and Towles 2004, 18.5).
    Matrix,
}

impl Arbiters {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

const fn one() -> u32 {
    1
}

impl Default for WormholeRouter {
    fn default() -> Self {
        Self {
            routing: 0,
            vc_allocation: 1,
            switch_allocation: 1,
            traversal: 1,
            credit_delay: 1,
            injection: 0,
            ejection: 0,
            allocators: Allocators::default(),
            arbiters: Arbiters::default(),
        }
    }
}

impl WormholeRouter {
    /// Returns the cycles from the arrival of a head at the front of its buffer until it is on the link.
    #[must_use]
    pub fn head(&self) -> u64 {
        u64::from(self.routing) + u64::from(self.vc_allocation) + self.after_grant()
    }

    /// Returns the cycles from the grant of the crossbar to a flit until the flit is on the link.
    pub(super) fn after_grant(&self) -> u64 {
        u64::from(self.switch_allocation) + u64::from(self.traversal)
    }

    /// Returns the cycles from the grant of the crossbar to a flit until the upstream router can reuse its buffer
    /// space, over a link with this latency in cycles.
    pub(super) fn credit(&self, latency: u64) -> u64 {
        2 + u64::from(self.credit_delay) + latency
    }

    /// Returns the credit loop: the cycles between two flits that use the same buffer place without waiting, which is
    /// the number of places that keep a link busy.
    #[must_use]
    pub fn credit_loop(&self, latency: u64) -> u64 {
        self.after_grant() + 1 + latency + self.credit(latency)
    }

    /// Returns a stage that needs a cycle and has none, if any.
    #[must_use]
    pub fn empty_stage(&self) -> Option<&'static str> {
        let stages = [
            ("vc_allocation", self.vc_allocation),
            ("switch_allocation", self.switch_allocation),
            ("traversal", self.traversal),
        ];
        stages.into_iter().find(|(_, cycles)| *cycles == 0).map(|(name, _)| name)
    }

    /// The largest number of cycles of a stage.
    pub const MAX_CYCLES: u32 = 1000;

    /// Returns a stage with more than [`MAX_CYCLES`](Self::MAX_CYCLES) cycles, if any.
    #[must_use]
    pub fn long_stage(&self) -> Option<&'static str> {
        let stages = [
            ("routing", self.routing),
            ("vc_allocation", self.vc_allocation),
            ("switch_allocation", self.switch_allocation),
            ("traversal", self.traversal),
            ("credit_delay", self.credit_delay),
            ("injection", self.injection),
            ("ejection", self.ejection),
        ];
        stages.into_iter().find(|(_, cycles)| *cycles > Self::MAX_CYCLES).map(|(name, _)| name)
    }
}
