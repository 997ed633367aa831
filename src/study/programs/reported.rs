//! The names of the values that programs report, which are keys of the rows of their cases.

use super::Shipped;
use parsim_sim::program::Program;
use parsim_sim::trace::{EXPOSED_COMMUNICATION, HIDDEN_COMMUNICATION};

/// Values of programs that count their operations, and those that follow from the counts on a machine with a speed.
const COUNTED: &[&str] = &[
    "relative_error",
    "operations",
    "memory_bytes",
    "message_bytes",
    "exchanged_bytes",
    "efficiency",
    "speedup",
    "flop_per_s",
];
/// Further values of programs that the hierarchical model of clusters characterises.
const EXPLAINED: &[&str] = &[
    "predicted_efficiency",
    "predicted_s",
    "prediction_error",
    "published_operations",
    "published_memory_bytes",
    "published_exchanged_bytes",
    "factor_of_operations",
    "factor_of_memory",
    "factor_of_exchange",
    "factor_of_interfaces",
    "factor_of_run",
    "imbalance",
];
/// Values of a characteristic program, without the parameters of the model, which an axis may set.
const CHARACTERISTIC: &[&str] = &["operations", "efficiency", "speedup", "flop_per_s", "rounding_bound"];
/// Values of programs that may hide communication behind computations.
pub const OVERLAP: &[&str] = &[HIDDEN_COMMUNICATION, EXPOSED_COMMUNICATION];
const COMPUTE: &[&str] = &[
    "iteration_ns",
    "cpu_cycles",
    "fpu_cycles",
    "overlapped_cycles",
    "internal_memory_cycles",
    "external_memory_cycles",
    "fetch_cycles",
    "fetch_held_up_cycles",
    "iteration_overlapped_ns",
    "iteration_summed_ns",
];
const TRAFFIC: &[&str] = &[
    "injected_flits_per_node_cycle",
    "accepted_flits_per_node_cycle",
    "latency_mean_s",
    "latency_mean_interval95_s",
    "latency_p50_s",
    "latency_p99_s",
    "latency_max_s",
    "latency_mean_cycles",
    "link_utilization_mean",
    "link_utilization_max",
    "throughput_flits_per_cycle",
    "injected_packets",
    "delivered_packets",
    "undelivered_packets",
    "least_source_accepted_flits_per_cycle",
    "most_source_accepted_flits_per_cycle",
    "slowest_source_latency_mean_s",
    "warm_up_removed_s",
];
const ISING: &[&str] = &[
    "average_parallelism",
    "average_parallelism_flips",
    "critical_path_attempts",
    "critical_path_flips",
    "attempts",
    "flips",
    "executed_attempts",
    "messages_per_flip",
    "rollbacks",
    "undone_events",
    "anti_messages",
    "null_messages",
    "gvt_rounds",
    "energy",
    "magnetisation",
    "spins_unlike_sequential",
    "processes_unlike_sequential",
    "one_active_share",
];

/// The programs that report their operations.
const COUNTING: [&str; 8] =
    ["Characteristic", "DotProduct", "Summa", "Lu", "Fft2d", "Reduction", "Floyd", "FiniteDifference"];

impl Shipped {
    /// Returns the names of the programs that report their operations.
    #[must_use]
    pub const fn counting() -> [&'static str; 8] {
        COUNTING
    }

    /// Returns `true` if rows of the program have a value called `name` because the program reports it.
    #[must_use]
    pub fn reports(&self, name: &str) -> bool {
        self.lists().into_iter().flatten().any(|known| *known == name)
    }

    /// Returns the names of the values that the program reports; `None` if there are more, since an axis may set them.
    #[must_use]
    pub fn reported(&self) -> Option<impl Iterator<Item = &'static str>> {
        let is_complete = !matches!(self, Self::Characteristic(_));
        is_complete.then(|| self.lists().into_iter().flatten().copied())
    }

    fn lists(&self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Ping(_) => [&["message_s"], &[]],
            Self::Collective(_) => [&["collective_s"], &[]],
            Self::GaussJordan(_) => [&["relative_residual"], &[]],
            Self::LinkRate(_) => [&["one_way_bytes_per_s", "two_way_bytes_per_s"], &[]],
            Self::Compute(_) => [COMPUTE, &[]],
            Self::Characteristic(_) => [CHARACTERISTIC, &[]],
            Self::DotProduct(_) | Self::Summa(_) | Self::Lu(_) | Self::Fft2d(_) => [COUNTED, EXPLAINED],
            Self::Reduction(_) | Self::Floyd(_) | Self::FiniteDifference(_) => [COUNTED, &[]],
            Self::Traffic(_) => [TRAFFIC, &[]],
            Self::Ising(_) => [ISING, &[]],
            Self::Phases(_) | Self::TimeIndependent(_) | Self::MpiTrace(_) => {
                [if self.hides_communication() { OVERLAP } else { &[] }, &[]]
            }
            Self::RingShift(_) | Self::Goal(_) | Self::Chakra(_) => [&[], &[]],
        }
    }
}
