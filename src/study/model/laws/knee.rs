//! The knee: the number of processors beyond which the communication exceeds the gain of further processors.

use super::speedup::TimeParts;

/// The growth of the communication κ of a problem with the number of processors (slides 30 to 32).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CommunicationLaw {
    /// κ = 0 (slide 30): there is no knee.
    None,
    /// κ = c, in seconds, for any number of processors: there is no knee.
    Constant(f64),
    /// κ = c log₂ p (slide 31), c in seconds.
    Logarithmic(f64),
    /// κ = c p (slide 32), c in seconds.
    Linear(f64),
}

impl CommunicationLaw {
    /// Returns κ(p), in seconds.
    #[must_use]
    pub fn communication_s(self, processors: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Constant(second) => second,
            Self::Logarithmic(second) => second * processors.log2(),
            Self::Linear(second) => second * processors,
        }
    }

    /// Returns the parts of the time on p processors of a program with σ and φ.
    #[must_use]
    pub fn parts(self, serial_s: f64, parallel_s: f64, processors: f64) -> TimeParts {
        TimeParts { serial_s, parallel_s, communication_s: self.communication_s(processors) }
    }

    /// Returns the real p that minimises φ / p + κ(p), where the derivative −φ / p² + κ′(p) is zero. It is φ ln 2 / c
    /// for κ = c log₂ p and √(φ / c) for κ = c p, and infinite if the communication does not grow.
    #[must_use]
    pub fn least_time(self, parallel_s: f64) -> f64 {
        match self {
            Self::None | Self::Constant(_) => f64::INFINITY,
            Self::Logarithmic(second) => parallel_s * std::f64::consts::LN_2 / second,
            Self::Linear(second) => (parallel_s / second).sqrt(),
        }
    }
}

/// Returns the integer p ≥ 1 of maximal speedup (slides 10, 31, 32), the smaller of two equal ones; `None` if the
/// communication does not grow.
///
/// σ shifts the whole curve, not its knee. If φ grows faster with n than κ, the knee moves to the right, which is the
/// Amdahl effect (slides 33 to 35). With φ = φ₁ nᵃ it moves as nᵃ for κ ∝ log p, and as n^(a/2) for κ ∝ p.
#[must_use]
pub fn knee(serial_s: f64, parallel_s: f64, growth: CommunicationLaw) -> Option<f64> {
    let real = growth.least_time(parallel_s);
    let time = |processors: f64| growth.parts(serial_s, parallel_s, processors).parallel_time_s(processors);
    let (below, above) = (real.floor().max(1.0), real.ceil().max(1.0));
    real.is_finite().then(|| if time(above) < time(below) { above } else { below })
}
