//! The parameters of `LogGP` and `LogGOPS` from timed messages.

mod delayed;

use super::TimedTransfer;
use super::regression::{Quality, Regression, Weighting};

/// The parameters of `LogGP` (Alexandrov, Ionescu, Schauser, Scheiman 1995) that the data determine.
///
/// m messages of k bytes in a row take T = (L + 2 o) + m (k − 1) G + (m − 1) g. Times alone determine L + 2 o, G and,
/// with several messages, g. To separate L from o, the time of the processors, o(k) = o + (k − 1) O, is required (O,
/// the overhead per byte, is that of `LogGOPS`). If senders compute between their messages, times alone determine o and
/// O.
#[derive(Clone, Debug)]
pub struct LogGp {
    /// L + 2 o, in seconds.
    pub end_to_end_s: f64,
    /// L: the latency, in seconds.
    pub latency_s: Option<f64>,
    /// o: the overhead of a message on a processor, in seconds.
    pub overhead_s: Option<f64>,
    /// O: the overhead per byte on a processor, in seconds.
    pub overhead_per_byte_s: Option<f64>,
    /// The longest message to which o and O were fitted, in bytes, if longer ones pay an overhead in several parts, as
    /// messages of several packets do.
    pub overhead_up_to_bytes: Option<f64>,
    /// The mean overhead per byte of all messages, including those in several parts, in seconds. It is equal to O if
    /// there are no such messages.
    pub mean_overhead_per_byte_s: Option<f64>,
    /// The mean overhead per byte of sender and receiver, in seconds, if O was derived from it under the assumption
    /// that the receiver works while the bytes arrive.
    pub shared_overhead_per_byte_s: Option<f64>,
    /// g: the gap between messages, in seconds.
    pub gap_s: Option<f64>,
    /// G: the gap per byte, in seconds.
    pub gap_per_byte_s: Option<f64>,
    /// The time of each byte except the first of a single message, in seconds: the larger one of G and O.
    pub per_byte_s: f64,
    /// S: the largest message whose send completes without a receive.
    pub eager: EagerLimit,
    /// The intervals of the constants.
    pub intervals: LogGpIntervals,
    /// The quality of the fit.
    pub quality: Quality,
}

/// Half the widths of the 95 % confidence intervals of the constants that the data determine, unless there are as many
/// constants as points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogGpIntervals {
    /// That of L + 2 o, in seconds.
    pub end_to_end_s: Option<f64>,
    /// That of L, in seconds.
    pub latency_s: Option<f64>,
    /// That of o, in seconds.
    pub overhead_s: Option<f64>,
    /// That of O, in seconds.
    pub overhead_per_byte_s: Option<f64>,
    /// That of g, in seconds.
    pub gap_s: Option<f64>,
    /// That of G, in seconds.
    pub gap_per_byte_s: Option<f64>,
}

/// Bounds of the largest message whose send completes without a receive, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EagerLimit {
    /// The longest message known to complete without a receive.
    pub at_least: Option<f64>,
    /// The shortest message whose send waited for its receive.
    pub below: Option<f64>,
}

/// The time of a message, or of a part of it, by its length: `first` plus (k − 1) times `per_byte`.
#[derive(Clone, Copy, Debug)]
struct LinearTime {
    first: f64,
    per_byte: f64,
}

impl LogGp {
    /// Fits the parameters to `transfers`. Returns `None` with fewer than two lengths.
    ///
    /// If senders compute between their messages, each message must go to a different destination.
    #[must_use]
    pub fn fit(transfers: &[TimedTransfer], weighting: Weighting) -> Option<Self> {
        if transfers.iter().any(|one| one.delay_s > 0.0 || one.late_s > 0.0) {
            return delayed::fit(transfers, weighting);
        }
        let column = |of: &dyn Fn(&TimedTransfer) -> f64| transfers.iter().map(of).collect::<Vec<_>>();
        let mut columns = vec![vec![1.0; transfers.len()], column(&|one| one.messages * (one.bytes - 1.0))];
        let is_train = transfers.iter().any(|one| one.messages > 1.0);
        columns.extend(is_train.then(|| column(&|one| one.messages - 1.0)));
        let regression = Regression::of(&columns, &column(&|one| one.seconds), weighting)?;
        let end_to_end_s = regression.coefficients[0];
        let overhead = overhead(transfers).map(|overhead| overhead.of_a_sender(&regression));
        Some(Self {
            end_to_end_s,
            latency_s: overhead.map(|overhead| end_to_end_s - 2.0 * overhead.line.first),
            overhead_s: overhead.map(|overhead| overhead.line.first),
            overhead_per_byte_s: overhead.map(|overhead| overhead.line.per_byte),
            overhead_up_to_bytes: overhead.and_then(|overhead| overhead.up_to_bytes),
            mean_overhead_per_byte_s: overhead.map(|overhead| overhead.mean_per_byte),
            shared_overhead_per_byte_s: overhead.and_then(|overhead| overhead.shared),
            gap_s: is_train.then(|| regression.coefficients[2]),
            gap_per_byte_s: Some(regression.coefficients[1]),
            per_byte_s: regression.coefficients[1],
            eager: EagerLimit::default(),
            intervals: LogGpIntervals::separate(&regression, overhead),
            quality: regression.quality,
        })
    }

    /// Returns the time of `messages` messages of `bytes` bytes in a row, in seconds.
    #[must_use]
    pub fn time_s(&self, bytes: f64, messages: f64) -> f64 {
        let gap = LinearTime { first: self.gap_s.unwrap_or(0.0), per_byte: self.gap_per_byte_s.unwrap_or(0.0) };
        self.lone().at(bytes) + (messages - 1.0) * gap.at(bytes)
    }

