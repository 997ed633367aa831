//! Isoefficiency: the growth of the problem with the number of processors that keeps the efficiency constant, and the
//! limit that memory sets to it (slides 67 to 78).

/// Returns C = ε / (1 − ε), the constant of the isoefficiency relation T(n, 1) ≥ C `T_0(n, p)` (slide 69).
#[must_use]
pub fn constant(efficiency: f64) -> f64 {
    efficiency / (1.0 - efficiency)
}

/// Returns ε = 1 / (1 + `T_0` / T(n, 1)), the efficiency that follows from the total parallel overhead; both times are in
/// seconds (slide 69).
#[must_use]
pub fn efficiency(total_overhead_s: f64, sequential_s: f64) -> f64 {
    (1.0 + total_overhead_s / sequential_s).recip()
}

/// The algorithms whose isoefficiency relation has a closed form. Their C contains the ratio of the machine's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Adding n numbers: T = Θ(n), `T_0` = Θ(p log p), so n ≥ C p log₂ p (slides 73, 74).
    Reduction,
    /// All shortest paths between n vertices: T = Θ(n³), `T_0` = Θ(p n² log p), so n ≥ C p log₂ p (slides 75, 76).
    Floyd,
    /// An iteration on n × n points: T = Θ(n²), `T_0` = Θ(n √p), so n ≥ C √p (slides 77, 78).
    FiniteDifference,
    /// A dense system by Gauss-Jordan in blocks of rows, each broadcast along a tree: T = Θ(n³), `T_0` = Θ(p n² log p),
    /// so n ≥ C p log₂ p, as for Floyd (derived here, on no slide).
    GaussJordan,
}

impl Algorithm {
    /// Returns the n that keeps the efficiency on p processors.
    #[must_use]
    pub fn problem_size(self, constant: f64, processors: f64) -> f64 {
        match self {
            Self::Reduction | Self::Floyd | Self::GaussJordan => constant * processors * processors.log2(),
            Self::FiniteDifference => constant * processors.sqrt(),
        }
    }

    /// Returns M(n), the quantity of numbers to be stored, up to a factor: n, n², n² (slides 74, 76, 78).
    #[must_use]
    pub fn memory(self, problem_size: f64) -> f64 {
        match self {
            Self::Reduction => problem_size,
            Self::Floyd | Self::FiniteDifference | Self::GaussJordan => problem_size.powi(2),
        }
    }

    /// Returns the scalability function M(n(p)) / p, the quantity of numbers in the memory of each processor at the
    /// same efficiency (slide 70): C log₂ p, C² p log₂² p, C². Slide 72 draws no curve for Floyd's, and prints C for
    /// C².
    #[must_use]
    pub fn scalability(self, constant: f64, processors: f64) -> f64 {
        match self {
            Self::Reduction => constant * processors.log2(),
            Self::Floyd | Self::GaussJordan => (constant * processors.log2()).powi(2) * processors,
            Self::FiniteDifference => constant.powi(2),
        }
    }

    /// Returns the largest p, at most `limit`, at which each processor can store its numbers in room for `memory` of
    /// them and the efficiency is kept; `None` if this is at most 1. The scalability function must not decrease with p.
    #[must_use]
    pub fn largest_processors(self, constant: f64, memory: f64, limit: u64) -> Option<u64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 processors")]
        let fits = |processors: u64| self.scalability(constant, processors as f64) <= memory;
        let (mut held, mut lost) = (1, limit.saturating_add(1));
        while lost - held > 1 {
            let middle = held + (lost - held) / 2;
            if fits(middle) {
                held = middle;
            } else {
                lost = middle;
            }
        }
        (held > 1).then_some(held)
    }
}
