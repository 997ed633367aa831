//! Latencies of packets: their mean with its confidence interval, and quantiles.

use crate::units::{SimDuration, SimTime};

/// The latencies in a window, in seconds; NaN if there are too few packets.
pub(super) struct Latencies {
    pub(super) mean: f64,
    /// Half the width of the 95 % confidence interval of the mean, by batch means.
    pub(super) interval: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

/// The number of batches of packets, taken in the order of injection.
const BATCHES: usize = 20;
/// The 97.5 % quantile of Student's t with 19 degrees of freedom.
const STUDENT_T: f64 = 2.093;

impl Latencies {
    /// Computes the latencies from sorted pairs of injection time and latency.
    pub(super) fn of(measured: &[(SimTime, SimDuration)]) -> Self {
        let mut latencies: Vec<SimDuration> = measured.iter().map(|(_, latency)| *latency).collect();
        let mut quantile = |percent: usize| match latencies.len() {
            0 => f64::NAN,
            count => latencies.select_nth_unstable((count * percent).div_ceil(100).max(1) - 1).1.seconds(),
        };
        Self {
            mean: mean(measured),
            interval: interval(measured),
            p50: quantile(50),
            p99: quantile(99),
            max: quantile(100),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of packets is below 2^52")]
fn mean(measured: &[(SimTime, SimDuration)]) -> f64 {
    measured.iter().map(|(_, latency)| latency.seconds()).sum::<f64>() / measured.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "there are 20 batches")]
fn interval(measured: &[(SimTime, SimDuration)]) -> f64 {
    let size = measured.len() / BATCHES;
    if size == 0 {
        return f64::NAN;
    }
    let means: Vec<f64> = measured.chunks_exact(size).take(BATCHES).map(mean).collect();
    let centre = means.iter().sum::<f64>() / BATCHES as f64;
    let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
    STUDENT_T * (squares / (BATCHES - 1) as f64 / BATCHES as f64).sqrt()
}
