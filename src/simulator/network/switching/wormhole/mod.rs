//! Wormhole switching, flit by flit.
//!
//! The router is input-queued and clocked; a cycle is the time of a flit on a link. Its stages are a description
//! ([`WormholeRouter`]); what follows is the one without a description. A head flit that is at the front of its buffer at the beginning of cycle `c` gets a virtual channel of the
//! next link in cycle `c` (VC allocation), the crossbar in `c + 1` (switch allocation), crosses it
//! in `c + 2` and the link in `c + 3`: it is in the next buffer at the beginning of cycle `c + 4`.
//! The flits behind it need no virtual channel and follow at one a cycle. The room that a flit
//! leaves is known at the other end of the link two cycles after it has crossed the crossbar, so
//! that a buffer of six flits keeps a link busy, of 6 + 2 k flits one with a latency of k cycles.
//! (A head keeps its place for one cycle more, so a packet of more flits than that leaves one cycle
//! idle; the flits behind the head make up for it in the next router.)
//!
//! **Latency of a lone packet** of `n` flits over `l` links, from the beginning of the cycle in
//! which its head enters the first router: 4 cycles a link, 3 through the last router, and
//! `n − 1` for the flits behind the head, hence
//!
//! > `4 l + 3 + (n − 1)` cycles,
//!
//! which is `t_s + m t_w + l t_h + (l − 1) f t_w` with `t_h` the three cycles of a router and
//! `t_s` those of the last one. A link latency of `k` cycles adds `k l`. The network interface puts
//! one flit a cycle into the router, beginning with the first cycle that begins after the packet is
//! ready.
//!
//! **Described stages**: `s = routing + vc_allocation + switch_allocation + traversal` cycles take the place of the three
//! through a router, and a lone packet takes
//!
//! > `(s + 1 + k) l + s + injection + ejection + (n − 1)` cycles.
//!
//! A head holds its place and, from its grant on, its virtual channel through the stages that follow; the room of a flit that
//! gets the crossbar in cycle `c` can be used by the router before in `c + 2 + credit_delay + k`, so that
//! `switch_allocation + traversal + 3 + credit_delay + 2 k` flits of room keep a link busy. With its defaults BookSim2's router
//! (Jiang et al., ISPASS 2013) is `Router(routing: 1, credit_delay: 0, injection: 1, ejection: 1, allocators: Islip)`: its
//! `routing_delay`, `credit_delay`, the channels between node and router and the two iSLIP allocators.
//!
//! Flits that are blocked stay where they are. A virtual channel is given away as soon as the tail
//! has left the router. Unless iSLIP or matrix arbiters are named, VC allocation is round robin for every virtual channel, and of the free ones a
//! head gets the next in turn; switch allocation is separable, input first, both round robin, one
//! iteration a cycle.

mod router;
mod worms;

pub use router::{Allocators, Arbiters, WormholeRouter};
pub use worms::{Worms, class_count, uncountable};

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Packets are cut into flits, and a flit is sent when there is room for it at the other end. A cycle is the time of a
/// flit on a link: a head takes four of them for each link and three through the last router. The latency of links is a
/// whole number of cycles, and a packet takes no time of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Wormhole {
    /// The largest packet; a longer message is cut.
    pub packet: Bytes,
    /// Data that a link carries in a cycle; 4 B unless given.
    #[serde(default = "four_bytes")]
    pub flit: Bytes,
    /// Room for flits at the end of each virtual channel; 8 unless given.
    #[serde(default = "eight")]
    pub buffer: u32,
    /// Virtual channels in each of the classes that keep the routing free of deadlock; 1 unless
    /// given.
    #[serde(default = "one")]
    pub lanes: u32,
    /// The stages and allocators of the routers. If it is given, `Traffic` tells latencies in cycles, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<WormholeRouter>,
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

/// The largest number of virtual channels that come together in a router.
pub const MAX_INPUTS: u32 = 128;