    /// Returns the time of messages in a row, each to a different destination, whose sender computes for `delay_s`
    /// between two of them, in seconds.
    #[must_use]
    pub fn time_with_delay_s(&self, bytes: f64, messages: f64, delay_s: f64) -> f64 {
        let processor =
            LinearTime { first: self.overhead_s.unwrap_or(0.0), per_byte: self.overhead_per_byte_s.unwrap_or(0.0) };
        self.time_s(bytes, messages).max(self.lone().at(bytes) + (messages - 1.0) * (processor.at(bytes) + delay_s))
    }

    const fn lone(&self) -> LinearTime {
        LinearTime { first: self.end_to_end_s, per_byte: self.per_byte_s }
    }
}

impl LogGpIntervals {
    /// Returns the intervals of constants of which o and O were fitted separately, whose errors are independent of the
    /// others.
    fn separate(regression: &Regression, overhead: Option<Overhead>) -> Self {
        let of_times = |index: usize| regression.intervals.as_ref()?.get(index).copied();
        let [first, per_byte] = overhead.map_or([None; 2], |overhead| overhead.intervals);
        Self {
            end_to_end_s: of_times(0),
            latency_s: of_times(0).zip(first).map(|(whole, overhead)| whole.hypot(2.0 * overhead)),
            overhead_s: first,
            overhead_per_byte_s: per_byte,
            gap_s: of_times(2),
            gap_per_byte_s: of_times(1),
        }
    }
}

impl LinearTime {
    fn at(self, bytes: f64) -> f64 {
        self.first + (bytes - 1.0) * self.per_byte
    }

    /// Fits the line through (bytes, seconds).
    fn through(points: &[(f64, f64)], weighting: Weighting) -> Option<(Self, Regression)> {
        let columns = [vec![1.0; points.len()], points.iter().map(|(bytes, _)| bytes - 1.0).collect()];
        let values: Vec<_> = points.iter().map(|(_, seconds)| *seconds).collect();
        let fit = Regression::of(&columns, &values, weighting)?;
        Some((Self { first: fit.coefficients[0], per_byte: fit.coefficients[1] }, fit))
    }
}

/// The time of a processor for a message.
#[derive(Clone, Copy)]
struct Overhead {
    line: LinearTime,
    /// Half the widths of the intervals of both numbers of the line.
    intervals: [Option<f64>; 2],
    up_to_bytes: Option<f64>,
    /// The mean overhead per byte in messages of all lengths.
    mean_per_byte: f64,
    /// The mean overhead per byte of sender and receiver, if that of the sender was derived from it.
    shared: Option<f64>,
}

impl Overhead {
    /// Derives the overhead of a sender from the mean of sender and receiver: in LogGOPS the receiver works for max(G,
    /// O) per byte.
    fn of_a_sender(self, of_times: &Regression) -> Self {
        let gap_per_byte = of_times.coefficients[1];
        let mean = self.line.per_byte;
        let own = 2.0 * mean - gap_per_byte;
        if self.up_to_bytes.is_some() || mean >= gap_per_byte || own < -ROUNDING * gap_per_byte {
            return self;
        }
        let per_byte = own.max(0.0);
        let line = LinearTime { per_byte, ..self.line };
        let [first, of_mean] = self.intervals;
        let of_own = of_mean.zip(of_times.intervals.as_ref().map(|intervals| intervals[1]));
        let intervals = [first, of_own.map(|(mean, gap)| gap.hypot(2.0 * mean))];
        Self { line, intervals, mean_per_byte: per_byte, shared: Some(mean), ..self }
    }
}

/// The largest relative error at which a line through all overheads is accepted.
const BROKEN: f64 = 0.05;
/// The fraction of G by which O may be negative because of the rounding of times.
const ROUNDING: f64 = 0.01;
/// The largest relative error at which the line through the shorter lengths is accepted.
const STEP: f64 = 0.02;

/// Fits o and O if the time of the processors is known for every transfer: to all lengths if they are on a line, else
/// to those before the first step.
fn overhead(transfers: &[TimedTransfer]) -> Option<Overhead> {
    let mut points = transfers.iter().map(|one| Some((one.bytes, one.overhead_s?))).collect::<Option<Vec<_>>>()?;
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let through = |points: &[(f64, f64)]| LinearTime::through(points, Weighting::Absolute);
    let is_within = |fit: &Regression, limit: f64| {
        fit.fitted.iter().zip(&points).all(|(fitted, (_, seconds))| (fitted - seconds).abs() <= limit * seconds)
    };
    let intervals = |fit: &Regression| [0, 1].map(|index| Some(fit.intervals.as_ref()?[index]));
    if let Some((line, fit)) = through(&points).filter(|(_, fit)| is_within(fit, BROKEN)) {
        let intervals = intervals(&fit);
        return Some(Overhead { line, intervals, up_to_bytes: None, mean_per_byte: line.per_byte, shared: None });
    }
    let whole = (2..points.len()).rev().filter_map(|count| Some((count, through(&points[..count])?)));
    let (count, (line, fit)) = whole.into_iter().find(|(_, (_, fit))| is_within(fit, STEP))?;
    let mean_per_byte = mean_per_byte(&points, line.first)?;
    Some(Overhead {
        line,
        intervals: intervals(&fit),
        up_to_bytes: Some(points[count - 1].0),
        mean_per_byte,
        shared: None,
    })
}

/// Returns the slope of the best line that has the value `first` at one byte.
fn mean_per_byte(points: &[(f64, f64)], first: f64) -> Option<f64> {
    let above: Vec<_> = points.iter().map(|(_, seconds)| seconds - first).collect();
    let column = points.iter().map(|(bytes, _)| bytes - 1.0).collect();
    Some(Regression::of(&[column], &above, Weighting::Absolute)?.coefficients[0])
}
