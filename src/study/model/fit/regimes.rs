//! Equation (4) of CS-RR-281, fitted with its break and with confidence intervals.

use super::regression::{Quality, Regression, Weighting};
use crate::model::point_to_point::{Regime, TimedMessage};

/// The residuals, relative to a time, below which they are due to rounding.
const EXACT: f64 = 1e-9;

/// One branch of equation (4), fitted to data.
#[derive(Clone, Debug)]
pub struct FittedRegime {
    /// The coefficients.
    pub regime: Regime,
    /// Half the widths of the 95 % confidence intervals of α, β, γ, δ, in their units.
    pub intervals: Option<[f64; 4]>,
    /// The quality of the fit.
    pub quality: Quality,
    squares: f64,
}

impl FittedRegime {
    fn fit(points: &[TimedMessage], weighting: Weighting) -> Option<Self> {
        let column = |of: &dyn Fn(&TimedMessage) -> f64| points.iter().map(of).collect::<Vec<_>>();
        let columns = [
            vec![1.0; points.len()],
            column(&|point| point.bytes),
            column(&|point| point.hops),
            column(&|point| point.bytes * point.hops),
        ];
        let regression = Regression::of(&columns, &column(&|point| point.seconds), weighting)?;
        let [alpha_s, beta_s_per_byte, gamma_s_per_hop, delta_s_per_byte_hop] = four(&regression.coefficients)?;
        let deviations = regression.fitted.iter().zip(points);
        Some(Self {
            regime: Regime { alpha_s, beta_s_per_byte, gamma_s_per_hop, delta_s_per_byte_hop },
            intervals: regression.intervals.as_deref().and_then(four),
            quality: regression.quality,
            squares: deviations
                .map(|(fitted, point)| (weight(weighting, point) * (fitted - point.seconds)).powi(2))
                .sum(),
        })
    }
}

fn weight(weighting: Weighting, point: &TimedMessage) -> f64 {
    match weighting {
        Weighting::Absolute => 1.0,
        Weighting::Relative => point.seconds.recip(),
    }
}

fn four(values: &[f64]) -> Option<[f64; 4]> {
    values.try_into().ok()
}

/// Equation (4) with the break between its branches.
#[derive(Clone, Debug)]
pub struct TwoRegimes {
    /// The branch of messages up to the break; `None` if they do not determine four coefficients.
    pub short: Option<FittedRegime>,
    /// The branch of longer messages; `None` if they do not determine four coefficients.
    pub long: Option<FittedRegime>,
    /// The longest message of the short regime, in bytes; infinite with a single regime.
    pub break_bytes: f64,
}

impl TwoRegimes {
    /// Fits both branches with the break at `break_bytes`, or where the sum of squares is least. The data can locate
    /// the break only at a length that occurs in them. Of breaks that fit equally well, the longest is taken, since a
    /// full packet is on both planes.
    ///
    /// Returns `None` if no branch is determined. Each requires two lengths at each of two distances.
    #[must_use]
    pub fn fit(points: &[TimedMessage], break_bytes: Option<f64>, weighting: Weighting) -> Option<Self> {
        if let Some(break_bytes) = break_bytes {
            return Self::broken(points, break_bytes, weighting)
                .filter(|fit| fit.short.is_some() || fit.long.is_some());
        }
        let mut lengths: Vec<_> = points.iter().map(|point| point.bytes).collect();
        lengths.sort_by(f64::total_cmp);
        lengths.dedup();
        let broken = lengths.into_iter().rev().filter_map(|length| Self::broken(points, length, weighting));
        let determined = broken.filter(|fit| fit.short.is_some() && fit.long.is_some());
        let arithmetic =
            EXACT.powi(2) * points.iter().map(|point| (weight(weighting, point) * point.seconds).powi(2)).sum::<f64>();
        let best =
            determined.min_by(|one, other| one.squares().max(arithmetic).total_cmp(&other.squares().max(arithmetic)));
        best.or_else(|| Self::broken(points, f64::INFINITY, weighting).filter(|fit| fit.short.is_some()))
    }

    fn broken(points: &[TimedMessage], break_bytes: f64, weighting: Weighting) -> Option<Self> {
        let (short, long): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.bytes <= break_bytes);
        let fit = |points: &[TimedMessage]| FittedRegime::fit(points, weighting);
        (!points.is_empty()).then(|| Self { short: fit(&short), long: fit(&long), break_bytes })
    }

    fn squares(&self) -> f64 {
        [&self.short, &self.long].into_iter().flatten().map(|regime| regime.squares).sum()
    }

    /// Returns the time of a message, in seconds; `None` if its branch is not determined.
    #[must_use]
    pub fn time_s(&self, bytes: f64, hops: f64) -> Option<f64> {
        let regime = if bytes <= self.break_bytes { &self.short } else { &self.long };
        regime.as_ref().map(|regime| regime.regime.time_s(bytes, hops))
    }
}
