//! Estimates of the cost of a run on this computer, made before the run so that one that is too large can be rejected.

use crate::machine::{Machine, Transport};
use crate::network::Topology;
use std::{fmt, iter};

/// The estimated cost of all seeds of a case on this computer.
///
/// The memory is within 0.3 and 2 times the peak of `parsim run` (`tests/it/bounds.rs`). Events and time are forecasts
/// of the order of magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The expected number of events; that of a part of the run if the number [is open](Self::is_open).
    pub events: u64,
    /// A lower bound of the number of events, by which a run is rejected.
    pub least_events: u64,
    /// Floating-point operations of a program that performs real computations.
    pub operations: u64,
    /// The peak memory of the process, in bytes.
    pub memory_bytes: u64,
    /// The CPU time in seconds on one core of the year 2020.
    pub cpu_s: f64,
    /// The path of the field that determines the memory.
    pub heaviest: &'static str,
    /// `true` if the number of events depends on the course of the run: messages determine how long a program of steps
    /// runs, seeds are added until a mean is certain, or background traffic lasts as long as the program. Events and
    /// time are then those of the part that can be forecast.
    pub is_open: bool,
}

/// The memory of the executable, its libraries and a small scenario, in bytes.
pub const PROCESS_BYTES: f64 = 10e6;
/// The memory of a rank of a shipped program, in bytes: its future, its pending receives and its waits.
pub const RANK_BYTES: f64 = 1000.0;
/// The CPU time of starting a rank, in seconds.
pub const RANK_S: f64 = 2e-6;
/// The CPU time of setting up a byte of the machine, in seconds.
pub const BYTE_S: f64 = 0.7e-9;

/// Returns a forecast as a count; negative values become 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a forecast; what is larger is saturated")]
#[must_use]
pub fn as_count(count: f64) -> u64 {
    count.max(0.0) as u64
}

impl Estimate {
    /// Returns the cost of `ranks` ranks on `topology`, the part of `machine` in use, before the first event: memory
    /// and set-up time, without events.
    #[must_use]
    pub fn idle(machine: &Machine, topology: &Topology, ranks: u32) -> Self {
        let (machine, processes) = (Transport::memory(machine, topology, ranks), f64::from(ranks) * RANK_BYTES);
        Self {
            events: 0,
            least_events: 0,
            operations: 0,
            memory_bytes: as_count(PROCESS_BYTES + machine + processes),
            cpu_s: f64::from(ranks) * RANK_S + machine * BYTE_S,
            heaviest: if machine > processes { "machine.network.topology" } else { "ranks" },
            is_open: false,
        }
    }

    /// Returns the cost of `factor` times as many cases.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a forecast")]
    pub fn times(self, factor: f64) -> Self {
        let more = |count: u64| as_count(count as f64 * factor);
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

/// The cost of cases that run one after another: memory is the maximum, everything else the sum.
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
    /// Writes events, memory and time, rounded to one or two digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "shown to one digit")]
        let (events, memory) = (self.events as f64, format_bytes(self.memory_bytes));
        if self.is_open {
            return write!(f, "at least {events:.0e} events (the number depends on the course of the run), {memory}");
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

/// Formats a number of bytes with two significant digits.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown to two digits")]
    let bytes = bytes as f64;
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| bytes >= *unit) else { return format!("{bytes} B") };
    let number = bytes / unit;
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}
