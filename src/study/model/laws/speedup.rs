//! Speedup, efficiency, and their bounds by the parts of the time.

/// Returns ψ = T / T(p): the time of the base divided by the time on p processors (slides 2, 3, 11).
///
/// The base is T(1) of the same program, or the time of the best sequential program. The result has no meaning unless
/// the base is named.
#[must_use]
pub fn speedup(base_s: f64, parallel_s: f64) -> f64 {
    base_s / parallel_s
}

/// Returns ε = ψ / p (slide 12). It is at most 1 unless the speedup is superlinear. The slide's `0 < ε < 1` excludes
/// the value 1 that its `numerator ≤ denominator` admits.
#[must_use]
pub fn efficiency(speedup: f64, processors: f64) -> f64 {
    speedup / processors
}

/// The parts of the time of a program (slide 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeParts {
    /// σ(n): inherently sequential computation, in seconds.
    pub serial_s: f64,
    /// φ(n): computation that can be divided, in seconds on one processor.
    pub parallel_s: f64,
    /// κ(n, p): communication and whatever else each of p processors does in addition, in seconds.
    pub communication_s: f64,
}

impl TimeParts {
    /// Returns T(n, 1) = σ + φ, in seconds (slide 11).
    #[must_use]
    pub fn sequential_time_s(&self) -> f64 {
        self.serial_s + self.parallel_s
    }

    /// Returns T(n, p) = σ + φ / p + κ, in seconds (slide 11).
    #[must_use]
    pub fn parallel_time_s(&self, processors: f64) -> f64 {
        self.serial_s + self.parallel_s / processors + self.communication_s
    }

    /// Returns the bound ψ ≤ (σ + φ) / (σ + φ / p + κ) (slide 11). It is not reached if the work does not divide
    /// evenly.
    #[must_use]
    pub fn speedup(&self, processors: f64) -> f64 {
        speedup(self.sequential_time_s(), self.parallel_time_s(processors))
    }

    /// Returns the bound ε ≤ (σ + φ) / (p σ + φ + p κ) (slide 13).
    #[must_use]
    pub fn efficiency(&self, processors: f64) -> f64 {
        self.sequential_time_s() / (processors * (self.serial_s + self.communication_s) + self.parallel_s)
    }

    /// Returns f = σ / (σ + φ) (slide 23).
    #[must_use]
    pub fn serial_fraction(&self) -> f64 {
        self.serial_s / self.sequential_time_s()
    }

    /// Returns s = σ / (σ + φ / p) (slide 38).
    #[must_use]
    pub fn serial_share(&self, processors: f64) -> f64 {
        self.serial_s / (self.serial_s + self.parallel_s / processors)
    }

    /// Returns the total parallel overhead `T_0(n, p) = p T(n, p) − T(n, 1) = (p − 1) σ + p κ`, in seconds summed over all
    /// processors (slide 69).
    #[must_use]
    pub fn total_overhead_s(&self, processors: f64) -> f64 {
        (processors - 1.0) * self.serial_s + processors * self.communication_s
    }
}
