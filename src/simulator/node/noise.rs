//! Noise: random deviations of computation times.

use crate::engine::unit_of_32_bits;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Distribution of the relative deviation of a computation's time. The deviation is drawn for each computation from the
/// random stream of its rank. Loads have none, because no load is faster than its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Noise {
    /// No deviation.
    #[default]
    Quiet,
    /// Uniformly distributed between minus and plus this share of the time; the share is below 1.
    Uniform(f64),
    /// Normally distributed with this standard deviation, below 1. A negative time becomes 0, which lengthens the mean by
    /// 0.08 % with a deviation of 0.4, and by 6 % with 0.9.
    Normal(f64),
    /// The time is multiplied by a log-normal factor with mean 1 and this standard deviation, below 1: occasionally a
    /// computation takes much longer.
    LogNormal(f64),
}

impl Noise {
    /// Returns whether there is no noise.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        *self == Self::Quiet
    }

    /// Returns the fault of the parameter, if any.
    #[must_use]
    pub fn fault(self) -> Option<String> {
        match self {
            Self::Quiet => None,
            Self::Uniform(share) if (0.0..1.0).contains(&share) => None,
            Self::Normal(deviation) | Self::LogNormal(deviation) if (0.0..1.0).contains(&deviation) => None,
            Self::Uniform(share) | Self::Normal(share) | Self::LogNormal(share) => {
                Some(format!("a noise of {share} is out of range"))
            }
        }
    }

    /// Draws the factor by which the next computation time is multiplied.
    pub fn factor(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Quiet => 1.0,
            Self::Uniform(share) => 1.0 + share * (2.0 * unit_of_32_bits(rng) - 1.0),
            Self::Normal(deviation) => (1.0 + deviation * standard_normal(rng)).max(0.0),
            Self::LogNormal(deviation) => {
                let variance = logarithm_above_one(deviation * deviation);
                exponential(variance.sqrt() * standard_normal(rng) - 0.5 * variance)
            }
        }
    }
}

/// Draws an exponentially distributed number with mean 1.
pub(super) fn exponential_variate(rng: &mut ChaCha8Rng) -> f64 {
    // 1 − u is above 0: 2^-32 at least, the logarithm of which is finite.
    -logarithm(1.0 - unit_of_32_bits(rng))
}

/// Returns `ln(x)` for positive normal x: the same on every platform.
fn logarithm(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let (exponent, mantissa) = (x.to_bits() >> 52, x.to_bits() & MANTISSA | 1.0_f64.to_bits());
    #[expect(clippy::cast_precision_loss, reason = "an exponent has eleven bits")]
    let exponent = exponent as f64 - 1023.0;
    exponent * std::f64::consts::LN_2 + logarithm_above_one(f64::from_bits(mantissa) - 1.0)
}

/// Returns `ln(1 + y)` for y from 0 to 1, by the series of `2 artanh(y / (2 + y))`: the same on every platform.
fn logarithm_above_one(y: f64) -> f64 {
    let z = y / (2.0 + y);
    let terms = (0..20).rev().map(|term| 1.0 / f64::from(2 * term + 1));
    2.0 * z * terms.fold(0.0, |sum, coefficient| sum * z * z + coefficient)
}

/// Returns `e^x` for |x| up to about ten, as the series of `e^(x / 1024)` squared ten times: the same on every
/// platform.
fn exponential(x: f64) -> f64 {
    let small = x / 1024.0;
    let series = (1..10).rev().fold(1.0, |sum, term| 1.0 + small / f64::from(term) * sum);
    (0..10).fold(series, |power, _| power * power)
}

/// Draws a standard normal number by the polar method (Marsaglia and Bray 1964): the same on every platform, and with the
/// tails on which the maximum over many ranks depends.
fn standard_normal(rng: &mut ChaCha8Rng) -> f64 {
    loop {
        let [x, y] = [(); 2].map(|()| 2.0 * unit_of_32_bits(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * logarithm(square) / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    /// Returns mean and standard deviation of many factors, and whether all of them are within `bounds`.
    fn shape(noise: Noise, bounds: std::ops::Range<f64>) -> (f64, f64, bool) {
        let mut rng = Streams::new(1).stream("noise", 0);
        let drawn: Vec<f64> = (0..10_000).map(|_| noise.factor(&mut rng)).collect();
        let mean = drawn.iter().sum::<f64>() / 1e4;
        let variance = drawn.iter().map(|factor| (factor - mean).powi(2)).sum::<f64>() / 1e4;
        (mean, variance.sqrt(), drawn.iter().all(|factor| bounds.contains(factor)))
    }

    #[test]
    fn noise_has_its_distribution() {
        let (mean, deviation, within) = shape(Noise::Uniform(0.3), 0.7..1.3);
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 0.3 / 3.0_f64.sqrt()).abs() < 0.01 && within);
        let (mean, deviation, within) = shape(Noise::Normal(0.1), 0.3..1.7);
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 0.1).abs() < 0.01 && within);
        let (mean, deviation, within) = shape(Noise::LogNormal(0.3), 0.1..8.0);
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 0.3).abs() < 0.01 && within);
    }

    /// The tails are those of the normal distribution, too: the mean fourth power is 3, with a standard error of 0.01, and
    /// 63 of a million numbers, give or take 8, are beyond four standard deviations.
    #[test]
    fn normal_numbers_have_normal_tails() {
        let mut rng = Streams::new(1).stream("noise", 0);
        let drawn: Vec<f64> = (0..1_000_000).map(|_| standard_normal(&mut rng)).collect();
        let moment = |power| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / 1e6;
        assert!(moment(1).abs() < 0.005 && (moment(2) - 1.0).abs() < 0.007 && (moment(4) - 3.0).abs() < 0.05);
        let beyond = drawn.iter().filter(|x| x.abs() > 4.0).count();
        assert!((31..=95).contains(&beyond), "{beyond}");
    }

    #[test]
    fn series_are_as_good_as_the_functions() {
        for x in [-3.0, -0.2, 0.0, 0.7, 1.0, 5.0] {
            let exact = f64::exp(x);
            assert!((exponential(x) / exact - 1.0).abs() < 1e-12, "{x}");
        }
        for y in [0.0, 1e-4, 0.01, 0.5, 1.0] {
            assert!((logarithm_above_one(y) - f64::ln_1p(y)).abs() < 1e-14, "{y}");
        }
        for x in [1.0, 0.999_999, 0.5, 0.3, 1e-3, 2.0_f64.powi(-32)] {
            assert!((logarithm(x) - x.ln()).abs() < 1e-14 * (1.0 + x.ln().abs()), "{x}");
        }
    }

    #[test]
    fn a_share_is_below_one() {
        assert_eq!(Noise::Uniform(0.05).fault(), None);
        assert!(Noise::Uniform(1.0).fault().is_some() && Noise::Normal(f64::NAN).fault().is_some());
    }
}
