//! Local costs of a library of collective operations: what it does on a node beside its messages.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Costs of a library of collective operations that no message has. They keep the processor of their rank; a cost that is not
/// given is nothing.
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
    /// Time of a byte that a thread adds, or copies.
    pub thread_per_byte: PerByte,
    /// Least time of a byte that all threads of a node add, or copy, together; that of one thread unless given.
    pub memory_per_byte: Option<PerByte>,
    /// Time of having all threads share an addition.
    pub fork: SimDuration,
    /// The largest addition that one thread does; all of them unless given.
    pub fork_above: Option<Bytes>,
    /// The largest message that is sent before its receiver has said, by a message of no bytes, that it is ready: in
    /// all-reduces by doubling, reduces up trees, and rings of a torus. Nobody says so unless given.
    pub ready_above: Option<Bytes>,
}

/// The local costs of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    costs: LocalCosts,
    ports: u32,
    threads: u32,
}

impl Local {
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

    /// The time of adding `bytes` bytes to others.
    #[must_use]
    pub fn adding(&self, bytes: u64) -> SimDuration {
        let costs = &self.costs;
        match costs.fork_above {
            Some(above) if self.threads == 1 && bytes > above.count() => costs.fork + self.together().time(bytes),
            _ => costs.thread_per_byte.time(bytes),
        }
    }

    /// The time of copying `bytes` bytes, of which each port copies its part.
    #[must_use]
    pub fn copying(&self, bytes: u64) -> SimDuration {
        let part = self.costs.thread_per_byte.time(bytes / u64::from(self.threads.max(1)));
        if self.threads > 1 { part.max(self.together().time(bytes)) } else { part }
    }

    /// Returns whether the receiver of a message says before that it is ready.
    #[must_use]
    pub fn asks(&self, bytes: u64) -> bool {
        self.costs.ready_above.is_some_and(|above| bytes > above.count())
    }

    fn together(&self) -> PerByte {
        self.costs.memory_per_byte.unwrap_or(self.costs.thread_per_byte)
    }
}
