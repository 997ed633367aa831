//! Inside of one node: its processor, its memory, its input and output.
//!
//! A node does not know the network: a message is handed over at the [machine](crate::machine).

mod dispatch;
mod faults;
mod input_output;
mod interface;
mod level;
mod noise;
pub mod processor;
mod scratch;
mod software;

pub use dispatch::RouterTurn;
pub(crate) use dispatch::{Admission, DispatchCheckpoint, Dispatcher, Turns};
pub use input_output::{Host, Linear};
pub use interface::{DataTransfer, EmptyMessage, Injection, Interface, InterfaceChoice, Progress, WithinNode};
pub use level::{Level, Shared};
pub use noise::Noise;
pub use processor::{Module, Processor, Work};
pub use scratch::{Scratch, ScratchMemory};
pub use software::{Acknowledging, Copies, Forwarding, Receiving, Router, RoutingCosts, Sending};

use crate::units::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};

/// A node: everything that one processor, or the cores of one node, have to themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The model of the processor, which gives the time of a computation.
    pub processor: Processor,
    /// Memory for the program's data.
    pub memory: Bytes,
    /// The software cost of sending; none unless given.
    #[serde(default)]
    pub sending: Sending,
    /// The software cost of receiving; none unless given.
    #[serde(default)]
    pub receiving: Receiving,
    /// The software cost of sending on what a process has received; none unless given.
    #[serde(default, skip_serializing_if = "Forwarding::is_free")]
    pub forwarding: Forwarding,
    /// The router, which passes on packets in transit.
    pub router: Router,
    /// The software cost of passing packets on; none unless given. Hardware routers have none.
    #[serde(default)]
    pub routing: RoutingCosts,
    /// The time at which communication software gets a processor that computes; at once unless given. Hardware routers have
    /// no turn.
    #[serde(default)]
    pub router_turn: Option<RouterTurn>,
    /// The period of the clock by which the computations of several processes on one core take turns:
    /// each gives way at the second tick since it got the processor. Unless given, or at 0 us, they do not take turns: each
    /// has the core until it ends.
    #[serde(default)]
    pub time_slice: SimDuration,
    /// Time for which the memory serves a link for each word of four bytes that it moves; a concurrent computation
    /// takes that much longer. Nothing unless given.
    #[serde(default)]
    pub dma_per_word: SimDuration,
    /// The cost of acknowledging a message; none unless given.
    #[serde(default)]
    pub acknowledging: Acknowledging,
    /// Its network interfaces, which send whole messages; without them the processor prepares and takes in every packet, as
    /// `sending` and `receiving` describe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// The longest message of a collective operation that is added up within the caches: of longer ones, what is added comes from
    /// the memory of `levels`, and the sum goes there. Any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// Cost of the buffers that collective operations allocate for a call; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<ScratchMemory>,
    /// Its cores, from the inside out: the last level is the node itself. One core unless given; every core is a
    /// processor as described above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// Disturbance of its computations; nothing unless given.
    #[serde(default, skip_serializing_if = "Noise::is_quiet")]
    pub noise: Noise,
}

impl Node {
    /// A node of one core with this processor, memory for data, router and communication software, and defaults for the
    /// rest.
    #[must_use]
    pub fn new(processor: Processor, memory: Bytes, router: Router, sending: Sending, receiving: Receiving) -> Self {
        Self {
            processor,
            memory,
            sending,
            receiving,
            forwarding: Forwarding::default(),
            router,
            routing: RoutingCosts::default(),
            router_turn: None,
            time_slice: SimDuration::ZERO,
            dma_per_word: SimDuration::ZERO,
            acknowledging: Acknowledging::default(),
            interface: None,
            cache: None,
            scratch: None,
            levels: Vec::new(),
            noise: Noise::default(),
        }
    }

    /// The time of the buffers that a collective operation allocates for a call.
    #[must_use]
    pub fn scratch_time(&self, scratch: &Scratch) -> SimDuration {
        let announced = self.interface.as_ref().and_then(|interface| interface.data.above());
        self.scratch.as_ref().map_or(SimDuration::ZERO, |memory| memory.time(scratch, announced))
    }

    /// A node of one core with this processor and router, a tebibyte of memory, and communication software
    /// that takes no time.
    #[must_use]
    pub fn ideal(processor: Processor, router: Router) -> Self {
        Self::new(processor, Bytes::new(1 << 40), router, Sending::FREE, Receiving::FREE)
    }

    /// The number of its cores, each a processor of its own.
    ///
    /// # Panics
    /// If there are more than 2^32, which a scenario's check refuses.
    #[must_use]
    pub fn cores(&self) -> u32 {
        let cores = Level::sizes(&self.levels).last().unwrap_or(1);
        u32::try_from(cores).expect("check limits the number of cores")
    }

    /// The memory that the most of its cores share, if any share one.
    #[must_use]
    pub fn shared_memory(&self) -> Option<&Shared> {
        self.levels.iter().rev().find_map(|level| level.memory.as_ref())
    }

    /// The interface to other nodes that the most of its cores share, if any share one.
    #[must_use]
    pub fn shared_interface(&self) -> Option<&Shared> {
        self.levels.iter().rev().find_map(|level| level.interface.as_ref())
    }

    /// Floating-point operations per second of a core, where the processor is described so.
    #[must_use]
    pub const fn core_flop_per_s(&self) -> Option<f64> {
        match &self.processor {
            Processor::FlopRate(rate) => Some(rate.per_s()),
            _ => None,
        }
    }

    /// Operations of a core in the time in which the node's memory moves a byte, where both are described.
    #[must_use]
    pub fn balance(&self) -> Option<f64> {
        Some(self.core_flop_per_s()? / self.shared_memory()?.bandwidth.bytes_per_s())
    }
}
