//! Prediction intervals from the errors of predictions that took no part in a fit: split conformal prediction (Vovk,
//! Gammerman and Shafer, 2005; with scaled errors Lei and others, 2018, section 5.2). No distribution is assumed.

use crate::analysis::medians;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The minimum number of errors at every extent for their growth to be that of their medians, and of all errors for any
/// growth.
const MIN_ERRORS: usize = 5;
/// The least error as a part of the median one, from which growth is estimated: the logarithm of a chance hit is far off.
const LEAST_PART: f64 = 1e-3;

/// The error of a prediction that took no part in the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The kind of the prediction. Intervals are derived from errors of the same kind if there are enough of them.
    pub kind: String,
    /// The absolute error, in units of the expected error.
    pub size: f64,
    /// The position on the axis along which errors may grow, above 0.
    pub extent: f64,
}

/// Errors from which prediction intervals are derived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conformal {
    /// The errors of each kind, in ascending order, divided by their growth.
    pub kinds: BTreeMap<String, Vec<f64>>,
    /// The exponent of the extent with which errors grow, at least 0.
    pub growth: f64,
}

impl Conformal {
    /// Collects errors of predictions that took no part in the fit.
    #[must_use]
    pub fn of(scores: &[Score]) -> Self {
        let growth = growth(scores);
        let mut kinds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for score in scores {
            kinds.entry(score.kind.clone()).or_default().push(score.size / score.extent.powf(growth));
        }
        for sizes in kinds.values_mut() {
            sizes.sort_by(f64::total_cmp);
        }
        Self { kinds, growth }
    }

    /// Returns half the width of the interval that contains the share `level` of new values, in units of the expected
    /// error. It is derived from errors of this kind, or of all kinds if there are too few. Returns `None` if all kinds
    /// together are too few: 90 % requires nine.
    #[must_use]
    pub fn half_width(&self, kind: &str, extent: f64, level: f64) -> Option<f64> {
        let own = self.kinds.get(kind).and_then(|sizes| quantile(sizes, level));
        Some(own.or_else(|| quantile(&self.all(), level))? * extent.powf(self.growth))
    }

    /// Returns the number of errors.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kinds.values().map(Vec::len).sum()
    }

    fn all(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.kinds.values().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Returns the quantile of ascending sizes that a new value does not exceed with a probability of at least `level`. One
/// additional value counts as infinite.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few numbers, of which a part between 0 and 1 is taken"
)]
fn quantile(sizes: &[f64], level: f64) -> Option<f64> {
    let rank = ((sizes.len() + 1) as f64 * level - 1e-9).ceil() as usize;
    sizes.get(rank.max(1) - 1).copied()
}

/// Returns the exponent with which errors grow with their extent: the slope of a line through the logarithms of their
/// medians or, if an extent has too few errors, of all of them; or 0 if they shrink.
fn growth(scores: &[Score]) -> f64 {
    let mut by_extent: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for score in scores {
        by_extent.entry(score.extent.to_bits()).or_default().push(score.size);
    }
    let points = if by_extent.values().all(|sizes| sizes.len() >= MIN_ERRORS) {
        let points = by_extent.into_iter().map(|(extent, sizes)| (f64::from_bits(extent).ln(), median(sizes).ln()));
        points.filter(|(_, size)| size.is_finite()).collect()
    } else {
        single_errors(scores)
    };
    slope(&points).max(0.0)
}

/// Returns the logarithms of the extents and sizes of errors other than 0, if there are enough of them.
fn single_errors(scores: &[Score]) -> Vec<(f64, f64)> {
    let sizes: Vec<f64> =
        scores.iter().map(|score| score.size).filter(|size| *size > 0.0 && size.is_finite()).collect();
    if sizes.len() < MIN_ERRORS {
        return Vec::new();
    }
    let least = LEAST_PART * median(sizes);
    let known = scores.iter().filter(|score| score.size > 0.0 && score.size.is_finite());
    known.map(|score| (score.extent.ln(), score.size.max(least).ln())).collect()
}

/// Returns the upper median of sizes, at least one.
fn median(sizes: Vec<f64>) -> f64 {
    medians(sizes).map_or(f64::NAN, |[_, upper]| upper)
}

