//! The parameters of `LogGP` and `LogGOPS` from timed messages.

mod delayed;

use super::TimedTransfer;
use super::regression::{Quality, Regression, Weighting};

/// The parameters of `LogGP` (Alexandrov, Ionescu, Schauser, Scheiman 1995), as far as the data determine them.
///
/// m messages of k bytes in a row take T = (L + 2 o) + m (k − 1) G + (m − 1) g. Times alone give L + 2 o, G, and with
/// several messages g; only with the time of the processors, o(k) = o + (k − 1) O, can L and o be told apart (O, the
/// overhead of a byte, is that of `LogGOPS`). Senders that compute between their messages give o and O by times alone.
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
    /// The overhead of a byte in all messages, those of several parts, too, in seconds; O unless there are such.
    pub mean_overhead_per_byte_s: Option<f64>,
    /// The mean overhead of a byte at sender and receiver, in seconds, if O was found by taking it that the receiver works while the
    /// bytes arrive.
    pub shared_overhead_per_byte_s: Option<f64>,
    /// g: gap between messages, in seconds.
    pub gap_s: Option<f64>,
    /// G: gap of a byte, in seconds.
    pub gap_per_byte_s: Option<f64>,
    /// The time of each byte but the first of a message alone, in seconds: the larger one of G and O.
    pub per_byte_s: f64,
    /// S: the largest message whose send is complete without a receive.
    pub eager: EagerLimit,
    /// Half the widths of the 95 % intervals of L + 2 o and of the time of a byte.
    pub intervals: Option<[f64; 2]>,
    /// The quality of the fit.
    pub quality: Quality,
}

/// Bounds of the largest message whose send is complete without a receive, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EagerLimit {
    /// The longest message of which that is known.
    pub at_least: Option<f64>,
    /// The shortest message whose send waited for its receive.
    pub below: Option<f64>,
}

/// Time of a message, or of a part of one, by its length: `first` and (k − 1) `per_byte`.
#[derive(Clone, Copy, Debug)]
struct LinearTime {
    first: f64,
    per_byte: f64,
}

impl LogGp {
    /// The fit to `transfers`; `None` with fewer than two lengths.
    ///
    /// For senders that have computed between their messages: each message must have gone to another destination.
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
        let overhead = overhead(transfers).map(|overhead| overhead.of_a_sender(regression.coefficients[1]));
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
            intervals: regression.intervals.as_ref().map(|intervals| [intervals[0], intervals[1]]),
            quality: regression.quality,
        })
    }

    /// The time of `messages` messages of `bytes` bytes in a row, in seconds.
    #[must_use]
    pub fn time_s(&self, bytes: f64, messages: f64) -> f64 {
        let gap = LinearTime { first: self.gap_s.unwrap_or(0.0), per_byte: self.gap_per_byte_s.unwrap_or(0.0) };
        self.lone().at(bytes) + (messages - 1.0) * gap.at(bytes)
    }

    /// The time of messages in a row, each to another destination, whose sender computes for `delay_s` between two of
    /// them, in seconds.
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

impl LinearTime {
    fn at(self, bytes: f64) -> f64 {
        self.first + (bytes - 1.0) * self.per_byte
    }

    /// The line through (bytes, seconds), and by how much it misses the point that lies farthest off.
    fn through(points: &[(f64, f64)], weighting: Weighting) -> Option<(Self, f64)> {
        let columns = [vec![1.0; points.len()], points.iter().map(|(bytes, _)| bytes - 1.0).collect()];
        let values: Vec<_> = points.iter().map(|(_, seconds)| *seconds).collect();
        let fit = Regression::of(&columns, &values, weighting)?;
        Some((Self { first: fit.coefficients[0], per_byte: fit.coefficients[1] }, fit.quality.largest_error))
    }
}

/// The time of a processor for a message.
#[derive(Clone, Copy)]
struct Overhead {
    line: LinearTime,
    up_to_bytes: Option<f64>,
    /// That of a byte in messages of all lengths.
    mean_per_byte: f64,
    /// The mean of sender and receiver, where that of the sender was found from it.
    shared: Option<f64>,
}

impl Overhead {
    /// The time of a sender, from the mean of sender and receiver: in LogGOPS the receiver works for max(G, O) a byte.
    fn of_a_sender(self, gap_per_byte: f64) -> Self {
        let mean = self.line.per_byte;
        let own = 2.0 * mean - gap_per_byte;
        if self.up_to_bytes.is_some() || mean >= gap_per_byte || own < -ROUNDING * gap_per_byte {
            return self;
        }
        let per_byte = own.max(0.0);
        let line = LinearTime { per_byte, ..self.line };
        Self { line, mean_per_byte: per_byte, shared: Some(mean), ..self }
    }
}

/// A line through all overheads that misses one by more than this is none.
const BROKEN: f64 = 0.05;
/// The part of G below zero that an O may lie by the rounding of times.
const ROUNDING: f64 = 0.01;
/// The largest distance of a length above the line through the shorter ones.
const STEP: f64 = 0.02;

/// o and O, if the time of the processors is known for every transfer: over all lengths if they lie on a line, else
/// over those before the first step.
fn overhead(transfers: &[TimedTransfer]) -> Option<Overhead> {
    let mut points = transfers.iter().map(|one| Some((one.bytes, one.overhead_s?))).collect::<Option<Vec<_>>>()?;
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let through = |points: &[(f64, f64)]| LinearTime::through(points, Weighting::Absolute);
    if let Some((line, _)) = through(&points).filter(|(_, error)| *error <= BROKEN) {
        return Some(Overhead { line, up_to_bytes: None, mean_per_byte: line.per_byte, shared: None });
    }
    let whole = (2..points.len()).rev().filter_map(|count| Some((count, through(&points[..count])?)));
    let (count, (line, _)) = whole.into_iter().find(|(_, (_, error))| *error <= STEP)?;
    let mean_per_byte = mean_per_byte(&points, line.first)?;
    Some(Overhead { line, up_to_bytes: Some(points[count - 1].0), mean_per_byte, shared: None })
}

/// The slope of the line that begins with `first` at one byte.
fn mean_per_byte(points: &[(f64, f64)], first: f64) -> Option<f64> {
    let above: Vec<_> = points.iter().map(|(_, seconds)| seconds - first).collect();
    let column = points.iter().map(|(bytes, _)| bytes - 1.0).collect();
    Some(Regression::of(&[column], &above, Weighting::Absolute)?.coefficients[0])
}
