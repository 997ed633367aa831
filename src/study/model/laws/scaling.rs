//! Fixed and scaled work on increasing numbers of processors (slides 50 to 54).

use super::knee::CommunicationLaw;

/// Serial work that is constant, and parallel work that is constant or grows with the number of processors.
///
/// The slides print no values of σ and φ. Their axes fit σ = 1, φ = 20 (a limit of 21 on slide 50, φ · 4096 = 81,920 on
/// slide 51). Slide 50 has p = 256 on the plateau: 19.5 of 21.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledWork {
    /// σ, in seconds. The titles of slides 50 to 53 state σ(1) = σ(p), although slide 42 lets it grow.
    pub serial_s: f64,
    /// φ(1), in seconds on one processor.
    pub parallel_s: f64,
    /// κ(p): `None` on slides 50 to 53, `Logarithmic` on slide 54.
    pub communication: CommunicationLaw,
}

impl ScaledWork {
    /// Returns the speedup of work that grows with the number of processors, φ(p) = p φ(1): (σ + p φ) / (σ + φ + κ(p))
    /// (slides 51 to 54).
    #[must_use]
    pub fn scaled_speedup(&self, processors: f64) -> f64 {
        self.communication.parts(self.serial_s, self.parallel_s * processors, processors).speedup(processors)
    }
}
