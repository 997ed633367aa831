//! Fixed and scaled work on more and more processors (slides 50 to 54).

use super::knee::OverheadLaw;

/// Serial work that stays, and parallel work that stays or grows with the processors.
///
/// The slides print no σ and φ; their axes fit σ = 1, φ = 20 (a limit of 21 on slide 50, φ · 4096 = 81,920 on slide
/// 51). Slide 50 has p = 256 on the plateau: 19.5 of 21.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledWork {
    /// σ, in seconds; the titles of slides 50 to 53 have σ(1) = σ(p), though slide 42 lets it grow.
    pub serial_s: f64,
    /// φ(1), in seconds of one processor.
    pub parallel_s: f64,
    /// κ(p); `None` on slides 50 to 53, `Logarithmic` on slide 54.
    pub overhead: OverheadLaw,
}

impl ScaledWork {
    /// The speedup of work that grows with the processors, φ(p) = p φ(1): (σ + p φ) / (σ + φ + κ(p))
    /// (slides 51 to 54).
    #[must_use]
    pub fn scaled_speedup(&self, processors: f64) -> f64 {
        self.overhead.parts(self.serial_s, self.parallel_s * processors, processors).speedup(processors)
    }
}
