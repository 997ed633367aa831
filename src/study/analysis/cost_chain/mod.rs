//! The longest path of a run, service by service, with the charge for each of its pieces.
//!
//! The path is walked backwards from the end of the run. A service begins when the last event that it waits for occurs:
//! the end of the previous service at the same place, the arrival of its packet, or a request of its process. All times
//! are exact, so that the cause is whatever ended at that place in the same picosecond. If there are several causes,
//! they tie, and one of them is taken.

mod index;
mod interfaces;
mod walk;

use parsim_sim::trace::{ActivityLog, ComputationAmount, Loop, Phase, Software, Transfer};
use parsim_sim::units::SimDuration;

/// The charge for a piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charge {
    /// A service of communication software: the purpose and the count of each of its parts.
    Software([(Software, u64); 3]),
    /// The bytes of a packet on a link.
    Link {
        /// The bytes that occupy the link, or that the next vertex needs.
        bytes: u64,
    },
    /// The latency of a link.
    Latency,
    /// Gaps and bytes at a network interface.
    Interface {
        /// The number of gaps between messages.
        gaps: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// The transit of the first byte of a message over links without contention.
    LoneWay {
        /// The number of links.
        hops: u32,
        /// The length of the message in bytes.
        bytes: u64,
    },
    /// The delay of a message between its processor and the network.
    InterfaceLatency {
        /// The number of bytes at the interface.
        bytes: u64,
    },
    /// A computation.
    Computation {
        /// The loops of the computation.
        loops: [Option<Loop>; 2],
        /// The requested amount.
        amount: ComputationAmount,
    },
    /// Preparation of received data for forwarding.
    Forwarding {
        /// The number of bytes.
        bytes: u64,
    },
    /// A transfer of bytes from or to the host.
    HostTransfer {
        /// `true` for a transfer from the host.
        is_input: bool,
        /// The number of bytes.
        bytes: u64,
    },
    /// The initialisation of the links before the program starts.
    Start,
}

/// The location of a piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainPlace {
    /// The processor with this number.
    Processor(u32),
    /// A link, given by its two vertices.
    Link(u32, u32),
    /// The whole machine.
    Machine,
}

/// A piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// The location.
    pub place: ChainPlace,
    /// The phase of the process that waits for the piece.
    pub phase: Phase,
    /// The charge for the piece.
    pub charge: Charge,
    /// The length of the piece.
    pub time: SimDuration,
}

/// The longest path of a run, from its end to its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostChain {
    /// The pieces of the path, the last one first. Their lengths sum to the makespan.
    pub steps: Vec<ChainStep>,
}

/// Observations of a run in which packets travel singly, or in messages of network interfaces.
pub struct ObservedRun<'t> {
    /// The activities of the ranks and the services of the processors.
    pub log: &'t ActivityLog,
    /// The transfers of packets over links.
    pub transfers: &'t [Transfer],
    /// The time at which the program starts.
    pub start: SimDuration,
    /// The makespan.
    pub makespan: SimDuration,
    /// Maps a processor to its vertex.
    pub vertex: &'t dyn Fn(u32) -> u32,
    /// The rule by which packets cross links.
    pub crossing: CrossingRule,
    /// The parameters of the network interfaces, if there are any.
    pub interfaces: Option<InterfaceParameters<'t>>,
}

/// The parameters of network interfaces, which are equal on all nodes.
pub struct InterfaceParameters<'t> {
    /// The processor time per message.
    pub overhead: SimDuration,
    /// The time between messages.
    pub gap: SimDuration,
    /// The length of a full packet in bytes, and the time after which the next packet enters the network.
    pub packet: (u64, SimDuration),
    /// Maps the bytes of a message at the interface to its delay between processor and network.
    pub latency: &'t dyn Fn(u64) -> SimDuration,
    /// Maps a number of links and a length in bytes to the transit time of the first byte of a message.
    pub lone_way: &'t dyn Fn(u32, u64) -> SimDuration,
}

/// The rule by which packets cross links, which is equal on all links.
#[derive(Clone, Copy, Debug)]
pub struct CrossingRule {
    /// The most bytes of a packet that a vertex needs before it forwards the packet.
    pub header: u64,
    /// The time of those bytes on a link, which is at most that of the whole packet.
    pub header_time: SimDuration,
    /// The time of a packet without bytes.
    pub empty_time: SimDuration,
    /// The latency of a link.
    pub latency: SimDuration,
}

impl CostChain {
    /// Returns the path of a run; `None` if a piece of it has a cause that is not observed.
    #[must_use]
    pub fn of(run: &ObservedRun<'_>) -> Option<Self> {
        walk::walk(run).map(|steps| Self { steps })
    }
}

#[cfg(test)]
mod tests;
