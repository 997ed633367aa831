//! The reach of a derivative: the changes within which it is valid, and the change of a constant that makes the
//! makespan grow by a given fraction.

use crate::analysis::Elasticity;
use crate::experiment::gradient::{PricedPath, Variation, is_same};
use crate::scenario::{Dimension, Parameter};

/// The growths of the makespan for which tolerances are computed.
pub const GROWTHS: [f64; 3] = [0.01, 0.02, 0.05];
/// The relative accuracy of a growth of the makespan.
const GROWTH_TOLERANCE: f64 = 1e-4;
/// The maximum slowdown of times, as a factor minus one.
const MAX: f64 = 10.0;
/// The relative width below which an interval counts as a point, where the makespan jumps.
const NARROW: f64 = 1e-6;
/// The maximum relative decrease of a constant at which the reach is tested.
const MAX_DOWN: f64 = 0.5;

/// The reach of the derivative with respect to a constant, and the tolerances of the constant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinearRange {
    /// The relative decrease at which a run agrees with the path to the picosecond; `None` if it does not.
    pub down: Option<f64>,
    /// The relative increase at which a run agrees with the path to the picosecond; `None` if it does not.
    pub up: Option<f64>,
    /// The relative changes of the constant, negative for a rate, at which the makespan has grown by 1, 2 and 5 %;
    /// `None` if eleven times its time is not enough.
    pub tolerances: [Option<f64>; 3],
}

/// A constant whose times are lengthened by a fraction.
struct Slowdown<'v> {
    base: &'v Variation,
    parameter: &'v Parameter,
    /// The derivative of the makespan with respect to the fraction, in seconds.
    slope_s: f64,
}

/// Returns the reach of the derivative with respect to a constant with this elasticity.
pub fn reach(
    base: &Variation,
    parameter: &Parameter,
    elasticity: Elasticity,
    path: Option<&PricedPath>,
) -> LinearRange {
    let slower = if parameter.dimension == Dimension::Rate { -elasticity.left } else { elasticity.right };
    let slowing = Slowdown { base, parameter, slope_s: slower * base.makespan_s() };
    if parameter.dimension == Dimension::None {
        return LinearRange::default();
    }
    if slower * MAX < GROWTHS[0] {
        // By the derivative, the growth is not reached, but another path may become longer.
        let found = slowing.makespan_s(MAX).map(|found_s| (MAX, found_s));
        return found.map_or_else(LinearRange::default, |_| LinearRange {
            tolerances: slowing.tolerances(found),
            ..LinearRange::default()
        });
    }
    let share = (GROWTHS[0] / slower).min(MAX_DOWN);
    let holds = |share: f64, found_s: Option<f64>| {
        path.filter(|path| slowing.matches_path(path, share, found_s)).map(|_| slowing.relative(share).abs())
    };
    let longer_s = slowing.makespan_s(share);
    let (longer, shorter) = (holds(share, longer_s), holds(-share, path.and_then(|_| slowing.makespan_s(-share))));
    let (down, up) = if parameter.dimension == Dimension::Rate { (longer, shorter) } else { (shorter, longer) };
    let found = longer_s.map(|found_s| (share, found_s));
    LinearRange { down, up, tolerances: slowing.tolerances(found) }
}

