//! Amdahl's law: the speedup of a problem of fixed size, without communication (slides 15 to 36).

/// Returns the bound ψ ≤ 1 / (f + (1 − f) / p) for the serial fraction f of a sequential execution (slide 23).
/// `processors` may be infinite.
#[must_use]
pub fn speedup(serial_fraction: f64, processors: f64) -> f64 {
    1.0 / (serial_fraction + (1.0 - serial_fraction) / processors)
}

/// Returns ψ(∞) = 1 / f, the speedup that no number of processors exceeds (slide 21).
#[must_use]
pub fn limit(serial_fraction: f64) -> f64 {
    serial_fraction.recip()
}

/// Returns the largest f for which `processors` processors reach this speedup, f = (p / ψ − 1) / (p − 1), slide 48.
/// `processors` must exceed 1; for an infinite number, the result is 1 / ψ.
#[must_use]
pub fn serial_fraction(speedup: f64, processors: f64) -> f64 {
    if processors.is_infinite() {
        return speedup.recip();
    }
    (processors / speedup - 1.0) / (processors - 1.0)
}

/// Fits f to `speedups`, given as (p, ψ), by least squares of 1 / ψ = f + (1 − f) / p. The model is linear in f, so f =
/// Σ (1 / ψ − 1 / p) (1 − 1 / p) / Σ (1 − 1 / p)². Returns `None` without a point of more than one processor. The
/// result is negative if the speedups are superlinear.
#[must_use]
pub fn fitted_fraction(speedups: &[(f64, f64)]) -> Option<f64> {
    let (mut above, mut below) = (0.0, 0.0);
    for (processors, speedup) in speedups {
        let divided = 1.0 - processors.recip();
        above += (speedup.recip() - processors.recip()) * divided;
        below += divided * divided;
    }
    (below > 0.0).then(|| above / below)
}
