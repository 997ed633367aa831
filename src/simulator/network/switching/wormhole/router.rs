//! The description of a clocked router: the cycles of its stages, and how it allocates.

use serde::{Deserialize, Serialize};

/// Cycles of the stages of a wormhole router, one after the other, and its allocators, written `Router(…)`.
///
/// The stages are pipelined: an allocator decides in the first of its cycles, and flits follow each other at one a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WormholeRouter", title = "Router"))]
#[serde(deny_unknown_fields, rename = "Router")]
pub struct WormholeRouter {
    /// Cycles in which the route of a head that has come to the front of its buffer is worked out; 0 (look-ahead: the
    /// router before has done it) unless given.
    #[serde(default)]
    pub routing: u32,
    /// Cycles of the allocation of a virtual channel to a head, from 1 on; 1 unless given.
    #[serde(default = "one")]
    pub vc_allocation: u32,
    /// Cycles of the allocation of the crossbar to a flit, from 1 on; 1 unless given.
    #[serde(default = "one")]
    pub switch_allocation: u32,
    /// Cycles in which a flit crosses the crossbar, from 1 on; 1 unless given.
    #[serde(default = "one")]
    pub traversal: u32,
    /// Cycles until the router uses a credit that has come back over the link; 1 unless given. A flit that gets the
    /// crossbar sends the credit in the cycle after, which takes the time of the link.
    #[serde(default = "one")]
    pub credit_delay: u32,
    /// Cycles of a flit on the channel from its node into the router; 0 unless given.
    #[serde(default)]
    pub injection: u32,
    /// Cycles of a flit on the channel from the router to its node; 0 unless given.
    #[serde(default)]
    pub ejection: u32,
    /// The allocators of virtual channels and of the crossbar; `InputFirst` unless given.
    #[serde(default)]
    pub allocators: Allocators,
    /// The arbiters of which `InputFirst` allocators consist; `RoundRobin` unless given. iSLIP is round robin.
    #[serde(default, skip_serializing_if = "Arbiters::is_default")]
    pub arbiters: Arbiters,
}

/// Matching of requests with virtual channels and with ports of the crossbar, once a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Allocators {
    /// Separable, input first, by `arbiters`: an input port names one of its channels, an output port takes one of the
    /// input ports. Every free virtual channel takes a head, while there are any.
    #[default]
    InputFirst,
    /// iSLIP with one iteration (`McKeown` 1999): outputs grant, inputs accept one of their grants, both round robin, and
    /// the next in turn moves on only with what is accepted. Two free virtual channels may grant the same head.
    Islip,
}

/// Choice of one among those that ask, once a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Arbiters {
    /// The next one after whoever was served last.
    #[default]
    RoundRobin,
    /// The one whose last turn is longest ago (matrix arbiters: Dally and Towles 2004, 18.5).
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
    /// Cycles of a head from the front of its buffer until it is on the link.
    #[must_use]
    pub fn head(&self) -> u64 {
        u64::from(self.routing) + u64::from(self.vc_allocation) + self.after_grant()
    }

    /// Cycles of a flit from the grant of the crossbar until it is on the link.
    pub(super) fn after_grant(&self) -> u64 {
        u64::from(self.switch_allocation) + u64::from(self.traversal)
    }

    /// Cycles from the grant of the crossbar until the room of the flit can be used by the router before; a link has a
    /// latency of so many cycles.
    pub(super) fn credit(&self, latency: u64) -> u64 {
        2 + u64::from(self.credit_delay) + latency
    }

    /// Cycles between two flits in the same room of a buffer, none waiting: the flits of room that keep a link busy.
    #[must_use]
    pub fn credit_loop(&self, latency: u64) -> u64 {
        self.after_grant() + 1 + latency + self.credit(latency)
    }

    /// The stage that takes no cycle where it has to, if any.
    #[must_use]
    pub fn empty_stage(&self) -> Option<&'static str> {
        let stages = [
            ("vc_allocation", self.vc_allocation),
            ("switch_allocation", self.switch_allocation),
            ("traversal", self.traversal),
        ];
        stages.into_iter().find(|(_, cycles)| *cycles == 0).map(|(name, _)| name)
    }

    /// The largest number of cycles of any stage.
    pub const MAX_CYCLES: u32 = 1000;

    /// A stage that takes more cycles than any router's.
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
