//! Forecasts of what a run costs, made in constant time before it, so that one that is too large is rejected.

use super::limits::in_words;
use super::{CheckedScenario, Scenario};
use crate::fault::Fault;
use crate::machine::{Machine, Transport};
use crate::network::Topology;
use crate::program::{Forecast, Numerics, Program, Rehearsal, Shipped, Traffic};
use std::{fmt, iter};

/// The cost of all seeds of a case on this computer.
///
/// Memory is within 0.3 and 2 times the peak of `parsim run` (`tests/it/bounds.rs`); events and time are forecasts
/// of the order of magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Expected events; those that are certain if it [is open](Self::is_open) how many there are.
    pub events: u64,
    /// Events that there will be in any case: what a run is rejected by.
    pub least_events: u64,
    /// Floating-point operations of a program that really computes.
    pub operations: u64,
    /// The peak memory of the process, in bytes.
    pub memory_bytes: u64,
    /// CPU time in seconds, of one core that is like those of 2020.
    pub cpu_s: f64,
    /// The path of the field that decides on the memory.
    pub heaviest: &'static str,
    /// True if messages decide how long a program of steps goes on: events and time are then the least.
    pub is_open: bool,
}

/// The program, its libraries and a small scenario.
const PROCESS_BYTES: f64 = 10e6;
/// Memory of a rank of a shipped program: its future, its receives under way and its waits.
const RANK_BYTES: f64 = 1000.0;
/// Memory of a rank for its times in a phase.
const ACCOUNT_BYTES: f64 = 48.0;
/// A random stream for each source of traffic, and its events.
const SOURCE_BYTES: f64 = 450.0;
/// A packet that waits in the network, with its journey.
const WAITING_BYTES: f64 = 64.0;
/// The latency of a packet that was measured, and its copy to be sorted.
const SAMPLE_BYTES: f64 = 24.0;
/// The CPU time of an event and of an operation, in seconds.
const EVENT_S: f64 = 30e-9;
/// The events of a packet for each link that it crosses: it leaves one station and comes to another.
const EVENTS_A_HOP: f64 = 2.0;
const OPERATION_S: f64 = 1e-9;
/// The CPU time of starting a rank and of setting up a byte of the machine, in seconds.
const RANK_S: f64 = 2e-6;
const BYTE_S: f64 = 0.7e-9;

impl CheckedScenario {
    /// The cost of a run, for all seeds of the case together. A program of steps is rehearsed for it.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.cost(&self.allocation().topology(), self.rehearsal())
    }
}

impl Scenario {
    /// The first limit that a run on `topology` exceeds before it begins. Neither ranks nor nodes are looked at one by
    /// one.
    pub(super) fn excess(&self, topology: &Topology) -> Option<Fault> {
        self.limits.exceeded_by(&self.cost(topology, None))
    }

    fn cost(&self, topology: &Topology, rehearsal: Option<&Rehearsal>) -> Estimate {
        let machine = Transport::memory(&self.machine, topology, self.ranks);
        let Load { events, least, memory, is_open } = match &self.program {
            Shipped::Traffic(traffic) => self.traffic(traffic, topology),
            _ => self.processes(rehearsal),
        };
        let Numerics { bytes, operations } = self.program.numerics(self.ranks);
        let seeds = f64::from(self.repeat);
        Estimate {
            events: whole(events * seeds),
            least_events: whole(least * seeds),
            operations: whole(operations * seeds),
            memory_bytes: whole(PROCESS_BYTES + machine + memory + bytes),
            cpu_s: seeds
                * (events * EVENT_S
                    + operations * OPERATION_S
                    + f64::from(self.ranks) * RANK_S
                    + (machine + bytes) * BYTE_S),
            heaviest: match () {
                () if bytes > machine + memory => "program",
                () if machine > memory => "machine.network.topology",
                () if self.program.is_traffic() => "program",
                () => "ranks",
            },
            is_open,
        }
    }

    fn processes(&self, rehearsal: Option<&Rehearsal>) -> Load {
        let ranks = f64::from(self.ranks);
        let packet_bytes = self.machine.network.switching.packet_bytes();
        let Forecast { packet_hops, jobs, least_packets, least_jobs, is_open } =
            self.program.forecast(rehearsal, self.ranks, packet_bytes);
        // Messages within a node are no packets.
        let is_spread = self.placement.nodes_needed(self.ranks) == self.ranks;
        let least = least_jobs + if is_spread { least_packets } else { 0.0 };
        // The initialisation, and the phases of the program.
        let phases = f64::from(u32::try_from(1 + self.program.phases().len()).unwrap_or(u32::MAX));
        Load {
            events: if is_open { least } else { EVENTS_A_HOP * packet_hops + jobs },
            least,
            memory: ranks * (RANK_BYTES + ACCOUNT_BYTES * phases + self.program.rank_memory(self.ranks)),
            is_open,
        }
    }

