//! Sensitivity of a result to a parameter.

/// One run: the value of the parameter, and the time of the run in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// The value of the parameter, in any unit.
    pub value: f64,
    /// The time of the run, in seconds.
    pub time_s: f64,
}

/// The elasticity of a time T with respect to a parameter x, (x / T) dT/dx, from below and from above: the change of
/// the time in percent per percent of the parameter. The two sides differ if another path becomes the longest at x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elasticity {
    /// The elasticity below the base value.
    pub left: f64,
    /// The elasticity above the base value.
    pub right: f64,
}

/// The largest difference at which the two sides count as equal.
const SAME: f64 = 1e-6;

impl Elasticity {
    /// Returns the elasticity by the slopes from `base` to a probe on either side. It is exact if T is linear in x on
    /// each side.
    ///
    /// Returns `None` if the base value or its time is not positive, or if a probe coincides with the base.
    #[must_use]
    pub fn linear(below: Probe, base: Probe, above: Probe) -> Option<Self> {
        Some(Self { left: slope(base, below)?, right: slope(base, above)? })
    }

    /// Returns the elasticity by the slopes in 1 / x. It is exact if T is linear in 1 / x, as it is if x is a rate.
    ///
    /// Returns `None` in the cases of [`linear`](Self::linear).
    #[must_use]
    pub fn inverse(below: Probe, base: Probe, above: Probe) -> Option<Self> {
        let inverse = |probe: Probe| Probe { value: probe.value.recip(), ..probe };
        let by_time = Self::linear(inverse(above), inverse(base), inverse(below))?;
        Some(Self { left: -by_time.right, right: -by_time.left })
    }

    /// Returns the common elasticity if both sides agree to 1e-6.
    #[must_use]
    pub fn of_both_sides(self) -> Option<f64> {
        ((self.left - self.right).abs() <= SAME).then_some(f64::midpoint(self.left, self.right))
    }

    /// Returns the larger magnitude of the two sides.
    #[must_use]
    pub const fn size(self) -> f64 {
        self.left.abs().max(self.right.abs())
    }
}

fn slope(base: Probe, probe: Probe) -> Option<f64> {
    let change = (probe.time_s - base.time_s) / base.time_s;
    let slope = change / ((probe.value - base.value) / base.value);
    (base.value > 0.0 && base.time_s > 0.0 && slope.is_finite()).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(time_s: impl Fn(f64) -> f64) -> [Probe; 3] {
        [9.0, 10.0, 11.0].map(|value| Probe { value, time_s: time_s(value) })
    }

    fn near(found: Option<Elasticity>, left: f64, right: f64) {
        let found = found.unwrap();
        assert!((found.left - left).abs() < 1e-12 && (found.right - right).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn lines_have_one_elasticity() {
        let [below, base, above] = probes(|value| 30.0 + value);
        near(Elasticity::linear(below, base, above), 0.25, 0.25);
        let [below, base, above] = probes(|value| 30.0 + 100.0 / value);
        near(Elasticity::inverse(below, base, above), -0.25, -0.25);
        assert!(Elasticity::inverse(below, base, above).unwrap().of_both_sides().is_some());
    }

    #[test]
    fn a_kink_has_two() {
        let [below, base, above] = probes(|value| 20.0_f64.max(2.0 * value));
        near(Elasticity::linear(below, base, above), 0.0, 1.0);
        assert_eq!(Elasticity::linear(below, base, above).unwrap().of_both_sides(), None);
    }

    #[test]
    fn nothing_has_no_elasticity() {
        let [below, base, above] = probes(|_| 0.0);
        assert_eq!(Elasticity::linear(below, base, above), None);
        assert_eq!(Elasticity::linear(base, base, base), None);
    }
}
