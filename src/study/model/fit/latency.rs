//! The time of a message by its length only, with Hockney's two parameters, and the type of timed messages.

use super::regression::{Quality, Regression, Weighting};

/// A timed message, or several of the same length in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedTransfer {
    /// The length of each message, in bytes.
    pub bytes: f64,
    /// The number of messages sent before the time was taken.
    pub messages: f64,
    /// The time for which the sender computes between two messages, in seconds.
    pub delay_s: f64,
    /// The time for which the receivers compute before they receive, in seconds. Unless it is 0, the time ends when the
    /// last send is complete.
    pub late_s: f64,
    /// The time from the beginning of the first send to the end of the last receive, in seconds.
    pub seconds: f64,
    /// The processor time per message, averaged over sender and receiver, in seconds, if it is known.
    pub overhead_s: Option<f64>,
}

/// The growth, relative to the longest time, up to which times differ by rounding only.
const ROUNDING: f64 = 1e-12;

/// T(l) = `t_0` + l / `r_inf` (Hockney 1982): start-up time and asymptotic bandwidth.
#[derive(Clone, Debug)]
pub struct Hockney {
    /// `t_0`: the start-up time, in seconds.
    pub startup_s: f64,
    /// Half the width of the 95 % confidence interval of `t_0`.
    pub startup_interval_s: Option<f64>,
    /// 1 / `r_inf`, in seconds per byte; 0 if times do not differ by more than rounding.
    pub per_byte_s: f64,
    /// Half the width of the 95 % confidence interval of 1 / `r_inf`.
    pub per_byte_interval_s: Option<f64>,
    /// The quality of the fit.
    pub quality: Quality,
}

impl TimedTransfer {
    /// Creates a single message of which only the time is known.
    #[must_use]
    pub const fn new(bytes: f64, seconds: f64) -> Self {
        Self { bytes, messages: 1.0, delay_s: 0.0, late_s: 0.0, seconds, overhead_s: None }
    }
}

impl Hockney {
    /// Fits the parameters to single messages. Returns `None` with fewer than two lengths.
    #[must_use]
    pub fn fit(transfers: &[TimedTransfer], weighting: Weighting) -> Option<Self> {
        let columns = [vec![1.0; transfers.len()], transfers.iter().map(|one| one.bytes).collect()];
        let seconds: Vec<_> = transfers.iter().map(|one| one.seconds).collect();
        let regression = Regression::of(&columns, &seconds, weighting)?;
        let growth = regression.coefficients[1] * transfers.iter().map(|one| one.bytes).fold(0.0, f64::max);
        let is_rounding = growth.abs() <= ROUNDING * seconds.iter().copied().fold(0.0, f64::max);
        let interval = |index: usize| regression.intervals.as_ref().map(|intervals| intervals[index]);
        Some(Self {
            startup_s: regression.coefficients[0],
            startup_interval_s: interval(0),
            per_byte_s: if is_rounding { 0.0 } else { regression.coefficients[1] },
            per_byte_interval_s: interval(1),
            quality: regression.quality,
        })
    }

    /// Returns `r_inf`, in bytes per second; `None` if longer messages do not take longer.
    #[must_use]
    pub fn rate_bytes_per_s(&self) -> Option<f64> {
        (self.per_byte_s > 0.0).then(|| self.per_byte_s.recip())
    }

    /// Returns `n_1/2` = `t_0` `r_inf`, the length that reaches half the bandwidth, in bytes.
    #[must_use]
    pub fn half_length_bytes(&self) -> Option<f64> {
        self.rate_bytes_per_s().map(|rate| rate * self.startup_s)
    }
}
