//! The time of a message by its length alone: Hockney's two parameters, and those of `LogGP`.

use super::regression::{Quality, Regression, Weighting};

/// A message, or several of the same length one after the other, that was timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedTransfer {
    /// Length of each message, in bytes.
    pub bytes: f64,
    /// Number of messages that were sent before the time was taken.
    pub messages: f64,
    /// From the beginning of the first send to the end of the last receive, in seconds.
    pub seconds: f64,
    /// The time of a processor for one message, mean of sender and receiver, in seconds; where it is known.
    pub overhead_s: Option<f64>,
}

/// T(l) = `t_0` + l / `r_inf` (Hockney 1982): start-up and asymptotic bandwidth.
#[derive(Clone, Debug)]
pub struct Hockney {
    /// `t_0`: start-up time, in seconds.
    pub startup_s: f64,
    /// Half the width of its 95 % interval.
    pub startup_interval_s: Option<f64>,
    /// 1 / `r_inf`, in seconds per byte.
    pub per_byte_s: f64,
    /// Half the width of its 95 % interval.
    pub per_byte_interval_s: Option<f64>,
    /// The quality of the fit.
    pub quality: Quality,
}

impl Hockney {
    /// The fit to single messages; `None` with fewer than two lengths.
    #[must_use]
    pub fn fit(transfers: &[TimedTransfer], weighting: Weighting) -> Option<Self> {
        let columns = [vec![1.0; transfers.len()], transfers.iter().map(|one| one.bytes).collect()];
        let seconds: Vec<_> = transfers.iter().map(|one| one.seconds).collect();
        let regression = Regression::of(&columns, &seconds, weighting)?;
        let interval = |index: usize| regression.intervals.as_ref().map(|intervals| intervals[index]);
        Some(Self {
            startup_s: regression.coefficients[0],
            startup_interval_s: interval(0),
            per_byte_s: regression.coefficients[1],
            per_byte_interval_s: interval(1),
            quality: regression.quality,
        })
    }

    /// `r_inf`, in bytes per second; `None` where longer messages take no longer.
    #[must_use]
    pub fn rate_bytes_per_s(&self) -> Option<f64> {
        (self.per_byte_s > 0.0).then(|| self.per_byte_s.recip())
    }

    /// `n_1/2` = `t_0` `r_inf`: the length that reaches half the bandwidth, in bytes.
    #[must_use]
    pub fn half_length_bytes(&self) -> Option<f64> {
        self.rate_bytes_per_s().map(|rate| rate * self.startup_s)
    }
}

/// The parameters of `LogGP` (Alexandrov, Ionescu, Schauser, Scheiman 1995), as far as the data determine them.
///
/// m messages of k bytes in a row take T = (L + 2 o) + m (k − 1) G + (m − 1) g. Times alone give L + 2 o, G, and with
/// several messages g; only with the time of the processors, o(k) = o + (k − 1) O, can L and o be told apart (O, the
/// overhead of a byte, is that of `LogGOPS`).
#[derive(Clone, Debug)]
pub struct LogGp {
    /// L + 2 o, in seconds.
    pub end_to_end_s: f64,
    /// L: latency, in seconds.
    pub latency_s: Option<f64>,
    /// o: overhead of a message on a processor, in seconds.
    pub overhead_s: Option<f64>,
    /// O: overhead of a byte on a processor, in seconds.
    pub overhead_per_byte_s: Option<f64>,
    /// The longest message to which o and O were fitted, in bytes, if longer ones pay an overhead in several parts, as
    /// messages of several packets do.
    pub overhead_up_to_bytes: Option<f64>,
    /// g: gap between messages, in seconds.
    pub gap_s: Option<f64>,
    /// G: gap of a byte, in seconds.
    pub gap_per_byte_s: f64,
    /// Half the widths of the 95 % intervals of L + 2 o and G.
    pub intervals: Option<[f64; 2]>,
    /// The quality of the fit.
    pub quality: Quality,
}

impl LogGp {
    /// The fit to `transfers`; `None` with fewer than two lengths.
    #[must_use]
    pub fn fit(transfers: &[TimedTransfer], weighting: Weighting) -> Option<Self> {
        let column = |of: &dyn Fn(&TimedTransfer) -> f64| transfers.iter().map(of).collect::<Vec<_>>();
        let mut columns = vec![vec![1.0; transfers.len()], column(&|one| one.messages * (one.bytes - 1.0))];
        let is_train = transfers.iter().any(|one| one.messages > 1.0);
        columns.extend(is_train.then(|| column(&|one| one.messages - 1.0)));
        let regression = Regression::of(&columns, &column(&|one| one.seconds), weighting)?;
        let end_to_end_s = regression.coefficients[0];
        let overhead = overhead(transfers);
        Some(Self {
            end_to_end_s,
            latency_s: overhead.map(|overhead| end_to_end_s - 2.0 * overhead.seconds),
            overhead_s: overhead.map(|overhead| overhead.seconds),
            overhead_per_byte_s: overhead.map(|overhead| overhead.per_byte_s),
            overhead_up_to_bytes: overhead.and_then(|overhead| overhead.up_to_bytes),
            gap_s: is_train.then(|| regression.coefficients[2]),
            gap_per_byte_s: regression.coefficients[1],
            intervals: regression.intervals.as_ref().map(|intervals| [intervals[0], intervals[1]]),
            quality: regression.quality,
        })
    }
}

impl LogGp {
    /// The time of `messages` messages of `bytes` bytes in a row, in seconds.
    #[must_use]
    pub fn time_s(&self, bytes: f64, messages: f64) -> f64 {
        let gap = self.gap_s.unwrap_or(0.0);
        self.end_to_end_s + messages * (bytes - 1.0) * self.gap_per_byte_s + (messages - 1.0) * gap
    }
}

/// The time of a processor for a message.
#[derive(Clone, Copy)]
struct Overhead {
    seconds: f64,
    per_byte_s: f64,
    up_to_bytes: Option<f64>,
}

/// A line through all overheads that misses one by more than this is none.
const BROKEN: f64 = 0.05;
/// The largest distance of a length above the line through the shorter ones.
const STEP: f64 = 0.02;

/// o and O, if the time of the processors is known for every transfer: over all lengths if they lie on a line, else
/// over those before the first step.
fn overhead(transfers: &[TimedTransfer]) -> Option<Overhead> {
    let mut points = transfers.iter().map(|one| Some((one.bytes, one.overhead_s?))).collect::<Option<Vec<_>>>()?;
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all = line(&points);
    if let Some((line, _)) = all.as_ref().filter(|(_, error)| *error <= BROKEN) {
        return Some(Overhead { up_to_bytes: None, ..*line });
    }
    let whole = (2..points.len()).rev().filter_map(|count| Some((count, line(&points[..count])?)));
    let (count, (line, _)) = whole.into_iter().find(|(_, (_, error))| *error <= STEP)?;
    Some(Overhead { up_to_bytes: Some(points[count - 1].0), ..line })
}

/// The line through overheads by lengths, and by how much it misses the one that lies farthest off.
fn line(points: &[(f64, f64)]) -> Option<(Overhead, f64)> {
    let columns = [vec![1.0; points.len()], points.iter().map(|(bytes, _)| bytes - 1.0).collect()];
    let values: Vec<_> = points.iter().map(|(_, seconds)| *seconds).collect();
    let fit = Regression::of(&columns, &values, Weighting::Absolute)?;
    let overhead = Overhead { seconds: fit.coefficients[0], per_byte_s: fit.coefficients[1], up_to_bytes: None };
    Some((overhead, fit.quality.largest_error))
}
