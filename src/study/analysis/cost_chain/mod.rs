//! The longest path of a run, service by service: what each piece of it pays for.
//!
//! It is walked backwards from the end of the run. A service has begun when the last of what it waited for ended: the
//! service before it at the same place, the arrival of its packet, or a request of its process. All times are exact, so
//! that what it waited for is what ended at that picosecond at that place. Of several such causes one is taken: they tie.

mod index;
mod interfaces;
mod walk;

use parsim_sim::trace::{ActivityLog, ComputationAmount, Loop, Phase, Software, Transfer};
use parsim_sim::units::SimDuration;

/// The service that a piece of a path pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charge {
    /// A service of communication software: what for, and how often, part by part.
    Software([(Software, u64); 3]),
    /// Bytes of a packet on a link.
    Link {
        /// The bytes for which the link is held, or which the next vertex needs.
        bytes: u64,
    },
    /// The travel time of a link.
    Latency,
    /// Gaps and bytes at a network interface.
    Interface {
        /// The gaps between messages.
        gaps: u64,
        /// The bytes.
        bytes: u64,
    },
    /// The way of the first byte of a message that has its links to itself.
    LoneWay {
        /// The links.
        hops: u32,
        /// The length of the message.
        bytes: u64,
    },
    /// A computation.
    Computation {
        /// The loops.
        loops: [Option<Loop>; 2],
        /// The amount that was asked for.
        amount: ComputationAmount,
    },
    /// Making what was received ready to be sent on.
    Forwarding {
        /// The number of bytes.
        bytes: u64,
    },
    /// Bytes from or to the host.
    HostTransfer {
        /// True if they come from the host.
        is_input: bool,
        /// The number of bytes.
        bytes: u64,
    },
    /// The initialisation of the links, before the program starts.
    Start,
}

/// Place of a piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainPlace {
    /// The processor of this number.
    Processor(u32),
    /// A link, from vertex to vertex.
    Link(u32, u32),
    /// The whole machine.
    Machine,
}

/// A piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// The place.
    pub place: ChainPlace,
    /// The phase of the process that waits for it.
    pub phase: Phase,
    /// The service that it pays for.
    pub charge: Charge,
    /// The length of it.
    pub time: SimDuration,
}

/// The longest path of a run, from its end to its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostChain {
    /// The pieces, the last one first; they sum to the makespan.
    pub steps: Vec<ChainStep>,
}

/// Observations of a run in which packets travel one by one, or in messages of network interfaces.
pub struct ObservedRun<'t> {
    /// Activities of the ranks and services of the processors.
    pub log: &'t ActivityLog,
    /// The packets that the links have carried.
    pub transfers: &'t [Transfer],
    /// The time at which the program starts.
    pub start: SimDuration,
    /// The makespan.
    pub makespan: SimDuration,
    /// The vertex of a processor.
    pub vertex: &'t dyn Fn(u32) -> u32,
    /// The rule by which packets cross links.
    pub crossing: CrossingRule,
    /// The network interfaces, where there are some.
    pub interfaces: Option<InterfaceTimes<'t>>,
}

/// Times of network interfaces: alike on all of them.
pub struct InterfaceTimes<'t> {
    /// Processor time of a message.
    pub overhead: SimDuration,
    /// Time between messages.
    pub gap: SimDuration,
    /// The length of a full packet, and the time after which the next one enters the network.
    pub packet: (u64, SimDuration),
    /// The time of the first byte of a message over so many links.
    pub lone_way: &'t dyn Fn(u32, u64) -> SimDuration,
}

/// The rule by which packets cross links: alike on all of them.
#[derive(Clone, Copy, Debug)]
pub struct CrossingRule {
    /// The most bytes that a vertex needs of a packet before it sends it on.
    pub header: u64,
    /// The time of those bytes on a link; no more than that of the packet.
    pub header_time: SimDuration,
    /// The time of a packet without bytes.
    pub empty_time: SimDuration,
    /// The travel time.
    pub latency: SimDuration,
}

impl CostChain {
    /// The path of a run; `None` where a piece of it began for a reason that is not observed.
    #[must_use]
    pub fn of(run: &ObservedRun<'_>) -> Option<Self> {
        walk::walk(run).map(|steps| Self { steps })
    }
}

#[cfg(test)]
mod tests;
