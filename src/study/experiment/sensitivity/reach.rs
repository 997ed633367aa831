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
/// The most runs for one growth.
const MOST_RUNS: u32 = 6;
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
    /// it is not found, as beyond the elevenfold time.
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
    if slower * MOST < GROWTHS[0] || parameter.dimension == Dimension::None {
        return Reach::default();
    }
    let share = (GROWTHS[0] / slower).min(MOST_DOWN);
    let holds = |share: f64, found_s: Option<f64>| {
        path.filter(|path| slowing.is_met(path, share, found_s)).map(|_| slowing.relative(share).abs())
    };
    let longer_s = slowing.makespan_s(share);
    let (longer, shorter) = (holds(share, longer_s), holds(-share, path.and_then(|_| slowing.makespan_s(-share))));
    let (down, up) = if parameter.dimension == Dimension::Rate { (longer, shorter) } else { (shorter, longer) };
    let found = longer_s.map(|found_s| (share, found_s));
    let tolerances = GROWTHS.map(|growth| slowing.tolerance(growth, found).map(|share| slowing.relative(share)));
    Reach { down, up, tolerances }
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

    /// The share at which the makespan has grown by `growth`: along the line of the derivative, then along the lines through
    /// the points that have been found on either side.
    fn tolerance(&self, growth: f64, known: Option<(f64, f64)>) -> Option<f64> {
        let base_s = self.base.makespan_s();
        let wanted_s = base_s * (1.0 + growth);
        let (mut below, mut above) = ((0.0, base_s), None);
        let mut share = growth * base_s / self.slope_s;
        for _ in 0..MOST_RUNS {
            if !(share > 0.0 && share <= MOST) {
                return None;
            }
            let found_s = match known.filter(|known| (known.0 - share).abs() < f64::EPSILON) {
                Some((_, found_s)) => found_s,
                None => self.makespan_s(share)?,
            };
            if (found_s - wanted_s).abs() <= MET * growth * base_s {
                return Some(share);
            }
            if found_s > wanted_s {
                above = Some((share, found_s));
            } else {
                below = (share, found_s);
            }
            share = match above {
                Some((above, above_s)) => below.0 + (wanted_s - below.1) * (above - below.0) / (above_s - below.1),
                None => below.0 + (wanted_s - below.1) / self.slope_s,
            };
        }
        None
    }
}
