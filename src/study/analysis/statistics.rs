//! Samples of repeated runs.

use std::f64::consts::FRAC_2_PI;

/// Mean, standard deviation and 95 % confidence interval of runs that differ only in their seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The number of runs.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the sample; 0 for a single run.
    pub deviation: f64,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t.
    pub interval: f64,
}

/// Returns the lower and the upper median; both are the same if there is an odd number of values.
#[must_use]
pub fn medians(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    Some([*values.get(values.len().saturating_sub(1) / 2)?, *values.get(values.len() / 2)?])
}

/// A confidence level, and the corresponding quantile of the normal distribution.
struct Confidence {
    level: f64,
    normal_quantile: f64,
}

const CONFIDENCE_95: Confidence = Confidence { level: 0.95, normal_quantile: 1.959_963_984_540_054 };
const CONFIDENCE_90: Confidence = Confidence { level: 0.90, normal_quantile: 1.644_853_626_951_472_2 };

/// Returns the 0.975 quantile of Student's t with `degrees` degrees of freedom, at least one. It is half the width of a
/// 95 % confidence interval in standard errors. The result is accurate to about 10⁻¹³ of itself.
#[must_use]
pub fn student_quantile(degrees: usize) -> f64 {
    CONFIDENCE_95.student_quantile(degrees)
}

/// The greatest number of degrees of freedom for which probabilities are summed.
const MAX_SUMMED: usize = 1000;
/// The maximum number of steps to a quantile; one degree of freedom takes two, and none more than ten.
const MAX_STEPS: usize = 20;

impl Confidence {
    /// Returns half the width of the interval at this level in standard errors, by Student's t with `degrees` degrees of
    /// freedom.
    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 of them")]
    fn student_quantile(&self, degrees: usize) -> f64 {
        if degrees > MAX_SUMMED {
            return expanded(self.normal_quantile, degrees as f64);
        }
        let degrees = degrees.max(1);
        let root = (degrees as f64).sqrt();
        // The quantile of the normal distribution is smaller, and the probability is concave in the angle, so that
        // Newton's steps approach the solution from below.
        let mut angle = (self.normal_quantile / root).atan();
        for _ in 0..MAX_STEPS {
            let (probability, slope) = probability_within(angle, degrees);
            let step = (self.level - probability) / slope;
            angle += step;
            if step <= f64::EPSILON * angle {
                break;
            }
        }
        root * angle.tan()
    }
}

/// Returns the probability that Student's t is at most √`degrees` tan(`angle`) in absolute value, and its derivative with
/// respect to the angle: the incomplete beta function, which for whole degrees of freedom is a finite sum (Abramowitz
/// and Stegun, 26.7.3 and 26.7.4).
#[expect(clippy::cast_precision_loss, reason = "there are at most MAX_SUMMED")]
fn probability_within(angle: f64, degrees: usize) -> (f64, f64) {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    let mut exponent = degrees % 2;
    let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
    while exponent < degrees {
        sum += term;
        exponent += 2;
        term *= cosine * cosine * (exponent - 1) as f64 / exponent as f64;
    }
    let (probability, slope) = (sine * sum, degrees as f64 * term / cosine);
    if is_odd { (FRAC_2_PI * (angle + probability), FRAC_2_PI * slope) } else { (probability, slope) }
}

/// Returns the quantile of Student's t for many degrees of freedom that corresponds to the quantile `z` of the normal
/// distribution, by the first terms of its expansion (Abramowitz and Stegun, 26.7.5).
fn expanded(z: f64, degrees: f64) -> f64 {
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z) / 92160.0,
    ];
    z + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees)
}

impl Sample {
    /// Returns half the width of the 90 % confidence interval of the mean, by Student's t; `None` for a single run.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nobody repeats a run 2^52 times")]
    pub fn interval_90(&self) -> Option<f64> {
        let quantile = CONFIDENCE_90.student_quantile(self.degrees()?);
        Some(quantile * self.deviation / (self.count as f64).sqrt())
    }

    /// Returns the degrees of freedom of the deviation; `None` for a single run.
    fn degrees(&self) -> Option<usize> {
        self.count.checked_sub(1).filter(|degrees| *degrees > 0)
    }

    /// Returns half the width of the confidence interval of the mean at a level from 0.9 to below 1, by Student's t with
    /// at most a thousand degrees of freedom; `None` for a single run.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nobody repeats a run 2^52 times")]
    pub fn interval_at(&self, level: f64) -> Option<f64> {
        let confidence = Confidence { level, ..CONFIDENCE_90 };
        let quantile = confidence.student_quantile(self.degrees()?.min(MAX_SUMMED));
        Some(quantile * self.deviation / (self.count as f64).sqrt())
    }

    /// Returns the sample of `values`; `None` if there are none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nobody repeats a run 2^52 times")]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        match values {
            [] => None,
            [_] => Some(Self { count: 1, mean, deviation: 0.0, interval: 0.0 }),
            _ => {
                let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
                // Equal values have no deviation, although the rounding of their mean may suggest one.
                let is_constant = values.iter().all(|value| value.total_cmp(&values[0]).is_eq());
                let deviation = if is_constant { 0.0 } else { (squares / (count - 1.0)).sqrt() };
                let interval = student_quantile(values.len() - 1) * deviation / count.sqrt();
                Some(Self { count: values.len(), mean, deviation, interval })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published quantiles have three decimals; these have sixteen digits, computed from the regularised incomplete
    /// beta function with 40 digits (mpmath). The last rows are on both sides of the end of the sums.
    #[test]
    fn quantiles_are_those_of_the_incomplete_beta_function() {
        for (degrees, of_95, of_90) in [
            (1, 12.706_204_736_174_705, 6.313_751_514_675_043),
            (2, 4.302_652_729_749_464, 2.919_985_580_353_725_7),
            (3, 3.182_446_305_283_709_6, 2.353_363_434_801_823_9),
            (4, 2.776_445_105_197_794_4, 2.131_846_786_326_650_3),
            (9, 2.262_157_162_798_205_5, 1.833_112_932_656_237_1),
            (30, 2.042_272_456_301_238, 1.697_260_886_593_957_8),
            (31, 2.039_513_446_396_408_5, 1.695_518_782_545_865_6),
            (100, 1.983_971_518_523_552_3, 1.660_234_326_085_339_6),
            (1000, 1.962_339_080_826_408_5, 1.646_378_817_285_464_7),
            (1_000_000, 1.959_966_356_814_107, 1.644_855_150_722_040_5),
        ] {
            for (confidence, exact) in [(CONFIDENCE_95, of_95), (CONFIDENCE_90, of_90)] {
                let quantile = confidence.student_quantile(degrees);
                assert!((quantile / exact - 1.0_f64).abs() < 1e-13, "{degrees}: {quantile}");
            }
        }
        let (last, next) = (student_quantile(MAX_SUMMED), student_quantile(MAX_SUMMED + 1));
        assert!(last > next && last - next < 3e-6, "{last} {next}");
    }

    #[test]
    fn a_textbook_sample() {
        let sample = Sample::of(&[1.0, 2.0, 3.0]).unwrap();
        assert!((sample.mean - 2.0).abs() < 1e-12);
        assert!((sample.deviation - 1.0).abs() < 1e-12);
        assert!((sample.interval - 4.302_652_729_749_464 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!((sample.interval_90().unwrap() - 2.919_985_580_353_726 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Sample::of(&[1.0]).unwrap().interval_90(), None);
        assert_eq!(Sample::of(&[]), None);
        assert_eq!(Sample::of(&[0.1156; 7]).unwrap().deviation.to_bits(), 0);
    }
}
