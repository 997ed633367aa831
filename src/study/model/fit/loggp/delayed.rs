//! `LogGOPS` from times only: messages in a row, each to a different destination, with computations of the sender
//! between them.
//!
//! The method is that of netgauge (Hoefler, Lichei, Rehm, Low-Overhead `LogGP` Parameter Assessment for Modern
//! Interconnection Networks, IPDPS 2007). If a sender computes long enough between its messages, its interface is
//! always free, and each message costs o + (k − 1) O. If it does not compute, each message costs the larger of that and
//! g + (k − 1) G. A single message takes L + 2 o and (k − 1) times the larger of G and O.
//!
//! The fit includes the assignment of messages to interface or processor: of several assignments, the one with the
//! least error of the whole model is chosen.

use super::{EagerLimit, LinearTime, LogGp, LogGpIntervals};
use crate::model::fit::TimedTransfer;
use crate::model::fit::regression::{Regression, Weighting};
use crate::model::fit::search::simplest;
use std::collections::HashSet;

/// The maximum number of rounds in which messages are assigned by the constants that the previous assignment gives.
const MAX_ROUNDS: usize = 8;
/// The maximum number of lengths, and of delays, at which the first assignments separate the messages.
const MAX_LIMITS: usize = 12;
/// The number of constants, without L and S.
const CONSTANTS: usize = 5;

/// A constant of the model, in the order of the columns of the fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DelayConstant {
    EndToEnd,
    /// The larger of G and O.
    PerByte,
    Overhead,
    Gap,
    /// The smaller of G and O.
    OtherPerByte,
}

/// Messages without late receivers.
struct DelayedTransfers<'t> {
    transfers: Vec<&'t TimedTransfer>,
    /// The time of a single message.
    lone: LinearTime,
    weighting: Weighting,
}

/// The assignment of messages to the resource that limits them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LimitAssignment {
    /// True if G is larger than O, in which case single messages determine G.
    interface_is_slower: bool,
    /// True for the messages in a row that wait for their interface rather than their processor.
    waits: Vec<bool>,
}

/// The fit with an assignment.
struct AssignedFit {
    fit: LogGp,
    /// The standard error of the model, relative to the values.
    error: f64,
    /// The number of coefficients, and one more if messages are left out.
    size: usize,
}

/// Fits the model. Returns `None` unless single messages and messages with computations between them have two lengths
/// each.
pub fn fit(transfers: &[TimedTransfer], weighting: Weighting) -> Option<LogGp> {
    let (late, timed): (Vec<_>, Vec<_>) = transfers.iter().partition(|one| one.late_s > 0.0);
    let mut fit = DelayedTransfers::of(timed, weighting)?.best()?;
    fit.eager = eager_limit(&fit, &late);
    Some(fit)
}

impl<'t> DelayedTransfers<'t> {
    fn of(transfers: Vec<&'t TimedTransfer>, weighting: Weighting) -> Option<Self> {
        let alone = transfers.iter().filter(|one| one.messages <= 1.0);
        let (lone, _) = LinearTime::through(&alone.map(|one| (one.bytes, one.seconds)).collect::<Vec<_>>(), weighting)?;
        Some(Self { transfers, lone, weighting })
    }

    /// Returns the simplest sufficient fit of all assignments that are found from the first ones.
    fn best(&self) -> Option<LogGp> {
        let mut seen = HashSet::new();
        let mut by_size: [Option<(f64, LogGp)>; CONSTANTS + 1] = Default::default();
        for mut assignment in self.first_assignments() {
            for _ in 0..MAX_ROUNDS {
                if !seen.insert(assignment.clone()) {
                    break;
                }
                let Some(AssignedFit { fit, error, size }) = self.assigned(&assignment) else { break };
                assignment = self.next(assignment, &fit);
                let best = &mut by_size[size - 1];
                if best.as_ref().is_none_or(|(least, _)| error < *least) {
                    *best = Some((error, fit));
                }
            }
        }
        let mut fit = simplest(by_size)?;
        // Those of o and L depend on the assignment, whose uncertainty is not in the covariance.
        (fit.intervals.overhead_s, fit.intervals.latency_s) = (None, None);
        Some(fit)
    }

    /// Returns assignments in which messages from a length on, or up to a length, wait for their interface, if the
    /// computations between them are short enough.
    fn first_assignments(&self) -> Vec<LimitAssignment> {
        let in_a_row = || self.transfers.iter().filter(|one| one.messages > 1.0);
        let lengths = thinned(&distinct(in_a_row().map(|one| one.bytes)));
        let delays = thinned(&distinct(in_a_row().map(|one| one.delay_s)));
        let mut all = Vec::new();
        for interface_is_slower in [false, true] {
            all.push(LimitAssignment { interface_is_slower, waits: self.those(|_| false) });
            for (length, delay) in lengths.iter().flat_map(|length| delays.iter().map(move |delay| (*length, *delay))) {
                let is_beyond = |bytes: f64| if interface_is_slower { bytes >= length } else { bytes <= length };
                let waits = self.those(|one| one.delay_s <= delay && is_beyond(one.bytes));
                all.push(LimitAssignment { interface_is_slower, waits });
            }
        }
        all
    }