impl Slowdown<'_> {
    fn makespan_s(&self, share: f64) -> Option<f64> {
        self.base.makespan_after(|document| self.parameter.slow_down(document, 1.0 + share)).ok()
    }

    /// Returns `true` if `found_s`, the simulated makespan at this fraction, is the length of `path`.
    fn matches_path(&self, path: &PricedPath, share: f64, found_s: Option<f64>) -> bool {
        let mut document = self.base.document().clone();
        let priced = self.parameter.slow_down(&mut document, 1.0 + share).ok().and_then(|()| path.length_s(&document));
        matches!((priced, found_s), (Some(priced), Some(found)) if is_same(priced, found))
    }

    /// Returns the relative change of the constant, as it was rounded for the run, so that the same change gives the same
    /// run.
    fn relative(&self, share: f64) -> f64 {
        self.parameter.slowed(1.0 + share) / self.parameter.number() - 1.0
    }

    /// Returns the tolerances; `known` is a fraction with its makespan.
    fn tolerances(&self, known: Option<(f64, f64)>) -> [Option<f64>; 3] {
        GROWTHS.map(|growth| self.tolerance(growth, known).map(|share| self.relative(share)))
    }

    /// Returns the fraction at which the makespan has grown by `growth`; `None` if it has not at the largest fraction.
    fn tolerance(&self, growth: f64, known: Option<(f64, f64)>) -> Option<f64> {
        let base_s = self.base.makespan_s();
        let wanted_s = base_s * (1.0 + growth);
        let along = (growth * base_s / self.slope_s).clamp(0.0, MAX);
        let first = if along > 0.0 { along } else { MAX };
        smallest_reaching(wanted_s, (0.0, base_s), (first, GROWTH_TOLERANCE * growth * base_s), |share| {
            let known = known.filter(|known| (known.0 - share).abs() < f64::EPSILON);
            known.map_or_else(|| self.makespan_s(share), |(_, found_s)| Some(found_s))
        })
    }
}

/// Returns the fraction up to [`MAX`] at which a value is `wanted`, within `met`. Doubles `first` until the value is
/// exceeded, then narrows the bracket by false position (regula falsi), or by bisection where false position has
/// shortened it by less than half. At a jump of the value, returns the fraction just beyond the jump. Returns `None` if
/// the value is not reached or cannot be computed.
fn smallest_reaching(
    wanted: f64,
    base: (f64, f64),
    (first, met): (f64, f64),
    mut value: impl FnMut(f64) -> Option<f64>,
) -> Option<f64> {
    let (mut below, mut share) = (base, first);
    let mut above = loop {
        let found = value(share)?;
        if (found - wanted).abs() <= met {
            return Some(share);
        }
        if found > wanted {
            break (share, found);
        }
        if share >= MAX {
            return None;
        }
        below = (share, found);
        share = (2.0 * share).min(MAX);
    };
    let mut halves = false;
    while above.0 - below.0 > NARROW * above.0 {
        let width = above.0 - below.0;
        let line = below.0 + (wanted - below.1) * width / (above.1 - below.1);
        let share = if halves { f64::midpoint(below.0, above.0) } else { line };
        let found = value(share)?;
        if (found - wanted).abs() <= met {
            return Some(share);
        }
        *(if found > wanted { &mut above } else { &mut below }) = (share, found);
        halves = above.0 - below.0 > 0.5 * width;
    }
    Some(above.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(wanted: f64, first: f64, of: impl Fn(f64) -> f64) -> (Option<f64>, usize) {
        let mut runs = 0;
        let share = smallest_reaching(wanted, (0.0, of(0.0)), (first, 1e-6), |share| {
            runs += 1;
            Some(of(share))
        });
        (share, runs)
    }

    #[test]
    fn bends_and_jumps_are_met() {
        let bend = |share: f64| 1.0 + 0.001 * share + 5.0 * (share - 2.0).max(0.0).powi(2);
        let jump = |share: f64| if share < 0.7 { 1.0 } else { 1.5 };
        let (share, runs) = found(1.05, 10.0, bend);
        assert!((bend(share.unwrap()) - 1.05).abs() < 1e-5 && runs < 40, "{share:?} {runs}");
        let (share, runs) = found(1.01, 0.1, jump);
        assert!((share.unwrap() - 0.7).abs() < 1e-5 && runs < 40, "{share:?} {runs}");
        assert_eq!(found(1.02, 0.5, |share| 1.0 + 0.001 * share).0, None);
        assert!(found(1.01, 10.0, |share| 1.0 + 0.001 * share).0.is_some());
    }
}
