//! Local costs of a library of collective operations: what it does on a node beside its messages.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Costs of a library of collective operations that no message has. They keep the processor of their rank; a cost that is not
/// given is nothing, but that of a byte: without `thread_per_byte` additions and copies take what they take without local costs.
///
/// One thread adds or copies at `thread_per_byte`. The threads of several ports copy at once, at no less than
/// `memory_per_byte` together, and add one after the other; where one port works at a time, all threads of the node share an
/// addition of more than `fork_above` bytes, which takes `fork` and `memory_per_byte` for each byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LocalCosts {
    /// Time of each call.
    pub call: SimDuration,
    /// Time of starting the threads of a call with several ports.
    pub threads: SimDuration,
    /// Time of each port of a call.
    pub port: SimDuration,
    /// Time of each step of each port in algorithms that prepare them in every call: those by halving and doubling of an
    /// all-reduce on a torus.
    pub step: SimDuration,
    /// Time of a byte that a thread adds, or copies; up to the machine unless given.
    pub thread_per_byte: Option<PerByte>,
    /// Least time of a byte that all threads of a node add, or copy, together; that of one thread unless given. Needs `thread_per_byte`.
    pub memory_per_byte: Option<PerByte>,
    /// Time of having all threads share an addition.
    pub fork: SimDuration,
    /// The largest addition that one thread does; all of them unless given. Needs `thread_per_byte`.
    pub fork_above: Option<Bytes>,
    /// The largest message that is sent before its receiver has said, by a message of no bytes, that it is ready: in
    /// all-reduces by doubling, reduces up trees, and rings of a torus. Nobody says so unless given.
    pub ready_above: Option<Bytes>,
}

impl LocalCosts {
    /// The first cost that is given in vain: additions and copies are up to the machine.
    #[must_use]
    pub fn without_effect(&self) -> Option<&'static str> {
        let shared = [
            ("memory_per_byte", self.memory_per_byte.is_some()),
            ("fork", self.fork > SimDuration::ZERO),
            ("fork_above", self.fork_above.is_some()),
        ];
        shared.into_iter().find(|(_, is_given)| *is_given && self.thread_per_byte.is_none()).map(|(name, _)| name)
    }
}

/// The local costs of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCosts {
    costs: LocalCosts,
    ports: u32,
    threads: u32,
}

impl CallCosts {
    /// Those of a call with so many ports, which so many threads work for at once.
    #[must_use]
    pub const fn new(costs: LocalCosts, ports: u32, threads: u32) -> Self {
        Self { costs, ports, threads }
    }

    /// The time that a call takes beside all that it does.
    #[must_use]
    pub fn call(&self) -> SimDuration {
        let threads = if self.threads > 1 { self.costs.threads } else { SimDuration::ZERO };
        self.costs.call + threads + self.costs.port * u64::from(self.ports)
    }

    /// The time of preparing so many steps of each port.
    #[must_use]
    pub fn steps(&self, steps: u32) -> SimDuration {
        self.costs.step * (u64::from(self.ports) * u64::from(steps))
    }

    /// The time of adding `bytes` bytes to others, if it is not up to the machine.
    #[must_use]
    pub fn adding(&self, bytes: u64) -> Option<SimDuration> {
        let (costs, thread) = (&self.costs, self.costs.thread_per_byte?);
        Some(match costs.fork_above {
            Some(above) if self.threads == 1 && bytes > above.count() => costs.fork + self.together(thread).time(bytes),
            _ => thread.time(bytes),
        })
    }

    /// The time of copying `bytes` bytes, of which each port copies its part, if it is not up to the machine.
    #[must_use]
    pub fn copying(&self, bytes: u64) -> Option<SimDuration> {
        let thread = self.costs.thread_per_byte?;
        let part = thread.time(bytes / u64::from(self.threads.max(1)));
        Some(if self.threads > 1 { part.max(self.together(thread).time(bytes)) } else { part })
    }

    /// Returns whether the receiver of a message says before that it is ready.
    #[must_use]
    pub fn asks(&self, bytes: u64) -> bool {
        self.costs.ready_above.is_some_and(|above| bytes > above.count())
    }

    fn together(&self, thread: PerByte) -> PerByte {
        self.costs.memory_per_byte.unwrap_or(thread)
    }
}
