//! The inside of one node: its processor, memory, network interface and input and output.
//!
//! A node does not know the network; the [machine](crate::machine) hands messages over between them.

mod detours;
mod dispatch;
mod faults;
mod input_output;
mod interface;
mod level;
mod noise;
pub mod processor;
mod scratch;
mod software;

pub use detours::{Detour, DetourPhase, DetourVariation};
pub(crate) use detours::{DetourSequence, InterruptedProcessor};
pub use dispatch::RouterTurn;
pub(crate) use dispatch::{Admission, DispatchCheckpoint, Dispatcher, PreemptionRules};
pub use input_output::{Host, Linear};
pub use interface::{DataTransfer, EmptyMessage, Injection, Interface, InterfaceChoice, Progress, WithinNode};
pub use level::{Level, Shared};
pub use noise::Noise;
pub use processor::{Module, Processor, Work};
pub use scratch::{Scratch, ScratchMemory};
pub use software::{Acknowledging, Copies, Forwarding, Receiving, Router, RoutingCosts, Sending};

pub use crate::engine::Discipline;

use crate::units::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};

/// A node: everything that belongs to one processor, or to the cores of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The model of the processor, which determines the time of a computation.
    pub processor: Processor,
    /// The memory for the program's data.
    pub memory: Bytes,
    /// The software cost of sending; zero unless given.
    #[serde(default)]
    pub sending: Sending,
    /// The software cost of receiving; zero unless given.
    #[serde(default)]
    pub receiving: Receiving,
    /// The software cost of forwarding data that a process has received; zero unless given.
    #[serde(default, skip_serializing_if = "Forwarding::is_free")]
    pub forwarding: Forwarding,
    /// The router, which forwards packets in transit.
    pub router: Router,
    /// The software cost of forwarding packets in transit; zero unless given. Hardware routers have none.
    #[serde(default)]
    pub routing: RoutingCosts,
    /// The moment at which communication software preempts a computation; `AtOnce` unless given. Not for hardware
    /// routers, which do not wait for a processor.
    #[serde(default)]
    pub router_turn: Option<RouterTurn>,
    /// The period of the clock by which the computations of several processes on one core take turns. A computation
    /// yields at the second tick after it got the processor. If the period is zero or not given, a computation keeps
    /// the core until it ends.
    #[serde(default)]
    pub time_slice: SimDuration,
    /// Time for which the memory serves a link for each word of four bytes that the link moves; a concurrent
    /// computation is delayed by this time. Zero unless given.
    #[serde(default)]
    pub dma_per_word: SimDuration,
    /// The cost of acknowledging a message; zero unless given.
    #[serde(default)]
    pub acknowledging: Acknowledging,
    /// The network interfaces, which send whole messages. Without them the processor prepares and receives every
    /// packet, as `sending` and `receiving` describe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// The longest message of a collective operation that is reduced within the caches. For longer messages, the
    /// operands are read from the memory of `levels` and the result is written there. No limit unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// Cost of the buffers that collective operations allocate for a call; zero unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<ScratchMemory>,
    /// The hierarchy of cores, from the innermost level outwards; the last level is the node itself. One core unless
    /// given. Every core is a processor as described above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// Random deviation of computation times; none unless given.
    #[serde(default, skip_serializing_if = "Noise::is_quiet")]
    pub noise: Noise,
    /// The interruptions of every processor by the operating system; none unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detours: Vec<Detour>,
}

impl Node {
    /// Creates a node of one core with this processor, memory for data, router and communication software, and defaults
    /// for all other fields.
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
            detours: Vec::new(),
        }
    }

    /// Returns the time of the buffers that a collective operation allocates for a call.
    #[must_use]
    pub fn scratch_time(&self, scratch: &Scratch) -> SimDuration {
        let announced = self.interface.as_ref().and_then(|interface| interface.data.above());
        self.scratch.as_ref().map_or(SimDuration::ZERO, |memory| memory.time(scratch, announced))
    }

    /// Creates a node of one core with this processor and router, a tebibyte of memory, and communication software that
    /// takes no time.
    #[must_use]
    pub fn ideal(processor: Processor, router: Router) -> Self {
        Self::new(processor, Bytes::new(1 << 40), router, Sending::FREE, Receiving::FREE)
    }

    /// Returns the number of cores, each of which is a separate processor.
    ///
    /// # Panics
    /// If there are 2^32 or more, which the check of a scenario rejects.
    #[must_use]
    pub fn cores(&self) -> u32 {
        let cores = Level::sizes(&self.levels).last().unwrap_or(1);
        u32::try_from(cores).expect("the check of a scenario limits the number of cores")
    }

    /// Returns the memory shared by the largest group of cores, if any.
    #[must_use]
    pub fn shared_memory(&self) -> Option<&Shared> {
        self.levels.iter().rev().find_map(|level| level.memory.as_ref())
    }

    /// Returns the interface to other nodes shared by the largest group of cores, if any.
    #[must_use]
    pub fn shared_interface(&self) -> Option<&Shared> {
        self.levels.iter().rev().find_map(|level| level.interface.as_ref())
    }

    /// Returns the floating-point operations per second of a core, if the processor is described by this rate.
    #[must_use]
    pub const fn core_flop_per_s(&self) -> Option<f64> {
        match &self.processor {
            Processor::FlopRate(rate) => Some(rate.per_s()),
            _ => None,
        }
    }

    /// Returns the floating-point operations of a core in the time in which the node's memory moves a byte, if both are
    /// described.
    #[must_use]
    pub fn balance(&self) -> Option<f64> {
        Some(self.core_flop_per_s()? / self.shared_memory()?.bandwidth.bytes_per_s())
    }
}
