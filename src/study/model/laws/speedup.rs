//! Speedup, efficiency, and their bound by the parts of the time.

/// ψ = T / T(p): the time of the base over the time on p processors (slides 2, 3, 11).
///
/// The base is T(1) of the same program, or the time of the best sequential one; the result says nothing without its
/// name.
#[must_use]
pub fn speedup(base_s: f64, parallel_s: f64) -> f64 {
    base_s / parallel_s
}

/// ε = ψ / p (slide 12). At most 1 unless the speedup is superlinear; the slide's `0 < ε < 1` excludes the 1 that its
/// own `numerator ≤ denominator` admits.
#[must_use]
pub fn efficiency(speedup: f64, processors: f64) -> f64 {
    speedup / processors
}

/// The parts of the time of a program (slide 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeParts {
    /// σ(n): inherently sequential computation, in seconds.
    pub serial_s: f64,
    /// φ(n): computation that can be divided, in seconds of one processor.
    pub parallel_s: f64,
    /// κ(n, p): communication and other overhead on p processors, in seconds.
    pub overhead_s: f64,
}

impl TimeParts {
    /// T(n, 1) = σ + φ, in seconds (slide 11).
    #[must_use]
    pub fn sequential_time_s(&self) -> f64 {
        self.serial_s + self.parallel_s
    }

    /// T(n, p) = σ + φ / p + κ, in seconds (slide 11).
    #[must_use]
    pub fn parallel_time_s(&self, processors: f64) -> f64 {
        self.serial_s + self.parallel_s / processors + self.overhead_s
    }

    /// The bound ψ ≤ (σ + φ) / (σ + φ / p + κ) (slide 11); it is not reached where the work does not divide evenly.
    #[must_use]
    pub fn speedup(&self, processors: f64) -> f64 {
        speedup(self.sequential_time_s(), self.parallel_time_s(processors))
    }

    /// The bound ε ≤ (σ + φ) / (p σ + φ + p κ) (slide 13).
    #[must_use]
    pub fn efficiency(&self, processors: f64) -> f64 {
        self.sequential_time_s() / (processors * (self.serial_s + self.overhead_s) + self.parallel_s)
    }

    /// f = σ / (σ + φ) (slide 23).
    #[must_use]
    pub fn serial_fraction(&self) -> f64 {
        self.serial_s / self.sequential_time_s()
    }

    /// s = σ / (σ + φ / p) (slide 38).
    #[must_use]
    pub fn serial_share(&self, processors: f64) -> f64 {
        self.serial_s / (self.serial_s + self.parallel_s / processors)
    }

    /// `T_0(n, p) = (p − 1) σ + p κ`, in seconds of all processors together (slide 69).
    #[must_use]
    pub fn total_overhead_s(&self, processors: f64) -> f64 {
        (processors - 1.0) * self.serial_s + processors * self.overhead_s
    }
}
