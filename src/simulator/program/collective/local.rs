//! Local costs of a library of collective operations: the work on a node in addition to its messages.

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Costs of a library of collective operations in addition to its messages. They occupy the processor of the rank.
/// Times that are not given are zero, except the time of a byte: without `thread_per_byte`, additions and copies take
/// the same time as without local costs.
///
/// One thread adds or copies at `thread_per_byte`. The threads of several ports copy concurrently, at no less than
/// `memory_per_byte` together, and add one after the other. One thread copies the message of a broadcast to its
/// destination, and that of an all-reduce along rings before its first step. If only one port works at a time, all
/// threads of the node share an addition of more than `fork_above` bytes, which takes `fork` plus `memory_per_byte` for
/// each byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LocalCosts {
    /// Time of each call.
    pub call: SimDuration,
    /// Time of starting the threads of a call with several ports, which work concurrently. Operations along the rings
    /// of a torus start them for each dimension and direction. The ports of the reduce along trees of a torus take
    /// turns in one thread, and start none.
    pub threads: SimDuration,
    /// Time of each port of a call.
    pub port: SimDuration,
    /// Time of looking up a tree, one port after the other. All-reduces, the reduce along trees of a torus, and
    /// operations along the rings of a torus look up none. The all-gather by dimensions looks up two for each port, and
    /// all other operations look up one for each.
    pub tree: SimDuration,
    /// Time of each step of each port in algorithms that prepare their steps in every call: the all-reduce by halving
    /// and doubling on a torus.
    pub step: SimDuration,
    /// Time of a byte that one thread adds or copies; determined by the machine unless given.
    pub thread_per_byte: Option<PerByte>,
    /// Least time of a byte that all threads of a node add or copy together; the time of one thread unless given. Needs
    /// `thread_per_byte`.
    pub memory_per_byte: Option<PerByte>,
    /// Time of each addition beside that of its bytes: the call, its lock and the choice of a method. Needs
    /// `thread_per_byte`.
    pub addition: SimDuration,
    /// Time of distributing an addition among all threads.
    pub fork: SimDuration,
    /// The largest addition that is done by one thread; no limit unless given. Needs `thread_per_byte`.
    pub fork_above: Option<Bytes>,
    /// The largest message that is sent before its receiver has declared itself ready by an empty message. Applies to
    /// all-reduces by doubling, reduces up trees, and rings of a torus. No limit unless given.
    pub ready_above: Option<Bytes>,
}

impl LocalCosts {
    /// Returns the name of the first cost that has no effect because the machine determines the time of additions and
    /// copies.
    #[must_use]
    pub fn without_effect(&self) -> Option<&'static str> {
        let shared = [
            ("memory_per_byte", self.memory_per_byte.is_some()),
            ("addition", self.addition > SimDuration::ZERO),
            ("fork", self.fork > SimDuration::ZERO),
            ("fork_above", self.fork_above.is_some()),
        ];
        shared.into_iter().find(|(_, is_given)| *is_given && self.thread_per_byte.is_none()).map(|(name, _)| name)
    }
}

/// The local costs of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCosts {
    pub(super) costs: LocalCosts,
    pub(super) ports: u32,
    /// The number of ports that work concurrently.
    pub(super) threads: u32,
    /// The number of trees that the ports look up.
    pub(super) trees: u32,
}

impl CallCosts {
    /// Returns the time of a call in addition to its operations.
    #[must_use]
    pub fn call(&self) -> SimDuration {
        let ports = self.costs.port * u64::from(self.ports) + self.costs.tree * u64::from(self.trees);
        self.costs.call + self.starting() + ports
    }

    /// Returns the time of preparing `steps` steps of each port.
    #[must_use]
    pub fn steps(&self, steps: u32) -> SimDuration {
        self.costs.step * (u64::from(self.ports) * u64::from(steps))
    }

    /// Returns the time of adding `bytes` bytes to others, or `None` if the machine determines it.
    #[must_use]
    pub fn adding(&self, bytes: u64) -> Option<SimDuration> {
        let (costs, thread) = (&self.costs, self.costs.thread_per_byte?);
        let of_bytes = match costs.fork_above {
            Some(above) if self.threads == 1 && bytes > above.count() => costs.fork + self.together(thread).time(bytes),
            _ => thread.time(bytes),
        };
        Some(costs.addition + of_bytes)
    }

    /// Returns the time of starting the threads of several ports.
    #[must_use]
    pub fn starting(&self) -> SimDuration {
        if self.threads > 1 { self.costs.threads } else { SimDuration::ZERO }
    }

    /// Returns the time in which one thread copies `bytes` bytes, or `None` if the machine determines it.
    #[must_use]
    pub fn copying_alone(&self, bytes: u64) -> Option<SimDuration> {
        Some(self.costs.thread_per_byte?.time(bytes))
    }

    /// Returns the time of copying `bytes` bytes, of which each port copies its part, or `None` if the machine
    /// determines it.
    #[must_use]
    pub fn copying(&self, bytes: u64) -> Option<SimDuration> {
        let thread = self.costs.thread_per_byte?;
        let part = thread.time(bytes / u64::from(self.threads.max(1)));
        Some(if self.threads > 1 { part.max(self.together(thread).time(bytes)) } else { part })
    }

    /// Returns whether a message of `bytes` bytes is sent only after its receiver has declared itself ready.
    #[must_use]
    pub fn awaits_ready(&self, bytes: u64) -> bool {
        self.costs.ready_above.is_some_and(|above| bytes > above.count())
    }

    fn together(&self, thread: PerByte) -> PerByte {
        self.costs.memory_per_byte.unwrap_or(thread)
    }
}