/// Returns the slope of the least-squares line through points, or 0 if all x are equal.
fn slope(points: &[(f64, f64)]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are a few points")]
    let count = points.len().max(1) as f64;
    let x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let squares: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let products: f64 = points.iter().map(|point| (point.0 - x) * point.1).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn score(kind: &str, size: f64, extent: f64) -> Score {
        Score { kind: kind.to_owned(), size, extent }
    }

    #[test]
    fn nine_errors_are_needed_for_90_percent() {
        let of = |count: u32| Conformal::of(&(1..=count).map(|size| score("", size.into(), 1.0)).collect::<Vec<_>>());
        assert_eq!([8, 9, 19].map(|count| of(count).half_width("", 1.0, 0.9)), [None, Some(9.0), Some(18.0)]);
    }

    #[test]
    fn a_kind_with_too_few_errors_has_those_of_all() {
        let many = (1..=20).map(|size| score("many", size.into(), 1.0));
        let scores: Vec<_> = many.chain([score("few", 100.0, 1.0)]).collect();
        let found = Conformal::of(&scores);
        let half = |kind: &str| found.half_width(kind, 1.0, 0.9);
        assert_eq!((half("many"), half("few"), half("none")), (Some(19.0), Some(20.0), Some(20.0)));
    }

    #[test]
    fn errors_grow_as_they_have_grown() {
        let at = |extent: f64| (1..=9).map(move |size| score("", f64::from(size) * extent.sqrt(), extent));
        let found = Conformal::of(&at(1.0).chain(at(16.0)).collect::<Vec<_>>());
        assert!((found.growth - 0.5).abs() < 1e-12);
        assert!((found.half_width("", 64.0, 0.9).unwrap() - 72.0).abs() < 1e-9);
        // Errors that shrink contain no information on larger extents.
        let shrinking = Conformal::of(
            &at(1.0).chain(at(16.0)).map(|one| score("", 1.0 / one.size, one.extent)).collect::<Vec<_>>(),
        );
        assert!(shrinking.growth.abs() < 1e-12);
    }

    /// With few errors at each extent, all of them together give the growth. Errors that grow lie within intervals at a
    /// larger extent far more often than without it, and intervals of errors that do not grow are hardly wider.
    #[test]
    fn few_errors_at_each_extent_give_the_growth() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let extents = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let mut rounds = |power: f64| {
            let mut draw = |extent: f64| {
                let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                score("", normal.abs() * extent.powf(power), extent)
            };
            let (mut inside, mut without, mut width, rounds) = (0_u32, 0_u32, 0.0, 400_u32);
            for _ in 0..rounds {
                let known: Vec<_> = extents.into_iter().flat_map(|extent| [extent; 3]).map(&mut draw).collect();
                let new = draw(128.0).size;
                let growing = Conformal::of(&known).half_width("", 128.0, 0.9).unwrap();
                let constant: Vec<_> = known.into_iter().map(|one| Score { extent: 1.0, ..one }).collect();
                let constant = Conformal::of(&constant).half_width("", 1.0, 0.9).unwrap();
                inside += u32::from(new <= growing);
                without += u32::from(new <= constant);
                width += growing / constant / f64::from(rounds);
            }
            (f64::from(inside) / f64::from(rounds), f64::from(without) / f64::from(rounds), width)
        };
        let (inside, without, _) = rounds(0.5);
        assert!(inside > 0.8 && without < 0.6, "{inside} {without}");
        let (inside, without, width) = rounds(0.0);
        assert!(inside >= without && without > 0.85 && width < 1.5, "{inside} {without} {width}");
    }

    /// The stated share of new errors from any one distribution is inside the interval.
    #[test]
    fn new_errors_lie_within_as_often_as_stated() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut draw = || score("", -random.random::<f64>().ln().powi(3), 1.0);
        let (mut inside, rounds) = (0_u32, 4000_u32);
        for _ in 0..rounds {
            let known: Vec<_> = (0..29).map(|_| draw()).collect();
            let half = Conformal::of(&known).half_width("", 1.0, 0.9).unwrap();
            inside += u32::from(draw().size <= half);
        }
        // The expectation is exactly 27 of 30. The tolerance is three standard deviations.
        assert!((f64::from(inside) / f64::from(rounds) - 0.9).abs() < 0.015, "{inside}");
    }
}