    /// Returns which messages in a row satisfy a condition.
    fn those(&self, condition: impl Fn(&TimedTransfer) -> bool) -> Vec<bool> {
        self.transfers.iter().map(|one| one.messages > 1.0 && condition(one)).collect()
    }

    /// Returns whether two lengths determine o and O: after computations that are longer than a message, the processor
    /// limits them.
    fn determine_overhead(&self, assignment: &LimitAssignment) -> bool {
        let is_limited = |one: &&TimedTransfer| one.messages > 1.0 && one.delay_s >= self.lone.at(one.bytes);
        let rows = self.transfers.iter().copied().zip(&assignment.waits).filter(|(_, waits)| !**waits);
        distinct(rows.map(|(one, _)| one).filter(is_limited).map(|one| one.bytes)).len() > 1
    }

    /// Fits the constants with an assignment. Messages limited by the interface are left out if they do not determine g,
    /// or G if single messages do not.
    fn assigned(&self, assignment: &LimitAssignment) -> Option<AssignedFit> {
        if !self.determine_overhead(assignment) {
            return None;
        }
        let rows = || self.transfers.iter().copied().zip(assignment.waits.iter().copied());
        let lengths = distinct(rows().filter(|(_, waits)| *waits).map(|(one, _)| one.bytes));
        let determines_gap = assignment.interface_is_slower || lengths.len() != 1 || lengths[0] <= 1.0;
        let used: Vec<_> = rows().filter(|(_, waits)| determines_gap || !waits).collect();
        let (told, regression) = assignment.regression(&used, self.weighting)?;
        let size = told.len() + usize::from(!determines_gap);
        let freedom = used.len().saturating_sub(told.len()).max(1);
        let fit = assignment.loggp(&told, &regression)?;
        let transfers: Vec<_> = used.into_iter().map(|(one, _)| one).collect();
        Some(AssignedFit { error: self.error(&fit, &transfers, freedom), fit, size })
    }

    /// Returns the standard error of the model: the larger of the times of interface and processor, whatever the
    /// assignment.
    fn error(&self, fit: &LogGp, transfers: &[&TimedTransfer], freedom: usize) -> f64 {
        let per_byte_s =
            [fit.gap_per_byte_s, fit.overhead_per_byte_s].into_iter().flatten().fold(fit.per_byte_s, f64::max);
        let model = LogGp { per_byte_s, ..fit.clone() };
        let square = |one: &&TimedTransfer| {
            let error = model.time_with_delay_s(one.bytes, one.messages, one.delay_s) - one.seconds;
            (error * self.weighting.weight(one.seconds)).powi(2)
        };
        let largest = transfers.iter().map(|one| one.seconds * self.weighting.weight(one.seconds)).fold(0.0, f64::max);
        #[expect(clippy::cast_precision_loss, reason = "nobody fits 2^52 points")]
        let freedom = freedom as f64;
        (transfers.iter().map(square).sum::<f64>() / freedom).sqrt() / largest
    }

    /// Returns the assignment according to the fitted constants; the same if some are not determined.
    fn next(&self, assignment: LimitAssignment, fit: &LogGp) -> LimitAssignment {
        let all = [fit.gap_s, fit.gap_per_byte_s, fit.overhead_s, fit.overhead_per_byte_s];
        let [Some(gap), Some(gap_per_byte), Some(overhead), Some(overhead_per_byte)] = all else { return assignment };
        let interface = LinearTime { first: gap, per_byte: gap_per_byte };
        let processor = LinearTime { first: overhead, per_byte: overhead_per_byte };
        let is_longer = |one: &TimedTransfer| interface.at(one.bytes) > processor.at(one.bytes) + one.delay_s;
        let waits = self.those(is_longer);
        LimitAssignment { interface_is_slower: gap_per_byte > overhead_per_byte, waits }
    }
}

impl LimitAssignment {
    /// Fits the constants that the transfers determine, each of them limited by its interface or its processor.
    fn regression(
        &self,
        transfers: &[(&TimedTransfer, bool)],
        weighting: Weighting,
    ) -> Option<(Vec<DelayConstant>, Regression)> {
        let rows: Vec<_> = transfers.iter().map(|(one, waits)| self.row(one, *waits)).collect();
        let column = |index: usize| rows.iter().map(|(row, _)| row[index].1).collect::<Vec<f64>>();
        let names = rows.first()?.0.map(|(constant, _)| constant);
        let told = |index: &usize| column(*index).iter().any(|weight| *weight != 0.0);
        let told: Vec<_> = (0..names.len()).filter(told).collect();
        let columns: Vec<_> = told.iter().map(|index| column(*index)).collect();
        let delays: Vec<_> = rows.iter().map(|(_, delay)| *delay).collect();
        let seconds: Vec<_> = transfers.iter().map(|(one, _)| one.seconds).collect();
        let regression = Regression::beyond(&delays, &columns, &seconds, weighting)?;
        Some((told.into_iter().map(|index| names[index]).collect(), regression))
    }

