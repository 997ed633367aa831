//! The Karp-Flatt metric: the serial fraction determined by experiment (slides 55 to 66).
//!
//! The slides define e = (σ + κ) / T(n, 1) and then measure e = (1 / ψ − 1 / p) / (1 − 1 / p). The two are not equal:
//! the derivation replaces φ / p by T(n, 1) (1 − e) / p, and φ = T(n, 1) (1 − e) is true only for κ = 0 (slide 57
//! itself calls it "a good approximation"). The metric exceeds the definition by exactly κ / ((p − 1) T(n, 1)).

use super::speedup::TimeParts;

/// Returns the metric e = (1 / ψ − 1 / p) / (1 − 1 / p) (slide 61). `processors` must exceed 1. The result is negative
/// if the speedup is superlinear.
#[must_use]
pub fn metric(speedup: f64, processors: f64) -> f64 {
    (speedup.recip() - processors.recip()) / (1.0 - processors.recip())
}

/// Returns e = (σ + κ) / T(n, 1), the definition (slide 55).
#[must_use]
pub fn definition(parts: &TimeParts) -> f64 {
    (parts.serial_s + parts.communication_s) / parts.sequential_time_s()
}

/// Returns the speedup for which the metric is e: ψ = 1 / (e + (1 − e) / p), Amdahl's law with e for f (slide 61).
#[must_use]
pub fn speedup(serial_fraction: f64, processors: f64) -> f64 {
    super::amdahl::speedup(serial_fraction, processors)
}

/// Returns the part of the metric that a component of the time causes, `(p c(p) − c(1)) / ((p − 1) T(1))`, from the
/// component's times on p processors and on one, in seconds.
///
/// The metric is (p T(p) − T(1)) / ((p − 1) T(1)), which is linear in the times. For components that sum to the time,
/// these parts therefore sum to the metric. The part of a component that divides evenly is zero.
#[must_use]
pub fn component(processors: f64, parallel_s: f64, single_s: f64, base_s: f64) -> f64 {
    (processors * parallel_s - single_s) / ((processors - 1.0) * base_s)
}
