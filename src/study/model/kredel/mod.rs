//! Clusters of multi-core nodes: the hierarchical model of Kredel, Kruse and Richling (2015).
//!
//! The cluster has p nodes with q cores each. The cores of a node share its memory (bandwidth `b_m`) and its network
//! interface (bandwidth `b_cl`). A core computes `l_c` operations per second. A problem has `#op` operations, moves
//! `#b` bytes between memory and cores, and exchanges `#x` bytes between nodes. Where the source contradicts itself,
//! [`BandwidthReading`] selects one of its statements. No equation has the number (2).

mod demand;
mod explained;
mod optimum;
#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;

pub use demand::Demand;
pub use explained::InputReplacements;
pub use optimum::{Communication, NodeOptimum, NodeSearch, best_cores, best_nodes};

use parsim_sim::machine::Machine;

/// The scaling function s(z) of a node, which determines how loads and computation share its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Hockney: `s(z) = z / (1 + z)`, loads and computation one after the other.
    Hockney,
    /// Roofline: `s(z) = min(1, z)`, loads hidden behind computation.
    Roofline,
}

impl Scaling {
    /// Returns `s(z)`.
    #[must_use]
    pub fn of(self, z: f64) -> f64 {
        match self {
            Self::Hockney => z / (1.0 + z),
            Self::Roofline => z.min(1.0),
        }
    }
}

/// The reading of the source's contradictory statements on the bandwidth between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandwidthReading {
    /// The consequence of (3) with `b_cl(q, p) = β1(p) b_cl / q`: `q² p / β1(p)` in (4) and (5). The source's (6) to
    /// (9) have this form.
    Corrected,
    /// Equations (4) and (5) as printed, `q² p / β(q, p)`. With β = β1 / q this is `q³ p / β1(p)`, with one q too many.
    /// The source's `q_E³` and the q³ of its `p_E` have this form.
    Printed,
}

impl BandwidthReading {
    /// Returns the exponent k of q in `q^k p / β1(p)`.
    #[must_use]
    pub const fn exponent(self) -> i32 {
        match self {
            Self::Corrected => 2,
            Self::Printed => 3,
        }
    }
}

/// The characteristic hardware parameters of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hardware {
    /// The performance `l_c` of a core.
    pub core_flop_per_s: f64,
    /// The bandwidth `b_m` between the cores of a node and its memory.
    pub memory_bytes_per_s: f64,
    /// The bandwidth `b_cl` between two nodes.
    pub cluster_bytes_per_s: f64,
}

impl Hardware {
    /// Returns `a* = l_c / b_m`, in operations per byte.
    #[must_use]
    pub fn balance(&self) -> f64 {
        self.core_flop_per_s / self.memory_bytes_per_s
    }

    /// Returns `v = b_cl / b_m`.
    #[must_use]
    pub fn bandwidth_ratio(&self) -> f64 {
        self.cluster_bytes_per_s / self.memory_bytes_per_s
    }
}

impl Hardware {
    /// Returns the parameters of `machine`, if its processors are described by rates of operations and the cores of its
    /// nodes share a memory and an interface.
    #[must_use]
    pub fn of(machine: &Machine) -> Option<Self> {
        let node = &machine.nodes;
        Some(Self {
            core_flop_per_s: node.core_flop_per_s()?,
            memory_bytes_per_s: node.shared_memory()?.bandwidth.bytes_per_s(),
            cluster_bytes_per_s: node.shared_interface()?.bandwidth.bytes_per_s(),
        })
    }
}

/// Returns `l_m(q) = q l_c s(x / q)`, the maximal performance of a node in operations per second.
#[must_use]
pub fn node_performance(hardware: &Hardware, x: f64, q: f64, scaling: Scaling) -> f64 {
    q * hardware.core_flop_per_s * scaling.of(x / q)
}

/// Returns `η_m(x, q) = l_m(q) / (q l_m(1))`, the efficiency of a node relative to one of its cores. Unlike that of the
/// cluster, it is not relative to `l_c`: at q = 1 it is 1 for any x.
#[must_use]
pub fn node_efficiency(x: f64, q: f64, scaling: Scaling) -> f64 {
    scaling.of(x / q) / scaling.of(x)
}

/// The dimensionless parameters of a problem on a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The operational intensity `x = (#op / #b) / (l_c / b_m)`.
    pub x: f64,
    /// The ratio `r = #b / #x`; infinite without exchange.
    pub r: f64,
    /// The bandwidth ratio `v = b_cl / b_m`.
    pub v: f64,
    /// `β1(p)`: the bandwidth of all nodes together, divided by that between two nodes.
    pub beta1: f64,
}

impl Parameters {
    /// Returns the efficiency of `q` cores on each of `p` nodes, relative to `l_c`, by equation (5).
    #[must_use]
    pub fn efficiency(&self, (q, p): (f64, f64), scaling: Scaling, reading: BandwidthReading) -> f64 {
        let s = scaling.of(self.x / q);
        let exchange = q.powi(reading.exponent()) * p / self.beta1 * s / (self.v * self.r * self.x);
        s / (1.0 + exchange)
    }

    /// Returns the speed-up `S = q p η` over one core that always computes.
    #[must_use]
    pub fn speedup(&self, (q, p): (f64, f64), scaling: Scaling, reading: BandwidthReading) -> f64 {
        q * p * self.efficiency((q, p), scaling, reading)
    }

    /// Returns the performance of the cluster, in operations per second, by equation (4).
    #[must_use]
    pub fn performance(&self, hardware: &Hardware, at: (f64, f64), scaling: Scaling, reading: BandwidthReading) -> f64 {
        hardware.core_flop_per_s * self.speedup(at, scaling, reading)
    }

    /// Returns the source's simplification of (5) for Hockney's scaling, `β r v x / (β r v x + r v q + q² p)`, whose
    /// middle term lacks its β. Corrected by this β and the exponent of q, it is equal to (5).
    #[must_use]
    pub fn simplified(&self, (q, p): (f64, f64), reading: BandwidthReading) -> f64 {
        let Self { x, r, v, beta1 } = *self;
        let middle = match reading {
            BandwidthReading::Corrected => beta1,
            BandwidthReading::Printed => 1.0,
        };
        1.0 / (1.0 + middle * q / (beta1 * x) + q.powi(2) * p / (beta1 * r * v * x))
    }
}

/// The amount of rounding in a simulation whose times are whole picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundingErrors {
    /// The cores per node.
    pub q: f64,
    /// The number of chunks of all rounds. Each is loaded and computed.
    pub chunks: f64,
    /// The number of rounds. Each has an exchange.
    pub rounds: f64,
    /// The largest rounding error of a load or an exchange, in picoseconds: a half for its duration, and one more if
    /// its end is rounded because cores share the resource.
    pub each_ps: f64,
    /// The number of bytes by which a message is rounded to an integer.
    pub message_bytes: f64,
}

impl RoundingErrors {
    /// Returns an upper bound of the relative deviation of the efficiency of a bulk-synchronous run of `makespan_s`
    /// from (5). In every chunk, q loads and a computation are rounded; in every exchange, q messages, whose lengths
    /// are also rounded to whole bytes.
    #[must_use]
    pub fn bound(&self, hardware: &Hardware, makespan_s: f64) -> f64 {
        let message_ps = 1e12 * self.message_bytes / hardware.cluster_bytes_per_s;
        let chunk_ps = self.q * self.each_ps + 0.5;
        let exchange_ps = self.q * (self.each_ps + message_ps);
        1e-12 * (self.chunks * chunk_ps + self.rounds * exchange_ps) / makespan_s
    }
}
