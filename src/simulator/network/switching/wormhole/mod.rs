//! Wormhole switching, flit by flit.
//!
//! The router is input-queued and clocked; a cycle is the time of a flit on a link. Its pipeline stages can be
//! described ([`WormholeRouter`]); the timing below is that of the default stages. A head flit that is at the front of
//! its buffer at the beginning of cycle `c` is granted a virtual channel of the next link in cycle `c` (VC allocation)
//! and the crossbar in `c + 1` (switch allocation). It crosses the crossbar in `c + 2` and the link in `c + 3`, and is
//! in the next buffer at the beginning of cycle `c + 4`. The flits behind the head need no VC allocation and follow at
//! one per cycle. The space that a flit frees is known at the other end of the link two cycles after the flit has
//! crossed the crossbar. A buffer of six flits therefore keeps a link busy, a buffer of 6 + 2 k flits a link with a
//! latency of k cycles. (A head occupies its place for one cycle more, so that a packet of more flits than that leaves
//! one cycle idle; the flits behind the head make up for it in the next router.)
//!
//! **Latency of a lone packet** of `n` flits over `l` links, from the beginning of the cycle in which its head enters
//! the first router: 4 cycles per link, 3 through the last router, and `n − 1` for the flits behind the head, hence
//!
//! > `4 l + 3 + (n − 1)` cycles,
//!
//! which is `t_s + m t_w + l t_h + (l − 1) f t_w` with `t_h` the three cycles of a router and `t_s` those of the last
//! one. A link latency of `k` cycles adds `k l`. The network interface injects one flit per cycle into the router,
//! beginning with the first cycle that begins after the packet is ready.
//!
//! **Described stages**: `s = routing + vc_allocation + switch_allocation + traversal` cycles replace the three cycles
//! through a router, and a lone packet takes
//!
//! > `(s + 1 + k) l + s + injection + ejection + (n − 1)` cycles.
//!
//! A head occupies its place and, from its grant on, its virtual channel through the stages that follow. The space of a
//! flit that is granted the crossbar in cycle `c` is available to the upstream router in `c + 2 + credit_delay + k`, so
//! that `switch_allocation + traversal + 3 + credit_delay + 2 k` flits of buffer space keep a link busy. The default
//! router of BookSim2 (Jiang et al., ISPASS 2013) is `Router(routing: 1, credit_delay: 0, injection: 1, ejection: 1,
//! allocators: Islip)`: its `routing_delay`, `credit_delay`, the channels between node and router and the two iSLIP
//! allocators.
//!
//! Blocked flits stay where they are. A virtual channel is released as soon as the tail has left the router. Unless
//! iSLIP or matrix arbiters are selected, VC allocation is round robin at every virtual channel, and a head gets the
//! next free channel in turn. Switch allocation is separable, input first, with round robin at both steps and one
//! iteration per cycle.

mod router;
mod worms;

pub use router::{Allocators, Arbiters, WormholeRouter};
pub(crate) use worms::Worms;
pub use worms::{class_count, class_count_fault};

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Packets are split into flits, and a flit is sent when the other end has space for it. A cycle is the time of a flit
/// on a link: a head takes four cycles per link and three through the last router. The latency of links must be a whole
/// number of cycles, and the time per packet must be zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Wormhole {
    /// The largest packet; a longer message is split.
    pub packet: Bytes,
    /// The data that a link carries in a cycle; 4 B by default.
    #[serde(default = "four_bytes")]
    pub flit: Bytes,
    /// Buffer space in flits at the end of each virtual channel; 8 by default.
    #[serde(default = "eight")]
    pub buffer: u32,
    /// Number of virtual channels in each of the classes that keep the routing free of deadlock; 1 by default.
    #[serde(default = "one")]
    pub lanes: u32,
    /// The stages and allocators of the routers. If given, `Traffic` reports latencies in cycles, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<WormholeRouter>,
}

impl Wormhole {
    /// Creates wormhole switching of packets of up to `packet` bytes, with the default of every other field.
    #[must_use]
    pub const fn new(packet: Bytes) -> Self {
        Self { packet, flit: four_bytes(), buffer: eight(), lanes: one(), router: None }
    }
}

const fn four_bytes() -> Bytes {
    Bytes::new(4)
}

const fn eight() -> u32 {
    8
}

const fn one() -> u32 {
    1
}

/// The largest total number of virtual channels at the inputs of a router.
pub const MAX_INPUTS: u32 = 128;
