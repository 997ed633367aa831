//! Reach of a derivative: the changes within which it holds, and the growth of a constant that makes the makespan grow
//! by a given share.

use crate::analysis::Elasticity;
use crate::experiment::gradient::{PaidPath, Variation, is_same};
use crate::scenario::{Dimension, Parameter};

/// The growths of the makespan that are asked about.
pub const GROWTHS: [f64; 3] = [0.01, 0.02, 0.05];
/// A growth of the makespan is met to this share of it.
const MET: f64 = 1e-4;
/// The largest factor less one by which times are made longer.
const MOST: f64 = 10.0;
/// Shares that are closer than this part of them are one: the makespan jumps there.
const NARROW: f64 = 1e-6;
/// A constant is made no smaller than by this, to see how far a derivative holds.
const MOST_DOWN: f64 = 0.5;

/// The reach of the derivative by a constant, and the tolerances of the constant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// The relative change to smaller values at which a run has met the path to the picosecond; `None` if none has.
    pub down: Option<f64>,
    /// The same to larger values.
    pub up: Option<f64>,
    /// The relative change of the constant, below zero for a rate, at which the makespan has grown by 1, 2 and 5 %; `None` if
    /// it has not at the elevenfold time.
    pub tolerances: [Option<f64>; 3],
}

/// A constant whose times are made longer, by a share of them.
struct Slowing<'v> {
    base: &'v Variation,
    parameter: &'v Parameter,
    /// The growth of the makespan per share, in seconds.
    slope_s: f64,
}

/// The reach of the derivative by a constant with this elasticity.
pub fn reach(base: &Variation, parameter: &Parameter, elasticity: Elasticity, path: Option<&PaidPath>) -> Reach {
    let slower = if parameter.dimension == Dimension::Rate { -elasticity.left } else { elasticity.right };
    let slowing = Slowing { base, parameter, slope_s: slower * base.makespan_s() };
    if parameter.dimension == Dimension::None {
        return Reach::default();
    }
    if slower * MOST < GROWTHS[0] {
        // The line does not lead so far, but another path may.
        let found = slowing.makespan_s(MOST).map(|found_s| (MOST, found_s));
        return found
            .map_or_else(Reach::default, |_| Reach { tolerances: slowing.tolerances(found), ..Reach::default() });
    }
    let share = (GROWTHS[0] / slower).min(MOST_DOWN);
    let holds = |share: f64, found_s: Option<f64>| {
        path.filter(|path| slowing.is_met(path, share, found_s)).map(|_| slowing.relative(share).abs())
    };
    let longer_s = slowing.makespan_s(share);
    let (longer, shorter) = (holds(share, longer_s), holds(-share, path.and_then(|_| slowing.makespan_s(-share))));
    let (down, up) = if parameter.dimension == Dimension::Rate { (longer, shorter) } else { (shorter, longer) };
    let found = longer_s.map(|found_s| (share, found_s));
    Reach { down, up, tolerances: slowing.tolerances(found) }
}

impl Slowing<'_> {
    fn makespan_s(&self, share: f64) -> Option<f64> {
        self.base.makespan_after(|document| self.parameter.slow_down(document, 1.0 + share)).ok()
    }

    /// True if the makespan that has been found there is the length of `path`.
    fn is_met(&self, path: &PaidPath, share: f64, found_s: Option<f64>) -> bool {
        let mut document = self.base.document().clone();
        let priced = self.parameter.slow_down(&mut document, 1.0 + share).ok().and_then(|()| path.length_s(&document));
        matches!((priced, found_s), (Some(priced), Some(found)) if is_same(priced, found))
    }

    /// The relative change of the constant.
    fn relative(&self, share: f64) -> f64 {
        if self.parameter.dimension == Dimension::Rate { (1.0 + share).recip() - 1.0 } else { share }
    }

    /// The tolerances, where the makespan at one share is known.
    fn tolerances(&self, known: Option<(f64, f64)>) -> [Option<f64>; 3] {
        GROWTHS.map(|growth| self.tolerance(growth, known).map(|share| self.relative(share)))
    }

    /// The share at which the makespan has grown by `growth`; `None` if it has not grown so far at the largest share.
    fn tolerance(&self, growth: f64, known: Option<(f64, f64)>) -> Option<f64> {
        let base_s = self.base.makespan_s();
        let wanted_s = base_s * (1.0 + growth);
        let along = (growth * base_s / self.slope_s).clamp(0.0, MOST);
        let first = if along > 0.0 { along } else { MOST };
        smallest_reaching(wanted_s, (0.0, base_s), (first, MET * growth * base_s), |share| {
            let known = known.filter(|known| (known.0 - share).abs() < f64::EPSILON);
            known.map_or_else(|| self.makespan_s(share), |(_, found_s)| Some(found_s))
        })
    }
}

/// The share up to [`MOST`] at which a value is `wanted`, within `met`: by doubling `first` until it is exceeded, then by false
/// position (regula falsi) between points on both sides, which are halved where it does not shorten them so. Where the value
/// jumps, the share behind the jump. `None` if it is not reached, or a value cannot be had.
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
        if share >= MOST {
            return None;
        }
        below = (share, found);
        share = (2.0 * share).min(MOST);
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