    /// Returns how often each constant is paid, and the time of the computations.
    fn row(&self, one: &TimedTransfer, waits: bool) -> ([(DelayConstant, f64); CONSTANTS], f64) {
        let (further, length) = (one.messages - 1.0, one.bytes - 1.0);
        let (interface, processor) = if waits { (further, 0.0) } else { (0.0, further) };
        let (slower, faster) = if self.interface_is_slower { (interface, processor) } else { (processor, interface) };
        let weights = [
            (DelayConstant::EndToEnd, 1.0),
            (DelayConstant::PerByte, length * (1.0 + slower)),
            (DelayConstant::Overhead, processor),
            (DelayConstant::Gap, interface),
            (DelayConstant::OtherPerByte, length * faster),
        ];
        (weights, processor * one.delay_s)
    }

    /// Names the intervals of the coefficients of `told`.
    fn intervals(&self, told: &[DelayConstant], regression: &Regression) -> LogGpIntervals {
        let sum = |weights: &[(DelayConstant, f64)]| {
            let weight = |own: &DelayConstant| weights.iter().find(|(other, _)| other == own).map_or(0.0, |one| one.1);
            let has_all = weights.iter().all(|(constant, _)| told.contains(constant));
            has_all.then(|| regression.interval_of(&told.iter().map(weight).collect::<Vec<_>>())).flatten()
        };
        let of = |constant| sum(&[(constant, 1.0)]);
        let [slower, faster] = [DelayConstant::PerByte, DelayConstant::OtherPerByte].map(of);
        let (gap_per_byte_s, overhead_per_byte_s) =
            if self.interface_is_slower { (slower, faster) } else { (faster, slower) };
        LogGpIntervals {
            end_to_end_s: of(DelayConstant::EndToEnd),
            latency_s: sum(&[(DelayConstant::EndToEnd, 1.0), (DelayConstant::Overhead, -2.0)]),
            overhead_s: of(DelayConstant::Overhead),
            overhead_per_byte_s,
            gap_s: of(DelayConstant::Gap),
            gap_per_byte_s,
        }
    }

    /// Names the coefficients of `told`.
    fn loggp(&self, told: &[DelayConstant], regression: &Regression) -> Option<LogGp> {
        let of = |constant| Some(regression.coefficients[told.iter().position(|own| *own == constant)?]);
        let (end_to_end_s, per_byte_s) = (of(DelayConstant::EndToEnd)?, of(DelayConstant::PerByte)?);
        let (larger, smaller) = (Some(per_byte_s), of(DelayConstant::OtherPerByte));
        let (gap_per_byte_s, overhead_per_byte_s) =
            if self.interface_is_slower { (larger, smaller) } else { (smaller, larger) };
        let overhead_s = of(DelayConstant::Overhead);
        Some(LogGp {
            end_to_end_s,
            latency_s: overhead_s.map(|overhead| end_to_end_s - 2.0 * overhead),
            overhead_s,
            overhead_per_byte_s,
            overhead_up_to_bytes: None,
            mean_overhead_per_byte_s: overhead_per_byte_s,
            shared_overhead_per_byte_s: None,
            gap_s: of(DelayConstant::Gap),
            gap_per_byte_s,
            per_byte_s,
            eager: EagerLimit::default(),
            intervals: self.intervals(told, regression),
            quality: regression.quality.clone(),
        })
    }
}

/// Returns the different ones of these numbers, in ascending order.
fn distinct(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<_> = numbers.collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Returns at most [`MAX_LIMITS`] of the numbers, evenly spaced, with both ends.
fn thinned(numbers: &[f64]) -> Vec<f64> {
    let last = numbers.len().saturating_sub(1);
    if last < MAX_LIMITS {
        return numbers.to_vec();
    }
    (0..MAX_LIMITS).map(|index| numbers[index * last / (MAX_LIMITS - 1)]).collect()
}

/// Determines S by late receivers: a send that does not complete without its receive delays the sender by the delay of
/// the receiver.
fn eager_limit(fit: &LogGp, late: &[&TimedTransfer]) -> EagerLimit {
    let is_eager = |one: &&&TimedTransfer| {
        one.seconds < fit.time_with_delay_s(one.bytes, one.messages, one.delay_s) + 0.5 * one.late_s
    };
    let below = late.iter().filter(|one| !is_eager(one)).map(|one| one.bytes).min_by(f64::total_cmp);
    let eager = late.iter().filter(is_eager).map(|one| one.bytes);
    let at_least = eager.filter(|bytes| below.is_none_or(|below| *bytes < below)).max_by(f64::total_cmp);
    EagerLimit { at_least, below }
}
