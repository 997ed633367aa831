//! The cost of a run on this computer, known before it, so that one that is too large is rejected.

use crate::machine::{Machine, Transport};
use crate::network::Topology;
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
pub const PROCESS_BYTES: f64 = 10e6;
/// Memory of a rank of a shipped program: its future, its receives under way and its waits.
pub const RANK_BYTES: f64 = 1000.0;
/// The CPU time of starting a rank, in seconds.
pub const RANK_S: f64 = 2e-6;
/// The CPU time of setting up a byte of the machine, in seconds.
pub const BYTE_S: f64 = 0.7e-9;

/// A forecast as a count; 0 for what is negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a forecast; what is larger is saturated")]
#[must_use]
pub fn whole(count: f64) -> u64 {
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

/// Cases that are run in turn.
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

/// Bytes to two digits.
#[must_use]
pub fn in_words(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown to two digits")]
    let bytes = bytes as f64;
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| bytes >= *unit) else { return format!("{bytes} B") };
    let number = bytes / unit;
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}
