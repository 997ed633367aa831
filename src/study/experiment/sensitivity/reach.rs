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
    fn tolerances(&self, known: Option<Point>) -> [Option<f64>; 3] {
        let base_s = self.base.makespan_s();
        let mut points = vec![(0.0, base_s)];
        let along = |growth: f64| (growth * base_s / self.slope_s).clamp(0.0, MAX);
        consistent(base_s, along, &mut points, |share| {
            let known = known.filter(|known| (known.0 - share).abs() < f64::EPSILON);
            known.map_or_else(|| self.makespan_s(share), |(_, found_s)| Some(found_s))
        })
        .map(|share| share.map(|share| self.relative(share)))
    }
}

/// A fraction and the value there.
type Point = (f64, f64);

/// Returns the fractions at which a value has grown by each of [`GROWTHS`]. `along` is the fraction for a growth by the
/// derivative. A value that does not grow steadily has grown by as much at several fractions: no known one is smaller,
/// and none exceeds that for a larger growth. All values are added to `points`, which begin with the base.
fn consistent(
    base: f64,
    along: impl Fn(f64) -> f64,
    points: &mut Vec<Point>,
    value: impl Fn(f64) -> Option<f64>,
) -> [Option<f64>; 3] {
    let value = |share: f64, points: &mut Vec<Point>| {
        let found = value(share)?;
        points.push((share, found));
        Some(found)
    };
    let aim = |growth: f64| (base * (1.0 + growth), GROWTH_TOLERANCE * growth * base);
    let mut shares = GROWTHS.map(|growth| {
        let (wanted, met) = aim(growth);
        let first = if along(growth) > 0.0 { along(growth) } else { MAX };
        smallest_reaching(wanted, (0.0, base), (first, met), |share| value(share, points))
    });
    // The search for a smaller growth may find a point for a larger one.
    for index in [2, 1, 0, 2, 1, 0] {
        let (wanted, met) = aim(GROWTHS[index]);
        let (below, above) = bracket(points, wanted + met);
        if let Some(above) = above.filter(|above| shares[index].is_none_or(|share| above.0 < share)) {
            shares[index] = narrowed((wanted, met), (below, above), |share| value(share, points)).or(shares[index]);
        }
    }
    shares
}

/// Returns the first known point at which a value exceeds `limit`, if there is one, and the last one before it.
fn bracket(points: &[Point], limit: f64) -> (Point, Option<Point>) {
    let by_share = |one: &&Point, other: &&Point| one.0.total_cmp(&other.0);
    let above = points.iter().filter(|point| point.1 > limit).min_by(by_share).copied();
    let is_before = |point: &&Point| above.is_none_or(|above| point.0 < above.0);
    (points.iter().filter(is_before).max_by(by_share).copied().unwrap_or_default(), above)
}

/// Returns the fraction up to [`MAX`] at which a value is `wanted`, within `met`. Doubles `first` until the value is
/// exceeded, then narrows the bracket by false position (regula falsi), or by bisection where false position has
/// shortened it by less than half. At a jump of the value, returns the fraction just beyond the jump. Returns `None` if
/// the value is not reached or cannot be computed.
fn smallest_reaching(
    wanted: f64,
    base: Point,
    (first, met): (f64, f64),
    mut value: impl FnMut(f64) -> Option<f64>,
) -> Option<f64> {
    let (mut below, mut share) = (base, first);
    let above = loop {
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
    narrowed((wanted, met), (below, above), value)
}

/// Returns the fraction between two points at which a value is `wanted`, within `met`, or the fraction just beyond a
/// jump.
fn narrowed(
    (wanted, met): (f64, f64),
    (mut below, mut above): (Point, Point),
    mut value: impl FnMut(f64) -> Option<f64>,
) -> Option<f64> {
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

    /// The value falls again after a peak, which only the search for one of the growths meets.
    #[test]
    fn a_smaller_growth_has_no_larger_tolerance() {
        let peak = |share: f64| 1.0 + 0.3 * (0.3 - (share - 0.3).abs()).max(0.0) + 0.012 * share;
        for first in [0.1, 0.3, 0.35, 0.7, 0.9, 2.0, 5.0] {
            for slope in [0.012, 0.1, 0.3] {
                let mut points = vec![(0.0, 1.0)];
                let along = |growth: f64| first * growth / slope;
                let found = consistent(1.0, along, &mut points, |share| Some(peak(share)));
                let shares: Vec<f64> = found.into_iter().flatten().collect();
                assert!(shares.len() == 3 && shares.is_sorted(), "{first} {slope}: {shares:?}");
                for (share, growth) in shares.iter().zip(GROWTHS) {
                    let before = points.iter().filter(|point| point.0 < *share).map(|point| point.1);
                    assert!(before.reduce(f64::max).is_none_or(|most| most < 1.0 + 1.001 * growth), "{first} {slope}");
                    assert!((peak(*share) - 1.0 - growth).abs() < 1e-3 * growth, "{first} {slope}: {share}");
                }
            }
        }
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
