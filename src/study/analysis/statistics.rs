//! Samples of repeated runs.

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

/// The 0.975 quantiles of Student's t for 1 to 30 degrees of freedom.
const T_QUANTILES: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The 0.975 quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_964;
/// The 0.95 quantiles of Student's t for 1 to 30 degrees of freedom.
const T_QUANTILES_90: [f64; 30] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
    1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
];
/// The 0.95 quantile of the normal distribution.
const NORMAL_QUANTILE_90: f64 = 1.644_854;

/// Returns the 0.975 quantile of Student's t with `degrees` degrees of freedom, at least one. It is half the width of a
/// 95 % confidence interval in standard errors.
#[must_use]
pub fn student_quantile(degrees: usize) -> f64 {
    T_QUANTILES.get(degrees.saturating_sub(1)).copied().unwrap_or_else(|| expanded(NORMAL_QUANTILE, degrees))
}

/// Returns the quantile of Student's t for more than 30 degrees of freedom that corresponds to the quantile `z` of the
/// normal distribution, by the first terms of its expansion (Abramowitz and Stegun, 26.7.5). The result is accurate to
/// about 10⁻⁶.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 of them")]
fn expanded(z: f64, degrees: usize) -> f64 {
    let n = degrees as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}

impl Sample {
    /// Returns half the width of the 90 % confidence interval of the mean, by Student's t; `None` for a single run.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nobody repeats a run 2^52 times")]
    pub fn interval_90(&self) -> Option<f64> {
        let place = self.count.checked_sub(2)?;
        let known = T_QUANTILES_90.get(place).copied();
        let quantile = known.unwrap_or_else(|| expanded(NORMAL_QUANTILE_90, place + 1));
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

    /// Values of printed tables: 2.0211, 1.9840 and 1.6839, 1.6602 for 40 and 100 degrees of freedom.
    #[test]
    fn quantiles_go_on_beyond_the_table() {
        for (degrees, of_95, of_90) in [(31, 2.0395, 1.6955), (40, 2.0211, 1.6839), (100, 1.9840, 1.6602)] {
            assert!((student_quantile(degrees) - of_95).abs() < 1e-4, "{degrees}");
            assert!((expanded(NORMAL_QUANTILE_90, degrees) - of_90).abs() < 1e-4, "{degrees}");
        }
        assert!((expanded(NORMAL_QUANTILE, 30) - T_QUANTILES[29]).abs() < 5e-4);
    }

    #[test]
    fn a_textbook_sample() {
        let sample = Sample::of(&[1.0, 2.0, 3.0]).unwrap();
        assert!((sample.mean - 2.0).abs() < 1e-12);
        assert!((sample.deviation - 1.0).abs() < 1e-12);
        assert!((sample.interval - 4.303 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!((sample.interval_90().unwrap() - 2.920 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Sample::of(&[1.0]).unwrap().interval_90(), None);
        assert_eq!(Sample::of(&[]), None);
        assert_eq!(Sample::of(&[0.1156; 7]).unwrap().deviation.to_bits(), 0);
    }
}
