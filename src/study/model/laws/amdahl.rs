//! Amdahl's law: the speedup of a problem of fixed size, without communication (slides 15 to 36).

/// ψ ≤ 1 / (f + (1 − f) / p) for the serial fraction f of a sequential execution (slide 23); `processors` may be
/// infinite.
#[must_use]
pub fn speedup(serial_fraction: f64, processors: f64) -> f64 {
    1.0 / (serial_fraction + (1.0 - serial_fraction) / processors)
}

/// ψ(∞) = 1 / f: no number of processors gives more (slide 21).
#[must_use]
pub fn limit(serial_fraction: f64) -> f64 {
    serial_fraction.recip()
}

/// The largest f with which `processors` processors still give this speedup, f = (p / ψ − 1) / (p − 1), slide 48.
/// More than one processor is needed; without a bound of their number it is 1 / ψ.
#[must_use]
pub fn serial_fraction(speedup: f64, processors: f64) -> f64 {
    if processors.is_infinite() {
        return speedup.recip();
    }
    (processors / speedup - 1.0) / (processors - 1.0)
}

/// The f that comes closest to all of `speedups`, given as (p, ψ): least squares of 1 / ψ = f + (1 − f) / p, which is
/// linear in f, so f = Σ (1 / ψ − 1 / p) (1 − 1 / p) / Σ (1 − 1 / p)². `None` without a point of more than one processor.
/// Negative where the speedups are superlinear.
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
