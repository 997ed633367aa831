//! The law of Gustafson and Barsis: the speedup of a problem that grows until the available time is used (slides 37 to
//! 49).

/// Returns the bound ψ ≤ p + (1 − p) s for the serial share s of the *parallel* execution (slide 40).
#[must_use]
pub fn scaled_speedup(serial_share: f64, processors: f64) -> f64 {
    processors + (1.0 - processors) * serial_share
}

/// Returns the largest s for which `processors` processors reach this scaled speedup, s = (p − ψ) / (p − 1), slide 47.
/// `processors` must exceed 1.
#[must_use]
pub fn serial_share(scaled_speedup: f64, processors: f64) -> f64 {
    (processors - scaled_speedup) / (processors - 1.0)
}

/// Fits s to `speedups`, given as (p, ψ), by least squares of ψ = p + (1 − p) s: s = Σ (p − ψ) (p − 1) / Σ (p − 1)².
/// Returns `None` without a point of more than one processor.
#[must_use]
pub fn fitted_share(speedups: &[(f64, f64)]) -> Option<f64> {
    let above: f64 = speedups.iter().map(|(processors, speedup)| (processors - speedup) * (processors - 1.0)).sum();
    let below: f64 = speedups.iter().map(|(processors, _)| (processors - 1.0).powi(2)).sum();
    (below > 0.0).then(|| above / below)
}

/// Returns the serial fraction f of a program whose execution on `processors` processors has the serial share s: f = s
/// / (s + (1 − s) p).
#[must_use]
pub fn fraction_of_share(serial_share: f64, processors: f64) -> f64 {
    serial_share / (serial_share + (1.0 - serial_share) * processors)
}
