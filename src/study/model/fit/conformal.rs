//! Intervals of predictions from the errors of predictions that took no part in a fit: split conformal prediction (Vovk,
//! Gammerman and Shafer, 2005; with scaled errors Lei and others, 2018, section 5.2). No distribution is assumed.

use std::collections::BTreeMap;

/// Errors at one extent from which their growth is judged, at least.
const ENOUGH: usize = 5;

/// The error of a prediction that took no part in the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The kind of the prediction: intervals are made from errors of their own kind where there are enough.
    pub kind: String,
    /// The absolute error, in units of the one that is expected there.
    pub size: f64,
    /// Its place on the axis along which errors may grow, above 0.
    pub extent: f64,
}

/// Errors from which intervals are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Conformal {
    /// The errors of each kind, ascending, without their growth.
    pub kinds: BTreeMap<String, Vec<f64>>,
    /// The power of the extent with which errors grow, at least 0.
    pub growth: f64,
}

impl Conformal {
    /// From errors that took no part in the fit.
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

    /// Half the interval that contains the share `level` of new values, in units of the expected error; from errors of that
    /// kind, or of all kinds where those are too few. `None` if all are too few: nine for 90 %.
    #[must_use]
    pub fn half_width(&self, kind: &str, extent: f64, level: f64) -> Option<f64> {
        let own = self.kinds.get(kind).and_then(|sizes| quantile(sizes, level));
        Some(own.or_else(|| quantile(&self.all(), level))? * extent.powf(self.growth))
    }

    /// The number of errors.
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

/// The quantile of ascending sizes that a new one stays below with probability `level` at least: one more value counts as
/// infinite.
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

/// The power with which median errors grow with their extent: the slope of a line through their logarithms; 0 where they
/// shrink.
fn growth(scores: &[Score]) -> f64 {
    let mut by_extent: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for score in scores {
        by_extent.entry(score.extent.to_bits()).or_default().push(score.size);
    }
    let enough = by_extent.into_iter().filter(|(_, sizes)| sizes.len() >= ENOUGH);
    let points = enough.map(|(extent, sizes)| (f64::from_bits(extent).ln(), median(sizes).ln()));
    slope(&points.filter(|(_, size)| size.is_finite()).collect::<Vec<_>>()).max(0.0)
}

fn median(mut sizes: Vec<f64>) -> f64 {
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

/// The slope of the line through points by least squares; 0 where they are all above one another.
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
        // Errors that shrink say nothing of what lies beyond.
        let shrinking = Conformal::of(
            &at(1.0).chain(at(16.0)).map(|one| score("", 1.0 / one.size, one.extent)).collect::<Vec<_>>(),
        );
        assert!(shrinking.growth.abs() < 1e-12);
    }

    /// Of new errors from one distribution, whatever it is, the stated share lies within.
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
        // Exactly 27 of 30 on average; three standard deviations.
        assert!((f64::from(inside) / f64::from(rounds) - 0.9).abs() < 0.015, "{inside}");
    }
}