    /// Sources inject at their rate whatever becomes of the packets; what the network does not take waits in it.
    fn traffic(&self, traffic: &Traffic, topology: &Topology) -> Load {
        let network = &self.machine.network;
        let link = network.end_links.as_ref().unwrap_or(&network.links);
        let transmission_s = link.byte_time().time(traffic.packet.count()).seconds();
        let nodes = f64::from(self.ranks);
        let measured = traffic.measured.seconds();
        let per_s = nodes * traffic.offered / transmission_s;
        let packets = per_s * (traffic.warm_up.seconds() + measured);
        let distance = mean_distance(topology);
        let taken = (f64::from(topology.ports()) / distance).min(1.0);
        let waiting = packets * (1.0 - taken / traffic.offered).max(0.0) + nodes * distance;
        // A plain link has an event when a packet has left, another one also when it has come.
        let hop = if network.is_plain() { 1.0 } else { 2.0 };
        Load {
            events: packets * (1.0 + hop * distance),
            // Half of what is expected: the number of packets is random.
            least: packets / 2.0,
            memory: nodes * (RANK_BYTES / 4.0 + SOURCE_BYTES)
                + per_s * measured * SAMPLE_BYTES
                + waiting.min(packets) * WAITING_BYTES,
            is_open: false,
        }
    }
}

/// The share of the program in the estimate: events, those that are certain, and bytes.
struct Load {
    events: f64,
    least: f64,
    memory: f64,
    is_open: bool,
}

/// The number of links between two nodes, roughly.
fn mean_distance(topology: &Topology) -> f64 {
    let third = |sides: &[u32]| sides.iter().map(|side| f64::from(*side) / 3.0).sum::<f64>();
    let distance = match topology {
        Topology::Complete { .. } => 1.0,
        Topology::Line { nodes } => third(&[*nodes]),
        Topology::Ring { nodes } => 0.75 * third(&[*nodes]),
        Topology::Mesh2d { rows, columns } => third(&[*rows, *columns]),
        Topology::Torus2d { rows, columns } => 0.75 * third(&[*rows, *columns]),
        Topology::Mesh3d { layers, rows, columns } => third(&[*layers, *rows, *columns]),
        Topology::Torus3d { layers, rows, columns } => 0.75 * third(&[*layers, *rows, *columns]),
        Topology::Hypercube { dimension } => f64::from(*dimension) / 2.0,
        Topology::BinaryTree { levels } | Topology::FatTree { levels, .. } => 2.0 * f64::from(*levels) - 1.0,
        Topology::CubeConnectedCycles { dimension } => 1.75 * f64::from(*dimension),
        Topology::Graph { nodes, .. } => f64::from(*nodes).log2(),
    };
    distance.max(1.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a forecast; what is larger is saturated")]
fn whole(count: f64) -> u64 {
    count.max(0.0) as u64
}

impl Estimate {
    /// The need of `ranks` ranks on `topology`, the part of `machine` in use, before anything happens: memory, and no
    /// events.
    #[must_use]
    pub fn idle(machine: &Machine, topology: &Topology, ranks: u32) -> Self {
        let (machine, processes) = (Transport::memory(machine, topology, ranks), f64::from(ranks) * RANK_BYTES);
        Self {
            events: 0,
            least_events: 0,
            operations: 0,
            memory_bytes: whole(PROCESS_BYTES + machine + processes),
            cpu_s: f64::from(ranks) * RANK_S + machine * BYTE_S,
            heaviest: if machine > processes { "machine.network.topology" } else { "ranks" },
            is_open: false,
        }
    }

    /// The cost of `factor` times as many cases.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a forecast")]
    pub fn times(self, factor: f64) -> Self {
        let more = |count: u64| whole(count as f64 * factor);
        Self {
            events: more(self.events),
            least_events: more(self.least_events),
            operations: more(self.operations),
            cpu_s: self.cpu_s * factor,
            ..self
        }
    }
}

const NOTHING: Estimate = Estimate {
    events: 0,
    least_events: 0,
    operations: 0,
    memory_bytes: 0,
    cpu_s: 0.0,
    heaviest: "program",
    is_open: false,
};

/// Cases that are played one after the other.
impl iter::Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(cases: I) -> Self {
        cases.fold(NOTHING, |sum, case| Self {
            events: sum.events.saturating_add(case.events),
            least_events: sum.least_events.saturating_add(case.least_events),
            operations: sum.operations.saturating_add(case.operations),
            memory_bytes: sum.memory_bytes.max(case.memory_bytes),
            cpu_s: sum.cpu_s + case.cpu_s,
            heaviest: if case.memory_bytes > sum.memory_bytes { case.heaviest } else { sum.heaviest },
            is_open: sum.is_open || case.is_open,
        })
    }
}

impl fmt::Display for Estimate {
    /// Events, memory and time in words, to a digit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "shown to one digit")]
        let (events, memory) = (self.events as f64, in_words(self.memory_bytes));
        if self.is_open {
            return write!(f, "at least {events:.0e} events, the number depends on messages; {memory}");
        }
        write!(f, "some {events:.0e} events, {memory}, {} of CPU time", time(self.cpu_s))
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.1 => "less than 0.1 s".to_owned(),
        _ if seconds < 10.0 => format!("some {seconds:.1} s"),
        _ if seconds < 300.0 => format!("some {seconds:.0} s"),
        _ if seconds < 18_000.0 => format!("some {:.0} min", seconds / 60.0),
        _ => format!("some {:.0} h", seconds / 3600.0),
    }
}
